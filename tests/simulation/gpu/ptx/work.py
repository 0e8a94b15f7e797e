"""What the kernels do for each attempted shot: instructions of the machine code, accesses to memory, divergence.

    python -m tests.simulation.gpu.ptx.work d3 --warm
    python -m tests.simulation.gpu.ptx.work d5 --warm --shots 200000

The lanes of a warp run in step (mode "counts"), and the executions of each basic block of the PTX are counted; ptxas and
nvdisasm tell which machine instructions belong to which line of the PTX. These are counts, no times.
"""

from __future__ import annotations

import argparse
import sys
from bisect import bisect_right
from collections import defaultdict
from dataclasses import dataclass, field
from unittest import mock

import numpy as np

from stim_nonclifford import _native
from stim_nonclifford.simulation.engines import CpuEngine
from stim_nonclifford.simulation.engines.gpu.chunk_sampler import Chunk, ChunkSampler, Results
from stim_nonclifford.simulation.engines.gpu.cuda_source import COMPILE_OPTIONS
from stim_nonclifford.simulation.plan import SamplingPlan

from .cases import counting, cultivation
from .comparison import engine_on
from .machine.device import Device, Properties
from .machine.kernels import CompiledKernel, missing, ptx_for
from .machine_code import function_at, machine_code, pipe_of, source_lines, tools_missing

__all__ = ["KernelWork", "kernel_work", "noise_work_of", "work_of"]

ARCHITECTURE = "90"
MULTIPROCESSORS, SCHEDULERS, CLOCK, BYTES_PER_SECOND = 132, 4, 1.7e9, 3.35e12
"""Of an H100."""


def _floats() -> defaultdict[str, float]:
    return defaultdict(float)


@dataclass
class KernelWork:
    """Work of a kernel per attempted shot.

    Attributes:
        issue_slots: Machine instructions of warps; 0 if ptxas and nvdisasm are not installed.
        ptx_instructions: Instructions of the PTX, of warps.
        active_lanes: Lanes per PTX instruction.
        shared_passes: Passes of shared memory: accesses of warps, with those that bank conflicts add.
        least_passes: The same without bank conflicts.
        global_bytes: Bytes of sectors of global memory that are loaded and stored.
        atomics: Atomics of threads on global memory.
        by_function: Issue slots of each function of the source.
        by_pipe: Issue slots of each kind of unit.
        passes_by_line: Passes of shared memory of each line of the source.
    """

    issue_slots: float = 0.0
    ptx_instructions: float = 0.0
    active_lanes: float = 0.0
    shared_passes: float = 0.0
    least_passes: float = 0.0
    global_bytes: float = 0.0
    atomics: float = 0.0
    by_function: defaultdict[str, float] = field(default_factory=_floats)
    by_pipe: defaultdict[str, float] = field(default_factory=_floats)
    passes_by_line: defaultdict[str, float] = field(default_factory=_floats)


def kernel_work(source: str, compiled: CompiledKernel, shots: int) -> KernelWork:
    """The work of a kernel whose launches were counted."""
    kernel, work = compiled.kernel, KernelWork()
    warps, lanes = (compiled.block_counts[:, k].astype(float) / shots for k in (0, 1))
    sizes = [len(block.opcodes) for block in kernel.blocks]
    work.ptx_instructions = float(np.dot(sizes, warps))
    work.active_lanes = float(np.dot(sizes, lanes)) / max(1e-30, work.ptx_instructions)
    lines, text = source_lines(source, f"compute_{ARCHITECTURE}"), source.splitlines()
    for site, counts in zip(kernel.sites, compiled.site_counts.astype(float) / shots, strict=False):
        _, by_lanes, _, sectors_or_passes, _, least = counts
        if least:
            work.shared_passes += sectors_or_passes
            work.least_passes += least
            at = lines.get(site.line, 0)
            name = f"{function_at(text, at)}: {text[at - 1].strip()[:70]}"
            work.passes_by_line[name] += sectors_or_passes
        elif site.text.startswith(("atom", "red")):
            work.atomics += by_lanes
        else:
            work.global_bytes += 32 * sectors_or_passes
    if tools_missing() is not None:
        return work
    # A statement's block is the last one that starts at or before its line.
    starts = sorted((line, number) for number, block in enumerate(kernel.blocks) for line in block.lines)
    ptx = ptx_for(source, COMPILE_OPTIONS, f"compute_{ARCHITECTURE}")
    for line, opcodes in machine_code(ptx, f"sm_{ARCHITECTURE}").items():
        k = bisect_right(starts, (line, len(kernel.blocks))) - 1
        if k < 0 or line > kernel.end_line:
            continue  # a function that is called: seldom
        times = float(warps[starts[k][1]])
        work.issue_slots += len(opcodes) * times
        work.by_function[function_at(text, lines.get(line, 0))] += len(opcodes) * times
        for opcode in opcodes:
            work.by_pipe[pipe_of(opcode)] += times
    return work


