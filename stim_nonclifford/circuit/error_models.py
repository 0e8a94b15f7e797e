"""The detector error models of a circuit: what decoders are given, and what Stim finds in the S-proxy's."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
import numpy.typing as npt
import stim

from ..base.arguments import choice, flag, probability
from ..base.errors import InexactErrorModelWarning, ResourceLimitError
from ..base.masks import Mask, checked_mask
from ..base.memory import can_be_allocated, memory_is_a_limit
from ..base.stim_refusals import is_of_random_outputs, random_outputs
from ..base.written_circuits import instructions_in, without_sources
from ..dialect import check_unconditional, has_no_tags, three_qubit_errors_of
from ..simulation.compiler import CompiledCircuit, compile_circuit
from ..simulation.compiler.error_models import check_decomposed, conditioned, decomposed, detector_error_model
from ..simulation.compiler.heralds import herald_detectors, with_heralds_apart
from ..simulation.compiler.program.extent import check_coordinates, check_flattened, check_targets, extent_of
from ..simulation.compiler.program.relabelling import relabelled
from ..simulation.engines import likely_outputs
from ..simulation.logical_errors.coherent_noise import twirl_advice
from ..simulation.logical_errors.noiseless_outputs import outcome_dependent, outputs_of_chance
from ..simulation.logical_errors.refusals import warn_of_frames, warn_of_observables_flipped_by_chance
from ..simulation.noise_events import usual_effects
from .rewriting.channels import check_chains
from .rewriting.leakage import has_leakage, with_averaged_leakage
from .rewriting.leakage_events import LeakageEvents, can_be_events
from .rewriting.stand_ins import proxy_of
from .rewriting.state_aware_twirl import with_state_aware_twirl

Compile: TypeAlias = Callable[[], CompiledCircuit]
"""Compiles the circuit that is asked about, or has it compiled already."""

ErrorModelKind = Literal["s_proxy", "noise_only"]
_MANY_UNUSED_QUBITS = 1 << 16
_EVEN = 0.5
"""An error of this probability is as likely as none."""


def error_model_of(
    circuit: stim.Circuit,
    compile: Compile,
    kind: ErrorModelKind | stim.DetectorErrorModel,
    flags: Mapping[str, bool],
    approximate_disjoint_errors: float,
    postselection_mask: Mask | None,
) -> stim.DetectorErrorModel:
    """The detector error model of a tagged circuit, with Stim's flags; see ``detector_error_model``."""
    circuit = without_sources(circuit)
    is_clifford = has_no_tags(circuit)
    if not is_clifford:
        check_unconditional(circuit)
    if not isinstance(kind, stim.DetectorErrorModel):
        kind = choice(kind, "kind", get_args(ErrorModelKind), ", or a stim.DetectorErrorModel")
    flags = {name: flag(value, name) for name, value in flags.items()}
    if not isinstance(approximate_disjoint_errors, bool):
        approximate_disjoint_errors = probability(approximate_disjoint_errors, "approximate_disjoint_errors")
    decompose_errors, ignores_failures = flags["decompose_errors"], flags["ignore_decomposition_failures"]
    new_edges = not flags["block_decomposition_from_introducing_remnant_edges"]
    num_detectors = circuit.num_detectors
    silent: list[int] = []
    if postselection_mask is not None:
        silent = checked_mask(postselection_mask, num_detectors, "postselection_mask", "detectors")
    # Stim decomposes errors of its own heralded channels well, but not those that stand for leakage.
    is_stims = kind == "s_proxy" and (is_clifford or not has_leakage(circuit))
    heralds = herald_detectors(circuit) if decompose_errors and not is_stims else frozenset()
    events = (
        None
        if is_clifford or isinstance(kind, stim.DetectorErrorModel) or not can_be_events(circuit)
        else LeakageEvents(circuit)
    )
    paulis = circuit if events is None else events.without_leakage()
    # An error that flips a silent detector need not be decomposed, and one with a herald is later.
    may_fail = ignores_failures or bool(silent or heralds)
    if kind == "s_proxy":
        arguments = {
            **flags,
            "flatten_loops": flags["flatten_loops"] or bool(silent),
            "ignore_decomposition_failures": may_fail,
        }
        proxy = circuit if is_clifford else _decoded_proxy(paulis)
        model = _proxy_model(
            circuit, proxy, approximate_disjoint_errors=approximate_disjoint_errors, **arguments
        )
    elif isinstance(kind, stim.DetectorErrorModel):
        found = (kind.num_detectors, kind.num_observables)
        if found != (num_detectors, circuit.num_observables):
            raise ValueError(
                "The error model is that of another circuit: it has (detectors, observables) ="
                f" {found}, but this circuit has {(num_detectors, circuit.num_observables)}."
            )
        model = kind.flattened() if flags["flatten_loops"] else kind
    else:
        check_flattened(circuit)
        with memory_is_a_limit():
            compiled = compile()
            if compiled.program.has_non_pauli_channels or compiled.program.has_leakage:
                paulis = with_state_aware_twirl(with_averaged_leakage(paulis, flags=True))
                compiled = compile_circuit(paulis, likely_outputs)
            usual = usual_effects(compiled) if _may_have_usual_errors(circuit) else None
            model = _noise_only_model(circuit, compiled, approximate_disjoint_errors, usual)
    if silent:
        model = conditioned(model, silent)
    if decompose_errors and kind != "s_proxy":
        model = decomposed(
            model,
            ignore_decomposition_failures=may_fail,
            block_decomposition_from_introducing_remnant_edges=not new_edges,
        )
    if events is not None:
        given = {**flags, "decompose_errors": False, "flatten_loops": True}

        def model_of(marked: stim.Circuit) -> stim.DetectorErrorModel:
            if kind == "s_proxy":
                proxy = _decoded_proxy(marked)
                return _proxy_model(marked, proxy, approximate_disjoint_errors=True, **given)
            return _noise_only_model(marked, compile_circuit(marked, likely_outputs), True, None)

        leaked = events.model(model_of, decompose_errors)
        for error in conditioned(leaked, silent) if silent else leaked:
            if error.type == "error":
                model.append(error)
    if heralds:
        model = with_heralds_apart(model, heralds, is_trusted=False, new_edges=new_edges)
    if decompose_errors and may_fail and not ignores_failures:
        check_decomposed(model)
    if not is_clifford:
        _warn_of_inexact_models(compile, silent)
    return model


