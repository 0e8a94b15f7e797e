"""The emulator of kernels reports each kind of mistake, and translates nothing that it does not know."""

import numpy as np
import pytest

from .ptx.language.syntax import Unknown
from .ptx.language.translation import translate
from .ptx.machine.cupy_module import make_cupy
from .ptx.machine.device import Device, EmulationError, Properties
from .ptx.machine.kernels import missing

needs_kernels = pytest.mark.skipif(missing() is not None, reason=missing() or "")

CASES: dict[str, str | None] = {  # what the threads do, and what is reported
    "s[t] = t; __syncthreads(); p[t] = s[63 - t];": None,
    "s[t] = t; p[t] = s[63 - t];": "RACE",
    "s[t] = t; __shfl_sync(~0u, t, 0); p[t] = s[t ^ 1];": "RACE",
    "s[t] = t; __syncwarp(); p[t] = s[t ^ 1];": None,
    "s[t] = t; __syncwarp(); p[t] = s[t ^ 32];": "RACE",
    "p[0] = t;": "RACE",
    "atomicAdd(p, 1ull);": None,
    "if (t == 0) atomicAdd(p, 1ull); else if (t == 40) p[0] = 3;": "RACE",
    "p[t] = s[t];": "UNINITIALIZED",
    "p[t + 1] = t;": "OUT OF BOUNDS",
    "((volatile unsigned*)s)[t == 5 ? 80 : t] = t; p[t] = t;": "OUT OF BOUNDS",
    "p[t] = *(unsigned long long*)((char*)p + 4);": "MISALIGNED",
    "if (t < 32) __syncthreads(); p[t] = t;": "HANG",
    "if (t % 32 < 16) return; __syncwarp(~0u); p[t] = t;": "WARP",
    "if (t % 2) __syncwarp(0x55555555); p[t] = t;": "WARP",
    "if (t % 32 == 31) while (((volatile unsigned long long*)p)[63] == 0) {}"
    " p[t] = __ballot_sync(0x0000ffffu << 16 * (t / 16 % 2), 1);": None,
    'asm volatile("bar.sync 1, 64;"); p[t] = t;': None,
    'asm volatile("bar.sync %0, 32;" :: "r"(t / 32)); p[t] = t;': None,
    'if (t < 32) asm volatile("bar.sync 1, 64;"); else asm volatile("bar.sync 2, 64;"); p[t] = t;': "HANG",
}

SOURCE = """extern "C" __global__ void __launch_bounds__(64) k(unsigned long long* p, unsigned which) {
    extern __shared__ unsigned s[];
    const unsigned t = threadIdx.x;
    switch (which) {
%s
    }
}"""
KERNEL = SOURCE % "\n".join(f"    case {k}: {{ {body} break; }}" for k, body in enumerate(CASES))
SHARED_BYTES = 64 * 4
KINDS = ("RACE", "UNINITIALIZED", "OUT OF BOUNDS", "MISALIGNED", "HANG", "WARP", "BARRIER")


def launched(number: int) -> Device:
    """The device after a launch of a case."""
    device = Device(Properties(mode="races", preempt=1))
    cupy = make_cupy(device)
    array = cupy.full(64, 1, dtype=np.uint64)
    kernel = cupy.RawModule(code=KERNEL, options=("--std=c++17",), backend="nvrtc").get_function("k")
    kernel((1,), (64,), (array, np.uint32(number)), shared_mem=SHARED_BYTES)
    return device


@needs_kernels
@pytest.mark.parametrize("number", range(len(CASES)), ids=list(CASES))
def test_mistakes_are_reported(number: int) -> None:
    expected = list(CASES.values())[number]
    device = Device()
    try:
        device = launched(number)
        found = " ".join(device.findings)
    except EmulationError as error:
        found = str(error)
    kinds = {kind for kind in KINDS if f"{kind}:" in found}
    if expected == "RACE":
        kinds -= {"UNINITIALIZED"}  # by the thread that came first
    assert kinds == ({expected} if expected else set()), found


@needs_kernels
@pytest.mark.parametrize("is_ordered", [True, False])
def test_streams_that_nothing_orders(is_ordered: bool) -> None:
    device = Device()
    cupy = make_cupy(device)
    array = cupy.zeros(8, dtype=np.uint64)
    cupy.cuda.Device().synchronize()
    first, second = (cupy.cuda.Stream(non_blocking=True) for _ in range(2))
    with first:
        array.fill(3)
    if is_ordered:
        second.wait_event(first.record())
    with second:
        array[2:4].fill(4)
        found = array.get()
    assert (found[2:4] == 4).all() or not is_ordered
    assert any("STREAMS" in line for line in device.findings) != is_ordered


MODULE = """
.version 8.0
.target sm_75
.address_size 64
.visible .entry k(.param .u64 p) .maxntid 32
{
.reg .b32 %r<3>;
{}
ret;
}
"""


@pytest.mark.parametrize(
    "instruction",
    [
        "frobnicate.b32 %r1, %r2;", "add.sat.s32 %r1, %r1, %r2;", "add.s32 %r1, %r7, %r2;",
        "mul.hi.s32 %r1, %r1, %r2;", "ld.global.nc.L1::no_allocate.b32 %r1, [%r2];",
        "atom.global.max.u32 %r1, [%r2], %r1;", "shfl.down.b32 %r1, %r2, 1, 31;", "mov.b32 %r1, %clock;",
        "ld.local.b32 %r1, [%r2];", ".local .b8 depot[8];",
    ],
)  # fmt: skip
def test_what_is_not_known_is_an_error(instruction: str) -> None:
    assert translate(MODULE.replace("{}", "add.s32 %r1, %r1, %r2;")).name == "k"
    with pytest.raises(Unknown, match=r"^line 8: "):
        translate(MODULE.replace("{}", instruction))
