"""Logical error rates of circuits: what is asked becomes sums over fault sets, or decoding problems."""

from __future__ import annotations

import contextlib
import math
import warnings
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from hashlib import sha256
from typing import Any, Protocol, TypeVar, cast

import numpy as np
import stim

from ..base.arguments import flag
from ..base.errors import RandomObservableWarning, ResourceLimitError
from ..base.masks import Mask, postselected_outputs
from ..rates.estimation.limits import Deadline, Settings
from ..rates.fault_sets.interface import PlannedCircuit, estimate_rates
from ..rates.results import LogicalErrorRate
from ..simulation.compiler import DEFAULT_MAX_ACTIVE_COORDINATES, CompiledCircuit
from ..simulation.engines.time_limit import time_limit
from ..simulation.logical_errors.noiseless_outputs import random_outputs
from ..simulation.logical_errors.refusals import check_logical_errors
from .logical_states import (
    LogicalState,
    LogicalStateCheck,
    measured_observable,
    refuse_random_state,
    state_check_of,
)

_MOSTLY = 0.5
"""The part of a rate that is worth a warning if it is there without any fault."""


class _RatedCircuit(Protocol):
    """What rates ask of a circuit."""

    def compile(self) -> CompiledCircuit: ...
    def to_stim(self) -> stim.Circuit: ...
    def with_logical_readout(self: Checked, state: LogicalStateCheck | LogicalState) -> Checked: ...


Checked = TypeVar("Checked", bound=_RatedCircuit)


def checked_circuit(
    circuit: Checked,
    state_check: LogicalStateCheck | LogicalState | None,
    postselected_observables_mask: Mask | None,
) -> Checked:
    """The circuit whose observable is the check of a state, if there is one."""
    if state_check is None:
        return circuit
    if postselected_observables_mask is not None:
        raise ValueError(
            "A state check takes the place of the observables, so that none of these can be postselected."
            " Leave out state_check or postselected_observables_mask."
        )
    return circuit.with_logical_readout(state_check)


def planned(
    circuit: _RatedCircuit,
    postselection_mask: Mask | None,
    postselected_observables_mask: Mask | None,
    state_check: LogicalStateCheck | LogicalState | None = None,
    skip_reference_sample: bool = False,
) -> PlannedCircuit:
    """A circuit with what is asked: its observables, in shots in which the masks' outputs do not fire."""
    with remedies_of_rates():
        skip_reference_sample = flag(skip_reference_sample, "skip_reference_sample")
        written = circuit.compile()
        written.check_pauli_noise()
        asked = checked_circuit(circuit, state_check, postselected_observables_mask)
        compiled = asked.compile()
        num_detectors, num_observables = compiled.circuit.num_detectors, compiled.circuit.num_observables
        if postselection_mask is None and written.program.has_non_clifford_gates:
            postselection_mask = "all"  # a Clifford circuit may be meant to be decoded, and is refused
        postselected = postselected_outputs(
            postselection_mask, postselected_observables_mask, num_detectors, num_observables
        )
        if state_check is not None and random_outputs(
            compiled,
            [num_detectors + measured_observable(written.circuit, state_check)],
            postselected,
            skip_reference_sample=skip_reference_sample,
        ):
            refuse_random_state(written.circuit, state_check)
        check_logical_errors(
            compiled, postselected, skip_reference_sample=skip_reference_sample, written=written.circuit
        )
        found = PlannedCircuit(
            compiled, postselected, skip_reference_sample=skip_reference_sample, written=written
        )
        compiled.check_width(found.requested, DEFAULT_MAX_ACTIVE_COORDINATES)
        return found


@contextlib.contextmanager
def remedies_of_rates() -> Iterator[None]:
    """Says what helps where a circuit is too wide for its rate: rates have no argument for a higher limit."""
    try:
        yield
    except ResourceLimitError as error:
        if not error.need:
            raise
        limit = error.limit_that_would_do
        counts = (
            " Rates that are computed have no higher limit; count errors, in long shots:"
            f" compile_detector_sampler(max_active_coordinates={limit}).sample_counts(shots)."
            if limit
            else ""
        )
        raise ResourceLimitError(f"{error.need}{counts} {error.remedy}") from None


