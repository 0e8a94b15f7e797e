"""Circuits: Stim circuits with non-Clifford gates."""

from __future__ import annotations

import dataclasses
import functools
import numbers
import operator
import os
import pathlib
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Literal, TextIO, TypeVar, get_args, overload

import numpy as np
import numpy.typing as npt
import stim

from ..base.arguments import (
    array,
    check_types,
    choice,
    flag,
    integer,
    iterable,
    number,
    path,
    seed_of,
    text,
)
from ..base.errors import ResourceLimitError
from ..base.masks import Mask, bools_of_mask, checked_mask, postselected_outputs
from ..base.memory import memory_is_a_limit
from ..base.notebook import Diagram
from ..dialect import (
    TOO_DEEP,
    check_static,
    check_unconditional,
    circuit_repr,
    exact_text,
    extended_text,
    first_decision,
    is_too_deep,
    num_expectations,
    parse,
    with_checked_tags,
    without_decisions,
    without_noise,
)
from ..rates.estimation.limits import DEFAULT_MAX_BYTES, Settings
from ..rates.fault_sets.malignant import FaultDistance, MalignantSet, fault_distance, malignant_sets
from ..rates.results import DifferenceBudget, LogicalErrorRate
from ..rates.results.error_budget import Grouping
from ..simulation.compiler import DEFAULT_MAX_ACTIVE_COORDINATES, CompiledCircuit, compile_circuit
from ..simulation.compiler.program.extent import check_flattened
from ..simulation.compiler.sweeps.clifford_records import without_gaps
from ..simulation.decisions import DecidedCircuit, DecisionPoint, is_switched
from ..simulation.engines import (
    DEFAULT_CACHE_BYTES,
    EngineName,
    EngineOptions,
    likely_outputs,
    reference_records,
)
from ..simulation.faults import (
    CircuitFault,
    FaultTable,
    OutcomeProbabilities,
    checked_faults,
    faults_of_shots,
)
from ..simulation.logical_errors.refusals import check_no_detector_is_left
from ..simulation.sampling import CompiledDetectorSampler, CompiledMeasurementSampler
from ..simulation.sampling.record_conversion import measurement_converter
from ..simulation.state_vectors import state_vector_of
from .diagrams import crumble_url, diagram_of, shown_in_notebook
from .error_models import ErrorModelKind, error_model_of, random_outputs_of, searched_s_proxy
from .interchange import cirq_of, qasm_of, read_cirq, read_qasm, read_qiskit
from .interchange.packages import remedy_for
from .logical_states import LogicalState, LogicalStateCheck, check_state, with_measured_state
from .pictures import findings_of, page_of
from .plan_report import PlanMethod, PlanReport, plan_report
from .rates import checked_circuit, planned, rates_of
from .rewriting.decomposition import decomposed
from .rewriting.instructions import PARTS, Instruction, addition_of, printed_bare
from .rewriting.pauli_twirling import pauli_twirled
from .rewriting.pickled_circuit import State, circuit_of_state, state_of
from .rewriting.replacement import are_close, inverse_of, without_notes
from .rewriting.stand_ins import clifford_of, proxy_of
from .rewriting.switched_noise import NoiseSwitches

if TYPE_CHECKING:
    from ..simulation.sampling.requests import DecidingEngines

Self = TypeVar("Self", bound="Circuit")

_FAR = (1 << 62) - 1
_MOST_QUANTIZATION = (1 << 31) - 1

_DEPRECATED = {"append_operation": "append", "flattened_operations": "flattened"}
"""Methods that Stim has under other names now."""


