"""Circuits with a decoder as problems of estimation: independent errors, and what the decoder is told."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any, Protocol

import numpy as np
import stim

from ..base.arguments import flag
from ..base.arrays import Bools
from ..base.masks import Mask, bools_of_mask
from ..base.stim_refusals import is_of_random_outputs, random_outputs
from ..base.written_circuits import without_sources
from ..dialect import first_conditional_block, first_decision, has_no_tags
from ..simulation.compiler import CompiledCircuit, RequestedOutputs
from ..simulation.compiler.algebra.gf2 import mask_of
from ..simulation.compiler.heralds import herald_detectors
from ..simulation.faults import FaultTable
from ..simulation.logical_errors.noiseless_outputs import outcome_dependent, outcome_dependent_observables
from ..simulation.logical_errors.refusals import check_logical_errors
from ..simulation.plan import SamplingPlan
from .decoded_rates.estimate import decoded_rate
from .decoded_rates.faults.mechanisms import Symptoms, symptoms_of, symptoms_without
from .decoded_rates.faults.outcomes import PlanOutcomes, symptoms_of_plan
from .decoded_rates.questions import DecodingProblem
from .decoding.decoders import RateDecoder, decompositions, first_error_model, rate_decoder
from .decoding.decoding_processes import DecodingProcesses
from .decoding.matching.matching_graph import Edge, detectors_that_matter, edges_of
from .estimation.limits import Deadline, Settings
from .results import LogicalErrorRate

_WITHOUT_OBSERVABLES_MASK = (
    ". Count errors with the sampler soft_pymatching (docs/guides/decoding.md). Or leave out decoder= and"
    ' give postselection_mask="all": the rate is that of the shots in which no detector fires.'
)
_WITHOUT_STATE_CHECK = (
    ": a decoded shot is right or wrong, and a state is wrong by a part. Count with"
    " SoftDecodingSampler(decoder=..., state_check=...), which has the expectation values in the frame that"
    ' the decoder predicts. Or leave out decoder= and give postselection_mask="all": the rate is that of the'
    ' shots in which no detector fires. Circuits of cultivation are computed with decoder="desaturated".'
)


class DecodableCircuit(Protocol):
    """The part of ``Circuit`` that a decoder and its failures follow from."""

    num_detectors: int
    num_observables: int
    to_stim: Callable[[], stim.Circuit]
    compile: Callable[[], CompiledCircuit]
    _fault_table: Callable[[], FaultTable]
    detector_error_model: Callable[..., stim.DetectorErrorModel]


PauliReadout = tuple[DecodableCircuit, int, float]
"""A circuit that measures the checked logical Pauli; its observable; the expectation value's factor."""


def decoded_error_rates(
    circuits: Iterable[DecodableCircuit],
    decoder: Any,
    settings: Settings,
    postselection_mask: Mask | None,
    postselected_observables_mask: Mask | None,
    confidence: bool,
    loop_decoder: Any,
    read_out: Callable[[Any], PauliReadout] | None,
    decided: Callable[[stim.Circuit, RateDecoder, Any, Bools], DecodingProblem],
) -> list[LogicalErrorRate]:
    """The logical error rates of circuits with a decoder; see ``Circuit.logical_error_rate``.

    ``decided`` returns the problem of a circuit with decisions, with what decides and the detectors that
    discard a shot. ``read_out`` measures the logical state that is checked, for decoders of kept shots. No
    observable can be postselected: decoders predict all of them.
    """
    confidence = flag(confidence, "confidence")
    chosen = rate_decoder(decoder, confidence)  # is refused, if at all, before anything is computed
    for name, value, remedies in (
        ("postselected_observables_mask", postselected_observables_mask, _WITHOUT_OBSERVABLES_MASK),
        ("state_check", None if chosen.decodes_kept_shots else read_out, _WITHOUT_STATE_CHECK),
    ):
        if value is not None and (isinstance(value, str) or np.any(np.asarray(value, dtype=object))):
            raise ValueError(f"{name} is not available with decoder={chosen.name}{remedies}")
    overall = Deadline(settings.max_seconds)

    def problem(circuit: DecodableCircuit) -> DecodingProblem:
        written = circuit.to_stim()
        decision = None if has_no_tags(written) else first_decision(written)
        if decision is None and loop_decoder is not None:
            raise ValueError(
                "The circuit has no DECODE, and loop_decoder would have nothing to decide. Leave loop_decoder"
                " out."
            )
        place = decision if decision is not None else first_conditional_block(written)
        if place is not None and (confidence or chosen.decodes_kept_shots):
            what = "confidence=True" if confidence else f"decoder={chosen.name!r}"
            raise ValueError(
                f"{place}: {what} is not available for circuits with DECODE or with blocks that records"
                ' switch. Use decoder="pymatching" without a gap; with one, count errors with'
                " SoftDecodingSampler(confidence=True), where no block is switched."
            )
        if circuit.num_observables == 0:
            state = "; to check a state, one with the Pauli targets of each EXP_VAL"
            raise ValueError(
                "The circuit has no observables, so there is nothing to predict. Declare an observable with"
                f" OBSERVABLE_INCLUDE{state if chosen.decodes_kept_shots else ''}."
            )
        postselected = bools_of_mask(
            postselection_mask, circuit.num_detectors, "postselection_mask", "detectors"
        )
        if place is not None:
            return decided(written, chosen, loop_decoder, postselected)
        if chosen.decodes_kept_shots:
            given = None if postselection_mask is None else postselected
            return accepted_problem(circuit, chosen, given, read_out, confidence)
        own = rate_decoder(decoder, confidence, herald_detectors(written))
        return decoded_problem(circuit, own, postselected, confidence)

    problems = [problem(each) for each in circuits]
    with contextlib.ExitStack() as stack:
        if settings.threads > 1:
            predictors = [each.predict for each in problems]
            processes = stack.enter_context(DecodingProcesses(predictors, settings.threads - 1))
            for k, each in enumerate(problems):
                problems[k] = replace(each, predict=processes.shared(k))
        shares = overall.shares(len(problems))
        return [
            decoded_rate(each, settings, deadline) for each, deadline in zip(problems, shares, strict=True)
        ]


