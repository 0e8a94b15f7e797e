"""How long it takes from a circuit's text to its first shot, and how much memory, beside Stim and Clifft.

    python -m benchmarks.first_shot [--files CIRCUIT.stim ...] [--repeats 3] [--clifft_python PYTHON]

Each figure is the median of processes of one thread of their own: the time to parse the text, to compile it,
and to sample the detectors of one shot (the records, if there are none); modules are imported before. The
memory is the largest resident size. Stim samples the S-proxy, which has S in place of T. Clifft is measured
if it is installed, or with the Python that has it. ``--growth`` measures how both grow with rounds, distance
and T gates. Writes ``first_shot.json`` to ``--out``. ``--page docs/performance.md --plots docs`` updates that
page. With ``--from out/first_shot.json`` nothing is measured again.
"""

from __future__ import annotations

import argparse
import json
import math
import re
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

MAX_SECONDS = 20
"""A process that takes longer is stopped."""

SIMULATORS = {"ours": "stim-nonclifford", "stim": "Stim, S-proxy", "clifft": "Clifft"}


def surface_code(distance: int, rounds: int | None = None) -> str:
    """A rotated surface code, with as many rounds as its distance unless stated otherwise."""
    from benchmarks.synthetic import memory_circuit

    return str(memory_circuit(distance, 1e-3, rounds))


def repetition_code(rounds: int, in_round: str = "") -> str:
    """A repetition code of distance 3, with further gates at the beginning of each round but the first."""
    import stim

    circuit = stim.Circuit.generated(
        "repetition_code:memory", distance=3, rounds=rounds, after_clifford_depolarization=1e-3
    )
    return str(circuit).replace(f"REPEAT {rounds - 1} {{", f"REPEAT {rounds - 1} {{\n{in_round}")


def with_fresh_t_states(rounds: int) -> str:
    """The same with a T state in each round, which is measured at once."""
    before, middle, rest = repetition_code(rounds, "RX 10\nT 10\nMX 10").partition("REPEAT")
    body, end, after = rest.partition("}")
    # One more record lies between a round and the one before it.
    body = body.replace("rec[-4]", "rec[-5]").replace("rec[-3]", "rec[-4]")
    return before + middle + body + end + after


def layers_of_t_gates(count: int) -> str:
    """So many T gates on twelve qubits, in layers with Clifford gates between them."""
    layers, rest = divmod(count, 12)
    qubits = list(range(12))
    text = f"RX {' '.join(map(str, qubits))}\n"
    for layer in range(layers + 1):
        text += f"T {' '.join(map(str, qubits[: 12 if layer < layers else rest]))}\n".replace("T \n", "")
        shift = layer % 11 + 1
        pairs = [f"{k} {(k + shift) % 12}" for k in range(0, 12, 2 if shift % 2 else 12)]
        text += f"CX {' '.join(pairs)}\nH {' '.join(map(str, qubits))}\n"
    return text + f"M {' '.join(map(str, qubits))}\n"


def cultivation() -> str:
    """Injection and cultivation of distance 5."""
    from stim_nonclifford.cultivation import cultivation_circuit

    text = str(cultivation_circuit(distance=5, p=1e-3))
    return text.replace("S[T]", "T").replace("S_DAG[T]", "T_DAG")  # as Clifft reads it


CASES: dict[str, Callable[[], str]] = {
    **{f"surface code d={d}, {d} rounds": lambda d=d: surface_code(d) for d in (11, 15, 25)},  # type: ignore[misc]
    "cultivation d=5": cultivation,
    "repetition code d=3, 10⁴ rounds": lambda: repetition_code(10**4),
    "the same, a T gate per round": lambda: repetition_code(10**4, "T 0"),
    "the same, a fresh T state per round": lambda: with_fresh_t_states(10**4),
    "repetition code d=3, 10⁵ rounds": lambda: repetition_code(10**5),
    "repetition code d=3, 10⁶ rounds": lambda: repetition_code(10**6),
}

GROWTH: dict[tuple[str, str], tuple[tuple[int, ...], Callable[[int], str]]] = {
    ("rounds", "no T gates"): ((10**2, 10**3, 10**4, 10**5, 10**6), repetition_code),
    ("rounds", "a T gate per round"): (
        (10**2, 10**3, 10**4, 10**5),
        lambda rounds: repetition_code(rounds, "T 0"),
    ),
    ("rounds", "a fresh T state per round"): ((10**2, 10**3, 10**4), with_fresh_t_states),
    ("distance", "surface code"): ((3, 5, 7, 11, 15, 19, 25), surface_code),
    ("T gates", "layers on 12 qubits"): ((30, 100, 300, 1000, 3000, 10_000), layers_of_t_gates),
}
"""For each plot and curve, the places on the horizontal axis and the circuit."""


def run_here(simulator: str, text: str) -> dict[str, float]:
    """Measures the first shot in this process."""
    sampling: Callable[[], object]
    if simulator == "ours":
        import stim_nonclifford as snc

        def sampling() -> object:
            circuit = snc.Circuit(text)
            if circuit.num_detectors:
                return circuit.compile_detector_sampler(seed=1).sample(1, bit_packed=True)
            return circuit.compile_sampler(seed=1).sample(1, bit_packed=True)

    elif simulator == "stim":
        import stim

        def sampling() -> object:
            circuit = stim.Circuit(text)
            if circuit.num_detectors:
                return circuit.compile_detector_sampler(seed=1).sample(1, bit_packed=True)
            return circuit.compile_sampler(seed=1).sample(1, bit_packed=True)

    else:
        import clifft  # type: ignore[import-not-found, import-untyped, unused-ignore]

        def sampling() -> object:
            program = clifft.compile(text, normalize_syndromes="DETECTOR" in text)
            return clifft.sample(program, 1, seed=1)

    wanted, text = text, "H 0\nM 0\nDETECTOR rec[-1]"
    sampling()  # imports what is imported when it is first needed
    text = wanted
    start = time.perf_counter()
    sampling()
    seconds = time.perf_counter() - start
    return {"seconds": seconds, "mebibytes": peak_mebibytes()}


