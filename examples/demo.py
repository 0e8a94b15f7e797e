"""Cultivation with T gates, beside its S-proxy, sampled and computed, through Sinter's own command line.

    python -m examples.demo [--max_shots 1000000000] [--relative_error 0.03] [--out out]

Writes cultivation circuits with T gates and with S in their place. At d=3 it collects statistics of them with
`sinter collect`. At d=5 errors are too rare for that: their rates are computed from fault sets, with
`stim-nonclifford estimate`, and those of d=3, too. Then it prints tables, and draws a plot with
`sinter plot`: the sampled points lie on the computed curves. In a terminal, the commands show how far they
are. If the script is run again, it resumes where it stopped. All error bars are 95% intervals.
"""

from __future__ import annotations

import argparse
import os
import shlex
import subprocess
import sys
import sysconfig
import time
from collections.abc import Iterable, Sequence
from pathlib import Path

import sinter

from sinter_plugin import error_rate
from stim_nonclifford.generators.cultivation.builder import GateChoice
from stim_nonclifford.generators.cultivation.files import circuit_file_name

ROOT = Path(__file__).parents[1]
GATES: tuple[GateChoice, ...] = ("T", "S")
STRENGTHS = ("0.0005", "0.001", "0.002", "0.003", "0.005")
"""At which d=3 is sampled."""

CURVES = {3: ("0.0001", "0.0002", *STRENGTHS), 5: ("0.0001", "0.0002", "0.0005", "0.001", "0.0015", "0.002")}
"""At which rates are computed, by distance."""

GROUP = (
    "f'd={m.d}, ' + ('T gates' if m.g == 'T' else 'S-proxy')"
    " + (', sampled' if decoder == 'soft_postselect' else '')"
)
LOOK = (
    "{'color': {'3T': 'C0', '3S': 'C9', '5T': 'C3', '5S': 'C1'}[f'{m.d}{m.g}'],"
    " 'linestyle': 'none' if decoder == 'soft_postselect' else '-' if m.g == 'T' else '--',"
    " 'marker': ('o' if m.g == 'T' else 's') if decoder == 'soft_postselect' else ''}"
)
"""Curves are computed, points are sampled."""


QUIET = () if sys.stderr.isatty() else ("--quiet",)
"""Without a terminal, the progress of Sinter would be thousands of lines."""


class Stages:
    """Announces the stages of the demonstration, each with the time since its beginning."""

    def __init__(self, started: float, titles: Sequence[str]) -> None:
        self.started = started
        self.titles = titles
        self.number = 0

    def begin(self) -> None:
        """Begins the next stage."""
        title = self.titles[self.number]
        self.number += 1
        print(f"\n[{self.number}/{len(self.titles)}, after {self.seconds():.0f} s] {title}", flush=True)

    def seconds(self) -> float:
        """The time since the beginning."""
        return time.time() - self.started


def run(*command: str) -> None:
    """Prints and runs a command in the repository."""
    print("$", shortened(command), flush=True)
    # The script `sinter` does not search the current folder, in which a checkout has the plugin.
    path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
    subprocess.run(command, cwd=ROOT, env={**os.environ, "PYTHONPATH": path}, check=True)


def shortened(command: Sequence[str]) -> str:
    """A command in which names of circuit files after the first of several are left out."""
    shown: list[str] = []
    left_out = 0
    for word, following in zip(command, (*command[1:], ""), strict=True):
        if word.endswith(".stim") and following.endswith(".stim") and shown[-1].endswith(".stim"):
            left_out += 1
        elif left_out:
            shown += [f"... ({left_out} more files)", shlex.quote(word)]
            left_out = 0
        else:
            shown.append(shlex.quote(word))
    return " ".join(shown)


def rate_of(row: sinter.TaskStats) -> str:
    """The logical error rate of a row, with its 95% interval."""
    fit = error_rate(row)
    best = f"{fit.best:.3g} " if fit.best is not None else ""
    return f"{best}[{fit.low:.3g}, {fit.high:.3g}]"


def rows_of(csv: Path) -> list[sinter.TaskStats]:
    """The rows of a file, sorted by what they are about."""
    rows = sinter.read_stats_from_csv_files(csv)
    return sorted(rows, key=lambda row: tuple(row.json_metadata[key] for key in "dpg"))


