"""Patches: groups of qubits that no gate, rotation or measurement connects, each with its own coordinates.

The state of the noise-free machine is a product over the patches. The tables of a patch grow as the square
of its number of qubits, so that those of many patches are much smaller than those of all qubits together.
"""

from __future__ import annotations

from collections.abc import Iterable

from ....base.errors import ResourceLimitError
from ....base.memory import can_be_allocated
from ..program.extent import MAX_TABLEAU_BYTES, tableau_bytes
from ..program.program import Program


def patch_sizes(program: Program) -> list[int]:
    """The number of qubits of each patch, in the order of their first qubits."""
    return program.native.patch_sizes().tolist()


def check_tableau_bytes(sizes: Iterable[int], tables: int) -> None:
    """Checks that there is room for tableaus, which Stim itself does not check."""
    sizes = list(sizes)
    num_bytes = tables * sum(map(tableau_bytes, sizes))
    if num_bytes > MAX_TABLEAU_BYTES or not can_be_allocated(num_bytes):
        largest = max(sizes)
        raise ResourceLimitError(
            f"The circuit uses {sum(sizes):,} qubits, up to {largest:,} of which are connected by gates and"
            f" measurements: the tables of the compiler need {num_bytes:,} bytes. The limit is"
            f" {MAX_TABLEAU_BYTES:,} bytes, or what there is of memory. They grow as the square of the number"
            " of connected qubits: sample the circuit in parts."
        )
