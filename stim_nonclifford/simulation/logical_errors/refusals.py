"""What a logical error is: questions that no number answers are refused, and misleading ones warned of.

A kept shot is wrong if an observable is flipped. That says something only if the observable has one value
without noise, and if every detector either discards the shot or is told to a decoder.
"""

from __future__ import annotations

import warnings
from collections.abc import Collection, Sequence

import stim

from ...base.errors import InexactErrorModelWarning, RandomObservableWarning, ResourceLimitError
from ..compiler import CompiledCircuit
from .mechanism_flips import observables_flipped_by_chance
from .noiseless_outputs import (
    first_paulis,
    frames_of_chance,
    has_expectation_of,
    lines_of_observable,
    random_outputs,
)

_WIDTH_TO_WARN = 20
"""Wider circuits are sampled without a look at their observables, which would take as long as some shots."""

_REMEDIES_OF_OBSERVABLES = (
    "Measure the logical qubit without noise in a basis in which its state is certain"
    " (docs/guides/expectation_values.md; end_to_end_circuit has the argument readout); or sample with a"
    " LogicalStateCheck (state_check); or leave the observable out, or discard the shots in which it is"
    " flipped (postselected_observables_mask)."
)
_REMEDIES_OF_DETECTORS = "Postselect such a detector (postselection_mask), or leave it out."
_REMEDIES_WITH_DECODER = (
    "Measure the logical qubit without noise in a basis in which its state is certain"
    " (docs/guides/expectation_values.md; end_to_end_circuit has the argument readout), or leave the"
    " observable out. SoftDecodingSampler(decoder=..., state_check=...) counts how often a decoded state is"
    " wrong.",
    "Leave such a detector out of the circuit: decoders need the ones that are certain without noise,"
    " postselected or not.",
)


def check_logical_errors(
    compiled: CompiledCircuit,
    postselected: Collection[int],
    decoded: Collection[int] = (),
    *,
    skip_reference_sample: bool = False,
    written: stim.Circuit | None = None,
) -> None:
    """Checks that the logical errors of a circuit are well defined.

    Messages name the lines of ``written``, if it is given.
    """
    num_detectors, num_observables = compiled.program.num_detectors, compiled.program.num_observables
    if not num_observables:
        raise ValueError(
            "The circuit has no observables, so there is no logical error. Declare an observable with"
            " OBSERVABLE_INCLUDE."
        )
    check_no_detector_is_left(num_detectors, postselected, decoded)
    asked = [*decoded, *range(num_detectors, num_detectors + num_observables)]
    found = random_outputs(compiled, asked, postselected, skip_reference_sample=skip_reference_sample)
    if found:
        names = names_of_outputs(compiled, found, written=written)
        raise ValueError(_message(compiled, names, found, postselected, has_decoder=bool(decoded)))
    frames = frames_of_chance(compiled)
    if frames:
        raise ValueError(
            _message_of_frames(compiled, names_of_outputs(compiled, frames, written=written), frames)
        )


def check_no_detector_is_left(
    num_detectors: int, postselected: Collection[int], decoded: Collection[int] = ()
) -> None:
    """Checks that every detector either discards shots or is decoded."""
    left = sorted(set(range(num_detectors)).difference(postselected, decoded))
    if left:
        remedies = [
            'decode: logical_error_rate(decoder="pymatching") (docs/guides/decoded_rates.md), or sample with'
            " soft_pymatching (docs/guides/decoding.md)",
            'pass postselection_mask="all" to discard every shot in which a detector fires',
            "remove these detectors from the circuit",
        ]
        raise ValueError(
            f"{detectors_left(left, num_detectors)}, so that nothing is made of what they see. Either"
            f" {'; or '.join(remedies)}."
        )


def detectors_left(left: Sequence[int], num_detectors: int) -> str:
    """Says how many detectors are neither postselected nor decoded, for a message."""
    what = "detector is" if num_detectors == 1 else f"detectors {'is' if len(left) == 1 else 'are'}"
    return f"{len(left)} of {num_detectors} {what} neither postselected nor decoded (the first is D{left[0]})"


def warn_of_random_outputs(
    compiled: CompiledCircuit,
    postselected: Collection[int],
    decoded: Collection[int] = (),
    *,
    max_active_coordinates: int = _WIDTH_TO_WARN,
    stacklevel: int = 2,
) -> bool:
    """Warns if an observable, or a detector that is decoded, is random without noise; returns whether.

    Circuits of more than 20 active coordinates are not looked at.
    """
    first = compiled.program.num_detectors
    asked = [*decoded, *range(first, first + compiled.program.num_observables)]
    try:
        found = random_outputs(
            compiled,
            asked,
            postselected,
            max_active_coordinates=min(max_active_coordinates, _WIDTH_TO_WARN),
        )
        frames = [] if found else frames_of_chance(compiled)
    except ResourceLimitError:
        return False
    if found or frames:
        names = names_of_outputs(compiled, found or frames)
        message = (
            _message(compiled, names, found, postselected)
            if found
            else _message_of_frames(compiled, names, frames)
        )
        warnings.warn(message, RandomObservableWarning, stacklevel=stacklevel + 1)
    return bool(found or frames)


