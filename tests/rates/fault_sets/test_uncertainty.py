"""The printed uncertainty of a rate is the one that holds, and decides when a search stops."""

import dataclasses

import pytest

import stim_nonclifford as snc
from stim_nonclifford.generators.cultivation import cultivation_circuit
from stim_nonclifford.rates.estimation.interval import is_narrow, rate_text
from stim_nonclifford.rates.estimation.limits import Settings
from stim_nonclifford.rates.results import LogicalErrorRate

from ...support.rates.fault_set_cases import estimate as search


def estimate(
    rate: float, error: float, interval: tuple[float, float], asked: float = 0.01
) -> LogicalErrorRate:
    """An estimate with half of the shots kept."""
    circuit = snc.Circuit("X_ERROR(0.1) 0\nM 0\nOBSERVABLE_INCLUDE(0) rec[-1]")
    found = circuit.logical_error_rate()
    return dataclasses.replace(
        found,
        kept=0.5,
        logical_error_rate=rate,
        kept_and_wrong=rate / 2,
        standard_error=error,
        interval=interval,
        asked_relative_error=asked,
    )


@pytest.mark.parametrize(
    ("error", "interval", "text", "relative"),
    [
        (1e-9, (0.98e-7, 1.03e-7), "1e-07 ± 1e-09", 0.01),
        (1e-9, (0.98e-7, 1.031e-7), "1e-07 (95% interval: 9.8e-08 to 1.031e-07)", 0.31 / 30),
        (1e-9, (0.96e-7, 1.02e-7), "1e-07 (95% interval: 9.6e-08 to 1.02e-07)", 0.04 / 3),
        (9.2e-10, (0.98e-7, 2.7e-5), "1e-07 (95% interval: 9.8e-08 to 2.7e-05)", 269 / 3),
        (0.0, (1e-7, 1e-7), "1e-07 (exact)", 0.0),
        (0.0, (1e-7, 1.00001e-7), "1e-07 (95% interval: 1e-07 to 1.00001e-07)", 1e-5 / 3),
    ],
)
def test_what_is_printed(error: float, interval: tuple[float, float], text: str, relative: float) -> None:
    """± only where the interval reaches at most three standard errors on either side."""
    found = estimate(1e-7, error, interval)
    assert rate_text(1e-7, error, interval) == text
    assert text in str(found).splitlines()[0]
    assert text in found._repr_html_()
    assert found.relative_error == pytest.approx(relative, abs=1e-9)
    assert is_narrow(1e-7, error, interval) == ("±" in text or "exact" in text)


@pytest.mark.parametrize(("reach", "is_said"), [(0.029, False), (0.031, True), (90.0, True)])
def test_an_error_that_was_not_reached_is_said(reach: float, is_said: bool) -> None:
    found = estimate(1e-7, 1e-12, (1e-7, 1e-7 * (1 + reach)))
    assert (found.relative_error > 0.01) == is_said
    assert ("not 0.01 as asked for" in str(found)) == is_said
    assert (f"counts: about {1e4 / found.kept_and_wrong:.1g} shots" in str(found)) == is_said
    assert ("not 0.01 as asked for" in found._repr_html_()) == is_said


def test_nothing_found() -> None:
    found = estimate(0.0, 0.0, (0.0, 3e-12))
    assert found.relative_error == float("inf")
    assert "at most 3e-12 (95% interval), as no malignant set was found" in str(found)
    assert "not 0.01" not in str(found)


@pytest.mark.parametrize(("distance", "p"), [(3, 1e-4), (3, 2e-3), (3, 5e-3)])
def test_cultivation(distance: int, p: float) -> None:
    """Seed 1. What is printed holds: at small p the interval is far wider than the standard error."""
    circuit = snc.Circuit(cultivation_circuit(distance, p=p))
    found = circuit.logical_error_rate(postselection_mask="all", seed=1, threads=2)
    low, high = found.interval
    reach = max(high - found.logical_error_rate, found.logical_error_rate - low)
    assert ("±" in str(found).splitlines()[0]) == (reach <= 3 * found.standard_error)
    assert found.relative_error <= 0.01
    assert f"{low:.6g} to {high:.6g}" in str(found)
    budget = found.error_budget("noise")
    assert budget.interval == pytest.approx((low * found.kept, high * found.kept), rel=1e-6)
    assert budget.standard_error == pytest.approx(found.standard_error * found.kept)
    assert str(budget).startswith(
        f"P(kept and wrong) = {rate_text(found.kept_and_wrong, budget.standard_error, budget.interval)};"
    )
    assert budget.largest(1).interval == budget.interval


class LittleWork(Settings):
    """Settings under which hardly more than the first samples is allowed, on any machine."""

    @property
    def first_cost(self) -> float:
        return 0.1

    @property
    def work(self) -> float:
        return 0.2


def test_work_that_does_not_suffice() -> None:
    """Seed 1. The search ends at its limits, with a relative error that is larger than asked for, and says so."""
    found = search(snc.Circuit(cultivation_circuit(3, p=2e-3)), LittleWork(1e-4), 1)
    assert 1e-4 < found.relative_error < 0.1
    assert f"relative error {found.relative_error:.2g}, not 0.0001 as asked for" in str(found)
