"""Error budgets: which noise a logical error rate comes from.

``noise_sources`` finds the places of the circuit that mechanisms come from, and ``groups`` divides what
mechanisms contribute among groups of places. Contributions come from the sums over malignant sets
(``malignant_sets``) or from a sample of a decoder's failing sets (``failing_sets``), which are also reduced
to minimal ones.
"""