def warn_of_observables_flipped_by_chance(
    compiled: CompiledCircuit, postselected: Collection[int], *, stacklevel: int = 2
) -> bool:
    """Warns if single errors flip an observable with a probability other than 0 and 1."""
    try:
        found = observables_flipped_by_chance(compiled, postselected, max_active_coordinates=_WIDTH_TO_WARN)
    except ResourceLimitError:
        return False
    if found:
        outputs = [compiled.program.num_detectors + k for k in found]
        warnings.warn(
            f"Single errors flip {names_of_outputs(compiled, outputs, begins=False)} with a probability that"
            " is neither 0 nor 1: an error before a T gate changes what this gate does to the state. No error"
            " model describes that, and no decoder corrects it, although it may know of the error. If the"
            " logical state is what you ask for, leave out its measurement: ask for expectation values"
            " (EXP_VAL) and check the decoded state (state_check; docs/guides/expectation_values.md).",
            InexactErrorModelWarning,
            stacklevel=stacklevel + 1,
        )
    return bool(found)


def warn_of_frames(
    compiled: CompiledCircuit, category: type[Warning] = RandomObservableWarning, *, stacklevel: int = 2
) -> bool:
    """Warns if only the Pauli frame of an observable is known, and its value depends on T gates, too.

    If an EXP_VAL asks for the same Paulis, the frame is what a decoder of the state predicts, and right.
    """
    circuit, first = compiled.circuit, compiled.program.num_detectors
    frames = [
        output
        for output in frames_of_chance(compiled)
        if not has_expectation_of(circuit, first_paulis(circuit, output - first))
    ]
    if frames:
        names = names_of_outputs(compiled, frames)
        warnings.warn(_message_of_frames(compiled, names, frames), category, stacklevel=stacklevel + 1)
    return bool(frames)


def names_of_outputs(
    compiled: CompiledCircuit,
    outputs: Sequence[int],
    *,
    begins: bool = True,
    written: stim.Circuit | None = None,
) -> str:
    """Names outputs for a message, at the beginning of a sentence or not.

    They are detectors, then observables with their lines.
    """
    names = []
    for output in outputs[:5]:
        observable = output - compiled.program.num_detectors
        if observable < 0:
            names.append(f"detector {output}")
        else:
            lines = lines_of_observable(written or compiled.circuit, observable)
            where = f" (line {lines[0]}{', ...' if len(lines) > 1 else ''})" if lines else ""
            names.append(f"observable {observable}{where}")
    if len(outputs) > 5:
        names.append(f"{len(outputs) - 5} more")
    text = names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
    return text[0].upper() + text[1:] if begins else text


def _message_of_frames(compiled: CompiledCircuit, names: str, frames: Sequence[int]) -> str:
    observable = frames[0] - compiled.program.num_detectors
    product = "*".join(
        f"{target.pauli_type}{target.value}" for target in first_paulis(compiled.circuit, observable)
    )
    return (
        f"{names} {'has' if len(frames) == 1 else 'have'} Pauli targets after T"
        " gates: flips of the Pauli frame are counted, but errors before a T gate change the value otherwise,"
        " too. Measure the product without noise in place of the Pauli targets, everywhere: "
        f"MPP {product}, then OBSERVABLE_INCLUDE({observable}) rec[-1]."
    )


def _message(
    compiled: CompiledCircuit,
    names: str,
    found: Sequence[int],
    postselected: Collection[int],
    *,
    has_decoder: bool = False,
) -> str:
    one = len(found) == 1
    num_detectors = compiled.program.num_detectors
    of_observables, of_detectors = (
        _REMEDIES_WITH_DECODER if has_decoder else (_REMEDIES_OF_OBSERVABLES, _REMEDIES_OF_DETECTORS)
    )
    remedies = [of_observables] * (found[-1] >= num_detectors)
    remedies += [of_detectors] * (found[0] < num_detectors)
    return (
        f"{names} {'is' if one else 'are'} random without noise"
        f"{', even in kept shots' if postselected else ''}, so that {'its' if one else 'their'} flips are no"
        f" errors. {' '.join(remedies)}"
    )
