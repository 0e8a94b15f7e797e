"""Refusals of questions about fault sets: each names what is wrong, and what helps."""

import pickle
from collections.abc import Callable
from typing import Any, Literal

import pytest

import stim_nonclifford as snc
from stim_nonclifford.generators.cultivation import cultivation_circuit

from ...support.rates.fault_set_cases import rate_of_anything

FLIP = "X_ERROR(0.1) 0\nM 0\nOBSERVABLE_INCLUDE(0) rec[-1]"
"""A flip that is wrong with certainty."""

SEEN = "X_ERROR(0.1) 0\nM 0\nDETECTOR rec[-1]\nOBSERVABLE_INCLUDE(0) rec[-1]"
"""A flip that no kept shot has."""

NEVER_KEPT = "X_ERROR(1) 0\nX_ERROR(0.1) 1\nM 0 1\nDETECTOR rec[-2]\nOBSERVABLE_INCLUDE(0) rec[-1]"


def cultivation(p: float = 1e-3) -> snc.Circuit:
    return snc.Circuit(cultivation_circuit(distance=5, p=p))


def fair_observables(count: int) -> snc.Circuit:
    """So many observables that are fair coins."""
    qubits = " ".join(map(str, range(count)))
    observables = (f"OBSERVABLE_INCLUDE({k}) rec[-{k + 1}]" for k in range(count))
    return snc.Circuit("\n".join([f"H {qubits}", f"M {qubits}", *observables]))


def rotated_by_coins(count: int) -> snc.Circuit:
    """So many coins, each of which matters to all fault sets."""
    lines = ["RX 100"]
    for _ in range(count):
        lines += ["RX 0", "M 0", "CZ[C_R_Z(theta=0.1*pi)] rec[-1] 100", "X_ERROR(0.01) 100"]
    lines += ["MX 100", "DETECTOR rec[-1]", "RX 1", "Z_ERROR(0.1) 1", "MX 1", "OBSERVABLE_INCLUDE(0) rec[-1]"]
    return snc.Circuit("\n".join(lines))


def rate(circuit: snc.Circuit | str, **arguments: Any) -> Any:
    return snc.Circuit(str(circuit)).logical_error_rate(postselection_mask="all", **arguments)


def probabilities(of: Literal["others", "mixed"]) -> Any:
    """Outcome probabilities of faults of another circuit, or of a set beside a fault."""
    circuit = snc.Circuit(FLIP)
    [fault] = (circuit if of == "mixed" else snc.Circuit("Z_ERROR(0.1) 0\nM 0")).faults()
    faults: Any = [[fault], fault] if of == "mixed" else [fault]
    return circuit.outcome_probabilities(faults, postselection_mask="all")


TOO_LARGE: list[tuple[Callable[[], Any], str]] = [
    (lambda: rate_of_anything(cultivation(), None), r"sample_counts.* kept ones were wrong: about [1-9]0+"),
    (
        lambda: snc.logical_error_rates([cultivation(1.9e-2), cultivation(2e-2)], postselection_mask="all"),
        r"noise events.* In a short run of .* none was kept\. .* ask for weaker noise",
    ),
    (lambda: rate(cultivation(), seed=1, max_bytes=20_000), "Raise max_bytes, or count errors instead"),
    (lambda: rate_of_anything(fair_observables(21)), r"2\^21.*2\^20"),
    (lambda: rate(rotated_by_coins(22), max_seconds=5), r"2\^22 tosses of fair coins .* 2\^20"),
    (lambda: rate(rotated_by_coins(70), max_seconds=5), r"2\^70 tosses of fair coins .* 2\^20"),
    (
        lambda: rate(rotated_by_coins(14), max_seconds=0.001),
        r"about 16384 tosses of coins .* for max_seconds=0\.001: more time may do",
    ),
]

WRONG: list[tuple[Callable[[], Any], str]] = [
    (lambda: rate(FLIP, threads=0), "threads"),
    (lambda: rate(FLIP, relative_error=0.0), "relative_error"),
    (lambda: rate(FLIP, seed=-1), "seed"),
    (lambda: rate(FLIP, max_seconds=0), "max_seconds"),
    (lambda: rate(NEVER_KEPT), "No shot is ever kept"),
    (lambda: snc.Circuit(NEVER_KEPT).malignant_sets(postselection_mask="all"), "No shot is ever kept"),
    (lambda: snc.Circuit(NEVER_KEPT).fault_distance(postselection_mask="all"), "No shot is ever kept"),
    (lambda: rate(SEEN).error_budget("tick"), "No malignant set"),
    (lambda: pickle.loads(pickle.dumps(rate(SEEN))).error_budget("tick"), "pickled"),
    (lambda: rate(FLIP).error_budget("gate"), "'instruction', 'place', 'qubit', 'tick' or 'noise'"),
    (lambda: probabilities("others"), "The circuit has no fault"),
    (lambda: probabilities("mixed"), "not a mixture"),
]


@pytest.mark.parametrize(("ask", "message"), TOO_LARGE, ids=[message[:20] for _, message in TOO_LARGE])
def test_questions_beyond_a_limit(ask: Callable[[], Any], message: str) -> None:
    with pytest.raises(snc.ResourceLimitError, match=message):
        ask()


@pytest.mark.parametrize(("ask", "message"), WRONG, ids=[message[:20] for _, message in WRONG])
def test_questions_without_an_answer(ask: Callable[[], Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        ask()
