"""Detection events of records that were measured elsewhere."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import stim

from ...base.arguments import flag
from ...base.memory import memory_is_a_limit
from ...dialect import gate_from_tag
from ..compiler.program.extent import check_flattened


def measurement_converter(
    circuit: stim.Circuit, reference_sample: Callable[[], npt.NDArray[Any]], skip_reference_sample: bool
) -> stim.CompiledMeasurementsToDetectionEventsConverter:
    """Stim's converter of records to detection events, with the reference sample of this package."""
    skip_reference_sample = flag(skip_reference_sample, "skip_reference_sample")
    check_flattened(circuit)
    with memory_is_a_limit():
        flat = circuit.flattened()
        for part in flat:
            _check_observable(part)
        if not any(part.tag and gate_from_tag(part) for part in flat):
            return circuit.compile_m2d_converter(skip_reference_sample=skip_reference_sample)
        if circuit.num_sweep_bits:
            raise ValueError(
                "The circuit has sweep bits and non-Clifford gates. What a sweep bit flips behind such a"
                " gate is random, so that records cannot be converted. Write the circuit for one choice"
                " of the sweep bits, with X, Y and Z in place of CX, CY and CZ."
            )
        values = np.zeros(flat.num_measurements, dtype=np.bool_)
        if not skip_reference_sample:
            values = reference_sample()
        return _padded(flat, values).compile_m2d_converter()


def _check_observable(part: stim.CircuitInstruction) -> None:
    if part.name == "OBSERVABLE_INCLUDE" and not all(
        target.is_measurement_record_target for target in part.targets_copy()
    ):
        raise ValueError(
            f"`{part}` includes Paulis in an observable, whose value no record shows. Measure them (MPP), and"
            " include the records; or sample flips with compile_detector_sampler()."
        )


def _padded(flat: stim.Circuit, values: npt.NDArray[np.bool_]) -> stim.Circuit:
    """The detectors and observables of a circuit without loops, after MPADs of the values of the records."""
    result = stim.Circuit()
    first = 0
    for part in flat:
        if part.name in ("DETECTOR", "OBSERVABLE_INCLUDE"):
            result.append(part)
        elif part.num_measurements:
            end = first + part.num_measurements
            result.append("MPAD", values[first:end].astype(int).tolist())
            first = end
    return result
