"""Circuits with a decoder that knows kept shots only, and what is asked of them."""

from __future__ import annotations

import math
import warnings
from typing import TYPE_CHECKING, Any, Literal, Protocol

import numpy as np
import numpy.typing as npt
import stim

from ...base.errors import InexactErrorModelWarning
from ...base.masks import Mask, checked_mask
from ...rates.decoded_rates.answers.decoders import compiled_decoder, name_of_decoder
from ...rates.decoded_rates.answers.decoding import Gaps, Predict
from ...rates.decoded_rates.faults.outcomes import symptoms_of_plan
from ...rates.decoded_rates.questions import AcceptedQuestion
from ...simulation.compiler import CompiledCircuit, RequestedOutputs
from ...simulation.logical_errors.refusals import check_logical_errors
from ..logical_states import LogicalState, LogicalStateCheck, state_check_of

if TYPE_CHECKING:
    from ...rates.decoding.desaturation.desaturated_gap import DesaturatedGapDecoder

__all__ = ["KeptCircuit", "decodes_kept_shots", "kept_question"]

_NAME = "desaturated"


class KeptCircuit(Protocol):
    """What is asked of a circuit."""

    @property
    def num_detectors(self) -> int: ...  # noqa: D102
    @property
    def num_observables(self) -> int: ...  # noqa: D102
    def to_stim(self) -> stim.Circuit: ...  # noqa: D102
    def compile(self) -> CompiledCircuit: ...  # noqa: D102
    def detector_error_model(  # noqa: D102
        self, *, approximate_disjoint_errors: float = ..., kind: Literal["s_proxy", "noise_only"] = ...
    ) -> stim.DetectorErrorModel: ...
    def with_logical_readout(self, state: LogicalStateCheck = ...) -> KeptCircuit: ...  # noqa: D102


def decodes_kept_shots(decoder: Any) -> bool:
    """Whether a decoder knows kept shots only, so that their rates are a sum over kept fault sets."""
    return decoder == _NAME if isinstance(decoder, str) else _has_mask(decoder)


def _has_mask(decoder: Any) -> bool:
    return callable(getattr(decoder, "postselected_detectors", None))


def kept_question(
    circuit: KeptCircuit,
    decoder: Any,
    postselection_mask: Mask | None,
    state_check: LogicalStateCheck | LogicalState | None,
    confidence: bool,
) -> AcceptedQuestion:
    """What is asked of a circuit whose kept shots are decoded.

    Args:
        circuit: The circuit.
        decoder: ``"desaturated"``, or a decoder with the method ``postselected_detectors``.
        postselection_mask: The detectors that discard a shot; None: those that the decoder postselects.
        state_check: The logical state that is checked in the decoded frame; None: observables are.
        confidence: Whether a curve over the gap is asked for.

    Raises:
        TypeError: The mask has the wrong dtype.
        ValueError: The circuit has nothing to decode; the mask leaves out a detector that the decoder
            postselects; the state cannot be checked in this way; or errors exclude each other.
    """
    if circuit.num_observables == 0:
        raise ValueError(
            "The circuit has no observables, so there is nothing to predict. Declare an observable with"
            " OBSERVABLE_INCLUDE; to check a state, one with the Pauli targets of each EXP_VAL."
        )
    model = _model_of(circuit, has_state_check=state_check is not None)
    name = name_of_decoder(decoder)
    whole = _decoder(decoder)
    needed = whole.postselected_detectors(model)
    postselected = _mask(postselection_mask, needed, circuit.num_detectors, name)
    read_out: KeptCircuit = circuit
    observable: int | None = None
    weight: float | None = None
    if state_check is not None:
        check = state_check_of(circuit.to_stim(), state_check)
        read_out, observable, weight = _with_pauli_read_out(circuit, check)
    compiled = read_out.compile()
    compiled.check_pauli_noise()
    if weight is None:
        check_logical_errors(compiled, (), range(circuit.num_detectors))
    outputs = range(read_out.num_detectors + read_out.num_observables)
    plan = compiled.detector_plan(RequestedOutputs.of(outputs))
    try:
        symptoms = symptoms_of_plan(plan, read_out.num_detectors)
    except ValueError as error:
        raise ValueError(
            "Some errors of the circuit exclude each other, and a sum over fault sets needs independent"
            " ones. Count errors with the sampler soft_desaturated_gap."
        ) from error
    predict = compiled_decoder(model, whole, confidence=True)
    if observable is not None:
        predict = _of_observable(predict, observable)
    return AcceptedQuestion(symptoms, predict, name, postselected, weight, confidence)


def _decoder(decoder: Any) -> DesaturatedGapDecoder:
    from ...rates.decoding.decoders import gap_decoder_named  # Sinter takes as long to import as this package

    return gap_decoder_named(decoder) if isinstance(decoder, str) else decoder


def _model_of(circuit: KeptCircuit, *, has_state_check: bool) -> stim.DetectorErrorModel:
    """The model that the sampler of this decoder has, too."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", InexactErrorModelWarning)
        try:
            return circuit.detector_error_model(approximate_disjoint_errors=True)
        except ValueError as error:
            if not has_state_check:
                cause = str(error).removesuffix(' kind="noise_only" exists for every circuit.')
                raise ValueError(
                    f"The decoder needs the error model of the S-proxy. {cause} To check a logical state in"
                    " place of the observables, pass state_check, which does without that model; or count"
                    ' errors: SoftDecodingSampler(decoder=..., error_model="noise_only").'
                ) from error
            # The S-proxy of a T state has no X, so that Stim refuses an observable of it.
            return circuit.detector_error_model(kind="noise_only", approximate_disjoint_errors=True)


def _mask(
    given: Mask | None, needed: npt.NDArray[np.bool_], num_detectors: int, name: str
) -> npt.NDArray[np.bool_]:
    if given is None:
        return needed
    found = np.zeros(num_detectors, dtype=np.bool_)
    found[list(checked_mask(given, num_detectors, "postselection_mask", "detectors"))] = True
    left_out = np.flatnonzero(needed & ~found)
    if len(left_out):
        raise ValueError(
            f"postselection_mask leaves out D{left_out[0]}, which the decoder {name} postselects. Leave out"
            " the mask, or add what DesaturatedGapDecoder().postselected_detectors(model) says."
        )
    return found


def _with_pauli_read_out(circuit: KeptCircuit, check: LogicalStateCheck) -> tuple[KeptCircuit, int, float]:
    """The circuit with a measurement of the checked Pauli; its observable; and the weight."""
    terms = [k for k, weight in enumerate(check.weights) if weight]
    if len(terms) != 1 or not check.observables:
        raise ValueError(
            "With a decoder, a state is checked by one logical Pauli here, with an observable that has its"
            " Pauli targets: LogicalStateCheck((1,), (1,), (2**0.5,)) checks a T state by its Y, which"
            " X errors and Z errors flip. To check by several, count errors: the sampler"
            " soft_desaturated_gap with state_check."
        )
    (term,) = terms
    weight = check.weights[term]
    pauli = LogicalStateCheck(
        (check.expectation_values[term],), (check.observables[term],), (math.copysign(1.0, weight),)
    )
    return circuit.with_logical_readout(pauli), check.observables[term], abs(weight)


def _of_observable(predict: Predict, observable: int) -> Predict:
    """The predictions of one observable alone."""

    def predict_one(dets: npt.NDArray[np.uint8], /) -> tuple[npt.NDArray[np.uint8], Gaps]:
        predictions, gaps = predict(dets)
        return predictions[:, [observable >> 3]] >> np.uint8(observable & 7) & np.uint8(1), gaps

    return predict_one
