"""The CUDA source of each kernel, in one piece, for NVRTC."""

from __future__ import annotations

import importlib.resources
import re
from dataclasses import dataclass
from functools import cache
from typing import Literal

__all__ = ["COMPILE_OPTIONS", "NARROW_WORDS", "NOISE_TEAM", "SIMULATION_TEAMS", "Kernel", "cuda_source"]

COMPILE_OPTIONS = ("--std=c++17", "--fmad=false")
"""Without fused products and sums, except where the source asks for them, the host rounds as the device does."""

NOISE_TEAM = 256
"""Threads that take a block of shots together."""

SIMULATION_TEAMS = (32, 128, 256, 512)
"""Threads that simulate a shot together."""

NARROW_WORDS = 8
"""Rows of at most this many words are kept in registers."""


@dataclass(frozen=True)
class Kernel:
    """A kernel, made for sizes of a plan, and the size of its launches.

    Attributes:
        name: Of the function.
        block_threads: Threads of a block.
        num_blocks: Blocks of a launch, at most: each takes work until there is none.
        shared_bytes: Shared memory of a block.
        team_size: Threads that work together.
        row_words: ``noise``: words of a row, 0 for any number of them.
        in_shared: ``noise``: whether tables are in shared memory; ``simulate``: whether the vector is.
    """

    name: Literal["noise", "walk", "simulate"]
    block_threads: int
    num_blocks: int
    shared_bytes: int = 0
    team_size: int = 32
    row_words: int = 0
    in_shared: bool = False

    @property
    def num_teams(self) -> int:
        """Teams of a launch."""
        return self.num_blocks * (self.block_threads // self.team_size)


def cuda_source(kernel: Kernel) -> str:
    """The source of a kernel, without includes.

    Examples:
        >>> source = cuda_source(Kernel("walk", block_threads=256, num_blocks=1))
        >>> source.splitlines()[0]
        '#define SNC_KERNEL_walk'
        >>> "#include" in source
        False
    """
    definitions: dict[str, object] = {f"SNC_KERNEL_{kernel.name}": "", "SNC_BLOCK_THREADS": kernel.block_threads}
    flag = str(kernel.in_shared).lower()
    if kernel.name == "noise":
        definitions |= {"SNC_ROW_WORDS": kernel.row_words, "SNC_TABLES_IN_SHARED": flag}
    elif kernel.name == "simulate":
        definitions |= {"SNC_TEAM_SIZE": kernel.team_size, "SNC_VECTOR_IN_SHARED": flag}
    lines = [f"#define {name} {value}".rstrip() for name, value in definitions.items()]
    return "\n".join([*lines, _with_includes("entries.cu", set())])


@cache
def _text(name: str) -> str:
    return (importlib.resources.files("stim_nonclifford") / "kernels" / name).read_text(encoding="utf-8")


def _with_includes(name: str, included: set[str]) -> str:
    """The text of a file with those that it includes, each once, at the place of its first include.

    All headers come first: includes may stand in parts that are not compiled.
    """
    headers: list[str] = []
    text = _text(name)
    for header in re.findall(r'^#include "(.*)"$', text, flags=re.MULTILINE):
        if header not in included:
            included.add(header)
            headers.append(_with_includes(header, included))
    body = re.sub(r'^(#include ".*"|#pragma once)$\n?', "", text, flags=re.MULTILINE)
    body = re.sub(r"^#include <cstdint>$\n?", "", body, flags=re.MULTILINE)
    return "\n".join([*headers, body])
