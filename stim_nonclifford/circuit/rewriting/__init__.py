"""Instructions that take the place of others.

``replacement`` walks through a circuit, ``decomposition`` writes gates as rotations, ``stand_ins`` has the
Clifford stand-ins, ``channels`` and ``leakage`` the Pauli errors that stand for other noise, and
``pauli_twirling`` those that stand for small rotations.
"""
