"""Programs with T gates on patches of surface code, with a decoder in the loop: how good they are, and why.

    python -m examples.lattice_surgery.logical_programs [--d 3] [--p 0.0005 0.001] [--shots 20_000]
        [--programs NAME ...] [--columns decoded raw process proxy proxy_success] [--fit] [--chsh]
        [--minutes 20] [--picture FILE.png] [--out out/logical_programs.csv]

Each T gate consumes a perfect T state by lattice surgery, and a decoder decides each outcome. The columns:

    decoded        the probability of the program's answer
    raw            the same with raw outcomes in place of decided ones
    process        1 - process fidelity of the program's gates
    proxy          1 - process fidelity of the S-proxy, with S in place of T
    proxy_success  the probability of the answer of the S-proxy

Each is a row of the file, with its processor seconds. Rows that the file has are not computed again, so that
the command can be stopped and resumed; after --minutes of processor time it starts no further row. What a
limit ends is a row with the limit. The table is printed from the file.

With --fit, short programs are run first. Their fit gives the error of a T gate, of a Clifford gate that turns
a product, of a lane of the area of a patch and of a round of each patch, and the sum of these predicts the
column process. With --chsh, the four settings of a CHSH test are run; --picture draws them.
"""

from __future__ import annotations

import argparse
import itertools
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

import numpy as np

import stim_nonclifford as snc
from stim_nonclifford.generators.cultivation.builder import GateChoice
from stim_nonclifford.generators.logical import (
    LogicalFidelity,
    OperationErrors,
    logical_circuit,
    logical_fidelity,
    operation_counts,
    operation_errors,
)

from .chsh import draw_chsh
from .csv_rows import append_row, read_rows, with_error
from .programs import FIT, PROGRAMS, LogicalProgram, chsh_settings, num_t_gates

Column = Literal["decoded", "raw", "process", "proxy", "proxy_success"]
COLUMNS: tuple[Column, ...] = ("decoded", "raw", "process", "proxy", "proxy_success")
KINDS = ("T", "S", "lane", "patch round")
_CHUNK_SHOTS = 1024


@dataclass(frozen=True)
class Row:
    """A row of the file.

    Attributes:
        program: The name of the program.
        column: What is measured.
        d: The distance.
        p: The strength of the noise.
        k: Logical qubits.
        t_gates: T gates.
        qubits: Physical qubits.
        rounds: Rounds of checks.
        decisions: Decisions of the decoder.
        width: The width of the vector.
        shots: Shots, 0 if a limit has ended it.
        value: What was found.
        error: Its standard error.
        build_seconds: Processor seconds before the first shot.
        shot_seconds: Processor seconds of all shots.
        limit: The limit that has ended it.
    """

    program: str
    column: str
    d: int
    p: float
    k: int
    t_gates: int
    qubits: int
    rounds: int
    decisions: int
    width: int
    shots: int = 0
    value: float = float("nan")
    error: float = float("nan")
    build_seconds: float = 0.0
    shot_seconds: float = 0.0
    limit: str = ""

    @property
    def key(self) -> tuple[str, str, int, float]:
        """What a file has once."""
        return self.program, self.column, self.d, self.p


_EMPTY = Row("", "", 0, 0.0, 0, 0, 0, 0, 0, 0)


def programs_of(names: Iterable[str], *, fit: bool, chsh: bool) -> dict[str, LogicalProgram]:
    """The programs to run, by name."""
    found = dict(FIT) if fit else {}
    if chsh:
        found |= {f"CHSH {name}": program for name, program in chsh_settings()}
    return found | {name: PROGRAMS[name] for name in names}


def columns_of(name: str) -> tuple[Column, ...]:
    """The columns of a program: short ones have no answer, and the settings of CHSH have equal gates."""
    if name in FIT:
        return ("process",)
    return COLUMNS if name in PROGRAMS else ("decoded", "raw", "proxy_success")


