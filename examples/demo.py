"""Cultivation with T gates, beside its S-proxy, sampled through Sinter's own command line.

    python -m examples.demo [--max-shots 1000000000] [--out out]

Writes d=3 cultivation circuits for five noise strengths, with T gates and with S in their place. Then it
collects statistics with `sinter collect`, prints a table, and draws a plot with `sinter plot`. If the script
is run again, Sinter resumes where it stopped.
"""

from __future__ import annotations

import argparse
import os
import shlex
import subprocess
import sys
import sysconfig
import time
from pathlib import Path

import sinter

from stim_nonclifford.cultivation.builder import GateChoice
from stim_nonclifford.cultivation.files import circuit_file_name

ROOT = Path(__file__).parents[1]
CIRCUITS = Path("circuits") / "cultivation"
GATES: tuple[GateChoice, ...] = ("T", "S")
STRENGTHS = ("0.0005", "0.001", "0.002", "0.003", "0.005")


def run(*command: str) -> None:
    """Prints and runs a command in the repository."""
    print("$", shlex.join(command), flush=True)
    # The script `sinter` does not search the current folder, in which a checkout has the plugin.
    path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
    subprocess.run(command, cwd=ROOT, env={**os.environ, "PYTHONPATH": path}, check=True)


def interval(hits: int, shots: int) -> str:
    """A rate with Sinter's error bar: all rates whose likelihood is within a factor 1000 of the best one."""
    if shots == 0:
        return "-"
    fit = sinter.fit_binomial(num_shots=shots, num_hits=hits, max_likelihood_factor=1000)
    return f"{fit.best:.3g} [{fit.low:.3g}, {fit.high:.3g}]"


def print_table(csv: Path) -> None:
    """Prints discard rates and logical error rates per kept shot."""
    rows = sorted(
        sinter.read_stats_from_csv_files(csv),
        key=lambda row: (row.json_metadata["p"], row.json_metadata["g"]),
    )
    print(f"\n{'p':>7} {'gate':>4} {'shots':>14} {'discarded':>9} {'errors':>7}  logical error per kept shot")
    for row in rows:
        kept = row.shots - row.discards
        print(
            f"{row.json_metadata['p']:>7} {row.json_metadata['g']:>4} {row.shots:>14,}"
            f" {row.discards / row.shots:>9.3%} {row.errors:>7,}  {interval(row.errors, kept)}"
        )


def main() -> int:
    """Runs the demonstration."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--max-shots", type=int, default=1_000_000_000, help="shots per circuit at most")
    parser.add_argument("--max-errors", type=int, default=1000, help="logical errors per circuit at most")
    parser.add_argument("--out", type=Path, default=Path("out"), help="folder for statistics and plot")
    arguments = parser.parse_args()
    out = arguments.out if arguments.out.is_absolute() else ROOT / arguments.out
    out.mkdir(parents=True, exist_ok=True)
    start = time.monotonic()

    python, scripts = sys.executable, Path(sysconfig.get_path("scripts"))
    sinter_command = str(scripts / "sinter")
    run(
        *(python, "-m", "stim_nonclifford.cultivation", "--distance", "3", "--p", *STRENGTHS),
        *("--gate", *GATES, "--out", str(CIRCUITS)),
    )
    files = [
        str(CIRCUITS / circuit_file_name(distance=3, p=float(p), gate=gate, noise="uniform"))
        for gate in GATES
        for p in STRENGTHS
    ]
    run(
        *(sinter_command, "collect", "--circuits", *files, "--decoders", "soft_postselect"),
        *("--custom_decoders_module_function", "sinter_plugin:sinter_samplers"),
        "--postselect_detectors_with_non_zero_4th_coord",
        *("--metadata_func", "auto", "--quiet", "--processes", "auto"),
        *("--max_shots", str(arguments.max_shots), "--max_errors", str(arguments.max_errors)),
        *("--save_resume_filepath", str(out / "stats.csv")),
    )
    print_table(out / "stats.csv")
    print()
    run(
        *(sinter_command, "plot", "--in", str(out / "stats.csv"), "--type", "error_rate"),
        *("--x_func", "m.p", "--xaxis", "[log]physical error rate p"),
        *("--group_func", "f'd={m.d}, ' + ('T gates' if m.g == 'T' else 'S-proxy')"),
        *("--title", "Magic state cultivation: logical error per kept shot"),
        *("--fig_size", "1024", "768", "--out", str(out / "error_rate.png")),
    )
    print(f"\n{out / 'error_rate.png'} written; {time.monotonic() - start:.0f} s in all.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
