"""Every kernel of the GPU engine compiles to machine code, and what it needs leaves room for enough threads."""

import ctypes

import pytest

from benchmarks.gpu.nvrtc import KERNELS, compile_for, find_nvrtc
from stim_nonclifford.simulation.engines.gpu.cuda_source import cuda_source

from ...support.seeds import slow

# All kernels for one architecture; for the others, those that differ in more than constants. Of these, `make
# test` compiles three.
DIFFERENT = ["noise None True", "noise None False", "noise (2, 3, 2) True", "walk"]
DIFFERENT += ["noise None False, followed", "noise (2, 3, 2) True, followed"]
DIFFERENT += [name for name in KERNELS if name.startswith("simulate")]
QUICK = ["noise None True", "walk", *[name for name in DIFFERENT if name.startswith("simulate")][:1]]
COMPILED = [pytest.param(name, "sm_90", marks=[] if name in QUICK else pytest.mark.slow) for name in KERNELS]
COMPILED += [slow(name, architecture) for name in DIFFERENT for architecture in ("sm_80", "sm_100")]


@pytest.fixture(scope="module")
def nvrtc() -> ctypes.CDLL:
    library = find_nvrtc()
    if library is None:
        pytest.skip("needs NVRTC: pip install nvidia-cuda-nvrtc (Linux and Windows only)")
    return library


@pytest.mark.parametrize(("name", "architecture"), COMPILED)
def test_kernel_compiles(nvrtc: ctypes.CDLL, name: str, architecture: str) -> None:
    kernel = KERNELS[name]
    usage = compile_for(nvrtc, cuda_source(kernel), architecture)
    # What simulations spill is needed once for each step, not for each rotation. The noise kernel of a thousand threads
    # spills a few words, and is faster all the same.
    few = 28 if kernel.block_threads == 1024 else 0
    allowed = {"simulate": 80 if kernel.in_shared else 96, "noise": 16 if kernel.follows else few}
    assert usage.spilled_bytes <= allowed.get(kernel.name, 0), usage.log
    assert 500 < usage.instructions < 20_000
    assert 0 < usage.registers * kernel.block_threads * kernel.min_blocks <= 1 << 16, usage.log


def test_errors_are_found(nvrtc: ctypes.CDLL) -> None:
    source = cuda_source(KERNELS["walk"]).replace("(team, *job, round);", "(teem, *job, round);", 1)
    with pytest.raises(AssertionError, match="teem"):
        compile_for(nvrtc, source, "sm_90")
