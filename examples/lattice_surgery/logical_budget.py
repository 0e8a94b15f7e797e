"""Which noise a logical program with T gates fails by: by kind of gate, and by operation and place.

    python -m examples.lattice_surgery.logical_budget [--programs "H T H" "Bell pair and T"] [--d 3]
        [--p 0.001] [--shots 400_000] [--seed 1] [--out out/logical_budget.csv]

The columns are parts of 1 - process fidelity, with a decoder in the loop that knows of all noise:

    less     what it is less without the noise of a group
    alone    what it is with the noise of this group alone
    share    the mean of both

A failure by faults of two groups is in what each of them makes less, and in neither alone. So the sum of the
first column is too large, and that of the second one too small. The third one has half of such a failure for
each of its groups, and its sum is 1 - process fidelity, if no failure takes faults of three groups.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import stim_nonclifford as snc
from stim_nonclifford.generators.logical import logical_circuit
from stim_nonclifford.generators.logical.layout import Layout
from stim_nonclifford.generators.logical.program import surgery_steps
from stim_nonclifford.rates.results import NoisePlace

from .csv_rows import append_row, with_error
from .programs import PROGRAMS, LogicalProgram

GATES = ("CX", "idle", "measurement", "reset")
OPERATIONS = (
    "lane of S",
    "lane of T",
    "magic patch of S",
    "magic patch of T",
    "patches in a merge",
    "patches that wait",
    "patches after a split",
)
_MOMENTS = 6
"""Moments of a round of checks."""


@dataclass(frozen=True)
class Row:
    """A row of the file.

    Attributes:
        program: The name of the program.
        d: The distance.
        p: The strength of the noise.
        by: "gate" or "operation".
        group: The name of the group, or "sum".
        places: The number of places of noise.
        shots: The shots of each circuit.
        infidelity: 1 - process fidelity with all noise.
        infidelity_error: Its standard error.
        less: What it is less without the noise of the group.
        less_error: Its standard error.
        alone: What it is with the noise of the group alone.
        alone_error: Its standard error.
        share: The mean of the last two.
        share_error: Its standard error.
    """

    program: str
    d: int
    p: float
    by: str
    group: str
    places: int
    shots: int
    infidelity: float
    infidelity_error: float
    less: float
    less_error: float
    alone: float
    alone_error: float
    share: float
    share_error: float


def gate_of(place: NoisePlace) -> str:
    """The kind of gate that noise belongs to."""
    if place.instruction == "DEPOLARIZE2":
        return "CX"
    if place.instruction in ("X_ERROR", "Z_ERROR"):
        return "reset"
    return "measurement" if place.gate.split()[0] in ("M", "MX") else "idle"


def operations_of(
    program: LogicalProgram, distance: int, circuit: snc.Circuit
) -> Callable[[NoisePlace], str]:
    """The function that says to which operation, and where, noise belongs."""
    num_qubits, steps = surgery_steps(program.rotations, [])
    layout = Layout(distance, num_qubits + 1)
    patch_of = {site: k for k, code in enumerate(layout.patches) for site in code.sites}
    sites = {qubit: (int(x), int(y)) for qubit, (x, y) in circuit.get_final_qubit_coordinates().items()}

    def operation(place: NoisePlace) -> str:
        number, moment = divmod(place.tick, _MOMENTS * (distance + 1))
        patches = {patch_of.get(sites[qubit]) for qubit in place.targets}
        if None in patches:
            return f"lane of {steps[number].gate}"
        if num_qubits in patches:
            return f"magic patch of {steps[number].gate}"
        if moment >= _MOMENTS * distance:
            return "patches after a split"
        return "patches in a merge" if patches & {*steps[number].qubits} else "patches that wait"

    return operation


def budget(name: str, distance: int, p: float, shots: int, seed: int) -> Iterator[Row]:
    """The rows of a program."""
    program = PROGRAMS[name]
    circuit = snc.Circuit(logical_circuit(program.rotations, distance=distance, p=p, ending="process"))
    kinds: tuple[tuple[str, Callable[[NoisePlace], str], tuple[str, ...]], ...] = (
        ("gate", gate_of, GATES),
        ("operation", operations_of(program, distance, circuit), OPERATIONS),
    )
    for by, group_of, groups in kinds:
        rows: list[Row] = []
        for group in groups:

            def is_own(place: NoisePlace) -> bool:
                return group_of(place) == group  # noqa: B023

            found = circuit.error_budget(is_own, loop_decoder="pymatching", shots=shots, seed=seed)
            parts = {each.group: each for each in found.groups}
            if True not in parts:
                continue
            less, less_error = parts[True].difference, parts[True].difference_error
            alone = parts[False].rate_without
            alone_error = math.sqrt(max(alone, 1 / shots) / shots)
            row = Row(
                name,
                distance,
                p,
                by,
                group,
                parts[True].places,
                shots,
                found.logical_error_rate,
                found.standard_error,
                less,
                less_error,
                alone,
                alone_error,
                (less + alone) / 2,
                math.hypot(less_error, alone_error) / 2,
            )
            rows.append(row)
            yield row
        yield sum_of(rows)


def sum_of(rows: Sequence[Row]) -> Row:
    """The row with the sums of a grouping, whose rows have 1 - process fidelity in common."""
    first = rows[0]
    without = sum((row.infidelity - row.less) * (1 - row.infidelity + row.less) / row.shots for row in rows)
    less_error = math.sqrt((len(rows) * first.infidelity_error) ** 2 + without)
    alone_error = math.hypot(*(row.alone_error for row in rows))
    return Row(
        first.program,
        first.d,
        first.p,
        first.by,
        "sum",
        sum(row.places for row in rows),
        first.shots,
        first.infidelity,
        first.infidelity_error,
        sum(row.less for row in rows),
        less_error,
        sum(row.alone for row in rows),
        alone_error,
        sum(row.share for row in rows),
        math.hypot(less_error, alone_error) / 2,
    )


def line_of(row: Row) -> str:
    """A row of the printed table."""
    cells = (
        with_error(row.less, row.less_error),
        with_error(row.alone, row.alone_error),
        with_error(row.share, row.share_error),
        f"{row.share / row.infidelity:.0%}",
    )
    return f"| {row.program} | {row.group} | {row.places} | " + " | ".join(cells) + " |"


def main(arguments: Sequence[str] | None = None) -> None:
    """Runs the example."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--programs", choices=[*PROGRAMS], nargs="+", default=["H T H", "Bell pair and T"])
    parser.add_argument("--d", type=int, default=3)
    parser.add_argument("--p", type=float, default=1e-3)
    parser.add_argument("--shots", type=int, default=400_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", type=Path, default=Path("out/logical_budget.csv"), help="the file of rows")
    chosen = parser.parse_args(arguments)
    print("| program | noise of | places | less without it | alone | share | of all |")
    print("|---" * 7 + "|")
    for name in chosen.programs:
        for row in budget(name, chosen.d, chosen.p, chosen.shots, chosen.seed):
            append_row(chosen.out, row)
            print(line_of(row), flush=True)
        print(f"| {name} | all | | {with_error(row.infidelity, row.infidelity_error)} | | | |", flush=True)


if __name__ == "__main__":
    main()