def print_counts(csv: Path) -> None:
    """Prints discard rates and logical error rates per kept shot."""
    print("\nSampled: d=3")
    print(f"{'p':>7} {'gate':>4} {'shots':>14} {'discarded':>9} {'errors':>7}  logical error per kept shot")
    for row in rows_of(csv):
        print(
            f"{row.json_metadata['p']:>7} {row.json_metadata['g']:>4} {row.shots:>14,}"
            f" {row.discards / row.shots:>9.3%} {row.errors:>7,}  {rate_of(row)}"
        )


def print_estimates(csv: Path) -> None:
    """Prints what was computed, with its uncertainty."""
    print("\nComputed from fault sets")
    print(f" d {'p':>7} gate {'discarded':>10}  logical error per kept shot")
    for row in rows_of(csv):
        (d, p, g), found = (row.json_metadata[key] for key in "dpg"), row.json_metadata["estimate"]
        print(f"{d:>2} {p:>7} {g:>4} {1 - found['kept']:>10.4%}  {rate_of(row)}")


def main() -> int:
    """Runs the demonstration."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--max_shots", type=int, default=1_000_000_000, help="shots per circuit at most")
    parser.add_argument("--max_errors", type=int, default=1000, help="logical errors per circuit at most")
    parser.add_argument("--relative_error", type=float, default=0.03, help="of the rates that are computed")
    parser.add_argument("--out", type=Path, default=Path("out"), help="folder for statistics and plot")
    parser.add_argument(
        "--started",
        type=float,
        default=time.time(),
        help="when the set-up began (seconds since 1970), to report the time that all of it took",
    )
    arguments = parser.parse_args()
    out = arguments.out if arguments.out.is_absolute() else ROOT / arguments.out
    out.mkdir(parents=True, exist_ok=True)
    sampled = (
        f"Sampling d=3: {len(GATES) * len(STRENGTHS)} circuits, up to {arguments.max_shots:,} shots each"
    )
    computed = (
        f"Computing the rates of {len(GATES) * sum(map(len, CURVES.values()))} circuits from fault sets"
    )
    stages = Stages(arguments.started, ("Writing circuits", sampled, computed, "Plotting"))

    scripts = Path(sysconfig.get_path("scripts"))
    sinter_command, own_command = str(scripts / "sinter"), str(scripts / "stim-nonclifford")
    circuits = out / "circuits"

    def files(d: int, strengths: Iterable[str]) -> list[str]:
        pairs = [(gate, float(p)) for gate in GATES for p in strengths]
        names = [circuit_file_name(distance=d, p=p, gate=gate, noise="uniform") for gate, p in pairs]
        return [str(circuits / name) for name in names]

    stages.begin()
    for d, strengths in CURVES.items():
        run(
            *(own_command, "generate", "cultivation", "--distance", str(d), "--p", *strengths),
            *("--gate", *GATES, "--out_dir", str(circuits)),
        )
    stages.begin()
    run(
        *(sinter_command, "collect", "--circuits", *files(3, STRENGTHS), "--decoders", "soft_postselect"),
        *("--custom_decoders_module_function", "sinter_plugin:sinter_samplers"),
        "--postselect_detectors_with_non_zero_4th_coord",
        *("--metadata_func", "auto", *QUIET, "--processes", "auto"),
        *("--max_shots", str(arguments.max_shots), "--max_errors", str(arguments.max_errors)),
        *("--save_resume_filepath", str(out / "stats.csv")),
    )
    print_counts(out / "stats.csv")
    stages.begin()
    run(
        *(own_command, "estimate", "--circuits", *files(3, CURVES[3]), *files(5, CURVES[5])),
        "--postselect_detectors_with_non_zero_4th_coord",
        *("--metadata_func", "auto", *QUIET, "--relative_error", str(arguments.relative_error)),
        *("--save_resume_filepath", str(out / "rates.csv")),
    )
    print_estimates(out / "rates.csv")
    stages.begin()
    run(
        *(sinter_command, "plot", "--in", str(out / "stats.csv"), str(out / "rates.csv")),
        *("--type", "custom_y", "--y_func", "__import__('sinter_plugin').error_rate(stat)"),
        *("--x_func", "m.p", "--xaxis", "[log]physical error rate p"),
        *("--group_func", GROUP, "--plot_args_func", LOOK),
        *("--title", "Magic state cultivation: logical error per kept shot"),
        *("--yaxis", "[log]logical error per kept shot"),
        *("--ymin", "1e-15", "--ymax", "1e-3", "--xmin", "9e-5", "--xmax", "6e-3"),
        *("--fig_size", "1024", "768", "--out", str(out / "error_rate.png")),
    )
    print(f"\n{out / 'error_rate.png'} written; {stages.seconds():.0f} s in all.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
