"""How speed and memory are measured, and on which machine."""

from __future__ import annotations

import os
import platform
import re
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

Run = Callable[[int], object]
"""A function that runs a given number of shots."""

BYTES_PER_COEFFICIENT = 16
_CACHES = Path("/sys/devices/system/cpu/cpu0/cache")


def rate_of(
    run: Run, seconds: float, *, most: int = 1 << 40, clock: Callable[[], float] = time.perf_counter
) -> float:
    """Shots per second over about the given time, in calls that take up to a fifth of it.

    Args:
        run: The function to measure.
        seconds: How long to measure.
        most: Largest number of shots per call. It limits the memory of calls that return bits.
        clock: ``time.perf_counter``, or ``time.process_time`` for a single thread on a machine where other
            processes compete for the same cores.

    Returns:
        Shots per second.
    """
    shots, done = 1, 0
    start = clock()
    while True:
        before = clock()
        run(shots)
        now = clock()
        done += shots
        if now - start >= seconds:
            return done / (now - start)
        if now - before < seconds / 10:
            shots = min(2 * shots, most)


def peak_bytes() -> int:
    """The largest resident size of this process since its program was loaded, on Linux."""
    [kibibytes] = re.findall(r"VmHWM:\s*(\d+) kB", Path("/proc/self/status").read_text())
    return 1024 * int(kibibytes)


def peaks(width: int) -> tuple[float, float]:
    """What one thread can do: floating-point operations per second, and bytes per second.

    The first is that of a matrix product, whose fused multiply-adds do twice as much as separate
    multiplications and additions. (OPENBLAS_CORETYPE=SKYLAKEX lets it use AVX-512 where OpenBLAS does not by
    itself.) The second is that of copies of an array as large as the vector of this width.
    """
    import numpy as np

    a = np.random.default_rng(0).random((512, 512))
    out = np.empty_like(a)
    clock = time.process_time
    flops = 2 * len(a) ** 3 * rate_of(lambda _: np.matmul(a, a, out=out), 1, most=1, clock=clock)
    array = np.ones(max((BYTES_PER_COEFFICIENT << width) // 16, 64))
    copy = np.empty_like(array)
    return flops, 2 * array.nbytes * rate_of(lambda _: np.copyto(copy, array), 1, most=1, clock=clock)


def machine() -> dict[str, Any]:
    """Processor, caches, instruction set and versions, to be stored with the results of a benchmark."""
    import numpy as np
    import stim

    import stim_nonclifford as snc
    from stim_nonclifford.simulation.engines.cpu import CpuEngine

    return {
        "processor": _processor(),
        "cores": len(os.sched_getaffinity(0)),
        "cache_bytes": _cache_sizes(),
        "instruction_set": CpuEngine(snc.Circuit("M 0").compile().record_plan()).instruction_set,
        "load": os.getloadavg()[0],
        "python": platform.python_version(),
        "numpy": np.__version__,
        "stim": stim.__version__,
        "stim_nonclifford": snc.__version__,
    }


def description(facts: dict[str, Any]) -> str:
    """The facts that ``machine`` returns, in one line of text."""
    sizes = ", ".join(f"{name} {size >> 10} KiB" for name, size in facts["cache_bytes"].items())
    return (
        f"{facts['processor']}, {facts['cores']} cores, {facts['instruction_set']}, {sizes};"
        f" Python {facts['python']}, numpy {facts['numpy']}, stim {facts['stim']},"
        f" stim_nonclifford {facts['stim_nonclifford']}; load {facts['load']:.2f}."
    )


def _cache_sizes() -> dict[str, int]:
    """Sizes in bytes of the first core's data caches, by level; empty if the system does not list them."""
    sizes: dict[str, int] = {}
    for cache in sorted(_CACHES.glob("index*")):
        if (cache / "type").read_text().strip() == "Instruction":
            continue
        size = (cache / "size").read_text().strip()
        factor = {"K": 1 << 10, "M": 1 << 20}.get(size[-1], 1)
        sizes[f"L{(cache / 'level').read_text().strip()}"] = int(size.rstrip("KM")) * factor
    return sizes


def _processor() -> str:
    info = Path("/proc/cpuinfo")
    if info.exists():
        for line in info.read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()
