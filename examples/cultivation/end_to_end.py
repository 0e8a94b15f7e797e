"""Cultivation end to end with T gates, decoded and checked by expectation values, beside published results.

    python -m examples.cultivation.end_to_end FILE... [--shots 1000000] [--out out]

The files are the circuits of the Clifft paper (arXiv 2604.27058, github.com/unitaryfoundation/clifft-paper):
injection, cultivation, and the escape into a matchable code of distance 15. They end in EXP_VAL of the
logical X, Y and Z, and in a measurement of Y, from which the paper's error model is computed. Here the
observable includes Y itself in place of that measurement, and the shots are checked by the expectation value
of Y. The decoder is that of the sampler `soft_desaturated_gap`: as in the paper, detectors of the color code
that would make the code unmatchable are postselected, too, and the confidence is the complementary gap.
"""

from __future__ import annotations

import argparse
import pathlib
import re
import time

import numpy as np
import numpy.typing as npt
import sinter

import sinter_plugin
import stim_nonclifford as snc
from sinter_plugin import DesaturatedGapDecoder, LogicalStateCheck, SoftDecodingSampler
from sinter_plugin.samplers.state_check import frame_circuit

PUBLISHED = {
    3: {
        0: (0.53881, 3.089e-3),
        10: (0.53484, 9.748e-4),
        20: (0.52892, 4.148e-4),
        30: (0.50459, 9.931e-5),
        69: (0.22545, 3.12e-6),
    },
    5: {
        0: (0.051867, 5.354e-4),
        10: (0.051812, 2.144e-4),
        20: (0.051716, 1.049e-4),
        30: (0.051445, 4.942e-5),
        90: (0.02401, 3.75e-8),
        100: (0.01369, 1.24e-8),
        116: (0.005073, 1.18e-8),
    },
}
"""For each distance and threshold of the gap: kept fraction and logical error, from 10^9 and 10^11 shots.

Sums over the counts of github.com/cc89124/mdam, magic_state_cultivation/results/end2end/t_gate_*_p0.001.json.
"""

Y = 1
"""The number of the expectation value of the logical Y."""


def with_observable_of_y(text: str) -> snc.Circuit:
    """The circuit in which the observable includes the logical Y in place of its measurement."""
    product = re.findall(r"^EXP_VAL (.*)$", text, re.MULTILINE)[Y]
    before, last, after = text.rpartition("OBSERVABLE_INCLUDE(0)")
    return snc.Circuit(before + last + " " + product.replace("*", " ") + after[after.index("\n") :])


def postselected(circuit: snc.Circuit) -> npt.NDArray[np.bool_]:
    """The detectors that the paper postselects."""
    model = circuit.s_proxy().detector_error_model(approximate_disjoint_errors=True)
    return DesaturatedGapDecoder().postselected_detectors(model)


def state_check(circuit: snc.Circuit) -> LogicalStateCheck:
    """The check by Y alone, with the sign that Y has without noise."""
    noiseless = frame_circuit(circuit.without_noise()).compile_detector_sampler(seed=1)
    _, flips, values = noiseless.sample_expectation_values(100)
    (y,) = set((values[:, Y] * (1 - 2.0 * flips[:, 0])).round(12))
    return LogicalStateCheck((Y,), (0,), (1 / y,))


def sampling_rate(circuit: snc.Circuit, mask: npt.NDArray[np.bool_], shots: int) -> float:
    """Attempted shots per second without the decoder, with expectation values of kept shots."""
    sampler = circuit.compile_detector_sampler(seed=1, postselection_mask=mask)
    for _ in sampler.iter_kept(max_shots=10_000, expectation_values=True):
        pass
    start = time.perf_counter()
    for _ in sampler.iter_kept(max_shots=shots, expectation_values=True):
        pass
    return shots / (time.perf_counter() - start)


def collected(path: pathlib.Path, shots: int, processes: int, out: pathlib.Path) -> sinter.TaskStats:
    """Collects, or continues from the file ``out``."""
    circuit = with_observable_of_y(path.read_text(encoding="utf-8"))
    mask = postselected(circuit)
    sampler = SoftDecodingSampler(
        "desaturated", confidence=True, state_check=state_check(circuit), warn=False
    )
    attempts = sampling_rate(frame_circuit(circuit), mask, 300_000)
    task = sinter_plugin.task(
        circuit, decoder="checked", postselection_mask=mask, json_metadata={"file": path.stem}
    )
    found = sinter.collect(
        num_workers=processes,
        tasks=[task],
        custom_decoders={"checked": sampler},
        max_shots=shots,
        save_resume_filepath=out,
    )
    (stats,) = (one for one in found if one.strong_id == task.strong_id())  # the file may have others
    rate = stats.shots / stats.seconds
    print(
        f"{path.stem}: {mask.sum()} of {len(mask)} detectors postselected; {attempts:.3g} attempts/s sampled,"
    )
    share = 1 - rate / attempts
    print(f"{rate:.3g} attempts/s sampled and decoded per worker: the decoder's share is {share:.1%}")
    return stats


def print_points(stats: sinter.TaskStats, distance: int) -> None:
    """Prints kept fraction and logical error for thresholds of the gap, beside the published ones."""
    print("gap >=       kept  errors  logical error [interval]            published kept, logical error")
    points = sinter_plugin.gap_points(stats)
    published = PUBLISHED.get(distance, {})
    wanted = {min(gap, points[-1].gap) for gap in published} | {*range(0, points[-1].gap, 10)}
    for threshold in sorted(wanted):
        point = next(point for point in points if point.gap >= threshold)
        fit = point.error_rate
        known = next((p for gap, p in published.items() if min(gap, points[-1].gap) == threshold), None)
        text = f"{known[0]:<10.4g} {known[1]:.3g}" if known else ""
        print(
            f"{threshold:6} {point.kept / point.shots:10.4g} {point.errors:7}  {fit.best or 0:<9.3g}"
            f" [{fit.low:.3g}, {fit.high:.3g}]".ljust(62)
            + text
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument(
        "files", nargs="+", type=pathlib.Path, help="e2e_t_d3_p1e-3.stim, e2e_t_d5_p1e-3.stim"
    )
    parser.add_argument("--shots", type=int, default=1_000_000, help="attempted shots per circuit")
    parser.add_argument("--processes", type=int, default=1, help="number of workers")
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("out"), help="folder for results")
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    for path in args.files:
        distance = re.search(r"_d(\d+)_", path.name)
        stats = collected(path, args.shots, args.processes, args.out / "end_to_end.csv")
        print_points(stats, int(distance[1]) if distance else 0)


if __name__ == "__main__":
    main()