def rates_of(
    circuits: Sequence[_RatedCircuit],
    decoder: Any,
    postselection_mask: Mask | None,
    postselected_observables_mask: Mask | None,
    state_check: LogicalStateCheck | LogicalState | None,
    skip_reference_sample: bool,
    settings: Settings,
    confidence: bool = False,
    loop_decoder: Any = None,
) -> list[LogicalErrorRate]:
    """The logical error rates of circuits, with a decoder or without; see ``Circuit.logical_error_rate``."""
    check_loop_decoder(loop_decoder)
    if loop_decoder is not None and decoder is None:
        raise ValueError(
            "loop_decoder decides, but no decoder predicts the observables at the end. Give one:"
            ' decoder="pymatching".'
        )
    asked = postselection_mask, postselected_observables_mask, state_check, skip_reference_sample
    if decoder is not None:
        if flag(skip_reference_sample, "skip_reference_sample"):
            raise ValueError(
                "skip_reference_sample=True makes detectors raw parities, but decoders are told flips of the"
                " noiseless reference sample. Leave out skip_reference_sample or decoder."
            )
        # It imports Sinter, which takes as long as this package: not at the top.
        from ..rates.decoding_problems import decoded_error_rates

        readout = None if state_check is None else partial(_with_pauli_readout, state=state_check)
        with remedies_of_rates():
            rates = decoded_error_rates(
                cast("Any", circuits),
                decoder,
                settings,
                postselection_mask,
                postselected_observables_mask,
                confidence,
                loop_decoder,
                readout,
                _decided,
            )
        loop = () if loop_decoder is None else (_name_of(loop_decoder),)
        return _with_origins(circuits, rates, settings.seed, decoder, *asked, *loop)
    deadline = Deadline(settings.max_seconds)
    if flag(confidence, "confidence"):
        raise ValueError('confidence=True asks how sure a decoder is. Give one: decoder="pymatching".')
    try:
        with time_limit(settings.max_seconds):
            questions = [planned(circuit, *asked) for circuit in circuits]
    except TimeoutError:
        raise ResourceLimitError(
            f"max_seconds={settings.max_seconds:g} were over before all circuits had been checked for"
            " observables that are random without noise, as their coefficient vectors are long. Raise"
            " max_seconds."
        ) from None
    found = estimate_rates(questions, settings, deadline)
    for each, estimate in zip(questions, found, strict=True):
        if each.compiled.program.has_non_clifford_gates:
            _warn_of_faultless_errors(estimate)
    return _with_origins(circuits, found, settings.seed, decoder, *asked)


def check_loop_decoder(loop_decoder: Any) -> None:
    """Checks that an argument can be what decides: None, a name, a dictionary, or an object that decodes."""
    methods = ("decide", "compile_decoder_for_dem", "decode_via_files")
    decodes = not isinstance(loop_decoder, type) and any(hasattr(loop_decoder, name) for name in methods)
    if loop_decoder is not None and not isinstance(loop_decoder, str | Mapping) and not decodes:
        raise ValueError(
            "loop_decoder must be the name of a decoder, such as 'pymatching', a sinter.Decoder, a dictionary"
            f" of such, or an object with the methods begin and decide, but is {loop_decoder!r:.80}."
        )


def _decided(*asked: Any) -> Any:
    """The problem of a circuit with decisions; what it needs is imported only for it."""
    from .decisions import decided_question

    return decided_question(*asked)


def _name_of(decoder: Any) -> str:
    if isinstance(decoder, Mapping):
        return repr({name: _name_of(each) for name, each in decoder.items()})
    return decoder if isinstance(decoder, str) else repr(type(decoder))


def _with_origins(
    circuits: Sequence[_RatedCircuit],
    rates: list[LogicalErrorRate],
    seed: int,
    decoder: Any,
    *asked: object,
) -> list[LogicalErrorRate]:
    """Rates with the seed and the call that they come from, so that those of several seeds add up."""
    name = decoder if decoder is None or isinstance(decoder, str) else repr(type(decoder))
    call = repr([each.tolist() if isinstance(each, np.ndarray) else each for each in (name, *asked)])
    return [
        rate._with(seeds=(seed,), question=sha256(f"{circuit.to_stim()}\n{call}".encode()).hexdigest())
        for circuit, rate in zip(circuits, rates, strict=True)
    ]


def _with_pauli_readout(
    circuit: Checked, state: LogicalStateCheck | LogicalState
) -> tuple[Checked, int, float]:
    """The circuit with a measurement of the checked Pauli; its observable; and the weight of the check."""
    check = state_check_of(circuit.compile().circuit, state)
    terms = [k for k, weight in enumerate(check.weights) if weight]
    if len(terms) != 1 or not check.observables:
        raise ValueError(
            "With a decoder, a state is checked by one logical Pauli here, with an observable that has its"
            " Pauli targets: LogicalStateCheck((1,), (1,), (2**0.5,)) checks a T state by its Y, which"
            " X errors and Z errors flip. To check by several, count errors: the sampler"
            " soft_desaturated_gap with state_check."
        )
    (term,) = terms
    observable, weight = check.observables[term], check.weights[term]
    pauli = LogicalStateCheck((check.expectation_values[term],), (observable,), (math.copysign(1.0, weight),))
    return circuit.with_logical_readout(pauli), observable, abs(weight)


def _warn_of_faultless_errors(estimate: LogicalErrorRate) -> None:
    """Warns if most of a rate is there without any fault, because of rotations."""
    if estimate.without_faults > _MOSTLY * estimate.logical_error_rate:
        warnings.warn(
            f"{estimate.without_faults:.6g} of the logical error rate {estimate.logical_error_rate:.6g} is"
            " there without any fault. If the rotations by small angles of the circuit are no noise, the"
            " observable is random without noise, or the state_check has the wrong sign or angle.",
            RandomObservableWarning,
            stacklevel=4,
        )
