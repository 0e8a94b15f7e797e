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
from ...rates.decoding.decoders import RateDecoder, decompositions
from ...rates.decoding.kept_shot_decoding import KeptShotDecoding
from ...simulation.compiler import DEFAULT_MAX_ACTIVE_COORDINATES, CompiledCircuit, compile_circuit
from ...simulation.compiler.algebra.gf2 import mask_of, ones
from ...simulation.decisions import Branch, branches_of, is_switched
from ...simulation.engines import EngineOptions, PackedBits, likely_outputs, reference_detectors
from ...simulation.logical_errors.noiseless_outputs import has_small_angles, random_outputs
from ...simulation.logical_errors.refusals import check_logical_errors
from ...simulation.sampling.rows import columns
from .deciding_decoders import STORE_BYTES
from .end import DecodedEnd
from .sampling import DecisionSampling
from .switched import MOST_BRANCHES, check_decides_branches, choices_of

_NOISELESS_SHOTS, _RANDOM = 1 << 12, 0.1
"""Shots without noise that show whether observables are random, and the part of those with some choices of
blocks that may be wrong. Doubled, both, that takes twice the time, and fewer circuits are refused."""

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
    reference = None
    if switched:
        plain = compile_circuit(without_decisions(circuit), likely_outputs)
        reference = reference_detectors(plain, DEFAULT_MAX_ACTIVE_COORDINATES)
    symptoms = [
        _DecidedBranch(each, decoder, loop_decoder, reference).symptoms(postselected) for each in branches
    ]
    if switched and postselected.any():
        postselected = np.append(postselected, True)

    def no_faults() -> NoReturn:
        raise NotImplementedError(
            "error_budget and failures are not available for circuits with DECODE, or with blocks that"
            " records switch: which faults make a shot fail depends on what follows without them. Compare the"
            " rates of circuits with parts of their noise; with DECODE,"
            " Circuit.error_budget(by, loop_decoder=...) does that by sampling."
        )

    predict = partial(predict_nothing, circuit.num_observables)
    further = tuple(symptoms[1:])
    return DecodingProblem(
        symptoms[0], decoder.name, predict, postselected, None, False, no_faults, further=further
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


class _DecidedBranch:
    """A circuit without blocks that records switch, or one choice of them, with its decoders.

    Decoders see what noise flips in its circuit. For shots, detectors and observables are flips of the
    reference sample of the circuit with blocks, as a mask, if it is given.
    """

    def __init__(
        self, branch: Branch, decoder: RateDecoder, loop_decoder: Any, reference: int | None
    ) -> None:
        self._branch, self._name, circuit = branch, decoder.name, branch.circuit
        plain = compile_circuit(without_decisions(circuit), likely_outputs)
        plain.check_pauli_noise()
        if branch.choices:
            _check_detectors(plain, branch)
        else:
            check_logical_errors(plain, (), range(circuit.num_detectors))
        self._sampling = DecisionSampling(
            circuit,
            loop_decoder,
            EngineOptions(),
            max_active_coordinates=DEFAULT_MAX_ACTIVE_COORDINATES,
            asks_at_end=True,
            lines=branch.lines or None,
            records=branch.records,
        )
        self._passes = self._sampling.passes()
        self._end = DecodedEnd(self._sampling, decompositions(decoder.is_matching))
        self._last = KeptShotDecoding(decoder.checked(self._end.model), STORE_BYTES)
        self._num_detectors = circuit.num_detectors
        self._first_record = circuit.num_detectors + circuit.num_observables
        self._taken = np.array([choice.taken for choice in branch.choices], dtype=np.bool_)
        self._flipped = np.zeros(self._first_record, dtype=np.bool_)
        if reference is not None:
            flipped = (reference ^ self._sampling.reference) & ~mask_of(branch.absent)
            self._flipped[ones(flipped)] = True
        # All detectors and observables are certain then, so that decoders see nothing in each shot.
        self._is_certain = not has_small_angles(self._passes.plan)
        self._choices_are_random = False
        if branch.choices:
            self._look_without_noise()

    def _look_without_noise(self) -> None:
        """Looks at observables in shots without noise that make the choices."""
        noiseless = self._passes.run_without_noise(_NOISELESS_SHOTS, np.random.default_rng(0))
        made = self._choices(noiseless)
        self._choices_are_random = bool((made != made[:1]).any())
        wrong = self._wrong(noiseless[(made == self._taken).all(axis=1)])
        if len(wrong) and wrong.mean(axis=0).max() > _RANDOM:
            raise ValueError(
                f"Line {self._branch.choices[0].line}: an observable is random without noise where records"
                f" choose blocks so: {self._branch.name}. Measure the logical qubit in a basis in which its"
                " state is certain."
            )
        self._is_certain &= not wrong.any()

    def symptoms(self, postselected: Bools) -> Symptoms:
        """Its errors, and what follows from them, decisions included."""
        # Without faults, chance may say which shots are of this branch: that matters if some are discarded.
        is_certain = self._is_certain and not (self._choices_are_random and postselected.any())
        outcomes = DecidedOutcomes(
            self._passes,
            self._wrong,
            postselected,
            self._is_random,
            self._name,
            is_certain_without_faults=is_certain,
            chosen=self._chosen if self._branch.choices else None,
            flipped=self._flipped[: self._num_detectors],
        )
        num_observables = self._first_record - self._num_detectors
        return symptoms_with_decisions(self._passes.plan, self._num_detectors, num_observables, outcomes)

    def _choices(self, outputs: PackedBits) -> Bools:
        """What the records of shots choose: shape (shots, choices)."""
        return choices_of(self._branch, outputs, self._first_record, self._sampling.controls)

    def _chosen(self, outputs: PackedBits) -> Bools:
        """The shots whose records choose this branch."""
        return np.asarray((self._choices(outputs) == self._taken).all(axis=1))

    def _wrong(self, outputs: PackedBits) -> Bools:
        """The observables that the last decoder predicts wrongly: shape (shots, observables)."""
        dets = columns(outputs, 0, self._num_detectors)
        obs = columns(outputs, self._num_detectors, self._sampling.num_outputs)
        predictions, is_discarded, _ = self._last.decode(self._end.seen(dets, obs))
        if is_discarded.any():
            raise ValueError(
                f"The decoder {self._name} discards shots. Count errors with SoftDecodingSampler."
            )
        return self._end.answers(predictions, obs)[0] ^ self._flipped[self._num_detectors :]

    def _is_random(self) -> bool:
        return self._last.is_random or bool(getattr(self._sampling.decoder, "is_random", False))


def _check_detectors(compiled: CompiledCircuit, branch: Branch) -> None:
    """Checks that all detectors of a branch are certain without noise."""
    found = random_outputs(compiled, range(compiled.program.num_detectors))
    if found:
        raise ValueError(
            f"Line {branch.choices[0].line}: detector D{found[0]} is random without noise in the circuit in"
            f" which records choose blocks so: {branch.name}. Decoders need detectors that are certain in"
            " each of these circuits. Leave out of it the records that choose, or the detector."
        )