def computed_row(
    name: str, program: LogicalProgram, column: Column, distance: int, p: float, shots: int
) -> Row:
    """A row, computed."""
    rotations, measurements = program.rotations, program.measurements
    gate: GateChoice = "S" if column.startswith("proxy") else "T"
    is_process = column in ("process", "proxy")
    circuit = snc.Circuit(
        logical_circuit(
            rotations,
            [] if is_process else measurements,
            distance=distance,
            p=p,
            gate=gate,
            ending="process" if is_process else "measurements",
        )
    )
    counts = operation_counts(rotations, [] if is_process else measurements, distance=distance)
    row = Row(
        name,
        column,
        distance,
        p,
        program.num_qubits,
        num_t_gates(rotations),
        circuit.num_qubits,
        int(sum(counts[kind] for kind in ("T", "S", "measurement")) * (distance + 1)),
        len(circuit.decision_points()),
        circuit.without_decisions().plan().peak_width,
        shots,
    )
    begin = time.process_time()
    try:
        if is_process:
            found = logical_fidelity(rotations, distance=distance, p=p, gate=gate, shots=shots, seed=7)
            value, error, seconds = 1 - found.fidelity, found.standard_error, found.seconds
        else:
            decoder = "raw" if column == "raw" else "pymatching"
            value, error, seconds = success(circuit, program.answer_indices, decoder, shots)
    except snc.ResourceLimitError as limit:
        return replace(row, shots=0, limit=str(limit).split(". ")[0])
    build = time.process_time() - begin - seconds
    return replace(row, value=value, error=error, build_seconds=build, shot_seconds=seconds)


def success(
    circuit: snc.Circuit, answers: Sequence[int], decoder: str, shots: int
) -> tuple[float, float, float]:
    """The share of shots whose outcome is an answer, its standard error, and processor seconds of shots."""
    sampler = circuit.compile_detector_sampler(seed=7, decoder=decoder, skip_reference_sample=True)
    sampler.sample(1)
    begin = time.process_time()
    right = 0
    for first in range(0, shots, _CHUNK_SHOTS):
        _, outcomes = sampler.sample(min(_CHUNK_SHOTS, shots - first), separate_observables=True)
        right += int(np.isin(outcomes @ (1 << np.arange(outcomes.shape[1])), answers).sum())
    share = right / shots
    spread = min(max(share, 1 / shots), 1 - 1 / shots)
    return share, (spread * (1 - spread) / shots) ** 0.5, time.process_time() - begin


def fitted(rows: Iterable[Row], distance: int, p: float) -> OperationErrors | None:
    """The errors of operations from the short programs; None if the file does not have them all."""
    found = {row.program: row for row in rows if (row.column, row.d, row.p) == ("process", distance, p)}
    if not FIT.keys() <= found.keys() or any(found[name].limit for name in FIT):
        return None
    return operation_errors(
        (
            LogicalFidelity(
                1 - found[name].value,
                found[name].error,
                found[name].shots,
                found[name].shots,
                operation_counts(program.rotations, distance=distance),
            )
            for name, program in FIT.items()
        ),
        KINDS,
    )


def printed_fits(rows: Sequence[Row]) -> Iterator[str]:
    """The table of the errors of operations, in lines."""
    yield "| d | p | " + " | ".join(KINDS) + " | chi squared |"
    yield "|---" * (len(KINDS) + 3) + "|"
    for distance, p in sorted({(row.d, row.p) for row in rows}):
        if (fit := fitted(rows, distance, p)) is not None:
            cells = (with_error(fit.errors[kind], fit.standard_errors[kind]) for kind in KINDS)
            chi = f"{fit.chi_squared:.1f} for {fit.degrees_of_freedom}"
            yield f"| {distance} | {p:g} | " + " | ".join(cells) + f" | {chi} |"


