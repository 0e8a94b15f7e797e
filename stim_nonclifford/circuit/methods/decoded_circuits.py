"""Circuits with decoders: what they must be, so that failing fault sets say what the rate is."""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterable
from typing import Any, Literal, Protocol

import numpy as np
import stim

from ...base.arguments import flag
from ...base.errors import InexactErrorModelWarning
from ...base.masks import Mask, checked_mask
from ...base.stim_refusals import is_of_random_outputs, random_outputs
from ...rates.decoded_rates.accepted_rate import accepted_rate
from ...rates.decoded_rates.answers.decoders import (
    compiled_decoder,
    decompositions_for,
    finds_least_weight,
    name_of_decoder,
)
from ...rates.decoded_rates.answers.predicting_matching import detectors_that_matter, predicting_matching
from ...rates.decoded_rates.estimate import decoded_rates
from ...rates.decoded_rates.faults.mechanisms import Symptoms, symptoms_of
from ...rates.decoded_rates.faults.outcomes import symptoms_of_plan
from ...rates.decoded_rates.questions import DecodedCircuit, Goal
from ...rates.decoded_rates.results import DecodedErrorRate
from ...rates.estimation.deadline import Deadline
from ...rates.fault_sets.interface import search_arguments
from ...rates.fault_sets.search.limits import Limits
from ...simulation.compiler import RequestedOutputs
from ...simulation.faults import FaultTable
from ...simulation.logical_errors.noiseless_outputs import outcome_dependent, outcome_dependent_observables
from ...simulation.logical_errors.refusals import check_logical_errors
from ...simulation.plan import SamplingPlan
from ..logical_states import LogicalState, LogicalStateCheck
from .kept_circuits import KeptCircuit, decodes_kept_shots, kept_question

__all__ = ["DecodableCircuit", "check_only_decoded", "exact_symptoms", "rates_with_decoder"]


_WITHOUT_OBSERVABLES_MASK = (
    ". Count errors with the sampler soft_pymatching (docs/guides/decoding.md). Or leave out decoder= and"
    ' give postselection_mask="all": the rate is that of the shots in which no detector fires.'
)
_WITHOUT_STATE_CHECK = (
    ": chains are among shots that are right or wrong, and a state is wrong by a part. Count with"
    " SoftDecodingSampler(decoder=..., state_check=...), which has the expectation values in the frame that"
    ' the decoder predicts. Or leave out decoder= and give postselection_mask="all": the rate is that of the'
    ' shots in which no detector fires. Circuits of cultivation are computed with decoder="desaturated".'
)


class DecodableCircuit(KeptCircuit, Protocol):
    """What is asked of a circuit, if its failing fault sets are wanted, too."""

    def _fault_table(self) -> FaultTable: ...
    def detector_error_model(  # noqa: D102
        self,
        *,
        decompose_errors: bool = ...,
        approximate_disjoint_errors: float = ...,
        ignore_decomposition_failures: bool = ...,
        kind: Literal["s_proxy", "noise_only"] = ...,
    ) -> stim.DetectorErrorModel: ...


def check_only_decoded(decoder: Any, postselected_observables_mask: Mask | None, state_check: object) -> None:
    """Refuses what is not available together with a decoder.

    Raises:
        ValueError: Observables are postselected, or a state is checked.
    """
    for name, value, remedies in (
        ("postselected_observables_mask", postselected_observables_mask, _WITHOUT_OBSERVABLES_MASK),
        ("state_check", None if decodes_kept_shots(decoder) else state_check, _WITHOUT_STATE_CHECK),
    ):
        is_asked = value is not None and (isinstance(value, str) or np.any(np.asarray(value, dtype=object)))
        if is_asked:
            raise ValueError(f"{name} is not available with decoder={name_of_decoder(decoder)}{remedies}")


def rates_with_decoder(
    circuits: Iterable[DecodableCircuit],
    decoder: Any,
    limits: Limits,
    seed: int | None,
    threads: int,
    progress: bool,
    postselection_mask: Mask | None = None,
    confidence: bool = False,
    state_check: LogicalStateCheck | LogicalState | None = None,
) -> list[DecodedErrorRate]:
    """The logical error rates of circuits with a decoder; see ``Circuit.logical_error_rate``.

    Args:
        circuits: The circuits.
        decoder: The name of a decoder, or a ``sinter.Decoder``.
        limits: Of these, the relative error at which it stops, and the seconds after which it does.
        seed: 0 <= seed < 2^64; None: fresh entropy.
        threads: Number of threads.
        progress: Whether to print what is under way to stderr.
        postselection_mask: The detectors that discard a shot.
        confidence: Whether to compute curves over how sure the decoder is.
        state_check: The logical state that is checked in the decoded frame; with a decoder of kept shots.

    Raises:
        ResourceLimitError: Time was too short, or no failing shot is found.
        TypeError: An argument is of the wrong type.
        ValueError: A circuit or the decoder is none that this is possible for.
    """
    number, threads, report = search_arguments(seed, threads, progress)
    confidence = flag(confidence, "confidence")
    begun = time.monotonic()
    goal = Goal(limits.relative_error, limits.max_seconds, begun)
    if not decodes_kept_shots(decoder):
        asked = [_decoded_circuit(circuit, decoder, postselection_mask, confidence) for circuit in circuits]
        return decoded_rates(asked, goal, number, report, threads)
    questions = [
        kept_question(circuit, decoder, postselection_mask, state_check, confidence) for circuit in circuits
    ]
    deadlines = Deadline(goal.max_seconds, begun).shares(len(questions))
    return [
        accepted_rate(question, goal, number, report, deadline)
        for question, deadline in zip(questions, deadlines, strict=True)
    ]


