"""``python -m sinter_plugin figure end_to_end``: logical error against attempts of cultivation.

A T state is injected, cultivated and grown into a large code, with T gates and as S-proxy. Circuits are
generated, or those of the Clifft paper (--circuits). Kept shots are decoded, and counted by the gap of the
decoder. Shots with a smaller gap than some threshold can be discarded, too: the threshold is the dial along
each curve. The logical Y is checked in the decoded frame.
"""

from __future__ import annotations

import argparse
import itertools
import math
import pathlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import sinter

from stim_nonclifford.base.errors import ResourceLimitError
from stim_nonclifford.commands.options import whole_number
from stim_nonclifford.generators.cultivation import ESCAPE_CHOICES, VARIANT_CHOICES
from stim_nonclifford.generators.cultivation.builder import GATE_CHOICES
from stim_nonclifford.generators.cultivation.protocol import UnavailableError

from ..runs.collection import collect
from ..runs.progress import say
from ..samplers.soft_decoding import SoftDecodingSampler
from ..samplers.tasks import task
from ..statistics.csv_rows import ESTIMATE
from ..statistics.estimates import GAP, error_rate, estimate_row, is_enough
from ..statistics.gap_points import counts_of, gap_points, has_gaps, write_gap_points
from ..statistics.statistics_file import StatisticsFile
from .arguments import positive_number
from .end_to_end_circuits import CheckedCircuit, circuit_of_file, generated_circuit, published_points
from .endings import exit_code_of
from .plot_gap import GapCurve, curves_of, draw

_DECODERS = ("desaturated", "chromobius")
_STEP = 10
"""Thresholds of the table, in decibels."""


def figure(arguments: Sequence[str]) -> int:
    """Runs the command."""
    args = _parsed(arguments)
    return exit_code_of(lambda: _drawn(args), "continue from the saved statistics")


def _drawn(args: argparse.Namespace) -> int:
    """Counts, computes and draws; after an interrupt, with what was counted until then."""
    out = pathlib.Path(args.out)
    out.mkdir(parents=True, exist_ok=True)
    if "matchable" in args.escape and args.decoder == "chromobius":
        raise ValueError(
            "Chromobius decodes color codes, and the matchable escape ends in a surface code."
            " Choose --decoder desaturated or --escape color."
        )
    circuits = list(_circuits(args))
    if args.compute_seconds is not None and args.decoder != _DECODERS[0]:
        raise ValueError(
            f"--compute_seconds needs --decoder {_DECODERS[0]}, whose kept fault sets can be listed."
        )
    tasks, samplers = [], {}
    for checked in circuits:
        parts = [checked.metadata[key] for key in ("g", "file") if key in checked.metadata]
        name = "_".join(["soft", args.decoder, "gap", *parts])
        mask, options = None, dict[str, Any]()
        if args.decoder == "chromobius":
            # What a circuit of `end_to_end_circuit` postselects is in the fifth coordinate.
            places = sorted(checked.circuit.get_detector_coordinates().items())
            mask = np.array([place[4:5] == [1] for _, place in places], dtype=np.bool_)
            options = {"error_model": "noise_only", "condition_on_postselection": True}
        samplers[name] = SoftDecodingSampler(
            args.decoder, confidence=True, state_check=checked.check, warn=False, **options
        )
        samplers[name].check(checked.circuit, mask)
        tasks.append(
            task(checked.circuit, decoder=name, json_metadata=checked.metadata, postselection_mask=mask)
        )
    rows: dict[str, sinter.TaskStats] = {}
    is_interrupted = False
    for one in tasks:
        try:
            found = collect(
                [one],
                num_workers=args.processes,
                seed=args.seed,
                max_shots=args.max_shots,
                max_seconds=args.max_seconds / len(tasks),
                custom_decoders=samplers,
                save_resume_filepath=out / "end_to_end.csv",
                print_progress=not args.quiet,
            )
        except KeyboardInterrupt:
            is_interrupted = True
            break
        rows |= {row.strong_id: row for row in found}
    names = [one.strong_id() for one in tasks]
    computed = [] if is_interrupted else _computed(circuits, names, args, out / "end_to_end_computed.csv")
    counted = [rows[key] for key in names if key in rows and has_gaps(rows[key])]
    if counted:
        _print_tables(counted)
        write_gap_points(counted, out / "end_to_end_points.csv")
        curves = [*curves_of(counted, lambda row: _name(row.json_metadata)), *computed]
        published = [(row.json_metadata["d"], published_points(row.json_metadata)) for row in counted]
        for distance, points in sorted({d: points for d, points in published if points}.items()):
            label = f"d={distance} to a matchable code, p=0.001, T gates (published)"
            attempts = [1 / kept for kept, _ in points.values()]
            rates = [sinter.Fit(low=rate, best=rate, high=rate) for _, rate in points.values()]
            curves.append(GapCurve(label, attempts, rates, is_curve=False, is_computed=False))
        draw(curves, "cultivation end to end", str(out / "end_to_end.png"))
        print(f"Wrote end_to_end.csv, end_to_end_points.csv and end_to_end.png to {out}.")
    return 130 if is_interrupted else 0


