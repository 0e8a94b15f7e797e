"""The two protocols, injection alone and a teleported T gate: all stages in order, with noise."""

from __future__ import annotations

from typing import Literal, get_args

import stim

from ...base.arguments import choice, integer, integer_among, number, probability
from ..cultivation.builder import GateChoice
from ..cultivation.noise import NoiseChoice, add_noise, noise_model
from .builder import TeleportationBuilder
from .final_check import append_final_check
from .gate_by_surgery import GateBySurgery
from .injection import append_injection_resets, corner_of
from .surface_code import SurfaceCode
from .syndrome_round import append_syndrome_round

CorrectionChoice = Literal["gate", "software", "decoded"]
CORRECTION_CHOICES: tuple[CorrectionChoice, ...] = get_args(CorrectionChoice)
InputChoice = Literal["plus", "bell"]
INPUT_CHOICES: tuple[InputChoice, ...] = get_args(InputChoice)
SGateChoice = Literal["ideal", "patch"]
S_GATE_CHOICES: tuple[SGateChoice, ...] = get_args(SGateChoice)
MagicChoice = Literal["injected", "cultivated", "perfect"]
MAGIC_CHOICES: tuple[MagicChoice, ...] = get_args(MagicChoice)
_MOST_ROUNDS = 1_000_000
MOST_ATTEMPTS = 64  # as many as there may be circuits that a decision chooses among
AVAILABLE_DISTANCES: tuple[int, ...] = (3, 5, 7)


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
        ValueError: distance must be 3, 5 or 7, but is 4.
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
    input: InputChoice = "plus",
    s_gate: SGateChoice = "ideal",
    magic: MagicChoice = "injected",
    magic_error: float | None = None,
    attempts: int = 1,
    gap: float | None = None,
) -> stim.Circuit:
    """Returns a circuit in which a T state is consumed by lattice surgery: it applies T to a patch.

    What is said of detectors, the observable and the circuit at `injection_circuit` holds here too. But with
    `correction="decoded"` the circuit asks a decoder, and only detectors of the magic patch before the merge
    postselect, or those that fire if `gap` is not reached.

    Args:
        distance: Distance of the patches, one of `AVAILABLE_DISTANCES`.
        p: Noise strength, a probability; see `stim_nonclifford.generators.cultivation.noise`.
        gate: "T" or "S", as for `injection_circuit`.
        noise: "uniform", "si1000" or "none".
        correction: What happens if the outcome of the merge is 1: "gate" applies a conditional logical S
            at once, "software" takes it into account in the final check. With "decoded", a decoder in the
            loop decides the outcome and then the frame of the final check.
        rounds: Rounds of check measurements for the injection, at least 1. The merge has as many as the
            distance.
        input: What T is applied to: "plus" is logical |+>. It does not test all of the gate, as S T|+> is
            Y T|+>. With "decoded" it is prepared without noise. "bell" is half of a noiseless Bell pair, so
            that the rate is 1 - process fidelity. Observables 0 and 1 are then ZZ and XX of the pair.
        s_gate: How a decided S is made: "ideal" is a fault-tolerant gate without noise; "patch" consumes a
            patch in the same way, which is prepared without noise in |Y> if S is wanted, and in |+> if not.
        magic: "injected" with noise; or a "perfect" T state, and the noise begins with the merge; or a
            "cultivated" one, a perfect state on which Z acts with the probability `magic_error`.
        magic_error: The error of a cultivated, or of a distilled, T state: a probability; see
            `stim_nonclifford.generators.cultivation` for how small it is. Z is its only error, as others can
            be twirled to Z. No decoder sees it.
        attempts: With "decoded" and "injected", how often the injection is tried at most, until it is
            accepted. The target waits, with noise. A shot is discarded if the last attempt fails.
        gap: An injection is accepted if the decoder is sure of Z_L and X_L of the magic patch by this
            complementary gap, in decibels. None: if no detector of the magic patch fires.

    Returns:
        The circuit. The qubit behind those of the patches is a classical bit, and the one behind the bit is
        the reference of a Bell pair.

    Raises:
        ValueError: An argument has none of the values above, a patch makes an S that is not decided,
            `magic_error` is missing, or it, `attempts` or `gap` has no meaning.

    Examples:
        >>> circuit = teleportation_circuit(distance=3, p=5e-4)
        >>> circuit.num_qubits, circuit.num_detectors
        (42, 99)
        >>> [str(i) for i in circuit if i.tag.startswith("C_")]
        ['CZ[C_R_ZZZ(theta=0.5*pi)] rec[-1] 25 rec[-1] 26 rec[-1] 27']
        >>> decoded = teleportation_circuit(correction="decoded", input="bell")
        >>> [str(i) for i in decoded if i.tag.startswith(("DECODE", "FRAME"))]
        ['M[DECODE] 41', 'MPAD[FRAME(Z25*Z26*Z27, X27*X33*X39)] 0 0']
        >>> teleportation_circuit(correction="later")
        Traceback (most recent call last):
            ...
        ValueError: correction must be 'gate', 'software' or 'decoded', but is 'later'.
    """
    model = noise_model(noise, p)
    surgery = build_teleportation(
        distance, gate, correction, rounds, input, s_gate, magic, magic_error, attempts, gap
    )
    return surgery.builder.with_noise(model, surgery.noiseless)


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
    distance: int,
    gate: GateChoice = "T",
    correction: CorrectionChoice = "gate",
    rounds: int = 2,
    input: InputChoice = "plus",
    s_gate: SGateChoice = "ideal",
    magic: MagicChoice = "injected",
    magic_error: float | None = None,
    attempts: int = 1,
    gap: float | None = None,
) -> GateBySurgery:
    """Writes the circuit of `teleportation_circuit` without noise, with the same arguments and refusals.

    Examples:
        >>> for stage in build_teleportation(3).builder.stages:
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
    bell = choice(input, "input", INPUT_CHOICES) == "bell"
    by_patch = choice(s_gate, "s_gate", S_GATE_CHOICES) == "patch"
    injected = choice(magic, "magic", MAGIC_CHOICES) == "injected"
    if magic == "cultivated":
        if magic_error is None:
            raise ValueError(
                "magic='cultivated' needs magic_error, the error of the cultivated T state: a probability,"
                " such as magic_error=1e-6."
            )
        magic_error = probability(magic_error, "magic_error")
    elif magic_error is not None:
        raise ValueError(f"magic_error is that of magic='cultivated', but magic is {magic!r}. Leave it out.")
    decoded = correction == "decoded"
    if by_patch and not decoded:
        raise ValueError(
            f"s_gate='patch' needs correction='decoded', but correction is {correction!r}: the outcome of the"
            " merge is decoded before the patch is consumed."
        )
    attempts = integer(attempts, "attempts", 1, MOST_ATTEMPTS)
    if attempts > 1 and not (decoded and injected):
        raise ValueError(
            "attempts are those of an injection whose gate is decoded: they need correction='decoded' and"
            f" magic='injected', but these are {correction!r} and {magic!r}."
        )
    if gap is not None:
        if not (decoded and injected):
            raise ValueError(
                "gap is that of an injection whose gate is decoded: it needs correction='decoded' and"
                f" magic='injected', but these are {correction!r} and {magic!r}."
            )
        gap = number(gap, "gap", 0)
    surgery = GateBySurgery(distance, gate, bell=bell)
    builder, target = surgery.builder, surgery.patches.target
    if gap is not None:
        builder.postselected = ()
    elif decoded and injected:
        builder.postselected = [check.ancilla for check in surgery.patches.magic.checks]
    elif decoded:
        builder.postselected = ()

    def correct_by_s() -> None:
        builder.begin_stage("correction")
        builder.logical_s_if(builder.parity(outcome, surgery.bit), surgery.z_logical)

    if bell:
        surgery.prepare_bell_pair()
    elif decoded:
        surgery.prepare_encoded_plus()
    in_plus = not bell and not decoded
    builder.begin_stage("injection")
    if attempts > 1 or gap is not None:
        surgery.inject_until_accepted(rounds=rounds, attempts=attempts, gap=gap)
    elif injected:
        surgery.inject(rounds=rounds, into_plus=in_plus)
        builder.end_part(noisy=True)
    else:
        if in_plus:
            surgery.prepare_plus()
        surgery.prepare_magic(error=magic_error or 0.0)
    if decoded:
        builder.postselected = ()
    builder.begin_stage("merge")
    outcome = surgery.merge()
    if decoded:
        builder.begin_stage("correction")
        decided = surgery.decide(outcome)
        if not by_patch:
            surgery.ideal_s_if(decided)
    elif correction == "gate":
        correct_by_s()
    builder.begin_stage("split")
    sign = surgery.split()
    if decoded:
        surgery.flip_frame(sign)
        if by_patch:
            surgery.s_by_patch_if(decided)
        builder.begin_stage("final check")
        surgery.apply_decoded_frame()
        builder.logical_t_dag(surgery.z_logical)
        surgery.measure_input()
        return surgery
    if correction == "software":
        correct_by_s()
    builder.end_part(noisy=True)
    builder.begin_stage("final check")
    builder.logical_t_dag(surgery.z_logical)
    surgery.measure_input(sign)
    surgery.measure_checks(target)
    return surgery
