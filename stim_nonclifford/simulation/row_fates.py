"""What becomes of shots whose noise is given: exact probabilities for many rows at once, in native code.

``reference.fate_of_row`` does the same for one row in plain NumPy.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from .._native import kept_branches
from ..base.arrays import words_of_bits
from .engines.reference import averaged_coins
from .plan import SamplingPlan, plain_attributes

Bits = npt.NDArray[np.bool_]
Floats = npt.NDArray[np.float64]

_CHUNK_BYTES = 1 << 24
"""Memory for the rows that are looked at together."""

_ROUNDING = 1e-13
"""As in the engines, a probability that is so near to 0 is 0."""


def fates_of_rows(plan: SamplingPlan, rows: Bits) -> tuple[Floats, Floats, Floats]:
    """The exact probabilities of the results of shots whose faults flip rows (``SamplingPlan.row_of``).

    The constant of the plan is added, and coins are averaged over. Returns three arrays of shape
    (num_shots,): the probability that the shot is kept and no output is 1; that it is kept and some output is
    1; and that it is discarded.
    """
    coins = averaged_coins(plan)
    num_coins = len(coins)
    constant = np.zeros(plan.num_row_bits, dtype=np.bool_)
    constant[plan.constant] = True
    found = np.zeros((2, len(rows)))
    step = max(1, _CHUNK_BYTES // max(plan.num_row_bits, 1))
    for begin in range(0, len(rows) << num_coins, step):
        numbers = np.arange(begin, min(begin + step, len(rows) << num_coins))
        shots, tosses = numbers >> num_coins, numbers & (1 << num_coins) - 1
        tossed = rows[shots] ^ constant
        for coin in range(num_coins):
            tossed[(tosses >> coin & 1).astype(np.bool_)] ^= coins[coin]
        for total, kept in zip(found, _kept_of_rows(plan, tossed), strict=True):
            total += np.bincount(shots, kept, minlength=len(rows))
    right, wrong = found / 2**num_coins
    discarded = 1 - right - wrong
    discarded[discarded < _ROUNDING] = 0
    return right, wrong, discarded


def _kept_of_rows(plan: SamplingPlan, rows: Bits) -> tuple[Floats, Floats]:
    """The first two of these for rows that include constant and coins."""
    right, wrong = np.zeros(len(rows)), np.zeros(len(rows))
    passed = np.flatnonzero(~rows[:, : plan.num_checks].any(axis=1))
    if plan.never_kept or not len(passed):
        return right, wrong
    words = -(-plan.num_signature_bits // 64)
    first_output = plan.num_checks + plan.num_signature_bits
    rest = np.hstack(
        [
            words_of_bits(rows[passed, plan.num_checks : first_output]),
            words_of_bits(rows[passed, first_output:]),
        ]
    )
    distinct, which = np.unique(rest, axis=0, return_inverse=True)
    laws = kept_branches(
        plain_attributes(plan), np.ascontiguousarray(distinct[:, :words]).ravel(), len(distinct)
    )
    of = np.repeat(np.arange(len(distinct)), np.diff(laws["starts"].astype(np.int64)))
    outputs = laws["outputs"].reshape(len(of), distinct.shape[1] - words)
    flipped = (outputs != distinct[of, words:]).any(axis=1)
    probabilities = laws["probabilities"]
    for found, chosen in ((right, ~flipped), (wrong, flipped)):
        found[passed] = np.bincount(of, probabilities * chosen, minlength=len(distinct))[which.ravel()]
    return right, wrong
