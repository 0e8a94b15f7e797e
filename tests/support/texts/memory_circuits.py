"""Stim's memory experiments."""

import stim


def memory(
    task: str,
    distance: int,
    rounds: int,
    *,
    gates: float = 0,
    idle: float = 0,
    reads: float = 0,
    resets: float = 0,
) -> stim.Circuit:
    """A memory with noise after gates, before rounds, at measurements and after resets."""
    return stim.Circuit.generated(
        task,
        distance=distance,
        rounds=rounds,
        after_clifford_depolarization=gates,
        before_round_data_depolarization=idle,
        before_measure_flip_probability=reads,
        after_reset_flip_probability=resets,
    )
