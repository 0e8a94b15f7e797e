"""Small logical error rates in three ways, side by side: deletion, splitting, and subset sampling.

    python -m benchmarks.rates.decoded
    python -m benchmarks.rates.decoded --distance 5 --p 1e-3 --seconds 60 --repeats 4
    python -m benchmarks.rates.decoded --distance 9 --p 1e-4 --seconds 5 --repeats 1 --ways "subset sampling"

* *Deletion*: ``Circuit.logical_error_rate(decoder="pymatching")``, which says its own error: enumeration of
  small fault sets, and backward deletion.
* *Splitting* of Bravyi and Vargo, Phys. Rev. A 88, 062308 (2013): the rate at a strong noise, counted, times
  ratios of neighbouring strengths p and p 2^(-1/sqrt(w)), w = max(d/2, p N), each from Metropolis chains at
  both strengths that flip one of the N mechanisms, drawn uniformly, if the decoder fails still; and Bennett's
  ratio.
* *Subset sampling*: P = sum over w of P(w mechanisms act) f(w). The part f(w) of failing sets is counted,
  with more shots where they lower the variance of the sum most.

All have the same error model and PyMatching in batches. Detectors that do not matter to PyMatching are left
out, unless ``--whole`` gives them to subset sampling and splitting. Processor time is that of everything for
the first. The last two get as much as is asked for, and the error model and the compilation of PyMatching
do not count. What subset sampling would take if it knew the best number of shots for each w is printed, too.
Repetitions share nothing; the error of one is its root mean square distance from the rate that is known
(``--known``; otherwise what deletion says), since chains that begin too far from equilibrium have a bias
that their spread does not show.
"""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pymatching
import sinter
import stim

import stim_nonclifford as snc
from benchmarks.rates.decoded_codes import generated_memory
from stim_nonclifford.rates.decoded_rates.faults.mechanisms import (
    FaultModel,
    Symptoms,
    fault_model,
    symptoms_of,
    symptoms_without,
)
from stim_nonclifford.rates.decoding.matching.matching_graph import detectors_that_matter
from stim_nonclifford.rates.results import LogicalErrorRate, RateStratum

Floats = npt.NDArray[np.float64]
_STRONGEST = 6e-3
_CHAINS = 64


