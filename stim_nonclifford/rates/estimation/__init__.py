"""Rates as sums over strata.

* ``tally`` adds up importance weights, and stores the failing fault sets behind a rate. ``interval`` makes
  rates per accepted shot of the sums, and says which digits are printed.
* ``allocation`` is the loop that gives samples to the part whose variance falls most for its cost, within
  ``limits``.
"""
