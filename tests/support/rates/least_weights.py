"""The likeliest errors of each class, among all sets of errors of a small model."""

import math
from dataclasses import dataclass

import numpy as np
import stim


@dataclass
class LeastWeights:
    """The least weight of the sets of errors of each class, for all detection events.

    Errors that flip the same are one error, as in a matching graph.
    """

    model: stim.DetectorErrorModel

    def __post_init__(self) -> None:
        merged: dict[int, float] = {}
        for error in self.model:
            if error.type == "error":
                for part in error.target_groups():
                    flipped = 0
                    for target in part:
                        is_detector = target.is_relative_detector_id()
                        flipped ^= 1 << (target.val if is_detector else self.model.num_detectors)
                    p, q = error.args_copy()[0], merged.get(flipped, 0.0)
                    merged[flipped] = p * (1 - q) + q * (1 - p)
        weights = np.full(2 << self.model.num_detectors, np.inf)
        weights[0] = 0
        numbers = np.arange(len(weights))
        for flipped, p in merged.items():
            if p > 0:
                p = min(max(p, 1e-12), 1 - 1e-12)
                weights = np.minimum(weights, weights[numbers ^ flipped] + math.log((1 - p) / p))
        self.weights = weights.reshape(2, -1)  # by class, and by detection events
