"""One moment of a circuit, with the noise of a device."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping

import stim

from ...circuit import Circuit
from ...dialect import (
    CONDITIONAL_CARRIER,
    TaggedChannel,
    bare_name,
    channel_of,
    gate_from_tag,
    groups_of_pairs,
    is_expectation,
    leakage_of,
    readout_noise_of,
    relaxation_of,
)
from ..cultivation.noise import is_feedback
from .calibration import PairCalibration, QubitCalibration, rounded

_ANNOTATIONS = ("DETECTOR", "OBSERVABLE_INCLUDE", "QUBIT_COORDS", "SHIFT_COORDS")
_MEASUREMENTS = ("M", "MX", "MY", "MR", "MRX", "MRY")
_RESET_ERRORS = {"R": "X_ERROR", "RY": "X_ERROR", "RX": "Z_ERROR"}
_RESET_ERRORS |= {f"M{name}": error for name, error in _RESET_ERRORS.items()}
_GROUND_STATE = ("R", "MR")
_PRODUCTS = ("MXX", "MYY", "MZZ", "MPP")
_MOST_QUBITS = 3
_PAIR = 2
_AXES = {"S": "Z", "T": "Z", "I": "Z"}
_CONTROLLED = {"CX": "ZX", "CY": "ZY", "XCX": "XX", "XCY": "XY", "XCZ": "XZ", "YCX": "YX", "YCY": "YY",
               "YCZ": "YZ", "CCX": "ZZX", "CH": "ZY"}  # fmt: skip
_ORDER = ("DEPOLARIZE1", "DEPOLARIZE2", "DEPOLARIZE3", "X_ERROR", "Z_ERROR", "RELAX", "LEAKAGE_SPREAD",
          "LEAKAGE", "LOSS")  # fmt: skip
"""The order of the noise after a moment: what leaks in a gate returns in the next one at the earliest."""


class Moment:
    """The operations of a moment, with their noise; `virtual_gates` take no time and have no noise."""

    def __init__(
        self,
        qubits: Mapping[int, QubitCalibration],
        pair: Callable[..., PairCalibration],
        pairs: Mapping[frozenset[int], PairCalibration],
        virtual_gates: Collection[str],
        noiseless_qubits: Collection[int] = (),
        checks: Mapping[int, int] | None = None,
    ) -> None:
        self._qubits = qubits
        self._pair = pair
        self._pairs = pairs
        self._virtual_gates = virtual_gates
        self._noiseless_qubits = frozenset(noiseless_qubits)
        self._checks = checks or {}  # by qubit, a further one that is leaked where its check reports 1
        self._operations = stim.Circuit()
        self._rotations = Circuit()
        self._errors: dict[tuple[str, tuple[float, ...]], list[int]] = {}  # qubits by channel
        self._gates: set[frozenset[int]] = set()  # the qubits of each gate
        self._busy: set[int] = set()
        self._cold: set[int] = set()
        self._seconds = 0.0

    def noisy(self) -> stim.Circuit:
        """The operations, and the noise after them."""
        noise = self._rotations
        for name in _ORDER:
            for (each, arguments), qubits in self._errors.items():
                if each == name:
                    noise.append(name, qubits, arguments)
        self._append_crosstalk(noise)
        turning: dict[float, list[int]] = {}
        relaxing: dict[tuple[float, float], list[int]] = {}
        flipping: dict[float, list[int]] = {}
        for qubit in sorted(self._qubits):
            if qubit not in self._cold:
                if angle := self._qubits[qubit].slow_turn(self._seconds):
                    turning.setdefault(angle, []).append(qubit)
                over_t1, over_t2, flip = self._qubits[qubit].relaxing(self._seconds)
                if over_t1 or over_t2:
                    relaxing.setdefault((over_t1, over_t2), []).append(qubit)
                if flip:
                    flipping.setdefault(flip, []).append(qubit)
        for angle, qubits in turning.items():
            noise.append("QUASISTATIC", qubits, angle)
        for times, qubits in relaxing.items():
            noise.append("THERMAL_RELAXATION", qubits, times)
        for flip, qubits in flipping.items():
            noise.append("PAULI_CHANNEL_1", qubits, [flip / 2, flip / 2, 0])
        return self._operations + noise.to_stim()

    def _append_crosstalk(self, noise: Circuit) -> None:
        for pair, calibration in self._pairs.items():
            angle = rounded(calibration.crosstalk * self._seconds)
            if angle and self._qubits.keys() >= pair and not any(gate >= pair for gate in self._gates):
                noise.append("R_ZZ", sorted(pair), angle)

    def add(self, instruction: stim.CircuitInstruction) -> None:
        """Adds an operation."""
        name = instruction.name
        gate = stim.gate_data(name)
        herald = leakage_of(instruction)
        if herald is not None and herald.name.startswith("HERALD"):
            self._add_herald(instruction, herald)
            return
        is_noise = channel_of(instruction) is not None or (
            gate.is_noisy_gate and not (gate.produces_measurements and name in _MEASUREMENTS + _PRODUCTS)
        )
        if name in _ANNOTATIONS or is_expectation(instruction) or name == "MPAD" or is_noise:
            self._operations.append(instruction)
            return
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
                " or two qubits, resets and measurements of single qubits. If it is a check without noise at"
                " the end of the circuit, write TICK[noiseless] before it, or call apply with"
                " noiseless_products=True."
            )

    def _add_herald(self, instruction: stim.CircuitInstruction, herald: TaggedChannel) -> None:
        noisy = Circuit()
        for target in instruction.targets_copy():
            qubit = target.value
            calibration = self._qubits[qubit]
            missed = rounded(1 - (1 - herald.values[0]) * (1 - calibration.check_miss))
            wrong = calibration.check_false_positive
            if not wrong:
                noisy.append(herald.name, [qubit], missed)
                continue
            if herald.name != "HERALD_LEAKAGE_EVENT":
                raise ValueError(
                    f"'{instruction}': check_false_positive of qubit {qubit} is {wrong!r}, and only heralds"
                    " of leakage can report a qubit that is there. Write its loss as leakage (gate_leakage,"
                    " HERALD_LEAKAGE_EVENT), or set check_false_positive to 0."
                )
            if wrong > 1 - missed:
                raise ValueError(
                    f"'{instruction}': the check of qubit {qubit} reports 1 more often if it is there,"
                    f" {wrong!r}, than if it is leaked, {1 - missed!r}. Lower check_false_positive or"
                    " check_miss."
                )
            # A further qubit leaks if this one is leaked, or else by a false report, and is looked at.
            ancilla = self._checks[qubit]
            noisy.append("LEAKAGE_SPREAD", [qubit, ancilla], [1, 0, 0, 0])
            noisy.append("LEAKAGE", [ancilla], rounded(wrong / (1 - missed)))
            noisy.append(herald.name, [ancilla], missed)
            noisy.append("R", [ancilla])
        self._operations += noisy.to_stim()

    def _add_measurement(self, instruction: stim.CircuitInstruction) -> None:
        given = readout_noise_of(instruction)
        flip = (instruction.gate_args_copy() or [0.0])[0]
        more = (flip, flip) if given is None else (given.p01, given.p10)
        for target in instruction.targets_copy():
            qubit = self._qubits[target.value]
            self._take(instruction, [target.value], qubit.readout_time)
            p01, p10 = _misread_twice((qubit.p01, qubit.p10), more)
            if p01 or p10:
                noisy = Circuit()
                noisy.append(instruction.name, [target], [p01, p10] if p01 != p10 else p01)
                self._operations += noisy.to_stim()
            else:
                tag = "" if given else instruction.tag
                self._operations.append(stim.CircuitInstruction(instruction.name, [target], tag=tag))
            self._add_error("LEAKAGE", [target.value], qubit.readout_leakage)
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
        if len(qubits) > _MOST_QUBITS:
            raise ValueError(
                f"'{instruction}' acts on {len(qubits)} qubits, and a calibration table knows up to three."
            )
        calibration = self._qubits[qubits[0]] if len(qubits) == 1 else self._pair(*qubits)
        self._take(instruction, qubits, calibration.gate_time)
        self._gates.add(frozenset(qubits))
        error = calibration.gate_error
        if isinstance(calibration, QubitCalibration):
            if bare_name(instruction) in ("T", "T_DAG") and calibration.t_error is not None:
                error = calibration.t_error
        elif len(qubits) == _PAIR:
            m = calibration.transport
            self._add_error("LEAKAGE_SPREAD", qubits, *((0.0, 0.0, m, m) if m else ()))
        if calibration.over_rotation:
            self._append_rotation(qubits, _axis(instruction, len(qubits)), calibration.over_rotation)
        self._add_error(
            f"DEPOLARIZE{len(qubits)}", qubits, self._depolarizing(qubits, error, calibration.gate_time)
        )
        self._add_error("RELAX", qubits, calibration.gate_seepage)
        self._add_error("LEAKAGE", qubits, calibration.gate_leakage)
        self._add_error("LOSS", qubits, calibration.gate_loss)

    def _append_rotation(self, qubits: list[int], axis: str, angle: float) -> None:
        if len(qubits) == 1:
            self._rotations.append(f"R_{axis}", qubits, angle)
            return
        product = [stim.target_pauli(qubit, pauli) for qubit, pauli in zip(qubits, axis, strict=True)]
        self._rotations.append("R_PAULI", stim.target_combined_paulis(product), angle)

    def _depolarizing(self, qubits: list[int], error: float, seconds: float) -> float:
        """The strength that together with relaxation has an average error."""
        dimension = 2 ** len(qubits)
        wanted = 1 - error * (dimension + 1) / dimension  # entanglement fidelities
        relaxed = 1.0
        for qubit in qubits:
            relaxed *= idle_fidelity(self._qubits[qubit], seconds)
        others = dimension**2 - 1
        strength = (relaxed - wanted) / (relaxed - (1 - relaxed) / others)
        return min(max(strength, 0.0), others / (others + 1))

    def _add_error(self, name: str, qubits: list[int], *arguments: float) -> None:
        if any(arguments):
            self._errors.setdefault((name, arguments), []).extend(qubits)

    def _take(self, instruction: stim.CircuitInstruction | str, qubits: list[int], seconds: float) -> None:
        if not self._busy.isdisjoint(qubits):
            raise ValueError(
                f"'{instruction}' acts on a qubit for the second time in a moment. Put a TICK in between, or"
                " list the qubit in noiseless_qubits if it is only a bit of a classical computer."
            )
        self._busy.update(set(qubits) - self._noiseless_qubits)
        self._seconds = max(self._seconds, seconds)


def idle_fidelity(qubit: QubitCalibration, seconds: float) -> float:
    """The entanglement fidelity of waiting."""
    over_t1, over_t2, flip = qubit.relaxing(seconds)
    relaxation = stim.CircuitInstruction(
        "I_ERROR", [0], tag=f"THERMAL_RELAXATION(t_over_T1={over_t1!r}, t_over_T2={over_t2!r})"
    )
    found = relaxation_of(relaxation)
    assert found is not None
    x, y, z = found.twirl
    return (1 - x - y - z) * (1 - flip) + (x + y) * flip / 2


def _misread_twice(first: tuple[float, float], second: tuple[float, float]) -> tuple[float, float]:
    """The probabilities p01 and p10 of two misreadings, one after the other."""
    (a01, a10), (b01, b10) = first, second
    return rounded(a01 * (1 - b10) + (1 - a01) * b01), rounded(a10 * (1 - b01) + (1 - a10) * b10)


def _axis(instruction: stim.CircuitInstruction, size: int) -> str:
    """The Paulis about whose product a gate turns."""
    name = bare_name(instruction)
    product = [target.pauli_type for target in instruction.targets_copy()]
    if name.startswith(("SPP", "TPP", "R_PAULI")):
        return "".join(product[: 2 * size : 2])
    letters = name.removesuffix("_DAG").removeprefix("SQRT_").removeprefix("R_")
    if set(letters) <= set("XYZ") and len(letters) == size:
        return letters
    if size > 1:
        return _CONTROLLED.get(letters, "Z" * size)
    return _AXES.get(letters, "Y")


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
