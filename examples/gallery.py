"""Published numbers, and what this package finds for them: each circuit in a few lines, with z and seconds.

    python -m examples.gallery [--only NAME ...]

z is the difference over the errors of both. Exact published values have no error. There is no z where a
published value has an error that is not said.
"""

from __future__ import annotations

import argparse
import math
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import stim

import stim_nonclifford as snc
from examples.cultivation.rates import with_error
from stim_nonclifford.generators.cultivation import cultivation_circuit
from stim_nonclifford.generators.distillation import distillation_circuit

Found = tuple[float, float]
"""A number, and its standard error; NaN: not published."""


@dataclass(frozen=True)
class Replica:
    """A published number, and the function that finds it again."""

    name: str
    source: str  # where it was published
    published: Found
    again: Callable[[], Found]


def _rate(circuit: stim.Circuit, relative_error: float) -> Found:
    rate = snc.Circuit(circuit).logical_error_rate(
        postselection_mask="all", relative_error=relative_error, seed=1
    )
    return rate.logical_error_rate, rate.standard_error


def _share(count: int, shots: int) -> Found:
    return count / shots, math.sqrt(count * (shots - count) / shots**3)


def _cultivation(
    distance: int, p: float, gate: str = "T", relative_error: float = 0.01
) -> Callable[[], Found]:
    return lambda: _rate(cultivation_circuit(distance, p, "S" if gate == "S" else "T"), relative_error)


def accepted() -> Found:
    """Kept shots of cultivation at distance 5."""
    circuit = snc.Circuit(cultivation_circuit(distance=5, p=1e-3))
    counts = circuit.compile_detector_sampler(seed=1, postselection_mask="all").sample_counts(10**7)
    return _share(counts.kept, counts.shots)


def fifteen_to_one() -> Found:
    """Output error of 15-to-1 at a state error of 1%."""
    return _rate(distillation_circuit("15-to-1", t_error=0.01), 1e-6)


def fifteen_to_one_exact(p: float) -> float:
    """The formula of Bravyi and Kitaev."""
    q = 1 - 2 * p
    return (1 - 15 * q**7 + 15 * q**8 - q**15) / (2 * (1 + 15 * q**8))


def fifteen_to_one_kept() -> Found:
    """Share of the attempts of 15-to-1 that are kept at a state error of 1%."""
    rate = snc.Circuit(distillation_circuit("15-to-1", t_error=0.01)).logical_error_rate(
        postselection_mask="all", relative_error=1e-6, seed=1
    )
    return rate.kept, rate.kept_error


def fifteen_to_one_twice() -> Found:
    """Output error of 15-to-1 on two levels at a state error of 1%."""
    return _rate(distillation_circuit("225-to-1", t_error=0.01, teleported=False), 0.01)


def pairs() -> Found:
    """Malignant pairs of errors of 8T-to-CCZ: the output error is as many p^2."""
    circuit = snc.Circuit(distillation_circuit("8T-to-CCZ", t_error=0.01))
    found = circuit.malignant_sets(postselection_mask="all", max_weight=2)
    return float(len(found)), 0.0


def five_to_one() -> Found:
    """Output error of 5-to-1 at a state error of 1%."""
    return _rate(distillation_circuit("5-to-1", t_error=0.01), 1e-6)


def sets_of_five() -> Found:
    """Malignant sets of five errors of 49-to-1."""
    circuit = snc.Circuit(distillation_circuit("49-to-1", t_error=0.01, teleported=False))
    return float(len(circuit.malignant_sets(postselection_mask="all", max_weight=5))), 0.0


def star_injection() -> Found:
    """Error over p of a small rotation in the code [[4,1,1,2]], as p goes to 0: the first order of the rate.

    Qubits 0 and 1 are rotated about Z0*Z1, the logical Z. Two-qubit gates have depolarizing noise. The two
    checks of the code and X0*X1, which acts on its gauge qubit, postselect without noise.
    """
    p = 1e-6
    gates = "".join(f"CX {qubit} 0\nDEPOLARIZE2({p}) {qubit} 0\n" for qubit in (1, 2, 3))
    rotated = f"R_ZZ(0.1) 0 1\nDEPOLARIZE2({p}) 0 1\n"
    checks = "MPP X0*X1*X2*X3 Z0*Z1*Z2*Z3 X0*X1\n" + "".join(f"DETECTOR rec[-{k}]\n" for k in (1, 2, 3))
    undone = "R_ZZ(-0.1) 0 1\nMPP X0*X2\nOBSERVABLE_INCLUDE(0) rec[-1]"
    rate = snc.Circuit(f"R 0\nRX 1 2 3\n{gates}{rotated}{checks}{undone}").logical_error_rate(
        postselection_mask="all", seed=1
    )
    return rate.logical_error_rate / p, p  # what two faults add is of the order of p


def transversal_rotation() -> Found:
    """Success of R_Z(0.1) on three qubits, whose checks X0*X1 and X1*X2 must stay silent."""
    circuit = snc.Circuit("RX 0 1 2\nR_Z(0.1) 0 1 2\nMPP X0*X1 X1*X2\nDETECTOR rec[-1]\nDETECTOR rec[-2]")
    shots = circuit.compile_detector_sampler(seed=1, skip_reference_sample=True).sample(10**6)
    return _share(int((~shots.any(axis=1)).sum()), len(shots))


def v_gate() -> Found:
    """Success of the circuit that rotates about Z by arccos(3/5), one attempt."""
    circuit = snc.Circuit(
        "RX 0 1\nR 2\nCCX 0 1 2\nS 2\nCCX 0 1 2\nMX 0 1\nDETECTOR rec[-1]\nDETECTOR rec[-2]"
    )
    sampler = circuit.compile_detector_sampler(seed=1, skip_reference_sample=True)
    shots = sampler.sample(10**6)
    return _share(int((~shots.any(axis=1)).sum()), len(shots))


