"""Circuits and expected counts for tests of runs."""

from pathlib import Path
from typing import Any

import sinter

import sinter_plugin
from sinter_plugin.runs.jobs import PackedTask
from sinter_plugin.samplers.task_sampler import TaskSampler

CIRCUIT = """
R 0 1 2 3
H 0 3
S[T] 0 3
X_ERROR(0.01) 0 3
S_DAG[T] 0 3
H 0 3
X_ERROR(0.02) 1 2
M 1 2 3
DETECTOR(0, 0, 0, 1) rec[-3]
DETECTOR(1, 0, 0, 0) rec[-2]
DETECTOR(2, 0, 0, 1) rec[-1]
M 0 2
OBSERVABLE_INCLUDE(0) rec[-1]
OBSERVABLE_INCLUDE(1) rec[-2]
"""
"""An observable that errors flip, and one that a fault flips which a detector sees."""


def circuit_file(folder: Path, name: str = "a.stim") -> Path:
    path = folder / name
    path.write_text(CIRCUIT)
    return path


def task_of(path: Path, decoder: str, **arguments: object) -> sinter.Task:
    metadata = {"path": path.name}
    return sinter_plugin.task(path, decoder=decoder, json_metadata=metadata, **arguments)


def whole_run(task: sinter.Task, sampler: TaskSampler[Any], seed: int, shots: int) -> sinter.AnonTaskStats:
    """The counts of the first shots, taken by one sampler in one call."""
    return PackedTask.of(sampler, task, seed).compiled().sample_range(0, shots)


def counts(stats: sinter.AnonTaskStats | sinter.TaskStats) -> tuple[int, int, int, dict[str, int]]:
    """What must be equal: all but the time."""
    return stats.shots, stats.errors, stats.discards, dict(stats.custom_counts)


def with_range(stats: sinter.AnonTaskStats, seed: int) -> tuple[int, int, int, dict[str, int]]:
    """The counts with the entry that says which shots they are: the first ones."""
    shots, errors, discards, custom = counts(stats)
    return shots, errors, discards, {**custom, f"seed={seed} shots=0:{shots}": shots}