def peak_mebibytes() -> float:
    """The largest resident size of this process since its program was loaded."""
    status = Path("/proc/self/status").read_text()
    [kibibytes] = re.findall(r"VmHWM:\s*(\d+) kB", status)
    return int(kibibytes) / 1024


def measured(simulator: str, text: str, repeats: int, python: str) -> dict[str, float] | None:
    """The medians of several processes; None if one of them fails, and infinity if it takes too long."""
    if simulator == "stim":
        import stim_nonclifford as snc

        text = str(snc.Circuit(text).s_proxy())
    runs = []
    for _ in range(repeats):
        command = [python, "-m", "benchmarks.first_shot", "--one", simulator]
        try:
            output = subprocess.run(
                command, input=text, capture_output=True, text=True, timeout=MAX_SECONDS, check=True
            ).stdout
        except subprocess.TimeoutExpired:
            return {"seconds": math.inf, "mebibytes": math.inf}
        except subprocess.CalledProcessError:
            return None
        runs.append(json.loads(output))
        if runs[0]["seconds"] > 10:
            break
    return {key: statistics.median(run[key] for run in runs) for key in ("seconds", "mebibytes")}


def table(rows: list[dict[str, Any]]) -> str:
    """The results as a table in Markdown."""
    names = [name for name in SIMULATORS if any(row.get(name) for row in rows)]
    lines = [
        "| circuit | " + " | ".join(SIMULATORS[name] for name in names) + " |",
        "|---|" + "---|" * len(names),
    ]
    for row in rows:
        cells = [cell(row.get(name)) for name in names]
        lines.append(f"| {row['circuit']} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def cell(found: dict[str, float] | None) -> str:
    """The text of a table's cell."""
    if found is None:
        return "-"
    if math.isinf(found["seconds"]):
        return f"> {MAX_SECONDS} s"
    return f"{found['seconds']:.2g} s, {found['mebibytes']:.0f} MiB"


def measure_all(arguments: argparse.Namespace) -> dict[str, Any]:
    """Measures the table, and the growth if it is wanted."""
    from benchmarks.machine import machine

    pythons = {"ours": sys.executable, "stim": sys.executable, "clifft": arguments.clifft_python}
    circuits = [(name, build()) for name, build in CASES.items()]
    for path in arguments.files:
        # Expectation values are no part of a first shot, and Stim cannot read them.
        text = "".join(
            line for line in path.read_text().splitlines(keepends=True) if not line.startswith("EXP_VAL")
        )
        circuits.append((f"`{path.name}`", text))
    results: dict[str, Any] = {"machine": machine(), "rows": [], "points": []}
    for name, text in circuits:
        row: dict[str, Any] = {"circuit": name}
        for simulator in SIMULATORS:
            row[simulator] = measured(simulator, text, arguments.repeats, pythons[simulator])
        results["rows"].append(row)
        print(table([row]).splitlines()[-1], flush=True)
    for (plot, series), (places, build) in GROWTH.items() if arguments.growth else ():
        for simulator in SIMULATORS:
            for place in places:
                found = measured(simulator, build(place), 1, pythons[simulator])
                if found is None or math.isinf(found["seconds"]):
                    break
                point = {"plot": plot, "series": series, "simulator": simulator, "x": place, **found}
                results["points"].append(point)
                print(point, flush=True)
    return results


def circuit_file(name: str) -> Path:
    """An argument that names a file of a circuit."""
    path = Path(name)
    if not path.is_file():
        raise argparse.ArgumentTypeError(f"{name} is no file; name files of circuits, such as {path}/*.stim")
    return path


def main() -> None:
    """Runs the command."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False
    )
    parser.add_argument("--files", nargs="*", type=circuit_file, default=[], help="further circuits")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--growth", action="store_true", help="measure how time and memory grow, too")
    parser.add_argument("--clifft_python", default=sys.executable, help="a Python that has Clifft")
    parser.add_argument("--out", type=Path, default=Path("out"))
    parser.add_argument("--from", dest="source", type=Path, help="results that were measured before")
    parser.add_argument("--plots", type=Path, help="the folder for plots")
    parser.add_argument("--page", type=Path, help="the page to update")
    parser.add_argument("--one", choices=SIMULATORS, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.one:
        print(json.dumps(run_here(arguments.one, sys.stdin.read())))
        return
    if arguments.source:
        results = json.loads(arguments.source.read_text())
    else:
        results = measure_all(arguments)
        arguments.out.mkdir(parents=True, exist_ok=True)
        (arguments.out / "first_shot.json").write_text(json.dumps(results, indent=1))
    from benchmarks.machine import description
    from benchmarks.pages import filled

    text = f"{description(results['machine'])}\n\n{table(results['rows'])}"
    print(text)
    if arguments.page:
        page = arguments.page.read_text(encoding="utf-8")
        arguments.page.write_text(filled(page, "first shot", text), encoding="utf-8")
    if arguments.plots and results["points"]:
        from benchmarks.first_shot_plots import draw

        print(draw(results["points"], arguments.plots / "growth_first_shot.png"))


if __name__ == "__main__":
    main()
