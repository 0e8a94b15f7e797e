"""Cultivation end to end: logical error against attempts per kept shot, with T gates and as S-proxy.

    python -m examples.cultivation_end_to_end [--d2 7 9 11] [--shots 2000000] [--out out]

A color code of distance 3 (or 5) is cultivated, escapes into one of distance d2, and is decoded with a
complementary gap. Shots with a small gap are discarded: the smallest gap that is kept is the dial along
each curve. With T gates, half of the attempts are read out in the basis for states without a logical X
flip, and half in that for states with it; the decoder says which shots count. So the T state is checked
exactly, without a vector of its data qubits.
"""

from __future__ import annotations

import argparse
import pathlib
from collections import Counter

import matplotlib as mpl
import numpy as np
import sinter
import stim

import sinter_plugin
from examples.color_code_gap import ColorCodeGapDecoder
from stim_nonclifford.cultivation import GateChoice, end_to_end_circuit

mpl.use("Agg")

# Gates, and the `flipped` of the circuit and of its decoder; the S-proxy has one readout for all shots.
_READOUTS: tuple[tuple[GateChoice, bool | None], ...] = (("S", None), ("T", False), ("T", True))


def postselection_mask(circuit: stim.Circuit) -> np.ndarray:
    """The detectors that discard a shot: those with a fifth coordinate other than 0."""
    coordinates = circuit.get_detector_coordinates()
    bits = [coordinates[k][4] != 0 for k in range(circuit.num_detectors)]
    return np.packbits(bits, bitorder="little")


def tasks_and_samplers(
    args: argparse.Namespace,
) -> tuple[list[sinter.Task], dict[str, sinter_plugin.SoftDecodingSampler]]:
    """One task, and its sampler, for each circuit."""
    tasks, samplers = [], {}
    for d2 in args.d2:
        for gate, flipped in _READOUTS:
            circuit = end_to_end_circuit(
                args.d1,
                d2,
                args.p,
                gate,
                postselected_rounds=args.postselected_rounds,
                rounds=args.rounds,
                flipped=bool(flipped),
            )
            metadata = {"d": args.d1, "d2": d2, "g": gate, "p": args.p, "flipped": bool(flipped)}
            metadata |= {"postselected": args.postselected_rounds, "r": args.rounds}
            name = ",".join(f"{key}={value}" for key, value in metadata.items())
            samplers[name] = sinter_plugin.SoftDecodingSampler(
                decoder=ColorCodeGapDecoder(circuit, flipped), confidence=True
            )
            mask = postselection_mask(circuit)
            tasks.append(
                sinter.Task(circuit=circuit, decoder=name, json_metadata=metadata, postselection_mask=mask)
            )
    return tasks, samplers


def merged(stats: list[sinter.TaskStats]) -> list[sinter.TaskStats]:
    """Joins both readouts of the circuits with T gates: an attempt is kept in one of them, if at all."""
    groups: dict[tuple[int, str], list[sinter.TaskStats]] = {}
    for one in stats:
        groups.setdefault((one.json_metadata["d2"], one.json_metadata["g"]), []).append(one)
    joined = []
    for (d2, _), group in sorted(groups.items()):
        if len({one.shots for one in group}) > 1:
            raise SystemExit(f"The readouts of d2={d2} have different numbers of shots. Run this again.")
        counts: Counter[str] = sum((one.custom_counts for one in group), Counter())
        joined.append(
            sinter.TaskStats(
                strong_id=group[0].strong_id,
                decoder="color_code_gap",
                json_metadata=group[0].json_metadata,
                shots=group[0].shots,
                errors=sum(one.errors for one in group),
                discards=group[0].shots - counts["survivors"],
                seconds=sum(one.seconds for one in group),
                custom_counts=counts,
            )
        )
    return joined


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
    axes.set(
        xlabel="attempts per kept shot", ylabel="logical error of kept shots", xscale="log", yscale="log"
    )
    axes.set_title(
        f"d={first['d']}, p={first['p']}, {first['postselected']} rounds postselected, {first['r']} decoded"
    )
    axes.grid(alpha=0.3, which="both")
    axes.legend()
    figure.savefig(path, dpi=110)


def summary(one: sinter.TaskStats) -> str:
    """The end of a curve where all shots are kept, and its lowest point with at least 10 errors."""
    points = sinter_plugin.gap_points(one)
    frequent = [point for point in points if point.errors >= 10]
    lowest = min(frequent, key=lambda point: point.error_rate.best, default=points[0])
    metadata = one.json_metadata
    lines = [
        f"d={metadata['d']}, d2={metadata['d2']}, {metadata['g']}: {one.shots} attempts,"
        f" {one.shots - one.discards} kept, {one.seconds:.0f} s"
    ]
    for point in (points[0], lowest):
        fit = point.error_rate
        lines.append(
            f"  gap >= {point.gap:3} dB: {point.attempts_per_kept_shot:8.3g} attempts per kept shot,"
            f" error {fit.best:.3g} [{fit.low:.2g}, {fit.high:.2g}] ({point.errors} errors)"
        )
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--d1", type=int, default=3, help="distance of the code that is cultivated")
    parser.add_argument("--d2", type=int, nargs="+", default=[7, 9, 11], help="distances after the escape")
    parser.add_argument("--p", type=float, default=0.001, help="noise strength")
    parser.add_argument("--postselected-rounds", type=int, default=1, help="rounds that postselect")
    parser.add_argument("--rounds", type=int, default=1, help="rounds for the decoder after these")
    parser.add_argument("--shots", type=int, default=2_000_000, help="attempts per circuit and readout")
    parser.add_argument("--processes", type=int, default=2, help="number of workers")
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("out"), help="folder for results")
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    tasks, samplers = tasks_and_samplers(args)
    found = sinter.collect(
        num_workers=args.processes,
        tasks=tasks,
        custom_decoders=samplers,
        max_shots=args.shots,
        save_resume_filepath=args.out / "end_to_end.csv",
    )
    # The file may have results of other arguments.
    stats = merged([one for one in found if one.decoder in samplers])
    for one in stats:
        print(summary(one))
    sinter_plugin.write_gap_points(stats, args.out / "end_to_end_points.csv")
    plot(stats, args.out / "end_to_end.png")
    print(f"Wrote {args.out}/end_to_end.csv, end_to_end_points.csv and end_to_end.png.")


if __name__ == "__main__":
    main()
