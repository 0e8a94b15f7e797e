"""Circuits: Stim circuits with non-Clifford gates."""

from __future__ import annotations

import dataclasses
import functools
import os
import pathlib
from typing import Any, Literal, TextIO, get_args

import numpy as np
import numpy.typing as npt
import stim

from ..base.arguments import array, choice, flag, path, text
from ..base.masks import Mask, bools_of_mask, postselected_outputs
from ..dialect import exact_text, num_expectations, parse, with_checked_tags
from ..simulation.compiler import DEFAULT_MAX_ACTIVE_COORDINATES, CompiledCircuit, compile_circuit
from ..simulation.engines import DEFAULT_CACHE_BYTES, EngineName, EngineOptions, likely_outputs
from ..simulation.faults import FaultTable
from ..simulation.sampling import CompiledDetectorSampler, CompiledMeasurementSampler
from .interchange import CircuitInterchange
from .interchange.packages import remedy_for
from .logical_states import LogicalState, LogicalStateCheck
from .methods.editing import CircuitEditing
from .methods.error_models import CircuitErrorModels
from .methods.fault_set_methods import CircuitFaultSets, checked_circuit
from .methods.given_faults import CircuitFaults
from .methods.logical_readout import CircuitLogicalReadout
from .methods.pictures import CircuitPictures
from .methods.proxies import CircuitProxies
from .methods.record_conversion import measurement_converter
from .methods.state_vectors import state_vector_of
from .plan_report import PlanMethod, PlanReport, plan_report

__all__ = ["Circuit"]


class Circuit(
    CircuitEditing,
    CircuitProxies,
    CircuitErrorModels,
    CircuitLogicalReadout,
    CircuitFaults,
    CircuitFaultSets,
    CircuitInterchange,
    CircuitPictures,
):
    r"""A quantum circuit in Stim's language, with non-Clifford gates.

    Non-Clifford gates are bare (``T 0``, ``R_Z(0.25) 0``; angles in half-turns) or tagged (``S[T] 0``,
    ``I[R_Z(theta=0.25*pi)] 0``); ``stim_nonclifford.dialect.gates`` lists them. All other instructions are
    those of Stim. ``str(circuit)`` rounds the arguments of Stim's instructions to six digits, as Stim does;
    ``to_file`` and pickles keep all digits.

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
        text = f"{exact_text(self._stim)}\n"
        if hasattr(file, "write") and not isinstance(file, os.PathLike):
            file.write(text)
        else:
            path(file, "file", "a path or an open file").write_text(text, encoding="utf-8")

    def to_stim(self) -> stim.Circuit:
        """The circuit with tagged gates. Stim itself treats a tagged gate as its Clifford carrier, T as S.

        Examples:
            >>> print(Circuit("T 0 1").to_stim())
            S[T] 0 1
        """
        return self._stim.copy()

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
    ) -> CompiledMeasurementSampler:
        r"""Returns an object that samples measurement records, as ``stim.Circuit.compile_sampler``.

        Args:
            skip_reference_sample: Whether to report flips against the noiseless reference sample instead
                of records.
            seed: None for fresh entropy, or an integer in range(2**64), which determines all results.
            reference_sample: Records to use in place of the noiseless reference sample.
            engine: ``"auto"``, ``"cpu"``, ``"gpu"`` or ``"reference"``; all give the same shots. See
                ``EngineOptions`` for this and the next three.
            threads: Number of threads on the CPU.
            cache_bytes: Limit in bytes for stored outcome laws.
            device: Number of the GPU.
            max_active_coordinates: Limit for the width of the coefficient vector (2^width numbers), if the
                circuit needs one (``plan().dense_width``); the memory of the machine is another one.

        Returns:
            The sampler.

        Raises:
            EngineUnavailableError: ``engine="gpu"`` and no GPU can be used; the message says why.
            NotImplementedError: An instruction is not supported.
            ResourceLimitError: The circuit needs more than ``max_active_coordinates``, or more memory than
                the machine has for the vectors of all threads.
            ValueError: An argument is out of range.

        Warns:
            SlowShotsWarning: A shot takes some seconds to simulate; the message says how many.

        Examples:
            >>> Circuit("X 0\nM 0").compile_sampler().sample(shots=1)
            array([[ True]])
        """
        options = EngineOptions(engine=engine, threads=threads, cache_bytes=cache_bytes, device=device)
        if reference_sample is not None:
            reference_sample = array(reference_sample, "reference_sample", "a NumPy array of records")
        recipe = functools.partial(
            self.copy().compile_sampler,
            skip_reference_sample=skip_reference_sample,
            reference_sample=reference_sample,
            max_active_coordinates=max_active_coordinates,
            **dataclasses.asdict(options),
        )
        return CompiledMeasurementSampler(
            self.compile(),
            options,
            recipe=recipe,
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
            engine: ``"auto"``, ``"cpu"``, ``"gpu"`` or ``"reference"``; all give the same shots. See
                ``EngineOptions`` for this and the next three.
            threads: Number of threads on the CPU.
            cache_bytes: Limit in bytes for stored outcome laws.
            device: Number of the GPU.
            max_active_coordinates: Limit for the width of the coefficient vector (2^width numbers), if the
                circuit needs one (``plan().dense_width``); the memory of the machine is another one.

        Returns:
            The sampler.

        Raises:
            EngineUnavailableError: ``engine="gpu"`` and no GPU can be used; the message says why.
            NotImplementedError: An instruction is not supported.
            ResourceLimitError: Every method of the sampler needs more than ``max_active_coordinates``, or
                more memory than the machine has. If only some methods do, they raise this error when they are
                called.
            TypeError: A mask has the wrong dtype.
            ValueError: A mask has the wrong shape, or an argument is out of range.

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
        recipe = functools.partial(
            self.copy().compile_detector_sampler,
            postselection_mask=postselection_mask,
            postselected_observables_mask=postselected_observables_mask,
            skip_reference_sample=skip_reference_sample,
            max_active_coordinates=max_active_coordinates,
            **dataclasses.asdict(options),
        )
        return CompiledDetectorSampler(
            self._fault_table(),
            options,
            recipe=recipe,
            max_active_coordinates=max_active_coordinates,
            seed=seed,
            postselection_mask=postselection_mask,
            postselected_observables_mask=postselected_observables_mask,
            skip_reference_sample=skip_reference_sample,
        )

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
            ResourceLimitError: More than 64 coordinates are active at a time.
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
        records = self.compile().reference_records()
        packed = np.frombuffer(records.to_bytes(-(-self.num_measurements // 8), "little"), np.uint8)
        if bit_packed:
            return packed
        return np.unpackbits(packed, count=self.num_measurements, bitorder="little").view(np.bool_)

    def compile_m2d_converter(
        self, *, skip_reference_sample: bool = False
    ) -> stim.CompiledMeasurementsToDetectionEventsConverter:
        r"""Returns Stim's converter of records to detection events, as Stim's method of this name.

        A detection event is the parity of a detector's records, compared with that of the noiseless
        reference sample. The reference is ``reference_sample()`` of the circuit with its T gates, so that
        the converter makes the bits of ``compile_detector_sampler`` from the records of ``compile_sampler``.

        A circuit without non-Clifford gates gets the converter that Stim compiles for it. For all others,
        the converter is compiled from a circuit that has the same detectors and observables, and in the place
        of each measurement an MPAD of its reference value: nothing else of the circuit matters.

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
        return state_vector_of(self._stim, endian)
