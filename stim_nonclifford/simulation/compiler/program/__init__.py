"""A circuit as a program of simple steps, before anything is known of its state.

``flattening`` makes the program. ``steps`` has the kinds of steps, ``program`` the list of them, and
``program_arrays`` writes it for native code. ``channels`` turns probabilities of errors into independent
mechanisms. ``expansion`` says what gates that records control and other channels become, ``leakage_steps``
what leakage becomes. ``loops`` is about steps that are repeated. ``extent`` and ``relabelling`` are about the
circuit before: how many of what it has, which sizes are refused, and which qubits occur in it.
"""
