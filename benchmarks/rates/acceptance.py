"""Computed rates beside reference values: value, z and seconds of some twenty workloads, over several seeds.

    python -m benchmarks.rates.acceptance
    python -m benchmarks.rates.acceptance --only surface fault --seeds 1 2 3 4 5 6 7 8 --out after.jsonl
    python -m benchmarks.rates.acceptance --published FOLDER --against before.jsonl

A row has a number, its reference, the z of the mean and the largest |z| of a seed, the mean error that was
printed, and the median of the processor seconds of a call. With ``--against``, a column has the ratio of the
seconds to those of an earlier run. References are exact sums, long runs or counted shots, as the source says.
``--published`` is a folder with published end-to-end circuits as files, which are not part of the project.
Workloads named *fault* are small circuits on which an estimator was wrong once.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import math
import statistics
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import sinter
import stim

import stim_nonclifford as snc
from benchmarks.rates.code_circuits import CIRCUITS, t_state_circuit
from benchmarks.rates.decoded_codes import CODES, Family, generated_memory
from sinter_plugin.commands.end_to_end_circuits import CheckedCircuit, circuit_of_file
from stim_nonclifford.circuit.logical_states import LogicalStateCheck
from stim_nonclifford.generators.cultivation import cultivation_circuit, end_to_end_circuit
from stim_nonclifford.generators.teleportation import injection_circuit

Values = dict[str, tuple[float, float]]
"""Numbers by their names, each with its standard error; 0: exact."""

_PLUS_Y = LogicalStateCheck((0, 1), (0, 1), (0.0, 2**0.5))


@dataclass(frozen=True)
class Workload:
    """A question whose answer is known.

    Attributes:
        name: Kind, circuit, strength of the noise and relative error.
        ask: The numbers that a seed gives.
        reference: The true values, or some of them.
        source: Where these come from.
    """

    name: str
    ask: Callable[[int], Values]
    reference: Values
    source: str


def _rate_of(estimate: Any) -> tuple[float, float]:
    return estimate.logical_error_rate, estimate.standard_error


def _postselected(name: str, circuit: Callable[[], snc.Circuit], error: float, exact: float, source: str,
                  reference_error: float = 0.0) -> Workload:  # fmt: skip
    def ask(seed: int) -> Values:
        found = circuit().logical_error_rate(postselection_mask="all", relative_error=error, seed=seed)
        return {"rate": _rate_of(found)}

    return Workload(f"{name}, {error:.2g}", ask, {"rate": (exact, reference_error)}, source)


def _cultivation(distance: int, p: float, error: float, exact: float, reference_error: float = 0.0,
                 **options: Any) -> Workload:  # fmt: skip
    kind = " ".join(["cultivation", f"d={distance}", *map(str, options.values())])
    return _postselected(
        f"{kind}, p={p:g}",
        lambda: snc.Circuit(cultivation_circuit(distance=distance, p=p, **options)),
        error,
        exact,
        "arXiv 2609.18922" if not reference_error else "long runs",
        reference_error,
    )


def _decoded(name: str, circuits: Callable[[], Sequence[stim.Circuit | str]], error: float, reference: Values,
             source: str, decoder: Callable[[], Any] = lambda: "pymatching") -> Workload:  # fmt: skip
    """A curve over strengths of noise, or one circuit; references by the number of the circuit."""

    def ask(seed: int) -> Values:
        found = snc.logical_error_rates(
            [snc.Circuit(circuit) for circuit in circuits()],
            decoder=decoder(),
            relative_error=error,
            seed=seed,
        )
        return {str(k): _rate_of(rate) for k, rate in enumerate(found)}

    return Workload(f"{name}, {error:.2g}", ask, reference, source)


def _surface(distance: int, strengths: Sequence[float], error: float, reference: Values) -> Workload:
    return _decoded(
        f"surface d={distance}, p={', '.join(f'{p:g}' for p in strengths)}",
        lambda: [generated_memory("surface_code:rotated_memory_z", distance, p) for p in strengths],
        error,
        reference,
        "counts, long runs",
    )


def _kept_and_wrong(found: Any) -> Values:
    return {
        f"{point.gap} dB": (point.logical_error_rate, point.relative_error * point.logical_error_rate)
        for point in found.gap_curve
    }


def _at(gaps: Values, found: Values) -> Values:
    """The points of a curve at the gaps of the references, as far as the curve has them."""
    return {name: found[name] for name in gaps if name in found}


def _published(path: Path) -> CheckedCircuit:
    return circuit_of_file(path, "T")


def _end_to_end(
    name: str,
    make: Callable[[], CheckedCircuit],
    error: float,
    reference: Values,
    source: str,
    max_seconds: float | None = None,
) -> Workload:
    def ask(seed: int) -> Values:
        checked = make()
        found = checked.circuit.logical_error_rate(
            decoder="desaturated",
            confidence=True,
            state_check=checked.check,
            relative_error=error,
            seed=seed,
            max_seconds=max_seconds,
        )
        return _at(reference, _kept_and_wrong(found))

    return Workload(f"end to end {name}, {error:.2g}", ask, reference, source)


def _generated_end_to_end(d: int, d2: int, p: float) -> Callable[[], CheckedCircuit]:
    def make() -> CheckedCircuit:
        text = end_to_end_circuit(
            d, d2, p, "T", postselected_rounds=1, rounds=1, readout="expectation_values"
        )
        return CheckedCircuit(snc.Circuit(text), {}, _PLUS_Y)

    return make


class WrongForTwo(sinter.Decoder):  # type: ignore[misc]
    """A decoder that is wrong on one pattern of detection events only: those of the mechanisms 1 and 2."""

    def compile_decoder_for_dem(self, *, dem: stim.DetectorErrorModel) -> WrongForTwo:
        return self

    def decode_shots_bit_packed(self, *, bit_packed_detection_event_data: Any) -> Any:
        wrong = np.zeros(bit_packed_detection_event_data.shape[1], np.uint8)
        wrong[0] = 0b110
        return (bit_packed_detection_event_data == wrong).all(axis=1)[:, np.newaxis].astype(np.uint8)


def independent_flips(probabilities: Sequence[float]) -> stim.Circuit:
    """Qubits with one error and one detector each; the observable is another qubit, which never flips."""
    count = len(probabilities)
    circuit = stim.Circuit()
    for qubit, p in enumerate(probabilities):
        circuit.append("X_ERROR", [qubit], p)
    circuit.append("M", range(count + 1))
    for qubit in range(count):
        circuit.append("DETECTOR", [stim.target_rec(qubit - count - 1)])
    circuit.append("OBSERVABLE_INCLUDE", [stim.target_rec(-1)], 0)
    return circuit


def unequal_repetition(strong: float, weak: float) -> stim.Circuit:
    """A repetition code of distance 9, read out once; data qubits have strong and weak flips in turn."""
    circuit = stim.Circuit()
    for qubit in range(9):
        circuit.append("X_ERROR", [qubit], weak if qubit % 2 else strong)
    circuit.append("M", range(9))
    for qubit in range(8):
        circuit.append("DETECTOR", [stim.target_rec(qubit - 9), stim.target_rec(qubit - 8)])
    circuit.append("OBSERVABLE_INCLUDE", [stim.target_rec(-1)], 0)
    return circuit


def exact_rate(circuit: stim.Circuit, postselected: Sequence[int] = ()) -> float:
    """The logical error rate per kept shot with PyMatching, as a sum over all sets of mechanisms."""
    import pymatching

    model = circuit.detector_error_model(decompose_errors=False).flattened()
    errors = [each for each in model if each.type == "error"]
    count = len(errors)
    sets = (np.arange(1 << count)[:, np.newaxis] >> np.arange(count) & 1).astype(bool)
    q = np.array([error.args_copy()[0] for error in errors])
    probability = np.where(sets, q, 1 - q).prod(axis=1)
    detectors = np.zeros((count, model.num_detectors), np.uint8)
    observables = np.zeros((count, model.num_observables), np.uint8)
    for row, error in enumerate(errors):
        for target in error.targets_copy():
            if target.is_relative_detector_id():
                detectors[row, target.val] ^= 1
            elif target.is_logical_observable_id():
                observables[row, target.val] ^= 1
    fired, flipped = sets.astype(np.uint8) @ detectors % 2, sets.astype(np.uint8) @ observables % 2
    matching = pymatching.Matching.from_detector_error_model(
        circuit.detector_error_model(decompose_errors=True)
    )
    wrong = (matching.decode_batch(fired) != flipped).any(axis=1)
    kept = ~fired[:, list(postselected)].any(axis=1)
    return float(probability[kept & wrong].sum() / probability[kept].sum())


def _faults() -> Iterator[Workload]:
    """Small circuits on which an estimator was wrong once."""
    pair = independent_flips([1e-3] * 50)
    yield _decoded(
        "fault: a decoder wrong on one pair only",
        lambda: [pair],
        0.05,
        {"0": (1e-6 * (1 - 1e-3) ** 48, 0.0)},
        "exact",
        WrongForTwo,
    )
    unequal = [(0.2, 2e-4), (0.1, 1e-4), (0.03, 3e-5)]
    yield _decoded(
        "fault: mechanisms that differ by 1000",
        lambda: [unequal_repetition(*pair) for pair in unequal],
        0.02,
        {str(k): (exact_rate(unequal_repetition(*pair)), 0.0) for k, pair in enumerate(unequal)},
        "exact sum",
    )
    memory = stim.Circuit.generated(
        "repetition_code:memory",
        distance=5,
        rounds=6,
        before_round_data_depolarization=0.06,
        before_measure_flip_probability=0.06,
    )
    mask = np.arange(memory.num_detectors) < 16

    def masked(seed: int) -> Values:
        found = snc.Circuit(memory).logical_error_rate(
            decoder="pymatching", postselection_mask=mask, relative_error=0.04, seed=seed
        )
        return {"rate": _rate_of(found), "kept": (found.kept, found.kept_error)}

    yield Workload(
        "fault: repetition d=5 with a mask, 0.04",
        masked,
        {"rate": _counted_with_mask(memory, mask)[0], "kept": _counted_with_mask(memory, mask)[1]},
        "counted, 10^6 shots",
    )


def _counted_with_mask(circuit: stim.Circuit, mask: Any) -> tuple[tuple[float, float], tuple[float, float]]:
    import pymatching

    shots = 1_000_000
    fired, flipped = circuit.compile_detector_sampler(seed=5).sample(shots, separate_observables=True)
    is_kept = ~fired[:, mask].any(axis=1)
    matching = pymatching.Matching.from_detector_error_model(
        circuit.detector_error_model(decompose_errors=True)
    )
    wrong = int((matching.decode_batch(fired[is_kept]) != flipped[is_kept]).any(axis=1).sum())
    kept = int(is_kept.sum())
    share = kept / shots
    return (wrong / kept, math.sqrt(wrong) / kept), (share, math.sqrt(share * (1 - share) / shots))


def workloads(published: Path | None = None) -> Iterator[Workload]:
    """All workloads, the short ones of each kind first."""
    yield from _faults()
    for p, exact in ((5e-4, 1.640659e-7), (1e-3, 8.982791e-7), (2e-3, 5.691897e-6)):
        yield _cultivation(3, p, 0.01, exact)
    for p, exact in ((1e-4, 1.657e-12), (1e-3, 3.328425e-9), (2e-3, 5.175102e-8)):
        yield _cultivation(5, p, 0.01, exact)
    yield _cultivation(5, 5e-3, 0.04, 3.374e-6)
    yield _cultivation(5, 1e-3, 0.02, 7.912e-10, 0.018e-10, variant="flagged")
    yield _cultivation(7, 1e-4, 0.05, 9.186e-16, 0.074e-16)
    yield _cultivation(7, 1e-3, 0.05, 2.031e-11, 0.085e-11)
    for name, exact in (("[[15,1,3]], RP^2", 6.48041e-5), ("[[19,1,5]], color code", 1.35849e-3)):
        yield _postselected(
            f"code {name}", partial(t_state_circuit, *CIRCUITS[name], 1e-3), 0.01, exact, "long runs"
        )
    yield _postselected(
        "T injection d=3", lambda: snc.Circuit(injection_circuit(3, 1e-3)), 0.01, 3.3826e-3, "long runs", 5e-8
    )

    yield _surface(3, (1e-3, 1e-4), 0.02, {"0": (7.722e-4, 0.032e-4), "1": (7.8912e-6, 1e-9)})
    yield _surface(5, (1e-3, 1e-4), 0.05, {"0": (1.328e-4, 0.008e-4), "1": (1.338e-7, 0.013e-7)})
    yield _surface(7, (1e-3, 1e-4), 0.1, {"0": (1.772e-5, 0.012e-5), "1": (1.75e-9, 0.012e-9)})
    yield _surface(9, (1e-3, 1e-4), 0.2, {"0": (1.99e-6, 0.08e-6), "1": (1.83e-11, 0.04e-11)})
    yield _surface(11, (1e-3,), 0.3, {"0": (2.2e-7, 0.15e-7)})
    six = (6e-3, 4e-3, 2.7e-3, 1.8e-3, 1e-3, 5e-4)
    yield _surface(5, six, 0.05, {"2": (2.442e-3, 0.049e-3), "4": (1.328e-4, 0.008e-4)})
    yield _decoded(
        "T injection d=3, decoded, p=0.001, 0.0001",
        lambda: [injection_circuit(3, p) for p in (1e-3, 1e-4)],
        0.02,
        {"0": (2.06e-2, 0.02e-2), "1": (2.048e-3, 0.006e-3)},
        "exact lightest sets, counts",
    )
    for name, reference in (
        ("repetition, d=5", (1.4373e-3, 0.0134e-3)),
        ("xzzx, d=5", (4.467e-3, 0.033e-3)),
        ("toric, L=3", (2.898e-3, 0.027e-3)),
        ("color, d=3", (5.463e-4, 0.02e-4)),
        ("bivariate bicycle [[72,12,6]]", (2.1e-3, 0.3e-3)),
    ):
        family = CODES.get(name)
        if family is not None and importlib.util.find_spec(family.needs):
            decoder = family.decoder
            yield _decoded(
                f"code {name}",
                partial(_weakest, family),
                max(family.relative_error, 0.04),
                {"0": reference},
                "counted",
                decoder if callable(decoder) else partial(str, decoder),
            )

    def surface_gaps(seed: int) -> Values:
        circuit = snc.Circuit(generated_memory("surface_code:rotated_memory_z", 3, 3e-3))
        found = circuit.logical_error_rate(
            decoder="pymatching", confidence=True, relative_error=0.05, seed=seed
        )
        wrong = {}
        for point in found.gap_curve:
            rate = point.logical_error_rate / point.attempts_per_kept_shot
            wrong[f"{point.gap} dB"] = (rate, rate * point.relative_error)
        return _at(gaps, wrong)

    gaps = {"0 dB": (6.578e-3, 0.022e-3), "12 dB": (2.630e-3, 0.014e-3), "20 dB": (8.59e-4, 0.08e-4),
            "24 dB": (5.51e-4, 0.06e-4), "27 dB": (3.16e-5, 0.16e-5)}  # fmt: skip
    yield Workload("gaps surface d=3, p=0.003, kept and wrong, 0.05", surface_gaps, gaps, "1.31e7 shots")
    kept = 0.165782
    yield _end_to_end(
        "d=3, d2=5, p=0.002",
        _generated_end_to_end(3, 5, 2e-3),
        0.1,
        {
            f"{gap} dB": (rate / share, error / share)
            for gap, rate, error, share in (
                (0, 4.703e-4, 0.015e-4, kept),
                (20, 6.62e-5, 0.06e-5, 0.16362),
                (30, 3.97e-5, 0.04e-5, 0.16308),
                (40, 1.587e-5, 0.028e-5, 0.15873),
                (50, 8.91e-6, 0.21e-6, 0.15658),
                (64, 5.18e-6, 0.16e-6, 0.14238),
            )
        },
        "2e8 shots",
    )
    yield _end_to_end(
        "d=5, d2=7, p=0.001",
        _generated_end_to_end(5, 7, 1e-3),
        0.15,
        # The curve also has shots in which a detector fires, 4% of them at this gap. Fault sets check X and
        # Y of the T state: that differs from Y alone if X and Y errors are not equally likely.
        {"121 dB": (1.526e-8, 0.06e-8)},
        "fault sets of shots in which none fires",
    )
    if published is not None:
        yield _end_to_end(
            "published d=3, p=0.001",
            partial(_published, published / "e2e_t_d3_p1e-3.stim"),
            0.05,
            {"0 dB": (3.113e-3, 0.008e-3), "10 dB": (1.012e-3, 0.005e-3), "20 dB": (4.38e-4, 0.03e-4),
             "30 dB": (9.96e-5, 0.15e-5), "40 dB": (4.59e-5, 0.11e-5), "50 dB": (1.87e-5, 0.08e-5),
             "60 dB": (4.3e-6, 0.4e-6), "70 dB": (3.3e-6, 0.4e-6)},
            "8.5e7 shots",
        )  # fmt: skip
        yield _end_to_end(
            "published d=5, p=0.001",
            partial(_published, published / "e2e_t_d5_p1e-3.stim"),
            0.15,
            {"0 dB": (5.28e-4, 0.09e-4), "20 dB": (1.12e-4, 0.03e-4), "40 dB": (1.91e-5, 0.10e-5),
             "50 dB": (4.8e-6, 0.5e-6), "70 dB": (3.87e-7, 0.07e-7), "90 dB": (3.64e-8, 0.06e-8),
             "118 dB": (8.83e-9, 0.17e-9)},
            "plain shots up to 50 dB, eight seeds of an earlier estimator above",
            3600,
        )  # fmt: skip


def _weakest(family: Family) -> list[stim.Circuit]:
    """The circuit of a code at the lower of its strengths of noise."""
    return [family.circuit(family.strengths[1])]


def _seconds() -> float:
    """Processor seconds of this process and of those that it waited for."""
    import resource

    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


def _run(workload: Workload, seeds: Sequence[int]) -> list[dict[str, Any]]:
    found: list[Values] = []
    seconds: list[float] = []
    for seed in seeds:
        begin = _seconds()
        found.append(workload.ask(seed))
        seconds.append(_seconds() - begin)
    rows = []
    for name, (true, uncertainty) in workload.reference.items():
        values = np.array([values[name] for values in found if name in values])
        if not len(values):
            continue
        mean, spread = values[:, 0].mean(), math.sqrt((values[:, 1] ** 2).sum()) / len(values)
        one = np.hypot(values[:, 1], uncertainty)
        difference = np.abs(values[:, 0] - true)
        largest = np.divide(
            difference, one, out=np.where(difference > 1e-9 * true, np.inf, 0.0), where=one > 0
        )
        rows.append(
            {
                "workload": workload.name,
                "number": name,
                "seeds": len(values),
                "mean": mean,
                "error": float((values[:, 1] / values[:, 0]).mean()) if values[:, 0].all() else math.inf,
                "reference": true,
                "z": (mean - true) / (math.hypot(spread, uncertainty) or max(1e-9 * true, 1e-300)),
                "largest_z": float(largest.max()),
                "seconds": statistics.median(seconds),
                "source": workload.source,
            }
        )
    return rows


def main(arguments: Sequence[str] | None = None) -> None:
    """Prints a row for each number of each workload, and stores it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", nargs="+", default=[""], help="parts of the names of workloads")
    parser.add_argument("--seeds", type=int, nargs="+", default=[1])
    parser.add_argument("--published", type=Path, help="a folder with published end-to-end circuits")
    parser.add_argument("--out", type=Path, help="a file that gets a line of JSON for each row")
    parser.add_argument("--against", type=Path, help="such a file of an earlier run")
    given = parser.parse_args(arguments)
    before: dict[str, float] = {}
    if given.against is not None:
        lines = given.against.read_text(encoding="utf-8").splitlines()
        before = {row["workload"]: row["seconds"] for row in map(json.loads, lines)}
    print("| workload | number | mean | printed error | reference | z | largest | seconds | ratio |")
    print(9 * "| --- " + "|")
    for workload in workloads(given.published):
        if not any(part in workload.name for part in given.only):
            continue
        try:
            rows = _run(workload, given.seeds)
        except (snc.ResourceLimitError, ValueError) as error:
            print(f"| {workload.name} | {type(error).__name__}: {str(error).splitlines()[0]} |", flush=True)
            continue
        for row in rows:
            ratio = f"{row['seconds'] / before[workload.name]:.2f}" if workload.name in before else ""
            print(
                f"| {row['workload']} | {row['number']} | {row['mean']:.4g} | {row['error']:.1%} |"
                f" {row['reference']:.4g} | {row['z']:+.1f} | {row['largest_z']:.1f} | {row['seconds']:.2f} |"
                f" {ratio} |",
                flush=True,
            )
            if given.out is not None:
                with given.out.open("a", encoding="utf-8") as file:
                    file.write(json.dumps(row) + "\n")


if __name__ == "__main__":
    main(sys.argv[1:])
