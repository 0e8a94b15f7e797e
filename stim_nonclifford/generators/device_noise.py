"""The noise of a device, from its calibration table: relaxation, readout and errors of gates."""

from __future__ import annotations

import csv
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, fields
from functools import cached_property
from pathlib import Path

import stim

from ..base.arguments import check_types, integer, iterable, positive, probability, text
from ..base.arguments import number as checked_number
from ..base.arguments import path as checked_path
from ..circuit import Circuit
from ..dialect import (
    CONDITIONAL_CARRIER,
    bare_name,
    channel_of,
    gate_from_tag,
    groups_of_pairs,
    is_expectation,
    parse,
    relaxation_of,
)
from .cultivation.noise import is_feedback

__all__ = ["DeviceNoise", "PairCalibration", "QubitCalibration"]

_ANNOTATIONS = ("DETECTOR", "OBSERVABLE_INCLUDE", "QUBIT_COORDS", "SHIFT_COORDS")
_MEASUREMENTS = ("M", "MX", "MY", "MR", "MRX", "MRY")
_RESET_ERRORS = {"R": "X_ERROR", "RY": "X_ERROR", "RX": "Z_ERROR"}
_RESET_ERRORS |= {f"M{name}": error for name, error in _RESET_ERRORS.items()}
_GROUND_STATE = ("R", "MR")


@dataclass(frozen=True, kw_only=True)
class QubitCalibration:
    """The calibration of one qubit. What is left out is free of errors, or takes no time.

    Attributes:
        T1: The time after which 1/e of the excited state is left, in seconds; None: for ever.
        T2: The time after which 1/e of a coherence is left, in seconds, at most 2 T1; None: 2 T1.
        p01: The probability that the outcome 0 is read as 1.
        p10: The probability that the outcome 1 is read as 0.
        reset_error: The probability that a reset prepares the orthogonal state.
        gate_error: The average error of a one-qubit gate, as randomized benchmarking reports it.
        gate_time: How long a one-qubit gate takes, in seconds.
        readout_time: How long a measurement takes, in seconds.
        reset_time: How long a reset takes, in seconds.

    Raises:
        TypeError: An argument is no number.
        ValueError: An argument is out of range.
    """

    T1: float | None = None
    T2: float | None = None
    p01: float = 0.0
    p10: float = 0.0
    reset_error: float = 0.0
    gate_error: float = 0.0
    gate_time: float = 0.0
    readout_time: float = 0.0
    reset_time: float = 0.0

    def __post_init__(self) -> None:
        for name in ("T1", "T2"):
            if getattr(self, name) is not None:
                positive(getattr(self, name), name)
        if self.T1 is not None and self.T2 is not None and self.T2 > 2 * self.T1 * (1 + 1e-12):
            raise ValueError(f"T2 must be at most 2 T1, but T1 is {self.T1!r} and T2 is {self.T2!r}.")
        for name in ("p01", "p10", "reset_error", "gate_error"):
            probability(getattr(self, name), name)
        for name in ("gate_time", "readout_time", "reset_time"):
            checked_number(getattr(self, name), name, 0)

    def relaxation(self, seconds: float) -> tuple[float, float]:
        """The arguments of THERMAL_RELAXATION for a time.

        Args:
            seconds: The time, in seconds.

        Examples:
            >>> QubitCalibration(T1=100e-6).relaxation(1e-6)
            (0.01, 0.005)
        """
        seconds = checked_number(seconds, "seconds", 0)
        over_t1 = 0.0 if self.T1 is None else _rounded(seconds / self.T1)
        over_t2 = 0.0 if self.T2 is None else _rounded(seconds / self.T2)
        return over_t1, max(over_t1 / 2, over_t2)


@dataclass(frozen=True, kw_only=True)
class PairCalibration:
    """The calibration of the two-qubit gates of a pair of qubits.

    Attributes:
        gate_error: The average error of a gate, as randomized benchmarking reports it.
        gate_time: How long a gate takes, in seconds.

    Raises:
        TypeError: An argument is no number.
        ValueError: An argument is out of range.
    """

    gate_error: float = 0.0
    gate_time: float = 0.0

    def __post_init__(self) -> None:
        probability(self.gate_error, "gate_error")
        checked_number(self.gate_time, "gate_time", 0)


