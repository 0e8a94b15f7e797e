"""The Pauli twirl of noise that depends on the state, as far as the state without noise is known.

A decay does nothing to |0>, flips |1> with the probability γ, and flips a qubit with a random value with γ/2,
as its plain twirl says for all states. Where the noiseless state is a stabilizer state, the value of Z of a
qubit is 0, 1, or random, and so is each outcome. With the errors of the value that it has, detectors fire as
often as in truth, up to terms of second order in the noise. The S-proxy stands for circuits with T gates.

A value that depends on earlier random outcomes counts as random: detectors do not say which one it is.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import stim

from ...base.written_circuits import circuit_of, instructions_in, with_source
from ...dialect import Kraus, ReadoutNoise, Relaxation, kraus_of, readout_noise_of, relaxation_of
from ...simulation.compiler.program.extent import extent_of
from .channels import twirl_of_channel
from .stand_ins import noiseless_stand_in

Values = Sequence["bool | None"]
"""Values without noise; None: random."""

_BATCH = 256
"""Shots in which a value that is random is the same with a probability of 2 to minus this number."""

_MOST_ITERATIONS = 256
_MOST_PERIODS = 4
"""A loop is followed for so many iterations, until the last ones repeat those before with such a period."""


def with_state_aware_twirl(circuit: stim.Circuit) -> stim.Circuit:
    r"""A tagged circuit with Pauli errors in place of relaxation, Kraus operators and readout noise.

    Examples:
        >>> decay = "I_ERROR[AMPLITUDE_DAMPING(gamma=0.36)]"
        >>> print(with_state_aware_twirl(stim.Circuit(f"X 1\n{decay} 0 1\nH 0\n{decay} 0")))
        X 1
        X_ERROR[twirl of AMPLITUDE_DAMPING](0.36) 1
        Z_ERROR[twirl of AMPLITUDE_DAMPING](0.01) 0 1
        H 0
        PAULI_CHANNEL_1[twirl of AMPLITUDE_DAMPING](0.09, 0.09, 0.01) 0
    """
    if not any(map(_depends_on_state, instructions_in(circuit))):
        return circuit
    return _Walk(circuit).rewritten(circuit)


def _depends_on_state(instruction: stim.CircuitInstruction) -> bool:
    return bool(instruction.tag) and _channel_of(instruction) is not None


def _channel_of(instruction: stim.CircuitInstruction) -> ReadoutNoise | Kraus | Relaxation | None:
    return readout_noise_of(instruction) or kraus_of(instruction) or relaxation_of(instruction)


class _Walk:
    """The circuit, rewritten along with its noiseless state."""

    def __init__(self, circuit: stim.Circuit) -> None:
        self._state: _NoiselessState | None = _NoiselessState(sorted(extent_of(circuit).qubits))

    def rewritten(self, circuit: stim.Circuit) -> stim.Circuit:
        """A part of the circuit, at which the state has arrived."""
        result = stim.Circuit()
        for part in circuit:
            result += self._block(part) if isinstance(part, stim.CircuitRepeatBlock) else self._step(part)
        return result

    def _step(self, instruction: stim.CircuitInstruction) -> stim.Circuit:
        channel = _channel_of(instruction) if instruction.tag else None
        if self._state is None:
            return (channel and twirl_of_channel(instruction)) or circuit_of(instruction)
        if channel is None:
            self._state.apply(instruction)
            return circuit_of(instruction)
        if isinstance(channel, ReadoutNoise):
            return _misread(instruction, channel, self._state.outcomes(instruction))
        targets = [target.value for target in instruction.targets_copy()]
        values = self._state.values(targets)
        if isinstance(channel, Relaxation):
            return with_source(_relaxed(channel, targets, values), channel.name)
        return with_source(_twirled_kraus(channel, targets, values), channel.name)

    def _block(self, block: stim.CircuitRepeatBlock) -> stim.Circuit:
        body, result = block.body_copy(), stim.Circuit()
        bodies: list[stim.Circuit] = []
        states: list[object] = []
        left = block.repeat_count

        def append(each: stim.Circuit, count: int) -> None:
            result.append(stim.CircuitRepeatBlock(count, each, tag=block.tag))

        period = 0
        while left and not period and self._state is not None:
            bodies.append(self.rewritten(body))
            left -= 1
            if left:
                states.append(self._state.shape())
                period = _period(bodies, states)
            if not period and len(bodies) >= _MOST_ITERATIONS:
                self._state = None
        first = len(bodies) - 2 * period
        for each, equal in itertools.groupby(bodies[:first] if period else bodies):
            append(each, len(list(equal)))
        if period:
            repeated = sum(bodies[first + 1 : first + period], bodies[first])
            append(repeated, 2 + left // period)
            left %= period
        if left and self._state is None:
            append(self.rewritten(body), left)
        else:
            for _ in range(left):
                append(self.rewritten(body), 1)
        return result


def _period(bodies: Sequence[stim.Circuit], states: Sequence[object]) -> int:
    """After how many iterations they repeat, or 0."""
    for period in range(1, _MOST_PERIODS + 1):
        if len(bodies) < 2 * period:
            return 0
        if states[-1] == states[-1 - period] and bodies[-period:] == bodies[-2 * period : -period]:
            return period
    return 0


class _NoiselessState:
    """The noiseless state of the S-proxy of a circuit, and which of its signs are random."""

    def __init__(self, labels: Sequence[int]) -> None:
        self._numbers = {label: number for number, label in enumerate(labels)}
        self._one_shot = stim.TableauSimulator(seed=0)
        self._one_shot.set_num_qubits(len(labels))
        self._flips = stim.FlipSimulator(batch_size=_BATCH, num_qubits=len(labels), seed=0)

    def apply(self, instruction: stim.CircuitInstruction) -> None:
        """Applies what an instruction does without noise."""
        for part in noiseless_stand_in(instruction):
            numbered = self._numbered(part)
            self._one_shot.do(numbered)
            self._flips.do(numbered)

    def values(self, qubits: Sequence[int]) -> list[bool | None]:
        """The value of Z of each qubit: 0 or 1; None if it is random."""
        flips, *_ = self._flips.to_numpy(output_xs=True)
        numbers = [self._numbers[qubit] for qubit in qubits]
        return [None if flips[n].any() else self._one_shot.peek_z(n) < 0 for n in numbers]

    def outcomes(self, measurement: stim.CircuitInstruction) -> list[bool | None]:
        """Applies a measurement: its outcomes, before they are inverted; None for random ones."""
        before = self._flips.num_measurements
        self.apply(measurement)
        records = self._one_shot.current_measurement_record()[before:]
        found: list[bool | None] = []
        for k, (record, group) in enumerate(zip(records, measurement.target_groups(), strict=True)):
            is_inverted = sum(target.is_inverted_result_target for target in group) % 2 == 1
            is_random = self._flips.get_measurement_flips(record_index=before + k).any()
            found.append(None if is_random else record != is_inverted)
        return found

    def shape(self) -> object:
        """The stabilizers, with the signs that are not random."""
        x_flips, z_flips, *_ = self._flips.to_numpy(output_xs=True, output_zs=True)
        found = []
        for stabilizer in self._one_shot.canonical_stabilizers():
            xs, zs = stabilizer.to_numpy()
            flips = np.bitwise_xor.reduce(x_flips[zs], axis=0) ^ np.bitwise_xor.reduce(z_flips[xs], axis=0)
            found.append((str(stabilizer)[1:], None if flips.any() else stabilizer.sign))
        return found

    def _numbered(self, part: stim.CircuitInstruction) -> stim.CircuitInstruction:
        targets: list[stim.GateTarget] = []
        for target in part.targets_copy():
            if target.qubit_value is None or part.name == "MPAD":
                targets.append(target)
                continue
            number = self._numbers[target.value]
            plain = (
                stim.target_pauli(number, target.pauli_type)
                if target.pauli_type != "I"
                else stim.GateTarget(number)
            )
            targets.append(stim.target_inv(plain) if target.is_inverted_result_target else plain)
        return stim.CircuitInstruction(part.name, targets, part.gate_args_copy())


def _misread(instruction: stim.CircuitInstruction, noise: ReadoutNoise, values: Values) -> stim.Circuit:
    result = stim.Circuit()
    rates = {False: noise.p01, True: noise.p10, None: noise.mean}
    for group, value in zip(instruction.target_groups(), values, strict=True):
        is_product = any(target.pauli_type != "I" for target in group)
        targets = stim.target_combined_paulis(group) if is_product else group
        result.append(instruction.name, targets, rates[value] or [])
    return result


def _relaxed(channel: Relaxation, targets: Sequence[int], values: Values) -> stim.Circuit:
    flip_x, flip_y, phase = channel.twirl
    result = stim.Circuit()
    unknown = [target for target, value in zip(targets, values, strict=True) if value is None]
    known = [target for target, value in zip(targets, values, strict=True) if value is not None]
    ones = [target for target, value in zip(targets, values, strict=True) if value]
    if unknown and channel.decay:
        result.append("PAULI_CHANNEL_1", unknown, [flip_x, flip_y, phase])
    elif unknown and phase:
        result.append("Z_ERROR", unknown, phase)
    if ones and channel.decay:
        result.append("X_ERROR", ones, channel.decay)
    if known and phase:  # nothing to the stabilizer state, but other errors may come before
        result.append("Z_ERROR", known, phase)
    return result


def _twirled_kraus(channel: Kraus, targets: Sequence[int], values: Values) -> stim.Circuit:
    result = stim.Circuit()
    name, size = f"PAULI_CHANNEL_{channel.num_qubits}", channel.num_qubits
    for k in range(0, len(targets), size):
        group, known = targets[k : k + size], tuple(values[k : k + size])
        if channel.is_pauli_channel or all(value is None for value in known):
            result.append(name, group, channel.twirl)
        elif size == 1:
            flip = _flips(channel, known)[1]
            if flip:
                result.append("X_ERROR", group, min(1.0, flip))
            if channel.twirl[2]:
                result.append("Z_ERROR", group, channel.twirl[2])
        else:
            result.append(name, group, _known_twirl(channel, known))
    return result


def _flips(channel: Kraus, values: Values) -> npt.NDArray[np.float64]:
    """The probabilities of flips (bit k: of qubit k), for the mean over the unknown values."""
    transitions = channel.transitions
    found = np.zeros(len(transitions))
    states = [
        state
        for state in range(len(transitions))
        if all(value is None or bool(state >> k & 1) == value for k, value in enumerate(values))
    ]
    for state in states:
        for flips in range(len(transitions)):
            found[flips] += transitions[state ^ flips, state] / len(states)
    return found


def _known_twirl(channel: Kraus, values: Values) -> list[float]:
    """The arguments of PAULI_CHANNEL_2: the twirl, with flips as likely as they are for the values."""
    flips, plain = _flips(channel, values), _flips(channel, [None] * len(values))
    nothing = max(0.0, 1 - sum(channel.twirl))
    found = []
    for code, p in enumerate([nothing, *channel.twirl]):
        letters = (code >> 2, code & 3)  # I, X, Y, Z
        flip = sum(1 << k for k, letter in enumerate(letters) if letter in (1, 2))
        found.append(p * flips[flip] / plain[flip] if plain[flip] > 0 else 0.0)
    return found[1:]
