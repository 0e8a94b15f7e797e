"""Threads of Python that share a sampler or an engine: their calls follow one another."""

import sys
import threading
import time
import warnings
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

from stim_nonclifford import Circuit, RandomObservableWarning
from stim_nonclifford.simulation.engines.turns import Turns

from ...support.engines.engine_cases import LAYERS
from ...support.processes.programs import finished_program
from ...support.seeds import slow

# Shots differ in 64 fair bits (two of 10^4 agree with probability 3e-12), and come from laws with many branches.
FAIR_BITS = " ".join(str(k) for k in range(10, 74))
CIRCUIT = f"""
    {LAYERS}
    X_ERROR(0.5) {FAIR_BITS}
    M {FAIR_BITS}
    OBSERVABLE_INCLUDE(2) rec[-1]
""" + "\n".join(f"DETECTOR rec[-{k + 1}]" for k in range(64))

THREADS = 4
CALLS = 12


def in_threads(work: Callable[[int], Any]) -> list[Any]:
    """What a function returns in several threads that run at the same time."""
    with ThreadPoolExecutor(THREADS) as pool:
        together = threading.Barrier(THREADS)

        def run(number: int) -> Any:
            together.wait()
            return work(number)

        return list(pool.map(run, range(THREADS)))


def assert_numbered(parts: list[np.ndarray], whole: np.ndarray) -> None:
    """Each part is a run of the whole, and together they are all of it, each shot once."""
    place = {row.tobytes(): k for k, row in enumerate(whole)}
    assert len(place) == len(whole)
    starts = {}
    for part in parts:
        start = place[part[0].tobytes()]
        np.testing.assert_array_equal(part, whole[start : start + len(part)])
        starts[start] = len(part)
    end = 0
    for start in sorted(starts):
        assert start == end
        end += starts[start]
    assert end == len(whole)


def check_sampler(options: dict[str, Any]) -> None:
    """Seed 11. Calls of several methods, in threads and one after the other, give the same shots."""
    circuit = Circuit(CIRCUIT)

    def sampled(sampler: Any, number: int) -> list[np.ndarray]:
        parts = []
        for call in range(CALLS):
            shots = 100 + 7 * number + call
            if call % 3 == 2:
                kept = sampler.sample_kept(shots)
                parts.append(np.concatenate([kept.dets, kept.obs], axis=1))
            else:
                bits = sampler.sample(shots, separate_observables=True, bit_packed=True)
                parts.append(np.concatenate(bits, axis=1))
            assert sampler.statistics() is not None
        return parts

    sampler = circuit.compile_detector_sampler(seed=11, **options)
    parts = [part for of_thread in in_threads(lambda k: sampled(sampler, k)) for part in of_thread]
    alone = circuit.compile_detector_sampler(seed=11, engine="cpu")
    whole = np.concatenate(
        alone.sample(sum(map(len, parts)), separate_observables=True, bit_packed=True), axis=1
    )
    assert_numbered(parts, whole)

    records = circuit.compile_sampler(seed=12, **options)
    parts = in_threads(lambda k: records.sample(300 + k, bit_packed=True))
    whole = circuit.compile_sampler(seed=12, engine="cpu").sample(sum(map(len, parts)), bit_packed=True)
    assert_numbered(parts, whole)

    mask = np.arange(circuit.num_detectors) < 3
    counting = circuit.compile_detector_sampler(seed=13, postselection_mask=mask, **options)
    counts = in_threads(lambda k: [counting.sample_counts(200 + k, max_errors=20) for _ in range(CALLS)])
    total = sum((part for of_thread in counts for part in of_thread[1:]), start=counts[0][0])
    for of_thread in counts[1:]:
        total += of_thread[0]
    alone = circuit.compile_detector_sampler(seed=13, postselection_mask=mask, engine="cpu")
    assert alone.sample_counts(total.shots) == total


SAMPLERS = {
    "cpu": {"engine": "cpu"},
    "two threads, small cache": {"engine": "cpu", "threads": 2, "cache_bytes": 1 << 16},
    "no cache": {"engine": "cpu", "cache_bytes": 0},
    "gpu": {"engine": "gpu"},
    "auto": {"engine": "auto"},
}


def prepare(engine: str) -> None:
    """Switches between threads often, and lets the host's kernels stand in for a GPU."""
    sys.setswitchinterval(1e-5)
    warnings.simplefilter("ignore", RandomObservableWarning)
    if engine in ("gpu", "auto"):
        from ...support.engines.fake_cupy import make_cupy

        sys.modules["cupy"] = make_cupy()