@dataclass(frozen=True)
class DeviceNoise:
    r"""The noise of a device, which ``apply`` adds to a circuit without noise.

    Each moment, from TICK to TICK, takes as long as its slowest operation. All qubits of the circuit relax
    for that time after it, whether they are idle or not; but a qubit that is reset to \|0> stays there. A
    gate is followed by as much depolarizing noise as its average error is more than that of relaxation during
    the gate: DEPOLARIZE(p) alone has the average error p d/(d + 1), with d = 2 for one qubit and 4 for two
    (Horodecki, Horodecki and Horodecki 1999). If relaxation alone is worse, there is none. Outcomes are
    misread with ``p01`` and ``p10``.

    Paulis that records control take no time and have no noise.

    Args:
        qubits: The calibration of each qubit.
        pairs: That of each pair of qubits, in either order.
        virtual_gates: The names of gates that take no time and have no noise, such as Z, S and T where
            rotations about Z are a change of phase in software.

    Raises:
        TypeError: An argument is of the wrong type.
        ValueError: A pair is listed twice.

    Examples:
        >>> qubit = QubitCalibration(T1=100e-6, p01=0.01, p10=0.03, gate_time=50e-9, readout_time=1e-6)
        >>> noise = DeviceNoise(
        ...     {0: qubit, 1: qubit}, {(0, 1): PairCalibration(gate_error=0.008, gate_time=200e-9)}
        ... )
        >>> print(noise.apply(Circuit("CX 0 1\nTICK\nM 1")))
        CX 0 1
        DEPOLARIZE2(0.00801958) 0 1
        THERMAL_RELAXATION(0.002, 0.001) 0 1
        TICK
        M(0.01, 0.03) 1
        THERMAL_RELAXATION(0.01, 0.005) 0 1
    """

    qubits: Mapping[int, QubitCalibration]
    pairs: Mapping[tuple[int, int], PairCalibration]
    virtual_gates: Collection[str] = ()

    def __post_init__(self) -> None:
        check_types(self.qubits, "qubits", "a dict of QubitCalibrations by qubit", Mapping)
        check_types(self.pairs, "pairs", "a dict of PairCalibrations by pairs of qubits", Mapping)
        for qubit, calibration in self.qubits.items():
            check_types(calibration, f"qubits[{qubit!r}]", "a QubitCalibration", QubitCalibration)
        for pair, each in self.pairs.items():
            check_types(each, f"pairs[{pair!r}]", "a PairCalibration", PairCalibration)
        if len(self._pairs) < len(self.pairs):
            raise ValueError("pairs must list each pair once, in one order.")
        for name in iterable(self.virtual_gates, "virtual_gates", "a list of names of gates"):
            text(name, "Each of virtual_gates")

    @cached_property
    def _pairs(self) -> dict[frozenset[int], PairCalibration]:
        return {frozenset(pair): calibration for pair, calibration in self.pairs.items()}

    @classmethod
    def from_csv(cls, path: str | Path, *, virtual_gates: Collection[str] = ()) -> DeviceNoise:
        """Reads a calibration table.

        The first line names the columns: ``qubits`` and attributes of ``QubitCalibration`` and
        ``PairCalibration``. Each further line is about one qubit (``3``) or one pair (``3-4``). Empty cells
        are left out. Times are in seconds.

        Args:
            path: The file.
            virtual_gates: As for the class.

        Returns:
            The noise.

        Raises:
            ValueError: A line is malformed; the message names it.
        """
        for name in iterable(virtual_gates, "virtual_gates", "a list of names of gates"):
            text(name, "Each of virtual_gates")
        qubits: dict[int, QubitCalibration] = {}
        pairs: dict[tuple[int, int], PairCalibration] = {}
        with checked_path(path, "path").open(newline="", encoding="utf-8-sig") as file:
            rows = csv.DictReader(file, skipinitialspace=True)
            known = {"qubits", *(field.name for field in fields(QubitCalibration))}
            unknown = [name for name in rows.fieldnames or [] if name not in known]
            if unknown or "qubits" not in (rows.fieldnames or []):
                raise ValueError(
                    f"Line 1 of {path}: the columns must be qubits and some of"
                    f" {', '.join(sorted(known - {'qubits'}))}"
                    + (f", but there is {unknown[0]!r}." if unknown else ".")
                )
            for row in rows:
                try:
                    numbers = [int(part) for part in str(row.pop("qubits")).split("-")]
                    cells = {name: float(cell) for name, cell in row.items() if cell and cell.strip()}
                    if len(numbers) == 1 and numbers[0] not in qubits:
                        qubits[numbers[0]] = QubitCalibration(**cells)
                    elif len(set(numbers)) == 2 and (numbers[0], numbers[1]) not in pairs:
                        pairs[numbers[0], numbers[1]] = PairCalibration(**cells)
                    else:
                        raise ValueError("qubits must be a new qubit, such as 3, or a new pair, such as 3-4")
                except (TypeError, ValueError) as error:
                    raise ValueError(f"Line {rows.line_num} of {path}: {error}") from None
        return cls(qubits, pairs, virtual_gates)

    def apply(self, circuit: Circuit | stim.Circuit | str) -> Circuit:
        r"""Adds the noise to a circuit.

        A moment ends with a TICK, at the border of a REPEAT block, and with the circuit.

        Args:
            circuit: The circuit, without noise: gates on one or two qubits, resets, measurements of single
                qubits, and annotations; non-Clifford gates included.

        Returns:
            The noisy circuit, with the same records, detectors and observables.

        Raises:
            ValueError: The table has no entry for a qubit or a pair; or an instruction is noisy, acts on
                more than two qubits, measures a product, or acts on a qubit twice in a moment.
        """
        check_types(
            circuit, "circuit", "a Circuit, a stim.Circuit or circuit text", Circuit, stim.Circuit, str
        )
        tagged = parse(circuit) if isinstance(circuit, str) else Circuit(circuit).to_stim()
        used = sorted(_qubits_of(tagged))
        missing = [str(qubit) for qubit in used if qubit not in self.qubits]
        if missing:
            raise ValueError(f"The calibration table has no qubit {', '.join(missing)}.")
        return Circuit(self._noisy(tagged, used))

    def _noisy(self, circuit: stim.Circuit, used: list[int]) -> stim.Circuit:
        result, moment = stim.Circuit(), _Moment(self, used)
        for part in circuit:
            if isinstance(part, stim.CircuitRepeatBlock):
                result += moment.noisy()
                body = self._noisy(part.body_copy(), used)
                result.append(stim.CircuitRepeatBlock(part.repeat_count, body, tag=part.tag))
                moment = _Moment(self, used)
            elif part.name == "TICK":
                result += moment.noisy()
                result.append(part)
                moment = _Moment(self, used)
            else:
                moment.add(part)
        return result + moment.noisy()

    def pair(self, first: int, second: int) -> PairCalibration:
        """The calibration of a pair of qubits, in either order.

        Raises:
            ValueError: The table has no such pair.
        """
        found = self._pairs.get(frozenset((integer(first, "first"), integer(second, "second"))))
        if found is None:
            raise ValueError(f"The calibration table has no pair {first}-{second}.")
        return found


