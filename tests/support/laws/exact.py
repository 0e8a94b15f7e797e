"""The exact distribution of a plan's outputs, by convolution instead of sampling.

Written from the description of ``stim_nonclifford.simulation.plan``: what a row is, what its causes are and with
which probabilities they occur. Of the package only ``engines.reference.outcome_law`` is used.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from stim_nonclifford.simulation.engines.reference import outcome_law
from stim_nonclifford.simulation.plan import (
    LEAKAGE_CHANGE,
    LEAKAGE_END,
    LEAKAGE_FLIP,
    LEAKAGE_MIX,
    LEAKAGE_MOVE,
    LEAKAGE_SPREAD,
    SamplingPlan,
    SparseRows,
)

Distribution = dict[int, float]
"""Probabilities of rows of bits; bit k of the key is bit k of the row."""

NEGLIGIBLE = 1e-15
"""Rows that are less probable than this are not followed: they come from rounding, or do not matter."""


@dataclass(frozen=True)
class ExactOutputs:
    """What a plan samples."""

    kept: Distribution  # probability of each combination of outputs, together with the shot being kept
    discarded: float  # probability that a shot is discarded

    @property
    def kept_probability(self) -> float:
        """Probability that a shot is kept."""
        return sum(self.kept.values())


def mask(bits: Iterable[int]) -> int:
    """The int in which these bits are set; a bit that occurs twice is not."""
    result = 0
    for bit in bits:
        result ^= 1 << int(bit)
    return result


def mask_of(bits: Iterable[object]) -> int:
    """The int whose bit k is the truth of item k."""
    return mask(k for k, bit in enumerate(bits) if bit)


def num_rows(plan: SamplingPlan) -> int:
    """How many different rows a shot can have at most, the records that may decay included."""
    return 1 << rank([row for cause in _causes(plan) for row in cause] + [row for _, row in _decays(plan)])


def rank(rows: Iterable[int]) -> int:
    """The rank of rows over GF(2)."""
    return len(_Basis(rows).rows)


def row_distribution(plan: SamplingPlan) -> Distribution:
    """The distribution of the rows of a plan (stage 1 of a shot)."""
    first_readout = plan.num_row_bits
    found = convolve(
        _causes(plan), mask(plan.constant) ^ mask(first_readout + int(k) for k in plan.readout_constant)
    )
    for k, (probability, flips) in enumerate(_decays(plan)):
        after: Distribution = {}
        for row, p in found.items():
            differs, place = 0, k
            while place >= 0:  # the sum along the chain
                differs ^= row >> (first_readout + place) & 1
                place = int(plan.readout_predecessors[place])
            for then, weight in ((row, 1 - probability * differs), (row ^ flips, probability * differs)):
                if weight:
                    after[then] = after.get(then, 0.0) + p * weight
        found = after
    rows: Distribution = {}
    for row, p in found.items():
        rows[row & (1 << first_readout) - 1] = rows.get(row & (1 << first_readout) - 1, 0.0) + p
    return rows


def _decays(plan: SamplingPlan) -> list[tuple[float, int]]:
    """The probabilities of the records' decays, and what they flip; the first one of a shot decides."""
    end = plan.num_mechanisms - len(plan.leakage_entries)
    mechanisms = range(end - plan.num_readout_decays, end)
    return [
        (-float(np.expm1(-plan.rates[m])), _with_readouts(plan, "event", plan.effects, m)) for m in mechanisms
    ]


def _with_readouts(plan: SamplingPlan, name: str, rows: SparseRows, number: int) -> int:
    """A row, and behind it the records that its cause flips."""
    row = mask(rows.row(number))
    if not plan.num_readout_decays:
        return row
    readouts: SparseRows = getattr(plan, f"{name}_readouts")
    return row ^ mask(plan.num_row_bits + int(k) for k in readouts.row(number))


