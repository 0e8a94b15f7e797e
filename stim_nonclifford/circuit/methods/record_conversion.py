"""Detection events of records that were measured elsewhere."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import stim

from ...base.arguments import flag
from ...base.memory import memory_is_a_limit
from ...dialect import gate_from_tag
from .editing import check_flattened

__all__ = ["CircuitRecordConversion"]


class CircuitRecordConversion:
    """The method that turns records into detection events."""

    _stim: stim.Circuit

    if TYPE_CHECKING:

        def reference_sample(self, *, bit_packed: bool = False) -> npt.NDArray[Any]: ...  # noqa: D102

    def compile_m2d_converter(
        self, *, skip_reference_sample: bool = False
    ) -> stim.CompiledMeasurementsToDetectionEventsConverter:
        r"""Returns Stim's converter of records to detection events, as Stim's method of this name.

        A detection event is the parity of a detector's records, compared with that of the noiseless
        reference sample. The reference is ``reference_sample()`` of the circuit with its T gates, so that
        the converter makes the bits of ``compile_detector_sampler`` from the records of ``compile_sampler``.

        A circuit without non-Clifford gates gets the converter that Stim compiles for it. For all others,
        the converter is compiled from a circuit that has the same detectors and observables, and in the place
        of each measurement an MPAD of its reference value: nothing else of the circuit matters.

        Args:
            skip_reference_sample: Whether to convert to raw parities, as if the reference sample were 0.

        Returns:
            The converter, with Stim's methods ``convert`` and ``convert_file``.

        Raises:
            NotImplementedError: An instruction is not supported.
            ResourceLimitError: The unrolled circuit is too large, or the reference sample of the circuit is
                too wide to be computed.
            ValueError: Records do not determine the result: an observable includes Paulis, which no record
                shows, or the circuit has non-Clifford gates and sweep bits, whose flips are not fixed.

        Examples:
            >>> import numpy as np
            >>> import stim_nonclifford as snc
            >>> circuit = snc.Circuit("X 0\nT 0\nM 0\nDETECTOR rec[-1]")
            >>> converter = circuit.compile_m2d_converter()
            >>> converter.convert(measurements=np.array([[True], [False]]), append_observables=False)
            array([[False],
                   [ True]])
        """
        skip_reference_sample = flag(skip_reference_sample, "skip_reference_sample")
        check_flattened(self._stim)
        with memory_is_a_limit():
            flat = self._stim.flattened()
            for part in flat:
                _check_observable(part)
            if not any(part.tag and gate_from_tag(part) for part in flat):
                return self._stim.compile_m2d_converter(skip_reference_sample=skip_reference_sample)
            if self._stim.num_sweep_bits:
                raise ValueError(
                    "The circuit has sweep bits and non-Clifford gates. What a sweep bit flips behind such a"
                    " gate is random, so that records cannot be converted. Write the circuit for one choice"
                    " of the sweep bits, with X, Y and Z in place of CX, CY and CZ."
                )
            values = np.zeros(flat.num_measurements, dtype=np.bool_)
            if not skip_reference_sample:
                values = self.reference_sample()
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
