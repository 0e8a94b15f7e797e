"""Samplers of fault sets, each an estimator of P(part, accepted and wrong), with one interface (``sampler``).

* ``fault_numbers`` draws sets of exactly k faults; ``strata`` adds accepted sets, coins and outcomes.
* ``enumeration`` sums over all sets; ``direct_samples``, ``backward_deletion`` and ``splitting`` draw them.
* ``undetected_sets`` and ``accepted_sets`` list or draw the sets that strata consist of.
"""
