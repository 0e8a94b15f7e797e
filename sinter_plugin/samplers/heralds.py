"""Heralds: detectors that announce errors, such as those of erased qubits."""

from __future__ import annotations

import stim_nonclifford as snc
from stim_nonclifford.base.arguments import check_types
from stim_nonclifford.simulation.compiler.heralds import herald_detectors as detectors_of_heralds

__all__ = ["herald_detectors"]


def herald_detectors(circuit: snc.Circuit) -> frozenset[int]:
    r"""The detectors that contain no other records than those of HERALDED_ERASE and HERALDED_PAULI_CHANNEL_1.

    Args:
        circuit: The circuit.

    Returns:
        Their numbers.

    Examples:
        >>> circuit = snc.Circuit("HERALDED_ERASE(0.01) 0\nDETECTOR rec[-1]\nM 0\nDETECTOR rec[-1] rec[-2]")
        >>> herald_detectors(circuit)
        frozenset({0})
    """
    check_types(circuit, "circuit", "a stim_nonclifford.Circuit", snc.Circuit)
    return detectors_of_heralds(circuit.to_stim())
