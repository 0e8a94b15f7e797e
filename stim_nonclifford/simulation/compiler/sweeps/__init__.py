"""Both sweeps through a program, and what they find.

``forward_sweep`` finds the quantum ``operations``, in each of the ``patches`` that the circuit falls into;
``clifford_records`` is the shorter way for Clifford circuits. ``backward_sweep`` finds the ``effects`` of
noise, outcomes and coins. ``progress`` shows on a terminal how far a sweep is.
"""
