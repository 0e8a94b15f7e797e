"""Noiseless outputs: which detectors and observables are random even if nothing goes wrong.

An observable whose value is random without noise defines no error: in half of the shots, say, it is "flipped"
whatever the noise is. What is asked here of an output (a detector or an observable):

* :func:`outputs_of_chance`: does it depend on any random outcome, of a stabilizer measurement (a coin) or of
  a quantum measurement? The gates alone decide that. It may be certain all the same, if the outcomes that it
  depends on are certain, or cancel.
* :func:`random_outputs`: has it both values in noiseless shots that are kept? To find out, paths of outcomes
  that a shot can take are followed. Each outcome that is not certain is 0 or 1 with equal chances, so that an
  unlikely one is met as often as a likely one. An output is a parity of outcomes. If the same outcomes are
  certain on all paths, as in Clifford circuits, a random output has either value on half of the paths, and 64
  paths miss it with probability 2^-63. Where earlier outcomes decide which later ones are certain, more paths
  may be needed, if the output is random only after a long chain of special outcomes.

Coherent noise is noise, too: an output that is random only because of rotations by small angles is none of
those. An angle counts as noise if it is at most ``coherent_noise.MAX_NOISE_ANGLE`` half-turns away from a
multiple of 1/4.
(A rotation that a record controls consists of two by half of its angle.)

Observables with Pauli targets have no record in a circuit, and samplers count the flips of the Pauli frame.
They are random unless the state is an eigenstate. So they are measured here, by a further qubit that controls
these Paulis.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Collection, Sequence
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt
import stim

from ...base.written_circuits import instructions_in
from ...dialect import expectation_products, is_expectation, without_noise
from ..compiler import DEFAULT_MAX_ACTIVE_COORDINATES, CompiledCircuit, RequestedOutputs, compile_circuit
from ..compiler.algebra.gf2 import mask_of, ones
from ..engines import likely_outputs
from ..plan import SamplingPlan
from ..row_fates import fates_of_rows
from .coherent_noise import half_turns_of, is_noise_angle
from .paths_of_rows import PathsOfRows

_PATHS = 64
_FEWEST_PATHS = 8
_PATH_WORK = 4e9
"""Coefficients that all paths together may go through: some seconds. There are fewer paths then."""

_ATTEMPTS_PER_PATH = 4
"""Some paths are discarded."""

_MOST_OUTCOMES, _MOST_COINS = 20, 12
"""Quantum outcomes and coins over whose values a probability is summed up: with twice as many, it takes the
square of the time."""

_GATES = {"X": "CX", "Y": "CY", "Z": "CZ"}

Question = tuple[tuple[int, ...], tuple[int, ...], bool]

_measured: WeakKeyDictionary[CompiledCircuit, dict[tuple[int, ...], CompiledCircuit]] = WeakKeyDictionary()
_answers: WeakKeyDictionary[CompiledCircuit, dict[Question, list[int]]] = WeakKeyDictionary()


def outcome_dependent(compiled: CompiledCircuit) -> npt.NDArray[np.bool_]:
    """Which detectors depend on outcomes of quantum measurements, not on coins alone."""
    return _outcome_dependent(compiled)[: compiled.program.num_detectors]


def outcome_dependent_observables(compiled: CompiledCircuit) -> npt.NDArray[np.bool_]:
    """Which observables' records depend on outcomes of quantum measurements."""
    return _outcome_dependent(compiled)[compiled.program.num_detectors :]


def _outcome_dependent(compiled: CompiledCircuit) -> npt.NDArray[np.bool_]:
    found = np.zeros(compiled.program.num_detectors + compiled.program.num_observables, dtype=np.bool_)
    found[ones(_mask_of_outcomes(compiled))] = True
    return found


def outputs_of_chance(compiled: CompiledCircuit) -> list[int]:
    """The outputs that depend on random outcomes, of coins or of quantum measurements, ascending."""
    found = _mask_of_chance(compiled)
    for output in _with_paulis(compiled):
        found |= _mask_of_chance(_with_measured(compiled, [output])) & 1 << output
    return ones(found)


def frames_of_chance(compiled: CompiledCircuit) -> list[int]:
    """The observables with Pauli targets whose value depends on quantum outcomes, as outputs, ascending.

    Samplers count the flips of the Pauli frame by noise. The value of such an observable changes otherwise,
    too: X before a T gate flips it in half of the shots, and the frame of the logical X never.
    """
    return [
        output
        for output in _with_paulis(compiled)
        if _mask_of_outcomes(_with_measured(compiled, [output])) >> output & 1
    ]


