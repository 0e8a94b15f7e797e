"""A plan on the device, and the sizes of the launches that sample from it."""

from __future__ import annotations

import math

from ...._native import device_constants, image_sizes, plan_image
from ....base.errors import HOW_TO_NARROW, ResourceLimitError
from ....base.memory import machine_bytes
from ...plan import BLOCK_SHOTS, SamplingPlan, plain_attributes
from ...reduction import reduction_of, simulated_width
from .backend import Array, Backend
from .cuda_source import NOISE_TEAM, KernelLaunch, noise_threads

_RESERVED_SHARED = 1024
"""Bytes of shared memory that are left for the CUDA compiler and driver."""

_LEAST_SHARE = 5 / 8
"""Tables are in shared memory if as large a share of the teams of the noise kernel has room there. On an
H100, five teams that read them there are as fast as eight that read them from the GPU's memory."""

_EVENT_BYTES, _SHARED_TABLE_EVENT_BYTES = 4, 2
"""Bytes of the number of a mechanism: fewer if the tables are in shared memory."""

_STATE_BYTES = 2
"""Bytes of the state of a qubit that may be leaked."""

_MAX_SHARED_MECHANISMS = 1 << 8 * _SHARED_TABLE_EVENT_BYTES

_WALK_THREADS = 256
_WALK_BLOCKS = 2
"""Number of thread blocks of the walk for which a multiprocessor has registers."""

_SIMULATION_THREADS = 128
"""Number of threads in a thread block that consists of several teams."""

_MULTIPROCESSOR_THREADS = 512
"""Number of simulating threads on a multiprocessor, which has 128 registers for each of them."""

_COEFFICIENT_BYTES = 16
_MAX_SHARED_VECTOR_WIDTH = 13
_MAX_VECTOR_WIDTH = device_constants()["max_vector_width"]


