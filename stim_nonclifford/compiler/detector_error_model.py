"""The detector error model of a circuit, computed from the effects of its noise."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import stim

from .channels import independent_errors
from .effects import EffectTable
from .gf2 import ones

__all__ = ["detector_error_model"]


def detector_error_model(
    table: EffectTable,
    num_detectors: int,
    num_observables: int,
    coordinates: Mapping[int, Sequence[float]],
) -> stim.DetectorErrorModel:
    """The error model of the outputs of a circuit.

    Mechanisms that flip the same outputs are one error. Mutually exclusive events become independent errors
    with the same distribution, if such errors exist. Otherwise they become independent errors with the same
    probabilities (Stim: ``approximate_disjoint_errors``). Random quantum outcomes are not errors, so the
    outputs that they flip are not listed.

    Args:
        table: The effects on detectors and observables.
        num_detectors: Number of detectors.
        num_observables: Number of observables.
        coordinates: Coordinates of the detectors.

    Returns:
        The model, with every detector and observable declared.
    """
    outputs = (1 << table.num_outputs) - 1
    rates: dict[int, float] = {}
    for effect, rate in table.noise.independent().items():
        rates[effect & outputs] = rates.get(effect & outputs, 0.0) + rate
    errors = [(effect, -0.5 * math.expm1(-2 * rate)) for effect, rate in rates.items()]
    errors.append((table.constant & outputs, 1.0))
    for site in table.noise.exclusive():
        choices: dict[int, float] = {}
        for effect, probability in site.items():
            choices[effect & outputs] = choices.get(effect & outputs, 0.0) + probability
        exact = independent_errors(choices.items())
        errors += (choices if exact is None else exact).items()
    errors += [(effect & outputs, 0.5) for effect in table.coins]

    model = stim.DetectorErrorModel()
    for effect, probability in sorted(errors, key=lambda error: ones(error[0])):
        if effect:
            targets = [
                stim.target_relative_detector_id(bit)
                if bit < num_detectors
                else stim.target_logical_observable_id(bit - num_detectors)
                for bit in ones(effect)
            ]
            model.append("error", probability, targets)
    for detector in range(num_detectors):
        place = list(coordinates.get(detector, ()))
        model.append("detector", place, [stim.target_relative_detector_id(detector)])
    for observable in range(num_observables):
        model.append("logical_observable", [], [stim.target_logical_observable_id(observable)])
    return model
