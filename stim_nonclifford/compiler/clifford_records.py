"""The noiseless sample of a Clifford circuit, which has no operations on a coefficient vector."""

from __future__ import annotations

import stim

from .extent import extent_of
from .forward_sweep import forward_sweep
from .patches import check_tableau_bytes, connected_qubits
from .relabelling import relabelled
from .steps import Program

__all__ = ["clifford_records"]

_MANY_QUBITS = 4096


def clifford_records(circuit: stim.Circuit, program: Program) -> list[int]:
    r"""The measurement records without noise, with 0 for every fair coin.

    Args:
        circuit: The circuit, without non-Clifford gates.
        program: Its steps.

    Raises:
        ResourceLimitError: The circuit has too many qubits.

    Examples:
        >>> from .flattening import program_of
        >>> circuit = stim.Circuit("H 1000000\nX 7\nM 1000000 7")
        >>> clifford_records(circuit, program_of(circuit))
        [0, 1]
    """
    if not program.num_records:
        return []
    num_qubits = program.num_qubits
    if num_qubits > _MANY_QUBITS and max(map(len, connected_qubits(program))) < num_qubits // 4:
        return forward_sweep(program).base_records
    check_tableau_bytes([num_qubits], 1)
    extent = extent_of(circuit)
    if extent.has_powers or circuit.num_qubits > num_qubits:
        numbers = {label: k for k, label in enumerate(program.labels)}
        circuit = relabelled(circuit, extent, numbers)
    return [int(bit) for bit in circuit.reference_sample()]
