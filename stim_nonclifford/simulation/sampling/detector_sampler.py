"""The sampler of detectors and observables: Stim's methods, and counting with postselection."""

from __future__ import annotations

import pathlib
from collections import Counter
from collections.abc import Callable
from functools import cached_property
from typing import Any, BinaryIO, Literal, overload

import numpy as np
import numpy.typing as npt

from ...base.arguments import (
    check_out,
    choice,
    flag,
    integer,
    integer_or_none,
    number_of_shots,
    path_or_file,
    seed_of,
)
from ...base.masks import Mask, postselected_outputs
from ...base.memory import check_result_bytes
from ...dialect import circuit_repr
from ..compiler import DEFAULT_MAX_ACTIVE_COORDINATES, RequestedOutputs
from ..compiler.algebra.gf2 import ones
from ..compiler.plans.width_limit import within_memory
from ..compiler.program.extent import check_faults
from ..engines import (
    EngineOptions,
    PackedBits,
    SamplingEngine,
    TrajectoryEngine,
    engine_factory,
    follows_shots,
    reference_detectors,
)
from ..engines.reference import acting_mechanisms, sample_shots
from ..faults import CircuitFault, FaultTable, NamedMechanisms
from ..logical_errors.refusals import warn_of_frames, warn_of_random_outputs
from ..plan import SamplingPlan
from .detector_expectations import DetectorExpectations
from .kept_batches import IF_TOO_MANY, KeptShots
from .requests import DecidingEngines, DetectorMethod, requested_by
from .results import FailureSamples, KeptFailure, SampleCounts
from .rows import OUTPUT_NAMES, OutputName, arranged, columns, namespace_of, pack, rows_from, unpack
from .shot_files import SHOT_FORMATS, DetectionFiles, ShotFormat, chunk_sizes
from .shot_numbers import NumberedShots, PickledByRecipe, ShotNumbers

_ENGINES = (
    "_sampling_engine",
    "_keeping_engine",
    "_counting_engine",
    "_expectation_engine",
    "_keeping_expectation_engine",
)


