"""Rectangles of the rotated surface code, on one square grid that all patches share.

Data qubits are at odd coordinates, and the ancilla of a check is at even coordinates, in the middle of its
data qubits. X and Z checks alternate like the fields of a chessboard. At the left and right edge of a
rectangle, every second field is an X check on two qubits. At the lower and upper edge, every second field
is a Z check on two qubits. So

* X on all qubits of any row is a logical operator X_L: it leads from the left to the right edge;
* Z on all qubits of any column is a logical operator Z_L: it leads from the lower to the upper edge.

Which fields are X checks depends on the place on the grid alone. So a rectangle that covers two others and
the column between them has all of their checks, if this column counts once. This is what lattice surgery
uses.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from ..cultivation.builder import Pauli
from ..cultivation.color_code import Coord

_CORNERS: tuple[Coord, ...] = ((-1, -1), (-1, 1), (1, -1), (1, 1))
"""Steps from an ancilla to its data qubits."""


@dataclass(frozen=True, order=True)
class Check:
    """A check: the product of one Pauli over two or four neighbouring data qubits."""

    ancilla: Coord  # site of the ancilla that measures the check
    pauli: Pauli
    data: tuple[Coord, ...]  # sites of the data qubits, sorted

    @property
    def color(self) -> int:
        """Color in drawings: 0 for an X check, 1 for a Z check."""
        return int(self.pauli == "Z")

    @property
    def outline(self) -> tuple[Coord, ...]:
        """Corners in drawings: a check on two qubits is a triangle with its ancilla."""
        return self.data if len(self.data) == 4 else (*self.data, self.ancilla)


@dataclass(frozen=True)
class SurfaceCode:
    """A rectangle of the rotated surface code, which holds one logical qubit.

    Examples:
        >>> code = SurfaceCode(first_column=0, width=3, height=3)
        >>> len(code.data), len(code.checks)
        (9, 8)
        >>> code.x_logical, code.column(2)
        (((1, 5), (3, 5), (5, 5)), ((5, 1), (5, 3), (5, 5)))
        >>> print(code.checks[0])
        Check(ancilla=(0, 2), pauli='X', data=((1, 1), (1, 3)))
    """

    first_column: int  # number of its leftmost column. Column k has the x coordinate 2k+1
    width: int  # number of columns: fewest qubits of an X_L
    height: int  # number of rows: fewest qubits of a Z_L. The lowest row is at y=1

    @property
    def end_column(self) -> int:
        """Number of the column to the right of its rightmost one."""
        return self.first_column + self.width

    def column(self, k: int) -> tuple[Coord, ...]:
        """Sites of the data qubits in a column, from below. Z on all of them is a logical operator."""
        return tuple((2 * k + 1, 2 * row + 1) for row in range(self.height))

    @property
    def x_logical(self) -> tuple[Coord, ...]:
        """Sites of the uppermost row, from the left. X on all of them is the logical operator in use."""
        return tuple((2 * k + 1, 2 * self.height - 1) for k in range(self.first_column, self.end_column))

    @cached_property
    def data(self) -> tuple[Coord, ...]:
        """Sites of the data qubits, sorted."""
        return tuple(site for k in range(self.first_column, self.end_column) for site in self.column(k))

    @cached_property
    def checks(self) -> tuple[Check, ...]:
        """The checks, sorted by the sites of their ancillas."""
        found = []
        for a in range(self.first_column, self.end_column + 1):
            for b in range(self.height + 1):
                pauli: Pauli = "Z" if (a + b) % 2 == 0 else "X"
                on_side = a in (self.first_column, self.end_column)
                on_floor = b in (0, self.height)
                if (on_side and pauli == "Z") or (on_floor and pauli == "X"):
                    continue
                corners = ((2 * a + dx, 2 * b + dy) for dx, dy in _CORNERS)
                found.append(Check((2 * a, 2 * b), pauli, tuple(c for c in corners if c in set(self.data))))
        return tuple(found)

    @property
    def sites(self) -> tuple[Coord, ...]:
        """Sites of all qubits, sorted."""
        return tuple(sorted([*self.data, *(check.ancilla for check in self.checks)]))
