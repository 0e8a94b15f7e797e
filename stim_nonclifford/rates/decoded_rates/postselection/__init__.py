"""Rates of kept and decoded shots whose kept fault sets can be listed: strata of them, and levels of the gap.

* ``listed_sets`` lists or draws the sets that leave the postselected detectors silent; ``kept_sets`` has
  their masses, and ``kept_choices`` lets one of them stand in the place of quantum outcomes.
* ``partition`` puts kept sets into ``strata``. In a stratum, shots and chains at ``levels`` of the signed gap
  are put together by ``survival``; where logical errors are paths in a graph, by ``paths``.
* ``questions`` says what is asked, ``estimate`` decides what is done.
"""
