"""Cultivation end to end: logical error against attempts per kept shot, with T gates and as S-proxy.

    python -m examples.cultivation.cultivation_end_to_end [--d2 7 9] [--shots 2000000] [--check y] [--out out]

A color code of distance 3 (or 5) is cultivated, escapes into one of distance d2, and is decoded by
Chromobius with a complementary gap. Shots with a small gap are discarded: the smallest gap that is kept is
the dial along each curve. The decoded state is checked by expectation values. By default this is logical Y
alone, which logical X and Z errors flip, with T gates as in the S-proxy, so that both can be compared.
`--check xy` counts 1 - fidelity: a logical X or Y error leaves half of the fidelity of a T state.
"""

from __future__ import annotations

import argparse
import pathlib

import matplotlib as mpl
import numpy as np
import scipy.stats
import sinter
import stim

import sinter_plugin
from sinter_plugin import GapPoint, LogicalStateCheck, SoftDecodingSampler
from stim_nonclifford.generators.cultivation import GateChoice, end_to_end_circuit

mpl.use("Agg")

GATES: tuple[GateChoice, ...] = ("T", "S")

WEIGHTS: dict[str, dict[GateChoice, tuple[float, ...]]] = {
    "xy": {"T": (0.5**0.5, 0.5**0.5), "S": (0.0, 1.0)},
    "y": {"T": (0.0, 2**0.5), "S": (0.0, 1.0)},
}
"""What the checks weigh the expectation values of logical X and Y with."""


def postselection_mask(circuit: stim.Circuit) -> np.ndarray:
    """The detectors that discard a shot: those with a fifth coordinate other than 0."""
    coordinates = circuit.get_detector_coordinates()
    bits = [coordinates[k][4] != 0 for k in range(circuit.num_detectors)]
    return np.packbits(bits, bitorder="little")


def checked_sampler(gate: GateChoice, check: str = "y") -> SoftDecodingSampler:
    """Decodes end-to-end circuits and checks the decoded state."""
    return SoftDecodingSampler(
        decoder="chromobius",
        confidence=True,
        error_model="noise_only",
        condition_on_postselection=True,
        state_check=LogicalStateCheck((0, 1), (0, 1), WEIGHTS[check][gate]),
    )


def tasks(args: argparse.Namespace) -> list[sinter.Task]:
    """One task for each circuit."""
    found = []
    for d2 in args.d2:
        for gate in GATES:
            circuit = end_to_end_circuit(
                args.d1,
                d2,
                args.p,
                gate,
                postselected_rounds=args.postselected_rounds,
                rounds=args.rounds,
                readout="expectation_values",
            )
            metadata = {"d": args.d1, "d2": d2, "g": gate, "p": args.p, "check": args.check}
            metadata |= {"postselected": args.postselected_rounds, "r": args.rounds}
            found.append(
                sinter_plugin.task(
                    circuit,
                    decoder=f"checked_{gate}",
                    json_metadata=metadata,
                    postselection_mask=postselection_mask(circuit),
                )
            )
    return found


def plot(stats: list[sinter.TaskStats], path: pathlib.Path) -> None:
    """Draws a curve for each circuit, as far as errors were seen."""
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(7, 5), layout="constrained")
    colors = {d2: f"C{k}" for k, d2 in enumerate(sorted({one.json_metadata["d2"] for one in stats}))}
    for one in stats:
        points = [point for point in sinter_plugin.gap_points(one) if point.errors]
        attempts = [point.attempts_per_kept_shot for point in points]
        d2, gate = one.json_metadata["d2"], one.json_metadata["g"]
        best = [point.error_rate.best for point in points]
        line = "-" if gate == "T" else "--"
        axes.plot(attempts, best, line, color=colors[d2], label=f"d2={d2}, {gate}")
        low, high = ([getattr(point.error_rate, end) for point in points] for end in ("low", "high"))
        axes.fill_between(attempts, low, high, color=colors[d2], alpha=0.12)
    first = stats[0].json_metadata
    axes.set(xlabel="attempts per kept shot", ylabel="logical error of kept shots", yscale="log")
    axes.set_title(
        f"d={first['d']}, p={first['p']}, rounds: {first['postselected']} postselected, {first['r']} decoded"
    )
    axes.grid(alpha=0.3, which="both")
    axes.legend()
    figure.savefig(path, dpi=110)


