"""Samplers of fault sets, for a rate that is a sum over fault numbers.

* ``sized_sets`` draws sets of a given fault number. ``classify`` says which observables are predicted
  wrongly.
* ``enumeration`` looks at all sets of few faults. ``direct_samples`` and ``backward_deletion`` draw the
  others, and ``tally`` adds them up. ``plain_counts`` counts plain shots.
* ``fault_numbers`` decides which of them looks at which fault numbers, and for how long.
"""
