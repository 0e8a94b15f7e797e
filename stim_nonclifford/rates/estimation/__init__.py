"""Rates as sums over strata.

* ``tally`` adds up importance weights, and ``interval`` makes rates per accepted shot of the sums.
* ``allocation`` is the loop that gives samples to the part whose variance falls most for its cost.
* ``uncertainty`` says which digits are printed.
* ``failing_sets`` are the fault sets behind a rate, and ``deadline`` is the limit on the time.
"""
