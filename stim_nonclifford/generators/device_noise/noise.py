"""Adds the noise of a device to circuits."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import stim

from ...base.arguments import check_types, flag, integer, iterable, refuse_argument, text
from ...base.arguments import path as checked_path
from ...base.written_circuits import instructions_in
from ...circuit import Circuit
from ...dialect import parse
from .calibration import PairCalibration, QubitCalibration, read_json, read_table
from .moment import Moment, idle_fidelity
from .qiskit_target import table_of_target

_TAIL = "noiseless"
"""The tag of the TICK after which there is no noise."""

_PRODUCTS = ("MXX", "MYY", "MZZ", "MPP")
_PAIR = 2
_SHOWN = 5
_ROUNDING = 1e-12


@dataclass(frozen=True)
class DeviceNoise:
    r"""The noise of a device, which ``apply`` adds to a circuit.

    Each moment, from TICK to TICK, takes as long as its slowest operation. All qubits of the circuit relax
    for that time after it, whether they are idle or not; but a qubit that is reset to \|0> stays there. A
    gate is followed by as much depolarizing noise as its average error is more than that of relaxation during
    the gate: DEPOLARIZE(p) alone has the average error p d/(d + 1), with d = 2 for one qubit and 4 for two
    (Horodecki, Horodecki and Horodecki 1999). If relaxation alone is worse, there is none, and a warning says
    so. Outcomes are misread with ``p01`` and ``p10``. Leakage, loss, rotations that go too far, and crosstalk
    follow the moment in which they happen. Heralds in the circuit miss with ``check_miss``; with
    ``check_false_positive``, they look at a further qubit, which leaks with theirs or by itself. A qubit with
    a ``T2_star`` has a frequency that differs from shot to shot (QUASISTATIC): it turns by the same angle per
    time in all of a shot.

    Paulis that records control take no time and have no noise.

    Args:
        qubits: The calibration of each qubit.
        pairs: That of each pair of qubits, or of three; in either order, or one for each order.
        virtual_gates: The names of gates that take no time and have no noise, such as Z, S and T where
            rotations about Z are a change of phase in software.

    Raises:
        TypeError: An argument is of the wrong type.
        ValueError: A number is out of range.

    Warns:
        UserWarning: Relaxation alone makes a gate worse than its ``gate_error``.

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
    pairs: Mapping[tuple[int, ...], PairCalibration]
    virtual_gates: Collection[str] = ()

    def __post_init__(self) -> None:
        check_types(self.qubits, "qubits", "a dict of QubitCalibrations by qubit", Mapping)
        check_types(self.pairs, "pairs", "a dict of PairCalibrations by pairs of qubits", Mapping)
        for qubit, calibration in self.qubits.items():
            check_types(calibration, f"qubits[{qubit!r}]", "a QubitCalibration", QubitCalibration)
        for pair, each in self.pairs.items():
            check_types(each, f"pairs[{pair!r}]", "a PairCalibration", PairCalibration)
        _check_names(self.virtual_gates)
        better = [name for name, error, relaxed in self._gates() if 0 < error < relaxed - _ROUNDING]
        if better:
            shown = ", ".join(better[:_SHOWN]) + (
                f" and {len(better) - _SHOWN} more" if better[_SHOWN:] else ""
            )
            warnings.warn(
                f"T1 and T2 alone make gates worse than their gate_error on {shown}. Such gates have the"
                " noise of relaxation and no other, which is more than gate_error says. Check T1, T2 and"
                " gate_time.",
                stacklevel=3,
            )

    def _gates(self) -> Iterator[tuple[str, float, float]]:
        """The qubits of each gate, its error, and its average error by relaxation alone."""
        for qubit, own in self.qubits.items():
            relaxed = (1 - idle_fidelity(own, own.gate_time)) * 2 / 3
            yield str(qubit), own.gate_error, relaxed
            if own.t_error is not None and not {"T", "T_DAG"} <= {*self.virtual_gates}:
                yield f"T of {qubit}", own.t_error, relaxed
        for places, calibration in self.pairs.items():
            fidelity, dimension = 1.0, 2 ** len(places)
            for qubit in places:
                if qubit in self.qubits:
                    fidelity *= idle_fidelity(self.qubits[qubit], calibration.gate_time)
            relaxed = (1 - fidelity) * dimension / (dimension + 1)
            yield "-".join(map(str, places)), calibration.gate_error, relaxed

    @cached_property
    def _pairs(self) -> dict[frozenset[int], PairCalibration]:
        return {frozenset(pair): calibration for pair, calibration in self.pairs.items()}

    @classmethod
    def from_csv(cls, path: str | Path, *, virtual_gates: Collection[str] = ()) -> DeviceNoise:
        """The noise of a calibration table.

        The first line names the columns: ``qubits`` and attributes of ``QubitCalibration`` and
        ``PairCalibration``. Each further line is about one qubit (``3``), one pair (``3-4``) or three qubits
        (``3-4-5``, for CCZ). Empty cells are left out. Times are in seconds.

        Args:
            path: The file; of ``from_json``, with an object of objects, such as
                ``{"3": {"T1": 8e-5}, "3-4": {"gate_error": 0.006}}``, whose keys are the lines and columns.
            virtual_gates: As for the class.

        Returns:
            The noise.

        Raises:
            ValueError: A line or an entry is malformed; the message names it.
        """
        _check_names(virtual_gates)
        return cls(*read_table(checked_path(path, "path")), virtual_gates)

    @classmethod
    def from_json(cls, path: str | Path, *, virtual_gates: Collection[str] = ()) -> DeviceNoise:
        """The noise of a calibration table in JSON; see ``from_csv``."""
        _check_names(virtual_gates)
        return cls(*read_json(checked_path(path, "path")), virtual_gates)

    @classmethod
    def from_qiskit(
        cls, target: Any, *, two_qubit_gate: str | None = None, virtual_gates: Collection[str] = ()
    ) -> DeviceNoise:
        """The noise of the calibration in a ``qiskit.transpiler.Target``, such as ``backend.target``.

        T1 and T2 are those of its qubits, where T2 is at most 2 T1; errors and durations those of sx (or x,
        h, u, u3, r, rx, ry), ``measure``, ``reset`` and the gate on two qubits. A target has one readout
        error for both outcomes.

        Args:
            target: The target.
            two_qubit_gate: The name of the gate on two qubits, if there are several.
            virtual_gates: As for the class. For devices with ``rz``: Z, S, S_DAG, T, T_DAG, R_Z.

        Raises:
            ValueError: There are several gates on two qubits, or none with this name.
        """
        _check_names(virtual_gates)
        if not hasattr(target, "operation_names"):
            refuse_argument("target", "a qiskit.transpiler.Target", target)
        return cls(*table_of_target(target, two_qubit_gate), virtual_gates)

    def apply(
        self,
        circuit: Circuit | stim.Circuit | str,
        *,
        noiseless_products: bool = False,
        noiseless_qubits: Collection[int] = (),
    ) -> Circuit:
        r"""Adds the noise to a circuit.

        A moment ends with a TICK, at the border of a REPEAT block, and with the circuit. After
        ``TICK[noiseless]``, which stands outside of REPEAT blocks, nothing changes any more: checks at the
        end have no noise. Noise that the circuit has already stays, and misread outcomes are misread twice.

        Args:
            circuit: The circuit: gates on one, two or three qubits, resets, measurements of single qubits,
                and annotations; non-Clifford gates included.
            noiseless_products: Whether the moment of the first measurement of a product (MPP, MXX, MYY or
                MZZ) is the first one without noise, as in the circuits for cultivation and lattice surgery
                of this package. Such a measurement must stand outside of REPEAT blocks.
            noiseless_qubits: Qubits that no calibration is needed for, as they are bits of a classical
                computer, such as the one that makes the decision in ``teleportation_circuit``.

        Returns:
            The noisy circuit, with the same records, detectors and observables.

        Raises:
            ValueError: The table has no entry for a qubit or a pair; or an instruction that has noise acts on
                more than three qubits, measures a product, or acts on a qubit twice in a moment.

        Examples:
            >>> noise = DeviceNoise({0: QubitCalibration(gate_error=0.01)}, {})
            >>> print(noise.apply("H 0\nTICK[noiseless]\nH 0\nM 0"))
            H 0
            DEPOLARIZE1(0.015) 0
            TICK[noiseless]
            H 0
            M 0
        """
        bits = {
            integer(each, "Each of noiseless_qubits")
            for each in iterable(noiseless_qubits, "noiseless_qubits", "a list of qubits")
        }
        noiseless_products = flag(noiseless_products, "noiseless_products")
        check_types(
            circuit, "circuit", "a Circuit, a stim.Circuit or circuit text", Circuit, stim.Circuit, str
        )
        tagged = parse(circuit) if isinstance(circuit, str) else Circuit(circuit).to_stim()
        noisy, tail = _without_tail(tagged, noiseless_products)
        used = sorted(_qubits_of(noisy))
        missing = [str(qubit) for qubit in used if qubit not in self.qubits and qubit not in bits]
        if missing:
            raise ValueError(f"The calibration table has no qubit {', '.join(missing)}.")
        known = [qubit for qubit in used if qubit not in bits]
        checked = [qubit for qubit in known if self.qubits[qubit].check_false_positive]
        checks = {qubit: tagged.num_qubits + k for k, qubit in enumerate(checked)}

        def moment() -> Moment:
            qubits = {each: QubitCalibration() if each in bits else self.qubits[each] for each in used}
            return Moment(qubits, self._gate, self._pairs, self.virtual_gates, bits, checks)

        return Circuit(_noisy(noisy, moment) + tail)

    def pair(self, first: int, second: int) -> PairCalibration:
        """The calibration of a pair of qubits: that of this order, if there is one, or else of the other.

        Raises:
            ValueError: The table has no such pair.
        """
        return self._gate(integer(first, "first"), integer(second, "second"))

    def _gate(self, *places: int) -> PairCalibration:
        found = self.pairs.get(places) or self._pairs.get(frozenset(places))
        if found is None:
            kind = "pair" if len(places) == _PAIR else "entry"
            raise ValueError(f"The calibration table has no {kind} {'-'.join(map(str, places))}.")
        return found


