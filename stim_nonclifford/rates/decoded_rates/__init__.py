"""Logical error rates of decoded circuits, however small.

* ``questions`` is what is asked. ``faults`` has the errors of a circuit, each symptom once, and what quantum
  outcomes flip beside them.
* ``fault_number_sum`` has the rate of a circuit of which all shots are kept, as a sum over the number of
  faults; ``fault_number_search`` decides what is sampled for it.
* ``accepted_rate`` has rates per accepted shot and curves over the gap, as a sum over kinds of accepted fault
  sets (``partition``) and numbers of free faults.
* ``estimate`` decides which of the two a circuit needs, and makes the result that users get.

Both draw with the samplers of ``rates.samplers``, and estimate with ``rates.estimation``.
"""
