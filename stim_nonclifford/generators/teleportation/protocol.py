"""The two protocols, injection alone and a teleported T gate: all stages in order, with noise."""

from __future__ import annotations

from typing import Literal, get_args

import stim

from ...base.arguments import choice, integer, integer_among
from ..cultivation.builder import GateChoice
from ..cultivation.color_code import Coord
from ..cultivation.noise import NoiseChoice, add_noise, noise_model
from .builder import TeleportationBuilder
from .final_check import append_final_check
from .injection import append_injection_resets, append_plus_resets, corner_of
from .surface_code import SurfaceCode
from .surgery import Patches, append_merge, append_split
from .syndrome_round import append_syndrome_round

CorrectionChoice = Literal["gate", "software"]
CORRECTION_CHOICES: tuple[CorrectionChoice, ...] = get_args(CorrectionChoice)
_MOST_ROUNDS = 1_000_000
AVAILABLE_DISTANCES: tuple[int, ...] = (3, 5)


def injection_circuit(
    distance: int = 3,
    p: float = 1e-3,
    gate: GateChoice = "T",
    noise: NoiseChoice = "uniform",
    rounds: int = 2,
) -> stim.Circuit:
    """Returns a circuit that injects T|+> into a patch, with a noiseless final check at its end.

    Every detector postselects: a shot in which one fires is discarded. Observable 0 of a kept shot is
    flipped if its logical state is wrong.

    Args:
        distance: Distance of the patch, one of `AVAILABLE_DISTANCES`.
        p: Noise strength, a probability; see `stim_nonclifford.generators.cultivation.noise`.
        gate: "T" for T gates, written as the tagged gates `S[T]` and `SPP_DAG[T]`; "S" for the S-proxy,
            with plain S and SPP_DAG in their place.
        noise: Name of the noise model: "uniform" (depolarizing), "si1000" (superconducting inspired)
            or "none" (p is ignored).
        rounds: Rounds of check measurements, at least 1.

    Returns:
        The circuit. Without noise all detectors and the observable are 0, for T gates and for the
        S-proxy. Qubits are numbered in the order of their coordinates. Detectors have the coordinates
        (x, y, moment, 1), where the non-zero fourth coordinate means "postselect".

    Raises:
        ValueError: An argument has none of the values above.

    Examples:
        >>> circuit = injection_circuit(distance=3, p=5e-4)
        >>> circuit.num_qubits, circuit.num_detectors
        (17, 19)
        >>> injection_circuit(distance=4)
        Traceback (most recent call last):
            ...
        ValueError: distance must be 3 or 5, but is 4.
    """
    model = noise_model(noise, p)
    return add_noise(build_injection(distance, gate, rounds).circuit, model)


def teleportation_circuit(
    distance: int = 3,
    p: float = 1e-3,
    gate: GateChoice = "T",
    noise: NoiseChoice = "uniform",
    correction: CorrectionChoice = "gate",
    rounds: int = 2,
) -> stim.Circuit:
    """Returns a circuit in which an injected T state is consumed: it applies T to a patch in |+>.

    What is said of detectors, the observable and the circuit at `injection_circuit` holds here too.

    Args:
        distance: Distance of the patches, one of `AVAILABLE_DISTANCES`.
        p: Noise strength, a probability; see `stim_nonclifford.generators.cultivation.noise`.
        gate: "T" or "S", as for `injection_circuit`.
        noise: "uniform", "si1000" or "none".
        correction: What happens if the outcome of the merge is 1: "gate" applies a conditional logical S
            at once, "software" takes it into account in the final check.
        rounds: Rounds of check measurements for the injection, at least 1. The merge has as many as the
            distance.

    Returns:
        The circuit. Its last qubit is a classical bit.

    Raises:
        ValueError: An argument has none of the values above.

    Examples:
        >>> circuit = teleportation_circuit(distance=3, p=5e-4)
        >>> circuit.num_qubits, circuit.num_detectors
        (42, 99)
        >>> [str(i) for i in circuit if i.tag.startswith("C_")]
        ['CZ[C_R_ZZZ(theta=0.5*pi)] rec[-1] 25 rec[-1] 26 rec[-1] 27']
        >>> teleportation_circuit(correction="later")
        Traceback (most recent call last):
            ...
        ValueError: correction must be 'gate' or 'software', but is 'later'.
    """
    model = noise_model(noise, p)
    circuit = build_teleportation(distance, gate, correction, rounds).circuit
    return add_noise(circuit, model, bits=[circuit.num_qubits - 1])


def build_injection(distance: int, gate: GateChoice = "T", rounds: int = 2) -> TeleportationBuilder:
    """Writes the circuit of `injection_circuit` without noise, with the same arguments and refusals.

    Examples:
        >>> for stage in build_injection(5).stages:
        ...     print(stage.first_moment, stage.name)
        0 injection
        13 final check
    """
    integer_among(distance, "distance", AVAILABLE_DISTANCES)
    rounds = integer(rounds, "rounds", 1, _MOST_ROUNDS)
    code = SurfaceCode(0, distance, distance)
    builder = TeleportationBuilder(code.sites, gate=gate)

    builder.begin_stage("injection")
    values = append_injection_resets(builder, code)
    builder.tick()
    builder.t([corner_of(code)])
    for _ in range(rounds):
        append_syndrome_round(builder, code.checks, values)
    append_final_check(builder, code, values, z_logical=code.column(distance - 1))
    return builder


def build_teleportation(
    distance: int, gate: GateChoice = "T", correction: CorrectionChoice = "gate", rounds: int = 2
) -> TeleportationBuilder:
    """Writes the circuit of `teleportation_circuit` without noise, with the same arguments and refusals.

    Examples:
        >>> for stage in build_teleportation(3).stages:
        ...     print(stage.first_moment, stage.name)
        0 injection
        13 merge
        31 correction
        31 split
        37 final check
    """
    integer_among(distance, "distance", AVAILABLE_DISTANCES)
    rounds = integer(rounds, "rounds", 1, _MOST_ROUNDS)
    correction = choice(correction, "correction", CORRECTION_CHOICES)
    patches = Patches.of_distance(distance)
    magic, target = patches.magic, patches.target
    z_logical = target.column(target.first_column)
    bit = _bit(patches)
    builder = TeleportationBuilder([*patches.merged.sites, bit], gate=gate)

    def correct_by_s() -> None:
        builder.begin_stage("correction")
        builder.logical_s_if(builder.parity(outcome, bit), z_logical)

    builder.begin_stage("injection")
    values = append_injection_resets(builder, magic) | append_plus_resets(builder, target)
    builder.tick()
    builder.t([corner_of(magic)])
    for _ in range(rounds):
        append_syndrome_round(builder, [*magic.checks, *target.checks], values)
    builder.begin_stage("merge")
    outcome = append_merge(builder, patches, values, rounds=distance)
    if correction == "gate":
        correct_by_s()
    builder.begin_stage("split")
    sign = append_split(builder, patches, values)
    append_syndrome_round(builder, target.checks, values)
    if correction == "software":
        correct_by_s()
    append_final_check(builder, target, values, z_logical=z_logical, sign=sign)
    return builder


def _bit(patches: Patches) -> Coord:
    """The place of the classical bit, to the right of all qubits: its number is the last one."""
    return 2 * patches.merged.end_column + 2, 0
