"""Rates as sums over strata.

* ``tally`` adds up importance weights, and ``ratios`` makes rates per accepted shot of the sums.
* ``allocation`` is the loop that gives samples to the part whose variance falls most for its cost.
* ``interval`` has confidence intervals for them, and ``uncertainty`` the digits that are printed.
* ``failing_sets`` are the fault sets behind a rate, and ``deadline`` is the limit on the time.
"""
