"""Runs the GPU engine from its PTX on many circuits, and prints what was compared as a table: ``make gpu-check``.

    python -m tests.simulation.gpu.ptx.check                        # everything, some half an hour on two cores
    python -m tests.simulation.gpu.ptx.check --cases "d=3" "d=5"    # only these
    python -m tests.simulation.gpu.ptx.check --random 8             # plans of the random circuits of so many seeds

Each line ends with SAME if all shots are those of the CPU engine and nothing is reported. It needs no GPU; what of a GPU is
checked, and what is not, is in ``tests/simulation/gpu/ptx/__init__.py``.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator
from typing import Any

from .barriers import BARRIER_CASES, EXPLAINED, removals
from .cases import CASES, OPTIONS, WIDE_CASES, Case, fixed_plans, random_cases
from .machine.kernels import missing

ARCHITECTURES = ("compute_75", "compute_90", "compute_100")
RACES = [name for name in CASES if name not in ("d=3", "d=5", "surface code, d=13", "coherent, k=11")]
"""Of the cases that run with reports of races too: the others are like one of these, and take long."""


def runs(names: list[str], seeds: int) -> Iterator[tuple[str, list[Case], dict[str, Any]]]:
    """What each line of the table is about, its cases, and how they are run."""
    for name in names:
        case = CASES.get(name) or WIDE_CASES[name]
        yield name, [case], {}
        if name in RACES:
            yield f"{name}, races", [case], {"mode": "races"}
    if names == list(CASES) + list(WIDE_CASES):
        for architecture in ARCHITECTURES[1:]:
            for name in (
                "T gates",
                "d=3, p=0.005",
                "d=5, p=0.003",
                "coherent, k=7",
                "k=11, small shared memory",
            ):
                yield f"{name}, {architecture}", [CASES[name]], {"architecture": architecture}
        for shift in range(len(OPTIONS)):
            cases = fixed_plans(shift)
            yield f"{len(cases)} fixed plans, options {shift}", cases, {}
        cases = fixed_plans(1)
        yield f"{len(cases)} fixed plans, races", cases, {"mode": "races"}
    for seed in range(seeds):
        cases = list(random_cases(seed))
        yield f"{len(cases)} random plans of seed {seed}", cases, {"seed": seed + 1}


def main() -> int:
    """Returns 1 if something differs, 2 if this machine cannot run it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--cases", nargs="*", choices=[*CASES, *WIDE_CASES], default=[*CASES, *WIDE_CASES])
    parser.add_argument("--random", type=int, default=6, metavar="SEEDS")
    arguments = parser.parse_args()
    if (reason := missing()) is not None:
        print(reason, file=sys.stderr)
        return 2
    print("| circuit | calls | shots compared | seconds | |\n|---|---|---|---|---|", flush=True)
    failed = False
    for name, cases, options in runs(arguments.cases, arguments.random):
        start = time.perf_counter()
        results = [case.run(**options) for case in cases]
        wrong = [f"{case.name}: {r}" for case, r in zip(cases, results, strict=True) if not r.is_right]
        failed = failed or bool(wrong)
        calls, shots = sum(len(r.same) for r in results), sum(r.shots for r in results)
        seconds = time.perf_counter() - start
        print(f"| {name} | {calls} | {shots:,} | {seconds:.0f} | {'; '.join(wrong) or 'SAME'} |", flush=True)
    if arguments.cases == [*CASES, *WIDE_CASES]:
        print("\n| synchronization taken out | |\n|---|---|", flush=True)
        for removal in (removal for case in BARRIER_CASES for removal in removals(case)):
            noticed, why = bool(removal.noticed()), EXPLAINED.get((removal.case, removal.function))
            failed = failed or noticed == (why is not None)
            found = "noticed" if noticed else why or "NOT NOTICED"
            print(f"| {removal.case}: {removal.function} | {found} |", flush=True)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