class Problem:
    """Surface codes of one distance, with the decoder of one strength of noise.

    Args:
        distance: The distance.
        p: The strength.
        whole: Whether there are also the detectors that do not matter to the decoder.

    Attributes:
        distance: The same.
        decoded: How many fault sets were decoded.
    """

    def __init__(self, distance: int, p: float, whole: bool = False) -> None:
        self.distance, self.p = distance, p
        self.circuit = surface_code(distance, p)
        errors = self.circuit.detector_error_model(decompose_errors=True)
        self._ignored: list[int] = []
        if not whole:
            self._ignored = np.flatnonzero(~detectors_that_matter(errors)).tolist()
        self.model: FaultModel = fault_model(self._symptoms(self.circuit))
        self._matching = pymatching.Matching.from_detector_error_model(errors)
        self.decoded = 0

    def _symptoms(self, circuit: snc.Circuit) -> Symptoms:
        return symptoms_without(symptoms_of(circuit.detector_error_model()), self._ignored)

    def probabilities(self, p: float) -> Floats:
        """The probability of each mechanism at another strength of the noise."""
        model = self._symptoms(surface_code(self.distance, p)).probabilities
        return np.array([model[symptom] for symptom in self.model.probabilities])

    def fails(self, acts: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
        """Whether the decoder fails on fault sets, given as bools of shape (sets, mechanisms)."""
        sets, members = np.nonzero(acts)
        rows = np.zeros((len(acts), self.model.flips.shape[1]), dtype=np.uint64)
        np.bitwise_xor.at(rows, sets, self.model.flips[members])
        return self.fails_on_rows(rows)

    def fails_on_rows(self, rows: npt.NDArray[np.uint64]) -> npt.NDArray[np.bool_]:
        """The same for rows of the model."""
        self.decoded += len(rows)
        found = self._matching.decode_batch(
            self.model.detectors(rows), bit_packed_shots=True, bit_packed_predictions=True
        )
        return np.asarray((found[:, 0] & 1) != self.model.observables(rows)[:, 0])


class WholePyMatching(sinter.Decoder):  # type: ignore[misc]
    """PyMatching, of which nothing is known: all detectors may matter."""

    def compile_decoder_for_dem(self, *, dem: stim.DetectorErrorModel) -> sinter.CompiledDecoder:
        """The decoder of an error model."""
        return sinter.BUILT_IN_DECODERS["pymatching"].compile_decoder_for_dem(dem=dem)


def surface_code(distance: int, p: float) -> snc.Circuit:
    """The rotated surface code, memory Z, with noise everywhere."""
    return snc.Circuit(generated_memory("surface_code:rotated_memory_z", distance, p))


def splitting(problem: Problem, seconds: float, rng: np.random.Generator) -> float:
    """The rate by splitting, in about so many seconds of processor time."""
    strengths = [_STRONGEST]
    while strengths[-1] > problem.p * (1 + 1e-9):
        weight = max(problem.distance / 2, strengths[-1] * problem.model.num_mechanisms)
        strengths.append(max(problem.p, strengths[-1] * 2 ** (-1 / math.sqrt(weight))))
    tables = [problem.probabilities(p) for p in strengths]
    began = time.process_time()
    # The strongest noise has a tenth of the time.
    failures = shots = 0
    states: list[npt.NDArray[np.bool_]] = []
    while time.process_time() - began < 0.1 * seconds or len(states) < _CHAINS:
        acts = rng.random((1 << 11, len(tables[0]))) < tables[0]
        failing = np.flatnonzero(problem.fails(acts))
        shots, failures = shots + len(acts), failures + len(failing)
        states += [acts[k] for k in failing[: _CHAINS - len(states)]]
    log_rate = math.log(failures / shots)
    chains = np.array(states)
    share = 0.9 * seconds / len(tables)
    records: list[tuple[Floats, Floats]] = []
    for k, table in enumerate(tables):
        odds = np.log(table) - np.log1p(-table)
        steps = [np.log(other) - np.log1p(-other) - odds for other in tables[max(k - 1, 0) : k + 2]]
        records.append(_chain_records(problem, chains, odds, (steps[0], steps[-1]), share, rng))
    for k in range(len(tables) - 1):
        up, down = records[k][1], -records[k + 1][0]
        none = float(np.log1p(-tables[k + 1]).sum() - np.log1p(-tables[k]).sum())
        log_rate += _bennett(up, down) + none
    return math.exp(log_rate)


def _chain_records(
    problem: Problem,
    chains: npt.NDArray[np.bool_],
    odds: Floats,
    steps: tuple[Floats, Floats],
    seconds: float,
    rng: np.random.Generator,
) -> tuple[Floats, Floats]:
    """Runs chains in place; ln of what their sets would weigh more in the levels before and after."""
    began = time.process_time()
    sets, members = np.nonzero(chains)
    rows = np.zeros((len(chains), problem.model.flips.shape[1]), dtype=np.uint64)
    np.bitwise_xor.at(rows, sets, problem.model.flips[members])
    sums = [chains @ step for step in steps]
    found: tuple[list[Floats], list[Floats]] = ([], [])
    everyone = np.arange(len(chains))
    while time.process_time() - began < seconds:
        for _ in range(len(odds) // 8):
            chosen = rng.integers(len(odds), size=len(chains))
            sign = np.where(chains[everyone, chosen], -1.0, 1.0)
            tried = np.flatnonzero(np.log(rng.random(len(chains))) < sign * odds[chosen])
            if not len(tried):
                continue
            proposed = rows[tried] ^ problem.model.flips[chosen[tried]]
            is_failing = problem.fails_on_rows(proposed)
            moved = tried[is_failing]
            rows[moved] = proposed[is_failing]
            chains[moved, chosen[moved]] ^= True
            for total, step in zip(sums, steps, strict=True):
                total[moved] += sign[moved] * step[chosen[moved]]
        for records, total in zip(found, sums, strict=True):
            records.append(total.copy())
    burnt = len(found[0]) // 5
    return np.concatenate(found[0][burnt:]), np.concatenate(found[1][burnt:])


def _bennett(up: Floats, down: Floats) -> float:
    """ln(Z' / Z) from ln of the change of weight, seen from both levels."""
    shift = math.log(len(down) / len(up))
    low, high = float(min(up.min(), down.min())) - 9, float(max(up.max(), down.max())) + 9
    for _ in range(80):
        x = 0.5 * (low + high)
        excess = (1 / (1 + np.exp(x - up - shift))).sum() - (1 / (1 + np.exp(down - x + shift))).sum()
        low, high = (x, high) if excess > 0 else (low, x)
    return 0.5 * (low + high)


def subset_sampling(problem: Problem, seconds: float, rng: np.random.Generator) -> float:
    """The rate by subset sampling, in about so many seconds of processor time."""
    q = 1 / (1 + np.exp(-problem.model.log_odds))
    mean = float(q.sum())
    weights = range(1, math.ceil(mean + 10 * math.sqrt(mean) + 2 * problem.distance))
    law = np.zeros(weights[-1] + 1)
    law[0] = 1.0
    for each in q:
        law[1:] = law[1:] * (1 - each) + law[:-1] * each
        law[0] *= 1 - each
    shots, failures = np.zeros(len(law)), np.zeros(len(law))
    began = time.process_time()
    while time.process_time() - began < seconds:
        guess = (failures + 0.5) / (shots + 1)
        gain = np.where(np.arange(len(law)) > 0, law**2 * guess * (1 - guess) / (shots + 1) ** 2, 0.0)
        weight = int(np.argmax(gain))
        batch = 1 << 11
        sets = _sets_of(weight, q / (1 - q), batch, rng)
        rows = np.bitwise_xor.reduce(problem.model.flips[sets], axis=1)
        failures[weight] += problem.fails_on_rows(rows).sum()
        shots[weight] += batch
    seen = shots > 0
    return float((law[seen] * failures[seen] / shots[seen]).sum())


def _sets_of(weight: int, odds: Floats, count: int, rng: np.random.Generator) -> npt.NDArray[np.intp]:
    """Sets of so many mechanisms, as likely as the products of their odds."""
    found = np.zeros((0, weight), dtype=np.intp)
    sums = np.cumsum(odds) / odds.sum()
    while len(found) < count:
        tried = np.sort(np.searchsorted(sums, rng.random((count, weight)), side="right"), axis=1)
        tried = np.minimum(tried, len(odds) - 1)
        found = np.concatenate([found, tried[(np.diff(tried, axis=1) > 0).all(axis=1)]])
    return found[:count]


def main(arguments: list[str] | None = None) -> None:
    """Prints a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--distance", type=int, default=3)
    parser.add_argument("--p", type=float, default=1e-3)
    parser.add_argument("--seconds", type=float, default=20.0, help="of processor time for each repetition")
    parser.add_argument("--repeats", type=int, default=4)
    parser.add_argument("--relative_error", type=float, default=0.05, help="what deletion is to reach")
    parser.add_argument("--known", type=float, help="the rate, from elsewhere")
    parser.add_argument("--ways", nargs="*", choices=_WAYS, default=list(_WAYS), help="beside deletion")
    parser.add_argument("--whole", action="store_true", help="detectors that do not matter are there, too")
    args = parser.parse_args(arguments)
    problem = Problem(args.distance, args.p, args.whole)
    print(f"d={args.distance}, p={args.p:g}: {problem.model.num_mechanisms} mechanisms")
    surface_code(3, _STRONGEST).logical_error_rate(
        decoder="pymatching", relative_error=0.3
    )  # for its imports
    options: dict[str, Any] = {"decoder": "pymatching", "relative_error": args.relative_error, "seed": 1}
    rate, seconds = _timed("deletion", lambda: problem.circuit.logical_error_rate(**options))
    seconds *= max(1.0, (rate.relative_error / 0.05) ** 2)  # what is better than asked for takes no less
    time_of_decode = math.nan
    for name, way in _WAYS.items():
        if name not in args.ways:
            continue
        problem.decoded = 0
        began = time.process_time()
        rates = [way(problem, args.seconds, np.random.default_rng(seed)) for seed in range(args.repeats)]
        each = (time.process_time() - began) / args.repeats
        known = args.known or rate.logical_error_rate
        spread = float(np.sqrt(np.mean((np.array(rates) / known - 1) ** 2)))
        to_five = each * (spread / 0.05) ** 2
        decodes = problem.decoded // args.repeats
        time_of_decode = each / decodes
        print(
            f"{name:15}  {np.mean(rates):.4g}; one repetition is off by {spread:.1%}; {each:.1f} s,", end=" "
        )
        print(f"{decodes:,} decodes; {to_five:.3g} s to 5%, {to_five / seconds:.3g} times those of deletion")
    if "subset sampling" in args.ways:
        if args.whole:
            options["decoder"] = WholePyMatching()
            rate = problem.circuit.logical_error_rate(**options)
        best = _best_shots(rate.strata, rate.logical_error_rate)
        to_five = best * time_of_decode
        print(
            f"{'  at best':15}  {best:,} decodes, {to_five:.3g} s to 5%, {to_five / seconds:.3g} times",
            flush=True,
        )


_WAYS: dict[str, Callable[[Problem, float, np.random.Generator], float]] = {
    "splitting": splitting,
    "subset sampling": subset_sampling,
}


def _timed(name: str, compute: Callable[[], LogicalErrorRate]) -> tuple[LogicalErrorRate, float]:
    """A rate, which is printed, and the seconds of processor time that it took."""
    began = time.process_time()
    rate = compute()
    seconds = time.process_time() - began
    reached = f"{rate.logical_error_rate:.4g} ± {rate.relative_error:.1%}"
    print(f"{name:15}  {reached}; {seconds:.2f} s, {rate.decodes:,} decodes", flush=True)
    return rate, seconds


def _best_shots(sizes: Sequence[RateStratum], rate: float) -> int:
    """The fewest shots with which subset sampling can have a relative error of 5%."""
    spread = sum(
        each.probability * math.sqrt(share * (1 - share))
        for each, share in ((each, each.kept_and_wrong / each.probability) for each in sizes)
    )
    return round((spread / rate / 0.05) ** 2)


if __name__ == "__main__":
    main()
