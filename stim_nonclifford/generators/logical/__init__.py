r"""Logical circuits with T gates on surface codes, in which a decoder decides each outcome of lattice
surgery.

A program is a list of rotations about Pauli products of logical qubits, and of products that are measured.
Each rotation consumes a T state by lattice surgery. Circuits are plain ``stim.Circuit`` objects with tagged
gates, like those of ``stim_nonclifford.generators.teleportation``, whose patches, rounds and injection they
use.

The modules, each of which uses those above it:

* ``program``: the steps of lattice surgery that a program takes;
* ``algorithm``: programs of Clifford+T circuits, and circuits of programs;
* ``layout``: patches in a row, and the lane above them;
* ``surgery``: writes the steps;
* ``protocol``: the whole circuit, with noise;
* ``fidelity``: how good a circuit is, and the error of each of its operations.

Examples:
    >>> import stim_nonclifford as snc
    >>> from stim_nonclifford.generators.logical import logical_circuit, program_of
    >>> circuit = snc.Circuit(logical_circuit(*program_of("H 0\nT 0\nH 0\nM 0"), distance=3, p=1e-3))
    >>> circuit.num_qubits, len(circuit.decision_points())
    (212, 2)
"""

from ..teleportation import MAGIC_CHOICES, S_GATE_CHOICES
from .algorithm import Program, circuit_of_program, program_of
from .fidelity import (
    FIDELITY_CHOICES,
    LogicalFidelity,
    OperationErrors,
    ideal_distribution,
    logical_fidelity,
    operation_counts,
    operation_errors,
)
from .protocol import ENDING_CHOICES, Y_STATE_CHOICES, circuit_file_name, logical_circuit

__all__ = [
    "ENDING_CHOICES",
    "FIDELITY_CHOICES",
    "MAGIC_CHOICES",
    "S_GATE_CHOICES",
    "Y_STATE_CHOICES",
    "LogicalFidelity",
    "OperationErrors",
    "Program",
    "circuit_file_name",
    "circuit_of_program",
    "ideal_distribution",
    "logical_circuit",
    "logical_fidelity",
    "operation_counts",
    "operation_errors",
    "program_of",
]
