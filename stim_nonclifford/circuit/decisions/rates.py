"""Rates of circuits with decisions, however small."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt
import stim

from ...base.errors import ResourceLimitError
from ...dialect import first_conditional_block, without_decisions
from ...rates.decoded_rates.faults.decisions import (
    DecidedOutcomes,
    predict_nothing,
    symptoms_with_decisions,
)
from ...rates.decoded_rates.faults.mechanisms import Symptoms
from ...rates.decoded_rates.questions import DecodingProblem
from ...rates.decoding.decoders import CompiledRateDecoder, RateDecoder, decompositions
from ...rates.decoding.kept_shot_decoding import KeptShotDecoding
from ...simulation.compiler import DEFAULT_MAX_ACTIVE_COORDINATES, CompiledCircuit, compile_circuit
from ...simulation.compiler.algebra.gf2 import mask_of
from ...simulation.decisions import Branch, branches_of, is_switched
from ...simulation.engines import EngineOptions, PackedBits, likely_outputs
from ...simulation.logical_errors.noiseless_outputs import has_small_angles, random_outputs
from ...simulation.logical_errors.refusals import check_logical_errors
from ...simulation.sampling.rows import columns
from .deciding_decoders import STORE_BYTES
from .end import DecodedEnd
from .sampling import DecisionSampling
from .switched import MOST_BRANCHES, check_decides_branches, choices_of

_NOISELESS_SHOTS, _FEWEST_NOISELESS = 1 << 12, 16
"""Shots without noise that show the values of observables, and how many must make the choices that depend on
chance. Doubled, both, that takes twice the time, and rarer values of an observable are noticed."""

Bools = npt.NDArray[np.bool_]


def decided_question(
    circuit: stim.Circuit, decoder: RateDecoder, loop_decoder: Any, postselected: Bools
) -> DecodingProblem:
    """A circuit with decisions, or with blocks that records switch, whose rate is wanted.

    Args:
        circuit: The circuit, tagged.
        decoder: What decodes the observables at the end.
        loop_decoder: What decides; None: the same decoder.
        postselected: bool, shape (num_detectors,): the detectors that discard a shot.

    Raises:
        NotImplementedError: A decision is not supported.
        ResourceLimitError: There are too many choices of blocks.
        ValueError: There is no such decoder, or an output is random without noise.
    """
    if loop_decoder is None:
        loop_decoder = decoder.name if decoder.is_named else decoder.decoder
    switched = is_switched(circuit)
    if switched:
        check_decides_branches(circuit, loop_decoder)
    branches = list(_branches(circuit)) if switched else [Branch(circuit, (), (), (), ())]
    symptoms = []
    known, values = 0, 0  # the outputs of any branch so far, and their values without noise
    for branch in branches:
        of_branch, reference, executed = _symptoms(branch, decoder, loop_decoder, postselected)
        symptoms.append(of_branch)
        if (reference ^ values) & known & executed:
            raise ValueError(
                f"{first_conditional_block(circuit)}: a detector or an observable has another value without"
                " noise if other blocks are executed. Add the records that switch a block to it, so that its"
                " value is the same; or count errors with compile_detector_sampler."
            )
        known, values = known | executed, values | reference & executed
    if switched and postselected.any():
        postselected = np.append(postselected, True)

    def no_faults() -> NoReturn:
        raise NotImplementedError(
            "error_budget and failures are not available for circuits with DECODE, or with blocks that"
            " records switch: which faults make a shot fail depends on what follows without them. Compare the"
            " rates of circuits with parts of their noise."
        )

    predict = partial(predict_nothing, circuit.num_observables)
    named = CompiledRateDecoder(decoder.name, predict)
    return DecodingProblem(
        symptoms[0], named, postselected, None, False, no_faults, further=tuple(symptoms[1:])
    )


def _branches(circuit: stim.Circuit) -> Iterator[Branch]:
    for number, branch in enumerate(branches_of(circuit)):
        if number == MOST_BRANCHES:
            raise ResourceLimitError(
                f"{first_conditional_block(circuit)}: shots may choose among more than {MOST_BRANCHES}"
                " circuits. Switch fewer blocks, or let records switch gates (CX rec[-1] 0), which need no"
                " further circuit; or count errors with compile_detector_sampler, which needs those circuits"
                " alone that shots choose."
            )
        yield branch


def _symptoms(
    branch: Branch, decoder: RateDecoder, loop_decoder: Any, postselected: Bools
) -> tuple[Symptoms, int, int]:
    """The errors of a branch with what follows from them, its reference sample, and its outputs as a mask."""
    circuit = branch.circuit
    plain = compile_circuit(without_decisions(circuit), likely_outputs)
    plain.check_pauli_noise()
    if branch.choices:
        _check_detectors(plain, branch)
    else:
        check_logical_errors(plain, (), range(circuit.num_detectors))
    sampling = DecisionSampling(
        circuit,
        loop_decoder,
        EngineOptions(),
        max_active_coordinates=DEFAULT_MAX_ACTIVE_COORDINATES,
        asks_at_end=True,
        lines=branch.lines or None,
        records=branch.records,
    )
    end = DecodedEnd(sampling, decompositions(decoder.is_matching))
    last = KeptShotDecoding(decoder.checked(end.model), STORE_BYTES)
    num_detectors, num_outputs = circuit.num_detectors, sampling.num_outputs
    first_record = num_detectors + circuit.num_observables
    passes, taken = sampling.passes(), np.array([choice.taken for choice in branch.choices], dtype=np.bool_)

    def choices(outputs: PackedBits) -> Bools:
        return choices_of(branch, outputs, first_record, sampling.controls)

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

    # What random records choose may fix the values of observables, which are other ones in other shots.
    noiseless = passes.run_without_noise(_NOISELESS_SHOTS if branch.choices else 0, np.random.default_rng(0))
    made = choices(noiseless)
    of_chance = (made != made[:1]).any(axis=0)
    values = wrong(noiseless[(made == taken)[:, of_chance].all(axis=1)])
    if (values != values[:1]).any() or (of_chance.any() and len(values) < _FEWEST_NOISELESS):
        raise ValueError(
            f"Line {branch.choices[0].line}: an observable is random without noise where records choose"
            f" blocks so: {branch.name}. Measure the logical qubit in a basis in which its state is certain."
        )
    expected = values[0] if of_chance.any() else np.zeros(circuit.num_observables, dtype=np.bool_)
    # All detectors and observables of a branch are certain without noise, so that decoders see nothing. Which
    # shots are of this branch may be random, and matters if some are discarded.
    is_certain = not has_small_angles(passes.plan) and not (of_chance.any() and postselected.any())
    outcomes = DecidedOutcomes(
        passes,
        lambda outputs: wrong(outputs) ^ expected,
        postselected,
        is_random,
        decoder.name,
        is_certain_without_faults=is_certain,
        chosen=(lambda outputs: (choices(outputs) == taken).all(axis=1)) if branch.choices else None,
    )
    executed = (1 << first_record) - 1 - sum(1 << detector for detector in branch.absent)
    found = symptoms_with_decisions(passes.plan, num_detectors, circuit.num_observables, outcomes)
    reference = sampling.reference ^ mask_of((num_detectors + np.flatnonzero(expected)).tolist())
    return found, reference, executed


def _check_detectors(compiled: CompiledCircuit, branch: Branch) -> None:
    """Checks that all detectors of a branch are certain without noise."""
    found = random_outputs(compiled, range(compiled.program.num_detectors))
    if found:
        raise ValueError(
            f"Line {branch.choices[0].line}: detector D{found[0]} is random without noise in the circuit in"
            f" which records choose blocks so: {branch.name}. Decoders need detectors that are certain in"
            " each of these circuits. Leave out of it the records that choose, or the detector."
        )
