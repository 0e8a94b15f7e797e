"""Workloads in simulators: shots per second, time to the first shot, and memory.

    python -m benchmarks.compare SUITE [--seconds 2] [--repeats 5] [--only d3 k19] [--docs docs]

Every simulator that is installed (``pip install -e '.[peers]'``; or with ``--python NAME=PYTHON``, the
interpreter that has it) runs each workload in a process of its own. The simulators of a workload take turns,
each in its best setting (such as a batch size); rates are medians of the runs, in processor time, or in
wall time where several threads are measured. Suites:

    peers              the published circuits in all simulators: a table and a plot in the documentation
    narrow             circuits that need few coefficients: a table in the documentation
    speed              cultivation d=3 and d=5, beside Stim on the S-proxy
    threads            two threads, beside one and beside two samplers that share nothing
    surface            all detectors of surface codes, beside Stim: a table in the documentation
    lists              rows of effects as lists and as words
    dense              the work of dense simulations, beside what the machine can do
    decoders           soft_pymatching, beside Sinter's pymatching
    decisions          T gates by lattice surgery with a decoder in the loop
    width mechanisms noise    how speed falls: plots in the documentation
    first_shot         seconds and memory to the first shot: a table in the documentation
    first_shot_growth  the same against the size of the circuit: a plot in the documentation
    estimates          logical error rates from fault sets: seconds and memory
    estimates_growth   the same against the size of the circuit: a plot in the documentation
    tracked            fifteen workloads, stored for each measured commit: a table in the documentation

Results are written to ``--out``, as SUITE.json and a plot, with ``--docs docs`` also into the documentation.
With ``--from SUITE.json`` nothing is measured again. Simulators run S in place of T if they have no T: Stim.
"""

from __future__ import annotations

import argparse
import json
import select
import statistics
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import stim_nonclifford as snc
from benchmarks.measuring import description, machine, peaks
from benchmarks.report import PLOTS, SECTIONS, draw, filled, line_of, table, with_history
from benchmarks.simulators import version_of
from benchmarks.workloads import CIRCUITS, SUITES, Workload

__all__ = ["CIRCUITS", "Contestant", "measure"]

PATIENCE = 60.0
"""Seconds that a simulator may take for its first shots in one setting."""
FIRST_SHOT_PATIENCE = 20.0
OF_FIRST_SHOT = ("first_shot", "first_shot_growth", "estimates", "estimates_growth")
"""Suites in which nothing but the first shot is measured."""


class Contestant:
    """A simulator that runs one workload in a process of its own."""

    def __init__(self, python: str, patience: float, **wanted: Any) -> None:
        command = [python, "-m", "benchmarks.simulators"]
        # Without a buffer, in which a line could wait that `select` does not see.
        self._process = subprocess.Popen(
            command, bufsize=0, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=Path(__file__).parents[1]
        )
        self._patience = patience
        self.found: dict[str, Any] = {"rates": []}  # its measurements; `problem` says why there are none
        self._send(wanted)
        while "best" not in self.found and "problem" not in self.found:
            self.found |= self._answer()

    def _send(self, value: object) -> None:
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(f"{json.dumps(value)}\n".encode())
            self._process.stdin.flush()
        except BrokenPipeError:
            pass  # its answer says that it has ended

    def _answer(self) -> dict[str, Any]:
        out = self._process.stdout
        assert out is not None
        if not select.select([out], [], [], self._patience)[0]:
            self._process.kill()
            return {"problem": f"> {self._patience:.0f} s"}
        if not (line := out.readline()):
            return {"problem": f"ended with exit code {self._process.wait()}"}
        found: dict[str, Any] = json.loads(line)
        return found

    def measure(self, seconds: float) -> None:
        """Measures one repetition."""
        if "problem" not in self.found:
            self._send(seconds)
            answer = self._answer()
            self.found |= answer
            if "rate" in answer:
                self.found["rates"].append(answer["rate"])

    def end(self) -> dict[str, Any]:
        """Ends the process, and returns what was found."""
        self._process.kill()
        self._process.communicate()
        if self.found["rates"]:
            self.found["rate"] = statistics.median(self.found["rates"])
        return self.found


def facts_of(text: str, workload: Workload) -> dict[str, Any]:
    """The figures of a plan on which its speed depends."""
    circuit = snc.Circuit(text).without_decisions()
    if workload.mode == "records" or not circuit.num_detectors:
        report = circuit.plan("sample_measurements")
    elif workload.mode == "postselected":
        report = circuit.plan(postselection_mask="all")
    else:
        report = circuit.plan("sample")
    return {
        "width": report.peak_width,
        "coefficients": report.total_coefficients,
        "mechanisms": report.num_mechanisms,
        "mean_events": report.mean_events,
        "signature_bits": report.num_signature_bits,
    }