def _parsed(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m sinter_plugin figure",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    add = parser.add_argument
    add("name", choices=["end_to_end"], help="the figure")
    add("--circuits", nargs="+", metavar="FILE", help="e2e_t_d3_p1e-3.stim, ... (Clifft paper)")
    add("--d", type=int, nargs="+", default=[3], help="distances that are cultivated (default: 3)")
    add("--d2", type=int, default=7, help="distance after the escape (default: 7)")
    add("--p", type=float, nargs="+", default=[0.001], help="strengths of the noise (default: 0.001)")
    flagged = "flagged: the last check of distance 5 has flags (default: published)"
    add("--variant", choices=VARIANT_CHOICES, nargs="+", default=["published"], help=flagged)
    escapes = (
        "into a color code, or into a surface code: from distance 3, or from 5 if d2 >= 9 (default: color);"
        " of several distances, variants and escapes, combinations that do not exist are left out"
    )
    add("--escape", choices=ESCAPE_CHOICES, nargs="+", default=["color"], help=escapes)
    add("--postselected_rounds", type=int, default=1, help="rounds that postselect (default: 1)")
    add("--rounds", type=int, default=1, help="rounds for the decoder after these (default: 1)")
    add("--gate", choices=GATE_CHOICES, nargs="+", default=GATE_CHOICES, help="default: both")
    add("--decoder", choices=_DECODERS, default=_DECODERS[0], help="default: desaturated")
    add("--max_seconds", type=positive_number, default=100, help="for all curves (default: 100)")
    add("--max_shots", type=int, help="attempts of each curve, with those of the file")
    add("--processes", type=whole_number(1, 1024), default=2, help="number of workers (default: 2)")
    add(
        "--compute_seconds",
        type=positive_number,
        help="compute each curve, too, from sums over kept fault sets (desaturated), for at most so many"
        " seconds, and draw it with its intervals; curves are kept in end_to_end_computed.csv of the folder,"
        " and are not computed again",
    )
    error = "of computed curves, at each gap (default: 0.05)"
    add("--relative_error", type=positive_number, default=0.05, help=error)
    add("--seed", type=int, help="seed of the shots (default: a fresh one, or that of the file)")
    add("--out", default="out", metavar="FOLDER", help="folder for the results (default: out)")
    add("--quiet", action="store_true", help="show no progress")
    return parser.parse_args(arguments)


def _computed(
    circuits: Sequence[CheckedCircuit], names: Sequence[str], args: argparse.Namespace, path: pathlib.Path
) -> list[GapCurve]:
    """The curves of sums over kept fault sets, if they are asked for; some may be in the file."""
    if args.compute_seconds is None:
        return []
    found: list[GapCurve] = []
    with StatisticsFile(path, say=say) as file:
        for checked, name in zip(circuits, names, strict=True):
            rows = [row for row in file.rows if row.strong_id.startswith(f"{name} ")]
            facts = [row.json_metadata[ESTIMATE] for row in rows]
            is_known = bool(rows) and all(
                args.seed in (None, each["seed"])
                and is_enough(each, args.relative_error, args.compute_seconds)
                for each in facts
            )
            if not is_known:
                replaced = {row.strong_id for row in rows}
                try:
                    rate = checked.circuit.logical_error_rate(
                        decoder=args.decoder,
                        confidence=True,
                        state_check=checked.check,
                        relative_error=args.relative_error,
                        max_seconds=args.compute_seconds,
                        seed=args.seed,
                        progress=not args.quiet,
                    )
                except ResourceLimitError as error:
                    say(f"Not computed: {_name(checked.metadata)}. {error}")
                    continue
                print(f"{_name(checked.metadata)}, computed:\n{rate}", flush=True)
                rows = []
                for point in rate.gap_curve:
                    metadata = {**checked.metadata, GAP: point.gap}
                    row_name = f"{name} {point.gap}"
                    rows.append(estimate_row(row_name, metadata, rate, point, args.compute_seconds))
                file.save(rows, replacing=replaced | {row.strong_id for row in rows})
            found += curves_of(rows, lambda row: _name(row.json_metadata))
    return found


def _circuits(args: argparse.Namespace) -> Iterator[CheckedCircuit]:
    gates = list(dict.fromkeys(args.gate))
    for path in args.circuits or ():
        yield from (circuit_of_file(path, gate) for gate in gates)
    if args.circuits:
        return
    kinds = list(dict.fromkeys(itertools.product(args.d, args.variant, args.escape, args.p)))  # each once
    rounds = {"postselected_rounds": args.postselected_rounds, "rounds": args.rounds}
    refused: list[UnavailableError] = []
    for d, variant, escape, p in kinds:
        try:
            yield from [
                generated_circuit(d, args.d2, p, gate, variant=variant, escape=escape, **rounds)
                for gate in gates
            ]
        except UnavailableError as error:
            refused.append(error)
            if len(refused) == len(kinds):
                raise
            say(f"Left out: d={d}, {variant}, {escape} escape, p={p}. {error}")


def _name(m: Mapping[str, Any]) -> str:
    gates = "T gates" if m["g"] == "T" else "S-proxy"
    if "file" in m:
        return f"{m['file']}, {gates}"
    kinds = ", ".join(m[key] for key in ("variant", "escape") if key in m)
    return f"d={m['d']} to {m['d2']}{f' ({kinds})' if kinds else ''}, p={m['p']:g}, {gates}"


def _print_tables(rows: Sequence[sinter.TaskStats]) -> None:
    for row in rows:
        points = gap_points(row)
        published = published_points(row.json_metadata) if "file" in row.json_metadata else {}
        largest = points[-1].gap
        speed = row.shots / row.seconds if row.seconds else math.nan
        print(f"{_name(row.json_metadata)}: {row.shots} attempts, {speed:.3g} per second and worker")
        head = "gap >= attempts per kept  errors  logical error [95% interval]"
        print(head + "  published" * bool(published))
        thresholds = {*range(0, largest, _STEP), *(gap for gap in published if gap < largest), largest}
        for threshold in sorted(thresholds):
            point = next(point for point in points if point.gap >= threshold)
            rate = error_rate(counts_of(point))
            shown = f"{rate.best or 0:.3g} [{rate.low:.2g}, {rate.high:.2g}]"
            line = f"{threshold:6} {point.attempts_per_kept_shot:17.4g} {point.errors:7}  {shown:28}"
            if threshold in published:
                kept, published_rate = published[threshold]
                line += f" {published_rate:.3g} (attempts {1 / kept:.4g})"
            print(line.rstrip())