class DevicePlan:
    """A plan on the device.

    Args:
        plan: The plan.
        backend: The device.
        budget: Memory that the engine may use, in bytes. A quarter of it is for coefficient vectors that do
            not fit into shared memory, and an eighth for what shots need besides registers: long rows, and
            the states of qubits that may be leaked.

    Attributes:
        image: The plan in the form that the kernels read.
        signature_words: Number of words in a signature.
        output_words: Number of words in the outputs of a shot.
        event_capacity: Number of events of a block of shots that fit into shared memory.
        noise: The kernel that draws the noise.
        walk: The kernel that looks up outcomes.
        simulate: The kernel that simulates outcomes; None if the plan has no outcomes.
        vector_bytes: Size of a team's coefficient vector; 0 if it is always in shared memory.
        shared_width: Width of the widest coefficient vector that is in shared memory.
        branch_words: Number of words in a branch row.
        wide_row_words: Number of words in a row; 0 if rows are kept in registers.
        script_qubits: The most qubits between which leakage spreads; 0 if none leaks.
        readout_words: Number of words with a bit for each record that may decay.

    Raises:
        ResourceLimitError: The vector is wider than the limit, shared memory is too small for the noise, or
            the budget for a single vector.
    """

    def __init__(self, plan: SamplingPlan, backend: Backend, budget: int) -> None:
        _check_width(plan)
        words = plan_image(plain_attributes(plan))
        self.image: Array = backend.to_device(words)
        sizes = image_sizes(words)
        self.signature_words: int = sizes["signature_words"]
        self.output_words: int = sizes["output_words"]
        self.branch_words: int = sizes["branch_words"]
        self.wide_row_words: int = 0 if sizes["register_words"] else sizes["row_words"]
        self.script_qubits: int = sizes["script_qubits"]
        self.readout_words: int = sizes["readout_words"]
        self.noise, self.event_capacity = _noise(plan, sizes, backend, budget // 8)
        self.walk = KernelLaunch(
            "walk",
            block_threads=_WALK_THREADS,
            num_blocks=_WALK_BLOCKS * backend.multiprocessors,
            min_blocks=_WALK_BLOCKS,
            separate=plan.separate_draws,
        )
        self.simulate: KernelLaunch | None = None
        self.vector_bytes = 0
        self.shared_width = 0
        if plan.num_outcomes:
            self.simulate = self._simulation(plan, sizes, backend, budget // 4)

    def _simulation(
        self, plan: SamplingPlan, sizes: dict[str, int], backend: Backend, vector_budget: int
    ) -> KernelLaunch:
        width, vector, rest = sizes["vector_width"], sizes["vector"], sizes["simulation_without_vector"]
        in_shared = (
            width <= _MAX_SHARED_VECTOR_WIDTH and vector + rest + _RESERVED_SHARED <= backend.shared_bytes
        )
        self.shared_width = width
        if not in_shared:
            self.vector_bytes = vector
            # Passes through narrower vectors, before and after the widest one, stay in shared memory.
            room = max(_COEFFICIENT_BYTES, backend.shared_bytes - _RESERVED_SHARED - rest)
            self.shared_width = min(_MAX_SHARED_VECTOR_WIDTH, (room // _COEFFICIENT_BYTES).bit_length() - 1)
        team_size = _team_size(width, in_shared)
        teams = max(1, _SIMULATION_THREADS // team_size)
        team_bytes = rest + (_COEFFICIENT_BYTES << self.shared_width)
        while teams > 1 and teams * team_bytes > backend.shared_bytes:
            teams //= 2
        shared = teams * team_bytes
        threads = teams * team_size
        min_blocks = max(1, _MULTIPROCESSOR_THREADS // threads)
        blocks = min(min_blocks, max(1, backend.shared_bytes // (shared + _RESERVED_SHARED)))
        blocks *= backend.multiprocessors
        if not in_shared:
            blocks = min(blocks, vector_budget // vector // teams)
            if blocks == 0:
                raise ResourceLimitError(
                    f"A coefficient vector of 2^{width} numbers needs {vector / 2**30:.3g} GiB, but the free"
                    f" memory of the GPU has room for {vector_budget / 2**30:.3g} GiB. Free some of it, use"
                    " another GPU (device=...), or use engine='cpu'."
                )
        return KernelLaunch(
            "simulate",
            block_threads=threads,
            num_blocks=blocks,
            shared_bytes=shared,
            min_blocks=min_blocks,
            team_size=team_size,
            in_shared=in_shared,
            separate=plan.separate_draws,
        )


def _check_width(plan: SamplingPlan) -> None:
    width = plan.peak_width
    if width <= _MAX_VECTOR_WIDTH:
        return
    if reduction_of(plan).eliminates:
        advice = f"Use engine='cpu', whose width is {simulated_width(plan)} for this circuit."
    elif _COEFFICIENT_BYTES << width <= machine_bytes():
        advice = "Use engine='cpu'."
    else:
        advice = HOW_TO_NARROW
    raise ResourceLimitError(
        f"With engine='gpu', the circuit needs a coefficient vector of 2^{width} numbers, but the limit there"
        f" is 2^{_MAX_VECTOR_WIDTH}. {advice}"
    )


def _noise(
    plan: SamplingPlan, sizes: dict[str, int], backend: Backend, row_budget: int
) -> tuple[KernelLaunch, int]:
    """The noise kernel, and the number of events of a block of shots for which a team has shared memory."""
    row_words = sizes["register_words"]
    follows = sizes["script_qubits"] + sizes["readout_words"] > 0
    lists, least_events = sizes["noise_lists"], sizes["noise_events"]
    most_teams = noise_threads(row_words, follows) // NOISE_TEAM
    for in_shared in (True, False):
        # The lists begin at a multiple of 16 bytes.
        tables = -(-sizes["noise_tables_in_shared" if in_shared else "noise_tables"] // 16) * 16
        free = backend.shared_bytes - _RESERVED_SHARED - tables
        bytes_per_event = _SHARED_TABLE_EVENT_BYTES if in_shared else _EVENT_BYTES
        wanted = max(least_events, -(-_event_capacity(plan.mean_events) * bytes_per_event // 16) * 16)
        teams = min(most_teams, free // (lists + wanted))
        if in_shared and teams >= _LEAST_SHARE * most_teams and plan.num_mechanisms <= _MAX_SHARED_MECHANISMS:
            break
    else:
        teams = max(1, min(most_teams, free // (lists + least_events)))
    blocks = backend.multiprocessors
    shot_words = sizes["row_words"] * (not row_words) + sizes["readout_words"]
    shot_bytes = 8 * shot_words + _STATE_BYTES * sizes["script_qubits"]
    if shot_bytes:
        # Each team has memory for a block of shots, for each of the two chunks that overlap.
        affordable = max(1, row_budget // 2 // (shot_bytes * BLOCK_SHOTS))
        teams = min(teams, max(1, affordable // blocks))
        blocks = min(blocks, affordable // teams)
    event_bytes = max(least_events, min(wanted, (free // teams - lists) // 16 * 16))
    launch = KernelLaunch(
        "noise",
        block_threads=teams * NOISE_TEAM,
        num_blocks=blocks,
        shared_bytes=tables + teams * (lists + event_bytes),
        team_size=NOISE_TEAM,
        layout=(sizes["check_words"], sizes["signature_words"], sizes["output_words"]) if row_words else None,
        in_shared=in_shared,
        follows=follows,
    )
    if launch.shared_bytes > backend.shared_bytes:
        raise ResourceLimitError(
            f"The noise of this circuit needs {launch.shared_bytes} bytes of shared memory, but the"
            f" GPU has {backend.shared_bytes}. Use engine='cpu'."
        )
    return launch, event_bytes // bytes_per_event


def _event_capacity(mean_events: float) -> int:
    """A number of events that almost no block of shots exceeds (8 standard deviations above the mean)."""
    mean = min(mean_events * BLOCK_SHOTS, 1 << 16)
    return math.ceil(mean + 8 * math.sqrt(mean) + 16)


def _team_size(width: int, in_shared: bool) -> int:
    if not in_shared:
        return 512
    if width <= 6:
        return 32
    return 128 if width <= 10 else 256
