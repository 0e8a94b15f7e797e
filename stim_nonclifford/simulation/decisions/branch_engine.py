"""Draws shots of circuits whose blocks records switch, each in the branch that its records choose.

What comes before a choice has the same distribution in all branches. So a shot is first drawn in the branch
of the usual choices. If its records choose otherwise at some place, it is drawn again, in the branch that
takes all choices up to there, until its records make them. Then it is a shot of the circuit up to the next
choice at which they differ. On average, a branch draws one shot for each shot of the circuit, however
rarely it is chosen.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from ...base.errors import ResourceLimitError
from ..engines import KeptRowsEngine, PackedBits
from ..plan import BLOCK_SHOTS

_CHUNK_SHOTS = 8 * BLOCK_SHOTS
"""Shots that are drawn together. Doubled, a call for few shots takes twice the time, and one for many calls
decoders half as often."""

_FURTHER_SHOTS = _CHUNK_SHOTS // 4
"""Shots that a branch draws at once where a chunk was not enough. Halved, fewer are drawn in vain, in more
calls."""

_MOST_TIMES = 1 << 14
"""How often a branch draws for a chunk. Doubled, choices may be half as likely: now about one in 10^7."""

Taken = tuple[bool, ...]
Bools = npt.NDArray[np.bool_]
Values = npt.NDArray[np.float64]


@dataclass(frozen=True)
class DrawnShots:
    """Shots of a branch that nothing before the first choice discards.

    Attributes:
        rows: All outputs of the circuit, bit-packed.
        numbers: The numbers of the shots.
        choices: bool, shape (shots, choices): what their records choose.
        values: Expectation values, shape (shots, values).
    """

    rows: PackedBits
    numbers: npt.NDArray[np.int64]
    choices: Bools
    values: Values


class DrawnBranch(Protocol):
    """A branch from which shots are drawn."""

    @property
    def taken(self) -> Sequence[bool]:
        """Its choices."""
        ...

    @property
    def lines(self) -> Sequence[int]:
        """The lines of the blocks."""
        ...

    def draw(self, seed: int, first_shot: int, shots: int) -> DrawnShots:
        """Draws shots."""
        ...


class BranchEngine(KeptRowsEngine):
    """Draws shots in the branches that their records choose.

    Args:
        branch: Returns the branch whose first choices are given.
        postselected: The outputs that discard a shot if they are 1.
        reported: Makes the rows that are returned from rows of all outputs.
        statistics: Returns counts of the work that was done.
    """

    def __init__(
        self,
        branch: Callable[[Taken], DrawnBranch],
        postselected: Sequence[int],
        reported: Callable[[PackedBits], PackedBits],
        name: str,
        statistics: Callable[[], dict[str, int]],
    ) -> None:
        self._branch, self._reported, self._name, self._statistics = branch, reported, name, statistics
        self._postselected = np.array(postselected, dtype=np.int64)
        self._last: tuple[tuple[int, int], tuple[PackedBits, npt.NDArray[np.int64], Values]] | None = None

    @property
    def name(self) -> str:
        """See ``SamplingEngine.name``."""
        return self._name

    def statistics(self) -> dict[str, int]:
        """Counts of the work that was done."""
        return self._statistics()

    def sample_kept_numbered(
        self, seed: int, first_shot: int, shots: int
    ) -> tuple[PackedBits, npt.NDArray[np.int64]]:
        """See ``SamplingEngine.sample_kept_numbered``."""
        return self.sample_kept_with_values(seed, first_shot, shots)[:2]

    def sample_kept_with_values(
        self, seed: int, first_shot: int, shots: int
    ) -> tuple[PackedBits, npt.NDArray[np.int64], Values]:
        """As ``sample_kept_numbered``, with the expectation values, which are NaN where there are none."""
        end = first_shot + shots
        found = []
        for chunk in range(first_shot // _CHUNK_SHOTS, max(end - 1, first_shot) // _CHUNK_SHOTS + 1):
            rows, numbers, values = self._chunk(seed, chunk)
            inside = (numbers >= first_shot) & (numbers < end)
            found.append((rows[inside], numbers[inside], values[inside]))
        rows, numbers, values = (np.concatenate(parts) for parts in zip(*found, strict=True))
        return rows, numbers, values

    def _chunk(self, seed: int, chunk: int) -> tuple[PackedBits, npt.NDArray[np.int64], Values]:
        """The kept shots of a chunk."""
        if self._last is None or self._last[0] != (seed, chunk):
            self._last = (seed, chunk), self._drawn(seed, chunk * _CHUNK_SHOTS)
        return self._last[1]

    def _drawn(self, seed: int, first_shot: int) -> tuple[PackedBits, npt.NDArray[np.int64], Values]:
        usual = self._branch(())
        drawn = usual.draw(seed, first_shot, _CHUNK_SHOTS)
        places = drawn.numbers - first_shot
        chunk = _Chunk(drawn)
        chunk.settle(usual.taken, drawn, np.arange(len(places)), places)
        while chunk.waiting:
            taken, places = chunk.waiting.popitem()
            branch, times = self._branch(taken), 0
            while len(places):
                if times == _MOST_TIMES:
                    raise ResourceLimitError(
                        f"Line {branch.lines[len(taken) - 1]}: {len(places)} of {_CHUNK_SHOTS:,} shots made a"
                        f" choice of blocks that {_MOST_TIMES * _FURTHER_SHOTS:,} further shots did not make"
                        " again. Sample a circuit that always executes these blocks, and count those of its"
                        " shots whose records make this choice."
                    )
                size = _FURTHER_SHOTS if times else _CHUNK_SHOTS
                drawn = branch.draw(_seed_of(seed, taken, times), first_shot, size)
                chooses = (drawn.choices[:, : len(taken)] == np.array(taken)).all(axis=1)
                chosen = np.flatnonzero(chooses)[: len(places)]
                chunk.settle(branch.taken, drawn, chosen, places[: len(chosen)])
                places, times = places[len(chosen) :], times + 1
        kept = chunk.is_finished & ~self._discards(chunk.rows)
        return (
            self._reported(chunk.rows[kept]),
            first_shot + np.flatnonzero(kept),
            chunk.values[kept],
        )

    def _discards(self, rows: PackedBits) -> Bools:
        bits = rows[:, self._postselected // 8] >> (self._postselected % 8).astype(np.uint8) & np.uint8(1)
        return np.asarray(bits.any(axis=1))


class _Chunk:
    """Shots of which some wait for another branch."""

    def __init__(self, drawn: DrawnShots) -> None:
        self.rows = np.zeros((_CHUNK_SHOTS, drawn.rows.shape[1]), dtype=np.uint8)
        self.values = np.zeros((_CHUNK_SHOTS, drawn.values.shape[1]))
        self.is_finished = np.zeros(_CHUNK_SHOTS, dtype=np.bool_)
        self.waiting: dict[Taken, npt.NDArray[np.intp]] = {}

    def settle(
        self,
        taken: Sequence[bool],
        drawn: DrawnShots,
        chosen: npt.NDArray[np.intp],
        places: npt.NDArray[np.intp],
    ) -> None:
        """Gives drawn shots their places, or lets places wait for the branch that the shots choose."""
        differs = drawn.choices[chosen] != np.array(taken, dtype=np.bool_)
        is_final = ~differs.any(axis=1)
        self.rows[places[is_final]] = drawn.rows[chosen[is_final]]
        self.values[places[is_final]] = drawn.values[chosen[is_final]]
        self.is_finished[places[is_final]] = True
        others = np.flatnonzero(~is_final)
        first = differs[others].argmax(axis=1) if len(others) else others
        for k in np.unique(first).tolist():
            key = (*taken[:k], not taken[k])
            more = places[others[first == k]]
            self.waiting[key] = np.concatenate([self.waiting[key], more]) if key in self.waiting else more


def _seed_of(seed: int, taken: Taken, times: int) -> int:
    """The seed of shots that are drawn again."""
    number = sum(value << k for k, value in enumerate(taken))
    return int(np.random.SeedSequence([seed, times, len(taken), number]).generate_state(1, np.uint64)[0])
