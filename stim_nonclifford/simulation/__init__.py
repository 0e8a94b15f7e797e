"""From a circuit to shots.

``plan``            a compiled circuit as plain arrays, which are all that engines read
``compiler``        turns a circuit into a plan
``engines``         draw shots from a plan
``logical_errors``  says which questions about logical errors have an answer
``noise_events``    says what happens at the places of noise, and which mechanisms of a plan that is
``faults``          finds the faults of the circuit behind the events of a shot
``sampling``        returns the bits as Stim's arrays, as files and as counts
``state_vectors``   computes the state of a small circuit, to look at it
"""
