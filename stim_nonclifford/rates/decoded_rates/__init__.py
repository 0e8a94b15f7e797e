"""Logical error rates of decoded circuits, however small.

* ``questions`` is what is asked. ``faults`` has the errors of a circuit, each symptom once, and what quantum
  outcomes flip beside them.
* ``fault_number_rate`` has the rate of a circuit of which all shots are accepted, as a sum over the number of
  faults.
* ``accepted_rate`` has rates per accepted shot and curves over the gap, as a sum over kinds of accepted fault
  sets (``partition``) and numbers of free faults.

Both draw with the samplers of ``rates.samplers``, and have the loop and the estimators of
``rates.estimation``.
"""
