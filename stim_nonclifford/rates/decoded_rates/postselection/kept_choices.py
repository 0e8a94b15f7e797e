"""What a kept set flips, as one random choice: it takes the place of quantum outcomes in chains."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ..faults.mechanisms import Floats, Words

__all__ = ["KeptChoices"]


class KeptChoices:
    """Rows of outputs of which a number chooses one; see ``mechanisms.Outcomes``.

    Args:
        rows: bool, shape (choices, outputs): what each flips.
        masses: float64, shape (choices,): they are chosen in proportion to them.

    Examples:
        >>> choices = KeptChoices(np.array([[True, False], [True, True]]), np.array([1.0, 3.0]))
        >>> numbers = np.array([0, 1 << 62, 1 << 63], dtype=np.uint64)
        >>> choices.flips(np.zeros((3, 0), dtype=np.uint64), numbers).ravel().tolist()
        [1, 3, 3]
    """

    num_signature_bits = 0
    can_be_summed = False

    def __init__(self, rows: npt.NDArray[np.bool_], masses: Floats) -> None:
        packed = np.packbits(rows, axis=1, bitorder="little")
        self._rows: Words = np.zeros((len(rows), -(-rows.shape[1] // 64)), dtype=np.uint64)
        self._rows.view(np.uint8)[:, : packed.shape[1]] = packed
        sums = np.cumsum(masses)
        self._ends = sums / sums[-1]
        self._law = masses / sums[-1], rows
        self.key = f"{len(rows)} choices"
        self.dependent: npt.NDArray[np.bool_] = np.asarray(rows.any(axis=0))

    def flips(self, signatures: Words, numbers: Words) -> Words:
        """What the chosen rows flip: uint64, shape (numbers, words)."""
        return self._rows[self.chosen(numbers)]

    def chosen(self, numbers: Words) -> npt.NDArray[np.intp]:
        """The chosen rows, by their places: intp, shape (numbers,)."""
        found = np.searchsorted(self._ends, numbers * 2.0**-64, side="right")
        return np.minimum(found, len(self._rows) - 1)

    def law(self, signature: Words) -> tuple[Floats, npt.NDArray[np.bool_]]:
        """The probabilities of all rows, and the rows."""
        return self._law
