"""The detector error model of a circuit, computed from the effects of its noise."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence

import stim

from ..algebra.gf2 import masks_of, ones
from ..program.channels import independent_errors
from ..sweeps.effects import EffectTable

__all__ = ["declare_all", "detector_error_model"]


def detector_error_model(
    table: EffectTable,
    num_detectors: int,
    num_observables: int,
    coordinates: Mapping[int, Sequence[float]],
    *,
    usual: Collection[int] | None = None,
    approximate_disjoint_errors: float = False,
) -> stim.DetectorErrorModel:
    """The error model of the outputs of a circuit.

    Mechanisms that flip the same outputs are one error. Mutually exclusive events become independent errors
    with the same distribution, if such errors exist. Otherwise they can be approximated. Random quantum
    outcomes are not errors, so the outputs that they flip are not listed.

    Args:
        table: The effects on detectors and observables.
        num_detectors: Number of detectors.
        num_observables: Number of observables.
        coordinates: Coordinates of the detectors.
        usual: The effects of errors that are more likely than none, whose sum is the constant of ``table``:
            each is an error of the model. None: the sum is.
        approximate_disjoint_errors: Whether to replace exclusive events by independent errors with the same
            probabilities; a number allows this up to that probability.

    Raises:
        ValueError: Exclusive events would have to be approximated more than is allowed.
    """
    outputs = (1 << table.num_outputs) - 1
    rates: dict[int, float] = {}
    for effect, rate in table.noise.independent().items():
        rates[effect & outputs] = rates.get(effect & outputs, 0.0) + rate
    errors = {effect: -0.5 * math.expm1(-2 * rate) for effect, rate in rates.items()}

    def add(effect: int, probability: float) -> None:
        """Adds an independent error: it and another that flips the same outputs cancel."""
        before = errors.get(effect, 0.0)
        errors[effect] = before + probability - 2 * before * probability

    for effect in [table.constant] if usual is None else usual:
        add(effect & outputs, 1.0)
    known: dict[tuple[tuple[int, float], ...], dict[int, float] | None] = {}  # repeated sites are equal
    for site in table.noise.exclusive():
        choices: dict[int, float] = {}
        for effect, probability in site.items():
            choices[effect & outputs] = choices.get(effect & outputs, 0.0) + probability
        key = tuple(choices.items())
        if key not in known:
            known[key] = independent_errors(key)
        exact = known[key]
        if exact is None:
            _check_approximation(choices.values(), approximate_disjoint_errors)
        for effect, probability in (choices if exact is None else exact).items():
            add(effect, probability)
    for effect in masks_of(table.coins):
        add(effect & outputs, 0.5)

    model = stim.DetectorErrorModel()
    for effect, probability in sorted(errors.items(), key=lambda error: ones(error[0])):
        if effect:
            targets = [
                stim.target_relative_detector_id(bit)
                if bit < num_detectors
                else stim.target_logical_observable_id(bit - num_detectors)
                for bit in ones(effect)
            ]
            model.append("error", probability, targets)
    declare_all(model, num_detectors, num_observables, coordinates)
    return model


def declare_all(
    model: stim.DetectorErrorModel,
    num_detectors: int,
    num_observables: int,
    coordinates: Mapping[int, Sequence[float]],
) -> None:
    """Appends declarations of all detectors, with their coordinates, and of all observables."""
    for detector in range(num_detectors):
        place = list(coordinates.get(detector, ()))
        model.append("detector", place, [stim.target_relative_detector_id(detector)])
    for observable in range(num_observables):
        model.append("logical_observable", [], [stim.target_logical_observable_id(observable)])


def _check_approximation(probabilities: Iterable[float], allowed: float) -> None:
    """Checks what ``approximate_disjoint_errors`` allows, where ``True`` is 1 and ``False`` is 0."""
    largest = max(probabilities, default=0.0)
    if allowed == 0:
        raise ValueError(
            "The circuit has noise with mutually exclusive errors that no independent errors can stand for,"
            " such as PAULI_CHANNEL_1(0.1, 0.2, 0), but an error model has independent errors only. Add the"
            " argument approximate_disjoint_errors=True."
        )
    if largest > allowed:
        raise ValueError(
            f"A channel with mutually exclusive errors has a probability argument ({largest:g}) larger than"
            f" the `approximate_disjoint_errors` threshold ({float(allowed):g})."
        )
