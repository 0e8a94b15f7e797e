"""The search for fault sets, and the estimate of P(kept) and P(kept and wrong) from it.

``mechanisms`` takes the error mechanisms of a plan. ``strata`` has the sums of enumerated sets, ``joins`` (of
``halves``) those of sampled ones. A ``search`` enumerates and joins; ``allocation`` decides what is next;
``estimate`` adds the strata up.
"""
