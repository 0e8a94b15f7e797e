"""A CSV file of computed curves over the gap, so that a curve is computed once."""

from __future__ import annotations

import csv
import pathlib
from collections.abc import Sequence
from dataclasses import astuple, dataclass, fields

import sinter

__all__ = ["ComputedCurves", "ComputedPoint", "Wish"]


@dataclass(frozen=True)
class Wish:
    """How well a curve is to be known.

    Attributes:
        relative_error: At which relative error of each point to stop.
        max_seconds: When to stop anyway; infinite of a curve that has reached its errors.
        seed: The seed; None: any.
    """

    relative_error: float
    max_seconds: float
    seed: int | None


@dataclass(frozen=True)
class ComputedPoint:
    """A point of a curve.

    Attributes:
        gap: The least gap of the shots that are kept, in decibels.
        attempts: Attempts per kept shot.
        rate: The logical error rate per kept shot.
        low: The lower end of its interval.
        high: The upper end.
    """

    gap: int
    attempts: float
    rate: float
    low: float
    high: float

    @property
    def fit(self) -> sinter.Fit:
        """The rate with its interval."""
        return sinter.Fit(low=self.low, best=self.rate, high=self.high)


_OF_CURVE = ("strong_id", "label", "asked_relative_error", "max_seconds", "seed")
_OF_POINT = tuple(field.name for field in fields(ComputedPoint))


class ComputedCurves:
    """The curves of a file, which need not exist yet.

    Examples:
        >>> import tempfile
        >>> folder = tempfile.TemporaryDirectory()
        >>> path = pathlib.Path(folder.name) / "curves.csv"
        >>> point = ComputedPoint(gap=0, attempts=1.5, rate=1e-3, low=9e-4, high=1.1e-3)
        >>> ComputedCurves(path).add("id", "d=3", Wish(0.1, float("inf"), 7), [point])
        >>> ComputedCurves(path).known("id", Wish(0.2, 60, None)) == [point]
        True
        >>> ComputedCurves(path).known("id", Wish(0.05, 60, None)) is None
        True
        >>> folder.cleanup()
    """

    def __init__(self, path: pathlib.Path) -> None:
        self._path = path
        self._rows: list[tuple[str, str, Wish, ComputedPoint]] = []
        if not path.exists():
            return
        with open(path, newline="", encoding="utf-8") as file:
            reader = csv.DictReader(file)
            if tuple(reader.fieldnames or ()) != _OF_CURVE + _OF_POINT:
                raise ValueError(f"{path} has other columns than computed curves. Move it, or choose --out.")
            for row in reader:
                seed = int(row["seed"]) if row["seed"] else None
                wish = Wish(float(row["asked_relative_error"]), float(row["max_seconds"]), seed)
                values = [float(row[name]) for name in _OF_POINT[1:]]
                point = ComputedPoint(int(row["gap"]), *values)
                self._rows.append((row["strong_id"], row["label"], wish, point))

    def known(self, strong_id: str, wish: Wish) -> list[ComputedPoint] | None:
        """The points of a curve, if they are known as well as they are wished."""
        found = [point for name, _, had, point in self._rows if name == strong_id and _is_met(wish, had)]
        return found or None

    def add(self, strong_id: str, label: str, had: Wish, points: Sequence[ComputedPoint]) -> None:
        """Writes a curve to the file, in place of what was known of it."""
        self._rows = [row for row in self._rows if row[0] != strong_id]
        self._rows += [(strong_id, label, had, point) for point in points]
        # Under another name first: who interrupts this loses no curve.
        new = self._path.with_name(self._path.name + ".new")
        with open(new, "w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file)
            writer.writerow(_OF_CURVE + _OF_POINT)
            for name, text, wish, point in self._rows:
                seed = "" if wish.seed is None else wish.seed
                writer.writerow([name, text, wish.relative_error, wish.max_seconds, seed, *astuple(point)])
        new.replace(self._path)


def _is_met(wish: Wish, had: Wish) -> bool:
    is_seed = wish.seed is None or wish.seed == had.seed
    return is_seed and had.relative_error <= wish.relative_error and had.max_seconds >= wish.max_seconds
