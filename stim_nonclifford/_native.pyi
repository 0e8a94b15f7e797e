from typing import Any

import numpy as np
import numpy.typing as npt

ROTATE: int
ACTIVATE: int
MEASURE: int
WEAK_MEASURE: int
BLOCK_SHOTS: int
CERTAIN: float
TIE: float
MIN_MASS: float
MAX_INDEX_BITS: int
COUNTS: int
EVENTS: int
COINS: int
OUTCOMES: int
SET_DRAWS: int
LEFT_PARTS: int
RIGHT_PARTS: int
SELECTIONS: int
ROUNDS: int

def available_instruction_sets() -> list[str]: ...
def random_words(seed: int, stream: int, index: int, count: int) -> list[int]: ...

class Engine:
    def __init__(
        self,
        plan: Any,
        num_threads: int,
        cache_bytes: int,
        instruction_set: str = "",
    ) -> None: ...
    def count(
        self, seed: int, first_shot: int, shots: int, max_errors: int, list_errors: bool
    ) -> dict[str, Any]: ...
    def sample(self, seed: int, first_shot: int, shots: int) -> npt.NDArray[np.uint8]: ...
    def sample_kept(self, seed: int, first_shot: int, shots: int) -> npt.NDArray[np.uint8]: ...
    def outcome_law(self, signature: list[int]) -> list[tuple[float, bool, list[int]]]: ...
    def likely_outputs(self) -> list[int]: ...
    def statistics(self) -> dict[str, int]: ...
    @property
    def instruction_set(self) -> str: ...

def plan_image(plan: Any) -> npt.NDArray[np.uint8]: ...
def job_fields() -> list[tuple[str, int]]: ...
def device_constants() -> dict[str, int]: ...
def image_sizes(address: int, event_capacity: int) -> dict[str, int]: ...
def image_steps(address: int) -> list[tuple[int, int, int]]: ...
def run_on_host(
    kernel: str,
    job: int,
    round: int,
    num_teams: int,
    row_words: int,
    team_size: int,
    in_shared: bool,
    reversed: bool,
) -> None: ...

class FaultSetStudy:
    def __init__(
        self,
        plan: Any,
        checks: npt.NDArray[np.uint64],
        keys: npt.NDArray[np.uint64],
        target: npt.NDArray[np.uint64],
        base: npt.NDArray[np.uint64],
        weights: npt.NDArray[np.float64],
        sites: npt.NDArray[np.int32],
        coins: npt.NDArray[np.uint64],
        max_weight: int,
        threads: int,
        max_pair_bytes: int,
    ) -> None: ...
    def total(self, weight: int) -> float: ...
    @property
    def num_twins(self) -> int: ...
    @property
    def branching(self) -> float: ...
    @property
    def num_keys(self) -> int: ...
    def enumerate(
        self, weight: int, circuits: npt.NDArray[np.float64], max_steps: int, max_keys: int
    ) -> dict[str, Any]: ...
    def draw(self, weight: int, spacing: float, seed: int, max_draws: int) -> dict[str, Any]: ...
    def join(
        self, left: int, right: int, draws: int, stride: float, seed: int, round: int, max_sets: int
    ) -> dict[str, Any]: ...
    def number_keys(self, members: npt.NDArray[np.uint32], weight: int) -> npt.NDArray[np.uint32]: ...
    def evaluate(self) -> dict[str, Any]: ...
    def member_sums(
        self, weight: int, odds: npt.NDArray[np.float64], values: npt.NDArray[np.float64], columns: int
    ) -> npt.NDArray[np.float64]: ...
    def release(self) -> None: ...
    def sets_with(self, weight: int, values: npt.NDArray[np.float64]) -> npt.NDArray[np.uint32]: ...