class CompiledDetectorSampler(NumberedShots, PickledByRecipe, KeptShots, DetectorExpectations):
    """Samples detection events and observable flips. ``Circuit.compile_detector_sampler`` returns it.

    The class has the methods of ``stim.CompiledDetectorSampler``, which return every shot. Four further
    methods apply the postselection masks: ``sample_counts``, ``sample_kept``, ``iter_kept`` and
    ``sample_failures``.

    Shots are numbered from 0 over the life of the sampler. The results of a shot depend on the circuit, the
    masks, the method, the seed and the number of the shot alone. They do not depend on the machine, the
    number of threads, the size of the cache, or the number of shots per call.

    A call that ends with an exception, such as a KeyboardInterrupt, uses up no shots: the next call returns
    the shots that it would have returned. Threads may share a sampler: their calls follow one another. A
    pickled copy goes on with the same shots.
    """

    def __init__(
        self,
        faults: FaultTable,
        options: EngineOptions,
        *,
        seed: int | None = None,
        postselection_mask: Mask | None = None,
        postselected_observables_mask: Mask | None = None,
        skip_reference_sample: bool = False,
        max_active_coordinates: int = DEFAULT_MAX_ACTIVE_COORDINATES,
        recipe: Callable[..., CompiledDetectorSampler] | None = None,
        decides: DecidingEngines | None = None,
    ) -> None:
        self._recipe = recipe
        self._decides = decides
        self._faults = faults
        self._compiled = compiled = faults.compiled
        max_active_coordinates = integer(max_active_coordinates, "max_active_coordinates")
        self._max_active_coordinates = max_active_coordinates = within_memory(max_active_coordinates)
        self._seed = seed_of(seed)
        self._num_detectors = compiled.program.num_detectors
        self._num_observables = compiled.program.num_observables
        self._skip_reference_sample = flag(skip_reference_sample, "skip_reference_sample")
        self._make_engine = engine_factory(options)
        self._postselected = postselected_outputs(
            postselection_mask, postselected_observables_mask, self._num_detectors, self._num_observables
        )
        counted = self._requested_by("sample_counts")
        self._trajectory_threads = 0
        wanted = self._requested_by("sample_kept")  # all outputs
        if decides is None and follows_shots(compiled, options, lambda each: each.detector_plan(wanted)):
            self._trajectory_threads = options.threads
        self._numbers = ShotNumbers()
        self._has_looked_at_observables = False
        if self._trajectory_threads:
            return
        # Counting needs the fewest outputs. If its plan is too wide, then so are those of all methods.
        compiled.check_width(counted, max_active_coordinates)
        # What all methods need is computed here; a method's first call adds the plan for its question.
        compiled.prepare_detectors(skip_reference_sample, max_active_coordinates)

    def __repr__(self) -> str:
        text = circuit_repr(self._compiled.circuit)
        return f"stim_nonclifford.simulation.sampling.CompiledDetectorSampler({text})"

    @property
    def num_detectors(self) -> int:
        """Number of detectors of the circuit."""
        return self._num_detectors

    @property
    def num_observables(self) -> int:
        """Number of observables of the circuit."""
        return self._num_observables

    @overload
    def sample(
        self,
        shots: int,
        *,
        prepend_observables: bool = False,
        append_observables: bool = False,
        separate_observables: Literal[False] = False,
        bit_packed: bool = False,
        transposed: bool = False,
        dets_out: npt.NDArray[Any] | None = None,
        obs_out: npt.NDArray[Any] | None = None,
        output: OutputName = "numpy",
    ) -> npt.NDArray[Any]: ...

    @overload
    def sample(
        self,
        shots: int,
        *,
        separate_observables: Literal[True],
        bit_packed: bool = False,
        transposed: bool = False,
        dets_out: npt.NDArray[Any] | None = None,
        obs_out: npt.NDArray[Any] | None = None,
        output: OutputName = "numpy",
    ) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]: ...

    def sample(
        self,
        shots: int,
        *,
        prepend_observables: bool = False,
        append_observables: bool = False,
        separate_observables: bool = False,
        bit_packed: bool = False,
        transposed: bool = False,
        dets_out: npt.NDArray[Any] | None = None,
        obs_out: npt.NDArray[Any] | None = None,
        output: OutputName = "numpy",
    ) -> npt.NDArray[Any] | tuple[npt.NDArray[Any], npt.NDArray[Any]]:
        r"""Samples detection events, with the arguments of ``stim.CompiledDetectorSampler.sample``.

        All shots are returned; the postselection mask is not applied.

        Args:
            shots: Number of shots to sample.
            prepend_observables: Whether to put the observables before the detectors. Deprecated from Stim
                1.17 on, where it still works: prefer ``separate_observables``.
            append_observables: Whether to put the observables after the detectors. Deprecated as the former.
            separate_observables: Whether to return (detection events, observable flips).
            bit_packed: Whether to return eight bits per byte, least significant bit first.
            transposed: Whether the first axis is that of detectors and the second that of shots, eight of
                which make a byte with ``bit_packed``, as in Stim from version 1.17 on.
            dets_out: An array to which the detection events are written, of the right shape and dtype.
            obs_out: An array to which the observable flips are written, of the right shape and dtype.
            output: ``"numpy"``, or ``"cupy"`` for arrays in the memory of the GPU.

        Returns:
            bool, shape (shots, num_detectors + num_observables * (prepended + appended)): column m of shot s
            is ``result[s, m]``. With ``bit_packed``, uint8, shape (shots, ceil(columns / 8)): column m of
            shot s is ``(result[s, m // 8] >> (m % 8)) & 1``. With ``separate_observables``, two such arrays,
            with num_detectors and with num_observables columns. With ``transposed``, these arrays transposed
            (before bits are packed).

        Raises:
            ResourceLimitError: The result is larger than the memory of the machine.
            ValueError: The arguments contradict each other, shots is negative, or output is ``"cupy"`` and
                the engine uses no GPU.

        Warns:
            RandomObservableWarning: Observables are asked for, and one of them has Pauli targets after T
                gates, so that only the flips of its Pauli frame are known.

        Examples:
            >>> import stim_nonclifford as snc
            >>> circuit = snc.Circuit("X_ERROR(1) 0\nM 0\nDETECTOR rec[-1]\nOBSERVABLE_INCLUDE(0) rec[-1]")
            >>> circuit.compile_detector_sampler().sample(1, separate_observables=True)
            (array([[ True]]), array([[ True]]))
        """
        shots, bit_packed = number_of_shots(shots), flag(bit_packed, "bit_packed")
        transposed = flag(transposed, "transposed")
        prepend_observables = flag(prepend_observables, "prepend_observables")
        append_observables = flag(append_observables, "append_observables")
        if flag(separate_observables, "separate_observables") and (prepend_observables or append_observables):
            raise ValueError(
                "Can't specify separate_observables=True with append_observables=True or"
                " prepend_observables=True"
            )
        num_bits = self._num_detectors + self._num_observables
        if choice(output, "output", OUTPUT_NAMES) == "numpy":
            check_result_bytes(shots, num_bits, bit_packed, IF_TOO_MANY)
            num_included = self._num_observables * (prepend_observables + append_observables)
            for out, name, num_columns in (
                (dets_out, "dets_out", self._num_detectors + num_included),
                (obs_out, "obs_out", self._num_observables),
            ):
                check_out(out, name, (num_columns, shots) if transposed else (shots, num_columns), bit_packed)
        elif dets_out is not None or obs_out is not None:
            raise ValueError(
                "dets_out and obs_out are for output='numpy', but output is 'cupy'. Leave them out."
            )
        with self._numbers.call():
            with_observables = prepend_observables or append_observables or separate_observables
            num_wanted = num_bits if with_observables or obs_out is not None else self._num_detectors
            if num_wanted > self._num_detectors:
                self._look_at_frames()
            rows = self._rows(shots, output, num_wanted)  # detectors, then observables
            if prepend_observables:
                bits = unpack(rows, num_bits)
                joined = [
                    bits[:, self._num_detectors :],
                    bits if append_observables else bits[:, : self._num_detectors],
                ]
                bits = namespace_of(bits).concatenate(joined, axis=1)
                dets_array = arranged(pack(bits), bits.shape[1], bit_packed, transposed)
            else:
                stop = num_bits if append_observables else self._num_detectors
                dets_rows = rows if stop == num_wanted else columns(rows, 0, stop)
                dets_array = arranged(dets_rows, stop, bit_packed, transposed)
            if dets_out is not None:
                dets_out[...] = dets_array
                dets_array = dets_out
            if not separate_observables and obs_out is None:
                return dets_array
            obs_rows = columns(rows, self._num_detectors, num_bits)
            obs_array = arranged(obs_rows, self._num_observables, bit_packed, transposed)
            if obs_out is not None:
                obs_out[...] = obs_array
                obs_array = obs_out
            return (dets_array, obs_array) if separate_observables else dets_array

    def sample_bit_packed(
        self, shots: int, *, prepend_observables: bool = False, append_observables: bool = False
    ) -> npt.NDArray[np.uint8]:
        """Deprecated in Stim too: use ``sample(shots, bit_packed=True)``."""
        return self.sample(
            shots,
            prepend_observables=prepend_observables,
            append_observables=append_observables,
            bit_packed=True,
        )

    def sample_write(
        self,
        shots: int,
        *,
        filepath: BinaryIO | str | pathlib.Path,
        format: ShotFormat = "01",
        obs_out_filepath: BinaryIO | str | pathlib.Path | None = None,
        obs_out_format: ShotFormat = "01",
        prepend_observables: bool = False,
        append_observables: bool = False,
    ) -> None:
        """Samples detection events and writes them to a file of any size, in chunks.

        All shots are written; the postselection mask is not applied.

        Args:
            shots: Number of shots to sample.
            filepath: The file for the detection events: a path, or a file opened for writing bytes.
            format: One of Stim's formats: 01, b8, r8, ptb64, hits, dets.
            obs_out_filepath: The same for the observable flips, or None.
            obs_out_format: The format of that file.
            prepend_observables: Whether to put the observables before the detectors.
            append_observables: Whether to put the observables after the detectors.

        Raises:
            ValueError: The format is unknown; the format is ptb64 and shots is not a multiple of 64; or the
                format is dets, and observables are prepended and appended.
        """
        shots, filepath = number_of_shots(shots), path_or_file(filepath, "filepath")
        format = choice(format, "format", SHOT_FORMATS)
        obs_out_filepath = (
            None if obs_out_filepath is None else path_or_file(obs_out_filepath, "obs_out_filepath")
        )
        obs_out_format = choice(obs_out_format, "obs_out_format", SHOT_FORMATS)
        prepend_observables = flag(prepend_observables, "prepend_observables")
        append_observables = flag(append_observables, "append_observables")
        with (
            self._numbers.call(),
            DetectionFiles(
                filepath,
                format,
                shots,
                num_detectors=self._num_detectors,
                num_observables=self._num_observables,
                observables=obs_out_filepath,
                observables_format=obs_out_format,
                prepend_observables=prepend_observables,
                append_observables=append_observables,
            ) as files,
        ):
            for size in chunk_sizes(shots, -(-(self._num_detectors + self._num_observables) // 8)):
                files.write(*self._split(self._rows(size)))

    def sample_counts(self, shots: int, *, max_errors: int | None = None) -> SampleCounts:
        r"""Counts discarded shots and logical errors. Memory does not grow with the number of shots.

        A shot is discarded if a postselected detector fires or a postselected observable flips. A kept shot
        in which any observable flips is an error.

        Args:
            shots: Number of shots to attempt.
            max_errors: Sampling stops at the end of the block of 1024 shots in which the number of errors
                reaches this value. The result has the number of attempted shots.

        Returns:
            The counts.

        Warns:
            RandomObservableWarning: An observable is random without noise, so that its flips are no errors;
                once for each sampler.

        Raises:
            ValueError: The circuit has no observables, or a number is out of range.

        Examples:
            >>> import stim_nonclifford as snc
            >>> circuit = snc.Circuit("X_ERROR(1) 0\nM 0\nDETECTOR\nOBSERVABLE_INCLUDE(0) rec[-1]")
            >>> circuit.compile_detector_sampler().sample_counts(10**6).errors
            1000000
        """
        self._look_at_observables()
        with self._numbers.call():
            return self._counts(shots, max_errors)[0]

    def _look_at_frames(self) -> None:
        """Warns once if the flips of an observable are those of its Pauli frame alone."""
        if not self._has_looked_at_observables and self._compiled.program.has_plan:
            self._has_looked_at_observables = warn_of_frames(self._compiled, stacklevel=3)

    def _look_at_observables(self) -> None:
        """Warns once if errors are counted of an observable that is random without noise."""
        if self._has_looked_at_observables or self._skip_reference_sample:  # without it, bits are no flips
            return
        self._has_looked_at_observables = True
        if not self._compiled.program.has_plan:
            return
        warn_of_random_outputs(
            self._compiled,
            self._postselected,
            max_active_coordinates=self._max_active_coordinates,
            stacklevel=3,
        )

    def _counts(
        self, shots: int, max_errors: int | None, *, list_errors: bool = False
    ) -> tuple[SampleCounts, list[int]]:
        """The counts, and the numbers of the shots with errors if they are asked for."""
        shots, max_errors = number_of_shots(shots), integer_or_none(max_errors, "max_errors", 1)
        if max_errors is not None:
            max_errors = min(max_errors, max(shots, 1))  # there cannot be more errors than shots
        if not self._num_observables:
            raise ValueError(
                "The circuit has no observables, so logical errors cannot be counted. Add an"
                " OBSERVABLE_INCLUDE, or use sample_kept, whose result counts discards."
            )
        first_shot = self._numbers.take(shots)
        tally = self._counting_engine.count(
            self._seed, first_shot, shots, max_errors or 0, list_errors=list_errors
        )
        self._numbers.give_back(shots - tally.shots)
        flips = np.zeros(self._num_observables, dtype=np.int64)
        for pattern, count in tally.patterns.items():
            flips[ones(pattern)] += count
        counts = SampleCounts(tally.shots, tally.discards, tally.errors, flips, tally.patterns)
        return counts, tally.error_shots

    def sample_failures(self, shots: int, *, max_errors: int | None = None) -> FailureSamples:
        r"""Samples shots, and returns the faults that caused the logical errors among the kept shots.

        The shots and their counts are the same as those of ``sample_counts``.

        Args:
            shots: Number of shots to attempt.
            max_errors: Sampling stops at the end of the block of 1024 shots in which the number of errors
                reaches this value.

        Returns:
            The counts, and for each error the faults that caused it, with their places in the circuit.

        Raises:
            ValueError: The circuit has no observables, or a number is out of range.

        Examples:
            >>> import stim_nonclifford as snc
            >>> circuit = snc.Circuit("X_ERROR(0.01) 0 1\nM 0\nOBSERVABLE_INCLUDE(0) rec[-1]")
            >>> [failure] = circuit.compile_detector_sampler(seed=1).sample_failures(100).failures
            >>> for fault in failure.faults:
            ...     print(fault)
            line 1, tick 0: X_ERROR 0: X0
        """
        if self._decides is not None:
            raise NotImplementedError(
                "sample_failures does not support circuits with DECODE: which faults make a shot fail depends"
                " on what the decoder answers without them. Take the shots with sample_kept, or count them"
                " with sample_counts."
            )
        if self._trajectory_threads:
            plans = " If the circuit has a plan, choose engine='cpu' for sample_failures."
            raise ValueError(
                "The trajectory engine does not know which faults a shot has. Count errors with"
                " sample_counts." + (plans if self._compiled.program.has_plan else "")
            )
        check_faults(self._compiled.circuit, self._num_detectors + self._num_observables)
        self._look_at_observables()
        with self._numbers.call():
            counts, numbers = self._counts(shots, max_errors, list_errors=True)
            if not numbers:
                return FailureSamples(counts, ())
            plan, named = self._named_mechanisms
            failures = []
            for number in numbers:
                [shot] = sample_shots(plan, self._seed, number, 1)
                flipped = tuple(int(k) for k in np.flatnonzero(shot.outputs))
                acting = acting_mechanisms(plan, shot.mechanisms)
                causes = tuple(filter(None, map(named.causes, acting)))
                failures.append(KeptFailure(number, flipped, causes, named.faults(acting)))
            return FailureSamples(counts, tuple(failures))

    def statistics(self) -> dict[str, Any]:
        r"""The names of the engines, and counts of the objects that they have stored and of their work.

        ``sample``, ``sample_kept`` and ``sample_counts`` need different plans, and have one engine each, as
        have expectation values. The result is the sum over these engines.

        Returns:
            See ``CompiledMeasurementSampler.statistics``.

        Examples:
            >>> import stim_nonclifford as snc
            >>> sampler = snc.Circuit("RX 0\nT 0\nMX 0\nDETECTOR rec[-1]").compile_detector_sampler(seed=1)
            >>> _ = sampler.sample(1000)
            >>> sampler.statistics()["simulations"]
            2
        """
        with self._numbers.call():
            # Only engines that have been used exist, and one may have two names.
            engines = {id(vars(self)[name]): vars(self)[name] for name in _ENGINES if name in vars(self)}
            total: Counter[str] = Counter()
            for engine in engines.values():
                total.update(engine.statistics())
            names = sorted({name for engine in engines.values() for name in engine.name.split(", ")})
            return {"engine": ", ".join(names), **total}

    @cached_property
    def _sampling_engine(self) -> SamplingEngine:
        """The engine for all outputs of all shots."""
        return self._engine_for("sample")

    @cached_property
    def _keeping_engine(self) -> SamplingEngine:
        """The engine for all outputs of kept shots."""
        if not self._postselected:
            return self._sampling_engine
        return self._engine_for("sample_kept")

    @cached_property
    def _counting_engine(self) -> SamplingEngine:
        """The engine for the observables of kept shots."""
        return self._engine_for("sample_counts")

    @cached_property
    def _named_mechanisms(self) -> tuple[SamplingPlan, NamedMechanisms[CircuitFault]]:
        """The plan for counting, and the faults behind its mechanisms."""
        plan = self._plan_for("sample_counts")
        return plan, self._faults.by_mechanism(plan)

    def _engine_for(self, method: DetectorMethod) -> SamplingEngine:
        """The engine that draws the shots of a method."""
        if self._decides is not None:
            return self._decides.detector_engine(self._requested_by(method), self._inverted)
        if not self._trajectory_threads:
            return self._make_engine(self._plan_for(method))
        return self._followed(method)

    def _followed(self, method: DetectorMethod, *, with_expectations: bool = False) -> TrajectoryEngine:
        requested, limit = self._requested_by(method), self._max_active_coordinates
        inverted = 0 if self._skip_reference_sample else reference_detectors(self._compiled, limit)
        return TrajectoryEngine(
            self._compiled.circuit,
            by_records=False,
            inverted=inverted,
            reported=requested.reported,
            postselected=requested.postselected,
            threads=self._trajectory_threads,
            max_active_coordinates=limit,
            with_expectations=with_expectations,
        )

    def _plan_for(self, method: DetectorMethod) -> SamplingPlan:
        return self._compiled.detector_plan(
            self._requested_by(method),
            skip_reference_sample=self._skip_reference_sample,
            max_active_coordinates=self._max_active_coordinates,
        )

    @property
    def _inverted(self) -> int:
        """The outputs that are inverted where a decoder decides, as a mask: its plans have flips."""
        if not self._skip_reference_sample:
            return 0
        return self._compiled.reference_detectors(self._max_active_coordinates)

    def _requested_by(self, method: DetectorMethod) -> RequestedOutputs:
        return requested_by(method, self._num_detectors, self._num_observables, self._postselected)

    def _rows(self, shots: int, output: OutputName = "numpy", num_wanted: int | None = None) -> PackedBits:
        """The detectors, then the observables of shots; with ``num_wanted``, only the first of these bits."""
        first_shot = self._numbers.take(shots)
        rows: PackedBits = rows_from(self._sampling_engine, output, self._seed, first_shot, shots, num_wanted)
        return rows

    def _split(self, rows: PackedBits) -> tuple[PackedBits, PackedBits]:
        end = self._num_detectors + self._num_observables
        return columns(rows, 0, self._num_detectors), columns(rows, self._num_detectors, end)
