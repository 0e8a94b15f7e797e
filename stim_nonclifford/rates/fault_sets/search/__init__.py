"""The search for fault sets, and what it says of P(kept) and P(kept and wrong).

``mechanisms`` takes a plan's mechanisms with their odds and removes coins from the checks, for the native
search (``native/rates/fault_sets/``); ``laws`` has the probabilities of being kept and wrong of signatures.
``strata`` has the sums for each number of faults where all sets are known, ``sampling``
where some are, and ``exploration`` all of them. ``enumeration`` enumerates the weights that cost little;
``estimator`` decides what is looked at next, by ``costs`` and within ``limits``. ``two_searches`` is for
circuits without quantum outcomes: one search for P(kept), one for P(kept and wrong).
"""
