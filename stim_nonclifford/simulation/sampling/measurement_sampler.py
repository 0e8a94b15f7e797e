"""The sampler of records, with the methods of ``stim.CompiledMeasurementSampler``."""

from __future__ import annotations

import pathlib
from collections.abc import Callable
from functools import cached_property
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt

from ...base.arguments import choice, flag, integer, number_of_shots, path_or_file, seed_of
from ...base.memory import check_result_bytes
from ...dialect import circuit_repr, num_expectations
from ..compiler import DEFAULT_MAX_ACTIVE_COORDINATES, CompiledCircuit, ExpectationCircuit
from ..compiler.plans.width_limit import within_memory
from ..engines import (
    EngineOptions,
    PackedBits,
    SamplingEngine,
    TrajectoryEngine,
    engine_factory,
    follows_shots,
    reference_records,
)
from .expectation_values import (
    ExpectationEngine,
    FollowedExpectations,
    ShotsWithValues,
    sampled_in_chunks,
)
from .requests import DecidingEngines
from .rows import OUTPUT_NAMES, OutputName, rows_from, unpack
from .shot_files import SHOT_FORMATS, ShotFile, ShotFormat, chunk_sizes
from .shot_numbers import NumberedShots, PickledByRecipe, ShotNumbers

_IF_TOO_MANY = (
    "Write the shots to a file with sample_write, take them in several calls, or count logical errors with"
    " sample_counts of compile_detector_sampler."
)


