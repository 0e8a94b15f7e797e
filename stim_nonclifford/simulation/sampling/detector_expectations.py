"""The expectation values of a sampler of detectors and observables."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ...dialect import num_expectations
from ..compiler import CompiledCircuit, ExpectationCircuit, RequestedOutputs
from ..engines import PackedBits, SamplingEngine, TrajectoryEngine
from ..plan import SamplingPlan
from .expectation_values import (
    ExpectationEngine,
    FollowedExpectations,
    ShotsWithValues,
    sampled_in_chunks,
)
from .requests import DecidingEngines, DetectorMethod
from .rows import unpack
from .shot_numbers import ShotNumbers


class DetectorExpectations:
    """The method ``sample_expectation_values`` of ``CompiledDetectorSampler``."""

    if TYPE_CHECKING:
        _compiled: CompiledCircuit
        _decides: DecidingEngines | None
        _make_engine: Callable[[SamplingPlan], SamplingEngine]
        _max_active_coordinates: int
        _num_detectors: int
        _num_observables: int
        _numbers: ShotNumbers
        _postselected: list[int]
        _seed: int
        _skip_reference_sample: bool
        _trajectory_threads: int

        @property
        def _inverted(self) -> int: ...
        def _requested_by(self, method: DetectorMethod) -> RequestedOutputs: ...
        def _followed(self, method: DetectorMethod, *, with_expectations: bool) -> TrajectoryEngine: ...
        def _split(self, rows: PackedBits) -> tuple[PackedBits, PackedBits]: ...

    @property
    def num_expectation_values(self) -> int:
        """Number of expectation values of the circuit."""
        return num_expectations(self._compiled.circuit)

    def sample_expectation_values(
        self, shots: int, *, bit_packed: bool = False
    ) -> tuple[npt.NDArray[Any], npt.NDArray[Any], npt.NDArray[np.float64]]:
        r"""Samples detection events and observable flips, with the expectation values of each shot.

        The value of an ``EXP_VAL`` is that of the state of the shot at its place, given the errors and the
        outcomes of the shot before it. No postselection is applied. The shots are not those of ``sample``.

        Returns:
            Detection events and observable flips as from ``sample(shots, separate_observables=True)``, and
            float64, shape (shots, num_expectation_values).

        Raises:
            ResourceLimitError: The result is larger than the memory of the machine.
            ValueError: shots is negative.

        Examples:
            >>> import stim_nonclifford as snc
            >>> circuit = snc.Circuit("RX 0\nT 0\nX_ERROR(1) 0\nEXP_VAL X0 Y0\nMX 0\nDETECTOR rec[-1]")
            >>> dets, obs, values = circuit.compile_detector_sampler(seed=1).sample_expectation_values(2)
            >>> values.round(3)
            array([[ 0.707, -0.707],
                   [ 0.707, -0.707]])
        """
        num_bits = self._num_detectors + self._num_observables
        with self._numbers.call():
            rows, values = sampled_in_chunks(
                self._expectation_engine, self._seed, self._numbers, shots, num_bits, bit_packed
            )
        dets, obs = self._split(rows)
        if bit_packed:
            return dets, obs, values
        return unpack(dets, self._num_detectors), unpack(obs, self._num_observables), values

    @cached_property
    def _expectation_engine(self) -> ShotsWithValues:
        """The engine for all outputs and the expectation values of all shots."""
        return self._expectations_of("sample")

    @cached_property
    def _keeping_expectation_engine(self) -> ShotsWithValues:
        """The engine for all outputs and the expectation values of kept shots."""
        return self._expectations_of("sample_kept") if self._postselected else self._expectation_engine

    @cached_property
    def _swept(self) -> ExpectationCircuit:
        return ExpectationCircuit(self._compiled)

    def _expectations_of(self, method: DetectorMethod) -> ShotsWithValues:
        if self._decides is not None:
            return self._decides.detector_expectations(self._requested_by(method), self._inverted)
        if self._trajectory_threads:
            engine = self._followed(method, with_expectations=True)
            return FollowedExpectations(engine, self.num_expectation_values)
        plan = self._swept.detector_plan(
            self._requested_by(method),
            skip_reference_sample=self._skip_reference_sample,
            max_active_coordinates=self._max_active_coordinates,
        )
        return ExpectationEngine(plan, self._make_engine)