def printed_table(rows: Sequence[Row]) -> Iterator[str]:
    """The table of programs, in lines."""
    titles = "program | k | T | d | p | qubits | rounds | decisions | width | s to build | shots/s | ideal"
    titles += " | decoded | raw | 1 - process fidelity | sum of operations | of the S-proxy"
    yield f"| {titles} |"
    yield "|---" * (titles.count("|") + 1) + "|"
    known = {row.key: row for row in rows}
    places = sorted({(row.d, row.p) for row in rows})
    fits = {place: fitted(rows, *place) for place in places}
    for name, program in {**FIT, **PROGRAMS}.items():
        for place in places:
            cells = {column: known.get((name, column, *place)) for column in COLUMNS}
            first = cells["decoded"] or cells["process"]
            if first is None:
                continue
            fit = fits[place]
            counts = operation_counts(program.rotations, distance=place[0])
            yield (
                "| "
                + " | ".join(
                    [
                        *(name, str(first.k), str(first.t_gates), str(first.d), f"{first.p:g}"),
                        *map(str, (first.qubits, first.rounds, first.decisions, first.width)),
                        *(("", "") if first.limit else (f"{first.build_seconds:.0f}", rate_of(first))),
                        f"{program.ideal_success():.4f}" if program.answers else "",
                        *(cell_of(cells[column]) for column in ("decoded", "raw", "process")),
                        with_error(*fit.infidelity(counts)) if fit else "",
                        cell_of(cells["proxy"]),
                    ]
                )
                + " |"
            )


def rate_of(row: Row) -> str:
    """Shots per second of a row, with two digits."""
    return f"{float(f'{row.shots / row.shot_seconds:.2g}'):,.0f}"


def cell_of(row: Row | None) -> str:
    """What was found, with its error."""
    return "" if row is None else "limit" if row.limit else with_error(row.value, row.error)


def main(arguments: Sequence[str] | None = None) -> None:
    """Runs the example."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--d", type=int, nargs="+", default=[3])
    parser.add_argument("--p", type=float, nargs="+", default=[5e-4, 1e-3])
    parser.add_argument("--shots", type=int, default=20_000)
    parser.add_argument("--programs", choices=[*PROGRAMS], nargs="*", default=[*PROGRAMS])
    parser.add_argument("--columns", choices=COLUMNS, nargs="+", default=["decoded", "raw", "process"])
    parser.add_argument("--fit", action="store_true", help="find the errors of operations, too")
    parser.add_argument("--chsh", action="store_true", help="run the settings of a CHSH test, too")
    parser.add_argument("--minutes", type=float, default=20.0, help="processor time")
    parser.add_argument("--picture", type=Path, metavar="FILE", help="draw the CHSH test at the largest p")
    parser.add_argument("--out", type=Path, default=Path("out/logical_programs.csv"), help="the file of rows")
    chosen = parser.parse_args(arguments)
    rows = read_rows(chosen.out, _EMPTY)
    known = {row.key for row in rows}
    programs = programs_of(chosen.programs, fit=chosen.fit, chsh=chosen.chsh)
    for (name, program), distance, p, column in itertools.product(
        programs.items(), chosen.d, chosen.p, chosen.columns
    ):
        if column not in columns_of(name):
            continue
        if (name, column, distance, p) in known:
            continue
        if time.process_time() > 60 * chosen.minutes:
            print(f"{chosen.minutes:g} minutes are over: the same command continues.")
            break
        row = computed_row(name, program, column, distance, p, chosen.shots)
        append_row(chosen.out, row)
        rows.append(row)
        print(f"{name}, {column}, d={distance}, p={p:g}: {cell_of(row)}", flush=True)
    print("", *printed_fits(rows), "", *printed_table(rows), sep="\n")
    if chosen.picture is not None:
        p = max(chosen.p)
        values = {(row.program, row.column, row.d): (row.value, row.error) for row in rows if row.p == p}
        print(*draw_chsh(values, p, chosen.picture), sep="\n")


if __name__ == "__main__":
    main()
