"""Circuit statistics beside Table II of the SOFT paper (arXiv 2512.23037).

Run it from a clone:

    python -m examples.table_ii [--d 3 5]
"""

from __future__ import annotations

import argparse
import dataclasses
import sys

from examples.published import DISTANCES, TABLE_II
from stim_nonclifford.cultivation import AVAILABLE_DISTANCES, circuit_statistics, cultivation_circuit

ROWS = {
    "qubits": "total qubits",
    "gates": "total gates",
    "depth": "circuit depth",
    "two_qubit_gates": "two-qubit gates",
    "measurements": "measurements",
    "t_count": "T and T_DAG gates",
    "t_support": "qubits that they act on",
    "t_depth": "layers of them",
}


def main() -> int:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--d", type=int, nargs="+", choices=AVAILABLE_DISTANCES, default=DISTANCES)
    distances = parser.parse_args().d
    counts = {d: dataclasses.asdict(circuit_statistics(cultivation_circuit(distance=d))) for d in distances}
    print(f"{'':24}" + "".join(f"{f'd={d} here':>12}{'Table II':>10}" for d in distances))
    for name, title in ROWS.items():
        cells = [(counts[d][name], TABLE_II[name].get(d, "-")) for d in distances]
        print(f"{title:24}" + "".join(f"{ours:12}{theirs:>10}" for ours, theirs in cells))
    print("\nWithout the perfect final check, but with the T gates before its logical measurement.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
