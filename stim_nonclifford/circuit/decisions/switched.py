"""Samplers with a decoder in the loop for circuits whose blocks records switch."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import stim

from ...base.errors import ResourceLimitError
from ...base.written_circuits import circuit_of
from ...dialect import num_expectations, without_decisions
from ...simulation.compiler import CompiledCircuit, RequestedOutputs, compile_circuit
from ...simulation.decisions import Branch, BranchEngine, DrawnShots, Requested, branch_of, is_switched
from ...simulation.engines import (
    EngineOptions,
    PackedBits,
    SamplingEngine,
    likely_outputs,
    reference_detectors,
)
from ...simulation.sampling.expectation_values import FollowedExpectations, ShotsWithValues
from ...simulation.sampling.rows import columns
from .deciding_decoders import STORE_BYTES
from .sampling import DecisionSampling

MOST_BRANCHES = 64
"""Branches of a circuit. Doubled, a sampler may take twice the time and memory before it is refused."""

Bools = npt.NDArray[np.bool_]
Taken = tuple[bool, ...]


def choices_of(branch: Branch, rows: PackedBits, first_record: int, controls: Mapping[int, int]) -> Bools:
    """What the records of shots of a branch choose: shape (shots, choices).

    Args:
        branch: The branch.
        rows: Its outputs, bit-packed.
        first_record: The number of the first one that is a record.
        controls: The numbers of records among those.
    """
    found = np.ones((len(rows), len(branch.choices)), dtype=np.bool_)
    for k, choice in enumerate(branch.choices):
        for records, is_even in choice.terms:
            total = np.full(len(rows), is_even, dtype=np.bool_)
            for record in records:
                output = first_record + controls[record]
                total ^= (rows[:, output // 8] >> np.uint8(output % 8) & 1).astype(np.bool_)
            found[:, k] &= total
    return found


def check_decides_branches(circuit: stim.Circuit, decoder: Any) -> None:
    """Refuses an object with the methods ``begin`` and ``decide``, where records switch blocks."""
    if hasattr(decoder, "begin") and hasattr(decoder, "decide") and not isinstance(decoder, type):
        raise ValueError(
            f"Line {branch_of(circuit, ()).choices[0].line}: the decoder {type(decoder).__name__} decides"
            " by begin and decide, which know one list of decisions. Where records switch blocks, each"
            " choice of blocks has a list of its own. Give the name of a decoder, or a sinter.Decoder."
        )


class _SampledBranch:
    """A branch, and what draws its shots.

    Args:
        branch: The branch.
        sampling: Draws the shots of its circuit.
        requested: The outputs that are drawn: all that are known, and those that discard before any choice.
        num_outputs: How many of them the other branches have, too.
        with_values: Whether shots have expectation values.
    """

    def __init__(
        self,
        branch: Branch,
        sampling: DecisionSampling,
        requested: Requested,
        num_outputs: int,
        *,
        with_values: bool,
    ) -> None:
        self._branch, self._sampling = branch, sampling
        self.taken = [choice.taken for choice in branch.choices]
        self.lines = [choice.line for choice in branch.choices]
        self._executed = np.full(-(-num_outputs // 8), 255, dtype=np.uint8)
        for detector in branch.absent:
            self._executed[detector // 8] &= np.uint8(255 - (1 << detector % 8))
        self._num_outputs = num_outputs
        self._first_record = sampling.decided.circuit.num_detectors + sampling.decided.circuit.num_observables
        self._values = sampling.expectations(requested) if with_values else None
        self._engine = None if with_values else sampling.engine(requested)

    def draw(self, seed: int, first_shot: int, shots: int) -> DrawnShots:
        """See ``DrawnBranch.draw``."""
        if self._values is None:
            assert self._engine is not None
            rows, numbers = self._engine.sample_kept_numbered(seed, first_shot, shots)
            found = np.zeros((len(rows), 0))
        else:
            rows, numbers, found = self._values.sample_kept_numbered(seed, first_shot, shots)
        values = np.full((len(rows), len(self._branch.values) if self._values is not None else 0), np.nan)
        for k, number in enumerate(self._branch.values if values.shape[1] else ()):
            if number >= 0:
                values[:, k] = found[:, number]
        choices = choices_of(self._branch, rows, self._first_record, self._sampling.controls)
        outputs = columns(rows, 0, self._num_outputs) & self._executed
        return DrawnShots(outputs, numbers, choices, values)

    def statistics(self) -> dict[str, int]:
        """Counts of the work that was done."""
        drawing = self._values if self._engine is None else self._engine
        assert drawing is not None
        return drawing.statistics()


class SwitchedSampling:
    """A circuit with decisions whose blocks records switch, from which samplers get their engines.

    Args:
        circuit: The circuit.
        decoder: As for ``DecisionSampling``, but no object with the methods ``begin`` and ``decide``.
        options: As all that follow, as for ``DecisionSampling``.

    Raises:
        NotImplementedError: A decision is not supported.
        ValueError: There is no such decoder.
    """

    def __init__(
        self,
        circuit: stim.Circuit,
        decoder: Any,
        options: EngineOptions,
        *,
        max_active_coordinates: int,
        all_records: bool = False,
    ) -> None:
        check_decides_branches(circuit, decoder)
        self._circuit, self._decoder, self._options = circuit, decoder, options
        self._limit, self._all_records = max_active_coordinates, all_records
        self._samplings: dict[Taken, tuple[Branch, DecisionSampling]] = {}
        self._early = 0  # the detectors before any block
        for part in map(circuit_of, circuit):
            if is_switched(part):
                break
            self._early += part.num_detectors
        self._sampling(())

    def _sampling(self, taken: Taken) -> tuple[Branch, DecisionSampling]:
        if taken not in self._samplings:
            branch = branch_of(self._circuit, taken)
            if len(self._samplings) == MOST_BRANCHES:
                raise ResourceLimitError(
                    f"Line {branch.choices[len(taken) - 1].line}: shots choose among more than"
                    f" {MOST_BRANCHES} circuits, each with decoders of its own. Switch fewer blocks, or let"
                    " records switch gates (CX rec[-1] 0), which need no further circuit."
                )
            sampling = DecisionSampling(
                branch.circuit,
                self._decoder,
                self._options,
                max_active_coordinates=self._limit,
                all_records=self._all_records,
                lines=branch.lines,
                records=branch.records,
                store_bytes=STORE_BYTES // 8,
            )
            self._samplings[taken] = branch, sampling
        return self._samplings[taken]

    @cached_property
    def _compiled(self) -> CompiledCircuit:
        return compile_circuit(without_decisions(self._circuit), likely_outputs)

    @cached_property
    def _reference(self) -> int:
        """The detectors and observables of the reference sample, as a mask."""
        return reference_detectors(self._compiled, self._limit)

    def _engine(
        self,
        reported: tuple[int, int],
        postselected: Sequence[int],
        flipped: int,
        flipped_records: int,
        *,
        with_values: bool,
    ) -> BranchEngine:
        """The engine for some neighbouring outputs.

        Args:
            reported: The first of them, and their end.
            postselected: The outputs that must be 0.
            flipped: The detectors and observables that are inverted, as a mask.
            flipped_records: The records that are reported inverted, as a mask.
            with_values: Whether shots have expectation values.
        """
        branches: dict[Taken, _SampledBranch] = {}
        start, stop = reported
        num_outputs = self._circuit.num_detectors + self._circuit.num_observables
        if self._all_records:
            num_outputs += self._circuit.num_measurements
        num_bytes = -(-(stop - start) // 8)
        inverted = np.frombuffer(flipped_records.to_bytes(num_bytes, "little"), dtype=np.uint8)
        early = [output for output in postselected if output < self._early]

        def branch_of_choices(taken: Taken) -> _SampledBranch:
            if taken not in branches:
                branch, sampling = self._sampling(taken)
                num_drawn = sampling.num_outputs - len(sampling.decided.bits)
                # Each circuit has its own reference sample.
                changed = self._reference ^ sampling.reference ^ flipped
                requested = Requested(0, num_drawn, early, changed)
                branches[taken] = _SampledBranch(
                    branch, sampling, requested, num_outputs, with_values=with_values
                )
            return branches[taken]

        def statistics() -> dict[str, int]:
            total: Counter[str] = Counter({"branches": len(branches)})
            for branch in branches.values():
                total.update(branch.statistics())
            return dict(total)

        return BranchEngine(
            branch_of_choices,
            postselected,
            lambda rows: columns(rows, start, stop) ^ inverted,
            self._sampling(())[1].engine_name,
            statistics,
        )

    def _of_detectors(self, requested: RequestedOutputs, flipped: int, *, with_values: bool) -> BranchEngine:
        reported = (requested.reported[0], requested.reported[-1] + 1) if requested.reported else (0, 0)
        return self._engine(reported, requested.postselected, flipped, 0, with_values=with_values)

    def _of_records(self, flipped: int, *, with_values: bool) -> BranchEngine:
        first = self._circuit.num_detectors + self._circuit.num_observables
        reported = first, first + self._circuit.num_measurements
        return self._engine(reported, (), 0, flipped, with_values=with_values)

    def detector_engine(self, requested: RequestedOutputs, flipped: int) -> SamplingEngine:
        """See ``DecidingEngines.detector_engine``."""
        return self._of_detectors(requested, flipped, with_values=False)

    def record_engine(self, flipped: int) -> SamplingEngine:
        """See ``DecidingEngines.record_engine``."""
        return self._of_records(flipped, with_values=False)

    def detector_expectations(self, requested: RequestedOutputs, flipped: int) -> ShotsWithValues:
        """See ``DecidingEngines.detector_expectations``."""
        engine = self._of_detectors(requested, flipped, with_values=True)
        return FollowedExpectations(engine, num_expectations(self._circuit))

    def record_expectations(self, flipped: int) -> ShotsWithValues:
        """See ``DecidingEngines.record_expectations``."""
        engine = self._of_records(flipped, with_values=True)
        return FollowedExpectations(engine, num_expectations(self._circuit))
