"""Instructions that take the place of others.

``replacement`` walks through a circuit, ``decomposition`` writes gates as rotations, ``stand_ins`` has the
Clifford stand-ins, and ``pauli_twirling`` the errors that stand for small rotations.
"""