def chsh() -> Found:
    """The value of CHSH in a Bell pair, with one side measured in the bases of T states."""
    circuit = snc.Circuit("H 0\nCX 0 1\nT 1\nEXP_VAL X0*X1 X0*Y1 Y0*X1 Y0*Y1")
    _, values = circuit.compile_sampler(seed=1).sample_expectation_values(1)
    return float(np.abs(values[0]).sum()), 0.0


def surface_code(distance: int) -> Callable[[], Found]:
    """Logical error of a memory with PyMatching at p = 0.004."""

    def again() -> Found:
        noise: dict[str, Any] = dict.fromkeys(
            ("after_clifford_depolarization", "before_round_data_depolarization"), 4e-3
        ) | dict.fromkeys(("after_reset_flip_probability", "before_measure_flip_probability"), 4e-3)
        circuit = snc.Circuit.generated(
            "surface_code:rotated_memory_z", distance=distance, rounds=distance, **noise
        )
        rate = circuit.logical_error_rate(decoder="pymatching", relative_error=0.02, seed=1)
        return rate.logical_error_rate, rate.standard_error

    return again


def _counted(errors: int, kept: float) -> Found:
    return errors / kept, math.sqrt(errors) / kept


_ROUNDING = 1e-8
_T = 0.01 / 0.99
_EXACT = "arXiv 2609.18922, exact"
_SPLITTING = "github.com/pbonilla0/rare_event"
GALLERY = (
    Replica("cultivation d=3, p=0.005", _EXACT, (8.489257e-5, 0), _cultivation(3, 5e-3)),
    Replica("cultivation d=3, p=0.001", _EXACT, (8.982790954e-7, 0), _cultivation(3, 1e-3)),
    Replica("cultivation d=5, p=0.0001", _EXACT, (1.657e-12, 0), _cultivation(5, 1e-4)),
    Replica("cultivation d=5, p=0.0005", _EXACT, (2.846165501e-10, 0), _cultivation(5, 5e-4)),
    Replica("cultivation d=5, p=0.001", _EXACT, (3.328425371e-9, 0), _cultivation(5, 1e-3)),
    Replica("the same, kept", _EXACT, (0.1439555841, 0), accepted),
    Replica("the same, counted", "arXiv 2512.23037, 49 errors", _counted(49, 10.6e9), _cultivation(5, 1e-3)),
    Replica(
        "the same, S-proxy", "arXiv 2409.17595, 50 errors", _counted(50, 50 / 3.47e-10),
        _cultivation(5, 1e-3, "S", 0.02),
    ),
    Replica("15-to-1, 1%", "quant-ph/0403025, formula", (fifteen_to_one_exact(0.01), 0), fifteen_to_one),
    Replica(
        "the same, kept", "quant-ph/0403025, formula", ((1 + 15 * 0.98**8) / 16, 0), fifteen_to_one_kept
    ),
    Replica(
        "15-to-1 twice, 1%", "quant-ph/0403025, formula",
        (fifteen_to_one_exact(fifteen_to_one_exact(0.01)), 0), fifteen_to_one_twice,
    ),
    Replica(
        "5-to-1, 1%", "quant-ph/0403025, formula",
        ((5 * _T**2 + _T**5) / (1 + 5 * _T**2 + 5 * _T**3 + _T**5), 0), five_to_one,
    ),
    Replica("8T-to-CCZ, pairs", "arXiv 1212.4872", (28, 0), pairs),
    Replica("49-to-1, sets of five", "arXiv 1209.2426", (1411, 0), sets_of_five),
    Replica("STAR injection, error / p", "arXiv 2303.13181, first order", (2 / 15, 0), star_injection),
    Replica(
        "transversal rotation, success", "arXiv 2303.17380, formula",
        (math.cos(0.05 * math.pi) ** 6 + math.sin(0.05 * math.pi) ** 6, 0), transversal_rotation,
    ),
    Replica("V gate, success", "Nielsen and Chuang, 4.41", (5 / 8, 0), v_gate),
    Replica("CHSH", "Tsirelson's bound", (2 * math.sqrt(2), 0), chsh),
    Replica("surface code d=5, p=0.004", _SPLITTING, (0.0076025, math.nan), surface_code(5)),
    Replica("surface code d=7, p=0.004", _SPLITTING, (0.004296, math.nan), surface_code(7)),
)  # fmt: skip


def z_of(published: Found, found: Found) -> float:
    """Difference in standard errors of both; numbers that are equal to rounding have 0."""
    difference = found[0] - published[0]
    if abs(difference) <= _ROUNDING * abs(published[0]):
        return 0.0
    error = math.hypot(np.nan_to_num(published[1]), found[1])
    return difference / error if error else math.copysign(math.inf, difference)


def main() -> int:
    """Prints a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--only", nargs="+", metavar="NAME", help="parts of names")
    arguments = parser.parse_args()
    print("| circuit | published | source | here | z | seconds |\n|---|---|---|---|---|---|")
    for one in GALLERY:
        if arguments.only and not any(name in one.name for name in arguments.only):
            continue
        started = time.process_time()
        found = one.again()
        seconds = time.process_time() - started
        shown = [
            with_error(value, error) if error > _ROUNDING * abs(value) else f"{value:.7g}"
            for value, error in (one.published, found)
        ]
        z = "" if math.isnan(one.published[1]) else f"{z_of(one.published, found):+.1f}"
        print(f"| {one.name} | {shown[0]} | {one.source} | {shown[1]} | {z} | {seconds:.1f} |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
