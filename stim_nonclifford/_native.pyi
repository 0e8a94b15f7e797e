from collections.abc import Callable
from enum import Enum
from typing import Any, Protocol, overload

import numpy as np
import numpy.typing as npt

ROTATE: int
ACTIVATE: int
MEASURE: int
EXPECT: int
BLOCK_SHOTS: int
MAX_EFFECT_WORK: int
CERTAIN: float
TIE: float
MIN_MASS: float
MAX_INDEX_BITS: int
MAX_ELIMINATION_QUBITS: int
COUNTS: int
EVENTS: int
COINS: int
LEAKAGE: int
READOUTS: int
LEAKAGE_CHANGE: int
LEAKAGE_FLIP: int
LEAKAGE_MIX: int
LEAKAGE_END: int
LEAKAGE_SPREAD: int
LEAKAGE_MOVE: int
OUTCOMES: int
SET_DRAWS: int
TRAJECTORY_STRUCTURE: int
TRAJECTORY_PAULIS: int
TRAJECTORY_COINS: int
TRAJECTORY_OUTCOMES: int
TRAJECTORY_LEAKAGE: int
LEFT_PARTS: int
RIGHT_PARTS: int
ROUNDS: int

def available_instruction_sets() -> list[str]: ...
def certain_at(width: int) -> float: ...
def limit_time(seconds: float) -> float: ...
def random_words(seed: int, stream: int, index: int, count: int) -> list[int]: ...

class TrajectoryEngine:
    @overload
    def __init__(
        self,
        program: Program,
        lines: npt.NDArray[np.int32],
        by_records: bool,
        constant: npt.NDArray[np.uint8],
        reported: npt.NDArray[np.uint32],
        postselected: npt.NDArray[np.uint32],
        partners: npt.NDArray[np.float64],
        replacements: npt.NDArray[np.float64],
        num_threads: int,
        max_width: int,
    ) -> None: ...
    @overload
    def __init__(
        self,
        program: Program,
        lines: npt.NDArray[np.int32],
        by_records: bool,
        constant: npt.NDArray[np.uint8],
        reported: npt.NDArray[np.uint32],
        postselected: npt.NDArray[np.uint32],
        partners: npt.NDArray[np.float64],
        replacements: npt.NDArray[np.float64],
        turn_variables: npt.NDArray[np.uint32],
        first_angles: npt.NDArray[np.uint32],
        angles: npt.NDArray[np.float64],
        first_sums: npt.NDArray[np.uint32],
        sums: npt.NDArray[np.float64],
        num_threads: int,
        max_width: int,
    ) -> None: ...
    def sample_kept(
        self, seed: int, first_shot: int, shots: int
    ) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.int64], npt.NDArray[np.float64]]: ...
    def likely_outputs(self) -> npt.NDArray[np.uint8]: ...
    def statistics(self) -> dict[str, int]: ...

class OutcomePasses:
    def __init__(
        self,
        engine: Engine,
        signatures: npt.NDArray[np.uint64],
        numbers: npt.NDArray[np.uint64],
        seed: int,
    ) -> None: ...
    @staticmethod
    def suits(engine: Engine, read: npt.NDArray[np.uint64], bits: npt.NDArray[np.uint64]) -> bool: ...
    def draw(self, read: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]: ...
    def flip(self, bits: npt.NDArray[np.uint64]) -> None: ...

class Engine:
    def __init__(
        self,
        plan: Any,
        num_threads: int,
        cache_bytes: int,
        instruction_set: str = "",
        path_method: str = "",
    ) -> None: ...
    def count(
        self, seed: int, first_shot: int, shots: int, max_errors: int, list_errors: bool
    ) -> dict[str, Any]: ...
    def sample(self, seed: int, first_shot: int, shots: int, num_outputs: int) -> npt.NDArray[np.uint8]: ...
    def sample_kept(
        self, seed: int, first_shot: int, shots: int
    ) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.int64]]: ...
    def kept_law(
        self, signature: npt.NDArray[np.uint64]
    ) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.uint64]]: ...
    def outcomes(
        self, signatures: npt.NDArray[np.uint64], numbers: npt.NDArray[np.uint64], seed: int
    ) -> npt.NDArray[np.uint64]: ...
    def rows(self, seed: int, first_shot: int, shots: int) -> npt.NDArray[np.uint64]: ...
    def possible_path(
        self, signature: npt.NDArray[np.uint64], seed: int, number: int
    ) -> tuple[bool, list[int]]: ...
    def likely_outputs(self) -> list[int]: ...
    def statistics(self) -> dict[str, int]: ...
    @property
    def instruction_set(self) -> str: ...

class MaskedRows:
    def __init__(self, words: npt.NDArray[np.uint32], masks: npt.NDArray[np.uint64]) -> None: ...
    def __len__(self) -> int: ...
    def clear(self) -> None: ...
    def number(
        self, rows: npt.NDArray[np.uint8], row_bytes: int
    ) -> tuple[npt.NDArray[np.uint32], npt.NDArray[np.uint32]]: ...

class MatchingWeights:
    def __init__(
        self,
        num_nodes: int,
        first: npt.NDArray[np.int64],
        second: npt.NDArray[np.int64],
        weights: npt.NDArray[np.int64],
        max_bytes: int,
    ) -> None: ...
    def least(
        self, events: npt.NDArray[np.uint8], row_bytes: int, further_node: int, max_events: int
    ) -> npt.NDArray[np.int64]: ...

