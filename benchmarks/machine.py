"""A description of the machine on which a benchmark runs."""

from __future__ import annotations

import os
import platform
from pathlib import Path

import numpy as np
import stim

import stim_nonclifford as snc
from stim_nonclifford.engines.cpu import CpuEngine

__all__ = ["BYTES_PER_COEFFICIENT", "cache_sizes", "description", "machine"]

BYTES_PER_COEFFICIENT = 16

_CACHES = Path("/sys/devices/system/cpu/cpu0/cache")


def machine() -> dict[str, object]:
    """Processor, caches, instruction set and versions, to be stored with the results of a benchmark."""
    engine = CpuEngine(snc.Circuit("M 0").compile().record_plan())
    return {
        "processor": _processor(),
        "cores": len(os.sched_getaffinity(0)),
        "cache_bytes": cache_sizes(),
        "instruction_set": engine.instruction_set,
        "load": os.getloadavg()[0],
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "numpy": np.__version__,
        "stim": stim.__version__,
        "stim_nonclifford": snc.__version__,
    }


def description(facts: dict[str, object]) -> str:
    """The facts that ``machine`` returns, in one line of text."""
    caches = facts["cache_bytes"]
    assert isinstance(caches, dict)
    sizes = ", ".join(f"{name} {size >> 10} KiB" for name, size in caches.items())
    return (
        f"{facts['processor']}, {facts['cores']} cores, {facts['instruction_set']}, {sizes};"
        f" Python {facts['python']}, numpy {facts['numpy']}, stim {facts['stim']},"
        f" stim_nonclifford {facts['stim_nonclifford']}; load {facts['load']:.2f}"
    )


def cache_sizes() -> dict[str, int]:
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
