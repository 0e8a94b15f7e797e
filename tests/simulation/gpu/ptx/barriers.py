"""Takes each synchronization out of the kernels once. Either the emulator notices that, or a reason is given why nothing can happen.

This tests the emulator, and finds synchronizations that nothing needs.
"""

from __future__ import annotations

import re
import resource
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from unittest import mock

from stim_nonclifford.simulation.engines.gpu import cupy_backend
from stim_nonclifford.simulation.engines.gpu.cuda_source import KernelLaunch, cuda_source

from .cases import Case, certain_outcomes, coherent_surface, counting, cultivation, deep

__all__ = ["BARRIER_CASES", "EXPLAINED", "Removal", "removals"]

_SYNCHRONIZATION = re.compile(
    r"\bmeet\(\);|__syncthreads\(\);|__syncwarp\(\);|asm volatile\(\"bar\.sync[^;]*;[^;]*;"
)
_FUNCTION = re.compile(r"__forceinline__ .*?(\w+)\(")

BARRIER_CASES = {
    "noise": (Case(name="noise", plan=lambda: counting(cultivation(3, 5e-3)), shots=20_000, times=1),),
    "simulate": (Case(name="simulate", plan=deep, shots=12, times=1),),
    "simulate, one warp": (
        Case(name="weak measurements", plan=coherent_surface, shots=60, times=1),
        Case(name="certain outcomes", plan=certain_outcomes, shots=60, times=1),
    ),
}

CPU_SECONDS = 60
"""Of a comparison that ends, some twenty."""

EXPLAINED = {
    (
        "simulate",
        "sums 3",
    ): "not needed: sums are not written again before the projection after them, where the team meets"
}
"""Synchronizations of which nothing is noticed, and why."""


@dataclass(frozen=True)
class Removal:
    """A synchronization that is taken out.

    Attributes:
        case: The name of the case in which it is.
        function: The function of ``DeviceTeam`` in which it is, and its number there.
        begin: Where it is in the source, after the beginning of ``DeviceTeam``.
        end: Where it ends.
    """

    case: str
    function: str
    begin: int
    end: int

    def applied(self, kernel: KernelLaunch) -> str:
        """The source of a kernel, without it."""
        source = cuda_source(kernel)
        if kernel.name != self.case.partition(",")[0]:
            return source
        start = source.index("class DeviceTeam")
        return source[: start + self.begin] + ";" + source[start + self.end :]

    def compared(self) -> str:
        """What a comparison says without it; empty if the shots are the same and nothing is reported."""
        with mock.patch.object(cupy_backend, "cuda_source", self.applied):
            results = (case.run(mode="races", multiprocessors=1) for case in BARRIER_CASES[self.case])
            return next((str(result) for result in results if not result.is_right), "")

    def noticed(self) -> str:
        """The same, in a process of its own: with wrong sums, a loop may never end."""
        command = [sys.executable, "-m", "tests.simulation.gpu.ptx.barriers", self.case, self.function]
        limit = partial(resource.setrlimit, resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS))
        found = subprocess.run(command, capture_output=True, text=True, preexec_fn=limit, check=False)
        if found.returncode in (-signal.SIGXCPU, -signal.SIGKILL):
            return f"does not end within {CPU_SECONDS} seconds of the processor"
        assert found.returncode == 0, found.stderr
        return found.stdout.strip()


_UNUSED = {
    "noise": ("read_then_write", "sums", "once", "take 1"),
    "simulate": ("block_for_each", "exclusive_sums", "take 1"),
    "simulate, one warp": ("block_for_each", "exclusive_sums", "take 2", "sums 2"),
}
"""Functions that a kernel does not call, and synchronizations that are not those of its teams."""

_MEETINGS = {"noise": "asm", "simulate": "__syncthreads", "simulate, one warp": "__syncwarp"}
"""How the teams of a case meet."""


def removals(case: str) -> Iterator[Removal]:
    """All synchronizations of ``DeviceTeam`` that a case uses."""
    source = cuda_source(KernelLaunch("walk", 256, 1))
    team = source[source.index("class DeviceTeam") : source.index("uint8_t* shared_;")]
    numbers: dict[str, int] = {}
    for place in _SYNCHRONIZATION.finditer(team):
        name = _FUNCTION.findall(team[: place.start()])[-1]
        numbers[name] = numbers.get(name, 0) + 1
        number = f"{name} {numbers[name]}"
        is_other_meeting = name == "meet" and not place[0].startswith(_MEETINGS[case])
        if is_other_meeting or {name, number} & set(_UNUSED[case]):
            continue
        yield Removal(case, number, place.start(), place.end())


if __name__ == "__main__":
    (chosen,) = (removal for removal in removals(sys.argv[1]) if removal.function == sys.argv[2])
    print(chosen.compared())
