"""A T gate on a surface code, as a machine would apply it: injected, and consumed by lattice surgery.

A T state is injected into a patch of rotated surface code at its corner. Lattice surgery then consumes it:
the product Z_L Z_L of this patch and of a second one is measured, the first patch is measured out, and the
second one has had a T gate, up to an S that depends on the outcome. The circuits are plain `stim.Circuit`
objects with tagged gates, like those of `stim_nonclifford.generators.cultivation`.

The modules, each of which uses those above it and the builder and the noise of `cultivation`:

* `surface_code`: rectangles of the rotated surface code, and their checks;
* `builder`: writes logical rotations and classical bits;
* `syndrome_round`: a round of check measurements, and the detectors that compare it with what is known;
* `injection`, `surgery`, `final_check`: the stages;
* `protocol`: combines the stages and the noise;
* `files`: file names.

Examples:
    >>> import stim_nonclifford as snc
    >>> from stim_nonclifford.generators.teleportation import teleportation_circuit
    >>> circuit = snc.Circuit(teleportation_circuit(distance=3, p=1e-3))
    >>> circuit.num_qubits, circuit.num_detectors, circuit.plan().peak_width
    (42, 99, 0)
"""

from .files import circuit_file_name
from .protocol import (
    AVAILABLE_DISTANCES,
    CORRECTION_CHOICES,
    INPUT_CHOICES,
    MAGIC_CHOICES,
    S_GATE_CHOICES,
    CorrectionChoice,
    InputChoice,
    MagicChoice,
    SGateChoice,
    injection_circuit,
    teleportation_circuit,
)

__all__ = [
    "AVAILABLE_DISTANCES",
    "CORRECTION_CHOICES",
    "INPUT_CHOICES",
    "MAGIC_CHOICES",
    "S_GATE_CHOICES",
    "CorrectionChoice",
    "InputChoice",
    "MagicChoice",
    "SGateChoice",
    "circuit_file_name",
    "injection_circuit",
    "teleportation_circuit",
]