def _noise_only_model(
    circuit: stim.Circuit,
    compiled: CompiledCircuit,
    approximate_disjoint_errors: float,
    usual: Collection[int] | None,
) -> stim.DetectorErrorModel:
    return detector_error_model(
        compiled.effects("detectors"),
        circuit.num_detectors,
        circuit.num_observables,
        circuit.get_detector_coordinates(),
        usual=usual,
        approximate_disjoint_errors=approximate_disjoint_errors,
    )


def random_outputs_of(circuit: stim.Circuit, compile: Compile) -> npt.NDArray[np.bool_]:
    """The detectors and observables that depend on random outcomes: bool, shape (num_outputs,)."""
    num_outputs = circuit.num_detectors + circuit.num_observables
    if not can_be_allocated(num_outputs):
        raise ResourceLimitError(
            f"The circuit has {num_outputs:,} detectors and observables, and the memory has no room for a"
            " byte for each. Lower the repeat counts."
        )
    found = np.zeros(num_outputs, dtype=np.bool_)
    found[outputs_of_chance(compile())] = True
    return found


def _warn_of_inexact_models(compile: Compile, postselected: list[int]) -> None:
    try:
        found = outcome_dependent(compile())
    except (NotImplementedError, ResourceLimitError):  # it cannot be sampled, and no answer will be wrong
        return
    found[postselected] = False
    if found.any():
        warnings.warn(
            "Detectors depend on outcomes of quantum measurements"
            f" ({np.count_nonzero(found)} of {len(found)}, first D{found.argmax()}). No error model"
            " describes these exactly, and a decoder that uses it is worse than it could be. Postselect"
            f" them (postselection_mask). {twirl_advice(compile(), np.flatnonzero(found))}".strip(),
            InexactErrorModelWarning,
            stacklevel=4,
        )
    warn_of_observables_flipped_by_chance(compile(), postselected, stacklevel=4)
    warn_of_frames(compile(), InexactErrorModelWarning, stacklevel=4)


def _proxy_model(circuit: stim.Circuit, proxy: stim.Circuit, **arguments: Any) -> stim.DetectorErrorModel:
    """Stim's model of the S-proxy of a circuit."""
    extent = extent_of(proxy)
    check_coordinates(extent)
    if arguments["flatten_loops"]:
        check_targets(extent)
    if proxy.num_qubits > len(extent.qubits) + _MANY_UNUSED_QUBITS:  # Stim stores all of them
        proxy = relabelled(extent, {label: k for k, label in enumerate(sorted(extent.qubits))})
    try:
        return proxy.detector_error_model(**arguments)
    except ValueError as error:
        if proxy != circuit and is_of_random_outputs(error):
            raise ValueError(
                "Stim refuses to compute an error model of the S-proxy, the circuit with S in place of T:"
                f' {random_outputs(error)}. kind="noise_only" exists for every circuit.'
            ) from error
        raise


def _decoded_proxy(circuit: stim.Circuit) -> stim.Circuit:
    """The S-proxy with the Pauli errors that decoders are told of."""
    check_chains(circuit)
    twirled = with_state_aware_twirl(with_averaged_leakage(circuit, flags=True))
    return proxy_of(without_sources(twirled), "s_proxy")


def _probabilities(part: stim.CircuitInstruction) -> Sequence[float]:
    """The probabilities of the errors of an instruction."""
    errors = three_qubit_errors_of(part)
    if errors is not None:
        return errors.probabilities
    return part.gate_args_copy() if stim.gate_data(part.name).is_noisy_gate else ()


def _may_have_usual_errors(circuit: stim.Circuit) -> bool:
    """Whether an error may be more likely than none: a channel's, or one of a chain."""
    return any(
        part.name == "ELSE_CORRELATED_ERROR" or sum(_probabilities(part)) > _EVEN
        for part in instructions_in(circuit)
    )


def searched_s_proxy(circuit: stim.Circuit, search: Callable[[stim.Circuit], Any]) -> Any:
    """What Stim finds in the error model of the S-proxy."""
    check_flattened(circuit)
    proxy = proxy_of(circuit, "s_proxy")
    try:
        return search(proxy)
    except ValueError as error:
        if proxy == circuit or not is_of_random_outputs(error):
            raise
        raise ValueError(
            "Stim searches the error model of the S-proxy, the circuit with S in place of T, and refuses:"
            f" {random_outputs(error)}. Search with T gates by circuit.fault_distance() and"
            " circuit.malignant_sets(), or search the error model"
            ' circuit.detector_error_model(kind="noise_only") by its own methods.'
        ) from error
