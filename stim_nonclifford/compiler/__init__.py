"""From a circuit to a plan.

The passes, in their order, each a module with one entry point:

1.  ``flattening``: the circuit as a ``program`` of simple ``steps``, over the qubits that occur in it;
2.  ``forward_sweep``: the quantum operations on the coefficient vector, with rotations deferred until a
    measurement needs them, and commuting measurements in the order that suits them, in each part of the
    circuit that is not connected with others (``patches``); of a Clifford circuit only Stim's noiseless
    sample (``clifford_records``);
3.  ``backward_sweep``: the effects of noise, outcomes and coins;
4.  ``reference_sample``: the noiseless reference sample;
5.  ``needed_operations``: drops the last operations if they influence no requested output;
6.  ``width_reordering``: puts independent groups of coordinates one after the other;
7.  ``rotation_merging``: joins rotations about the same Pauli into one operation;
8.  ``weak_measurements``: joins a measurement with the activation of its coordinate;
9.  ``row_layout``: reduces the bits of a shot to noise-only checks, signature and outputs;
10. ``sampling_tables``: tables that turn random words into events;
11. ``plan_construction``: writes the plan as plain arrays.

``expectations`` has the plans that report expectation values, too.

``compile_circuit`` runs the first two, which do not depend on the question. ``CompiledCircuit`` runs the
others when it constructs the plan for a question (``requested_outputs``). ``scheduling`` runs passes 6 to 8.

``extent`` and ``relabelling`` are about circuits before the first pass. ``loops`` and ``iterations`` are
about steps that are repeated. ``operations``, ``effects``, ``paulis``, ``clifford_gates``, ``channels``,
``gf2`` and ``sparse_rows`` have the types and the algebra that the passes share. ``native_program`` writes
the program for native code, which follows it in both sweeps (``native/sweeps/forward_sweep.h``,
``native/sweeps/effect_sweep.h``); passes 9 and 10 call native code, too
(``native/algebra/sparse_rows.h``). ``progress`` shows how far a sweep is.
``width_limit`` refuses plans that are too wide.
``detector_error_model`` converts the effects to Stim's error model, and ``error_model_changes`` conditions
and decomposes such models.
"""

from .compiled_circuit import DEFAULT_MAX_ACTIVE_COORDINATES, CompiledCircuit, compile_circuit
from .expectations import ExpectationPlan
from .reference_sample import LikelyOutputs
from .requested_outputs import RequestedOutputs

__all__ = [
    "DEFAULT_MAX_ACTIVE_COORDINATES",
    "CompiledCircuit",
    "ExpectationPlan",
    "LikelyOutputs",
    "RequestedOutputs",
    "compile_circuit",
]
