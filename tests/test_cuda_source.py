"""Every kernel of the GPU engine compiles to machine code, and what it needs leaves room for enough threads."""

from __future__ import annotations

import ctypes

import pytest

from stim_nonclifford.engines.gpu.cuda_source import (
    NOISE_TEAM,
    KernelLaunch,
    cuda_source,
    noise_threads,
)

from .nvrtc import compile_for, find_nvrtc

ARCHITECTURES = ["sm_80", "sm_90", "sm_100"]

LAYOUTS = [(0, 0, 1), (0, 1, 1), (1, 1, 1), (2, 1, 1), (0, 2, 4), (2, 3, 2), (6, 1, 1), (1, 6, 1), (0, 1, 7)]

KERNELS = {
    **{
        f"noise {layout} {in_shared}": KernelLaunch(
            "noise",
            noise_threads(sum(layout or ()), in_shared),
            1,
            team_size=NOISE_TEAM,
            layout=layout,
            in_shared=in_shared,
        )
        for layout in (None, *LAYOUTS)
        for in_shared in (True, False)
    },
    "walk": KernelLaunch("walk", 256, 1),
    **{
        f"simulate {team_size} {in_shared}": KernelLaunch(
            "simulate", threads, 1, min_blocks=512 // threads, team_size=team_size, in_shared=in_shared
        )
        for team_size, threads, in_shared in (
            (32, 128, True),
            (128, 128, True),
            (256, 256, True),
            (512, 512, False),
        )
    },
}


@pytest.fixture(scope="module")
def nvrtc() -> ctypes.CDLL:
    library = find_nvrtc()
    if library is None:
        pytest.skip("needs NVRTC: pip install nvidia-cuda-nvrtc (Linux and Windows only)")
    return library


@pytest.mark.parametrize("architecture", ARCHITECTURES)
@pytest.mark.parametrize("name", KERNELS)
def test_kernel_compiles(nvrtc: ctypes.CDLL, name: str, architecture: str) -> None:
    kernel = KERNELS[name]
    usage = compile_for(nvrtc, cuda_source(kernel), architecture)
    # What simulations spill is needed once for each step, not for each rotation.
    assert usage.spilled_bytes <= (160 if kernel.name == "simulate" else 0), usage.log
    assert 0 < usage.registers * kernel.block_threads * kernel.min_blocks <= 1 << 16, usage.log


def test_errors_are_found(nvrtc: ctypes.CDLL) -> None:
    source = cuda_source(KERNELS["walk"]).replace("walk_kernel(team", "walk_kernel(teem", 1)
    with pytest.raises(AssertionError, match="teem"):
        compile_for(nvrtc, source, "sm_90")
