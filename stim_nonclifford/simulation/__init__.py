"""From a circuit to shots: ``compiler``, ``plan``, ``engines`` and ``sampling``, and what faults do on the way."""
