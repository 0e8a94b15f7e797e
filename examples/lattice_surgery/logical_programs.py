"""Programs with T gates on patches of surface code, with a decoder in the loop: how good they are, and why.

    python -m examples.lattice_surgery.logical_programs [--d 3] [--p 0.0005 0.001] [--shots 10_000]
        [--programs NAME ...] [--of distribution process s_proxy] [--fit] [--chsh FILE.png]

Each T gate consumes a perfect T state by lattice surgery, and a decoder decides each outcome. Prints for each
program its logical qubits, T gates, physical qubits, rounds of checks, decisions, the width of the vector and
decoded shots per second of one core. Then the fidelity of the measured outcomes with the ideal distribution,
decoded and raw; 1 - process fidelity of the gates; and that of the S-proxy.

With --fit, short programs are run first, and a fit gives the error of a T gate, of a Clifford gate that turns
a product, and of a round in which a patch waits. A column has what these predict.
With --chsh, the correlations ZZ, ZX, -XZ and XX of a Bell pair, of which one qubit had T about Y, are drawn:
their sum is ideally 2.83, and at most 2 without entanglement.
"""

from __future__ import annotations

import argparse
import itertools
from collections.abc import Sequence
from pathlib import Path

import matplotlib as mpl

import stim_nonclifford as snc
from stim_nonclifford.generators.cultivation.builder import GateChoice
from stim_nonclifford.generators.cultivation.noise import NoiseChoice
from stim_nonclifford.generators.logical import (
    LogicalFidelity,
    OperationErrors,
    logical_circuit,
    logical_fidelity,
    operation_counts,
    operation_errors,
    program_of,
)

PROGRAMS = {
    "H T H": "H 0\nT 0\nH 0\nM 0",
    "CHSH": "H 0\nCX 0 1\nS_DAG 1\nH 1\nT 1\nH 1\nS 1\nM 0 1",
    "phase estimation of T": "H 0 1 2\nZ 0\nS 1\nT 2\nH 0\nCS_DAG 0 1\nH 1\nCS_DAG 1 2\nH 2\nM 0 1 2",
    "Toffoli": "X 0 1\nH 2\nCCZ 0 1 2\nH 2\nM 0 1 2",
    "adder": "X 0 2\nCCX 0 1 3\nCX 0 1\nCCX 1 2 3\nCX 1 2\nCX 0 1\nM 0 1 2 3",
    "Grover": "H 0 1 2\nCCZ 0 1 2\nH 0 1 2\nX 0 1 2\nCCZ 0 1 2\nX 0 1 2\nH 0 1 2\nM 0 1 2",
}
"""Clifford+T circuits. That of CHSH is one of its four settings. Phase estimation has no rotation smaller
than S in its Fourier transform, so that the outcome 1 has the probability 0.85."""

FIT = ["Z", "X Z", "Z X Z X", "Y", "XI ZI"]
"""Programs of T gates about these products, for a fit."""

CHECK = "IX IZ XI"
"""One that is not in the fit."""

KINDS = ("T", "S", "idle round")


def chsh(
    distance: int, p: float, decoder: str, shots: int, noise: NoiseChoice
) -> dict[str, tuple[float, float]]:
    """The correlations ZZ, ZX, -XZ and XX of a Bell pair with a T gate, and their standard errors."""
    rotations, _ = program_of(PROGRAMS["CHSH"])
    found = {}
    for first, second in itertools.product("ZX", repeat=2):
        gates = PROGRAMS["CHSH"].removesuffix("M 0 1")
        _, [product] = program_of(f"{gates}MPP {first}0*{second}1")
        circuit = snc.Circuit(logical_circuit(rotations, [product], distance=distance, p=p, noise=noise))
        sampler = circuit.compile_detector_sampler(seed=7, decoder=decoder, skip_reference_sample=True)
        _, outcomes = sampler.sample(shots, separate_observables=True)
        value = 1 - 2 * float(outcomes.mean())
        sign = -1 if (first, second) == ("X", "Z") else 1
        found[f"{'-' * (sign < 0)}{first}{second}"] = sign * value, ((1 - value**2) / shots) ** 0.5
    return found


def draw_chsh(strengths: Sequence[float], distances: Sequence[int], shots: int, path: Path) -> None:
    """Draws and prints the correlations: ideal, decoded at each distance, and raw."""
    mpl.use("Agg")
    import matplotlib.pyplot as plt

    p = max(strengths)
    cases: list[tuple[str, int, str, NoiseChoice]] = [("ideal", min(distances), "raw", "none")]
    cases += [(f"d={d}, decoded", d, "pymatching", "uniform") for d in distances]
    cases += [(f"d={d}, raw", d, "raw", "uniform") for d in distances]
    figure, axes = plt.subplots(figsize=(8, 4), layout="constrained")
    for k, (label, distance, decoder, noise) in enumerate(cases):
        row = chsh(distance, p, decoder, shots, noise)
        total, error = sum(v for v, _ in row.values()), sum(e**2 for _, e in row.values()) ** 0.5
        print(f"CHSH | {label} | p={p} | {total:.3f} +- {error:.3f} | {row}", flush=True)
        axes.errorbar(
            [place + 0.1 * k for place in range(4)],
            [v for v, _ in row.values()],
            [e for _, e in row.values()],
            fmt="o",
            label=f"{label}: {total:.2f}({100 * error:.0f})",
        )
    axes.axhline(0.5, color="gray", linewidth=0.8, linestyle=":")
    axes.annotate("mean of four without entanglement", (3.5, 0.5), ha="right", va="bottom", color="gray")
    axes.set_xticks([place + 0.05 * (len(cases) - 1) for place in range(4)], [*row])
    axes.set(ylabel="correlation", title=f"a Bell pair of patches, and T about Y on one; p = {p:g}")
    axes.legend(title="sum of the four", fontsize="small")
    figure.savefig(path, dpi=90)


