"""Samplers of fault sets, each an estimator of P(part, accepted and wrong), with one interface (``sampler``).

* ``strata`` draws and lists sets of exactly k faults, with accepted sets, coins and outcomes.
* ``sampler`` has enumeration and direct samples; ``backward_deletion`` and ``splitting`` find rare failures.
* ``undetected_sets`` and ``accepted_sets`` list or draw the sets that strata consist of.
"""
