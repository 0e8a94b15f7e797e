"""Logical circuits: programs of Pauli-product rotations on patches of surface code, with noise."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, get_args

import stim

from ...base.arguments import choice, integer, probability, refuse_argument, text
from ..cultivation.builder import GATE_CHOICES, GateChoice
from ..cultivation.files import joined
from ..cultivation.noise import NOISE_CHOICES, NoiseChoice, noise_model
from ..teleportation.protocol import MAGIC_CHOICES, S_GATE_CHOICES, MagicChoice, SGateChoice
from .layout import Layout
from .program import surgery_steps
from .surgery import Ending, LogicalBuilder, SurgeryOptions

YStateChoice = Literal["perfect", "injected"]
Y_STATE_CHOICES: tuple[YStateChoice, ...] = get_args(YStateChoice)
ENDING_CHOICES: tuple[Ending, ...] = get_args(Ending)
_MOST_DISTANCE = 99
_MOST_ROUNDS = 1_000_000


def logical_circuit(
    rotations: Iterable[tuple[float, str]],
    measurements: Iterable[str] = (),
    *,
    distance: int = 3,
    p: float = 1e-3,
    gate: GateChoice = "T",
    noise: NoiseChoice = "uniform",
    magic: MagicChoice = "perfect",
    magic_error: float | None = None,
    y_state: YStateChoice = "perfect",
    s_gate: SGateChoice = "ideal",
    rounds: int = 2,
    ending: Ending = "measurements",
) -> stim.Circuit:
    r"""A logical circuit with T gates by lattice surgery, every outcome of which a decoder decides.

    Each logical qubit is a patch of rotated surface code, and starts in |0> without noise. A rotation by 1/8
    half-turn consumes a T state, which is prepared in the magic patch. A merge of d rounds measures its
    product, a decoder decides the outcome, and if it is 1, S follows. Clifford rotations are commuted to the
    end. A product that has several Paulis is turned to one of Z first, by one or two S gates, each of which
    consumes a patch in |Y>. Products are measured by a merge, too. Patches that are not merged wait, and all
    checks are measured in each round.

    Args:
        rotations: Pairs of an angle in half-turns and a Pauli product with a letter of ``IXYZ`` for each
            logical qubit: (θ, P) is exp(-i π θ P), so that (1/8, "Z") is T and (1/4, "Z") is S. The first one
            acts first. ``program_of`` makes them of a Clifford+T circuit.
        measurements: Products that are measured after all rotations. They may have a sign.
        distance: Distance of the patches, an odd number from 3 on.
        p: Noise strength, a probability; see ``stim_nonclifford.generators.cultivation.noise``.
        gate: "T"; or "S" for the S-proxy, with S in place of each T.
        noise: "uniform", "si1000" or "none".
        magic: T states are "perfect"; "injected" with noise at a corner of the magic patch; or "cultivated",
            a perfect state with an error of the probability ``magic_error``.
        magic_error: The error of a cultivated, or of a distilled, T state, a probability: Z for a product of
            Z, X for one of X. No decoder sees it.
        y_state: |Y> states are "perfect", or "injected" in the same way. No distance makes the error of an
            injected state smaller.
        s_gate: S after T is "ideal", a fault-tolerant gate without noise; or it consumes a "patch", which is
            prepared in |Y> if S is wanted. The surgery takes place in either case.
        rounds: Rounds of checks of an injection, at least 1. The other patches wait.
        ending: "measurements" of the products; or the "state" of the patches, or the "process" with half of
            noiseless Bell pairs in place of |0>, is compared with the ideal one: errors that the decoder
            finds are corrected, the ideal gates are undone without noise, and what was prepared is measured.

    Returns:
        The circuit, which asks a decoder: samplers take one, ``decoder="pymatching"``. Observable k is the
        decided outcome of measurement k. Samplers count it from the reference, so that the outcome itself
        takes ``skip_reference_sample=True``. With the other endings, the share of shots in which any
        observable is flipped is 1 - fidelity. Detectors have the coordinates (x, y, moment, 0), those of an
        injection (x, y, moment, 1), where the non-zero fourth coordinate means "postselect". The last qubits
        are a classical bit and the references of Bell pairs.

    Raises:
        ValueError: An argument has none of the values above, there is neither a rotation nor a measurement,
            there are measurements with another ending, or ``magic_error`` is missing or has no meaning.

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
    distance = checked_distance(distance)
    model = noise_model(noise, p)
    if choice(ending, "ending", ENDING_CHOICES) != "measurements" and (measurements := [*measurements]):
        raise ValueError(
            f"ending={ending!r} compares what the rotations make, but there are measurements:"
            f" {measurements!r}. Leave them out."
        )
    options = SurgeryOptions(
        gate=choice(gate, "gate", GATE_CHOICES),
        magic_error=_magic_error(magic, magic_error),
        inject_t=magic == "injected",
        inject_y=choice(y_state, "y_state", Y_STATE_CHOICES) == "injected",
        rounds=integer(rounds, "rounds", 1, _MOST_ROUNDS),
        s_by_patch=choice(s_gate, "s_gate", S_GATE_CHOICES) == "patch",
        ending=ending,
    )
    num_qubits, steps = surgery_steps(rotations, measurements)
    written = LogicalBuilder(Layout(distance, num_qubits + 1), steps, options)
    return written.builder.with_noise(model, written.noiseless, waiting=written.waiting)


