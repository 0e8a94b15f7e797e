"""States of logical qubits: how they are checked and read out.

``operators`` finds the logical operators that a circuit names, ``state_check`` is the check of a state by
their expectation values, ``named_states`` has such checks by name, ``readout`` measures the state in their
place, and ``state_readout`` does so for the state that a circuit prepares.
"""

from .named_states import LogicalState, parsed_state, state_check_of
from .operators import without_pauli_targets
from .readout import read_out
from .state_check import LogicalStateCheck
from .state_readout import check_state, measured_observable, refuse_random_state, with_measured_state

__all__ = [
    "LogicalState",
    "LogicalStateCheck",
    "check_state",
    "measured_observable",
    "parsed_state",
    "read_out",
    "refuse_random_state",
    "state_check_of",
    "with_measured_state",
    "without_pauli_targets",
]