class Circuit:
    r"""A quantum circuit in Stim's language, with non-Clifford gates.

    Non-Clifford gates are bare (``T 0``, ``R_Z(0.25) 0``; angles in half-turns) or tagged (``S[T] 0``,
    ``I[R_Z(theta=0.25*pi)] 0``); ``stim_nonclifford.dialect.gates`` lists them. All other instructions are
    those of Stim. ``str(circuit)`` rounds the arguments of Stim's instructions to six digits, as Stim does;
    ``to_file`` and pickles keep all digits.

    Methods whose description names the S-proxy treat T as S. Their results hold for the circuit itself only
    where T and S behave alike, for example for which detectors a fault flips.

    Args:
        circuit: The text of a circuit, or a ``stim.Circuit`` with tags. ``Circuit.from_file`` reads a file.

    Raises:
        ValueError: The text cannot be parsed, or a tag is unknown or malformed. The message names the line.
        ResourceLimitError: There is too little memory for the targets of a line of a million characters or
            more.

    Examples:
        >>> import stim_nonclifford as snc
        >>> circuit = snc.Circuit("H 0\nT 0\nH 0\nM 0")
        >>> circuit.to_stim()
        stim.Circuit('''
            H 0
            S[T] 0
            H 0
            M 0
        ''')
        >>> shots = circuit.compile_sampler(seed=5).sample(100_000)
        >>> round(float(shots.mean()), 2)  # sin(pi/8)^2 = 0.1464...
        0.15
    """

    _stim: stim.Circuit
    _compiled: FaultTable | None = None

    def __init__(self, circuit: str | stim.Circuit | Circuit = "") -> None:
        if isinstance(circuit, str):
            self._stim = parse(circuit)
            return
        if isinstance(circuit, Circuit):
            self._stim = circuit._stim.copy()
            return
        if not isinstance(circuit, stim.Circuit):
            raise TypeError(
                "circuit must be circuit text or a stim.Circuit, but has type"
                f" {type(circuit).__name__}.{remedy_for(circuit)}"
            )
        self._stim = with_checked_tags(circuit)

    @classmethod
    def _wrap(cls: type[Self], circuit: stim.Circuit) -> Self:
        """A circuit from a ``stim.Circuit`` whose tags are known to be valid."""
        result = cls.__new__(cls)
        result._stim = circuit
        return result

    # Reading and writing.

    @staticmethod
    def from_file(file: TextIO | str | pathlib.Path) -> Circuit:
        """Reads a circuit from a file, with bare or tagged non-Clifford gates.

        Args:
            file: A path, or a file opened for reading text. A file given by its path must be in UTF-8, with
                or without a byte-order mark.

        Returns:
            The circuit.

        Raises:
            ValueError: The file is not in UTF-8, or the text cannot be parsed; see the class.
            ResourceLimitError: There is too little memory for a long line; see the class.
        """
        if hasattr(file, "read") and not isinstance(file, os.PathLike):
            return Circuit(file.read())
        try:
            return Circuit(path(file, "file", "a path or an open file").read_text(encoding="utf-8"))
        except UnicodeDecodeError as error:
            raise ValueError(f"{file} is not in UTF-8: {error}. Save it as UTF-8.") from None

    @staticmethod
    def generated(code_task: str, **arguments: Any) -> Circuit:
        """Generates a circuit with Stim; see ``stim.Circuit.generated``."""
        return Circuit(stim.Circuit.generated(text(code_task, "code_task"), **arguments))

    def to_file(self, file: TextIO | str | pathlib.Path) -> None:
        """Writes the circuit with tagged gates, so that Stim and Sinter can read the file.

        Numbers have six digits, as Stim writes them, or more where six would change them: unlike ``str``,
        the file keeps all of the circuit.

        Args:
            file: A path, or a file opened for writing text.

        Raises:
            ValueError: A coordinate is infinite or NaN, which circuit text cannot express.
        """
        _write(f"{exact_text(self._stim)}\n", file)

    def to_stim(self) -> stim.Circuit:
        """The circuit with tagged gates. Stim itself treats a tagged gate as its Clifford carrier, T as S.

        Examples:
            >>> print(Circuit("T 0 1").to_stim())
            S[T] 0 1
        """
        return self._stim.copy()

    @classmethod
    def from_qasm(
        cls: type[Self], program: str, *, relaxation_times: Any = None, dt: float | None = None
    ) -> Self:
        r"""Reads a program in OpenQASM 2 or 3; see ``docs/start/coming_from.md``.

        Loops are unrolled, and global phases left out. A condition on several bits is computed on an ancilla:
        a further qubit, with one more record for each condition. All other records are those of the program's
        measurements, in their order.

        Args:
            program: The text of the program.
            relaxation_times: A pair (T1, T2) in seconds for all qubits, or a dictionary from qubits of the
                circuit to such pairs, if a ``delay`` becomes THERMAL_RELAXATION. By default it is an identity
                with the duration as a note: ``I[delay:100.0ns]``.
            dt: The unit ``dt`` in seconds, which is needed only if a delay in that unit becomes relaxation.

        Returns:
            The circuit; its qubits are numbered in the order in which the program declares them.

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
        return cls._wrap(read_qasm(program, relaxation_times, dt))

    def to_qasm(self, *, open_qasm_version: Literal[2, 3] = 3, skip_dets_and_obs: bool = False) -> str:
        r"""The circuit as an OpenQASM program, as ``stim.Circuit.to_qasm``, with its non-Clifford gates.

        Loops are unrolled, ``TICK`` is a barrier, and coordinates are left out.

        Args:
            open_qasm_version: 2 or 3. OpenQASM 2 has no detectors, and conditions on one record only.
            skip_dets_and_obs: Whether to leave out expectation values, which OpenQASM does not have, and the
                registers ``dets`` and ``obs``, which are flips against the noiseless reference sample.

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
        check_static(self._stim)
        return qasm_of(self._stim, open_qasm_version, skip_dets_and_obs, self.reference_sample)

    @classmethod
    def from_qiskit(
        cls: type[Self],
        circuit: Any,
        *,
        relaxation_times: Any = None,
        dt: float | None = None,
        noise_model: Any = None,
    ) -> Self:
        """Reads a ``qiskit.QuantumCircuit``; see ``docs/start/coming_from.md``.

        Operations are known by their types, whatever their names. Loops, conditions and global phases are
        treated as in ``from_qasm``.

        Args:
            circuit: The circuit, with numbers for all parameters.
            relaxation_times: What becomes of ``delay``, as in ``from_qasm``.
            dt: The unit ``dt`` in seconds, as in ``from_qasm``.
            noise_model: A ``qiskit_aer.noise.NoiseModel``, whose errors the operations get, as Aer's
                simulators add them: the circuit is one that has been transpiled. Delays may have noise of
                both. Channels in the circuit are read without it, too.

        Returns:
            The circuit; qubit k is ``circuit.qubits[k]``.

        Raises:
            ImportError: Qiskit is not installed (extra ``qiskit``).
            TypeError: It is no ``QuantumCircuit``, or ``noise_model`` is no noise model.
            ValueError: An operation has no counterpart, or its noise has none; the message names it.

        Examples:
            >>> import qiskit, stim_nonclifford as snc  # doctest: +SKIP
            >>> bell = qiskit.QuantumCircuit(2)  # doctest: +SKIP
            >>> _ = bell.h(0), bell.cx(0, 1), bell.t(1)  # doctest: +SKIP
            >>> print(snc.Circuit.from_qiskit(bell))  # doctest: +SKIP
            H 0
            CX 0 1
            T 1
        """
        return cls._wrap(read_qiskit(circuit, relaxation_times, dt, noise_model))

    @classmethod
    def from_cirq(cls: type[Self], circuit: Any, *, relaxation_times: Any = None) -> Self:
        """Reads a ``cirq.Circuit``, with all that ``stimcirq`` writes; see ``docs/start/coming_from.md``.

        Each moment ends with a TICK. Conditions and global phases are treated as in ``from_qasm``.

        Args:
            circuit: The circuit, without symbols.
            relaxation_times: What becomes of ``cirq.WaitGate``, as of a delay in ``from_qasm``.

        Returns:
            The circuit. Qubits are numbered in Cirq's order; if all are ``LineQubit``, by their numbers.
            Records are in the order of the measurements.

        Raises:
            ImportError: Cirq or stimcirq is not installed (extra ``cirq``).
            ResourceLimitError: It has more than ten million operations.
            TypeError: It is no ``cirq.Circuit``.
            ValueError: An operation has no counterpart; the message names it and its moment.
        """
        return cls._wrap(read_cirq(circuit, relaxation_times))

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
        check_static(self._stim)
        return cirq_of(self._stim)

    def to_crumble_url(
        self, *, skip_detectors: bool = False, mark: dict[int, list[stim.ExplainedError]] | None = None
    ) -> str:
        r"""A URL that opens the circuit in Crumble, as ``stim.Circuit.to_crumble_url``, with T gates marked.

        Crumble edits Clifford circuits, and what it shows is the S-proxy: T and TPP are S and SPP with the
        tag T, which Crumble writes below the gate. T_DAG and TPP_DAG are S and SPP with the tag T_DAG, as
        Crumble's URLs have no room for a tag on S_DAG; what it draws has no signs, and is the same. Other
        gates are those of ``s_proxy()``; where that is not defined, Z stands for a gate that a record
        controls.

        Args:
            skip_detectors: Whether to leave out detectors, as in Stim.
            mark: Errors to highlight, as in Stim, for example ``{1: circuit.shortest_graphlike_error()}``.
                With marks, T gates have no tags if the S-proxy has joined one of them with an S beside it.

        Raises:
            ResourceLimitError: The unrolled circuit is too large.
            ValueError: A marked error is in a loop, for which Stim's URLs are wrong.

        Examples:
            >>> import stim_nonclifford as snc
            >>> snc.Circuit("H 0\nT 0\nS 0\nT_DAG 0").to_crumble_url()
            'https://algassert.com/crumble#circuit=H_0;S[T]_0;S_0;S[T_DAG]_0_'
        """
        check_static(self._stim)
        check_flattened(self._stim)
        return crumble_url(self._stim, skip_detectors=flag(skip_detectors, "skip_detectors"), mark=mark)

    def __str__(self) -> str:
        return extended_text(self._stim)

    def __repr__(self) -> str:
        return circuit_repr(self._stim)

    def __getstate__(self) -> State:
        return state_of(self._stim)

    def __setstate__(self, state: State) -> None:
        self._stim = circuit_of_state(state)

    # Counts and coordinates.

    @property
    def num_qubits(self) -> int:
        """Number of qubits: one more than the largest qubit index."""
        return self._stim.num_qubits

    @property
    def num_measurements(self) -> int:
        """Number of measurement records."""
        return self._stim.num_measurements

    @property
    def num_detectors(self) -> int:
        """Number of detectors."""
        return self._stim.num_detectors

    @property
    def num_observables(self) -> int:
        """Number of logical observables: one more than the largest observable index."""
        return self._stim.num_observables

    @property
    def num_expectation_values(self) -> int:
        """Number of expectation values: products of EXP_VAL, with REPEAT blocks unrolled."""
        return num_expectations(self._stim)

    @property
    def num_ticks(self) -> int:
        """Number of TICKs."""
        return self._stim.num_ticks

    @property
    def num_sweep_bits(self) -> int:
        """Number of sweep bits; they are 0 in all samplers, as in Stim's."""
        return self._stim.num_sweep_bits

    def get_detector_coordinates(self, only: Any = None) -> dict[int, list[float]]:
        """Coordinates of the detectors, as ``stim.Circuit.get_detector_coordinates``.

        Args:
            only: A detector, by its number or as ``stim.DemTarget``, or several; None: all of them.
        """
        only = _checked_detectors(only)
        if only is None:
            check_flattened(self._stim)
        with memory_is_a_limit():
            return self._stim.get_detector_coordinates(only)

    def get_final_qubit_coordinates(self) -> dict[int, list[float]]:
        """Coordinates of the qubits, as ``stim.Circuit.get_final_qubit_coordinates``."""
        return self._stim.get_final_qubit_coordinates()

    # Building and changing. Instructions may be bare or tagged; Stim's are returned, and printed bare.

    def append(
        self,
        name: str | Instruction | Circuit | stim.Circuit,
        targets: int | stim.GateTarget | stim.PauliString | Iterable[Any] = (),
        arg: float | Iterable[Any] | None = None,
        *,
        tag: str = "",
    ) -> None:
        """Appends an instruction, as ``stim.Circuit.append``.

        Args:
            name: The name of a gate (it may be a bare non-Clifford gate), an instruction, or a circuit.
            targets: A target, or an iterable of targets. A ``stim.PauliString`` is a product with its sign,
                which Stim drops.
            arg: The arguments; angles of rotations are in half-turns. For KRAUS they may be the operators, an
                array of shape (number of operators, 2, 2), and for KRAUS2 one of shape (number of operators,
                4, 4).
            tag: The tag; T gates accept any tag as a note.

        Raises:
            IndexError: There is no instruction of this name.
            ValueError: The instruction is malformed.

        Examples:
            >>> import stim_nonclifford as snc
            >>> circuit = snc.Circuit()
            >>> circuit.append("T", [0, 1])
            >>> circuit.append("R_Z", [2], 0.125)
            >>> circuit.append("X_ERROR", 0, 0.01)
            >>> print(circuit)
            T 0 1
            R_Z(0.125) 2
            X_ERROR(0.01) 0
        """
        self._append_checked(
            addition_of(name._stim if isinstance(name, Circuit) else name, targets, arg, tag)
        )

    def append_from_stim_program_text(self, stim_program_text: str) -> None:
        r"""Appends circuit text, whose non-Clifford gates may be bare or tagged.

        Examples:
            >>> import stim_nonclifford as snc
            >>> circuit = snc.Circuit("H 0")
            >>> circuit.append_from_stim_program_text("T 0\nM 0")
            >>> len(circuit)
            3
        """
        self._stim += parse(text(stim_program_text, "stim_program_text"))

    def _append_checked(self, addition: stim.Circuit) -> None:
        self._stim += with_checked_tags(addition)

    def insert(self, index: int, operation: Instruction | Circuit | stim.Circuit) -> None:
        """Inserts an instruction or a circuit, as ``stim.Circuit.insert``.

        Raises:
            ValueError: A tag is unknown or malformed.
        """
        index, addition = integer(index, "index", -_FAR, _FAR), stim.Circuit()
        if isinstance(operation, Circuit):
            addition = operation._stim
        else:
            check_types(operation, "operation", "an instruction or a circuit", *PARTS)
            addition.append(operation)
        self._stim.insert(index, with_checked_tags(addition))

    def pop(self, index: int = -1) -> Instruction:
        """Removes an instruction and returns it, as ``stim.Circuit.pop``."""
        return printed_bare(self._stim.pop(integer(index, "index", -_FAR, _FAR)))

    def clear(self) -> None:
        """Removes all instructions."""
        self._stim.clear()

    def copy(self: Self) -> Self:
        """An independent copy.

        Raises:
            ResourceLimitError: There is not enough memory.
        """
        with memory_is_a_limit():
            return self._wrap(self._stim.copy())

    def __add__(self: Self, other: Circuit | stim.Circuit) -> Self:
        result = self.copy()
        result += other
        return result

    def __iadd__(self: Self, other: Circuit | stim.Circuit) -> Self:
        if not isinstance(other, (Circuit, stim.Circuit)):
            hint = " For text, write circuit + Circuit(text)." if isinstance(other, str) else ""
            raise TypeError(f"Only a circuit can be added to a circuit, not {type(other).__name__}.{hint}")
        self._append_checked(other._stim if isinstance(other, Circuit) else other)
        return self

    def __mul__(self: Self, repetitions: int) -> Self:
        return self._wrap(_checked_depth(self._stim * repetitions))

    def __rmul__(self: Self, repetitions: int) -> Self:
        return self * repetitions

    def __imul__(self: Self, repetitions: int) -> Self:
        self._stim = _checked_depth(self._stim * repetitions)
        return self

    @overload
    def __getitem__(self: Self, index: int) -> Instruction: ...

    @overload
    def __getitem__(self: Self, index: slice) -> Self: ...

    def __getitem__(self: Self, index: int | slice) -> Instruction | Self:
        found = self._stim[index]
        return self._wrap(found) if isinstance(found, stim.Circuit) else printed_bare(found)

    def __iter__(self) -> Iterator[Instruction]:
        return map(printed_bare, self._stim)

    def __len__(self) -> int:
        return len(self._stim)

    def __eq__(self, other: object) -> bool:
        return self._stim == other._stim if isinstance(other, Circuit) else NotImplemented

    __hash__ = None  # type: ignore[assignment]

    def approx_equals(self, other: object, *, atol: float) -> bool:
        r"""Whether the circuits are equal, up to ``atol`` in their arguments and angles (in half-turns).

        Arguments of the channels of this package are compared in this way, too.

        Examples:
            >>> import stim_nonclifford as snc
            >>> circuit = snc.Circuit("R_X(0.1) 0\nM(0.01) 0")
            >>> circuit.approx_equals(snc.Circuit("R_X(0.1000001) 0\nM(0.0100001) 0"), atol=1e-6)
            True
        """
        atol = number(atol, "atol", 0)
        return isinstance(other, Circuit) and are_close(self._stim, other._stim, atol)

    # Circuits in the place of this one.

    def flattened(self: Self) -> Self:
        """The circuit without REPEAT blocks and SHIFT_COORDS.

        Raises:
            NotImplementedError: Records switch blocks.
            ResourceLimitError: The result would have more than 2^26 targets.
        """
        check_unconditional(self._stim)
        check_flattened(self._stim)
        return self._wrap(self._stim.flattened())

    def without_noise(self: Self) -> Self:
        r"""The circuit without noise, as ``stim.Circuit.without_noise``.

        Examples:
            >>> import stim_nonclifford as snc
            >>> print(snc.Circuit("T 0\nX_ERROR(0.1) 0\nM(0.1) 0").without_noise())
            T 0
            M 0
        """
        return self._wrap(without_noise(self._stim))

    def without_tags(self: Self) -> Self:
        r"""The circuit without tags that are notes, as ``stim.Circuit.without_tags``; its gates stay.

        Tags that stand for gates and for expectation values are part of what the circuit does, and stay. A
        T gate loses its note. Stim's own method takes those tags too, so that T becomes S:
        ``circuit.to_stim().without_tags()``.

        Examples:
            >>> import stim_nonclifford as snc
            >>> circuit = snc.Circuit("H[note] 0\nT[first layer] 0\nI[R_X(theta=0.1*pi)] 0\nTICK[end]")
            >>> print(circuit.without_tags())
            H 0
            T 0
            R_X(0.1) 0
            TICK
        """
        return self._wrap(without_notes(self._stim))

    def inverse(self: Self) -> Self:
        r"""The inverse circuit, as ``stim.Circuit.inverse``, non-Clifford gates included.

        Examples:
            >>> import stim_nonclifford as snc
            >>> print(snc.Circuit("H 0\nT 0\nR_X(0.1) 1\nCS 0 1").inverse())
            CS_DAG 0 1
            R_X(-0.1) 1
            T_DAG 0
            H 0
        """
        check_unconditional(self._stim)
        return self._wrap(inverse_of(self._stim))

    def decomposed(self: Self) -> Self:
        r"""The circuit with Stim's Clifford operations in terms of H, S, CX, M and R.

        Non-Clifford gates and noise stay as they are. Readout errors stay too, on the M that a measurement
        becomes, while ``stim.Circuit.decomposed`` drops them.

        Examples:
            >>> import stim_nonclifford as snc
            >>> print(snc.Circuit("T 0\nMX(0.1) 0").decomposed())
            T 0
            H 0
            M(0.1) 0
            H 0
        """
        return self._wrap(decomposed(self._stim))

    def pauli_twirl(self: Self, *, below: float = 0.25, state_aware: bool = False) -> Self:
        r"""The circuit with Pauli channels in place of coherent noise, relaxation and leakage, for decoders.

        R_Z(a) becomes Z_ERROR(sin(πa/2)^2), and a rotation about a product of Paulis an E. A rotation near a
        Clifford gate becomes this gate and an error. Each rotation is twirled by itself, although rotations
        that follow each other add up to more. So sample the circuit as it is, and use the twirled one for the
        decoder. Relaxation and readout noise become their Pauli twirls, too. In place of leakage and loss
        there are, at each place, the Pauli errors of a leaked qubit, with the probability that a qubit is
        leaked or lost there. REPEAT blocks are unrolled for that.

        Args:
            below: Rotations that differ from the nearest Clifford gate by a smaller angle than this, in
                half-turns, are noise. All others are gates, and stay. T gates and gates that are controlled
                always stay.
            state_aware: Whether relaxation, Kraus operators and readout noise have the errors that they make
                where they stand: where the qubit or the outcome without noise is 0, 1, or random in the
                S-proxy. Detectors then fire as often as in truth, up to terms of second order in the noise,
                and decoders are told so (``detector_error_model``). By default each is the plain twirl, which
                is the same for all states.

        Returns:
            The circuit. It has the same qubits, measurements, detectors and observables. Tags say what the
            errors stand for, and error budgets name it: ``twirl of LEAKAGE 3`` is the leakage of qubit 3.

        Raises:
            ValueError: ``below`` is not in [0, 0.25], or the circuit has ELSE_CORRELATED_ERROR and a rotation
                about a product of Paulis.

        Examples:
            >>> import stim_nonclifford as snc
            >>> print(snc.Circuit("R_X(0.04) 0 1\nR_ZZ(0.54) 0 1\nR_Z(0.25) 0").pauli_twirl())
            X_ERROR[twirl of R_X](0.00394265) 0 1
            SPP Z0*Z1
            E[twirl of R_ZZ](0.00394265) Z0 Z1
            R_Z(0.25) 0
            >>> circuit = snc.Circuit("X 1\nAMPLITUDE_DAMPING(0.36) 1\nM(0.01, 0.03) 0 1")
            >>> print(circuit.pauli_twirl(state_aware=True))
            X 1
            X_ERROR[twirl of AMPLITUDE_DAMPING](0.36) 1
            Z_ERROR[twirl of AMPLITUDE_DAMPING](0.01) 1
            M(0.01) 0
            M(0.03) 1
        """
        below = number(below, "below", 0, 0.25)
        return self._wrap(pauli_twirled(self._stim, below, flag(state_aware, "state_aware")))

    def s_proxy(self) -> stim.Circuit:
        r"""The Clifford circuit with S in place of T.

        * T is S, TPP is SPP. CS, CT, CH, CCZ and CCX, controlled by qubits, are the identity.
        * A rotation by an angle (R_X, R_ZZ, R_PAULI, ...) counts as the nearest one by a multiple of 0.25
          half-turns. Multiples of 0.5 are Clifford gates and stand for themselves: R_X(0.5) is SQRT_X.
          Odd multiples of 0.25 are like T, and become the nearest odd multiple of 0.5: R_Z(0.25) and
          R_Z(0.75) are S, R_Z(-0.25) is S_DAG. So R_X(0.1) is the identity, and R_X(0.52) is SQRT_X: coherent
          noise of up to 0.125 half-turns is left out.
        * U3 is three rotations, each by this rule. Where it is a Clifford gate, it is that gate.
        * In place of S controlled by a record, there is Z controlled by the record: the correction of a
          teleported S, as S is that of a teleported T. The same holds for C_SPP of a product of Z. A
          controlled rotation by one half-turn is a product of controlled Paulis.

        Raises:
            ValueError: A record controls another gate, for which Z is no stand-in.

        Examples:
            >>> import stim_nonclifford as snc
            >>> print(snc.Circuit("H 0\nT 0\nR_Z(0.1) 0\nR_X(-0.5) 0\nTPP X0*X1").s_proxy())
            H 0
            S 0
            I 0
            SQRT_X_DAG 0
            SPP X0*X1
            >>> print(snc.Circuit("M 0\nC_SPP rec[-1] Z1*Z2").s_proxy())
            M 0
            CZ rec[-1] 1 rec[-1] 2
        """
        return proxy_of(self._stim, "s_proxy")

    def i_proxy(self) -> stim.Circuit:
        r"""The circuit with every non-Clifford gate replaced by the identity.

        Rotations by multiples of 0.5 half-turns are Clifford gates, and stay. So do those that are nearer to
        one than 0.125 half-turns, as in ``s_proxy``, without the rest of the angle.

        Examples:
            >>> import stim_nonclifford as snc
            >>> print(snc.Circuit("H 0\nT 0\nR_X(0.5) 0\nS 0").i_proxy())
            H 0
            I 0
            SQRT_X 0
            S 0
        """
        return proxy_of(self._stim, "i_proxy")

    def with_logical_readout(self: Self, state: LogicalStateCheck | LogicalState = "T") -> Self:
        r"""The circuit with a noiseless measurement of a logical state in the place of expectation values.

        The circuit asks for the expectation values of logical Paulis with ``EXP_VAL``. For them the result
        has one observable: whether the state is the orthogonal one instead of the wanted one. Averaged over
        shots, its flips are 1 - fidelity, exactly. This observable is certain without noise, which those of X
        and Y of a T state are not. So everything that counts flips of observables counts logical errors.

        Records of observables with Pauli targets say in which frame the logical Paulis are, as in a
        ``LogicalStateCheck``. They become feedback.

        This is the right readout where all detectors discard shots. **It is the wrong one for a decoder**,
        which corrects an X only after the T gate of the readout. To decode, leave ``EXP_VAL`` as it is, and
        check the state in the decoded frame: ``sinter_plugin.SoftDecodingSampler(state_check="T")``.

        Args:
            state: ``"T"`` for T|+>, the +1 state of (X + Y)/√2; ``"T_DAG"`` for that of (X - Y)/√2; ``"X"``,
                ``"-X"``, ``"Y"``, ``"-Y"``, ``"Z"`` or ``"-Z"`` for those of a Pauli; or a
                ``LogicalStateCheck``, for any state and any expectation values. By name, X is the product of
                X alone, Z that of Z alone, and Y that of Y alone or of X and Z, with the sign that
                ``EXP_VAL`` gives it.

        Returns:
            The circuit without ``EXP_VAL`` and without the observables with Pauli targets of this logical
            qubit. The first of their numbers, or else the next free one, is that of the new observable.

        Raises:
            ValueError: The circuit does not have the expectation values; they are not those of one logical
                qubit, or not at one place; a later instruction would see the measurement; or in shots without
                noise in which no detector fires, the state is nearer to the orthogonal one.

        Examples:
            >>> import stim_nonclifford as snc
            >>> circuit = snc.Circuit("RX 0\nT 0\nDEPOLARIZE1(0.001) 0\nEXP_VAL X0 Y0")
            >>> print(circuit.with_logical_readout("T"))
            RX 0
            T 0
            DEPOLARIZE1(0.001) 0
            TPP_DAG Z0
            MPP X0
            OBSERVABLE_INCLUDE(0) rec[-1]
        """
        circuit, observable = with_measured_state(self._stim, state)
        result = self._wrap(circuit)
        check_state(self._stim, state, result._undecided().compile, observable)
        return result

    def with_faults(self: Self, faults: Iterable[CircuitFault]) -> Self:
        r"""The circuit without its noise, but with given faults as gates, which any simulator can run.

        The faults also change the noiseless reference sample of the new circuit. Sample it with
        ``skip_reference_sample=True`` to see the bits that they flip.

        Args:
            faults: Faults from ``faults()``, of a ``MalignantSet`` or of a ``KeptFailure``. A fault that is
                given twice cancels.

        Returns:
            The circuit, with loops unrolled, Paulis as gates and readout errors as inverted targets.

        Raises:
            ValueError: A fault is not one of this circuit, or two faults cannot both happen: a place of noise
                has one error at most, and so has a chain of correlated errors.

        Examples:
            >>> import stim_nonclifford as snc
            >>> circuit = snc.Circuit("H 0\nT 0\nDEPOLARIZE1(0.1) 0\nM(0.1) 0")
            >>> faults = circuit.faults()
            >>> print(circuit.with_faults([faults[1], faults[3]]))
            H 0
            T 0
            Z 0
            M !0
        """
        return self._wrap(self._fault_table().circuit_with(checked_faults(faults)))

    # Compiling and sampling.

    def compile(self) -> CompiledCircuit:
        """Compiles the circuit, to inspect its plans. Samplers call this method themselves.

        The result is stored, and computed again only after the circuit has changed.

        Returns:
            The compiled circuit; its methods ``detector_plan`` and ``record_plan`` return a ``SamplingPlan``.

        Raises:
            NotImplementedError: An instruction is not supported.
        """
        return self._fault_table().compiled

    def _fault_table(self) -> FaultTable:
        if self._compiled is None or self._compiled.circuit != self._stim:
            circuit = self._stim.copy()
            self._compiled = FaultTable(circuit, compile_circuit(circuit, likely_outputs))
        return self._compiled

    def compile_sampler(
        self,
        *,
        skip_reference_sample: bool = False,
        seed: int | None = None,
        reference_sample: npt.NDArray[Any] | None = None,
        engine: EngineName = "auto",
        threads: int = 1,
        cache_bytes: int = DEFAULT_CACHE_BYTES,
        device: int | None = None,
        max_active_coordinates: int = DEFAULT_MAX_ACTIVE_COORDINATES,
        decoder: Any = None,
    ) -> CompiledMeasurementSampler:
        r"""Returns an object that samples measurement records, as ``stim.Circuit.compile_sampler``.

        Args:
            skip_reference_sample: Whether to report flips against the noiseless reference sample instead
                of records.
            seed: None for fresh entropy, or an integer in range(2**64), which determines all results.
            reference_sample: Records to use in place of the noiseless reference sample.
            engine: ``"auto"``, ``"cpu"``, ``"gpu"`` or ``"reference"``, which all give the same shots; or
                ``"trajectory"``, which follows each shot by itself. See ``EngineOptions`` for this and the
                next three.
            threads: Number of threads on the CPU.
            cache_bytes: Limit in bytes for stored outcome laws.
            device: Number of the GPU.
            max_active_coordinates: Limit for the width of the coefficient vector (2^width numbers), if the
                circuit needs one (``plan().dense_width``); the memory of the machine is another one.
            decoder: What decides at each DECODE of the circuit: the name of a decoder of Sinter, such as
                ``"pymatching"``; a ``sinter.Decoder``; a dictionary of such by the names in the circuit; an
                object with the methods ``begin`` and ``decide`` (docs/methods/decisions.md); or ``"raw"``,
                which leaves the records as they are.

        Returns:
            The sampler.

        Raises:
            EngineUnavailableError: ``engine="gpu"`` and no GPU can be used; the message says why.
            NotImplementedError: An instruction or a decision is not supported.
            ResourceLimitError: The circuit needs more than ``max_active_coordinates``, or more memory than
                the machine has for the vectors of all threads.
            ValueError: An argument is out of range, or there is a DECODE and no decoder for it.

        Warns:
            SlowShotsWarning: A shot takes some seconds to simulate; the message says how many.

        Examples:
            >>> Circuit("X 0\nM 0").compile_sampler().sample(shots=1)
            array([[ True]])
        """
        options = EngineOptions(engine=engine, threads=threads, cache_bytes=cache_bytes, device=device)
        if reference_sample is not None:
            reference_sample = array(reference_sample, "reference_sample", "a NumPy array of records")
        decides = self._decided(decoder, options, max_active_coordinates, all_records=True)
        recipe = functools.partial(
            self.copy().compile_sampler,
            skip_reference_sample=skip_reference_sample,
            reference_sample=reference_sample,
            max_active_coordinates=max_active_coordinates,
            decoder=decoder,
            **dataclasses.asdict(options),
        )
        return CompiledMeasurementSampler(
            self._undecided().compile(),
            options,
            recipe=recipe,
            decides=decides,
            max_active_coordinates=max_active_coordinates,
            seed=seed,
            skip_reference_sample=skip_reference_sample,
            reference_sample=reference_sample,
        )

    def compile_detector_sampler(
        self,
        *,
        seed: int | None = None,
        postselection_mask: Mask | None = None,
        postselected_observables_mask: Mask | None = None,
        state_check: LogicalStateCheck | LogicalState | None = None,
        skip_reference_sample: bool = False,
        engine: EngineName = "auto",
        threads: int = 1,
        cache_bytes: int = DEFAULT_CACHE_BYTES,
        device: int | None = None,
        max_active_coordinates: int = DEFAULT_MAX_ACTIVE_COORDINATES,
        decoder: Any = None,
    ) -> CompiledDetectorSampler:
        r"""Returns an object that samples detectors, as ``stim.Circuit.compile_detector_sampler``.

        Args:
            seed: None for fresh entropy, or an integer in range(2**64), which determines all results.
            postselection_mask: The detectors that discard a shot in ``sample_counts`` and ``sample_kept`` if
                they fire: ``"all"``; bools, as a list or an array of shape (num_detectors,); or bit-packed
                uint8 as Sinter's masks. By default no detector discards a shot.
            postselected_observables_mask: The observables that discard a shot if they are flipped, in the
                same forms. By default none does.
            state_check: A logical state, such as ``"T"``, in place of the observables: the sampler has one
                observable, whose flips are 1 - fidelity on average. See ``with_logical_readout``, whose
                circuit is sampled; for a decoder, see ``sinter_plugin.SoftDecodingSampler``.
            skip_reference_sample: Whether to report raw parities of records instead of flips against the
                noiseless reference sample.
            engine: ``"auto"``, ``"cpu"``, ``"gpu"`` or ``"reference"``, which all give the same shots; or
                ``"trajectory"``, which follows each shot by itself. See ``EngineOptions`` for this and the
                next three.
            threads: Number of threads on the CPU.
            cache_bytes: Limit in bytes for stored outcome laws.
            device: Number of the GPU.
            max_active_coordinates: Limit for the width of the coefficient vector (2^width numbers), if the
                circuit needs one (``plan().dense_width``); the memory of the machine is another one.
            decoder: What decides at each DECODE of the circuit: the name of a decoder of Sinter, such as
                ``"pymatching"``; a ``sinter.Decoder``; a dictionary of such by the names in the circuit; an
                object with the methods ``begin`` and ``decide`` (docs/methods/decisions.md); or ``"raw"``,
                which leaves the records as they are.

        Returns:
            The sampler.

        Raises:
            EngineUnavailableError: ``engine="gpu"`` and no GPU can be used; the message says why.
            NotImplementedError: An instruction or a decision is not supported.
            ResourceLimitError: Every method of the sampler needs more than ``max_active_coordinates``, or
                more memory than the machine has. If only some methods do, they raise this error when they are
                called.
            TypeError: A mask has the wrong dtype.
            ValueError: A mask has the wrong shape, an argument is out of range, or there is a DECODE and no
                decoder for it.

        Warns:
            SlowShotsWarning: A shot takes some seconds to simulate. It comes with the reference sample here,
                or with the first call of a method.

        Examples:
            >>> circuit = Circuit("R 0\nX_ERROR(1) 0\nM 0\nDETECTOR rec[-1]")
            >>> circuit.compile_detector_sampler().sample(shots=1)
            array([[ True]])
        """
        if state_check is not None:
            checked = checked_circuit(self, state_check, postselected_observables_mask)
            return checked.compile_detector_sampler(
                seed=seed,
                postselection_mask=postselection_mask,
                skip_reference_sample=skip_reference_sample,
                engine=engine,
                threads=threads,
                cache_bytes=cache_bytes,
                device=device,
                max_active_coordinates=max_active_coordinates,
                decoder=decoder,
            )
        options = EngineOptions(engine=engine, threads=threads, cache_bytes=cache_bytes, device=device)
        # Copies, which nobody else changes.
        if postselection_mask is not None:
            name = "postselection_mask"
            postselection_mask = bools_of_mask(postselection_mask, self.num_detectors, name, "detectors")
        if postselected_observables_mask is not None:
            name, count = "postselected_observables_mask", self.num_observables
            postselected_observables_mask = bools_of_mask(
                postselected_observables_mask, count, name, "observables"
            )
        decides = self._decided(decoder, options, max_active_coordinates)
        recipe = functools.partial(
            self.copy().compile_detector_sampler,
            postselection_mask=postselection_mask,
            postselected_observables_mask=postselected_observables_mask,
            skip_reference_sample=skip_reference_sample,
            max_active_coordinates=max_active_coordinates,
            decoder=decoder,
            **dataclasses.asdict(options),
        )
        return CompiledDetectorSampler(
            self._undecided()._fault_table(),
            options,
            recipe=recipe,
            decides=decides,
            max_active_coordinates=max_active_coordinates,
            seed=seed,
            postselection_mask=postselection_mask,
            postselected_observables_mask=postselected_observables_mask,
            skip_reference_sample=skip_reference_sample,
        )

    def _undecided(self: Self) -> Self:
        """The circuit itself if it decides nothing; otherwise the one that measures instead."""
        return self if first_decision(self._stim) is None else self.without_decisions()

    def _decided(
        self, decoder: Any, options: EngineOptions, max_active_coordinates: int, *, all_records: bool = False
    ) -> DecidingEngines | None:
        """What gives a sampler its engines if a decoder decides."""
        if decoder is None and first_decision(self._stim) is None:
            return None
        # With the decoders, of which most calls need none.
        from .decisions import DecisionSampling, SwitchedSampling, check_raw

        if check_raw(decoder, self._stim):
            return None
        kind = SwitchedSampling if is_switched(self._stim) else DecisionSampling
        return kind(
            self._stim.copy(),
            decoder,
            options,
            max_active_coordinates=max_active_coordinates,
            all_records=all_records,
        )

    def without_decisions(self: Self) -> Self:
        r"""The circuit that measures where this one decides.

        Examples:
            >>> print(Circuit("DECODE 41\nMPP[DECODE] Z1*Z2").without_decisions())
            M 41
            MPP Z1*Z2
        """
        return self._wrap(without_decisions(self._stim))

    def decision_points(self) -> list[DecisionPoint]:
        r"""The places at which a decoder decides, in order.

        Returns:
            For each of them its line and tick, the records that are decided, and the number of detectors that
            the decoder sees: those before the instruction, less its latency.

        Examples:
            >>> circuit = Circuit("X_ERROR(0.1) 0\nM 0 0\nDETECTOR rec[-1]\nDECODE 0")
            >>> circuit.decision_points()
            [DecisionPoint(line=4, tick=0, records=(2,), num_detectors=1, latency=0, decoder='', gap=None)]
        """
        return DecidedCircuit(self._stim.copy()).points

    def decision_model(
        self, point: int, *, decompose_errors: bool = False, records: Mapping[int, bool] | None = None
    ) -> stim.DetectorErrorModel:
        r"""The error model by which a decoder decides.

        It is that of the circuit up to the decision, in which earlier decisions are plain measurements.
        Errors that no detector sees are left out: they cannot be decoded.

        Args:
            point: The number of the decision in ``decision_points``.
            decompose_errors: Whether errors are decomposed into such that flip at most two detectors.
            records: If the model depends on records that control gates, by number the values of these.

        Returns:
            The model. Its detectors are those that the decoder sees. Its observables are the flips of the
            records that are decided, and then one for each earlier conditional Clifford rotation that
            matters: whether its axis is flipped.

        Raises:
            IndexError: There is no such decision.
            ValueError: The model depends on records whose values are not given, or on others.

        Examples:
            >>> circuit = Circuit("X_ERROR(0.125) 0\nM 0\nDETECTOR rec[-1]\nDECODE 0")
            >>> print(circuit.decision_model(0))
            error(0.125) D0 L0
        """
        from .decisions import decision_model

        decided = DecidedCircuit(self._stim.copy())
        number = integer(point, "point", -_FAR, _FAR)
        if not -len(decided.points) <= number < len(decided.points):
            raise IndexError(f"There is no decision {number}: the circuit has {len(decided.points)}.")
        number %= len(decided.points)
        attempts = [{"decompose_errors": flag(decompose_errors, "decompose_errors")}]
        if records is not None:
            check_types(records, "records", "a dict of bools by the numbers of records", Mapping)
        branch = decided if records is None else decided.branch_of_records(number, records)
        return decision_model(branch, number, attempts)

    def plan(
        self,
        method: PlanMethod | None = None,
        *,
        postselection_mask: Mask | None = None,
        postselected_observables_mask: Mask | None = None,
    ) -> PlanReport:
        r"""The cost of the circuit: the quantum operations of a shot, and the instructions that cause them.

        Each method of a sampler has its own plan, and the report names the method that it describes. The
        coefficient vector is not allocated, so the report also works for circuits that are too wide to be
        sampled.

        Args:
            method: ``"sample"``, ``"sample_kept"`` or ``"sample_counts"`` of ``compile_detector_sampler``,
                or ``"sample_measurements"`` for ``sample`` of ``compile_sampler``. The default is
                ``"sample_counts"`` if a mask is given. Otherwise it is ``"sample"``, or
                ``"sample_measurements"`` if the circuit has neither detectors nor observables.
            postselection_mask: As in ``compile_detector_sampler``; ``"sample"`` returns all shots and
                ignores it.
            postselected_observables_mask: As in ``compile_detector_sampler``.

        Returns:
            The report. It can be printed, and has the same information in its attributes.

        Raises:
            NotImplementedError: An instruction is not supported.
            ResourceLimitError: More than 64 coordinates have coefficients at a time.
            TypeError: A mask has the wrong dtype.
            ValueError: A mask has the wrong shape, or the method is unknown.

        Examples:
            >>> print(Circuit("RX 0 1\nDEPOLARIZE1(0.001) 0 1\nT 0 1\nTICK\nMX 0 1").plan())
            What a shot costs in compile_sampler().sample
            <BLANKLINE>
            Plan: 2 mechanisms (0.001334 events per shot), 0 coins; 0 noise-only checks, 0 signature bits, 2
            outputs; 0 rotations, 2 activations, 2 measurements, 0 outcome checks; peak width 0 (2^0
            coefficients)
            99.9% of the shots have no noise event.
            The vector has 16 bytes. Simulating a shot takes 2 coefficient operations; ...
            <BLANKLINE>
            width ...
        """
        postselected = postselected_outputs(
            postselection_mask, postselected_observables_mask, self.num_detectors, self.num_observables
        )
        if method is None and postselected:
            method = "sample_counts"
        elif method is None:
            method = "sample" if self.num_detectors or self.num_observables else "sample_measurements"
        else:
            method = choice(method, "method", get_args(PlanMethod))
        return plan_report(self.compile(), method, postselected)

    def reference_sample(self, *, bit_packed: bool = False) -> npt.NDArray[Any]:
        r"""A noiseless sample in which every measurement outcome has its more likely value.

        The values are chosen in circuit order, each given the earlier ones. If both values are equally
        likely, the choice is fixed. In a Clifford circuit it is the value of
        ``stim.Circuit.reference_sample``, which is 0 (before inversion).

        Args:
            bit_packed: Whether to return eight records per byte.

        Returns:
            bool, shape (num_measurements,), or uint8, shape (ceil(num_measurements / 8),).

        Examples:
            >>> Circuit("H 0\nT 0\nX 1\nM 0 1").reference_sample()
            array([False,  True])
        """
        bit_packed = flag(bit_packed, "bit_packed")
        records = reference_records(self.compile(), DEFAULT_MAX_ACTIVE_COORDINATES)
        packed = np.frombuffer(records.to_bytes(-(-self.num_measurements // 8), "little"), np.uint8)
        if bit_packed:
            return packed
        return np.unpackbits(packed, count=self.num_measurements, bitorder="little").view(np.bool_)

    def reference_detector_and_observable_signs(
        self, *, bit_packed: bool = False
    ) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
        r"""The parities of the detectors' and the observables' records in the reference sample.

        Detectors and observables are reported as flips against these.

        Args:
            bit_packed: Whether to return eight bits per byte.

        Returns:
            Two arrays of bools, shapes (num_detectors,) and (num_observables,), or of uint8 with an eighth.

        Examples:
            >>> Circuit("X 0\nM 0\nDETECTOR rec[-1]").reference_detector_and_observable_signs()
            (array([ True]), array([], dtype=bool))
        """
        converter = self.compile_m2d_converter(skip_reference_sample=True)
        signs = converter.convert(
            measurements=self.reference_sample()[None, :],
            separate_observables=True,
            bit_packed=flag(bit_packed, "bit_packed"),
        )
        return signs[0][0], signs[1][0]

    def compile_m2d_converter(
        self, *, skip_reference_sample: bool = False
    ) -> stim.CompiledMeasurementsToDetectionEventsConverter:
        r"""Returns Stim's converter of records to detection events, as Stim's method of this name.

        A detection event is the parity of a detector's records, compared with that of the noiseless
        reference sample. The reference is ``reference_sample()`` of the circuit with its T gates, so that
        the converter makes the bits of ``compile_detector_sampler`` from the records of ``compile_sampler``.

        Args:
            skip_reference_sample: Whether to convert to raw parities, as if the reference sample were 0.

        Returns:
            The converter, with Stim's methods ``convert`` and ``convert_file``.

        Raises:
            NotImplementedError: An instruction is not supported.
            ResourceLimitError: The unrolled circuit is too large, or the reference sample of the circuit is
                too wide to be computed.
            ValueError: Records do not determine the result: an observable includes Paulis, which no record
                shows, or the circuit has non-Clifford gates and sweep bits, whose flips are not fixed.

        Examples:
            >>> import numpy as np
            >>> import stim_nonclifford as snc
            >>> circuit = snc.Circuit("X 0\nT 0\nM 0\nDETECTOR rec[-1]")
            >>> converter = circuit.compile_m2d_converter()
            >>> converter.convert(measurements=np.array([[True], [False]]), append_observables=False)
            array([[False],
                   [ True]])
        """
        check_static(self._stim)
        return measurement_converter(self._stim, self.reference_sample, skip_reference_sample)

    def state_vector(self, *, endian: Literal["little", "big"] = "little") -> npt.NDArray[np.complex128]:
        r"""The state after the circuit, as ``stim.TableauSimulator.state_vector``, of at most 20 qubits.

        It is for looking at small circuits and at parts of them, such as ``circuit[:5].state_vector()``. The
        circuit must have one state: it has no noise, the outcomes of its measurements are certain, and the
        qubits that it resets are not entangled with others. Sweep bits are 0.

        Args:
            endian: With ``"little"``, qubit k is bit k of the index of an amplitude; with ``"big"``, qubit 0
                is the most significant bit.

        Returns:
            complex128, shape (2^num_qubits,): the amplitudes, with norm 1. The global phase is chosen so that
            the first amplitude that is not 0 is positive.

        Raises:
            NotImplementedError: An instruction is not supported.
            ResourceLimitError: The circuit has more than 20 qubits, or its loops are too long.
            ValueError: The circuit has noise, an outcome is random, or a qubit is reset that is entangled.

        Examples:
            >>> import stim_nonclifford as snc
            >>> snc.Circuit("H 0\nT 0\nCX 0 1").state_vector().round(3)
            array([0.707+0.j , 0.   +0.j , 0.   +0.j , 0.5  +0.5j])
        """
        check_static(self._stim)
        return state_vector_of(self._stim, endian)

    # Faults and rates.

    def faults(self) -> list[CircuitFault]:
        r"""All faults that the circuit's noise can cause, in circuit order.

        Returns:
            The faults, each with its line and tick in the circuit.

        Examples:
            >>> import stim_nonclifford as snc
            >>> circuit = snc.Circuit("H 0\nDEPOLARIZE1(0.1) 0\nM(0.1) 0")
            >>> for fault in circuit.faults():
            ...     print(fault)
            line 2, tick 0: DEPOLARIZE1 0: X0
            line 2, tick 0: DEPOLARIZE1 0: Z0
            line 2, tick 0: DEPOLARIZE1 0: Y0
            line 3, tick 0: M 0: record 0 flips
        """
        return self._fault_table().faults

    @overload
    def outcome_probabilities(
        self, faults: Iterable[CircuitFault], *, postselection_mask: Mask | None = None
    ) -> OutcomeProbabilities: ...

    @overload
    def outcome_probabilities(
        self,
        faults: Iterable[Iterable[CircuitFault]],
        *,
        postselection_mask: Mask | None = None,
    ) -> list[OutcomeProbabilities]: ...

    def outcome_probabilities(
        self,
        faults: Iterable[CircuitFault] | Iterable[Iterable[CircuitFault]],
        *,
        postselection_mask: Mask | None = None,
    ) -> OutcomeProbabilities | list[OutcomeProbabilities]:
        r"""The exact probabilities that a shot with given faults is discarded, or has a logical error.

        Args:
            faults: Faults from ``faults()``, of a ``MalignantSet`` or of a ``KeptFailure``: those of one
                shot. Or several of such sets of faults, one for each shot, which takes much less time than a
                call for each. A fault that is given twice cancels.
            postselection_mask: The detectors that discard a shot, as in ``compile_detector_sampler``. They
                must be all, ``"all"``, as nothing here decodes the others. A circuit without detectors needs
                no mask.

        Returns:
            The probabilities that the shot is kept and right, kept and wrong, and discarded. For several
            sets, a list of these. An empty argument is one shot without faults.

        Raises:
            ValueError: A fault is not one of this circuit; two faults cannot both happen, as they are of one
                place or of one chain of correlated errors; a detector is not postselected, or the mask has
                the wrong shape; or faults stand beside sets of faults.
            ResourceLimitError: The result depends on more than 16 coins.

        Examples:
            >>> import stim_nonclifford as snc
            >>> circuit = snc.Circuit("X_ERROR(0.1) 0\nH 0\nT 0\nH 0\nM 0\nOBSERVABLE_INCLUDE(0) rec[-1]")
            >>> [flip] = circuit.faults()
            >>> round(circuit.outcome_probabilities([flip]).kept_and_wrong, 6)  # cos(pi/8)^2
            0.853553
            >>> for fate in circuit.outcome_probabilities([[], [flip]]):
            ...     print(round(fate.kept_and_wrong, 6))
            0.146447
            0.853553
        """
        count = self._stim.num_detectors
        postselected = checked_mask(postselection_mask, count, "postselection_mask", "detectors")
        check_no_detector_is_left(count, postselected)
        shots, are_several = faults_of_shots(faults)
        found = self._fault_table().outcome_probabilities(shots, postselected)
        return found if are_several else found[0]

    def error_budget(
        self,
        by: Grouping,
        *,
        decoder: Any = None,
        loop_decoder: Any = None,
        postselection_mask: Mask | None = None,
        shots: int = 100_000,
        seed: int | None = None,
        threads: int = 1,
    ) -> DifferenceBudget:
        r"""What less noise would bring, by sampling: the logical error rate without each group of noise.

        For all noise that can be sampled: relaxation, leakage, loss, asymmetric readout and Kraus operators,
        for which ``logical_error_rate(...).error_budget`` has no fault sets, and noise before decisions. Each
        group is switched off in turn. All shots have the same random numbers, so that a shot differs only
        where that noise made a difference, and small differences have small errors; but for asymmetric
        readout and heralds, without which other noise is drawn anew, and for circuits with a decoder in the
        loop, in which all is. Decoders stay as they are. Spreading and return of leakage, misses
        of heralds, and rotations are no noise here, and stay on.

        Args:
            by: What to divide by, as in ``LogicalErrorRate.error_budget``. By qubit, all noise that acts on
                the qubit is switched off, so that noise on two qubits counts for both.
            decoder: The name of a decoder that Sinter knows, or a ``sinter.Decoder``, as in
                ``logical_error_rate``. None: a shot is wrong if an observable is flipped.
            loop_decoder: What decides at each DECODE of the circuit, as ``decoder`` of
                ``compile_detector_sampler``. Such a circuit has no other decoder: at its end, FRAME asks.
            postselection_mask: The detectors that discard a shot, as in ``compile_detector_sampler``.
            shots: How many shots are drawn with all noise, and without that of each group.
            seed: None for fresh entropy, or an integer in range(2**64).
            threads: Number of threads.

        Returns:
            The budget; printed, a table.

        Raises:
            NotImplementedError: Records switch blocks, or the error model of a decision.
            ResourceLimitError: A shot is too wide.
            ValueError: There are no observables, none of the shots is kept, the decoder decodes kept shots
                only, or a circuit with DECODE has no decoder in the loop, or one at its end.

        Examples:
            >>> import stim_nonclifford as snc
            >>> text = "X 0\nAMPLITUDE_DAMPING(0.1) 0\nM(0.02) 0\nOBSERVABLE_INCLUDE(0) rec[-1]"
            >>> budget = snc.Circuit(text).error_budget("noise", seed=1)
            >>> for group in budget.groups:  # 0.116 = 0.1 + 0.02 - 2 0.1 0.02
            ...     print(f"{group.group:17} {group.difference:.2f}")
            AMPLITUDE_DAMPING 0.10
            M                 0.02
        """
        from ..rates.budget.differences import difference_budget  # it imports Sinter and SciPy
        from .decisions import DecisionSampling, check_raw

        switches = NoiseSwitches(self._stim)
        found = first_decision(self._stim)
        if found is None and loop_decoder is not None:
            raise ValueError("The circuit has no DECODE for loop_decoder to decide. Leave it out.")
        if found is not None and decoder is not None:
            raise ValueError(
                f"{found}: the circuit asks a decoder, and decoder= would predict observables at its end."
                " Leave it out: loop_decoder= decides, and FRAME can ask it which observables are flipped."
            )
        if not check_raw(loop_decoder, self._stim):
            limit = DEFAULT_MAX_ACTIVE_COORDINATES
            loop_decoder = DecisionSampling(
                self._stim.copy(), loop_decoder, EngineOptions(), max_active_coordinates=limit
            ).fixed_decoder()
        asked = decoder, loop_decoder, postselection_mask, shots, seed, threads
        return difference_budget(self, switches.places, switches.without, by, *asked)

    def logical_error_rate(
        self,
        *,
        decoder: Any = None,
        postselection_mask: Mask | None = None,
        postselected_observables_mask: Mask | None = None,
        state_check: LogicalStateCheck | LogicalState | None = None,
        skip_reference_sample: bool = False,
        relative_error: float = 0.01,
        max_seconds: float | None = None,
        max_bytes: int = DEFAULT_MAX_BYTES,
        seed: int | None = None,
        threads: int = 1,
        confidence: bool = False,
        loop_decoder: Any = None,
        progress: bool = False,
    ) -> LogicalErrorRate:
        r"""The probability that a kept shot is wrong, however small, from the sets of faults that make it so.

        Without a decoder: for circuits most of whose faults are seen by postselected detectors
        (``docs/guides/fault_sets.md``). With a decoder: for any circuit with Pauli noise
        (``docs/guides/decoded_rates.md``). The seed fixes the result, whatever the number of threads, unless
        ``max_seconds`` ends it early. Without noise, each observable must have one value in the shots that
        are kept, up to what rotations by small angles do.

        Args:
            decoder: The name of a decoder that Sinter knows, such as ``"pymatching"``, or a
                ``sinter.Decoder``: a shot is wrong if it predicts an observable wrongly. It is told the error
                model of the circuit. None: every detector discards the shot if it fires.
            postselection_mask: The detectors that discard a shot, as in ``compile_detector_sampler``. Without
                a decoder they must be all, ``"all"``: the default for circuits with non-Clifford gates, while
                Clifford circuits, which may be meant to be decoded, have to say it. With a decoder, any; by
                default none, and with ``"desaturated"`` those that it needs.
            postselected_observables_mask: The observables that discard a shot; none by default.
            state_check: A logical state, such as ``"T"``, in place of the observables: a kept shot is wrong
                with probability 1 - fidelity. See ``with_logical_readout``, whose circuit is looked at. With
                the decoder ``"desaturated"``, a check by one logical Pauli in the decoded frame; not with
                others.
            skip_reference_sample: Whether detectors and observables are raw parities of records, as in
                ``compile_detector_sampler``. Without a decoder.
            relative_error: The ``relative_error`` of the result at which it stops. The result says so if time
                or limits end it before.
            max_seconds: No new round of sampling begins so long after the call, and no weight is enumerated
                for longer. With a decoder, the search ends then.
            max_bytes: Memory to use, about; without a decoder.
            seed: None for fresh entropy, or an integer in range(2**64).
            threads: Number of threads. With a decoder that takes longer than a second, also the number of
                processes that decode, if they can import it. With ``"desaturated"``, one does everything.
            confidence: Whether the result is to have a ``gap_curve``: rates of the shots in which the decoder
                is so sure at least, by the complementary gap (``"pymatching"``, ``"chromobius"``,
                ``"desaturated"``, or a ``sinter.Decoder`` with
                ``decode_shots_bit_packed_with_confidence``). Needs a decoder.
            loop_decoder: What decides at each DECODE of the circuit, as ``decoder`` of
                ``compile_detector_sampler``; None: the decoder that predicts the observables at the end.
            progress: Whether to print what is under way to stderr.

        Returns:
            The estimate with its interval and its strata; printed, a table. Results of several seeds add up.

        Raises:
            ResourceLimitError: There are too many sets for this method; the message says why.
            TypeError: A mask has the wrong dtype.
            ValueError: There are no observables; an observable is random without noise, or a detector is not
                postselected; a mask has the wrong shape; an argument is out of range; or no shot is ever
                kept.

        Examples:
            >>> import stim_nonclifford as snc
            >>> repetition_code = snc.Circuit.generated(
            ...     "repetition_code:memory", distance=5, rounds=2, before_round_data_depolarization=1e-4
            ... )
            >>> estimate = repetition_code.logical_error_rate(postselection_mask="all", seed=1)
            >>> f"{estimate.logical_error_rate:.2e}"
            '2.63e-21'
            >>> decoded = repetition_code.logical_error_rate(decoder="pymatching", seed=1)
            >>> f"{decoded.logical_error_rate:.1e}"
            '5.9e-12'
        """
        return rates_of(
            [self],
            decoder,
            postselection_mask,
            postselected_observables_mask,
            state_check,
            skip_reference_sample,
            Settings(relative_error, max_seconds, max_bytes, seed_of(seed), threads, progress),
            confidence,
            loop_decoder,
        )[0]

    def fault_distance(
        self,
        *,
        postselection_mask: Mask | None = None,
        postselected_observables_mask: Mask | None = None,
        state_check: LogicalStateCheck | LogicalState | None = None,
        skip_reference_sample: bool = False,
        max_weight: int = 4,
        threads: int = 1,
        max_bytes: int = DEFAULT_MAX_BYTES,
    ) -> FaultDistance:
        r"""The fewest error mechanisms that can make a kept shot wrong.

        What ``stim.Circuit.shortest_graphlike_error`` is without postselection and T gates. All smaller
        sets are looked at.

        Args:
            postselection_mask: As in ``logical_error_rate``.
            postselected_observables_mask: The same for observables.
            state_check: As in ``logical_error_rate``.
            skip_reference_sample: As in ``logical_error_rate``.
            max_weight: The largest number of mechanisms to look at.
            threads: Number of threads.
            max_bytes: Memory to use, about.

        Returns:
            The distance, or a lower bound if ``max_weight`` or the limits end the search.

        Raises:
            ValueError: As in ``logical_error_rate``.

        Examples:
            >>> import stim_nonclifford as snc
            >>> repetition_code = snc.Circuit.generated(
            ...     "repetition_code:memory", distance=3, rounds=2, before_round_data_depolarization=1e-4
            ... )
            >>> print(repetition_code.fault_distance(postselection_mask="all"))
            3
        """
        asked = planned(
            self, postselection_mask, postselected_observables_mask, state_check, skip_reference_sample
        )
        return fault_distance(asked.plan(), max_weight, Settings(max_bytes=max_bytes, threads=threads))

    def malignant_sets(
        self,
        *,
        postselection_mask: Mask | None = None,
        postselected_observables_mask: Mask | None = None,
        state_check: LogicalStateCheck | LogicalState | None = None,
        skip_reference_sample: bool = False,
        max_weight: int | None = None,
        threads: int = 1,
        max_bytes: int = DEFAULT_MAX_BYTES,
    ) -> list[MalignantSet]:
        r"""The sets of error mechanisms that can make a kept shot wrong, those that contribute most first.

        Args:
            postselection_mask: As in ``logical_error_rate``.
            postselected_observables_mask: The same for observables.
            state_check: As in ``logical_error_rate``.
            skip_reference_sample: As in ``logical_error_rate``.
            max_weight: The largest number of mechanisms to look at; by default that of the smallest sets.
            threads: Number of threads.
            max_bytes: Memory to use, about.

        Returns:
            The sets, each with its probability and with the faults that it may consist of.

        Raises:
            ResourceLimitError: There are too many sets.
            ValueError: As in ``logical_error_rate``.

        Examples:
            >>> import stim_nonclifford as snc
            >>> circuit = snc.Circuit("R 0 1\nX_ERROR(0.1) 0 1\nM 0 1\nDETECTOR rec[-1] rec[-2]")
            >>> circuit += snc.Circuit("OBSERVABLE_INCLUDE(0) rec[-1]")
            >>> [malignant] = circuit.malignant_sets(postselection_mask="all")
            >>> print(*malignant.faults, sep="\n")
            line 2, tick 0: X_ERROR 0: X0
            line 2, tick 0: X_ERROR 1: X1
        """
        asked = planned(
            self, postselection_mask, postselected_observables_mask, state_check, skip_reference_sample
        )
        plan = asked.plan()
        circuit = checked_circuit(self, state_check, postselected_observables_mask)
        named = circuit._fault_table().by_mechanism(plan)
        with asked.naming_the_cause():
            return malignant_sets(plan, named, max_weight, Settings(max_bytes=max_bytes, threads=threads))

    # Error models, and what Stim computes from that of the S-proxy.

    def detector_error_model(
        self,
        *,
        decompose_errors: bool = False,
        flatten_loops: bool = False,
        allow_gauge_detectors: bool = False,
        approximate_disjoint_errors: float = False,
        ignore_decomposition_failures: bool = False,
        block_decomposition_from_introducing_remnant_edges: bool = False,
        kind: ErrorModelKind | stim.DetectorErrorModel = "s_proxy",
        postselection_mask: Mask | None = None,
    ) -> stim.DetectorErrorModel:
        r"""The detector error model, for a decoder. Without non-Clifford gates it is Stim's.

        No error model is exact for a circuit with T gates, because T turns the error X into a superposition
        of X and Y. There are two models, which agree about detectors and observables that depend on noise
        alone, and are exact for these (``docs/guides/decoding.md``):

        * ``"s_proxy"`` is Stim's model of the Clifford circuit ``s_proxy()``, with S in place of T, and
          without coherent noise. Stim refuses if a detector or an observable of that circuit is random.
        * ``"noise_only"`` has the direct flips by noise, but not how noise changes the distribution of the
          quantum outcomes. It exists for every circuit. Decoders are right less often with it.

        In place of relaxation, Kraus operators and readout noise there are the errors of
        ``pauli_twirl(state_aware=True)``. Leakage and loss are events: what a qubit flips from where
        it leaves until it returns is one of several errors of the model, each of which has its heralds.

        Args:
            decompose_errors: Whether to decompose errors that flip more than two detectors. Heralds of
                leakage and loss are parts of their own.
            flatten_loops: Whether to unroll loops. ``"noise_only"`` has none.
            allow_gauge_detectors: Whether detectors may be random without noise. In ``"noise_only"`` they
                always may. Fair random outcomes are errors with probability 1/2, as in Stim.
            approximate_disjoint_errors: Whether, or up to which probability, mutually exclusive errors may be
                replaced by independent ones. ``"noise_only"`` needs this only if no independent errors have
                the same distribution.
            ignore_decomposition_failures: Whether to leave errors as they are if they cannot be decomposed.
            block_decomposition_from_introducing_remnant_edges: Whether all parts of a decomposed error must
                occur as errors of their own.
            kind: ``"s_proxy"``, ``"noise_only"``, or a model of the circuit to condition and to decompose.
            postselection_mask: The detectors that discard a shot, as in ``compile_detector_sampler``. Errors
                that flip one of them are left out. By default there is no such condition.

        Returns:
            The model, with the detectors and observables of the circuit.

        Warns:
            InexactErrorModelWarning: A detector depends on quantum outcomes and is not postselected; a single
                error flips an observable with a probability that is neither 0 nor 1; or an observable has
                Pauli targets after T gates, so that only the flips of its Pauli frame are known.

        Raises:
            ValueError: Stim refuses the S-proxy, because a detector or an observable of it is random;
                exclusive errors must be approximated; an error cannot be decomposed; or an argument is wrong.
            NotImplementedError: An instruction is not supported (``"noise_only"``).

        Examples:
            >>> import numpy as np
            >>> import stim_nonclifford as snc
            >>> circuit = snc.Circuit('''
            ...     X_ERROR(0.125) 0
            ...     DEPOLARIZE1(0.25) 1
            ...     MPP Z0*Z1
            ...     M 1
            ...     DETECTOR(1, 2) rec[-2]
            ...     DETECTOR rec[-1]
            ...     OBSERVABLE_INCLUDE(0) rec[-1]
            ... ''')
            >>> circuit.detector_error_model()
            stim.DetectorErrorModel('''
                error(0.125) D0
                error(0.166667) D0 D1 L0
                detector(1, 2) D0
            ''')
            >>> circuit.detector_error_model(postselection_mask=np.array([False, True]))
            stim.DetectorErrorModel('''
                error(0.125) D0
                detector(1, 2) D0
                detector D1
                logical_observable L0
            ''')
        """
        flags = {
            "decompose_errors": decompose_errors,
            "flatten_loops": flatten_loops,
            "allow_gauge_detectors": allow_gauge_detectors,
            "ignore_decomposition_failures": ignore_decomposition_failures,
            "block_decomposition_from_introducing_remnant_edges": (
                block_decomposition_from_introducing_remnant_edges
            ),
        }
        return error_model_of(
            self._stim, self.compile, kind, flags, approximate_disjoint_errors, postselection_mask
        )

    def quantum_detectors(self) -> npt.NDArray[np.bool_]:
        r"""The detectors that depend on random outcomes: of quantum measurements, or of coins.

        No detector error model describes exactly those that depend on quantum measurements. The gates decide
        which detectors depend on outcomes, not the noise: a detector counts even if its outcomes are certain
        without noise.

        Returns:
            bool, shape (num_detectors,).

        Raises:
            NotImplementedError: An instruction is not supported.
            ResourceLimitError: The circuit is too large to be compiled.

        Examples:
            >>> import stim_nonclifford as snc
            >>> circuit = snc.Circuit("RX 0\nT 0\nM 1\nDETECTOR rec[-1]\nMX 0\nDETECTOR rec[-1]")
            >>> circuit.quantum_detectors()
            array([False,  True])
            >>> snc.Circuit("RX 0\nM 0\nDETECTOR rec[-1]").quantum_detectors()  # a coin
            array([ True])
        """
        return random_outputs_of(self._stim, self.compile)[: self._stim.num_detectors]

    def quantum_observables(self) -> npt.NDArray[np.bool_]:
        r"""The observables that depend on random outcomes: of quantum measurements, or of coins.

        What counts is said at ``quantum_detectors``. An observable with Pauli targets counts if a measurement
        of these Paulis would.

        Returns:
            bool, shape (num_observables,).

        Raises:
            NotImplementedError: An instruction is not supported.
            ResourceLimitError: The circuit is too large to be compiled.

        Examples:
            >>> import stim_nonclifford as snc
            >>> circuit = snc.Circuit("RX 0\nT 0\nM 1\nOBSERVABLE_INCLUDE(0) rec[-1]")
            >>> circuit += snc.Circuit("OBSERVABLE_INCLUDE(1) X0")
            >>> circuit.quantum_observables()
            array([False,  True])
        """
        return random_outputs_of(self._stim, self.compile)[self._stim.num_detectors :]

    def explain_detector_error_model_errors(self, **arguments: Any) -> list[stim.ExplainedError]:
        """The locations of errors in the S-proxy, as in Stim."""
        return self._search_s_proxy("explain_detector_error_model_errors", **arguments)

    def shortest_graphlike_error(self, **arguments: Any) -> list[stim.ExplainedError]:
        """A shortest undetected logical error among the S-proxy's graphlike errors, as in Stim."""
        return self._search_s_proxy("shortest_graphlike_error", **arguments)

    def search_for_undetectable_logical_errors(self, **arguments: Any) -> list[stim.ExplainedError]:
        """An undetected logical error of the S-proxy, found by Stim's heuristic search."""
        return self._search_s_proxy("search_for_undetectable_logical_errors", **arguments)

    def shortest_error_sat_problem(self, *, format: str = "WDIMACS") -> str:
        """The fault distance of the S-proxy as a maxSAT problem, as in Stim.

        The solution is the distance of the circuit itself only where it has the detectors, observables and
        faults of its S-proxy; ``fault_distance`` counts faults of the circuit with its T gates.

        Args:
            format: The format of the problem; Stim knows WDIMACS.
        """
        format = choice(format, "format", ("WDIMACS",))
        problem: str = self._search_s_proxy("shortest_error_sat_problem", format=format)
        return problem

    def likeliest_error_sat_problem(self, *, quantization: int = 100, format: str = "WDIMACS") -> str:
        """The likeliest undetected logical error of the S-proxy as a maxSAT problem, as in Stim.

        Args:
            quantization: The weight of the least likely error, in which all weights are rounded.
            format: The format of the problem; Stim knows WDIMACS.
        """
        quantization = integer(quantization, "quantization", 1, _MOST_QUANTIZATION)
        format = choice(format, "format", ("WDIMACS",))
        problem: str = self._search_s_proxy(
            "likeliest_error_sat_problem", quantization=quantization, format=format
        )
        return problem

    def _search_s_proxy(self, search: str, **arguments: Any) -> Any:
        return searched_s_proxy(self._stim, operator.methodcaller(search, **arguments))

    def detecting_regions(self, **arguments: Any) -> dict[stim.DemTarget, dict[int, stim.PauliString]]:
        """The sensitive regions of the S-proxy's detectors, as ``stim.Circuit.detecting_regions``."""
        check_flattened(self._stim)
        return self.s_proxy().detecting_regions(**arguments)

    def count_determined_measurements(self, *, unknown_input: bool = False) -> int:
        """The number of measurements of the S-proxy whose outcome is determined."""
        unknown_input = flag(unknown_input, "unknown_input")
        return without_gaps(self.s_proxy()).count_determined_measurements(unknown_input=unknown_input)

    def missing_detectors(self, *, unknown_input: bool = False) -> stim.Circuit:
        """Detectors that could be added to the S-proxy, as ``stim.Circuit.missing_detectors``."""
        unknown_input = flag(unknown_input, "unknown_input")
        return without_gaps(self.s_proxy()).missing_detectors(unknown_input=unknown_input)

    # What only Clifford circuits have.

    def to_tableau(
        self, *, ignore_noise: bool = False, ignore_measurement: bool = False, ignore_reset: bool = False
    ) -> stim.Tableau:
        r"""The tableau of a Clifford circuit, as ``stim.Circuit.to_tableau``.

        Args:
            ignore_noise: Whether to leave out noise, which is refused otherwise.
            ignore_measurement: Whether to leave out measurements.
            ignore_reset: Whether to leave out resets.

        Raises:
            ValueError: The circuit is no Clifford circuit, or Stim refuses it.

        Examples:
            >>> Circuit("H 0\nS 0").to_tableau().x_output(0)
            stim.PauliString("+Z")
        """
        return clifford_of(self._stim, "to_tableau").to_tableau(
            ignore_noise=flag(ignore_noise, "ignore_noise"),
            ignore_measurement=flag(ignore_measurement, "ignore_measurement"),
            ignore_reset=flag(ignore_reset, "ignore_reset"),
        )

    def has_flow(self, flow: stim.Flow, *, unsigned: bool = False) -> bool:
        """Whether a Clifford circuit has a stabilizer flow, as ``stim.Circuit.has_flow``.

        Args:
            flow: The flow, for example ``stim.Flow("X -> X xor rec[-1]")``.
            unsigned: Whether its sign does not matter.

        Raises:
            ValueError: The circuit is no Clifford circuit.

        Examples:
            >>> Circuit("H 0").has_flow(stim.Flow("X -> Z"))
            True
        """
        return clifford_of(self._stim, "has_flow").has_flow(flow, unsigned=flag(unsigned, "unsigned"))

    def has_all_flows(self, flows: Iterable[stim.Flow], *, unsigned: bool = False) -> bool:
        """Whether a Clifford circuit has each of some stabilizer flows, as ``stim.Circuit.has_all_flows``.

        Args:
            flows: The flows.
            unsigned: Whether their signs do not matter.

        Raises:
            ValueError: The circuit is no Clifford circuit.

        Examples:
            >>> Circuit("H 0").has_all_flows([stim.Flow("X -> Z"), stim.Flow("Z -> X")])
            True
        """
        circuit = clifford_of(self._stim, "has_all_flows")
        return circuit.has_all_flows(list(flows), unsigned=flag(unsigned, "unsigned"))

    def flow_generators(self) -> list[stim.Flow]:
        """Flows of which all stabilizer flows of a Clifford circuit are products, as in Stim.

        Raises:
            ValueError: The circuit is no Clifford circuit.

        Examples:
            >>> Circuit("H 0").flow_generators()
            [stim.Flow("X -> Z"), stim.Flow("Z -> X")]
        """
        return clifford_of(self._stim, "flow_generators").flow_generators()

    def solve_flow_measurements(self, flows: list[stim.Flow]) -> list[list[int] | None]:
        """Measurements with which a Clifford circuit has each of some flows, or None, as in Stim.

        Args:
            flows: Flows without measurements, such as ``stim.Flow("Z -> 1")``.

        Raises:
            ValueError: The circuit is no Clifford circuit.

        Examples:
            >>> Circuit("M 0").solve_flow_measurements([stim.Flow("Z -> 1"), stim.Flow("X -> X")])
            [[0], None]
        """
        return clifford_of(self._stim, "solve_flow_measurements").solve_flow_measurements(flows)

    def time_reversed_for_flows(
        self: Self, flows: Iterable[stim.Flow], *, dont_turn_measurements_into_resets: bool = False
    ) -> tuple[Self, list[stim.Flow]]:
        r"""A Clifford circuit in reverse and its flows, as ``stim.Circuit.time_reversed_for_flows``.

        Args:
            flows: Flows of the circuit, which the reverse keeps.
            dont_turn_measurements_into_resets: Whether measurements stay measurements.

        Raises:
            ValueError: The circuit is no Clifford circuit, or lacks one of the flows.

        Examples:
            >>> Circuit("R 0\nH 0").time_reversed_for_flows([stim.Flow("1 -> X")])[0]
            stim_nonclifford.Circuit('''
                H 0
                M 0
            ''')
        """
        circuit, reversed_flows = clifford_of(self._stim, "time_reversed_for_flows").time_reversed_for_flows(
            list(flows),
            dont_turn_measurements_into_resets=flag(
                dont_turn_measurements_into_resets, "dont_turn_measurements_into_resets"
            ),
        )
        return self._wrap(circuit), reversed_flows

    def with_inlined_feedback(self: Self) -> Self:
        r"""A Clifford circuit without Paulis that records control, as ``stim.Circuit.with_inlined_feedback``.

        Raises:
            ValueError: The circuit is no Clifford circuit.

        Examples:
            >>> Circuit("MX 0\nCZ rec[-1] 0\nMX 0\nDETECTOR rec[-1]").with_inlined_feedback()[-1]
            stim.CircuitInstruction('DETECTOR', [stim.target_rec(-2), stim.target_rec(-1)], [])
        """
        return self._wrap(clifford_of(self._stim, "with_inlined_feedback").with_inlined_feedback())

    def to_quirk_url(self) -> str:
        """A URL that opens a Clifford circuit in Quirk, as ``stim.Circuit.to_quirk_url``.

        Raises:
            ValueError: The circuit is no Clifford circuit, or Stim cannot write it.

        Examples:
            >>> Circuit("H 0").to_quirk_url()[:27]
            'https://algassert.com/quirk'
        """
        return clifford_of(self._stim, "to_quirk_url").to_quirk_url()

    # Pictures.

    def diagram(
        self,
        type: str = "timeline-text",
        *,
        tick: int | range | None = None,
        rows: int | None = None,
        filter_coords: Iterable[Any] | None = None,
        noise: bool = True,
        fold: bool | None = None,
    ) -> Diagram | Any:
        r"""A diagram, as ``stim.Circuit.diagram``, that shows T as T.

        Timelines and time slices (``timeline-text``, ``timeline-svg``, ``timeslice-svg``,
        ``detslice-with-ops-svg``) show every non-Clifford gate as what it is: with its controls, its angles
        (``0.1π`` is 0.1 half-turns) and the records that control it. ``interactive`` is Crumble with the
        circuit in it, with T as S with a tag. Detecting regions and other types are those of the S-proxy.

        Args:
            type: One of Stim's types of diagrams.
            tick: In slices, the number of a TICK or a range of such numbers; 0 is the beginning.
            rows: In slices, the number of rows of pictures.
            filter_coords: In detector slices, what is shown: ``"D5"``, ``"L0"``, a ``stim.DemTarget``, or the
                first coordinates of detectors. The default is all detectors.
            noise: Whether to draw the noise, as Stim does.
            fold: Whether a ``timeline-svg`` is wrapped into rows, with noise as small marks, detectors by
                their numbers, and loops unrolled. None: if it has no loop, and Stim's ribbon would be longer
                than two screens. ``fold=False`` draws the ribbon.

        Returns:
            A ``Diagram`` if it is a timeline as text or an SVG, else Stim's object. Both print as the
            diagram, and a notebook shows both as pictures.

        Raises:
            TypeError: An argument is of the wrong type.
            ValueError: Stim cannot draw it; or the type is a match graph, which is of noise, and ``noise`` is
                False.

        Examples:
            >>> import stim_nonclifford as snc
            >>> snc.Circuit("H 0\nT 0\nM 0").diagram()
            q0: -H-T-M:rec[0]-
            >>> snc.Circuit("H 0\nX_ERROR(0.1) 0\nM(0.1) 0").diagram(noise=False)
            q0: -H-M:rec[0]-
        """
        return diagram_of(
            self._stim, type, tick=tick, rows=rows, filter_coords=filter_coords, noise=noise, fold=fold
        )

    def page(
        self,
        file: TextIO | str | pathlib.Path,
        *,
        postselection_mask: Mask | None = None,
        postselected_observables_mask: Mask | None = None,
        state_check: LogicalStateCheck | LogicalState | None = None,
        title: str = "Circuit",
        most_sets: int = 100,
        relative_error: float = 0.05,
        max_seconds: float | None = 60.0,
        seed: int | None = None,
        threads: int = 1,
    ) -> None:
        r"""Writes a page to look at in a browser: one file, which needs no network.

        It shows the circuit tick by tick on its qubits' coordinates, what a shot costs, and, from fault sets,
        the logical error rate with its places, and the malignant sets. Where the circuit has no such rate (no
        observable, or detectors that are not postselected), the page says why, and shows the rest.

        Args:
            file: A path, or a file opened for writing text.
            postselection_mask: The detectors that discard a shot, as in ``logical_error_rate``.
            postselected_observables_mask: The observables that do.
            state_check: As in ``logical_error_rate``.
            title: The title of the page.
            most_sets: How many malignant sets to show at most, those that contribute most.
            relative_error: As in ``logical_error_rate``.
            max_seconds: As in ``logical_error_rate``.
            seed: None for fresh entropy, or an integer in range(2**64): then the page is the same each time,
                unless ``max_seconds`` ends the search early.
            threads: Number of threads.

        Raises:
            NotImplementedError: An instruction is not supported.
            ResourceLimitError: The loops of the circuit are too long to be drawn.
            TypeError: A mask has the wrong dtype.
            ValueError: A mask has the wrong shape, or an argument is out of range.

        Examples:
            >>> import io, stim_nonclifford as snc
            >>> circuit = snc.Circuit("RX 0\nT 0\nZ_ERROR(0.01) 0\nT_DAG 0\nMX 0")
            >>> circuit += snc.Circuit("OBSERVABLE_INCLUDE(0) rec[-1]")
            >>> page = io.StringIO()
            >>> circuit.page(page, title="One T gate", seed=1)
            >>> page.getvalue().splitlines()[0], "One T gate" in page.getvalue()
            ('<!doctype html>', True)
        """
        title, most_sets = text(title, "title"), integer(most_sets, "most_sets")
        # Wrong arguments are errors, but what the circuit does not have is said in the page.
        Settings(relative_error, max_seconds, seed=seed_of(seed), threads=threads)
        if not hasattr(file, "write"):
            path(file, "file", "a path or an open file")
        circuit = checked_circuit(self, state_check, postselected_observables_mask)
        count, observables = circuit.num_detectors, circuit.num_observables
        postselected_outputs(postselection_mask, postselected_observables_mask, count, observables)
        masks: dict[str, Any] = {
            "postselection_mask": postselection_mask,
            "postselected_observables_mask": postselected_observables_mask,
        }
        limits: dict[str, Any] = {"relative_error": relative_error, "max_seconds": max_seconds, "seed": seed}
        findings = findings_of(
            observables,
            lambda: circuit.logical_error_rate(**masks, **limits, threads=threads),
            lambda: circuit.malignant_sets(**masks, threads=threads),
            most_sets,
        )
        try:
            report = circuit.plan(**masks)
        except ResourceLimitError:
            report = None
        _write(page_of(circuit._stim, circuit._fault_table(), report, findings, title), file)

    def _repr_html_(self) -> str:
        """A picture for notebooks, or text if the picture would be too large."""
        return shown_in_notebook(self._stim)

    def __getattr__(self, name: str) -> Any:
        # Python calls this only for undefined names. Those of Stim get a message with the alternative.
        if not name.startswith("_") and hasattr(stim.Circuit, name):
            if name in _DEPRECATED:
                raise AttributeError(
                    f"stim_nonclifford.Circuit has no {name}, which Stim has deprecated. Call"
                    f" circuit.{_DEPRECATED[name]}."
                )
            raise AttributeError(
                f"stim_nonclifford.Circuit has no {name}, as Stim would compute it from a Clifford proxy. If"
                f" you want that, call circuit.s_proxy().{name} or circuit.i_proxy().{name}."
            )
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")


def _write(written: str, file: TextIO | str | pathlib.Path) -> None:
    """Writes to a path, or to a file opened for writing text."""
    if hasattr(file, "write") and not isinstance(file, os.PathLike):
        file.write(written)
    else:
        path(file, "file", "a path or an open file").write_text(written, encoding="utf-8")


def _checked_depth(circuit: stim.Circuit) -> stim.Circuit:
    if is_too_deep(circuit):
        raise ValueError(f"{TOO_DEEP} Combine repetitions: multiply less often, by larger numbers.")
    return circuit


def _checked_detectors(only: Any) -> list[int | stim.DemTarget] | None:
    """The argument ``only``, as a list."""
    if only is None:
        return None
    wanted = "a detector or an iterable of detectors, each an integer or a stim.DemTarget, or None"
    is_one = isinstance(only, (numbers.Integral, stim.DemTarget))
    return [
        each if isinstance(each, stim.DemTarget) else integer(each, "Each of only")
        for each in ([only] if is_one else iterable(only, "only", wanted))
    ]
