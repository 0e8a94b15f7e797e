"""The reference engine, in plain NumPy: the definition of what a plan samples.

It is slow and simple: one shot at a time. Tests compare every other engine with it, shot by shot.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ..._native import TIE, certain_at, check_plan
from ...base.arrays import words_of_bits
from ...base.errors import ResourceLimitError
from ..plan import (
    ACTIVATE,
    BLOCK_SHOTS,
    LEAKAGE_CHANGE,
    LEAKAGE_END,
    LEAKAGE_FLIP,
    LEAKAGE_MIX,
    LEAKAGE_MOVE,
    LEAKAGE_SPREAD,
    MEASURE,
    SamplingPlan,
    plain_attributes,
)
from .contract import PackedBits, Tally
from .random_streams import LeakageDraws, OutcomeDecisions, Stream, words

Bits = npt.NDArray[np.bool_]


def noise_of_shots(
    plan: SamplingPlan, seed: int, first_shot: int, num_shots: int
) -> Iterator[tuple[list[int], Bits]]:
    """The noise of the shots first_shot, ..., first_shot + num_shots - 1.

    For each shot, the mechanisms of its events; and the row of bits that they, the coins and leakage flip,
    with the constant of the plan: bool, shape (num_row_bits,).
    """
    words_per_shot = -(-len(plan.coins) // 64)
    hidden_words_per_shot = -(-len(plan.hidden_coins) // 64)
    for block in range(first_shot // BLOCK_SHOTS, -(-(first_shot + num_shots) // BLOCK_SHOTS)):
        count_words = words(seed, Stream.COUNTS, block, BLOCK_SHOTS)
        counts = np.searchsorted(plan.count_thresholds, count_words, side="right")
        event_words = words(seed, Stream.EVENTS, block, int(counts.sum()))
        coin_words = words(seed, Stream.COINS, block, BLOCK_SHOTS * words_per_shot)
        hidden_words = words(seed, Stream.READOUTS, block, BLOCK_SHOTS * hidden_words_per_shot)
        ends = np.cumsum(counts)
        for k in range(BLOCK_SHOTS):
            shot = block * BLOCK_SHOTS + k
            if not first_shot <= shot < first_shot + num_shots:
                continue
            mechanisms = [_mechanism(plan, int(w)) for w in event_words[ends[k] - counts[k] : ends[k]]]
            row = _noise_row(plan, mechanisms)
            coins = _coins(coin_words[k * words_per_shot :], len(plan.coins))
            for f in coins:
                row[plan.coins.row(f)] ^= True
            flips: list[int] = []
            if plan.has_leakage:
                flips = _leak(plan, mechanisms, row, LeakageDraws(seed, shot))
            if plan.num_readout_decays:
                hidden = _coins(hidden_words[k * hidden_words_per_shot :], len(plan.hidden_coins))
                _decay(plan, mechanisms, row, _readouts(plan, mechanisms, coins, hidden, flips))
            yield mechanisms, row


def acting_mechanisms(plan: SamplingPlan, events: Iterable[int]) -> list[int]:
    """The mechanisms that act in a shot: two events of one cancel; of a site only the first event counts."""
    acting: dict[int, None] = {}
    used_sites = set()
    for mechanism in events:
        site = int(plan.sites[mechanism])
        if site >= 0:
            if site in used_sites:
                continue
            used_sites.add(site)
        if mechanism in acting:
            del acting[mechanism]
        else:
            acting[mechanism] = None
    return list(acting)


def _mechanism(plan: SamplingPlan, word: int) -> int:
    product = word * plan.num_mechanisms
    cell, fraction = product >> 64, product & (1 << 64) - 1
    return cell if fraction < int(plan.alias_thresholds[cell]) else int(plan.alias_indices[cell])


def _coins(coin_words: npt.NDArray[np.uint64], num_coins: int) -> list[int]:
    """The coins of a shot that are 1."""
    return [f for f in range(num_coins) if int(coin_words[f // 64]) >> (f % 64) & 1]


def _noise_row(plan: SamplingPlan, mechanisms: list[int]) -> Bits:
    row = np.zeros(plan.num_row_bits, dtype=np.bool_)
    row[plan.constant] = True
    for mechanism in acting_mechanisms(plan, mechanisms):
        if not _is_decay(plan, mechanism):
            row[plan.effects.row(mechanism)] ^= True
    return row


def _is_decay(plan: SamplingPlan, mechanism: int) -> bool:
    first_leakage = plan.num_mechanisms - len(plan.leakage_entries)
    return first_leakage - plan.num_readout_decays <= mechanism < first_leakage


def _readouts(
    plan: SamplingPlan, mechanisms: list[int], coins: list[int], hidden: list[int], flips: list[int]
) -> Bits:
    """The bits of readouts before any record decays; bool, shape (num_readout_decays,)."""
    bits = np.zeros(plan.num_readout_decays, dtype=np.bool_)
    bits[plan.readout_constant] = True
    events = [m for m in acting_mechanisms(plan, mechanisms) if not _is_decay(plan, m)]
    tables = (plan.event_readouts, plan.coin_readouts, plan.hidden_coins, plan.leakage_readouts)
    for table, numbers in zip(tables, (events, coins, hidden, flips), strict=True):
        for number in numbers:
            bits[table.row(number)] ^= True
    return bits


def _decay(plan: SamplingPlan, mechanisms: list[int], row: Bits, bits: Bits) -> None:
    """What a shot with these events flips in its row by records that decay, the first ones first."""
    first = plan.num_mechanisms - len(plan.leakage_entries) - plan.num_readout_decays
    for mechanism in sorted({m for m in mechanisms if _is_decay(plan, m)}):
        chain = [mechanism - first]
        while (previous := int(plan.readout_predecessors[chain[-1]])) >= 0:
            chain.append(previous)
        if bits[chain].sum() % 2:
            row[plan.effects.row(mechanism)] ^= True
            bits[plan.event_readouts.row(mechanism)] ^= True


def _leak(plan: SamplingPlan, mechanisms: list[int], row: Bits, draws: LeakageDraws) -> list[int]:
    """Flips what leakage flips in the row of a shot with these events; returns the rows of leakage."""
    flipped: list[int] = []
    for first in plan.leakage_always:
        flipped += _follow_script(plan, int(first), {}, row, draws)
    first_mechanism = plan.num_mechanisms - len(plan.leakage_entries)
    acting = acting_mechanisms(plan, mechanisms) if len(plan.leakage_entries) else []
    changes = [int(plan.leakage_entries[m - first_mechanism]) for m in acting if m >= first_mechanism]
    for k in [*range(1, len(changes)), *range(len(changes))[:1]]:  # the first one after all others
        change = changes[k]
        item = plan.leakage_items[change]
        decided = draws.deciding_bits() if k == 0 and _is_decided(plan, change) else None
        flipped += _follow_script(
            plan, change + 1, {int(item["qubit"]): int(item["to"])}, row, draws, decided
        )
    return flipped


def _is_decided(plan: SamplingPlan, change: int) -> bool:
    """Whether the final checks of the last item after a change are decided by one word."""
    place = change + 1
    while plan.leakage_items[place]["kind"] == LEAKAGE_FLIP:
        place += 1
    before, last = plan.leakage_items[change], plan.leakage_items[place]
    if last["kind"] != LEAKAGE_MIX or plan.leakage_items[place + 1]["kind"] != LEAKAGE_END:
        return False
    return bool(last["qubit"] == before["qubit"] and int(last["states"]) >> int(before["to"]) & 1)


def _follow_script(
    plan: SamplingPlan,
    place: int,
    states: dict[int, int],
    row: Bits,
    draws: LeakageDraws,
    decided: list[bool] | None = None,
) -> list[int]:
    """What is flipped by a script from an item on, with these states of its qubits; the others are 0."""
    flipped: list[int] = []
    while (item := plan.leakage_items[place])["kind"] != LEAKAGE_END:
        place += 1
        qubit, partner = int(item["qubit"]), int(item["partner"])
        state = states.get(qubit, 0)
        if not int(item["states"]) >> state & 1:
            continue
        rows = range(item["first_row"], item["end_row"])
        if item["kind"] == LEAKAGE_MIX:
            values = iter(decided or ())
            for k in range(0, len(rows), 64):
                some = rows[::-1][k : k + 64]
                for number, bit in zip(some, draws.bits(len(some)), strict=True):
                    check = int(plan.leakage_final_checks[number])
                    flips = bit if decided is None or check < 0 else bool(row[check]) != next(values)
                    if flips:
                        row[plan.leakage_rows.row(number)] ^= True
                        flipped.append(number)
        elif item["kind"] in (LEAKAGE_SPREAD, LEAKAGE_MOVE):
            if not states.get(partner, 0) and draws.happens(int(item["threshold"])):
                states[partner] = state
                states[qubit] = 0 if item["kind"] == LEAKAGE_MOVE else state
        elif draws.happens(int(item["threshold"])):
            states[qubit] = int(item["to"]) if item["kind"] == LEAKAGE_CHANGE else state
            for number in rows:
                row[plan.leakage_rows.row(number)] ^= True
            flipped += rows
            place += int(item["to"]) if item["kind"] == LEAKAGE_FLIP else 0
    return flipped


Vector = npt.NDArray[np.complex128]


class IndexPauli(NamedTuple):
    """The Pauli P|α> = i^i_power (-1)^|α & z| |α ^ x>, with α the index of a coefficient."""

    x: int  # the bits of the index that P flips
    z: int  # the bits of the index whose parity is the sign
    i_power: int  # the power of i in the prefactor


def initial_vector() -> Vector:
    """The vector without active coordinates: the single coefficient 1."""
    return np.ones(1, dtype=np.complex128)


def rotate(vector: Vector, pauli: IndexPauli, cosine: float, sine: float) -> Vector:
    """Applies a rotation: exp(-i φ P) v = cos φ v - i sin φ P v."""
    return cosine * vector - 1j * sine * _apply_pauli(vector, pauli)


def activate(vector: Vector, about_x: bool, cosine: float, sine: float) -> Vector:
    """Adds a coordinate in exp(-i φ Z)|+>, or in exp(-i φ X)|0> if ``about_x``, as the highest bit."""
    if about_x:
        return np.concatenate([cosine * vector, -1j * sine * vector])
    phase = complex(cosine, -sine)
    return np.concatenate([phase * vector, phase.conjugate() * vector]) / np.sqrt(2)


def outcome_weights(vector: Vector, pauli: IndexPauli, pivot: int) -> tuple[float, float]:
    """The squared norms of the projections on outcome 0 and outcome 1."""
    return tuple(float(np.vdot(part, part).real) for part in _projections(vector, pauli, pivot))  # type: ignore[return-value]


def measure(vector: Vector, pauli: IndexPauli, pivot: int, outcome: int) -> Vector:
    """The normalized vector after an outcome, without the pivot's coordinate.

    If P has an X on the pivot, the projected state is an eigenstate of P, and the coefficients with pivot bit
    0 determine the others. If not, P is diagonal, and one parity of the index remains: the other bits of the
    index determine the pivot bit.
    """
    part = _projections(vector, pauli, pivot)[outcome]
    return part / np.linalg.norm(part)


def _projections(vector: Vector, pauli: IndexPauli, pivot: int) -> tuple[Vector, Vector]:
    """The projected vectors on the remaining coordinates for both outcomes, not normalized."""
    rest = np.arange(len(vector) // 2)
    low = rest & (1 << pivot) - 1
    index = (rest ^ low) << 1 | low  # the remaining bits, with a 0 at the pivot
    if pauli.x:
        kept, flipped = vector[index], _apply_pauli(vector, pauli)[index]
        # Half of the entries of (v ± P v) / 2, times √2, as the other half has the same norm.
        return (kept + flipped) / np.sqrt(2), (kept - flipped) / np.sqrt(2)
    odd = _parity(index, pauli.z) ^ int(pauli.i_power == 2)
    return vector[index | odd << pivot], vector[index | (1 - odd) << pivot]


def _apply_pauli(vector: Vector, pauli: IndexPauli) -> Vector:
    source = np.arange(len(vector)) ^ pauli.x
    phase = 1j**pauli.i_power
    return phase * np.where(_parity(source, pauli.z), -vector[source], vector[source])


def _parity(index: npt.NDArray[np.int64], mask: int) -> npt.NDArray[np.int64]:
    bits = index & mask
    for shift in (32, 16, 8, 4, 2, 1):
        if shift < mask.bit_length():
            bits ^= bits >> shift
    return bits & 1


_MAX_AVERAGED_COINS = 16

_TIE = TIE
"""Closer probabilities are equal, but for rounding."""


@dataclass(frozen=True)
class Shot:
    """One shot."""

    discarded: bool  # whether a postselected output is 1
    outputs: Bits  # bool, shape (num_outputs,); undefined if the shot is discarded
    mechanisms: list[int]  # the mechanisms of the events in the shot


@dataclass(frozen=True)
class Branch:
    """One sequence of outcomes that a shot can have."""

    probability: float  # the probability of the sequence
    discarded: bool  # whether an outcome check discards the shot
    outputs: Bits  # the outputs that the outcomes flip; bool, shape (num_outputs,)
    # the outcomes; if the shot is discarded, up to the one that completes the failed check
    outcomes: tuple[int, ...]


class ReferenceEngine:
    """Draws shots one by one."""

    def __init__(self, plan: SamplingPlan) -> None:
        check_plan(plain_attributes(plan))
        self.plan = plan

    @property
    def name(self) -> str:
        """See ``SamplingEngine.name``."""
        return "reference"

    def count(
        self, seed: int, first_shot: int, shots: int, max_errors: int = 0, *, list_errors: bool = False
    ) -> Tally:
        """See ``SamplingEngine.count``."""
        attempted = discards = 0
        patterns: dict[int, int] = {}
        error_shots: list[int] = []
        for number, shot in enumerate(self._shots(seed, first_shot, shots), start=first_shot):
            if max_errors and len(error_shots) >= max_errors and number % BLOCK_SHOTS == 0:
                break
            attempted += 1
            discards += shot.discarded
            if not shot.discarded and shot.outputs.any():
                error_shots.append(number)
                pattern = sum(1 << int(k) for k in np.flatnonzero(shot.outputs))
                patterns[pattern] = patterns.get(pattern, 0) + 1
        listed = error_shots if list_errors else []
        return Tally(attempted, discards, len(error_shots), patterns, listed)

    def sample(self, seed: int, first_shot: int, shots: int, *, num_outputs: int | None = None) -> PackedBits:
        """See ``SamplingEngine.sample``."""
        bits = self._kept_bits(seed, first_shot, shots)[0][:, :num_outputs]
        return np.packbits(bits, axis=1, bitorder="little")

    def sample_kept(self, seed: int, first_shot: int, shots: int) -> PackedBits:
        """See ``SamplingEngine.sample_kept``."""
        return self.sample_kept_numbered(seed, first_shot, shots)[0]

    def sample_kept_numbered(
        self, seed: int, first_shot: int, shots: int
    ) -> tuple[PackedBits, npt.NDArray[np.int64]]:
        """See ``SamplingEngine.sample_kept_numbered``."""
        bits, numbers = self._kept_bits(seed, first_shot, shots)
        return np.packbits(bits, axis=1, bitorder="little"), numbers

    def _kept_bits(self, seed: int, first_shot: int, shots: int) -> tuple[Bits, npt.NDArray[np.int64]]:
        kept = [
            (first_shot + k, shot.outputs)
            for k, shot in enumerate(self._shots(seed, first_shot, shots))
            if not shot.discarded
        ]
        bits = np.array([outputs for _, outputs in kept], dtype=np.bool_)
        return bits.reshape(len(kept), self.plan.num_outputs), np.array([k for k, _ in kept], dtype=np.int64)

    def _shots(self, seed: int, first_shot: int, shots: int) -> Iterable[Shot]:
        """The shots that the methods above count or return."""
        return sample_shots(self.plan, seed, first_shot, shots)

    def rows(self, seed: int, first_shot: int, shots: int) -> npt.NDArray[np.uint64]:
        """See ``RowEngine.rows``."""
        plan = self.plan
        drawn = [row for _, row in noise_of_shots(plan, seed, first_shot, shots)]
        bits = np.array(drawn, dtype=np.bool_).reshape(shots, plan.num_row_bits)
        ends = np.cumsum([plan.num_checks, plan.num_signature_bits])
        return np.concatenate([words_of_bits(part) for part in np.split(bits, ends, axis=1)], axis=1)

    def outcomes(
        self, signatures: npt.NDArray[np.uint64], numbers: npt.NDArray[np.uint64], seed: int
    ) -> npt.NDArray[np.uint64]:
        """See ``RowEngine.outcomes``."""
        plan = self.plan
        found = np.zeros((len(numbers), plan.num_outputs), dtype=np.bool_)
        for k, number in enumerate(numbers.tolist()):
            packed = np.ascontiguousarray(signatures[k]).view(np.uint8)
            signature = np.unpackbits(packed, count=plan.num_signature_bits, bitorder="little").view(np.bool_)
            branch = _branch_after_outcomes(plan, signature, seed, number)
            if branch is not None:
                found[k] = branch[plan.num_signs + plan.num_outcome_checks :]
        return words_of_bits(found)

    def statistics(self) -> dict[str, int]:
        """An empty dictionary, as this engine stores nothing and does not count its work."""
        return {}


def sample_shots(plan: SamplingPlan, seed: int, first_shot: int, num_shots: int) -> Iterator[Shot]:
    """Samples the shots first_shot, ..., first_shot + num_shots - 1."""
    for shot, (mechanisms, row) in enumerate(noise_of_shots(plan, seed, first_shot, num_shots), first_shot):
        yield _finish(plan, row, seed, shot, mechanisms)


def outcome_law(plan: SamplingPlan, signature: Bits) -> list[Branch]:
    """All branches of a signature (bool, shape (num_signature_bits,)) with their exact probabilities.

    A branch ends where an outcome check discards the shot.
    """
    branches: list[Branch] = []
    first_output = plan.num_signs + plan.num_outcome_checks
    start = (0, initial_vector(), _branch_row(plan, signature), 1.0, ())
    stack: list[tuple[int, Vector, Bits, float, tuple[int, ...]]] = [start]
    while stack:
        k, vector, row, probability, outcomes = stack.pop()
        k, vector = _run_to_measurement(plan, k, vector, row)
        if k == len(plan.operations):
            branches.append(Branch(probability, False, row[first_output:], outcomes))
            continue
        operation = plan.operations[k]
        weight = _weight_of_one(vector, operation)
        for outcome, conditional in ((1, weight), (0, 1 - weight)):
            if conditional == 0:
                continue
            after = row.copy()
            if outcome:
                after[plan.outcome_effects.row(len(outcomes))] ^= True
            reached = probability * conditional
            path = (*outcomes, outcome)
            if _check_fires(plan, after, len(outcomes)):
                branches.append(Branch(reached, True, after[first_output:], path))
                continue
            projected = _project(vector, operation, outcome)
            stack.append((k + 1, projected, after, reached, path))
    return branches


def likely_outputs(plan: SamplingPlan) -> Bits:
    """The outputs that the outcomes flip without noise, if each has its more likely value.

    The result is bool, of shape (num_outputs,).

    The values are chosen in the order of the operations, each given the earlier ones. If both values are
    equally likely, the outcome is 0, as on the base path. The plan must not postselect.
    """
    row = _branch_row(plan, np.zeros(plan.num_signature_bits, dtype=np.bool_))
    vector = initial_vector()
    k = 0
    for effect in range(plan.num_outcomes):
        k, vector = _run_to_measurement(plan, k, vector, row)
        outcome = int(_weight_of_one(vector, plan.operations[k]) > 0.5 * (1 + _TIE))
        if outcome:
            row[plan.outcome_effects.row(effect)] ^= True
        vector = _project(vector, plan.operations[k], outcome)
        k += 1
    return row[plan.num_signs + plan.num_outcome_checks :]


def averaged_coins(plan: SamplingPlan) -> Bits:
    """What each coin flips, for an average over all of them: bool, shape (num_coins, num_row_bits)."""
    num_coins = len(plan.coins)
    if num_coins > _MAX_AVERAGED_COINS:
        raise ResourceLimitError(
            f"The exact probabilities need an average over 2^{num_coins} outcomes of coins; the limit is"
            f" 2^{_MAX_AVERAGED_COINS}. Postselecting fewer detectors may need fewer coins."
        )
    return plan.coins.dense(plan.num_row_bits)


def fate_of_row(plan: SamplingPlan, row: Bits) -> tuple[float, dict[int, float]]:
    """The exact probabilities of the results of a shot whose faults flip a row (``SamplingPlan.row_of``).

    The constant of the plan is added, and coins are averaged over. Returns the probability that the shot is
    discarded; and for each pattern of outputs (bit k is output k), the probability that the shot is kept with
    these outputs.
    """
    coins = averaged_coins(plan)
    row = row.copy()
    row[plan.constant] ^= True
    discarded = 0.0
    kept: dict[int, float] = {}
    for heads in itertools.product((False, True), repeat=len(coins)):
        tossed = row ^ np.logical_xor.reduce(coins[list(heads)], axis=0)
        weight = 0.5 ** len(coins)
        for branch in _branches_of_row(plan, tossed):
            if branch.discarded:
                discarded += weight * branch.probability
                continue
            pattern = sum(1 << int(k) for k in np.flatnonzero(branch.outputs))
            kept[pattern] = kept.get(pattern, 0.0) + weight * branch.probability
    return discarded, kept


def _branches_of_row(plan: SamplingPlan, row: Bits) -> list[Branch]:
    """The branches of a row that includes constant and coins, with the complete outputs of the shot."""
    first_output = plan.num_checks + plan.num_signature_bits
    outputs = row[first_output:]
    if plan.never_kept or row[: plan.num_checks].any():
        return [Branch(1.0, True, outputs, ())]
    law = outcome_law(plan, row[plan.num_checks : first_output])
    return [dataclasses.replace(branch, outputs=branch.outputs ^ outputs) for branch in law]


def _finish(plan: SamplingPlan, row: Bits, seed: int, shot: int, mechanisms: list[int]) -> Shot:
    """Tests the noise-only checks, and then draws the quantum outcomes."""
    first_output = plan.num_checks + plan.num_signature_bits
    outputs = row[first_output:]
    if plan.never_kept or row[: plan.num_checks].any():
        return Shot(True, outputs, mechanisms)
    branch = _branch_after_outcomes(plan, row[plan.num_checks : first_output], seed, shot)
    if branch is None:
        return Shot(True, outputs, mechanisms)
    return Shot(False, outputs ^ branch[plan.num_signs + plan.num_outcome_checks :], mechanisms)


def _branch_after_outcomes(plan: SamplingPlan, signature: Bits, seed: int, shot: int) -> Bits | None:
    """The branch row of a shot after its outcomes; None if an outcome check discards it."""
    branch = _branch_row(plan, signature)
    vector = initial_vector()
    decisions = OutcomeDecisions(seed, shot, plan.num_outcomes, separate=plan.separate_draws)
    k = 0
    for j in range(plan.num_outcomes):
        k, vector = _run_to_measurement(plan, k, vector, branch)
        operation = plan.operations[k]
        outcome = decisions.decide(_weight_of_one(vector, operation), j)
        if outcome:
            branch[plan.outcome_effects.row(j)] ^= True
        if _check_fires(plan, branch, j):
            return None
        vector = _project(vector, operation, outcome)
        k += 1
    return branch


def _branch_row(plan: SamplingPlan, signature: Bits) -> Bits:
    row = np.zeros(plan.num_branch_bits, dtype=np.bool_)
    row[plan.branch_constant] = True
    for bit in np.flatnonzero(signature):
        row[plan.signature_images.row(int(bit))] ^= True
    return row


def _run_to_measurement(plan: SamplingPlan, k: int, vector: Vector, row: Bits) -> tuple[int, Vector]:
    """Applies the operations from number k on, up to the next measurement."""
    while k < len(plan.operations) and plan.operations[k]["kind"] != MEASURE:
        vector = _rotate(plan, plan.operations[k], vector, row)
        k += 1
    return k, vector


def _rotate(plan: SamplingPlan, operation: np.void, vector: Vector, row: Bits) -> Vector:
    """Rotates by the angles of an operation's terms, the first of which may activate a coordinate."""
    terms = plan.rotation_terms[operation["first_term"] : operation["end_term"]]
    angles = [(float(term["cosine"]), _sine(term, row)) for term in terms]
    pauli = _pauli_of(operation)
    if operation["kind"] == ACTIVATE:
        vector = activate(vector, pauli.x != 0, *angles.pop(0))
    for cosine, sine in angles:
        vector = rotate(vector, pauli, cosine, sine)
    return vector


