"""The search for fault sets, and what it says of P(kept) and P(kept and wrong).

``mechanisms`` takes a plan's mechanisms with their odds and removes coins from the checks; ``study`` is the
native search (``native/fault_set*``); ``laws`` has the probabilities of being kept and wrong for each
signature; ``strata`` the sums for each number of faults, ``exploration`` all of them. ``enumeration`` decides
what is enumerated, ``estimator`` what is sampled, within ``limits``; ``wrong_tool`` says where that is too
much. ``two_searches`` is for circuits without quantum outcomes: one search for P(kept), one for P(kept and
wrong).
"""
