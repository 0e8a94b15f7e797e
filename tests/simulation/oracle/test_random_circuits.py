"""The random circuits: limits, choice of instructions, reproducibility, shrinking."""

from __future__ import annotations

import numpy as np
import stim

from ...support.oracle.random_circuits import random_circuit


def instructions_of(circuit: stim.Circuit) -> list[stim.CircuitInstruction]:
    return list(circuit.flattened())


def test_all_instructions_occur() -> None:
    """Seed 1; the circuits of a fixed seed do not vary."""
    rng = np.random.default_rng(1)
    names: set[str] = set()
    tags: set[str] = set()
    for _ in range(500):
        circuit = random_circuit(rng, num_qubits=3)
        names.update(instruction.name for instruction in circuit)
        for instruction in instructions_of(circuit):
            names.add(instruction.name)
            tags.add(f"{instruction.name}[{instruction.tag.partition('(')[0]}]")
    assert names == set(stim.gate_data())
    non_clifford = {f"{gate}[T]" for gate in ("S", "S_DAG", "SPP", "SPP_DAG")}
    non_clifford |= {f"I[{call}]" for call in ("R_X", "R_Y", "R_Z", "U3")}
    non_clifford |= {f"II[R_{axis * 2}]" for axis in "XYZ"}
    non_clifford |= {"SPP[R_PAULI]", "SPP_DAG[R_PAULI]"}
    assert tags >= non_clifford
