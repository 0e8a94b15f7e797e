"""Error budgets and minimal failing sets, from a sample of the failing fault sets of a circuit.

``study`` has the circuit with the sets, ``budget`` the noise that they come from, ``cores`` reduces them to
minimal failing subsets, and ``failures`` lists the most frequent ones.
"""
