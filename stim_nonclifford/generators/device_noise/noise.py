"""Adds the noise of a device to circuits."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import stim

from ...base.arguments import check_types, integer, iterable, text
from ...base.arguments import path as checked_path
from ...circuit import Circuit
from ...dialect import parse
from .calibration import PairCalibration, QubitCalibration, read_table
from .moment import Moment


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
        >>> from stim_nonclifford import Circuit
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
        qubits, pairs = read_table(checked_path(path, "path"))
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
        result, moment = stim.Circuit(), self._moment(used)
        for part in circuit:
            if isinstance(part, stim.CircuitRepeatBlock):
                result += moment.noisy()
                body = self._noisy(part.body_copy(), used)
                result.append(stim.CircuitRepeatBlock(part.repeat_count, body, tag=part.tag))
                moment = self._moment(used)
            elif part.name == "TICK":
                result += moment.noisy()
                result.append(part)
                moment = self._moment(used)
            else:
                moment.add(part)
        return result + moment.noisy()

    def _moment(self, used: list[int]) -> Moment:
        return Moment({qubit: self.qubits[qubit] for qubit in used}, self.pair, self.virtual_gates)

    def pair(self, first: int, second: int) -> PairCalibration:
        """The calibration of a pair of qubits, in either order.

        Raises:
            ValueError: The table has no such pair.
        """
        found = self._pairs.get(frozenset((integer(first, "first"), integer(second, "second"))))
        if found is None:
            raise ValueError(f"The calibration table has no pair {first}-{second}.")
        return found


def _qubits_of(circuit: stim.Circuit) -> set[int]:
    found: set[int] = set()
    for part in circuit:
        if isinstance(part, stim.CircuitRepeatBlock):
            found |= _qubits_of(part.body_copy())
        elif part.name not in ("MPAD", "DETECTOR", "OBSERVABLE_INCLUDE"):
            found.update(target.value for target in part.targets_copy() if target.qubit_value is not None)
    return found