def measure(
    workload: Workload,
    text: str,
    *,
    seconds: float,
    repeats: int,
    limit: int,
    pythons: Mapping[str, str],
    first_shot: bool = False,
) -> dict[str, Any]:
    """Measures a workload with this circuit in its simulators, in turn; only those that are installed."""
    row: dict[str, Any] = {
        "name": workload.name,
        "mode": workload.mode,
        "x": workload.x,
        "plot": workload.plot,
        "goal": workload.goal,
    }
    names = [name for name in workload.simulators if name in pythons or version_of(name)]
    wall = any("two" in name for name in names)  # beside several threads
    wide = bool({"clifft", "ticit"} & set(names)) and snc.Circuit(text).compile().quantum.peak_width > 14
    texts = {name: str(snc.Circuit(text).s_proxy()) if name == "stim" else text for name in names}

    def start(name: str) -> Contestant:
        patience = FIRST_SHOT_PATIENCE if first_shot and workload.mode != "estimate" else 10 * PATIENCE
        return Contestant(
            pythons.get(name, sys.executable),
            patience if first_shot else PATIENCE,
            name=name,
            text=texts[name],
            mode=workload.mode,
            limit=limit,
            seconds=0 if first_shot else min(1.0, seconds),
            wall=wall,
            wide=wide,
        )

    if first_shot:
        # A first shot is one of a new process; after one of 10 s, no more are started.
        row["results"] = {}
        for name in names:
            runs = [start(name).end()]
            while len(runs) < repeats and runs[0].get("first_seconds", 11) < 10:
                runs.append(start(name).end())
            keys = [key for key in runs[0] if key.startswith(("first", "more"))]
            medians = {key: statistics.median(run[key] for run in runs if key in run) for key in keys}
            row["results"][name] = {**runs[0], **medians}
    else:
        contestants = {name: start(name) for name in names}
        for _ in range(repeats):
            for contestant in contestants.values():
                contestant.measure(seconds)
        row["results"] = {name: contestant.end() for name, contestant in contestants.items()}
    # The plan of a circuit whose first shot takes long is not made once more here.
    if not first_shot or workload.mode == "estimate":
        row["facts"] = facts_of(text, workload)
    return row


def work_line(row: dict[str, Any]) -> str:
    """The work of a dense simulation, beside what the machine can do."""
    [found], width = row["results"].values(), row["facts"]["width"]
    flops, copied = peaks(width)
    moved = 16 * (found["work"]["coefficients_read"] + found["work"]["coefficients_written"])
    return (
        f"  {found['work']['flops'] / 1e9:.1f} Gflop/s, {found['work']['flops'] / flops:.0%} of a product of"
        " matrices;"
        f" {moved / 1e9:.1f} GB/s, {moved / copied:.0%} of copies of that size"
    )


def _commit() -> str:
    """The commit that is checked out and its day; nothing outside a checkout."""
    command = ["git", "log", "-1", "--format=%h, %cs"]
    done = subprocess.run(command, cwd=Path(__file__).parent, capture_output=True, text=True, check=False)
    return done.stdout.strip()


def main(arguments: Sequence[str] | None = None) -> int:
    """Measures, prints the results, and writes them to files."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False
    )
    parser.add_argument("suite", choices=SUITES)
    parser.add_argument("--circuits", type=Path, default=CIRCUITS, help="folder of the published circuits")
    parser.add_argument("--only", nargs="+", help="names of workloads (default: all)")
    parser.add_argument("--simulators", nargs="+", help="simulators (default: all that are installed)")
    parser.add_argument("--python", nargs="+", default=[], metavar="NAME=PYTHON")
    parser.add_argument("--seconds", type=float, default=2.0, help="time of one measurement")
    parser.add_argument("--repeats", type=int, default=5, help="measurements of each simulator")
    parser.add_argument("--memory", type=float, default=12.0, help="GiB of address space of each process")
    parser.add_argument("--out", type=Path, default=Path("out"), help="folder of the results")
    parser.add_argument("--docs", type=Path, help="folder of the documentation, to be updated")
    parser.add_argument("--commit", help="name of what is measured (default: the commit that is checked out)")
    parser.add_argument("--from", dest="source", type=Path, help="results that were measured before")
    args = parser.parse_args(arguments)
    args.out.mkdir(parents=True, exist_ok=True)
    if args.source is None:
        results: dict[str, Any] = {
            "suite": args.suite,
            "machine": machine(),
            "commit": args.commit or _commit(),
            "rows": [],
            "seconds": args.seconds,
            "repeats": args.repeats,
        }
        print(description(results["machine"]), flush=True)
        for workload in SUITES[args.suite](args.circuits):
            if args.only and workload.name not in args.only:
                continue
            if args.simulators:
                kept = tuple(name for name in workload.simulators if name in args.simulators)
                workload = Workload(**{**vars(workload), "simulators": kept})
            try:
                text = workload.build()
            except FileNotFoundError as error:
                print(f"{workload.name}: {error.filename} does not exist; name its folder: --circuits FOLDER")
                continue
            row = measure(
                workload,
                text,
                seconds=args.seconds,
                repeats=args.repeats,
                limit=int(args.memory * 2**30),
                pythons=dict(pair.split("=", 1) for pair in args.python),
                first_shot=workload.first_shot or args.suite in OF_FIRST_SHOT,
            )
            results["rows"].append(row)
            print(line_of(row), flush=True)
            if args.suite == "dense" and all("rate" in found for found in row["results"].values()):
                print(work_line(row), flush=True)
        results["versions"] = {}
        for row in results["rows"]:
            for name, found in row["results"].items():
                results["versions"][name] = found.get("version") or results["versions"].get(name, "")
        (args.out / f"{args.suite}.json").write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    else:
        results = json.loads(args.source.read_text(encoding="utf-8"))
    if not results["rows"]:
        return 1
    print(f"\n{table(results)}")
    if args.suite in PLOTS:
        print(draw(results, (args.docs / "plots" if args.docs else args.out) / PLOTS[args.suite]))
    if args.docs and args.suite in SECTIONS:
        name, section = SECTIONS[args.suite]
        page = args.docs / name
        shown = with_history(results, args.docs) if args.suite == "tracked" else table(results)
        text = filled(page.read_text(encoding="utf-8"), section, shown)
        page.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
