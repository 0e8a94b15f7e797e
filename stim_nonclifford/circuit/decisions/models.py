"""Error models of decisions, and whether a circuit asks a decoder."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import stim

from ...dialect import first_decision
from ...rates.decoding.decoders import first_error_model
from ...rates.decoding.matching.matching_graph import ERROR_LINE
from ...simulation.decisions import DecidedCircuit, frames_of
from ..error_models import error_model_of

RAW = "raw"
"""The name in place of a decoder that leaves records as they are."""

_RANDOM = 0.5
"""The probability of a random outcome in a list of errors."""


def check_raw(decoder: Any, circuit: stim.Circuit) -> bool:
    """Whether a sampler takes a circuit as it is, without a decoder: it is raw, or has no decisions.

    Raises:
        ValueError: There is a decoder and no decision, or a decision and no decoder.
    """
    found = first_decision(circuit)
    if isinstance(decoder, str) and decoder == RAW:
        return True
    if found is None and decoder is not None:
        raise ValueError(
            "The circuit has no DECODE, and the decoder would have nothing to decide. Leave decoder= out; to"
            " decode the samples afterwards, see docs/guides/decoding.md."
        )
    if found is not None and decoder is None:
        raise ValueError(
            f"{found}: the circuit asks a decoder. Give it one, as in"
            ' compile_detector_sampler(decoder="pymatching") or compile_sampler(decoder="pymatching");'
            f' decoder="{RAW}" takes the raw records.'
        )
    return found is None


class _Frames:
    """A circuit that is asked for the flips of its Pauli frames."""

    def __init__(self, circuit: stim.Circuit) -> None:
        self._circuit = circuit

    def detector_error_model(
        self,
        *,
        approximate_disjoint_errors: bool,
        decompose_errors: bool = False,
        ignore_decomposition_failures: bool = False,
    ) -> stim.DetectorErrorModel:
        flags = {
            "decompose_errors": decompose_errors,
            "flatten_loops": True,
            "allow_gauge_detectors": False,
            "ignore_decomposition_failures": ignore_decomposition_failures,
            "block_decomposition_from_introducing_remnant_edges": False,
        }
        return error_model_of(
            self._circuit,
            lambda: frames_of(self._circuit),
            "noise_only",
            flags,
            approximate_disjoint_errors,
            None,
        )


def decision_model(
    decided: DecidedCircuit,
    number: int,
    attempts: Sequence[Mapping[str, Any]],
) -> stim.DetectorErrorModel:
    """The error model of a decision: which errors flip its records, and which detectors see them.

    Args:
        decided: The circuit.
        number: The number of the decision.
        attempts: Arguments of ``detector_error_model``, the second ones for where the first fail.
    """
    frames = decided.frame_circuit(number)
    model = first_error_model(frames or _Frames(decided.prefix(number)), attempts)
    asks_for_gaps = decided.points[number].gap is not None
    num_detectors = decided.points[number].num_detectors
    num_observables = len(decided.asked_of(number)) + len(decided.axes_of(number))
    # A text has all digits, and is read far faster than instructions and their targets.
    lines = str(model.flattened()).splitlines()
    kept = [line for line in lines if _is_seen(line, asks_for_gaps, is_of_frames=frames is not None)]
    seen = stim.DetectorErrorModel("\n".join(kept))
    for detector in range(seen.num_detectors, num_detectors):
        seen.append("detector", [], [stim.target_relative_detector_id(detector)])
    for observable in range(seen.num_observables, num_observables):
        seen.append("logical_observable", [], [stim.target_logical_observable_id(observable)])
    return seen


def _is_seen(line: str, asks_for_gaps: bool, *, is_of_frames: bool) -> bool:
    """Whether a decoder is told of a line of a model.

    What flips records alone, a random outcome among it, is seen by no decoder. But gaps know of errors.
    """
    if "D" in line[line.rfind(")") :]:
        return True
    error = ERROR_LINE.fullmatch(line)
    return error is None or (asks_for_gaps and (is_of_frames or float(error[1]) != _RANDOM))
