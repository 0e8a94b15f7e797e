"""What a process can run out of - threads, memory - and how it ends while threads sample."""

import sys
from typing import Any

import numpy as np
import pytest

from stim_nonclifford import Circuit, ResourceLimitError, _native
from stim_nonclifford.simulation.engines import CpuEngine
from stim_nonclifford.simulation.plan import plain_attributes

from ...support.processes.programs import finished_program
from ...support.seeds import slow

linux = pytest.mark.skipif(sys.platform != "linux", reason="limits the process's memory as Linux does")

LIMITED = """
import re, resource, sys, time
import numpy as np
import stim_nonclifford as snc
from stim_nonclifford.generators.cultivation import cultivation_circuit
from stim_nonclifford.simulation.engines import CpuEngine
from tests.support.engines.engine_cases import DEEP

MIB = 1 << 20

def limit_memory(more):
    # To so many bytes more than there are in use; None: no limit.
    hard = resource.getrlimit(resource.RLIMIT_AS)[1]
    limit = hard
    if more is not None:
        with open("/proc/self/statm") as sizes:
            limit = int(sizes.read().split()[0]) * resource.getpagesize() + more
    resource.setrlimit(resource.RLIMIT_AS, (limit, hard))
"""


@linux
def test_threads_that_cannot_be_started() -> None:
    """Each thread has a stack of some MiB; without the limit, the call would take hours, or years."""
    output = finished_program(
        f"""{LIMITED}
circuit = snc.Circuit(cultivation_circuit(distance=5, p=0.01))
mask = np.ones(circuit.num_detectors, dtype=np.bool_)
keywords = dict(seed=1, engine="cpu", postselection_mask=mask)
sampler = circuit.compile_detector_sampler(threads=64, **keywords)
alone = circuit.compile_detector_sampler(**keywords)
for method, shots, room in (("sample_counts", 1 << 50, 20), ("sample_kept", 1 << 50, 100), ("sample", 1 << 20, 20)):
    take = getattr(sampler, method)
    sampler.seek(0)
    alone.seek(0)
    take(0)
    limit_memory(room * MIB)
    for _ in range(3):
        try:
            take(shots)
        except RuntimeError as error:
            print(error)
    limit_memory(None)
    assert sampler.sample_counts(10**4) == alone.sample_counts(10**4)
"""
    )
    # 2^20 shots are 16 blocks, which more threads cannot share.
    for line, threads in zip(output.splitlines(), [64] * 6 + [16] * 3, strict=True):
        words = line.split()
        assert line.startswith(f"Of {threads} threads, only "), line
        assert 1 <= int(words[4]) < threads
        assert "could be started, including the calling thread" in line
        assert "Choose fewer threads" in line


@linux
def test_results_that_no_memory_could_hold() -> None:
    """Sizes that do not fit into 64 bits, or into the memory: refused at once, with the number of bytes."""
    output = finished_program(
        f"""{LIMITED}
plan = snc.Circuit("M " + " ".join(map(str, range(60)))).compile().record_plan()
engine = CpuEngine(plan)
limit_memory(1024 * MIB)
for shots in (1 << 61, (1 << 62) - 1, 10**11, 1 << 28):
    for method in (engine.sample, engine.sample_kept):
        start = time.monotonic()
        try:
            method(1, 0, shots)
        except MemoryError as error:
            print(shots * 8, error)
        assert time.monotonic() - start < 100
assert len(engine.sample(1, 0, 5)) == 5
"""
    )
    lines = output.splitlines()
    assert len(lines) == 8
    for line in lines:
        size, message = line.split(" ", 1)
        assert f"need {size} bytes (" in message
        assert "sample_counts" in message
        assert "std::" not in message
        assert "vector" not in message


@linux
def test_too_little_memory_for_vectors() -> None:
    output = finished_program(
        f"""{LIMITED}
qubits = " ".join(map(str, range(21)))
plan = snc.Circuit(f"RX {{qubits}}\\nT {{qubits}}\\nMPP " + "*".join(f"X{{k}}" for k in range(21))).compile().record_plan()
limit_memory(200 * MIB)
try:
    CpuEngine(plan, threads=64)
except MemoryError as error:
    print(plan.peak_width, error)
"""
    )
    width, message = output.split(" ", 1)
    assert (
        f"Its 64 threads need {16 << int(width)} bytes each for a vector of 2^{width} coefficients" in message
    )
    assert "Choose fewer threads" in message