def _noisy(circuit: stim.Circuit, new_moment: Callable[[], Moment]) -> stim.Circuit:
    """The noisy moments of a circuit, one after the other."""
    result, moment = stim.Circuit(), new_moment()
    for part in circuit:
        if isinstance(part, stim.CircuitRepeatBlock):
            result += moment.noisy()
            body = _noisy(part.body_copy(), new_moment)
            result.append(stim.CircuitRepeatBlock(part.repeat_count, body, tag=part.tag))
            moment = new_moment()
        elif part.name == "TICK":
            result += moment.noisy()
            result.append(part)
            moment = new_moment()
        else:
            moment.add(part)
    return result + moment.noisy()


def _check_names(virtual_gates: Collection[str]) -> None:
    for name in iterable(virtual_gates, "virtual_gates", "a list of names of gates"):
        text(name, "Each of virtual_gates")


def _without_tail(circuit: stim.Circuit, products: bool) -> tuple[stim.Circuit, stim.Circuit]:
    """The part of a circuit that has noise, and the tail that has none."""
    start = len(circuit)
    moment = 0  # where the moment begins
    for k, part in enumerate(circuit):
        if isinstance(part, stim.CircuitRepeatBlock):
            _check_block(part.body_copy(), products)
            continue
        is_tick = part.name == "TICK"
        if is_tick and part.tag.strip() == _TAIL:
            start = k
            break
        if products and part.name in _PRODUCTS:
            start = moment
            break
        if is_tick:
            moment = k
    return circuit[:start], circuit[start:]


def _check_block(body: stim.Circuit, products: bool) -> None:
    """Checks that the noise does not end within a block."""
    for part in instructions_in(body):
        if part.name == "TICK" and part.tag.strip() == _TAIL:
            raise ValueError(
                "TICK[noiseless] stands in a REPEAT block, and all noise would end in its first iteration."
                " Write it behind the block, or write the iterations out: circuit.flattened()."
            )
        if products and part.name in _PRODUCTS:
            raise ValueError(
                f"'{part}' stands in a REPEAT block, so that no moment is the first one without noise. Write"
                " the iterations out, circuit.flattened(), if the noise ends in the first one. If not, write"
                " it with gates and measurements of single qubits."
            )


def _qubits_of(circuit: stim.Circuit) -> set[int]:
    found: set[int] = set()
    for part in circuit:
        if isinstance(part, stim.CircuitRepeatBlock):
            found |= _qubits_of(part.body_copy())
        elif part.name not in ("MPAD", "DETECTOR", "OBSERVABLE_INCLUDE"):
            found.update(target.value for target in part.targets_copy() if target.qubit_value is not None)
    return found
