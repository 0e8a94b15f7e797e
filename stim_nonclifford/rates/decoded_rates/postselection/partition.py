"""Divides a circuit's kept sets into strata, by what the decoder says of each if nothing else happens."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from ....base.errors import ResourceLimitError
from ..decoding import Gaps
from ..mechanisms import Floats, Symptoms, fault_model, log_probability_of_none
from .kept_choices import KeptChoices
from .kept_sets import KeptSets, kept_sets
from .questions import KeptQuestion
from .strata import Stratum

__all__ = ["Partition", "partition"]

_STEP = 10
"""Decibels of the gap of kept sets by themselves that share a stratum."""

_MOST_UNLISTED = 0.1
_BATCH = 1 << 14


@dataclass(frozen=True)
class Partition:
    """The strata of a circuit.

    Attributes:
        strata: Those with some probability.
        unlisted: About what probability sets with more members have.
        sizes: Shape (members,): P(kept sets of each size).
        wrong_sizes: Shape (members, gaps): of those that are decoded wrongly by themselves with at least a
            gap.
    """

    strata: tuple[Stratum, ...]
    unlisted: float
    sizes: Floats
    wrong_sizes: Floats

    def unlisted_wrong(self, gap: int) -> float:
        """About how often sets with more members are kept and wrong with at least a gap."""
        return _geometric_rest(self.wrong_sizes[:, min(gap, self.wrong_sizes.shape[1] - 1)])


def partition(asked: KeptQuestion, check: Callable[[], None]) -> Partition:
    """Lists the kept sets, and divides them.

    Args:
        asked: The circuit.
        check: Is called now and then; may raise to end the work.

    Raises:
        ResourceLimitError: There are too many sets; or those that were listed are too small a part.
    """
    symptoms = asked.symptoms
    mask = asked.postselected
    probabilities = {
        does: {name: q for name, q in symptoms.probabilities.items() if _takes_part(name, mask) == does}
        for does in (False, True)
    }
    known = tuple(np.flatnonzero(mask).tolist())
    members = fault_model([replace(symptoms, probabilities=probabilities[True])], known)
    certain = mask.copy()
    if symptoms.outcomes is not None:
        certain &= ~symptoms.outcomes.dependent[: symptoms.num_detectors]
    sets = kept_sets(members, certain, asked.weight, check)
    if not len(sets.rows):
        raise ResourceLimitError(
            "No shot is kept in which up to four mechanisms flip postselected detectors. Postselect fewer"
            " detectors, or count errors with the sampler soft_desaturated_gap."
        )
    none = float(np.exp(log_probability_of_none(members.log_odds[0])))
    wrong, gaps = _by_themselves(asked, sets, check)
    sizes = none * sets.by_size.sum(axis=0)
    unlisted = _geometric_rest(sizes)
    if unlisted > _MOST_UNLISTED * sizes.sum():
        raise ResourceLimitError(
            f"About {unlisted / (sizes.sum() + unlisted):.0%} of the kept shots have more than"
            f" {len(sizes) - 1} mechanisms that flip postselected detectors, and these sets cannot be listed."
            " Estimate the rate at weaker noise, or count errors with the sampler soft_desaturated_gap."
        )
    top = int(gaps.max(initial=0))
    tails = [sets.by_size[wrong & (gaps >= gap)].sum(axis=0) for gap in range(top + 2)]
    rest = replace(symptoms, expected=((), ()), probabilities=probabilities[False], outcomes=None)
    return Partition(
        tuple(_strata(asked, rest, sets, wrong, gaps, none)), unlisted, sizes, none * np.array(tails).T
    )


def _takes_part(name: tuple[tuple[int, ...], ...], postselected: npt.NDArray[np.bool_]) -> bool:
    """Whether a mechanism flips a postselected detector or a signature bit."""
    return bool(postselected[list(name[0])].any() or any(name[2:]))


def _by_themselves(
    asked: KeptQuestion, sets: KeptSets, check: Callable[[], None]
) -> tuple[npt.NDArray[np.bool_], Gaps]:
    """Whether the decoder is wrong about kept sets if nothing else happens, and how sure it is."""
    number = asked.symptoms.num_detectors
    wrong, gaps = [], []
    for start in range(0, len(sets.rows), _BATCH):
        check()
        rows = sets.rows[start : start + _BATCH]
        predictions, found = asked.predict(np.packbits(rows[:, :number], axis=1, bitorder="little"))
        bits = np.unpackbits(predictions, axis=1, bitorder="little")[:, : rows.shape[1] - number]
        wrong.append((bits != rows[:, number:]).any(axis=1))
        gaps.append(found)
    return np.concatenate(wrong), np.concatenate(gaps)


def _strata(
    asked: KeptQuestion,
    rest: Symptoms,
    sets: KeptSets,
    wrong: npt.NDArray[np.bool_],
    gaps: Gaps,
    none: float,
) -> list[Stratum]:
    is_silent = ~sets.rows.any(axis=1)
    # Those that are right need no distinction: of these, the most likely ones decide.
    kinds = np.where(is_silent, 0, np.where(wrong, 2 + np.maximum(gaps, 0) // _STEP, 1))
    choices = KeptChoices(sets.rows, sets.by_size.sum(axis=1))
    model = fault_model([replace(rest, outcomes=choices)])
    found = []
    for kind in np.unique(kinds):
        which = kinds == kind
        choices = KeptChoices(sets.rows[which], sets.by_size[which].sum(axis=1))
        least = int(kind - 2) * _STEP
        names = {0: "nothing flipped", 1: "right by itself"}
        name = names.get(int(kind), f"wrong by itself, gap {least} to {least + _STEP - 1}")
        mass = none * float(sets.by_size[which].sum())
        error = none * float(np.sqrt(sets.variances[which].sum()))
        found.append(
            Stratum(name, mass, error, model.with_other_outcomes(choices if kind else None), asked.predict)
        )
    return found


def _geometric_rest(sizes: Floats) -> float:
    """What follows in a series of masses, if it goes on as it ends."""
    before, last = float(sizes[-2]), float(sizes[-1])
    if last <= 0:
        return 0.0
    ratio = last / before if before > 0 else 1.0
    return last * ratio / (1 - ratio) if ratio < 0.9 else 10 * last
