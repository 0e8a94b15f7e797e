"""The end of a circuit with decisions, at which a decoder is asked for the observables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ...base.arrays import Bools, bits_of_words
from ...base.masks import Mask
from ...simulation.decisions import Question
from ...simulation.engines import EngineOptions, PackedBits
from ...simulation.faults import FaultTable
from ...simulation.sampling import CompiledDetectorSampler
from .models import decision_model
from .sampling import DecisionSampling


class EndSampler(CompiledDetectorSampler):
    """Samples a circuit with decisions that is decoded at its end.

    Behind the observables of its shots stand the records in which the decoder is interested, and then, for
    each decided record, whether it was flipped.

    Args:
        faults: The faults of the circuit that is sampled, without decisions.
        options: The choice of an engine.
        sampling: What decides.
        seed: The seed; None: entropy.
        postselection_mask: The detectors that discard a shot.
        max_active_coordinates: Limit for the width of the coefficient vector.
    """

    def __init__(
        self,
        faults: FaultTable,
        options: EngineOptions,
        sampling: DecisionSampling,
        *,
        seed: int | None,
        postselection_mask: Mask,
        max_active_coordinates: int,
    ) -> None:
        super().__init__(
            faults,
            options,
            decides=sampling,
            seed=seed,
            postselection_mask=postselection_mask,
            max_active_coordinates=max_active_coordinates,
        )
        self._num_observables = sampling.num_outputs - self._num_detectors


class DecodedEnd:
    """The question at the end of a circuit with decisions, with the decoder's model.

    Args:
        sampling: What decides.
        attempts: Arguments of ``detector_error_model``, the second ones for where the first fail.

    Attributes:
        model: The error model. Its observables are those of the circuit, the decided records if it is asked
            for them in hindsight, and the axes of conditional gates.
        num_axes: How many axes there are.
    """

    def __init__(self, sampling: DecisionSampling, attempts: Sequence[Mapping[str, Any]]) -> None:
        decided = sampling.decided
        point = len(decided.points) - 1
        self.model = decision_model(decided, point, attempts)
        self._question = Question(decided, point, decided.num_observables, sampling.controls)
        self._num_observables, self._num_bits = decided.num_observables, len(decided.bits)
        self._first_flip = decided.num_observables + len(sampling.controls)
        self.num_axes = len(self._question.axes)
        self._first_bits = [*decided.first_bits[:point]]
        # The records of SURE are no decisions about an outcome.
        self._are_decided = np.array(
            [each.gap is None for each in decided.points for _ in each.records], dtype=np.bool_
        )

    def seen(self, dets: PackedBits, obs: PackedBits) -> PackedBits:
        """The detectors as the decoder sees them, bit-packed.

        Args:
            dets: Detectors of shots, bit-packed.
            obs: What ``EndSampler`` has in place of their observables.
        """
        return self._question.seen(dets, self._flips(obs))

    def answers(self, predictions: PackedBits, obs: PackedBits) -> tuple[Bools, Bools, Bools]:
        """What follows from the decoder's predictions.

        Args:
            predictions: The predictions of the model's observables, bit-packed.
            obs: What ``EndSampler`` has in place of the observables of these shots.

        Returns:
            bool: which observables are predicted wrongly, shape (shots, num_observables); in which decisions
            a record was flipped, and in which one would have been decided otherwise in hindsight, shape
            (shots, decisions): without hindsight, none.
        """
        flips = self._flips(obs)
        answers = self._question.answers(bits_of_words(predictions, self.model.num_observables), flips, obs)
        observed = bits_of_words(obs, self._num_observables)
        again = answers[:, self._num_observables :]
        revised = (again ^ flips) & self._are_decided if again.shape[1] else np.zeros_like(flips)
        return answers[:, : self._num_observables] ^ observed, self._by_point(flips), self._by_point(revised)

    def _flips(self, obs: PackedBits) -> Bools:
        return bits_of_words(obs, self._first_flip + self._num_bits)[:, self._first_flip :]

    def _by_point(self, bits: Bools) -> Bools:
        if not self._first_bits:
            return bits
        return np.logical_or.reduceat(bits, self._first_bits, axis=1)
