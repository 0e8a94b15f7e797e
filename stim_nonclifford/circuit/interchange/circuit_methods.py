"""The methods of circuits that read and write other languages."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import numpy as np
import numpy.typing as npt
import stim

from ...base.arguments import flag, integer, refuse_argument, text
from .angles import Delays
from .packages import needed

__all__ = ["CircuitInterchange"]

Self = TypeVar("Self", bound="CircuitInterchange")


class CircuitInterchange:
    """Circuits from and to OpenQASM, Qiskit and Cirq; see ``docs/start/coming_from.md``."""

    if TYPE_CHECKING:
        _stim: stim.Circuit

        @classmethod
        def _wrap(cls: type[Self], circuit: stim.Circuit) -> Self: ...
        def reference_sample(self) -> npt.NDArray[np.bool_]: ...  # noqa: D102

    @classmethod
    def from_qasm(
        cls: type[Self], program: str, *, relaxation_times: Any = None, dt: float | None = None
    ) -> Self:
        r"""Reads a program in OpenQASM 2 or 3.

        Gates of the libraries ``qelib1.inc`` and ``stdgates.inc``, gates that the program defines, their
        modifiers (``ctrl``, ``negctrl``, ``inv``, ``pow``), measurements, resets, barriers (as TICK), delays,
        ``if`` on bits, and loops, which are unrolled. Numbers have the types that the program declares: in
        OpenQASM 3, ``1/2`` is 0. Global phases are left out, and barriers inside of definitions.

        A condition on several bits is computed on an ancilla: a further qubit, with one more record for each
        condition. All other records are those of the program's measurements, in their order. A gate with more
        than three controls has an ancilla, too, which is 0 again afterwards.

        Args:
            program: The text of the program.
            relaxation_times: A pair (T1, T2) in seconds for all qubits, or a dictionary from qubits of the
                circuit to such pairs, if a ``delay`` becomes THERMAL_RELAXATION. By default it is an identity
                with the duration as a note: ``I[delay:100.0ns]``.
            dt: The unit ``dt`` in seconds, which is needed only if a delay in that unit becomes relaxation.

        Returns:
            The circuit; its qubits are numbered in the order in which the program declares them. An ancilla
            has the next number where it is first used.

        Raises:
            ImportError: The package ``openqasm3`` is not installed (extra ``qasm``).
            ResourceLimitError: The program has more than ten million gates, or one gate more than a million.
            ValueError: The program is malformed, or has something without a counterpart, such as a
                measurement inside of ``if``. The message names the line.

        Examples:
            >>> import stim_nonclifford as snc
            >>> program = '''
            ...     OPENQASM 3.0;
            ...     include "stdgates.inc";
            ...     qubit[2] q;
            ...     bit c;
            ...     h q[0];
            ...     ctrl @ t q[0], q[1];
            ...     c = measure q[0];
            ...     if (c) { rx(pi/4) q[1]; }
            ... '''
            >>> print(snc.Circuit.from_qasm(program))
            H 0
            CT 0 1
            M 0
            C_R_X(0.25) rec[-1] 1
        """
        program = text(program, "program")
        needed("openqasm3.parser", "from_qasm", "openqasm3[parser]", "qasm")
        reader = importlib.import_module(".qasm.reader", __package__)
        return cls._wrap(reader.read_qasm(program, Delays.of(relaxation_times, dt)))

    def to_qasm(self, *, open_qasm_version: Literal[2, 3] = 3, skip_dets_and_obs: bool = False) -> str:
        r"""The circuit as an OpenQASM program, as ``stim.Circuit.to_qasm``, with its non-Clifford gates.

        Loops are unrolled, ``TICK`` is a barrier, and coordinates are left out.

        Args:
            open_qasm_version: 2 or 3. OpenQASM 2 has no detectors, and conditions on one record only.
            skip_dets_and_obs: Whether to leave out expectation values, which OpenQASM does not have, and the
                registers ``dets`` and ``obs``: detectors and observables, as flips against the noiseless
                reference sample.

        Returns:
            The program. Its qubits are ``q``. Its records are ``rec`` or, in OpenQASM 2 with feedback,
            ``rec0``, ``rec1``, ...

        Raises:
            ResourceLimitError: The loops of the circuit are too long.
            ValueError: The circuit has noise, sweep bits, or something that this version cannot say; the
                message names the instruction.

        Examples:
            >>> import stim_nonclifford as snc
            >>> print(snc.Circuit("H 0\nT 0\nM 0\nCX rec[-1] 1").to_qasm(open_qasm_version=2))
            OPENQASM 2.0;
            include "qelib1.inc";
            <BLANKLINE>
            qreg q[2];
            creg rec0[1];
            <BLANKLINE>
            h q[0];
            t q[0];
            measure q[0] -> rec0[0];
            if(rec0==1) x q[1];
        """
        version = integer(open_qasm_version, "open_qasm_version")
        if version not in (2, 3):
            refuse_argument("open_qasm_version", "2 or 3", version, kind=ValueError)
        skip = flag(skip_dets_and_obs, "skip_dets_and_obs")
        writer = importlib.import_module(".qasm.writer", __package__)
        found: str = writer.qasm_of(self._stim, version, skip, lambda: self.reference_sample())
        return found

    @classmethod
    def from_qiskit(
        cls: type[Self], circuit: Any, *, relaxation_times: Any = None, dt: float | None = None
    ) -> Self:
        """Reads a ``qiskit.QuantumCircuit``.

        Gates of Qiskit's library, of which some are replaced by their definitions, also with modifiers;
        measurements, resets, barriers (as TICK), delays, ``if_test`` and ``switch`` on classical bits,
        registers and expressions, and ``for_loop``, which is unrolled. Operations are known by their types,
        whatever their names. What ``from_qasm`` says of conditions holds here, too. Global phases are left
        out.

        Args:
            circuit: The circuit, with numbers for all parameters.
            relaxation_times: What becomes of ``delay``; see ``from_qasm``. By default it is an identity with
                the duration as a note: ``I[delay:100.0ns]``.
            dt: The unit ``dt`` in seconds, which is needed only if a delay in that unit becomes relaxation.

        Returns:
            The circuit; qubit k is ``circuit.qubits[k]``.

        Raises:
            ImportError: Qiskit is not installed (extra ``qiskit``).
            TypeError: It is no ``QuantumCircuit``.
            ValueError: An operation has no counterpart; the message names it.

        Examples:
            >>> import qiskit, stim_nonclifford as snc  # doctest: +SKIP
            >>> bell = qiskit.QuantumCircuit(2)  # doctest: +SKIP
            >>> _ = bell.h(0), bell.cx(0, 1), bell.t(1)  # doctest: +SKIP
            >>> print(snc.Circuit.from_qiskit(bell))  # doctest: +SKIP
            H 0
            CX 0 1
            T 1
        """
        needed("qiskit", "from_qiskit", "qiskit>=1.3", "qiskit")
        reader = importlib.import_module(".qiskit_circuits", __package__)
        return cls._wrap(reader.read_qiskit(circuit, Delays.of(relaxation_times, dt)))

    @classmethod
    def from_cirq(cls: type[Self], circuit: Any, *, relaxation_times: Any = None) -> Self:
        """Reads a ``cirq.Circuit``.

        Gates, channels, measurements, confusion maps of single qubits, classical controls, sub-circuits and
        tags of Cirq, and all that ``stimcirq`` writes, such as detectors. Each moment ends with a TICK.
        Global phases are left out. A condition on several bits is computed as in ``from_qasm``.

        Args:
            circuit: The circuit, without symbols.
            relaxation_times: What becomes of ``cirq.WaitGate``; see ``from_qasm``. By default it is an
                identity with the duration as a note: ``I[delay:100.0ns]``.

        Returns:
            The circuit. Qubits are numbered in Cirq's order; if all are ``LineQubit``, by their numbers.
            Records are in the order of the measurements.

        Raises:
            ImportError: Cirq or stimcirq is not installed (extra ``cirq``).
            ResourceLimitError: It has more than ten million operations.
            TypeError: It is no ``cirq.Circuit``.
            ValueError: An operation has no counterpart; the message names it and its moment.
        """
        needed("stimcirq", "from_cirq", "stimcirq>=1.16", "cirq")
        reader = importlib.import_module(".cirq_circuits", __package__)
        return cls._wrap(reader.read_cirq(circuit, Delays.of(relaxation_times, None)))

    def to_cirq(self) -> Any:
        """The circuit as a ``cirq.Circuit``, which Cirq's own simulators can run.

        Measurements and resets in other bases, and noisy measurements of products, become several operations.
        Records are the keys ``"0"``, ``"1"``, ... Constant records (MPAD) are measurements of one more qubit.
        Detectors, observables and gates that a sweep bit controls are those of ``stimcirq``. The loops of a
        circuit with feedback are unrolled. Expectation values are left out.

        Returns:
            The circuit. A qubit with two coordinates is a ``GridQubit``, others are ``LineQubit``.

        Raises:
            ImportError: Cirq or stimcirq is not installed (extra ``cirq``).
            ResourceLimitError: Its loops are too long to be unrolled.
            ValueError: Leakage, heralded noise, or a gate other than a Pauli that a sweep bit controls.
        """
        needed("stimcirq", "to_cirq", "stimcirq>=1.16", "cirq")
        writer = importlib.import_module(".cirq_circuits", __package__)
        return writer.cirq_of(self._stim)
