"""Rates of kept and decoded shots whose kept fault sets can be listed: strata of them, and levels of the gap.

Modules: ``kept_sets``, ``kept_choices``, ``strata``, ``survival`` and ``estimate``.
"""
