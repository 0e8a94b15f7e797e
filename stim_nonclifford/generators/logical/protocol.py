"""Logical circuits: programs of Pauli-product rotations on patches of surface code, with noise."""

from __future__ import annotations

from collections.abc import Iterable

import stim

from ...base.arguments import choice, integer, probability, refuse_argument, text
from ..cultivation.builder import GATE_CHOICES, GateChoice
from ..cultivation.files import joined
from ..cultivation.noise import NOISE_CHOICES, NoiseChoice, noise_model
from .layout import Layout
from .program import surgery_steps
from .surgery import LogicalBuilder

_MOST_DISTANCE = 99


def logical_circuit(
    rotations: Iterable[tuple[float, str]],
    measurements: Iterable[str] = (),
    *,
    distance: int = 3,
    p: float = 1e-3,
    gate: GateChoice = "T",
    noise: NoiseChoice = "uniform",
    magic_error: float = 0.0,
) -> stim.Circuit:
    r"""A logical circuit with T gates by lattice surgery, every outcome of which a decoder decides.

    Each logical qubit is a patch of rotated surface code, and starts in |0> without noise. A rotation by 1/8
    half-turn consumes a T state, which is prepared in the magic patch without noise, but for ``magic_error``.
    A merge of d rounds measures its product, a decoder decides the outcome, and if it is 1, S follows as a
    fault-tolerant gate without noise. Clifford rotations are commuted to the end. A product that has several
    Paulis is turned to one of Z first, by one or two S gates, each of which consumes a patch in |Y>. Products
    are measured by a merge, too. Patches that are not merged wait, and all checks are measured in each round.

    Args:
        rotations: Pairs of an angle in half-turns and a Pauli product with a letter of ``IXYZ`` for each
            logical qubit: (θ, P) is exp(-i π θ P), so that (1/8, "Z") is T and (1/4, "Z") is S. The first one
            acts first. ``program_of`` makes them of a Clifford+T circuit.
        measurements: Products that are measured after all rotations. They may have a sign.
        distance: Distance of the patches, an odd number from 3 on.
        p: Noise strength, a probability; see ``stim_nonclifford.generators.cultivation.noise``.
        gate: "T"; or "S" for the S-proxy, with S in place of each T.
        noise: "uniform", "si1000" or "none".
        magic_error: Probability that a T state has an error: Z for a product of Z, X for one of X.

    Returns:
        The circuit, which asks a decoder: samplers take one, ``decoder="pymatching"``. Observable k is the
        decided outcome of measurement k. Samplers count it from the reference, so that the outcome itself
        takes ``skip_reference_sample=True``. Detectors have the coordinates (x, y, moment, 0). The last qubit
        is a classical bit.

    Raises:
        ValueError: An argument has none of the values above, or there is neither a rotation nor a
            measurement.

    Examples:
        >>> import stim_nonclifford as snc
        >>> rotations = [(1/8, "XX"), (1/8, "ZI")]
        >>> circuit = snc.Circuit(logical_circuit(rotations, ["XI", "IX"], distance=3, p=1e-3))
        >>> circuit.num_qubits, circuit.num_detectors, len(circuit.decision_points())
        (426, 1174, 4)
        >>> sampler = circuit.compile_detector_sampler(
        ...     seed=5, decoder="pymatching", skip_reference_sample=True
        ... )
        >>> detectors, outcomes = sampler.sample(100, separate_observables=True)
        >>> outcomes.shape
        (100, 2)
    """
    distance = _distance(distance)
    gate = choice(gate, "gate", GATE_CHOICES)
    model = noise_model(noise, p)
    num_qubits, steps = surgery_steps(rotations, measurements)
    layout = Layout(distance, num_qubits + 1)
    written = LogicalBuilder(layout, steps, gate, probability(magic_error, "magic_error"))
    return written.builder.with_noise(model, [written.bit])


def circuit_file_name(
    *, name: str, distance: int, p: float, gate: GateChoice, noise: NoiseChoice, magic_error: float = 0.0
) -> str:
    """The name of the file of a logical circuit, composed of its parameters.

    Sinter turns it into metadata (`sinter collect --metadata_func auto`).

    Args:
        name: A name for the program.
        distance: As in ``logical_circuit``.
        p: As in ``logical_circuit``.
        gate: As in ``logical_circuit``.
        noise: As in ``logical_circuit``.
        magic_error: As in ``logical_circuit``.

    Returns:
        The name, without a folder.

    Raises:
        ValueError: An argument is none that ``logical_circuit`` takes.

    Examples:
        >>> circuit_file_name(name="bell", distance=3, p=1e-3, gate="T", noise="uniform")
        'c=bell,d=3,g=T,noise=uniform,p=0.001.stim'
    """
    terms: dict[str, object] = {
        "c": text(name, "name"),
        "d": _distance(distance),
        "g": choice(gate, "gate", GATE_CHOICES),
        "noise": choice(noise, "noise", NOISE_CHOICES),
        "p": probability(p, "p"),
    }
    if magic_error := probability(magic_error, "magic_error"):
        terms["e"] = magic_error
    return joined(terms)


def _distance(value: int) -> int:
    distance = integer(value, "distance", 3, _MOST_DISTANCE)
    if distance % 2 == 0:
        refuse_argument("distance", "an odd number", distance, kind=ValueError)
    return distance
