"""Rates per accepted shot, by postselected detectors and by the decoder's gap: one stratified estimator.

* ``listed_sets`` lists or draws the sets that leave the postselected detectors silent; ``accepted_sets`` has
  their probabilities of being accepted, and ``partition`` puts them into strata.
* ``strata`` has strata and their cells, in which the number of free faults is fixed.
* ``questions`` says what is asked, ``estimate`` draws and enumerates cells until the rates are known.
"""
