"""The records of circuits with quasi-static noise, as a mixture over what is drawn for each qubit."""

import itertools
import math
import re
from collections.abc import Callable, Mapping

import numpy as np
import stim

from ..oracle.density_matrix import Distribution, record_distribution

_TAG = re.compile(r"(QUASISTATIC|QUASISTATIC_VALUES)\((?:sigma=)?(.*)\)")
_STEP, _REACH = 0.6, 11
"""A trapezoidal rule for normal deviates: for turns up to three radians, it is right to 1e-10, as is its reach."""

Draw = tuple[float, float]
"""What is drawn, and its probability: a deviate, or the number of an angle."""


def turned_record_distribution(
    circuit: stim.Circuit,
    oracle: Callable[[stim.Circuit], Mapping[tuple[int, ...], float]] = record_distribution,
) -> Distribution:
    """The joint distribution of all records; the oracle is for circuits without quasi-static noise."""
    flat = circuit.flattened()
    draws: dict[tuple[int, str], list[Draw]] = {}
    for instruction in flat:
        if (found := _TAG.fullmatch(instruction.tag)) is not None:
            for target in instruction.targets_copy():
                draws[target.value, found[1]] = _draws(found)
    total: Distribution = {}
    for chosen in itertools.product(*draws.values()):
        weight = math.prod(probability for _, probability in chosen)
        values = {key: value for key, (value, _) in zip(draws, chosen, strict=True)}
        for records, probability in oracle(_turned(flat, values)).items():
            total[records] = total.get(records, 0.0) + weight * probability
    return total


def _draws(found: re.Match[str]) -> list[Draw]:
    if found[1] == "QUASISTATIC":
        deviates = _STEP * np.arange(-_REACH, _REACH + 1)
        weights = np.exp(-(deviates**2) / 2)
        return list(zip(deviates.tolist(), (weights / weights.sum()).tolist(), strict=True))
    return [(float(k), p) for k, p in enumerate(_numbers(found)[1::2])]


def _numbers(found: re.Match[str]) -> list[float]:
    return [float(part) for part in found[2].split(",")]


def _turned(flat: stim.Circuit, values: Mapping[tuple[int, str], float]) -> stim.Circuit:
    """The circuit with a rotation in the place of each turn."""
    result = stim.Circuit()
    for instruction in flat:
        found = _TAG.fullmatch(instruction.tag)
        if found is None:
            result.append(instruction)
            continue
        numbers = _numbers(found)
        for target in instruction.targets_copy():
            value = values[target.value, found[1]]
            angle = numbers[0] * value if found[1] == "QUASISTATIC" else numbers[2 * int(value)]
            result.append("I", [target], tag=f"R_Z(theta={angle!r}*pi)")
    return result
