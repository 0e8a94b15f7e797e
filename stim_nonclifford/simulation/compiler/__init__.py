"""From a circuit to a plan.

The passes, in their order, each a module with one entry point:

1.  ``flattening``: the circuit as a ``program`` of simple ``steps``, over the qubits that occur in it;
2.  ``forward_sweep``: the quantum operations on the coefficient vector, with rotations deferred until a
    measurement needs them, and commuting measurements in the order that suits them, in each part of the
    circuit that is not connected with others (``patches``); of a Clifford circuit only Stim's noiseless
    sample (``clifford_records``);
3.  ``backward_sweep``: the effects of noise, outcomes and coins;
4.  ``reference_sample``: the noiseless reference sample;
5.  ``requested_outputs``: drops the last operations if they influence no requested output;
6.  ``width_reordering``: puts independent groups of coordinates one after the other;
7.  ``rotation_merging``: joins rotations about the same Pauli into one operation;
8.  ``row_layout``: reduces the bits of a shot to noise-only checks, signature and outputs;
9.  ``sampling_tables``: tables that turn random words into events;
10. ``plan_construction``: writes the plan as plain arrays.

The rooms, each of which imports from those before it: ``algebra`` (GF(2), Paulis, Clifford gates),
``program`` (pass 1), ``leakage``, ``sweeps`` (passes 2 and 3), ``plans`` (passes 5 to 10;
``requested_outputs`` is the question that a plan answers, and ``plan_construction`` runs passes 6 and 7),
``error_models`` and ``heralds`` (what decoders get).

``compile_circuit`` runs the first two passes, which do not depend on the question. ``CompiledCircuit`` runs
the others when it constructs the plan for a question. ``expectations`` has the plans that report expectation
values, too. Native code follows the program in both sweeps (``native/compiler/sweeps/forward_sweep.h`` and
``backward_sweep.h``), and does the algebra of passes 8 and 9 (``native/algebra/sparse_rows.h``).
"""

from .compiled_circuit import (
    DEFAULT_MAX_ACTIVE_COORDINATES,
    CompiledCircuit,
    compile_circuit,
    followed_nanoseconds,
)
from .expectations import ExpectationCircuit, ExpectationPlan
from .plans.requested_outputs import RequestedOutputs
from .reference_sample import LikelyOutputs

__all__ = [
    "DEFAULT_MAX_ACTIVE_COORDINATES",
    "CompiledCircuit",
    "ExpectationCircuit",
    "ExpectationPlan",
    "LikelyOutputs",
    "RequestedOutputs",
    "compile_circuit",
    "followed_nanoseconds",
]