def check_plan(plan: Any) -> None: ...
def reduction(plan: Any) -> dict[str, Any]: ...
def certain_checks(plan: Any) -> dict[str, npt.NDArray[Any]]: ...
def plan_image(plan: Any) -> npt.NDArray[np.uint8]: ...
def job_fields() -> list[tuple[str, int]]: ...
def device_constants() -> dict[str, int]: ...
def image_sizes(image: npt.NDArray[np.uint8]) -> dict[str, int]: ...
def image_steps(image: npt.NDArray[np.uint8]) -> list[tuple[int, int, int, int, bool, bool]]: ...
def run_on_host(
    kernel: str,
    job: npt.NDArray[np.uint8],
    round: int,
    num_teams: int,
    row_words: int,
    team_size: int,
    in_shared: bool,
    separate: bool,
    reversed: bool,
) -> None: ...
def kept_branches(
    plan: Any, signatures: npt.NDArray[np.uint64], count: int, path_method: str = ...
) -> dict[str, Any]: ...

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
        max_bytes: int,
    ) -> None: ...
    def total(self, weight: int) -> float: ...
    @property
    def num_twins(self) -> int: ...
    @property
    def branching(self) -> float: ...
    @property
    def num_keys(self) -> int: ...
    @property
    def evaluated(self) -> tuple[int, int]: ...
    @property
    def tells_kept(self) -> bool: ...
    def enumerate(
        self,
        weight: int,
        max_steps: int,
        max_keys: int,
        max_seconds: float = ...,
        max_laws: int = ...,
    ) -> dict[str, Any]: ...
    def bounds(self, closed: npt.NDArray[np.float64], negligible: float) -> dict[str, Any]: ...
    def join(
        self,
        left: npt.NDArray[np.uint32],
        right: npt.NDArray[np.uint32],
        counts: npt.NDArray[np.float64],
        seed: int,
        round: int,
        max_sets: int,
    ) -> dict[str, Any]: ...
    def number_keys(self, members: npt.NDArray[np.uint32], weight: int) -> npt.NDArray[np.uint32]: ...
    def evaluate(self) -> dict[str, Any]: ...
    def member_sums(
        self, weight: int, values: npt.NDArray[np.float64], columns: int
    ) -> npt.NDArray[np.float64]: ...
    def release(self) -> None: ...
    def sets_with(self, weight: int, values: npt.NDArray[np.float64]) -> npt.NDArray[np.uint32]: ...

class CircuitStepKind(Enum):
    CLIFFORD = 0
    ROTATE = 1
    MEASURE = 2
    RESET = 3
    FEEDBACK = 4
    NOISE = 5
    CORRELATED_ERROR = 6
    DETECTOR = 7
    OBSERVABLE = 8
    EXPECTATION = 9
    RELAXATION = 10
    MISREADING = 11
    LEAKING = 12
    LEAKAGE_RETURN = 13
    LEAKAGE_SPREAD = 14
    LEAKAGE_HERALD = 15
    LEAKED_FLIP = 16
    MEETING = 17
    SKIP = 18
    BEGIN_ATTEMPTS = 19
    ACCEPT = 20
    END_BLOCK = 21
    TURN = 22
    ABSENCE = 23
    LEAKING_FROM_ONES = 24

class Program:
    def __init__(self, arrays: Any) -> None: ...
    def patch_sizes(self) -> npt.NDArray[np.int64]: ...
    def odd_outputs(self, records: npt.NDArray[np.uint8]) -> npt.NDArray[np.int32]: ...

class QuantumProgram:
    def __init__(self, base_records: npt.NDArray[np.uint8]) -> None: ...
    def arrays(self) -> dict[str, Any]: ...

def forward_sweep(program: Program, keep_order: bool, progress: Callable[[int], None]) -> QuantumProgram: ...
def backward_sweep(
    program: Program,
    quantum: QuantumProgram,
    by_records: bool,
    with_noise: bool,
    with_faults: bool,
    leakage: npt.NDArray[np.int64],
    max_bytes: int,
    progress: Callable[[int], None],
) -> dict[str, Any]: ...

class _PathSteps(Protocol):
    @property
    def operations(self) -> npt.NDArray[np.void]: ...
    @property
    def rotation_terms(self) -> npt.NDArray[np.void]: ...

class PathExpectations:
    def __init__(
        self,
        steps: _PathSteps,
        num_bits: int,
    ) -> None: ...
    def evaluate(self, paths: npt.NDArray[np.uint8]) -> npt.NDArray[np.float64]: ...

def image_of_rows(
    starts: npt.NDArray[np.int64],
    bits: npt.NDArray[np.int32],
    image_starts: npt.NDArray[np.int64],
    image_bits: npt.NDArray[np.int32],
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int32]]: ...
def independent_rows(starts: npt.NDArray[np.int64], bits: npt.NDArray[np.int32]) -> npt.NDArray[np.int64]: ...
def sums_by_row(
    starts: npt.NDArray[np.int64],
    bits: npt.NDArray[np.int32],
    amounts: npt.NDArray[np.float64],
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int32], npt.NDArray[np.float64]]: ...
def alias_table(
    scaled: npt.NDArray[np.float64],
) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.int32]]: ...
