"""One moment of a circuit, with the noise of a device."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping

import stim

from ...circuit import Circuit
from ...dialect import (
    CONDITIONAL_CARRIER,
    bare_name,
    channel_of,
    gate_from_tag,
    groups_of_pairs,
    is_expectation,
    relaxation_of,
)
from ..cultivation.noise import is_feedback
from .calibration import PairCalibration, QubitCalibration

_ANNOTATIONS = ("DETECTOR", "OBSERVABLE_INCLUDE", "QUBIT_COORDS", "SHIFT_COORDS")
_MEASUREMENTS = ("M", "MX", "MY", "MR", "MRX", "MRY")
_RESET_ERRORS = {"R": "X_ERROR", "RY": "X_ERROR", "RX": "Z_ERROR"}
_RESET_ERRORS |= {f"M{name}": error for name, error in _RESET_ERRORS.items()}
_GROUND_STATE = ("R", "MR")


class Moment:
    """The operations of a moment, with their noise; `virtual_gates` take no time and have no noise."""

    def __init__(
        self,
        qubits: Mapping[int, QubitCalibration],
        pair: Callable[[int, int], PairCalibration],
        virtual_gates: Collection[str],
    ) -> None:
        self._qubits = qubits
        self._pair = pair
        self._virtual_gates = virtual_gates
        self._operations = stim.Circuit()
        self._errors: dict[tuple[str, float], list[int]] = {}  # qubits by (channel, strength)
        self._busy: set[int] = set()
        self._cold: set[int] = set()
        self._seconds = 0.0

    def noisy(self) -> stim.Circuit:
        """The operations, and the noise after them."""
        result = self._operations
        for (name, strength), qubits in self._errors.items():
            result.append(name, qubits, strength)
        relaxing: dict[tuple[float, float], list[int]] = {}
        for qubit in sorted(self._qubits):
            if qubit not in self._cold:
                times = self._qubits[qubit].relaxation(self._seconds)
                if any(times):
                    relaxing.setdefault(times, []).append(qubit)
        for (over_t1, over_t2), qubits in relaxing.items():
            tag = f"THERMAL_RELAXATION(t_over_T1={over_t1!r}, t_over_T2={over_t2!r})"
            result.append("I_ERROR", qubits, tag=tag)
        return result

    def add(self, instruction: stim.CircuitInstruction) -> None:
        """Adds an operation."""
        name = instruction.name
        gate = stim.gate_data(name)
        if (
            name in _ANNOTATIONS
            or is_expectation(instruction)
            or (name == "MPAD" and not instruction.gate_args_copy())
        ):
            self._operations.append(instruction)
            return
        if channel_of(instruction) is not None or (gate.is_noisy_gate and instruction.gate_args_copy()):
            raise ValueError(
                f"'{instruction}' has noise already. Apply the table to a circuit without noise."
            )
        tagged = gate_from_tag(instruction)
        if bare_name(instruction) in self._virtual_gates or (tagged is None and is_feedback(instruction)):
            self._operations.append(instruction)
        elif name in _MEASUREMENTS:
            self._add_measurement(instruction)
        elif name in _RESET_ERRORS:
            self._operations.append(instruction)
            self._add_reset(name, [target.value for target in instruction.targets_copy()])
        elif gate.is_unitary:
            self._operations.append(instruction)
            for qubits in _groups(instruction):
                self._add_gate(instruction, qubits)
        else:
            raise ValueError(
                f"'{instruction}': a calibration table says nothing about it. Write it with gates on one"
                " or two qubits, resets and measurements of single qubits."
            )

    def _add_measurement(self, instruction: stim.CircuitInstruction) -> None:
        for target in instruction.targets_copy():
            qubit = self._qubits[target.value]
            self._take(instruction, [target.value], qubit.readout_time)
            plain = stim.CircuitInstruction(instruction.name, [target], tag=instruction.tag)
            if qubit.p01 or qubit.p10:
                noisy = Circuit()
                numbers = [qubit.p01, qubit.p10] if qubit.p01 != qubit.p10 else qubit.p01
                noisy.append(instruction.name, [target], numbers)
                self._operations += noisy.to_stim()
            else:
                self._operations.append(plain)
        if instruction.name in _RESET_ERRORS:
            self._add_reset(
                instruction.name, [target.value for target in instruction.targets_copy()], after=True
            )

    def _add_reset(self, name: str, qubits: list[int], *, after: bool = False) -> None:
        for qubit in qubits:
            calibration = self._qubits[qubit]
            seconds = calibration.reset_time + after * calibration.readout_time
            self._take(name, [] if after else [qubit], seconds)
            self._add_error(_RESET_ERRORS[name], [qubit], calibration.reset_error)
            if name in _GROUND_STATE:
                self._cold.add(qubit)

    def _add_gate(self, instruction: stim.CircuitInstruction, qubits: list[int]) -> None:
        if len(qubits) > 2:
            raise ValueError(
                f"'{instruction}' acts on {len(qubits)} qubits, and a calibration table knows pairs."
            )
        calibration = self._qubits[qubits[0]] if len(qubits) == 1 else self._pair(*qubits)
        self._take(instruction, qubits, calibration.gate_time)
        name = f"DEPOLARIZE{len(qubits)}"
        self._add_error(
            name, qubits, self._depolarizing(qubits, calibration.gate_error, calibration.gate_time)
        )

    def _depolarizing(self, qubits: list[int], error: float, seconds: float) -> float:
        """The strength that together with relaxation has an average error."""
        dimension = 2 ** len(qubits)
        wanted = 1 - error * (dimension + 1) / dimension  # entanglement fidelities
        relaxed = 1.0
        for qubit in qubits:
            relaxed *= _fidelity(*self._qubits[qubit].relaxation(seconds))
        others = dimension**2 - 1
        strength = (relaxed - wanted) / (relaxed - (1 - relaxed) / others)
        return min(max(strength, 0.0), others / (others + 1))

    def _add_error(self, name: str, qubits: list[int], strength: float) -> None:
        if strength:
            self._errors.setdefault((name, strength), []).extend(qubits)

    def _take(self, instruction: stim.CircuitInstruction | str, qubits: list[int], seconds: float) -> None:
        if not self._busy.isdisjoint(qubits):
            raise ValueError(
                f"'{instruction}' acts on a qubit for the second time in a moment. Put a TICK in between."
            )
        self._busy.update(qubits)
        self._seconds = max(self._seconds, seconds)


def _fidelity(over_t1: float, over_t2: float) -> float:
    """The entanglement fidelity of THERMAL_RELAXATION."""
    relaxation = stim.CircuitInstruction(
        "I_ERROR", [0], tag=f"THERMAL_RELAXATION(t_over_T1={over_t1!r}, t_over_T2={over_t2!r})"
    )
    found = relaxation_of(relaxation)
    assert found is not None
    return 1 - sum(found.twirl)


def _groups(instruction: stim.CircuitInstruction) -> Iterator[list[int]]:
    """The qubits of each gate that an instruction stands for."""
    gate = gate_from_tag(instruction)
    targets = instruction.targets_copy()
    if gate is not None and instruction.name == CONDITIONAL_CARRIER:
        for group in groups_of_pairs(gate.definition, targets):
            yield [target.value for target in group if target.is_qubit_target]
    elif gate is not None and gate.definition.num_targets is not None:
        size = gate.definition.num_targets
        for k in range(0, len(targets), size):
            yield [target.value for target in targets[k : k + size]]
    else:
        for group in instruction.target_groups():
            yield [target.value for target in group if target.qubit_value is not None]