class _Moment:
    """The operations of a moment, with their noise."""

    def __init__(self, noise: DeviceNoise, used: list[int]) -> None:
        self._noise = noise
        self._used = used
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
        for qubit in self._used:
            if qubit not in self._cold:
                times = self._noise.qubits[qubit].relaxation(self._seconds)
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
        if bare_name(instruction) in self._noise.virtual_gates or (
            tagged is None and is_feedback(instruction)
        ):
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
            qubit = self._noise.qubits[target.value]
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
            calibration = self._noise.qubits[qubit]
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
        calibration = self._noise.qubits[qubits[0]] if len(qubits) == 1 else self._noise.pair(*qubits)
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
            relaxed *= _fidelity(*self._noise.qubits[qubit].relaxation(seconds))
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


def _rounded(value: float) -> float:
    """A number with as many digits as are easy to read."""
    return float(f"{value:.12g}")


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


def _qubits_of(circuit: stim.Circuit) -> set[int]:
    found: set[int] = set()
    for part in circuit:
        if isinstance(part, stim.CircuitRepeatBlock):
            found |= _qubits_of(part.body_copy())
        elif part.name not in ("MPAD", "DETECTOR", "OBSERVABLE_INCLUDE"):
            found.update(target.value for target in part.targets_copy() if target.qubit_value is not None)
    return found