def _causes(plan: SamplingPlan) -> list[dict[int, float]]:
    """The independent causes of a row, as maps from their effects to probabilities; but no decays of records."""
    choices: list[dict[int, float]] = []
    at_site: dict[int, list[tuple[int, float]]] = {}
    first_leakage = plan.num_mechanisms - len(plan.leakage_entries)
    for m in range(plan.num_mechanisms):
        row, rate, site = (
            _with_readouts(plan, "event", plan.effects, m),
            float(plan.rates[m]),
            int(plan.sites[m]),
        )
        if first_leakage - plan.num_readout_decays <= m < first_leakage:
            continue
        if m >= first_leakage:
            entry = int(plan.leakage_entries[m - first_leakage])
            change = plan.leakage_items[entry]
            leaked = script_distribution(plan, entry + 1, {int(change["qubit"]): int(change["to"])})
            at_site.setdefault(site, []).extend((row ^ r, rate * p) for r, p in leaked.items())
            continue
        if site < 0:
            # The parity of a Poisson number of events.
            choices.append({row: -np.expm1(-2 * rate) / 2})
        else:
            at_site.setdefault(site, []).append((row, rate))
    for events in at_site.values():
        total = sum(rate for _, rate in events)
        choices.append({})
        for row, rate in events:
            # The first event of the site decides; later ones do nothing.
            previous = choices[-1].get(row, 0.0)
            choices[-1][row] = previous - np.expm1(-total) * rate / total
    choices += [script_distribution(plan, int(first), {}) for first in plan.leakage_always]
    first_readout = plan.num_row_bits
    hidden = [
        mask(first_readout + int(k) for k in plan.hidden_coins.row(c)) for c in range(len(plan.hidden_coins))
    ]
    coins = [_with_readouts(plan, "coin", plan.coins, c) for c in range(len(plan.coins))]
    return choices + [{row: 0.5} for row in (*coins, *hidden)]


def script_distribution(plan: SamplingPlan, place: int, states: Mapping[int, int]) -> Distribution:
    """The distribution of the rows that a script flips from an item on; qubits not in ``states`` are in 0."""
    num_qubits = 1 + max(int(plan.leakage_items[name].max()) for name in ("qubit", "partner"))
    reached = {(tuple(states.get(q, 0) for q in range(num_qubits)), 0): 1.0}
    skipping: dict[int, dict[tuple[tuple[int, ...], int], float]] = {}  # by the place where it goes on
    while (item := plan.leakage_items[place])["kind"] != LEAKAGE_END:
        for key, weight in skipping.pop(place, {}).items():
            reached[key] = reached.get(key, 0.0) + weight
        place += 1
        rows = [
            _with_readouts(plan, "leakage", plan.leakage_rows, r)
            for r in range(item["first_row"], item["end_row"])
        ]
        happens = (int(item["threshold"]) + 1) / 2**64
        choices = [(0.5, row) for row in rows] if item["kind"] == LEAKAGE_MIX else [(happens, sum(rows))]
        for probability, row in choices:
            after: dict[tuple[tuple[int, ...], int], float] = {}
            skips = int(item["to"]) if item["kind"] == LEAKAGE_FLIP else 0
            skipped = skipping.setdefault(place + skips, {}) if skips else after
            for (now, total), p in reached.items():
                then = _states_after(item, now)
                q = 0.0 if then is None else probability
                for into, key, weight in (
                    (skipped, (then or now, total ^ row), p * q),
                    (after, (now, total), p * (1 - q)),
                ):
                    if weight:
                        into[key] = into.get(key, 0.0) + weight
            reached = after
    for key, weight in skipping.pop(place, {}).items():
        reached[key] = reached.get(key, 0.0) + weight
    result: Distribution = {}
    for (_, total), p in reached.items():
        result[total] = result.get(total, 0.0) + p
    return result


def _states_after(item: np.void, now: tuple[int, ...]) -> tuple[int, ...] | None:
    """The states of the qubits of a script if an item happens, or None if it is skipped."""
    qubit, partner, kind = int(item["qubit"]), int(item["partner"]), item["kind"]
    spreads = kind in (LEAKAGE_SPREAD, LEAKAGE_MOVE)
    if not int(item["states"]) >> now[qubit] & 1 or (spreads and now[partner]):
        return None
    then = list(now)
    if kind == LEAKAGE_CHANGE:
        then[qubit] = int(item["to"])
    elif spreads:
        then[partner] = now[qubit]
        then[qubit] *= kind == LEAKAGE_SPREAD
    return tuple(then)


