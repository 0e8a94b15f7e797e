"""The noiseless sample of a Clifford circuit, which has no operations on a coefficient vector: Stim's."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import stim

from ..program.extent import Extent, check_extent, extent_of
from ..program.program import Program
from ..program.relabelling import relabelled
from .forward_sweep import forward_sweep
from .patches import check_tableau_bytes, patch_sizes

_MANY_QUBITS = 4096

_MAX_GAPS = 1.2
"""With up to this many numbers per qubit, numbering them anew costs more time than it saves."""


def clifford_records(circuit: stim.Circuit, program: Program) -> npt.NDArray[np.uint8]:
    """The measurement records without noise, with 0 for every fair coin."""
    if not program.num_records:
        return np.zeros(0, dtype=np.uint8)
    num_qubits = program.num_qubits
    if num_qubits > _MANY_QUBITS and max(patch_sizes(program)) < num_qubits // 4:
        return forward_sweep(program).base_records
    return without_gaps(circuit, program.extent).reference_sample().astype(np.uint8)


def without_gaps(circuit: stim.Circuit, extent: Extent | None = None) -> stim.Circuit:
    """The circuit with its qubits numbered from 0, for Stim's simulator of tableaus; without large gaps."""
    extent = extent or extent_of(circuit)
    check_extent(extent)
    check_tableau_bytes([len(extent.qubits)], 1)
    if not extent.has_powers and circuit.num_qubits <= _MAX_GAPS * len(extent.qubits):
        return circuit
    return relabelled(extent, {label: k for k, label in enumerate(sorted(extent.qubits))})
