"""Patches: groups of qubits that no gate, rotation or measurement connects, each with its own coordinates.

The state of the noise-free machine is a product over the patches. The tables of a patch grow as the square
of its number of qubits, so that those of many patches are much smaller than those of all qubits together.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import stim

from ..errors import ResourceLimitError
from ..memory import can_be_allocated
from .deferred_rotations import DeferredRotation, DeferredRotations, gates_of
from .paulis import Factors, Z, from_pauli_string, pauli_code, to_pauli_string
from .steps import Clifford, Measure, Program, Rotate

__all__ = ["Patch", "check_tableau_bytes", "connected_qubits"]

MAX_TABLEAU_BYTES = 1 << 30

_X = pauli_code("X")


class Patch:
    """The coordinates of some qubits.

    Args:
        qubits: The qubits, ascending. Coordinate k of the patch belongs to qubit k of them.

    Attributes:
        qubits: The qubits.
        to_coordinates: P -> U^-1 P U; gates are prepended, changes of coordinates appended.
        active_mask: The active coordinates.
        deferred: The deferred rotations.
        determined: Outcomes of measurements that are determined, since the last change. It makes repeated
            measurements and resets fast.
    """

    def __init__(self, qubits: Sequence[int]) -> None:
        self.qubits = qubits
        self.to_coordinates = stim.Tableau(len(qubits))
        self.active_mask = 0
        self.deferred = DeferredRotations(len(qubits))
        self.determined: dict[Factors, int] = {}
        self._places = {qubit: k for k, qubit in enumerate(qubits)}

    @property
    def dormant_mask(self) -> int:
        """The dormant coordinates."""
        return (1 << len(self.qubits)) - 1 & ~self.active_mask

    def apply(self, inverse: stim.Tableau, qubits: Iterable[int]) -> None:
        """Applies a Clifford gate, given by its inverse."""
        self.determined.clear()
        self.to_coordinates.prepend(inverse, [self._places[qubit] for qubit in qubits])

    def defer(self, rotation: DeferredRotation, pauli: stim.PauliString) -> None:
        """Applies a rotation about a Pauli of the coordinates, later."""
        self.determined.clear()
        self.deferred.add(rotation, pauli)

    def coordinate_form(self, factors: Factors) -> stim.PauliString:
        """A Pauli of the circuit as a Pauli of the coordinates."""
        local = tuple((self._places[qubit], code) for qubit, code in factors)
        if len(local) == 1:
            ((place, pauli),) = local
            if pauli == Z:
                return self.to_coordinates.z_output(place)
            if pauli == _X:
                return self.to_coordinates.x_output(place)
            return self.to_coordinates.y_output(place)
        return self.to_coordinates(to_pauli_string(local, len(self.qubits)))

    def circuit_form(self, coordinate: int, pauli: str) -> Factors:
        """X or Z of a coordinate as a Pauli of the circuit; its sign is dropped."""
        of = self.to_coordinates
        output = of.inverse_z_output if pauli == "Z" else of.inverse_x_output
        local = from_pauli_string(output(coordinate, unsigned=True))
        return tuple((self.qubits[place], code) for place, code in local)

    def change_coordinates(self, change: stim.Circuit) -> None:
        """Changes the coordinates by Clifford gates on them."""
        self.determined.clear()
        for gate, targets in gates_of(change):
            self.to_coordinates.append(gate, targets)
        self.deferred.change_coordinates(change)


def connected_qubits(program: Program) -> list[list[int]]:
    r"""The qubits of each patch.

    Args:
        program: The circuit's steps.

    Returns:
        Ascending lists of qubits, one for each patch, in the order of their first qubits.

    Examples:
        >>> from .flattening import program_of
        >>> connected_qubits(program_of(stim.Circuit("CX 0 3\nM 1 2\nMXX 3 2")))
        [[0, 2, 3], [1]]
    """
    parents = list(range(program.num_qubits))

    def root(qubit: int) -> int:
        while parents[qubit] != qubit:
            parents[qubit] = parents[parents[qubit]]
            qubit = parents[qubit]
        return qubit

    known: set[int] = set()
    for step in program.steps:
        groups: Iterable[Sequence[int]] = ()
        if isinstance(step, Clifford):
            if step.gate.num_qubits > 1 and id(step) not in known:
                known.add(id(step))  # iterations of a loop share it
                groups = step.groups
        elif isinstance(step, (Measure, Rotate)) and len(step.factors) > 1:
            groups = ([qubit for qubit, _ in step.factors],)
        for group in groups:
            first = root(group[0])
            for other in group[1:]:
                second = root(other)
                first, second = min(first, second), max(first, second)
                parents[second] = first
    patches: dict[int, list[int]] = {}
    for qubit in range(program.num_qubits):
        patches.setdefault(root(qubit), []).append(qubit)
    return list(patches.values())


def check_tableau_bytes(sizes: Iterable[int], tables: int) -> None:
    """Checks that there is room for Stim's tableaus, which Stim itself does not check.

    Args:
        sizes: Numbers of qubits.
        tables: How many tableaus there are for each of them.

    Raises:
        ResourceLimitError: They take too much memory.
    """
    sizes = list(sizes)
    num_bytes = tables * sum((-(-size // 128) * 128) ** 2 // 2 for size in sizes)
    if num_bytes > MAX_TABLEAU_BYTES or not can_be_allocated(num_bytes):
        largest = max(sizes)
        raise ResourceLimitError(
            f"The circuit uses {sum(sizes):,} qubits, up to {largest:,} of which are connected by gates and"
            f" measurements: the tables of the compiler need {num_bytes:,} bytes. The limit is"
            f" {MAX_TABLEAU_BYTES:,} bytes, or what there is of memory. They grow as the square of the number"
            " of connected qubits: sample the circuit in parts."
        )
