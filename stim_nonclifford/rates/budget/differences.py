"""Error budgets by finite differences: shots with all noise, and without that of each group.

All are drawn with common random numbers, so that a shot without the noise of a group differs from the shot
with it only where that noise made a difference. The standard error of a difference is that of these pairs.
What depends on a record, misread outcomes and heralds, changes the numbers of later noise when it is switched
off: then pairs are independent, and their error is larger. So are those of circuits with a decoder in the
loop, whose noise is drawn by what it does, and not by where it is.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import stim

from ...base.arguments import integer, number_of_shots, seed_of
from ...base.arrays import Bools, Bytes, Floats
from ...base.masks import Mask, bools_of_mask
from ...simulation.compiler.heralds import herald_detectors
from ..decoded_rates.faults.mechanisms import MOST_ROWS
from ..decoding.decoders import decompositions, first_error_model, rate_decoder
from ..results.error_budget import DifferenceBudget, Grouping, NoiseDifference, NoisePlace
from .groups import groups_of, name_of_grouping


@dataclass(frozen=True)
class _Shots:
    """A batch of shots: bit-packed detectors and observables, and which shots are kept, and wrong."""

    detectors: Bytes
    predicted: Bytes
    kept: Bools
    wrong: Bools


class _Pairs:
    """Sums over pairs of shots: kept and wrong with all noise, and without that of a group."""

    def __init__(self) -> None:
        self.shots = 0
        self._products = np.zeros((4, 4))

    def add(self, full: _Shots, without: _Shots) -> None:
        """Adds pairs."""
        values = np.stack([full.kept, full.wrong, without.kept, without.wrong]).astype(np.float64)
        self._products += values @ values.T
        self.shots += values.shape[1]

    @property
    def means(self) -> Floats:
        """The means of the four."""
        return np.asarray(np.diagonal(self._products) / self.shots)

    def error(self, gradient: Sequence[float]) -> float:
        """The standard error of a function of the means with this gradient, at least that of one shot."""
        c = np.array(gradient)
        variance = float(c @ (self._products / self.shots - np.outer(self.means, self.means)) @ c)
        return math.sqrt(max(variance / self.shots, float(np.abs(c).max() / self.shots) ** 2))

    def difference(self, group: Hashable, places: int) -> NoiseDifference:
        """The result."""
        kept, wrong, kept_without, wrong_without = self.means.tolist()
        rate = wrong / kept if kept else math.nan
        without = wrong_without / kept_without if kept_without else math.nan
        of_rate = (-rate / kept, 1 / kept, 0.0, 0.0)
        of_without = (0.0, 0.0, -without / kept_without, 1 / kept_without)
        less = [a - b for a, b in zip(of_rate, of_without, strict=True)]
        share = [
            without / rate**2 * a - b / rate if rate else math.nan
            for a, b in zip(of_rate, of_without, strict=True)
        ]
        return NoiseDifference(
            group=group,
            places=places,
            rate_without=without,
            difference=rate - without,
            difference_error=self.error(less),
            share=1 - without / rate if rate else math.nan,
            share_error=self.error(share) if rate else math.nan,
            kept_difference=kept_without - kept,
            kept_difference_error=self.error((-1, 0, 1, 0)) if kept < 1 or kept_without < 1 else 0.0,
        )


def difference_budget(
    circuit: Any,
    places: Sequence[NoisePlace],
    without: Callable[[Collection[int]], stim.Circuit],
    by: Grouping,
    decoder: Any,
    loop_decoder: Any,
    postselection_mask: Mask | None,
    shots: int,
    seed: int | None,
    threads: int,
) -> DifferenceBudget:
    """The budget of a ``Circuit`` by finite differences; see ``Circuit.error_budget``.

    ``without`` switches some of its places of noise off. ``loop_decoder`` decides, in a circuit that asks it.
    """
    seed, shots = seed_of(seed), integer(number_of_shots(shots), "shots", 1)
    labels, membership = groups_of(places, by)
    if not circuit.num_observables:
        raise ValueError(
            "The circuit has no observables, and no shot can be wrong. Declare one: OBSERVABLE_INCLUDE."
        )
    postselected = bools_of_mask(postselection_mask, circuit.num_detectors, "postselection_mask", "detectors")
    discarding = np.packbits(postselected, bitorder="little")
    predict = None
    if decoder is not None:
        chosen = rate_decoder(decoder, heralds=herald_detectors(circuit.to_stim()))
        if chosen.decodes_kept_shots:
            raise ValueError(
                f"The decoder {chosen.name} decodes kept shots only, and needs detectors that discard the"
                ' others. Choose a decoder of all shots, such as "pymatching", or leave decoder out.'
            )
        predict = chosen.checked(first_error_model(circuit, decompositions(chosen.is_matching))).predict
    members = [set(membership[:, [k]].tocoo().row.tolist()) for k in range(len(labels))]

    def sampler(numbers: Collection[int]) -> Any:
        return type(circuit)(without(numbers)).compile_detector_sampler(
            seed=seed,
            engine="trajectory" if loop_decoder is None else "auto",
            threads=threads,
            decoder=loop_decoder,
        )

    def judged(sampler: Any, count: int, known: _Shots | None) -> _Shots:
        """Draws and decodes shots; those with the events of known ones are decoded as these."""
        detectors, observables = sampler.sample(count, separate_observables=True, bit_packed=True)
        kept = ~(detectors & discarding).any(axis=1)
        predicted = np.zeros_like(observables)
        asked = kept.copy()
        if known is not None:
            same = known.kept & (detectors == known.detectors).all(axis=1)
            predicted[same] = known.predicted[same]
            asked &= ~same
        if predict is not None and asked.any():
            predicted[asked] = predict(np.ascontiguousarray(detectors[asked]))[0]
        wrong = kept & (predicted != observables).any(axis=1)
        return _Shots(detectors, predicted, kept, wrong)

    full, others = sampler(()), [sampler(each) for each in members]
    pairs = [_Pairs() for _ in labels]
    everything = _Pairs()
    for begin in range(0, shots, MOST_ROWS):
        count = min(MOST_ROWS, shots - begin)
        usual = judged(full, count, None)
        everything.add(usual, usual)
        for each, own in zip(pairs, others, strict=True):
            each.add(usual, judged(own, count, usual))
    kept, wrong, *_ = everything.means.tolist()
    if not kept:
        raise ValueError(f"None of {shots} shots was kept. Sample more shots, or postselect fewer detectors.")
    return DifferenceBudget(
        by=name_of_grouping(by),
        logical_error_rate=wrong / kept,
        standard_error=everything.error((-wrong / kept**2, 1 / kept, 0, 0)),
        kept=kept,
        groups=tuple(
            each.difference(label, len(own)) for label, each, own in zip(labels, pairs, members, strict=True)
        ),
        shots=shots,
        seed=seed,
    )
