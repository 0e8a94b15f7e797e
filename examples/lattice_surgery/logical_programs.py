"""Programs with T gates on patches of surface code, with a decoder in the loop: how good their outcomes are.

    python -m examples.lattice_surgery.logical_programs [--d 3] [--p 0.0005 0.001] [--shots 10_000]
        [--programs NAME ...]

Each T gate consumes a perfect T state by lattice surgery, and a decoder decides each outcome. Prints for each
program its logical qubits, T gates, physical qubits, decisions and the width of the vector, decoded shots per
second of one core, and the fidelity of its outcomes with the ideal ones, decoded and raw. The fidelity of
distributions p and q is here 1 - sum |p - q| / 2. For CHSH it is the sum of the correlations ZZ, ZX, -XZ and
XX of a Bell pair, of which one qubit had T about Y: ideally 2.83, and at most 2 without entanglement.
"""

from __future__ import annotations

import argparse
import itertools
import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

import stim_nonclifford as snc
from stim_nonclifford.generators.logical import logical_circuit, program_of

PROGRAMS = {
    "H T H": "H 0\nT 0\nH 0\nM 0",
    "CHSH": "H 0\nCX 0 1\nS_DAG 1\nH 1\nT 1\nH 1\nS 1\nM 0 1",
    "phase estimation of S": "X 2\nH 0 1\nCZ 0 2\nCS 1 2\nH 0\nCS_DAG 0 1\nH 1\nM 0 1",
    "Toffoli": "X 0 1\nH 2\nCCZ 0 1 2\nH 2\nM 0 1 2",
    "Grover": "H 0 1 2\nCCZ 0 1 2\nH 0 1 2\nX 0 1 2\nCCZ 0 1 2\nX 0 1 2\nH 0 1 2\nM 0 1 2",
}
"""Clifford+T circuits; that of CHSH is one of its four settings."""


@dataclass(frozen=True)
class Outcomes:
    """Sampled outcomes of a program.

    Attributes:
        shares: float64, shape (2^measurements,): how often each occurred.
        shots: The number of shots.
        seconds: Processor seconds, without compiling.
    """

    shares: npt.NDArray[np.float64]
    shots: int
    seconds: float


def shares_of(outcomes: npt.NDArray[np.bool_]) -> npt.NDArray[np.float64]:
    """How often each outcome occurred, the first measurement being the lowest bit."""
    numbers = outcomes @ (1 << np.arange(outcomes.shape[1]))
    return np.asarray(np.bincount(numbers, minlength=1 << outcomes.shape[1]) / len(outcomes))


def sampled(circuit: snc.Circuit, decoder: str, shots: int) -> Outcomes:
    """Outcomes of a logical circuit."""
    sampler = circuit.compile_detector_sampler(seed=7, decoder=decoder, threads=1, skip_reference_sample=True)
    sampler.sample(1)
    begin = time.process_time()
    _, outcomes = sampler.sample(shots, separate_observables=True)
    return Outcomes(shares_of(outcomes), shots, time.process_time() - begin)


def ideal(text: str) -> npt.NDArray[np.float64]:
    """The distribution of the outcomes of a program that ends with M on its first qubits, exactly."""
    gates, measured = text.rsplit("\nM ", 1)
    state = snc.Circuit(gates).state_vector(endian="little")
    return np.asarray(
        (np.abs(state) ** 2).reshape(-1, 1 << len(measured.split())).sum(axis=0), dtype=np.float64
    )


def fidelity(found: Outcomes, expected: npt.NDArray[np.float64]) -> tuple[float, float]:
    """1 - total variation distance, and its standard error."""
    excess = found.shares > expected
    value = 1 - float(np.abs(found.shares - expected).sum()) / 2
    share = float(found.shares[excess].sum())
    return value, float(np.sqrt(share * (1 - share) / found.shots))


def chsh(distance: int, p: float, decoder: str, shots: int) -> tuple[float, float]:
    """The sum of the correlations ZZ, ZX, -XZ and XX of a Bell pair with a T gate, and its standard error."""
    rotations, _ = program_of(PROGRAMS["CHSH"])
    total, variance = 0.0, 0.0
    for measured in itertools.product("ZX", repeat=2):
        text = PROGRAMS["CHSH"].removesuffix("M 0 1") + "".join(
            f"M{'' if letter == 'Z' else letter} {k}\n" for k, letter in enumerate(measured)
        )
        _, products = program_of(text)
        circuit = snc.Circuit(logical_circuit(rotations, products, distance=distance, p=p))
        found = sampled(circuit, decoder, shots)
        correlation = float(found.shares @ [1, -1, -1, 1])
        total += -correlation if measured == ("X", "Z") else correlation
        variance += (1 - correlation**2) / shots
    return total, variance**0.5


def main(arguments: Sequence[str] | None = None) -> None:
    """Runs the example."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--d", type=int, nargs="+", default=[3])
    parser.add_argument("--p", type=float, nargs="+", default=[5e-4, 1e-3])
    parser.add_argument("--shots", type=int, default=10_000)
    parser.add_argument("--programs", choices=[*PROGRAMS], nargs="+", default=[*PROGRAMS])
    chosen = parser.parse_args(arguments)
    print("program | k | T | d | p | qubits | decisions | width | shots/s | decoded | raw")
    for name, distance, p in itertools.product(chosen.programs, chosen.d, chosen.p):
        rotations, measurements = program_of(PROGRAMS[name])
        circuit = snc.Circuit(logical_circuit(rotations, measurements, distance=distance, p=p))
        decoded = sampled(circuit, "pymatching", chosen.shots)
        if name == "CHSH":
            values = [chsh(distance, p, decoder, chosen.shots) for decoder in ("pymatching", "raw")]
        else:
            expected = ideal(PROGRAMS[name])
            values = [fidelity(each, expected) for each in (decoded, sampled(circuit, "raw", chosen.shots))]
        cells = [
            name,
            len(measurements[0].lstrip("-")),
            len(rotations),
            distance,
            p,
            circuit.num_qubits,
            len(circuit.decision_points()),
            circuit.without_decisions().plan().peak_width,
            f"{decoded.shots / decoded.seconds:.2g}",
            *(f"{value:.4f} +- {error:.4f}" for value, error in values),
        ]
        print(" | ".join(map(str, cells)), flush=True)


if __name__ == "__main__":
    main()