def comparison(t: sinter.TaskStats, s: sinter.TaskStats) -> str:
    """A table of the errors with T gates and of the S-proxy, from loose to tight gaps.

    The p-value is that of Fisher's exact test that both error rates are the same.
    """
    metadata = t.json_metadata
    lines = [f"d={metadata['d']}, d2={metadata['d2']}"]
    for one in (t, s):
        kept = one.shots - one.discards
        rate = one.shots / one.seconds
        lines[0] += f"; {one.json_metadata['g']}: {one.shots} attempts, {kept} kept, {rate:.3g} attempts/s"
    lines.append(
        "  gap >= attempts  T errors  error [interval]                S errors  error     T/S  p-value"
    )
    points = [sinter_plugin.gap_points(one) for one in (t, s)]
    top = min(found[-1].gap for found in points)
    for threshold in sorted({*range(0, top, 10), top}):
        at_t, at_s = (next(point for point in found if point.gap >= threshold) for found in points)
        fit = at_t.error_rate
        p_value = scipy.stats.fisher_exact([_wrong_and_right(at_t), _wrong_and_right(at_s)]).pvalue
        ratio = at_t.errors / at_t.kept / (at_s.errors / at_s.kept) if at_s.errors else np.inf
        lines.append(
            f"  {threshold:6} {at_t.attempts_per_kept_shot:8.4g}  {at_t.errors:8}"
            f"  {f'{fit.best or 0:.3g} [{fit.low:.3g}, {fit.high:.3g}]':30}"
            f"  {at_s.errors:8}  {at_s.errors / at_s.kept:<8.3g} {ratio:5.2f}  {p_value:.2g}"
        )
    return "\n".join(lines)


def _wrong_and_right(point: GapPoint) -> tuple[int, int]:
    return point.errors, point.kept - point.errors


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--d1", type=int, default=3, help="distance of the code that is cultivated")
    parser.add_argument("--d2", type=int, nargs="+", default=[7, 9], help="distances after the escape")
    parser.add_argument("--p", type=float, default=0.001, help="noise strength")
    parser.add_argument("--postselected_rounds", type=int, default=1, help="rounds that postselect")
    parser.add_argument("--rounds", type=int, default=1, help="rounds for the decoder after these")
    parser.add_argument("--check", choices=WEIGHTS, default="y", help="the expectation values to check")
    parser.add_argument("--shots", type=int, default=2_000_000, help="attempts per circuit")
    parser.add_argument("--processes", type=int, default=2, help="number of workers")
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("out"), help="folder for results")
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    collected = tasks(args)
    found = sinter.collect(
        num_workers=args.processes,
        tasks=collected,
        custom_decoders={f"checked_{gate}": checked_sampler(gate, args.check) for gate in GATES},
        max_shots=args.shots,
        save_resume_filepath=args.out / "end_to_end.csv",
    )
    ids = {task.strong_id() for task in collected}  # the file may have results of other arguments
    stats = [one for one in found if one.strong_id in ids]
    by_circuit = {(one.json_metadata["d2"], one.json_metadata["g"]): one for one in stats}
    for d2 in args.d2:
        print(comparison(by_circuit[d2, "T"], by_circuit[d2, "S"]))
    sinter_plugin.write_gap_points(stats, args.out / "end_to_end_points.csv")
    plot(stats, args.out / "end_to_end.png")
    print(f"Wrote {args.out}/end_to_end.csv, end_to_end_points.csv and end_to_end.png.")


if __name__ == "__main__":
    main()
