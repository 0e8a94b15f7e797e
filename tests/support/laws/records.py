"""The records of a circuit, compared with those of the tests' own simulator."""

from collections.abc import Callable, Mapping

import stim

import stim_nonclifford as snc

from ..oracle.density_matrix import record_distribution
from .exact import exact_outputs, largest_difference, mask_of


def assert_records_agree(
    circuit: snc.Circuit,
    oracle: Callable[[stim.Circuit], Mapping[tuple[int, ...], float]] = record_distribution,
    tolerance: float = 1e-10,
) -> None:
    """Compares the exact distribution of the records with the oracle's, without sampling."""
    found = exact_outputs(circuit.compile().record_plan()).kept
    expected = {mask_of(record): probability for record, probability in oracle(circuit.to_stim()).items()}
    assert largest_difference(found, expected) < tolerance, circuit