def _sine(term: np.void, row: Bits) -> float:
    """The sine of a term's angle about the Pauli of its operation, with its sign in this shot."""
    is_flipped = term["sign"] >= 0 and bool(row[term["sign"]])
    return float(-term["sine"] if is_flipped != bool(term["is_reversed"]) else term["sine"])


def _pauli_of(operation: np.void) -> IndexPauli:
    return IndexPauli(int(operation["x"]), int(operation["z"]), int(operation["i_power"]))


def _weight_of_one(vector: Vector, operation: np.void) -> float:
    """The probability of outcome 1; exactly 0 or 1 if rounding can make that of it."""
    zero, one = outcome_weights(vector, _pauli_of(operation), int(operation["pivot"]))
    probability = one / (zero + one)
    rounding = certain_at(vector.size.bit_length() - 1)
    if probability < rounding:
        return 0.0
    return 1.0 if probability > 1 - rounding else probability


def _project(vector: Vector, operation: np.void, outcome: int) -> Vector:
    return measure(vector, _pauli_of(operation), int(operation["pivot"]), outcome)


def _check_fires(plan: SamplingPlan, row: Bits, outcome: int) -> bool:
    """Whether any outcome check that this outcome completes is 1."""
    final = np.flatnonzero(plan.outcome_check_deadlines == outcome)
    return bool(row[plan.num_signs + final].any())