@pytest.mark.parametrize("name", ["cpu", "two threads, small cache", slow("no cache"), "gpu", slow("auto")])
def test_samplers(name: str) -> None:
    finished_program(
        """
        import sys
        from tests.simulation.sampling.test_shared_samplers import SAMPLERS, check_sampler, prepare

        options = SAMPLERS[sys.argv[1]]
        prepare(options["engine"])
        check_sampler(options)
        """,
        name,
    )


LONG_CALL = """
import os, signal, sys, threading, time, warnings
import stim_nonclifford as snc

warnings.simplefilter("ignore", snc.RandomObservableWarning)
from tests.support.engines.engine_cases import DEEP

SHOTS = 1 << 40
circuit = snc.Circuit(DEEP + "OBSERVABLE_INCLUDE(0) rec[-1]")
sampler = circuit.compile_detector_sampler(seed=1, engine="cpu", cache_bytes=0)

def start(call):
    # In another thread, which is deep in the engine when this returns, however busy the machine is.
    thread = threading.Thread(target=call, daemon=True)
    thread.start()
    while True:
        frame = sys._current_frames().get(thread.ident)
        if frame is not None and frame.f_code.co_name == "count":
            break
        time.sleep(0.01)
    time.sleep(0.3)

def count():
    sampler.sample_counts(SHOTS)
"""


@pytest.mark.parametrize("call", ["sampler.sample_counts(SHOTS)", slow("sampler.statistics()")])
def test_waiting_can_be_interrupted(call: str) -> None:
    """The main thread waits for a call of another one that takes years."""
    print_seconds = f"""{LONG_CALL}
start(count)
def interrupt(number, frame):
    raise TimeoutError("now")
signal.signal(signal.SIGALRM, interrupt)
try:
    signal.setitimer(signal.ITIMER_REAL, 0.3)
    {call}
except TimeoutError as error:
    print(error)
"""
    assert finished_program(print_seconds) == "now\n"


def test_signal_handlers_that_call_the_sampler() -> None:
    """They run in the middle of a call of the same thread, which waits for them."""
    output = finished_program(
        f"""{LONG_CALL}
def interrupt(number, frame):
    sampler.statistics()
    signal.setitimer(signal.ITIMER_REAL, 0.3)  # it came before the call
signal.signal(signal.SIGALRM, interrupt)
signal.setitimer(signal.ITIMER_REAL, 0.3)
try:
    count()
except RuntimeError as error:
    print(error)
assert sampler.statistics()["lookups"] > 0
"""
    )
    assert output.startswith("This thread is inside another call of this sampler")


@pytest.mark.skipif(not hasattr(__import__("os"), "fork"), reason="there is no fork here")
def test_forks_while_another_thread_samples() -> None:
    """The child has the sampler as it was in the middle of a call, and no thread that would end it."""
    output = finished_program(
        f"""{LONG_CALL}
import warnings
warnings.simplefilter("ignore", DeprecationWarning)
start(count)
child = os.fork()
if child == 0:
    try:
        sampler.sample(1)
    except RuntimeError as error:
        print(error, flush=True)
    print(circuit.compile_sampler(seed=1, engine="cpu").sample(5).shape[0], flush=True)
    os._exit(0)
assert os.waitpid(child, 0)[1] == 0
"""
    )
    first, second = output.splitlines()
    assert first.startswith("The process was forked while another thread was inside a call of this sampler.")
    assert second == "5"


@pytest.mark.skipif(not hasattr(__import__("os"), "fork"), reason="there is no fork here")
def test_forks_at_the_start_of_a_call() -> None:
    """The other thread has the lock, and has not noted yet that it has the turn."""
    finished_program(
        """
        import os
        from stim_nonclifford.simulation.engines.turns import Turns

        turns, other = Turns("thing"), Turns("thing")
        turns._lock.acquire()
        child = os.fork()
        if child == 0:
            with other.turn():
                pass
            try:
                turns.turn().__enter__()
            except RuntimeError as error:
                os._exit(not str(error).startswith("The process was forked"))
            os._exit(2)
        assert os.waitpid(child, 0)[1] == 0
        """,
        timeout=60,
    )


def test_turns_pass_exceptions_on() -> None:
    turns = Turns("thing")

    def fail() -> None:
        with turns.turn():
            raise OSError("No space")

    for _ in range(2):
        with pytest.raises(OSError, match="No space"):
            fail()
    with turns.turn(), pytest.raises(RuntimeError, match="inside another call of this thing"), turns.turn():
        pass
    with turns.turn():
        waiting = threading.Thread(target=lambda: turns.turn().__enter__(), daemon=True)
        waiting.start()
        time.sleep(0.05)
        assert waiting.is_alive()
    waiting.join(60)
    assert not waiting.is_alive()
