"""Logical error rates that are computed instead of counted, and decoders.

``results``        has logical error rates and error budgets as users get them
``fault_sets``     computes logical error rates without waiting for errors
``decoding``       has decoders by name, and their confidence
``budget``         divides logical error rates among the noise that causes them
``decoded_rates``  computes logical error rates of circuits that are decoded, with ``samplers`` of fault sets
                   and ``estimation`` from their importance weights
"""