class CompiledMeasurementSampler(NumberedShots, PickledByRecipe):
    """Samples the records of a circuit. ``Circuit.compile_sampler`` returns it.

    Shots are numbered from 0 over the life of the sampler. The records of a shot depend on the circuit, the
    seed and the number of the shot alone. They do not depend on the machine, the number of threads, or the
    number of shots per call.

    A call that ends with an exception, such as a KeyboardInterrupt, uses up no shots: the next call returns
    the shots that it would have returned. Threads may share a sampler: their calls follow one another. A
    pickled copy goes on with the same shots.
    """

    def __init__(
        self,
        compiled: CompiledCircuit,
        options: EngineOptions,
        *,
        seed: int | None = None,
        skip_reference_sample: bool = False,
        reference_sample: npt.NDArray[Any] | None = None,
        max_active_coordinates: int = DEFAULT_MAX_ACTIVE_COORDINATES,
        recipe: Callable[..., CompiledMeasurementSampler] | None = None,
        decides: DecidingEngines | None = None,
    ) -> None:
        max_active_coordinates = integer(max_active_coordinates, "max_active_coordinates")
        if flag(skip_reference_sample, "skip_reference_sample") and reference_sample is not None:
            raise ValueError("skip_reference_sample is True and reference_sample is not None")
        self._recipe = recipe
        self._seed = seed_of(seed)
        self._num_measurements = compiled.program.num_records
        make_engine = engine_factory(options)
        self._compiled = compiled
        max_active_coordinates = within_memory(max_active_coordinates)
        changed = 0
        if skip_reference_sample:
            changed = reference_records(compiled, max_active_coordinates)
        elif reference_sample is not None:
            given = _record_mask(reference_sample, self._num_measurements)
            changed = reference_records(compiled, max_active_coordinates) ^ given
        self._changed, self._max_active_coordinates = changed, max_active_coordinates
        self._make_engine = make_engine
        self._decides, self._threads = decides, options.threads
        self._engine: SamplingEngine
        if decides is not None:
            self._engine = decides.record_engine(changed)
        elif follows_shots(compiled, options, CompiledCircuit.record_plan):
            self._engine = self._followed()
        else:
            plan = compiled.record_plan(reference=changed, max_active_coordinates=max_active_coordinates)
            self._engine = make_engine(plan)
        self._numbers = ShotNumbers()

    def __repr__(self) -> str:
        text = circuit_repr(self._compiled.circuit)
        return f"stim_nonclifford.simulation.sampling.CompiledMeasurementSampler({text})"

    @property
    def num_measurements(self) -> int:
        """Number of records per shot."""
        return self._num_measurements

    @property
    def num_expectation_values(self) -> int:
        """Number of expectation values of the circuit."""
        return num_expectations(self._compiled.circuit)

    def sample(
        self, shots: int, *, bit_packed: bool = False, output: OutputName = "numpy"
    ) -> npt.NDArray[Any]:
        r"""Samples records.

        Args:
            shots: Number of shots to sample.
            bit_packed: Whether to return eight records per byte.
            output: ``"numpy"``, or ``"cupy"`` for an array in the memory of the GPU.

        Returns:
            bool, shape (shots, num_measurements): record m of shot s is ``result[s, m]``. With
            ``bit_packed``, uint8, shape (shots, ceil(num_measurements / 8)): record m of shot s is
            ``(result[s, m // 8] >> (m % 8)) & 1``.

        Raises:
            ResourceLimitError: The result is larger than the memory of the machine.
            ValueError: shots is negative, or output is ``"cupy"`` and the engine uses no GPU.

        Examples:
            >>> import stim_nonclifford as snc
            >>> snc.Circuit("X 0\nM 0 1").compile_sampler().sample(2)
            array([[ True, False],
                   [ True, False]])
        """
        shots, bit_packed = number_of_shots(shots), flag(bit_packed, "bit_packed")
        if choice(output, "output", OUTPUT_NAMES) == "numpy":
            check_result_bytes(shots, self._num_measurements, bit_packed, _IF_TOO_MANY)
        with self._numbers.call():
            rows = self._rows(shots, output)
            return rows if bit_packed else unpack(rows, self._num_measurements)

    def sample_bit_packed(self, shots: int) -> npt.NDArray[np.uint8]:
        """Deprecated in Stim too: use ``sample(shots, bit_packed=True)``."""
        return self.sample(shots, bit_packed=True)

    def sample_expectation_values(
        self, shots: int, *, bit_packed: bool = False
    ) -> tuple[npt.NDArray[Any], npt.NDArray[np.float64]]:
        r"""Samples records, with the expectation values of each shot.

        The value of an ``EXP_VAL`` is that of the state of the shot at its place, given the errors and the
        outcomes of the shot before it. The shots are not those of ``sample``.

        Args:
            shots: Number of shots to sample.
            bit_packed: Whether to return eight records per byte.

        Returns:
            The records as from ``sample``, and float64, shape (shots, num_expectation_values).

        Raises:
            ResourceLimitError: The result is larger than the memory of the machine, or the circuit with its
                expectation values needs more than ``max_active_coordinates``.
            ValueError: shots is negative.

        Examples:
            >>> import stim_nonclifford as snc
            >>> circuit = snc.Circuit("RX 0\nT 0\nEXP_VAL X0 Y0 Z0\nMX 0\nEXP_VAL X0")
            >>> records, values = circuit.compile_sampler(seed=1).sample_expectation_values(2)
            >>> records[:, 0], values.round(3)
            (array([False, False]), array([[0.707, 0.707, 0.   , 1.   ],
                   [0.707, 0.707, 0.   , 1.   ]]))
        """
        with self._numbers.call():
            rows, values = sampled_in_chunks(
                self._expectation_engine, self._seed, self._numbers, shots, self._num_measurements, bit_packed
            )
        return rows if bit_packed else unpack(rows, self._num_measurements), values

    def sample_write(
        self, shots: int, *, filepath: BinaryIO | str | pathlib.Path, format: ShotFormat = "01"
    ) -> None:
        """Samples records and writes them to a file of any size, in chunks.

        Args:
            shots: Number of shots to sample.
            filepath: The file: a path, or a file opened for writing bytes.
            format: One of Stim's formats: 01, b8, r8, ptb64, hits, dets.

        Raises:
            ValueError: The format is unknown; or the format is ptb64 and shots is not a multiple of 64.
        """
        shots, format = number_of_shots(shots), choice(format, "format", SHOT_FORMATS)
        filepath, count = path_or_file(filepath, "filepath"), self._num_measurements
        with self._numbers.call(), ShotFile(filepath, format, shots, num_measurements=count) as file:
            for size in chunk_sizes(shots, -(-self._num_measurements // 8)):
                file.write(self._rows(size))

    def statistics(self) -> dict[str, Any]:
        r"""The name of the engine, and counts of the objects that it has stored and of its work.

        Returns:
            The name of the ``engine``: "cpu", "gpu", "reference" or "trajectory", or several with commas.
            For the trajectory engine: the numbers of ``shots``; of ``structural_events``, which are
            relaxations and leakage; of ``pauli_events``; of ``steps`` of the circuit, and of
            ``skipped_steps``, which were as without noise; and the ``largest_width``, the active coordinates
            of the widest shot.
            For the CPU engine: the number of ``signatures`` with a stored outcome law; the number of
            ``nodes`` of these laws, including leaves; the number of ``checkpoints``, which are stored
            coefficient vectors; the ``bytes`` of memory allocated for all of them; the number of
            ``lookups`` of laws; the number of ``simulations``, for outcomes whose law was not known; the work
            in simulations of the coefficient vector: ``steps``, ``coefficients_read`` and
            ``coefficients_written`` (16 bytes each), and ``flops`` (real multiplications and additions); and
            the work in simulations without one: ``strings`` of Zs that the signature adds to measured Paulis,
            ``products`` of Paulis, and ``coins``, which are outcomes that are not certain.

        Examples:
            >>> import stim_nonclifford as snc
            >>> sampler = snc.Circuit("RX 0\nT 0\nMX 0").compile_sampler(seed=1)
            >>> _ = sampler.sample(1000)
            >>> sampler.statistics()["simulations"]  # one for each outcome
            2
            >>> sampler.statistics()["engine"]
            'cpu'
        """
        with self._numbers.call():
            return {"engine": self._engine.name, **self._engine.statistics()}

    @cached_property
    def _expectation_engine(self) -> ShotsWithValues:
        if self._decides is not None:
            return self._decides.record_expectations(self._changed)
        if isinstance(self._engine, TrajectoryEngine):
            return FollowedExpectations(self._followed(with_expectations=True), self.num_expectation_values)
        plan = ExpectationCircuit(self._compiled).record_plan(
            reference=self._changed, max_active_coordinates=self._max_active_coordinates
        )
        return ExpectationEngine(plan, self._make_engine)

    def _followed(self, *, with_expectations: bool = False) -> TrajectoryEngine:
        return TrajectoryEngine(
            self._compiled.circuit,
            by_records=True,
            inverted=self._changed,
            threads=self._threads,
            max_active_coordinates=self._max_active_coordinates,
            with_expectations=with_expectations,
        )

    def _rows(self, shots: int, output: OutputName = "numpy") -> PackedBits:
        rows: PackedBits = rows_from(self._engine, output, self._seed, self._numbers.take(shots), shots)
        return rows


def _record_mask(reference: npt.NDArray[Any], num_measurements: int) -> int:
    array = np.asarray(reference)
    num_bytes = -(-num_measurements // 8)
    if array.dtype == np.bool_ and array.shape == (num_measurements,):
        array = np.packbits(array, bitorder="little")
    elif array.dtype != np.uint8 or array.shape != (num_bytes,):
        raise ValueError(
            f"reference_sample must be bool of shape ({num_measurements},) or bit-packed uint8 of shape"
            f" ({num_bytes},); got {array.dtype} of shape {array.shape}."
        )
    return int.from_bytes(array.tobytes(), "little") & (1 << num_measurements) - 1
