"""Loops: one iteration is stored, the others differ from it in the numbers of records and the like."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Generic, NamedTuple, TypeVar, overload

import stim

from .extent import Extent, check_targets, extent_of
from .steps import (
    Absence,
    Accept,
    BeginAttempts,
    Clifford,
    CorrelatedError,
    Decide,
    DetectorStep,
    EndBlock,
    ExpectationStep,
    Feedback,
    LeakageHerald,
    LeakageReturn,
    LeakageSpread,
    LeakedFlip,
    Leaking,
    LeakingFromOnes,
    Measure,
    Meeting,
    Misreading,
    Noise,
    ObservableStep,
    Relaxing,
    Reset,
    Rotate,
    Skip,
    Step,
    Turning,
)

_T = TypeVar("_T")


class Shift(NamedTuple):
    """What comes between a place in one iteration and the same place in a later one."""

    records: int = 0
    detectors: int = 0
    instructions: int = 0
    ticks: int = 0
    chains: int = 0  # of correlated errors

    def times(self, iterations: int) -> Shift:
        """The shift after this many iterations."""
        return Shift(
            iterations * self.records,
            iterations * self.detectors,
            iterations * self.instructions,
            iterations * self.ticks,
            iterations * self.chains,
        )

    def plus(self, other: Shift) -> Shift:
        """The sum of two shifts."""
        return Shift(
            self.records + other.records,
            self.detectors + other.detectors,
            self.instructions + other.instructions,
            self.ticks + other.ticks,
            self.chains + other.chains,
        )


_NONE = Shift()


@dataclass(frozen=True, slots=True)
class Loop:
    """A REPEAT block in a list that has the steps of one iteration."""

    first: int  # the place of the first step of the iteration
    end: int  # the place behind its last step
    repetitions: int  # how often the steps are repeated
    shift: Shift  # what is in one iteration

    def moved(self, places: int) -> Loop:
        """The loop, some places later."""
        return Loop(self.first + places, self.end + places, self.repetitions, self.shift)


class Unrolling:
    """Where the steps of an unrolled circuit are stored."""

    def __init__(self, num_stored: int, loops: Sequence[Loop]) -> None:
        self._whole = _Range(0, num_stored, list(loops))

    def __len__(self) -> int:
        return self._whole.size

    def place(self, step: int) -> tuple[int, Shift]:
        """The place at which a step is stored, and what is between that iteration and the step's."""
        return self._whole.place(step)

    def stored(self, step: int) -> int:
        """The place at which a step is stored."""
        return self._whole.stored(step)

    def places(self) -> Iterator[tuple[int, Shift]]:
        """The stored place and the shift of each step, in order."""
        return self._whole.places(Shift())


class _Range:
    """Stored steps without a gap, and the loops among them."""

    def __init__(self, first: int, end: int, loops: list[Loop]) -> None:
        self.starts: list[int] = []  # for each part, the number of unrolled steps before it
        self.parts: list[tuple[int, int, Loop | None, _Range | None]] = []
        self.size = 0
        outer: list[tuple[int, int]] = []  # the outermost loops, and where the loops in them begin
        last = len(loops) - 1
        while last >= 0:
            k = last
            while k and loops[k - 1].first >= loops[last].first:
                k -= 1
            outer.append((last, k))
            last = k - 1
        place = first
        for last, k in reversed(outer):
            loop = loops[last]
            self._add(place, loop.first, None, None)
            self._add(loop.first, loop.end, loop, _Range(loop.first, loop.end, loops[k:last]))
            place = loop.end
        self._add(place, end, None, None)

    def _add(self, first: int, end: int, loop: Loop | None, inner: _Range | None) -> None:
        if first == end:
            return
        self.starts.append(self.size)
        self.parts.append((first, end, loop, inner))
        self.size += end - first if loop is None or inner is None else loop.repetitions * inner.size

    def stored(self, step: int) -> int:
        part = bisect_right(self.starts, step) - 1
        first, _, _, inner = self.parts[part]
        offset = step - self.starts[part]
        return first + offset if inner is None else inner.stored(offset % inner.size)

    def place(self, step: int) -> tuple[int, Shift]:
        within, shift = self, _NONE
        while True:
            part = bisect_right(within.starts, step) - 1
            first, _, loop, inner = within.parts[part]
            offset = step - within.starts[part]
            if loop is None or inner is None:
                return first + offset, shift
            iteration, step = divmod(offset, inner.size)
            if iteration:
                shift = shift.plus(loop.shift.times(iteration))
            within = inner

    def places(self, shift: Shift) -> Iterator[tuple[int, Shift]]:
        for first, end, loop, inner in self.parts:
            if loop is None or inner is None:
                for stored in range(first, end):
                    yield stored, shift
            else:
                for iteration in range(loop.repetitions):
                    yield from inner.places(shift.plus(loop.shift.times(iteration)))


