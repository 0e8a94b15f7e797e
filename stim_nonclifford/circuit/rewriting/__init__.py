"""Instructions that take the place of others.

``replacement`` walks through a circuit, ``decomposition`` writes gates as rotations, ``stand_ins`` has the
Clifford stand-ins, ``channels`` and ``leakage`` the Pauli errors that stand for other noise, and
``pauli_twirling`` those that stand for small rotations. ``state_aware_twirl`` and ``leakage_events`` are what
decoders are told: noise as it acts on the noiseless state, and qubits that are away for some time.
"""