def convolve(causes: Iterable[Mapping[int, float]], constant: int = 0) -> Distribution:
    """The distribution of a constant row plus (mod 2) those of independent causes; what is missing to 1 is no row."""
    causes = list(causes)
    basis = _Basis(row for cause in causes for row in cause)
    index = np.arange(1 << len(basis.rows))
    probabilities = np.where(index == 0, 1.0, 0.0)
    for cause in causes:
        nothing = 1 - sum(cause.values())
        result = nothing * probabilities
        for row, probability in cause.items():
            result += probability * probabilities[index ^ basis.coordinates(row)]
        probabilities = result
    return {
        constant ^ basis.row(int(k)): float(probabilities[k])
        for k in np.flatnonzero(np.abs(probabilities) > NEGLIGIBLE)
    }


class _Basis:
    """A basis of rows over GF(2)."""

    def __init__(self, rows: Iterable[int]) -> None:
        self.rows: list[int] = []
        self._reduced: dict[int, tuple[int, int]] = {}  # leading bit -> reduced row, its coordinates
        for row in rows:
            rest, coordinates = self._reduce(row)
            if rest:
                self._reduced[rest.bit_length()] = (rest, coordinates ^ 1 << len(self.rows))
                self.rows.append(row)

    def _reduce(self, row: int) -> tuple[int, int]:
        coordinates = 0
        while row and row.bit_length() in self._reduced:
            reduced, part = self._reduced[row.bit_length()]
            row ^= reduced
            coordinates ^= part
        return row, coordinates

    def coordinates(self, row: int) -> int:
        """Which basis rows add up to a row, as a mask."""
        rest, coordinates = self._reduce(row)
        assert rest == 0
        return coordinates

    def row(self, coordinates: int) -> int:
        """The row with these coordinates."""
        result = 0
        for k, row in enumerate(self.rows):
            if coordinates >> k & 1:
                result ^= row
        return result


def exact_outputs(plan: SamplingPlan) -> ExactOutputs:
    """The distribution of the outputs of a plan, with its discards."""
    kept: Distribution = {}
    discarded = 0.0
    first_output = plan.num_checks + plan.num_signature_bits
    laws: dict[int, tuple[Distribution, float]] = {}
    for row, probability in row_distribution(plan).items():
        if plan.never_kept or row & ((1 << plan.num_checks) - 1):
            discarded += probability
            continue
        signature = row >> plan.num_checks & ((1 << plan.num_signature_bits) - 1)
        if signature not in laws:
            laws[signature] = exact_outcome_law(plan, signature)
        law, law_discarded = laws[signature]
        discarded += probability * law_discarded
        for outputs, conditional in law.items():
            result = row >> first_output ^ outputs
            kept[result] = kept.get(result, 0.0) + probability * conditional
    return ExactOutputs(kept, discarded)


def exact_outcome_law(plan: SamplingPlan, signature: int) -> tuple[Distribution, float]:
    """The outputs that the outcomes flip, with their probabilities, and the probability of a discard."""
    bits = bools(signature, plan.num_signature_bits)
    law: Distribution = {}
    discarded = 0.0
    for branch in outcome_law(plan, bits):
        if branch.discarded:
            discarded += branch.probability
        else:
            outputs = mask_of(branch.outputs)
            law[outputs] = law.get(outputs, 0.0) + branch.probability
    return law, discarded


def bools(row: int, size: int) -> npt.NDArray[np.bool_]:
    """The bits of an int."""
    return np.array([row >> k & 1 for k in range(size)], dtype=np.bool_)


def largest_difference(a: Mapping[Any, float], b: Mapping[Any, float]) -> float:
    """The largest difference of the probabilities of any row or record."""
    return max((abs(a.get(row, 0.0) - b.get(row, 0.0)) for row in {*a, *b}), default=0.0)


def marginal(law: Mapping[Any, float], part: Callable[[Any], Any]) -> dict[Any, float]:
    """The distribution of what a function makes of records, such as a part of them."""
    found: dict[Any, float] = {}
    for records, probability in law.items():
        found[part(records)] = found.get(part(records), 0.0) + probability
    return found