def _decoded_circuit(
    circuit: DecodableCircuit, decoder: Any, postselection_mask: Mask | None, confidence: bool
) -> DecodedCircuit:
    if circuit.num_observables == 0:
        raise ValueError(
            "The circuit has no observables, so there is nothing to predict. Declare an observable with"
            " OBSERVABLE_INCLUDE."
        )
    if circuit.num_detectors == 0:
        raise ValueError(
            "The circuit has no detectors, so there is nothing to decode. Leave out decoder= to compute how"
            " often its observables are flipped."
        )
    postselected = checked_mask(postselection_mask, circuit.num_detectors, "postselection_mask", "detectors")
    symptoms = exact_symptoms(circuit)
    model = _model_for(circuit, decoder)
    if symptoms.outcomes is None and not confidence:
        ignored = np.flatnonzero(~detectors_that_matter(model, decoder))
        symptoms = symptoms.without(np.setdiff1d(ignored, postselected).tolist())
    recipe = compiled_decoder, (model, decoder, confidence)
    return DecodedCircuit(
        symptoms,
        compiled_decoder(model, decoder, confidence),
        name_of_decoder(decoder),
        circuit._fault_table,
        tuple(postselected),
        confidence,
        None if confidence else predicting_matching(model, decoder),
        finds_least_weight(decoder),
        recipe,
    )


def exact_symptoms(circuit: DecodableCircuit) -> Symptoms:
    """The errors of a circuit, which must be independent.

    Args:
        circuit: The circuit.

    Returns:
        What they flip, with their probabilities; and what quantum outcomes flip, if any output depends on
        them.

    Raises:
        ValueError: They exclude each other, or an output is random without noise.
    """
    tagged = circuit.to_stim()
    if tagged == tagged.without_tags():  # a Clifford circuit
        try:
            return symptoms_of(circuit.detector_error_model())
        except ValueError:  # exclusive errors, or outputs that are random
            pass
    compiled = circuit.compile()
    compiled.check_pauli_noise()
    check_logical_errors(compiled, (), range(circuit.num_detectors))
    plan: SamplingPlan | None = None
    if outcome_dependent(compiled).any() or outcome_dependent_observables(compiled).any():
        outputs = range(circuit.num_detectors + circuit.num_observables)
        plan = compiled.detector_plan(RequestedOutputs.of(outputs))
    try:
        if plan is not None:
            return symptoms_of_plan(plan, circuit.num_detectors)
        return symptoms_of(circuit.detector_error_model(kind="noise_only"))
    except ValueError as error:
        raise ValueError(
            "Some errors of the circuit exclude each other, as those of HERALDED_ERASE, of E and"
            " ELSE_CORRELATED_ERROR, or of most PAULI_CHANNEL_2 do, and no independent errors have their"
            " distribution, which logical_error_rate with a decoder needs. Count errors with the sampler"
            " soft_pymatching (docs/guides/decoding.md). Or write a channel as independent errors, which"
            " differ from it by the squares of its probabilities: CORRELATED_ERROR(0.001) X0 Z1, and so for"
            " each of its Paulis."
        ) from error


def _model_for(circuit: DecodableCircuit, decoder: Any) -> stim.DetectorErrorModel:
    """The error model that a decoder is told, as by Sinter: decomposed if that is possible."""
    first, second = decompositions_for(decoder)
    with warnings.catch_warnings():
        # What decoders are told need not be exact: the rate is that of the circuit with such a decoder.
        warnings.simplefilter("ignore", InexactErrorModelWarning)
        try:
            return circuit.detector_error_model(approximate_disjoint_errors=True, **first)
        except ValueError:
            pass
        try:
            return circuit.detector_error_model(approximate_disjoint_errors=True, **second)
        except ValueError as error:
            cause = error.__cause__
            if not (isinstance(cause, ValueError) and is_of_random_outputs(cause)):
                raise
            raise ValueError(
                "Decoders are told the error model of the S-proxy, the circuit with S in place of T, and Stim"
                f" refuses to compute it: {random_outputs(cause)}. Measure the logical qubit so that its"
                " observable is certain with S, too; or leave out decoder= and give"
                ' postselection_mask="all": the rate is that of the shots in which no detector fires.'
            ) from error
