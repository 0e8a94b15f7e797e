"""Magic state cultivation: the stages in order, with noise."""

from __future__ import annotations

import stim

from circuits.cultivation.builder import CircuitBuilder, GateChoice
from circuits.cultivation.cat_check import CAT_TREES, append_double_cat_check
from circuits.cultivation.color_code import ColorCode
from circuits.cultivation.final_check import append_final_check
from circuits.cultivation.injection import CORNER, CORNER_PARKING, append_unitary_injection
from circuits.cultivation.noise import add_noise, noise_model
from circuits.cultivation.syndrome_cycle import append_syndrome_cycle

AVAILABLE_DISTANCES: tuple[int, ...] = (3,)


def check_distance(distance: int) -> None:
    """Raises a ValueError, saying what there is, if there is no circuit of this distance."""
    if distance not in AVAILABLE_DISTANCES:
        available = ", ".join(str(d) for d in AVAILABLE_DISTANCES)
        raise ValueError(f"distance {distance} is not available yet; distances available: {available}")


def cultivation_circuit(
    distance: int = 3,
    p: float = 1e-3,
    gate: GateChoice = "T",
    noise: str = "uniform",
) -> stim.Circuit:
    """Makes the injection + cultivation circuit, with a perfect final check at its end.

    Every detector postselects: a shot in which one fires is discarded. Observable 0 is flipped in a
    kept shot whose logical state is the wrong one.

    Args:
        distance: Distance of the color code, one of `AVAILABLE_DISTANCES`.
        p: Noise strength, a probability; see `circuits.cultivation.noise`.
        gate: "T" for T gates, written as the tagged gates `S[T]` and `S_DAG[T]`; "S" for the
            S-proxy, with plain S and S_DAG in their place.
        noise: Name of the noise model: "uniform" (depolarizing) or "none" (p is ignored).

    Returns:
        The circuit. Without noise every detector and the observable is 0, for T gates and for the
        S-proxy. Qubits are numbered in the order of their coordinates; detectors have the
        coordinates (x, y, moment, 1), where the non-zero fourth says "postselect".

    Raises:
        ValueError: An argument is not one of the above.

    Examples:
        >>> circuit = cultivation_circuit(distance=3, p=5e-4)
        >>> sum(instruction.tag == "T" for instruction in circuit)
        5
        >>> circuit == cultivation_circuit(3, p=5e-4, gate="S")
        False
        >>> cultivation_circuit(distance=5)
        Traceback (most recent call last):
            ...
        ValueError: distance 5 is not available yet; distances available: 3
    """
    check_distance(distance)
    model = noise_model(noise, p)

    code = ColorCode.triangular(distance)
    sites = code.sites(extra=[CORNER_PARKING, *CAT_TREES[distance].flags])
    builder = CircuitBuilder(sites, gate=gate)
    append_unitary_injection(builder)
    append_syndrome_cycle(builder, code, arriving=[(CORNER_PARKING, CORNER)])
    append_double_cat_check(builder, code)
    append_final_check(builder, code)
    return add_noise(builder.circuit, model)