def fit(distance: int, p: float, shots: int) -> OperationErrors:
    """The errors of operations, from short programs; printed."""
    found: list[LogicalFidelity] = []
    for products in FIT:
        one = logical_fidelity(
            [(1 / 8, product) for product in products.split()], distance=distance, p=p, shots=shots, seed=3
        )
        found.append(one)
        print(f"fit | {products} | d={distance} | p={p} | {infidelity(one)}", flush=True)
    errors = operation_errors(found, KINDS)
    for kind in KINDS:
        print(f"error of {kind} | d={distance} | p={p} | {errors.errors[kind]:.2e}", end=" ")
        print(f"+- {errors.standard_errors[kind]:.1e}")
    print(f"chi^2 {errors.chi_squared:.1f} for {errors.degrees_of_freedom}", flush=True)
    rotations = [(1 / 8, product) for product in CHECK.split()]
    found_there = logical_fidelity(rotations, distance=distance, p=p, shots=shots, seed=3)
    value, error = errors.infidelity(found_there.operations)
    print(f"check | {CHECK} | {infidelity(found_there)} | predicted {value:.2e} +- {error:.1e}", flush=True)
    return errors


def infidelity(found: LogicalFidelity) -> str:
    """1 - fidelity, with its standard error."""
    return f"{1 - found.fidelity:.2e} +- {found.standard_error:.1e}"


def row(
    name: str, distance: int, p: float, shots: int, which: Sequence[str], fitted: OperationErrors | None
) -> str:
    """A row of the table of programs."""
    rotations, measurements = program_of(PROGRAMS[name])
    circuit = snc.Circuit(logical_circuit(rotations, measurements, distance=distance, p=p))
    counts = operation_counts(rotations, measurements, distance=distance)
    num_steps = sum(counts[kind] for kind in ("T", "S", "measurement"))
    cells: list[object] = [
        name,
        len(measurements[0].lstrip("-")),
        counts["T"],
        distance,
        p,
        circuit.num_qubits,
        int(num_steps * (distance + 1)),
        len(circuit.decision_points()),
        circuit.without_decisions().plan().peak_width,
    ]
    if "distribution" in which:
        decoded, raw = (
            logical_fidelity(
                rotations, measurements, of="distribution", decoder=decoder, distance=distance, p=p,
                shots=shots, seed=7,
            )
            for decoder in ("pymatching", "raw")
        )  # fmt: skip
        cells.append(f"{shots / decoded.seconds:.2g}")
        cells += [f"{each.fidelity:.4f} +- {each.standard_error:.4f}" for each in (decoded, raw)]
    else:
        cells += ["", "", ""]
    columns: tuple[tuple[str, GateChoice], ...] = (("process", "T"), ("s_proxy", "S"))
    for column, gate in columns:
        if column in which:
            found = logical_fidelity(rotations, distance=distance, p=p, shots=shots, seed=7, gate=gate)
            cells.append(infidelity(found))
        else:
            cells.append("")
    if fitted is not None:
        value, error = fitted.infidelity(operation_counts(rotations, distance=distance))
        cells.append(f"{value:.2e} +- {error:.1e}")
    return " | ".join(map(str, cells))


def main(arguments: Sequence[str] | None = None) -> None:
    """Runs the example."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    columns = ["distribution", "process", "s_proxy"]
    parser.add_argument("--d", type=int, nargs="+", default=[3])
    parser.add_argument("--p", type=float, nargs="+", default=[5e-4, 1e-3])
    parser.add_argument("--shots", type=int, default=10_000)
    parser.add_argument("--programs", choices=[*PROGRAMS], nargs="*", default=[*PROGRAMS])
    parser.add_argument("--of", choices=columns, nargs="+", default=columns)
    parser.add_argument("--fit", action="store_true", help="find the errors of operations first")
    parser.add_argument("--chsh", type=Path, metavar="FILE", help="draw the correlations of a Bell pair")
    chosen = parser.parse_args(arguments)
    if chosen.chsh is not None:
        draw_chsh(chosen.p, chosen.d, chosen.shots, chosen.chsh)
    fitted = {
        place: fit(*place, chosen.shots) if chosen.fit else None
        for place in itertools.product(chosen.d, chosen.p)
    }
    if chosen.programs:
        print(
            "program | k | T | d | p | qubits | rounds | decisions | width | shots/s | decoded | raw"
            " | 1 - process fidelity | of the S-proxy" + " | predicted" * chosen.fit
        )
    for name, distance, p in itertools.product(chosen.programs, chosen.d, chosen.p):
        print(row(name, distance, p, chosen.shots, chosen.of, fitted[distance, p]), flush=True)


if __name__ == "__main__":
    main()
