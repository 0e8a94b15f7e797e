"""States of logical qubits: how they are checked and read out.

``operators`` finds the logical operators that a circuit names, ``state_check`` is the check of a state by
their expectation values, ``named_states`` has such checks by name, and ``readout`` measures the state in
their place.
"""

from .named_states import LogicalState, parsed_state, state_check_of
from .operators import observables_with_records, shown_product, without_pauli_targets
from .readout import read_out
from .state_check import LogicalStateCheck, terms_of

__all__ = [
    "LogicalState",
    "LogicalStateCheck",
    "observables_with_records",
    "parsed_state",
    "read_out",
    "shown_product",
    "state_check_of",
    "terms_of",
    "without_pauli_targets",
]
