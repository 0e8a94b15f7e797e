"""Leakage and loss, as scripts of what leaked qubits change.

``scripts`` finds them from the steps of a circuit.
"""
