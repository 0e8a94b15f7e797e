"""Streams whose work is done late, in a random order among those that events allow."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Generator, Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

Clock = dict[int, int]
"""By the number of a stream, how many pieces of its work have been submitted before."""

Span = tuple[int, int, int]
"""An allocation, by its address, and the range of addresses in it that is used."""

Touched = tuple[list[Span], list[Span]]
"""What work has read, and what it has written."""

Work = Callable[[], Generator[None, None, Touched]]
"""Work in pieces. It returns what it has read and written besides what was announced."""

_REMEMBERED = 40


class Event:
    """An event that a stream records."""

    def __init__(self, stream: Stream, clock: Clock) -> None:
        self.stream, self.clock, self.done = stream, clock, False


@dataclass
class _Item:
    """A piece of work; or, without ``work``, an event to wait for or to record."""

    name: str
    work: Work | None = None
    touched: Touched = ([], [])
    clock: Clock = field(default_factory=dict)
    waits_for: Event | None = None
    records: Event | None = None
    running: Generator[None, None, Touched] | None = None


class Stream:
    """A CUDA stream that does not wait for the default stream."""

    def __init__(self, timeline: Timeline) -> None:
        self.timeline = timeline
        self.number = len(timeline.streams)
        self.pending: deque[_Item] = deque()
        self.clock: Clock = {}
        timeline.streams.append(self)

    def __enter__(self) -> Stream:
        self.timeline.current.append(self)
        return self

    def __exit__(self, *error: object) -> None:
        assert self.timeline.current.pop() is self

    def record(self) -> Event:
        return self.timeline.record(self)

    def wait_event(self, event: Event) -> None:
        self.timeline.wait(self, event)


class Timeline:
    """All streams of a device, and what orders their work.

    Two pieces of work that use the same memory, of which one writes, must be ordered by streams, events or waits of the
    host; what is not is reported. That is by vector clocks: it does not depend on the order in which the work is done.
    """

    def __init__(self, random: np.random.Generator, findings: Counter[str]) -> None:
        self._random, self._findings = random, findings
        self.streams: list[Stream] = []
        self.current = [Stream(self)]
        self._host: Clock = {}
        self._uses: dict[int, deque[tuple[str, int, int, int, int, bool]]] = {}
        self.interleaved = 0  # how often work ran while other work was in progress

    def submit(self, name: str, work: Work, reads: Iterable[Span] = (), writes: Iterable[Span] = ()) -> None:
        """Adds work to the current stream."""
        stream = self.current[-1]
        _merge(stream.clock, self._host)
        stream.clock[stream.number] = stream.clock.get(stream.number, 0) + 1
        stream.pending.append(_Item(name, work, (list(reads), list(writes)), dict(stream.clock)))
        for _ in range(int(self._random.integers(3))):
            self._step(self.streams[int(self._random.integers(len(self.streams)))])

    def wait(self, stream: Stream, event: Event) -> None:
        """Delays later work of a stream until an event has occurred."""
        _merge(stream.clock, event.clock)
        stream.pending.append(_Item("wait", waits_for=event))

    def record(self, stream: Stream) -> Event:
        """An event that occurs when all work of a stream up to now is done."""
        _merge(stream.clock, self._host)
        event = Event(stream, dict(stream.clock))
        stream.pending.append(_Item("record", records=event))
        return event

    def synchronize(self, stream: Stream) -> None:
        """The host waits for a stream. Other streams go on meanwhile."""
        while stream.pending:
            if self._random.integers(2):
                self._step(self.streams[int(self._random.integers(len(self.streams)))])
            self._step(stream, force=True)
        _merge(self._host, stream.clock)

    def synchronize_all(self) -> None:
        """The host waits for all streams."""
        for k in self._random.permutation(len(self.streams)):
            self.synchronize(self.streams[k])

    def _step(self, stream: Stream, *, force: bool = False) -> None:
        """Goes on with the next work of a stream: by one piece, if it may go on."""
        if not stream.pending:
            return
        item = stream.pending[0]
        if item.waits_for is not None and not item.waits_for.done:
            if force:
                self._step(item.waits_for.stream, force=True)
            return
        if item.records is not None:
            item.records.done = True
        if item.work is None:
            stream.pending.popleft()
            return
        if item.running is None:
            item.running = item.work()
        others = [other.pending[0].running for other in self.streams if other is not stream and other.pending]
        self.interleaved += any(running is not None for running in others)
        try:
            next(item.running)
        except StopIteration as end:
            stream.pending.popleft()
            reads, writes = end.value
            for span in (*item.touched[1], *writes):
                self._used(span, item, stream.number, True)
            for span in (*item.touched[0], *reads):
                self._used(span, item, stream.number, False)
        except BaseException:
            stream.pending.popleft()
            raise

    def _used(self, span: Span, item: _Item, number: int, writes: bool) -> None:
        """Notes a use of memory, and reports earlier uses of it that are not ordered before this one."""
        owner, begin, end = span
        earlier = self._uses.setdefault(owner, deque(maxlen=_REMEMBERED))
        for other, stream, when, other_begin, other_end, wrote in earlier:
            conflict = (writes or wrote) and other_begin < end and begin < other_end and stream != number
            if conflict and item.clock.get(stream, 0) < when:
                self._findings[f"STREAMS: {other} and {item.name} are not ordered"] += 1
        earlier.append((item.name, number, item.clock[number], begin, end, writes))


def _merge(clock: Clock, other: Clock) -> None:
    for number, count in other.items():
        clock[number] = max(clock.get(number, 0), count)


def at_once(work: Callable[[], Any]) -> Work:
    """Work in one piece."""

    def run() -> Generator[None, None, Touched]:
        work()
        yield from ()
        return [], []

    return run