def test_vectors_that_no_machine_can_hold() -> None:
    """Fewer threads would not help: the messages say what makes a circuit narrower."""
    qubits = range(49)
    text = "RX {0}\nT {0}\nMPP ".format(" ".join(map(str, qubits))) + "*".join(f"X{k}" for k in qubits)
    expected = r"2\^48 coefficients.*print\(circuit\.plan\(\)\) names"
    with pytest.raises(ResourceLimitError, match=expected) as limit:
        Circuit(text).compile_sampler(max_active_coordinates=48, cache_bytes=0)
    with pytest.raises(MemoryError, match=expected) as error:
        CpuEngine(Circuit(text).compile().record_plan(max_active_coordinates=48), cache_bytes=0)
    for message in (str(limit.value), str(error.value)):
        assert "threads" not in message.split("coefficients", 1)[1]


@linux
@pytest.mark.parametrize("threads", [slow(1), 2])
def test_outcome_laws_for_which_there_is_no_memory(threads: int) -> None:
    """The limit of the process is below ``cache_bytes``: what cannot be stored is simulated, as past cache_bytes."""
    output = finished_program(
        f"""{LIMITED}
plan = snc.Circuit(DEEP).compile().record_plan()
engine = CpuEngine(plan, threads={threads})
engine.sample(1, 0, 100)
limit_memory(2 * MIB + {threads - 1} * 10 * MIB)
found = engine.sample(1, 0, 60_000)
stored = engine.statistics()["bytes"]
limit_memory(None)
unlimited = CpuEngine(plan)
unlimited.sample(1, 0, 100)
np.testing.assert_array_equal(found, unlimited.sample(1, 0, 60_000))
print(stored, unlimited.statistics()["bytes"])
"""
    )
    limited, unlimited = map(int, output.split())
    assert threads > 1 or limited < unlimited


def test_rows_without_bits() -> None:
    """As Stim's, they need no memory, however many there are."""
    engine = CpuEngine(Circuit("H 0").compile().record_plan())
    assert engine.sample(1, 0, 1 << 61).shape == (1 << 61, 0)


END = """
import sys, threading, time
import numpy as np
import stim_nonclifford as snc
from stim_nonclifford.generators.cultivation import cultivation_circuit
from stim_nonclifford.simulation.engines import CpuEngine
from tests.support.engines.engine_cases import DEEP, LAYERS

sys.setswitchinterval(1e-5)
circuit = snc.Circuit(cultivation_circuit(distance=3, p=1e-3))
deep = snc.Circuit(DEEP)
sampler = circuit.compile_detector_sampler(engine="cpu", threads=2)
engine = CpuEngine(deep.compile().record_plan(), cache_bytes=0)
calls = {
    "short": lambda: sampler.sample_counts(100),
    "arrays": lambda: sampler.sample(10_000),
    "long": lambda: sampler.sample_counts(1 << 50),
    "slow": lambda: engine.count(1, 0, 1 << 50),
    "statistics": lambda: engine.statistics(),
    "laws": lambda: CpuEngine(snc.Circuit(LAYERS).compile().record_plan()).likely_outputs(),
    "kept": lambda: sampler.sample_kept(1 << 28),
    "compiling": lambda: snc.Circuit(LAYERS * 3).compile().record_plan(),
}
"""


@pytest.mark.parametrize(
    "names", ["laws", "kept", slow("compiling"), slow("slow statistics"), "short arrays long"]
)
def test_daemon_threads_that_sample_at_the_end(names: str) -> None:
    """The program ends while threads are in a call, or wait for one: quietly, and with exit status 0."""
    finished_program(
        f"""{END}
def work(call):
    while True:
        call()

for name in {names!r}.split():
    for _ in range(3):
        threading.Thread(target=work, args=[calls[name]], daemon=True).start()
time.sleep(0.3)
"""
    )


def test_native_code_runs_no_python_while_it_reads_a_plan() -> None:
    """Python could end a daemon thread there, with C++ functions on the stack."""
    plan = Circuit("X_ERROR(0.1) 0 1\nH 0\nT 0\nH 0\nM 0 1").compile().record_plan()
    attributes = plain_attributes(plan)
    called: list[str] = []

    def note(frame: Any, event: str, argument: object) -> None:
        if event == "call":
            called.append(frame.f_code.co_name)

    signatures = np.zeros(-(-plan.num_signature_bits // 64), dtype=np.uint64)
    sys.setprofile(note)
    try:
        _native.Engine(attributes, 1, 1 << 20, "").count(1, 0, 10, 0, False)
        _native.plan_image(attributes)
        _native.kept_branches(attributes, signatures, 1)
    finally:
        sys.setprofile(None)
    assert called == []