def first_paulis(circuit: stim.Circuit, observable: int) -> list[stim.GateTarget]:
    """The Pauli targets of an observable in the first instruction that has some."""
    for part in instructions_in(circuit):
        if part.name == "OBSERVABLE_INCLUDE" and part.gate_args_copy() == [observable] and _paulis_of(part):
            return _paulis_of(part)
    return []


def has_expectation_of(circuit: stim.Circuit, paulis: Sequence[stim.GateTarget]) -> bool:
    """Whether the circuit has an EXP_VAL of the product of these Paulis, up to its sign."""
    wanted = {(target.pauli_type, target.value) for target in paulis}
    return any(
        wanted == {(factor.pauli_type, factor.value) for factor in product}
        for part in instructions_in(circuit)
        if is_expectation(part)
        for product in expectation_products(part)
    )


def random_outputs(
    compiled: CompiledCircuit,
    asked: Collection[int],
    postselected: Collection[int] = (),
    *,
    skip_reference_sample: bool = False,
    max_active_coordinates: int = DEFAULT_MAX_ACTIVE_COORDINATES,
) -> list[int]:
    """The outputs that have both values in noiseless shots that are kept, ascending.

    See the head of this module.

    Outputs are detectors, then observables; ``postselected`` ones are 0 in a kept shot. If no shot is kept
    without noise, none is random. ``skip_reference_sample`` asks for raw parities, not for flips of the
    reference sample.
    """
    question = tuple(sorted(asked)), tuple(sorted(postselected)), skip_reference_sample
    known = _answers.setdefault(compiled, {})
    if question not in known:
        known[question] = _random_outputs(compiled, *question, max_active_coordinates)
    return known[question]


def probability_of_one(compiled: CompiledCircuit, observable: int) -> float:
    r"""The probability that the record of an observable is 1 in noiseless shots in which no detector fires.

    Where it would be a sum over very many paths, it is that of the likeliest path.

    Examples:
        >>> import stim_nonclifford as snc
        >>> circuit = snc.Circuit("RX 0\nT 0\nMX 0\nOBSERVABLE_INCLUDE(0) rec[-1]")
        >>> round(probability_of_one(circuit.compile(), 0), 6)  # sin(pi/8)^2
        0.146447
    """
    num_detectors = compiled.program.num_detectors
    output = num_detectors + observable
    is_one = compiled.reference_detectors() >> output & 1
    plan = compiled.noiseless_plan(RequestedOutputs.of([output], range(num_detectors)))
    if plan.num_outcomes > _MOST_OUTCOMES or len(plan.coins) > _MOST_COINS:
        return float(is_one)
    no_faults = np.zeros((1, plan.num_row_bits), dtype=np.bool_)
    right, wrong, _ = (float(each[0]) for each in fates_of_rows(plan, no_faults))
    flipped = wrong / (right + wrong)
    return 1 - flipped if is_one else flipped


def lines_of_observable(circuit: stim.Circuit, observable: int) -> list[int]:
    """The lines of the printed circuit in which an observable is declared, counted from 1."""
    return [
        number
        for number, line in enumerate(str(circuit).splitlines(), start=1)
        if line.lstrip().startswith("OBSERVABLE_INCLUDE") and f"({observable})" in line
    ]


def _mask_of_outcomes(compiled: CompiledCircuit) -> int:
    """The outputs that outcomes flip, or readout noise that depends on them."""
    table = compiled.effects("detectors")
    flipped = np.union1d(table.readouts.effects.bits, table.outcomes.bits)
    return mask_of(flipped[flipped < table.num_outputs].tolist())


def _mask_of_chance(compiled: CompiledCircuit) -> int:
    table = compiled.effects("detectors")
    coins = mask_of(np.unique(table.coins.bits[table.coins.bits < table.num_outputs]).tolist())
    return _mask_of_outcomes(compiled) | coins


def _random_outputs(
    compiled: CompiledCircuit,
    asked: Sequence[int],
    postselected: Sequence[int],
    skip_reference_sample: bool,
    max_active_coordinates: int,
) -> list[int]:
    def among(swept: CompiledCircuit, outputs: Collection[int]) -> list[int]:
        possible = ones(_mask_of_chance(swept) & mask_of(outputs))
        if not possible:
            return []
        requested = RequestedOutputs.of(possible, postselected)
        plan = swept.noiseless_plan(
            requested,
            skip_reference_sample=skip_reference_sample,
            max_active_coordinates=max_active_coordinates,
        )
        found = _both_values(plan)
        if found and (without := _without_small_angles(plan)) is not None:
            found &= _both_values(without)
        return [possible[k] for k in ones(found)]

    paulis = set(_with_paulis(compiled)).intersection(asked)
    if not paulis:
        return among(compiled, asked)
    # To measure one observable may make another one random, but never a random one certain.
    suspects = among(_with_measured(compiled, sorted(paulis)), asked)
    found = among(compiled, set(suspects) - paulis)
    for output in paulis.intersection(suspects):
        found += among(_with_measured(compiled, [output]), [output])
    return sorted(found)


