"""Rates of circuits with decisions, however small."""

from __future__ import annotations

from functools import partial
from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt
import stim

from ...dialect import without_decisions
from ...rates.decoded_rates.faults.decisions import (
    DecidedOutcomes,
    predict_nothing,
    symptoms_with_decisions,
)
from ...rates.decoded_rates.questions import DecodingProblem
from ...rates.decoding.decoders import RateDecoder, decompositions
from ...rates.decoding.kept_shot_decoding import KeptShotDecoding
from ...simulation.compiler import DEFAULT_MAX_ACTIVE_COORDINATES, compile_circuit
from ...simulation.decisions import DecidedCircuit
from ...simulation.engines import EngineOptions, PackedBits, likely_outputs
from ...simulation.logical_errors.noiseless_outputs import has_small_angles
from ...simulation.logical_errors.refusals import check_logical_errors
from ...simulation.sampling.rows import columns
from .deciding_decoders import STORE_BYTES
from .end import DecodedEnd
from .sampling import DecisionSampling

Bools = npt.NDArray[np.bool_]


def decided_question(
    circuit: stim.Circuit, decoder: RateDecoder, loop_decoder: Any, postselected: Bools
) -> DecodingProblem:
    """A circuit with decisions whose rate is wanted.

    Args:
        circuit: The circuit, tagged.
        decoder: What decodes the observables at the end.
        loop_decoder: What decides; None: the same decoder.
        postselected: bool, shape (num_detectors,): the detectors that discard a shot.

    Raises:
        NotImplementedError: A decision is not supported.
        ValueError: There is no such decoder, or an output is random without noise.
    """
    DecidedCircuit(circuit)  # refuses blocks that records switch, for which there are other remedies
    plain = compile_circuit(without_decisions(circuit), likely_outputs)
    plain.check_pauli_noise()
    check_logical_errors(plain, (), range(circuit.num_detectors))
    sampling = DecisionSampling(
        circuit,
        (decoder.name if decoder.is_named else decoder.decoder) if loop_decoder is None else loop_decoder,
        EngineOptions(),
        max_active_coordinates=DEFAULT_MAX_ACTIVE_COORDINATES,
        asks_at_end=True,
    )
    end = DecodedEnd(sampling, decompositions(decoder.is_matching))
    last = KeptShotDecoding(decoder.checked(end.model), STORE_BYTES)
    num_detectors, num_outputs = circuit.num_detectors, sampling.num_outputs

    def wrong(outputs: PackedBits) -> Bools:
        dets, obs = columns(outputs, 0, num_detectors), columns(outputs, num_detectors, num_outputs)
        predictions, is_discarded, _ = last.decode(end.seen(dets, obs))
        if is_discarded.any():
            raise ValueError(
                f"The decoder {decoder.name} discards shots. Count errors with SoftDecodingSampler."
            )
        return end.answers(predictions, obs)[0]

    def is_random() -> bool:
        return last.is_random or bool(getattr(sampling.decoder, "is_random", False))

    passes = sampling.passes()
    outcomes = DecidedOutcomes(
        passes,
        wrong,
        postselected,
        is_random,
        decoder.name,
        # All detectors and observables are certain then, so that decoders see nothing in each shot.
        is_certain_without_faults=not has_small_angles(passes.plan),
    )
    symptoms = symptoms_with_decisions(passes.plan, num_detectors, circuit.num_observables, outcomes)

    def no_faults() -> NoReturn:
        raise NotImplementedError(
            "error_budget and failures are not available for circuits with DECODE: which faults make a shot"
            " fail depends on what the decoders answer without them. Compare the rates of circuits with parts"
            " of their noise."
        )

    predict = partial(predict_nothing, circuit.num_observables)
    return DecodingProblem(symptoms, decoder.name, predict, postselected, None, False, no_faults)
