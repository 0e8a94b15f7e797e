"""The model of the noise kernel's work is what the emulator counts."""

from __future__ import annotations

import pytest

from benchmarks.gpu.noise import GLOBAL_BYTES, ISSUE_SLOTS, SHARED_PASSES, noise_sections
from stim_nonclifford import _native
from stim_nonclifford.simulation.plan import plain_attributes

from .ptx.cases import counting, cultivation
from .ptx.machine.kernels import missing
from .ptx.machine_code import tools_missing
from .ptx.work import noise_work_of, work_of

pytestmark = [pytest.mark.slow, pytest.mark.skipif(missing() is not None, reason=missing() or "")]

SHOTS = 1 << 15
WITHIN = 0.05


@pytest.mark.parametrize(("distance", "p"), [(3, 7e-4), (3, 3e-3), (5, 7e-4), (5, 1.5e-3)])
def test_model(distance: int, p: float) -> None:
    """At error rates that the model was not fitted to. The counts are of fixed shots: they are the same in each run."""
    plan = counting(cultivation(distance, p))
    sections = noise_sections(plan)
    work, queued = noise_work_of(plan, SHOTS)
    assert 0 < queued < 0.1
    image = _native.image_sizes(_native.plan_image(plain_attributes(plan)))
    tables = image["noise_tables_in_shared"] / SHOTS  # read by one thread block, once for all shots
    assert work.shared_passes == pytest.approx(sections.cost(SHARED_PASSES), rel=WITHIN)
    assert work.global_bytes == pytest.approx(sections.cost(GLOBAL_BYTES) + tables, rel=WITHIN)
    if tools_missing() is not None:
        pytest.skip(f"the machine code of the noise kernel {tools_missing()}")
    assert work.issue_slots == pytest.approx(sections.cost(ISSUE_SLOTS), rel=WITHIN)


def test_counted_shots_are_those_of_the_cpu() -> None:
    """With the lanes of each warp in step, and at most as many passes as the kernels were made to need."""
    found = work_of(counting(cultivation(3)), 20_000)
    assert set(found) == {"noise", "walk", "simulate"}
    assert found["noise"].shared_passes < 1.15
    assert found["noise"].active_lanes > 26