def _both_values(plan: SamplingPlan) -> int:
    """The outputs of a plan without noise that have both values in kept shots, as a mask."""
    if plan.never_kept:
        return 0
    paths = PathsOfRows(plan)
    num_paths = _num_paths(plan)
    return paths.both_values(paths.start, num_paths, num_paths * _ATTEMPTS_PER_PATH)


def _num_paths(plan: SamplingPlan) -> int:
    work = float(np.exp2(plan.operations["width"]).sum())
    return int(min(_PATHS, max(_FEWEST_PATHS, _PATH_WORK / max(1.0, work))))


def has_small_angles(plan: SamplingPlan) -> bool:
    """Whether a plan has a rotation by an angle that is no multiple of 1/4 half-turns, as coherent noise."""
    return _without_small_angles(plan) is not None


def _without_small_angles(plan: SamplingPlan) -> SamplingPlan | None:
    """The plan with each angle moved to a near multiple of 1/4 half-turns; None if all are multiples."""
    half_turns = half_turns_of(plan)
    small = np.array([is_noise_angle(angle) for angle in half_turns.tolist()], dtype=np.bool_)
    if not small.any():
        return None
    rounded = np.round(4 * half_turns) / 4
    terms = plan.rotation_terms.copy()
    terms["cosine"][small] = np.cos(rounded[small] * math.pi / 2)
    terms["sine"][small] = np.sin(rounded[small] * math.pi / 2)
    return dataclasses.replace(plan, rotation_terms=terms)


def _with_paulis(compiled: CompiledCircuit) -> list[int]:
    """The observables with Pauli targets, as outputs. In Clifford circuits their coins are known."""
    if not compiled.program.has_non_clifford_gates:
        return []
    found = {
        int(part.gate_args_copy()[0])
        for part in instructions_in(compiled.circuit)
        if part.name == "OBSERVABLE_INCLUDE" and _paulis_of(part)
    }
    return [compiled.program.num_detectors + observable for observable in sorted(found)]


def _paulis_of(instruction: stim.CircuitInstruction) -> list[stim.GateTarget]:
    return [target for target in instruction.targets_copy() if target.pauli_type in _GATES]


def _with_measured(compiled: CompiledCircuit, outputs: Sequence[int]) -> CompiledCircuit:
    """The circuit without noise in which these observables have records in place of Pauli targets."""
    key = tuple(outputs)
    known = _measured.setdefault(compiled, {})
    if key not in known:
        observables = [output - compiled.program.num_detectors for output in outputs]
        known[key] = compile_circuit(_measuring(compiled.circuit, observables), likely_outputs)
    return known[key]


def _measuring(circuit: stim.Circuit, observables: Sequence[int]) -> stim.Circuit:
    """Measures the Pauli targets of observables, each with a qubit that controls these Paulis."""
    qubit_of = {observable: circuit.num_qubits + k for k, observable in enumerate(observables)}

    def rewritten(part: stim.Circuit) -> stim.Circuit:
        result = stim.Circuit()
        for instruction in part:
            if isinstance(instruction, stim.CircuitRepeatBlock):
                body = rewritten(instruction.body_copy())
                result.append(stim.CircuitRepeatBlock(instruction.repeat_count, body, tag=instruction.tag))
                continue
            paulis = _paulis_of(instruction) if instruction.name == "OBSERVABLE_INCLUDE" else []
            observable = int(instruction.gate_args_copy()[0]) if paulis else -1
            if observable not in qubit_of:
                result.append(instruction)
                continue
            for target in paulis:
                result.append(_GATES[target.pauli_type], [qubit_of[observable], target.value])
            records = [target for target in instruction.targets_copy() if target.is_measurement_record_target]
            result.append("OBSERVABLE_INCLUDE", records, observable)
        return result

    result = stim.Circuit()
    result.append("RX", list(qubit_of.values()))
    result += rewritten(without_noise(circuit))
    for observable, qubit in qubit_of.items():
        result.append("MX", [qubit])
        result.append("OBSERVABLE_INCLUDE", [stim.target_rec(-1)], observable)
    return result
