"""What a shot costs is said before it is paid: as an error if the memory is too small, else as a warning."""

import re
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import stim_nonclifford as snc
from stim_nonclifford.simulation.compiler.plans import width_limit
from stim_nonclifford.simulation.engines import cost

from ...support.engines.engine_cases import DEEP, FIXED


def brickwork(width: int, layers: int) -> snc.Circuit:
    """All qubits decide about the outcome of the first one."""
    lines = []
    for layer in range(layers):
        for q in range(width):
            lines.append(f"R_X({0.1 + 0.01 * q}) {q}\nR_ZZ(0.07) {q} {(q + 1 + layer % (width - 1)) % width}")
    return snc.Circuit("\n".join([*lines, "EXP_VAL Z0", "M 0", "DETECTOR rec[-1]"]))


COMPILED: dict[str, Callable[[snc.Circuit], Any]] = {
    "records": lambda circuit: circuit.compile_sampler(max_active_coordinates=64),
    "detectors": lambda circuit: circuit.compile_detector_sampler(max_active_coordinates=64),
    # Their reference sample needs no vector, and not counting them either.
    "raw detectors": lambda circuit: circuit.compile_detector_sampler(
        max_active_coordinates=64, skip_reference_sample=True
    ).sample(1),
    "reference engine": lambda circuit: circuit.compile_sampler(
        max_active_coordinates=64, engine="reference"
    ),
}


@pytest.mark.parametrize("name", COMPILED)
def test_more_memory_than_any_machine_has(name: str) -> None:
    """No limit of the user's lets a vector pass that does not fit."""
    with pytest.raises(
        snc.ResourceLimitError, match=r"that is 2\^40 coefficients \(17,592,186,044,416 bytes\)"
    ):
        COMPILED[name](brickwork(40, 22))


def test_more_memory_than_this_machine_has(monkeypatch: pytest.MonkeyPatch) -> None:
    """With a machine of 1 MiB: 2^16 coefficients of 16 bytes fit, and once."""
    for module in (width_limit, cost):
        monkeypatch.setattr(module, "machine_bytes", lambda: 1 << 20)
    fitting, wide = brickwork(16, 10), brickwork(17, 10)
    for compiled in COMPILED.values():
        compiled(fitting)
        with pytest.raises(
            snc.ResourceLimitError, match=r"the limit is 2\^16.*has 1,048,576 bytes of memory"
        ):
            compiled(wide)
    sampler = fitting.compile_sampler(seed=1)
    assert sampler.sample(2).shape == (2, 1)
    with pytest.raises(snc.ResourceLimitError, match=r"2,097,152 bytes for 2; .*Choose at most threads=1\."):
        fitting.compile_sampler(threads=2)
    assert wide.plan("sample_measurements").peak_width == 17  # a report costs no vector


@pytest.mark.parametrize("engine", ["auto", "cpu", "reference"])
def test_slow_shots(engine: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """On a machine that does 100 coefficients in a second."""
    circuit = brickwork(6, 4)
    coefficients = circuit.plan("sample_measurements").total_coefficients
    monkeypatch.setattr(cost, "_COEFFICIENTS_PER_SECOND", 100)
    expected = re.escape(
        f"about {coefficients / 100:.2g} s, unless it begins like an earlier one: {coefficients:.2g} coefficient"
        " operations at about 1e+02 a second, on a vector of 2^6 coefficients (1,024 bytes)"
    )
    with pytest.warns(snc.SlowShotsWarning, match=expected):
        circuit.compile_sampler(engine=engine)  # type: ignore[arg-type]
    with pytest.warns(snc.SlowShotsWarning):
        circuit.compile_detector_sampler(engine=engine)  # type: ignore[arg-type]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        raw = circuit.compile_detector_sampler(engine=engine, skip_reference_sample=True)  # type: ignore[arg-type]
    with pytest.warns(snc.SlowShotsWarning):
        raw.sample(1)
    monkeypatch.setattr(cost, "_COEFFICIENTS_PER_SECOND", coefficients / 1.9)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        circuit.compile_sampler(engine=engine)  # type: ignore[arg-type]


@pytest.mark.parametrize("text", [*FIXED.values(), DEEP])
def test_total_coefficients(text: str) -> None:
    """The same number as in the report of the plan."""
    report = snc.Circuit(text).plan("sample_measurements")
    assert report.sampling_plan.total_coefficients == report.total_coefficients
    assert report.total_coefficients == sum(each.coefficients for each in report.operations)


def test_total_coefficients_of_wide_plans() -> None:
    """Beyond 2^64."""
    plan = brickwork(64, 33).plan("sample_measurements").sampling_plan
    assert plan.peak_width == 64
    assert plan.total_coefficients > 2**64
    assert np.log2(float(plan.total_coefficients)) < 80
