"""The search for fault sets, and the estimate of P(kept) and P(kept and wrong) from it.

``mechanisms`` takes the error mechanisms of a plan, ``outcomes`` the outcome distributions. ``strata`` has
the tallies of enumerated sets, ``sampled`` of sampled ones, by the samplers ``joins`` (of ``halves``) and
``unions``. A ``search`` enumerates and samples; ``allocation`` decides what is next, within ``limits``;
``estimate`` adds the strata up.
"""
