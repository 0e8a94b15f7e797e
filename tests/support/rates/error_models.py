"""Detector error models, compared with Stim's."""

import numpy as np
import numpy.typing as npt
import stim

from stim_nonclifford import Circuit

from ..laws.exact import largest_difference, mask


def symptoms(model: stim.DetectorErrorModel) -> dict[int, float]:
    """The errors of a model, with equal symptoms merged: set of outputs -> probability."""
    found: dict[int, float] = {}
    for instruction in model.flattened():
        if instruction.type == "error":
            (p,) = instruction.args_copy()
            flipped = mask(
                t.val if t.is_relative_detector_id() else model.num_detectors + t.val
                for t in instruction.targets_copy()
                if not t.is_separator()
            )
            q = found.get(flipped, 0.0)
            found[flipped] = p * (1 - q) + q * (1 - p)
    return {flipped: p for flipped, p in found.items() if flipped and p}


def flip_rates(model: stim.DetectorErrorModel) -> npt.NDArray[np.float64]:
    """How often each detector fires."""
    even = np.ones(model.num_detectors)
    for error in model.flattened():
        for target in error.targets_copy() if error.type == "error" else ():
            if target.is_relative_detector_id():
                even[target.val] *= 1 - 2 * error.args_copy()[0]
    return (1 - even) / 2


def assert_same_model(circuit: stim.Circuit) -> None:
    """The error model of a Clifford circuit is that of Stim, up to the order of errors."""
    expected = circuit.detector_error_model()
    found = Circuit(circuit).detector_error_model(kind="noise_only")
    assert (found.num_detectors, found.num_observables) == (circuit.num_detectors, circuit.num_observables)
    assert largest_difference(symptoms(found), symptoms(expected)) < 1e-9
    assert set(symptoms(found)) == set(symptoms(expected))
    coordinates = found.get_detector_coordinates()
    assert coordinates == circuit.get_detector_coordinates()
