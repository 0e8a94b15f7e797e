"""A second opinion: the shared reference circuits, sampled by clifft and tsim too.

Both are independent simulators with other methods (``pip install clifft bloqade-tsim``; clifft needs Python
3.12). Their detectors and observables are raw parities of records, so ours skip the reference sample.

Compared are the rates of every detector and observable (or record), of every pair of them together, of no
detector firing at all, alone and together with each observable, and, where there are at most 25 detectors and
observables, of every common combination of all of them. Given how often something happened in both
samples together, its number in one of them is hypergeometric, without approximation. Seeds are fixed where the
samplers take them; with other seeds all tests together would fail for right samplers with probability below
1e-6: each of them gets an equal part, divided by its number of comparisons.
"""

import importlib
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from scipy.stats import hypergeom

import stim_nonclifford as snc

from ....support.published_circuits import FOLDER, needs_published

Bits = npt.NDArray[np.bool_]

CLIFFT_SHOTS = {
    "msc_d3_inject_cultivate_p1e-3": 1_000_000, "msc_d5_inject_cultivate_p1e-3": 200_000,
    "distillation": 1_000_000, "coherent_d3_r1": 1_000_000, "coherent_d3_r3": 1_000_000,
    "pure_surface_d7_r7_p1e-3": 200_000, "quantum_volume_q10_seed42": 100_000,
}  # fmt: skip
# Of the others, tsim compiles none within minutes.
TSIM_SHOTS = {"distillation": 50_000, "coherent_d3_r1": 500_000, "pure_surface_d7_r7_p1e-3": 100_000}
FALSE_ALARM = 1e-6 / (len(CLIFFT_SHOTS) + len(TSIM_SHOTS))
"""Probability that a right sampler fails one test."""


def peer(name: str) -> Any:
    """A simulator that may not be installed."""
    try:
        return importlib.import_module(name)
    except ImportError:
        return pytest.skip(f"{name} is not installed")


def ours(text: str, shots: int) -> Bits:
    """Detectors and observables, or records where there are no detectors: shape (shots, outputs)."""
    circuit = snc.Circuit(text)
    if not circuit.num_detectors:
        return circuit.compile_sampler(seed=1).sample(shots)
    sampler = circuit.compile_detector_sampler(seed=1, skip_reference_sample=True)
    return sampler.sample(shots, append_observables=True)  # type: ignore[return-value]


def cliffts(text: str, shots: int) -> Bits:
    """The same by clifft."""
    clifft = peer("clifft")
    result = clifft.sample(clifft.compile(text), shots, seed=2)
    if not result.detectors.shape[1]:
        return result.measurements.astype(np.bool_)
    return np.concatenate([result.detectors, result.observables], axis=1).astype(np.bool_)


def tsims(text: str, shots: int) -> Bits:
    """The same by tsim."""
    tsim = peer("tsim")
    sampler = tsim.Circuit(text).compile_detector_sampler(seed=2)
    return np.asarray(sampler.sample(shots, append_observables=True, batch_size=10_000), dtype=np.bool_)


def smallest_p_value(a: Bits, b: Bits, num_detectors: int) -> float:
    """The smallest p-value of all comparisons of two samples, times their number."""
    counts = np.stack([counts_of(sample, num_detectors) for sample in (a, b)])
    if a.shape[1] <= 25:
        counts = np.concatenate([counts, combination_counts(a, b)], axis=1)
    together = counts.sum(axis=0)
    shots = len(a) + len(b)
    low = hypergeom.cdf(counts[0], shots, together, len(a))
    high = hypergeom.sf(counts[0] - 1, shots, together, len(a))
    return float(min(1.0, 2 * np.minimum(low, high).min() * counts.shape[1]))


def counts_of(sample: Bits, num_detectors: int) -> npt.NDArray[np.int64]:
    """How often each pair of outputs is 1 together, each output alone, and so on with quiet detectors."""
    quiet = ~sample[:, :num_detectors].any(axis=1, keepdims=True)
    columns = np.concatenate([sample, quiet], axis=1)
    counts = np.zeros((columns.shape[1],) * 2, dtype=np.int64)
    for start in range(0, len(columns), 1 << 16):
        part = columns[start : start + (1 << 16)].astype(np.float32)  # exact: sums stay below 2^24
        counts += (part.T @ part).astype(np.int64)
    return counts[np.triu_indices(len(counts))]


def combination_counts(a: Bits, b: Bits) -> npt.NDArray[np.int64]:
    """How often each combination of outputs occurs in each sample, if at least 30 times in both together."""
    weights = 1 << np.arange(a.shape[1])
    combinations, place = np.unique(np.concatenate([a, b]) @ weights, return_inverse=True)
    counts = np.stack([np.bincount(part, minlength=len(combinations)) for part in np.split(place, [len(a)])])
    return counts[:, counts.sum(axis=0) >= 30]


def assert_agreement(name: str, shots: int, theirs: Callable[[str, int], Bits]) -> None:
    text = (FOLDER / f"{name}.stim").read_text(encoding="utf-8")
    other = theirs(text, shots)
    own = ours(text, shots)
    assert own.shape == other.shape
    assert smallest_p_value(own, other, snc.Circuit(text).num_detectors) > FALSE_ALARM


@needs_published
@pytest.mark.parametrize("name", CLIFFT_SHOTS)
def test_clifft(name: str) -> None:
    assert_agreement(name, CLIFFT_SHOTS[name], cliffts)


@needs_published
@pytest.mark.parametrize("name", TSIM_SHOTS)
def test_tsim(name: str) -> None:
    assert_agreement(name, TSIM_SHOTS[name], tsims)


@needs_published
@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("msc_d3_inject_cultivate_p1e-3", "(0.001)", "(0.00105)"),
        ("msc_d3_inject_cultivate_p1e-3", "T_DAG 3", "S_DAG 3"),
        ("distillation", "T_DAG", "T"),
        ("coherent_d3_r3", "R_Z(0.02)", "R_Z(0.0205)"),
        ("quantum_volume_q10_seed42", "U3(0.58203", "U3(0.88203"),
    ],
)
def test_small_changes_are_seen(name: str, old: str, new: str) -> None:
    """The comparison fails if noise is 5% stronger, a T is an S, or an angle is a little different."""
    text = (FOLDER / f"{name}.stim").read_text(encoding="utf-8")
    changed = text.replace(old, new)
    assert changed != text
    shots = CLIFFT_SHOTS[name]
    num_detectors = snc.Circuit(text).num_detectors
    assert smallest_p_value(ours(text, shots), ours(changed, shots)[::-1], num_detectors) < FALSE_ALARM