def decoded_problem(
    circuit: DecodableCircuit, decoder: RateDecoder, postselected: Bools, confidence: bool
) -> DecodingProblem:
    """A circuit with a decoder that decodes all shots."""
    if circuit.num_detectors == 0:
        raise ValueError(
            "The circuit has no detectors, so there is nothing to decode. Leave out decoder= to compute how"
            " often its observables are flipped."
        )
    symptoms = exact_symptoms(circuit)  # it says what is random, in words of this package
    try:
        model = first_error_model(circuit, decompositions(decoder.is_matching))
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
    # Where outcomes matter, a fault that is added need not have the effect that the decoder corrects.
    is_lightest = decoder.finds_least_weight and symptoms.outcomes is None
    if is_lightest:
        errors = {Edge(flipped, mask_of(known)) for flipped, known, *_ in symptoms.probabilities}
        is_lightest = edges_of(model) <= errors
    if decoder.is_pymatching and symptoms.outcomes is None:
        matters = postselected | detectors_that_matter(model)
        symptoms = symptoms_without(symptoms, np.flatnonzero(~matters).tolist())
    predict, table = decoder.checked(model).predict, circuit._fault_table
    return DecodingProblem(
        symptoms, decoder.name, predict, postselected, None, confidence, table, is_lightest
    )


def exact_symptoms(circuit: DecodableCircuit) -> Symptoms:
    """The errors of a circuit with what they flip, and what quantum outcomes flip if they matter."""
    if has_no_tags(without_sources(circuit.to_stim())):  # a Clifford circuit
        try:
            return symptoms_of(circuit.detector_error_model())
        except ValueError:  # exclusive errors, or outputs that are random
            pass
    compiled = circuit.compile()
    compiled.check_pauli_noise()
    check_logical_errors(compiled, (), range(circuit.num_detectors))
    if outcome_dependent(compiled).any() or outcome_dependent_observables(compiled).any():
        plan = _plan_of(compiled)
        return symptoms_of_plan(plan, circuit.num_detectors, PlanOutcomes(plan))
    try:
        return symptoms_of(circuit.detector_error_model(kind="noise_only"))
    except ValueError:  # errors exclude each other, and no independent ones have their distribution
        return symptoms_of_plan(_plan_of(compiled), circuit.num_detectors, None)


def _plan_of(compiled: CompiledCircuit) -> SamplingPlan:
    """The plan of all detectors and observables."""
    program = compiled.program
    return compiled.detector_plan(RequestedOutputs.of(range(program.num_detectors + program.num_observables)))


def accepted_problem(
    circuit: DecodableCircuit,
    decoder: RateDecoder,
    given: Bools | None,
    read_out: Callable[[Any], PauliReadout] | None,
    confidence: bool,
) -> DecodingProblem:
    """A circuit with a decoder of kept shots: of those that its own detectors accept, or the given ones."""
    try:
        # The S-proxy of a T state has no X, so that Stim refuses an observable of it.
        attempts = [{}] if read_out is None else [{}, {"kind": "noise_only"}]
        model = first_error_model(circuit, attempts)  # that of the sampler of this decoder, too
    except ValueError as error:
        if read_out is not None:
            raise
        cause = str(error).removesuffix(' kind="noise_only" exists for every circuit.')
        raise ValueError(
            f"The decoder needs the error model of the S-proxy. {cause} To check a logical state in"
            " place of the observables, pass state_check, which does without that model; or count"
            ' errors: SoftDecodingSampler(decoder=..., error_model="noise_only").'
        ) from error
    postselected = decoder.postselected(model, given)
    measured, observable, weight = (circuit, None, None) if read_out is None else read_out(circuit)
    compiled = measured.compile()
    compiled.check_pauli_noise()
    if weight is None:
        check_logical_errors(compiled, (), range(circuit.num_detectors))
    plan = _plan_of(compiled)
    symptoms = symptoms_of_plan(plan, measured.num_detectors, PlanOutcomes(plan))
    predict = decoder.checked(model, observable).predict
    return DecodingProblem(symptoms, decoder.name, predict, postselected, weight, confidence)
