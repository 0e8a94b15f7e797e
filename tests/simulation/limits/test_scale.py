"""Long runs: bounded memory, Ctrl-C, and other threads of Python."""

import math
import resource

import numpy as np
import pytest

from stim_nonclifford import Circuit, ResourceLimitError
from stim_nonclifford.simulation.compiler.sweeps import backward_sweep

from ...support.processes.stopped_calls import needs_timer, stopped_from_a_thread

pytestmark = pytest.mark.filterwarnings("ignore::stim_nonclifford.RandomObservableWarning")
"""Bits are compared here, whatever they mean: some observables are random without noise."""

# A T gate on every shot, an outcome law for many signatures.
CIRCUIT = """
    RX 0 1 2
    DEPOLARIZE1(0.01) 0 1 2
    T 0 1 2
    DEPOLARIZE2(0.01) 0 1
    CX 0 1 1 2
    SQRT_X 0 1 2
    T 0 1 2
    X_ERROR(0.01) 0 1 2
    MX 0 1
    DETECTOR rec[-1] rec[-2]
    M(0.01) 2
    DETECTOR rec[-1]
    OBSERVABLE_INCLUDE(0) rec[-2]
"""


# Twenty coordinates in rotations that do not repeat: a single shot takes long.
def peak_memory() -> int:
    """In KiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


@pytest.mark.parametrize("threads", [1, 2])
def test_memory_does_not_grow_with_shots(threads: int) -> None:
    """10^7 shots of detectors would take 10 MB even if they were packed."""
    mask = np.array([True, False])
    sampler = Circuit(CIRCUIT).compile_detector_sampler(seed=1, postselection_mask=mask, threads=threads)
    sampler.sample_counts(2_000_000)
    before = peak_memory()
    counts = sampler.sample_counts(10**7)
    assert counts.shots == 10**7
    assert peak_memory() - before < 4_000


def test_memory_of_kept_samples() -> None:
    """Seed 2. Few of the 1.8 * 10^7 shots are kept; the others take no memory."""
    qubits = " ".join(map(str, range(10)))
    detectors = "\n".join(f"DETECTOR rec[-{k}]" for k in range(1, 11))
    circuit = Circuit(f"X_ERROR(0.4) {qubits}\nM {qubits}\n{detectors}")
    sampler = circuit.compile_detector_sampler(seed=2, postselection_mask=np.ones(10, dtype=np.bool_))
    sampler.sample_kept(1_000_000)
    before = peak_memory()
    kept = sampler.sample_kept(18_000_000)
    assert kept.shots == 18_000_000
    expected = 18_000_000 * 0.6**10
    assert abs(len(kept.dets) - expected) < 10 * expected**0.5  # ten standard deviations
    assert peak_memory() - before < 10_000


@needs_timer
@pytest.mark.parametrize("threads", [1, 2])
def test_other_threads_run_meanwhile(threads: int) -> None:
    """The lock of the interpreter is free while the engine works."""
    sampler = Circuit(CIRCUIT).compile_detector_sampler(seed=4, threads=threads)
    with stopped_from_a_thread():
        sampler.sample_counts(10**15)


def test_a_million_iterations() -> None:
    """Noise of a million rounds on one qubit, exactly."""
    circuit = Circuit("R 0\nREPEAT 1000 {\n    REPEAT 1000 {\n        X_ERROR(1e-7) 0\n    }\n}\nT 0\nM 0")
    (rate,) = circuit.compile().record_plan().rates
    assert rate == pytest.approx(-0.5e6 * math.log1p(-2e-7), rel=1e-9)


@pytest.mark.parametrize("outputs", ["detectors", "records"])
def test_memory_of_effects_is_limited(outputs: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(backward_sweep, "MAX_EFFECT_BYTES", 20_000)
    text = "REPEAT 1500 {{\n    X_ERROR(0.1) 0\n    MR 0\n    {}\n}}\nRX 1\nT 1\nMX 1\nOBSERVABLE_INCLUDE(0) rec[-1]"
    circuit = Circuit(text.format("DETECTOR rec[-1]" if outputs == "detectors" else ""))
    what = "detectors and observables" if outputs == "detectors" else "measurement records"
    compiled = circuit.compile_detector_sampler if outputs == "detectors" else circuit.compile_sampler
    with pytest.raises(ResourceLimitError, match=f"1,501 {what} need more than 20,000 bytes"):
        compiled().sample(1)
