"""How large circuits may be: what is checked before they are unrolled."""

from __future__ import annotations

import stim

from ....base.errors import ResourceLimitError
from .extent import Extent, extent_of

__all__ = [
    "MAX_OBSERVABLES",
    "MAX_OUTPUTS",
    "check_coordinates",
    "check_extent",
    "check_faults",
    "check_flattened",
    "check_targets",
]

MAX_SECONDS = 10
"""The least time that is predicted; most circuits take longer, up to a minute."""
MAX_TARGETS = 1 << 26
MAX_INSTRUCTIONS = 1 << 62
MAX_FAULT_BYTES = 1 << 30
FAULT_BYTES = 1 << 10
"""Memory in bytes of a fault with its names, without the outputs that it flips."""
MAX_OUTPUTS = 1 << 24
MAX_COORDINATES = 1 << 23
"""The largest number of coordinates that are returned. As Python numbers, they take some 40 bytes each."""
MAX_OBSERVABLES = 1 << 21

_ERRORS = {"DEPOLARIZE1": 3, "PAULI_CHANNEL_1": 3, "DEPOLARIZE2": 15, "PAULI_CHANNEL_2": 15} | {
    "HERALDED_ERASE": 4,
    "HERALDED_PAULI_CHANNEL_1": 4,
}
"""Number of errors of one place of noise; 1 if not listed."""


def check_extent(extent: Extent) -> None:
    """Checks that a circuit can be compiled.

    Raises:
        ResourceLimitError: It is too large.
    """
    if extent.seconds > MAX_SECONDS:
        what = f"{extent.targets:,} instruction targets"
        if extent.rotations:
            what += f", {extent.rotations:,} of them of non-Clifford gates,"
        raise ResourceLimitError(
            f"The circuit has {what} once its REPEAT blocks are unrolled. The compiler would follow them for"
            f" {extent.seconds:,} s or more; the limit is {MAX_SECONDS} s. Lower the repeat counts."
        )
    if extent.instructions > MAX_INSTRUCTIONS:
        raise ResourceLimitError(
            f"The circuit has {extent.instructions:,} instructions once its REPEAT blocks are unrolled;"
            f" the limit is {MAX_INSTRUCTIONS:,}. Lower the repeat counts."
        )


def check_targets(extent: Extent) -> None:
    """Checks that the unrolled circuit is of a size that can be listed.

    Raises:
        ResourceLimitError: It has more than 2^26 targets.
    """
    if extent.targets > MAX_TARGETS:
        raise ResourceLimitError(
            f"The circuit has {extent.targets:,} instruction targets once its REPEAT blocks are unrolled;"
            f" the limit is {MAX_TARGETS:,}. Lower the repeat counts."
        )


def check_coordinates(extent: Extent) -> None:
    """Checks that Stim can list the coordinates of the detectors; it crashes where the memory ends.

    Raises:
        ResourceLimitError: There are more than 2^23 coordinates.
    """
    if extent.coordinates > MAX_COORDINATES:
        raise ResourceLimitError(
            f"The detectors of the unrolled circuit have {extent.coordinates:,} coordinates; the limit is"
            f" {MAX_COORDINATES:,}. Lower the repeat counts, or give detectors fewer coordinates."
        )


def check_flattened(circuit: stim.Circuit) -> None:
    """Checks that a circuit is small enough for Stim to unroll it in memory.

    Raises:
        ResourceLimitError: The unrolled circuit would have more than 2^26 targets, or its detectors more than
            2^23 coordinates.
    """
    extent = extent_of(circuit)
    check_targets(extent)
    check_coordinates(extent)


def check_faults(circuit: stim.Circuit, num_outputs: int) -> None:
    """Checks that all faults of a circuit can be listed, each with the outputs that it flips.

    Raises:
        ResourceLimitError: The list would take more than 2^30 bytes.
    """
    count = _num_errors(circuit)
    size = count * (FAULT_BYTES + num_outputs // 8)
    if size > MAX_FAULT_BYTES:
        raise ResourceLimitError(
            f"The noise of the circuit can cause {count:,} faults, and a list of these with the"
            f" {num_outputs:,} outputs that they may flip takes {size / 2**30:,.1f} GiB; the"
            f" limit is {MAX_FAULT_BYTES >> 30} GiB. Lower the repeat counts."
        )


def _num_errors(circuit: stim.Circuit) -> int:
    """Number of errors that the noise of a circuit can cause."""
    count = 0
    for part in circuit:
        if isinstance(part, stim.CircuitRepeatBlock):
            count += part.repeat_count * _num_errors(part.body_copy())
        elif stim.gate_data(part.name).is_noisy_gate and any(part.gate_args_copy()):
            count += len(part.target_groups()) * _ERRORS.get(part.name, 1)
    return count
