"""Circuits in which a decoder decides: what follows from a fault set and a number, decisions included.

A state has a fault set and a random number, as in ``outcomes``. Together they fix the outcomes, what each
decision sees, and so all answers of the decoders: whether a shot fails is a function of the state. So the
observables of a row say whether the last decoder predicts them wrongly, after all decisions.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ....base.arrays import Bools, Bytes, Integers, Words
from ....simulation.decisions import DecisionPasses, Requested
from ....simulation.plan import SamplingPlan
from .mechanisms import MOST_ROWS, Outcomes, Symptom, Symptoms
from .outcomes import symptom_of_row, symptoms_by_rows

_ASKED_AGAIN = 64
"""States that are decided once more with those of each call, to see whether a decoder is random. Doubled, one
that is random on few states is found out in half as many calls."""


class DecidedOutcomes(Outcomes):
    """What the outcomes and all decisions of a state flip; detectors that discard no shot stay as they are.

    The signature of a state has all bits of its row: the decisions depend on what its faults flip. So a fault
    that flips no postselected detector may flip others in decisions. ``wrong`` says of the outputs of shots,
    after all decisions, which observables are predicted wrongly, and ``is_random`` whether a decoder was seen
    to answer equal questions differently. Shots without faults may all be decided, and end in the same way.

    Where records switch blocks, the circuit is that of one choice of them, and ``chosen`` says of the outputs
    of shots which make this choice. Others are not wrong here. If any detector is postselected, one more
    detector follows, which is postselected, too, and fires in these others. ``flipped`` are detectors
    that are postselected inverted.
    """

    can_be_divided = False

    def __init__(
        self,
        passes: DecisionPasses,
        wrong: Callable[[Bytes], Bools],
        postselected: Bools,
        is_random: Callable[[], bool],
        name: str,
        *,
        is_certain_without_faults: bool,
        chosen: Callable[[Bytes], Bools] | None = None,
        flipped: Bools | None = None,
    ) -> None:
        self._passes, self._wrong, self._is_random, self._name = passes, wrong, is_random, name
        self.is_certain_without_faults = is_certain_without_faults
        self._postselected = np.packbits(postselected, bitorder="little")
        self._chosen = chosen
        fires = np.zeros_like(postselected) if flipped is None else flipped & postselected
        self._flipped = np.packbits(fires, bitorder="little")
        self.num_further_detectors = int(chosen is not None and bool(postselected.any()))
        plan = passes.plan
        self._row_words = passes.first_output + -(-plan.num_outputs // 64)
        self._num_detectors = len(postselected)
        self.num_signature_bits = 64 * self._row_words
        self._rng = np.random.default_rng(0)
        self._again: tuple[Words, Words, Words] | None = None

    @property
    def dependent(self) -> Bools:
        """The outputs that an outcome or a decision may flip: all."""
        return np.ones(self._passes.plan.num_outputs, dtype=np.bool_)

    def flips(self, signatures: Words, numbers: Words) -> Words:
        """The outputs that outcomes and decisions flip: detectors, then wrong predictions."""
        signatures = signatures[:, : self._row_words]
        found = np.concatenate(
            [
                self._flips_of(signatures[k : k + MOST_ROWS], numbers[k : k + MOST_ROWS])
                for k in range(0, max(len(numbers), 1), MOST_ROWS)
            ]
        )
        self._ask_again(signatures, numbers, found)
        return found

    def _flips_of(self, signatures: Words, numbers: Words) -> Words:
        bare = np.ascontiguousarray(signatures[:, self._passes.first_output :]).view(np.uint8)
        outputs, _ = self._passes.run(signatures.copy(), numbers, 0, Requested(0, 0))
        wrong = self._wrong(outputs)
        num_detectors, bytes_of_detectors = self._num_detectors, len(self._postselected)
        end, further = num_detectors + wrong.shape[1], self.num_further_detectors
        # No words for the other outputs of the plan.
        result = np.zeros((len(outputs), 64 * -(-(end + further) // 64)), dtype=np.uint8)
        before = np.unpackbits(bare, axis=1, count=end, bitorder="little")[:, num_detectors:]
        if self._chosen is not None:
            chosen = self._chosen(outputs)
            wrong = wrong & chosen[:, np.newaxis]
            if further:
                result[:, num_detectors] = ~chosen
        result[:, num_detectors + further : end + further] = wrong ^ before
        packed = np.packbits(result, axis=1, bitorder="little")
        changed = outputs[:, :bytes_of_detectors] ^ bare[:, :bytes_of_detectors]
        packed[:, :bytes_of_detectors] |= (changed & self._postselected) ^ self._flipped
        return packed.view(np.uint64)

    def _ask_again(self, signatures: Words, numbers: Words, found: Words) -> None:
        """Decides states of earlier calls once more, refuses other answers, and keeps some of this one."""
        is_random = self._is_random()
        if self._again is not None and not is_random:
            before_signatures, before_numbers, before = self._again
            order = self._rng.permutation(len(before))
            is_random = not np.array_equal(
                self._flips_of(before_signatures[order], before_numbers[order]), before[order]
            )
        if is_random:
            raise ValueError(
                f"The decoder {self._name}, or one that decides, is not deterministic: it decided equal"
                " detection events differently. Which fault sets fail has no meaning then. Let equal"
                " detection events have equal answers: a seed that follows from the events, and not one"
                " stream for all. Or count errors with SoftDecodingSampler."
            )
        some = self._rng.permutation(len(numbers))[:_ASKED_AGAIN]
        if len(some):
            self._again = signatures[some].copy(), numbers[some].copy(), found[some]


def predict_nothing(num_observables: int, dets: Bytes, /) -> tuple[Bytes, Integers]:
    """No flips, and gaps of 0: the observables of a row are wrong predictions already."""
    predictions = np.zeros((len(dets), -(-num_observables // 8)), dtype=np.uint8)
    return predictions, np.zeros(len(dets), dtype=np.int64)


def symptoms_with_decisions(
    plan: SamplingPlan, num_detectors: int, num_observables: int, outcomes: DecidedOutcomes
) -> Symptoms:
    """The errors and the coins of a plan of all outputs with decisions; a symptom has all bits of its row."""
    first = plan.num_signature_bits

    def symptom(bits: list[int]) -> Symptom:
        detectors, outputs, _ = symptom_of_row(plan, bits, num_detectors)
        gap = -first % 64  # outputs begin at a word of their own
        signature = tuple(k if k < first else k + gap for k in bits)
        return detectors, tuple(k for k in outputs if k < num_observables), signature

    every = num_detectors + outcomes.num_further_detectors
    return symptoms_by_rows(plan, every, num_observables, symptom, outcomes)