def circuit_file_name(
    *,
    name: str,
    distance: int,
    p: float,
    gate: GateChoice,
    noise: NoiseChoice,
    magic: MagicChoice = "perfect",
    magic_error: float | None = None,
    y_state: YStateChoice = "perfect",
    s_gate: SGateChoice = "ideal",
    ending: Ending = "measurements",
) -> str:
    """The name of the file of a logical circuit, composed of its parameters.

    Sinter turns it into metadata (`sinter collect --metadata_func auto`).

    Args:
        name: A name for the program.
        distance: As in ``logical_circuit``.
        p: As in ``logical_circuit``.
        gate: As in ``logical_circuit``.
        noise: As in ``logical_circuit``.
        magic: As in ``logical_circuit``.
        magic_error: As in ``logical_circuit``.
        y_state: As in ``logical_circuit``.
        s_gate: As in ``logical_circuit``.
        ending: As in ``logical_circuit``.

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
        "d": checked_distance(distance),
        "g": choice(gate, "gate", GATE_CHOICES),
        "noise": choice(noise, "noise", NOISE_CHOICES),
        "p": probability(p, "p"),
    }
    if magic_error := _magic_error(magic, magic_error):
        terms["e"] = magic_error
    others = {
        "ending": choice(ending, "ending", ENDING_CHOICES),
        "magic": magic,
        "s": choice(s_gate, "s_gate", S_GATE_CHOICES),
        "y": choice(y_state, "y_state", Y_STATE_CHOICES),
    }
    usual = ("measurements", "perfect", "ideal")
    return joined(terms | {key: value for key, value in others.items() if value not in usual})


def _magic_error(magic: MagicChoice, magic_error: float | None) -> float:
    """The probability of an error of a T state that is prepared without noise."""
    if choice(magic, "magic", MAGIC_CHOICES) == "cultivated":
        if magic_error is None:
            raise ValueError(
                "magic='cultivated' needs magic_error, the error of the cultivated T state: a probability,"
                " such as magic_error=1e-6."
            )
        return probability(magic_error, "magic_error")
    if magic_error is not None:
        raise ValueError(f"magic_error is that of magic='cultivated', but magic is {magic!r}. Leave it out.")
    return 0.0


def checked_distance(value: int) -> int:
    """The distance itself, if it is one."""
    distance = integer(value, "distance", 3, _MOST_DISTANCE)
    if distance % 2 == 0:
        refuse_argument("distance", "an odd number", distance, kind=ValueError)
    return distance
