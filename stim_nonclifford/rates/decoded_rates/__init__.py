"""Logical error rates of decoded circuits, however small.

* ``questions`` is what is asked. ``faults`` has the errors of a circuit, each symptom once, and what quantum
  outcomes flip beside them.
* ``estimate`` has the one driver of all rates, as a sum over strata and numbers of free faults: ``parts``,
  which get samplers of rare failures by ``refinements``. ``result`` makes what users get of their sums.
* ``partition`` makes strata of accepted fault sets, where detectors are postselected.

The driver draws with the samplers of ``rates.samplers``, and has the loop and the estimators of
``rates.estimation``.
"""