class Unrolled(Sequence[_T], Generic[_T]):
    """A list with an entry for each step of an unrolled circuit, kept for each stored step alone."""

    def __init__(
        self, unrolling: Unrolling, stored: Sequence[_T], in_iteration: Callable[[_T, Shift], _T]
    ) -> None:
        self._unrolling = unrolling
        self._stored = stored
        self._in_iteration = in_iteration

    def __len__(self) -> int:
        return len(self._unrolling)

    @overload
    def __getitem__(self, index: int) -> _T: ...
    @overload
    def __getitem__(self, index: slice) -> list[_T]: ...
    def __getitem__(self, index: int | slice) -> _T | list[_T]:
        if isinstance(index, slice):
            return [self[k] for k in range(*index.indices(len(self)))]
        size = len(self._unrolling)
        if not -size <= index < size:
            raise IndexError(f"there are {size} steps")
        stored, shift = self._unrolling.place(index % size)
        return self._in_iteration(self._stored[stored], shift)

    def __iter__(self) -> Iterator[_T]:
        for stored, shift in self._unrolling.places():
            yield self._in_iteration(self._stored[stored], shift)


def shifted(step: Step, shift: Shift) -> Step:
    """A step as it is in a later iteration."""
    records, detectors, *_ = shift
    match step:
        case Clifford() | Rotate() | Reset() | ExpectationStep():
            return step
        case CorrelatedError(chain, probability, factors):
            return CorrelatedError(chain + shift.chains, probability, factors)
        case Relaxing() | Turning() | LeakingFromOnes() | Absence():
            return step
        case Leaking() | LeakageReturn() | LeakageSpread() | LeakedFlip() | Meeting():
            return step
        case EndBlock():
            return step
        case Skip(sources, inverted):
            return Skip(tuple(record + records for record in sources), inverted)
        case BeginAttempts(before, detectors_before):
            return BeginAttempts(before + records, detectors_before + detectors)
        case Accept(before, detectors_before):
            return Accept(before + records, detectors_before + detectors)
        case Misreading(record, inverted, p01, p10, chain):
            return Misreading(record + records, inverted, p01, p10, chain)
        case LeakageHerald(qubit, record, probability, of_loss):
            return LeakageHerald(qubit, record + records, probability, of_loss)
        case Noise(channel, groups, herald):
            return step if herald is None else Noise(channel, groups, herald + records)
        case Measure(factors, record, inverted, probability, resets):
            return Measure(factors, record + records, inverted, probability, resets)
        case Decide(record):
            return Decide(record + records)
        case Feedback(record, qubit, pauli):
            return Feedback(record + records, qubit, pauli)
        case DetectorStep(index, sources):
            return DetectorStep(index + detectors, tuple(record + records for record in sources))
        case ObservableStep(index, sources, factors):
            return ObservableStep(index, tuple(record + records for record in sources), factors)


def unrolled(circuit: stim.Circuit) -> Iterator[stim.CircuitInstruction]:
    """The instructions of a circuit with loops unrolled, one by one as ``Program.numbers`` counts them.

    Unlike in ``stim.Circuit.flattened``, neighbours are not fused and coordinates stay as they are.
    """
    extent = extent_of(circuit)
    check_targets(extent)
    yield from _unrolled(extent)


def _unrolled(extent: Extent) -> Iterator[stim.CircuitInstruction]:
    for _ in range(extent.repetitions):
        for part in extent.parts:
            if isinstance(part, Extent):
                yield from _unrolled(part)
            else:
                yield part