def work_of(plan: SamplingPlan, shots: int, *, warm: bool = True) -> dict[str, KernelWork]:
    """The work of each kernel for counting shots.

    Args:
        plan: The plan.
        shots: Number of shots.
        warm: Whether the trees of outcomes are there, from as many other shots.

    Raises:
        AssertionError: The shots are not those of the CPU engine.
    """
    device = Device(Properties(mode="counts", architecture=f"compute_{ARCHITECTURE}", multiprocessors=1))
    engine = engine_on(device, plan)
    if warm:
        engine.count(5, 0, shots)
        for compiled in device.compiled.values():
            compiled.block_counts[...] = 0
            compiled.site_counts[...] = 0
    assert engine.count(3, 0, shots) == CpuEngine(plan).count(3, 0, shots)
    return {
        compiled.kernel.name: kernel_work(source, compiled, shots)
        for (source, _), compiled in device.compiled.items()
    }


def noise_work_of(plan: SamplingPlan, shots: int) -> tuple[KernelWork, float]:
    """The work of the noise kernel alone, and the fraction of the shots that it queues for the other kernels."""
    device = Device(Properties(mode="counts", architecture=f"compute_{ARCHITECTURE}", multiprocessors=1))
    engine = engine_on(device, plan)
    sampler = engine._samplers[0]
    with mock.patch.object(ChunkSampler, "_launch_rounds", lambda self, end, after: self._stream.mark()):
        sampler.start(Chunk(3, 0, shots, Results.PATTERNS), None)
    queued = int(sampler.counters()[_native.device_constants()["queued"]])
    ((source, _), compiled), *_ = device.compiled.items()
    return kernel_work(source, compiled, shots), queued / shots


def main() -> int:
    """Prints the counts; returns 2 if this machine cannot make them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("circuit", choices=["d3", "d5"])
    parser.add_argument("--shots", type=int, default=100_000)
    parser.add_argument("--warm", action="store_true", help="count a second call, whose trees are there")
    parser.add_argument("--p", type=float, default=1e-3)
    arguments = parser.parse_args()
    if (reason := missing() or tools_missing()) is not None:
        print(reason, file=sys.stderr)
        return 2
    plan = counting(cultivation(int(arguments.circuit[1]), arguments.p))
    found = work_of(plan, arguments.shots, warm=arguments.warm)
    for name, work in found.items():
        print(
            f"{name}: per shot {work.issue_slots:.3f} machine instructions of warps ({work.ptx_instructions:.3f} of PTX),"
            f" {work.active_lanes:.1f} of 32 lanes active; {work.shared_passes:.3f} passes of shared memory,"
            f" {work.least_passes:.3f} without bank conflicts; {work.global_bytes:.2f} bytes of global memory,"
            f" {work.atomics:.4f} atomics"
        )
        for title, counts in (
            ("by function", work.by_function),
            ("by unit", work.by_pipe),
            ("passes", work.passes_by_line),
        ):
            largest = sorted(counts.items(), key=lambda item: -item[1])[:12]
            rows = [f"{value:.3f} {what}" for what, value in largest if value >= 5e-4]
            print(f"  {title}:", *rows, sep="\n    ")
    slots, passes, moved = (
        sum(getattr(work, name) for work in found.values())
        for name in ("issue_slots", "shared_passes", "global_bytes")
    )
    cycles = MULTIPROCESSORS * CLOCK
    print(
        f"all: {slots:.2f} issue slots, {passes:.3f} passes of shared memory, {moved:.2f} bytes per attempted shot"
    )
    print(
        f"bounds for an H100, attempted shots per second: {SCHEDULERS * cycles / slots:.3g} by issue,"
        f" {cycles / passes:.3g} by shared memory, {BYTES_PER_SECOND / moved:.3g} by memory"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
