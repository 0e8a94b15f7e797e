"""Where color codes are grafted onto the surface code, and how the graft is undone: tables of sites.

A color code of distance d takes the place of d x d data qubits in the tip of the surface code. Each of its
data qubits is at most one step away from one of theirs.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from ..color_code import Coord
from .surface_patch import Basis


@dataclass(frozen=True)
class Move:
    """A data qubit that moves by one step."""

    origin: Coord  # where it is before
    target: Coord  # where it is afterwards
    # the basis of the state, |+> or |0>, in which the target starts, and which is left at the origin
    leaves: Basis

    @property
    def gate(self) -> tuple[Coord, Coord]:
        """The first of the two CX gates of the move; the second one has control and target exchanged."""
        return (self.origin, self.target) if self.leaves == "Z" else (self.target, self.origin)


@dataclass(frozen=True)
class Reach:
    """Data qubits that an ancilla reads beside those of its tile, or of its face."""

    ancilla: Coord
    basis: Basis
    data: tuple[Coord, ...]
    helper: Coord | None = None  # the site between them and the ancilla, if they are no neighbours of it

    @property
    def helper_starts(self) -> Basis:
        """The basis in which a helper starts, and is measured."""
        return "Z" if self.basis == "X" else "X"

    def helper_gates(self) -> list[tuple[Coord, Coord]]:
        """The CX gates by which a helper reads the data qubits, one after the other.

        For an X check, the helper, in |0>, gets the bit of the ancilla, acts on the data qubits and loses the
        bit again. For a Z check, controls and targets trade places, and the helper is in |+>.

        Examples:
            >>> Reach((0, 0), "X", ((2, 0),), (1, 0)).helper_gates()
            [((0, 0), (1, 0)), ((1, 0), (2, 0)), ((0, 0), (1, 0))]
        """
        if self.helper is None:
            return []
        join = (self.ancilla, self.helper)
        gates = [join, *((self.helper, site) for site in self.data), join]
        return gates if self.basis == "X" else [gate[::-1] for gate in gates]


@dataclass(frozen=True)
class Product:
    """Faces at the tip whose product is known when they are measured for the first time."""

    faces: tuple[Coord, ...]  # the ancillas of the faces
    tiles: tuple[Coord, ...] = ()  # the ancillas of the checks of tiles whose product this is

    def records(self, tiles: Mapping[Coord, int], faces: Mapping[Coord, int]) -> list[int]:
        """The outcomes of the checks of tiles and of faces, from those of all of them."""
        return [*(tiles[site] for site in self.tiles), *(faces[site] for site in self.faces)]


@dataclass(frozen=True)
class Graft:
    """The graft of a color code of some distance."""

    distance: int
    # the least distance of the surface code. The change of code forgets most checks at the tip, so that
    # errors before it need not cross the tip to be a logical error
    least_distance: int
    tip: Coord  # the site of the tip of the surface code
    extensions: tuple[Reach, ...]  # the extended checks
    # moves of the data qubits at the ancillas of a Z face and of an X face of the seam, in this order,
    # from the color code to the surface code. Their targets are the Z ancilla of a tile and the X
    # ancilla of another one
    apex_moves: tuple[Move, Move]
    tip_moves: tuple[Move, ...]  # moves of other data qubits, at the change of code
    products: tuple[Product, ...]  # what is known of the faces at the tip before the change of code
    # for each basis, the ancillas of faces and tiles whose product the change of code multiplies the
    # logical operator with
    flips: Mapping[Basis, Product]
    # data qubits that the change of code adds, with the bases in which they start
    tip_starts: Mapping[Coord, Basis] = field(default_factory=dict)
    # the path of a Bell pair that the change of code adds: data qubit, ancilla, data qubit
    tip_pair: tuple[Coord, Coord, Coord] | None = None
    num_rounds: int = 2  # how often seam and graft are measured
    # how other faces of the seam read data qubits of the color code, with helpers
    reaches: tuple[Reach, ...] = ()
    decodes_tiles: bool = False  # whether a decoder reads all tiles after the first graft


_THREE = Graft(
    distance=3,
    least_distance=5,
    tip=(2, -2),
    extensions=(Reach((1, 2), "X", ((0, 2), (1, 3))), Reach((4, 1), "Z", ((4, 2), (5, 1)))),
    apex_moves=(Move((2, 3), (2, 2), "Z"), Move((3, 2), (3, 1), "X")),
    tip_moves=(Move((2, 1), (2, 0), "Z"), Move((3, 0), (3, -1), "X")),
    tip_pair=((1, -1), (2, -1), (2, -2)),
    products=(
        Product(((3, 0),), ((3, 1),)),
        Product(((2, 1),), ((2, 2),)),
        Product(((1, 0), (3, -2)), ((1, 0),)),
        Product(((4, 1), (2, -1)), ((4, 1),)),
    ),
    flips={"X": Product(((1, 2),), ((1, 2),)), "Z": Product(((0, -1),))},
)

_FIVE = Graft(
    distance=5,
    least_distance=9,
    tip=(4, -3),
    extensions=(
        Reach((1, 2), "X", ((0, 3), (1, 4)), (1, 3)),
        Reach((3, 5), "X", ((2, 5), (3, 6))),
        Reach((6, 4), "Z", ((6, 5), (7, 4))),
        Reach((8, 1), "Z", ((8, 3), (9, 2)), (8, 2)),
    ),
    apex_moves=(Move((4, 6), (4, 5), "Z"), Move((5, 5), (5, 4), "X")),
    reaches=(Reach((0, 2), "Z", ((0, 0), (1, 1)), (0, 1)), Reach((9, 1), "X", ((8, 0),), (8, 1))),
    tip_moves=(
        Move((0, 0), (0, 1), "Z"),
        Move((1, 1), (1, 2), "X"),
        Move((4, 0), (4, -1), "Z"),
        Move((4, 2), (4, 1), "Z"),
        Move((4, 4), (4, 3), "Z"),
        Move((5, 1), (5, 0), "X"),
        Move((5, 3), (5, 2), "X"),
        Move((8, 0), (8, 1), "Z"),
    ),
    tip_starts={
        **dict.fromkeys([(1, 0), (2, -1), (3, -2)], "Z"),
        **dict.fromkeys([(4, -3), (5, -2), (6, -1)], "X"),
    },
    products=(
        Product(((7, 1),), ((7, 1),)),
        Product(((5, 3),), ((5, 4),)),
        Product(((3, 1), (5, -1)), ((3, 1),)),
        Product(((5, -3),)),
        Product(((2, 2),), ((2, 2),)),
        Product(((4, 4),), ((4, 5),)),
        Product(((2, -2),)),
        Product(((2, 0), (4, 2), (6, 4), (8, 2)), ((4, 1), (6, 0), (6, 4), (8, 1))),
    ),
    flips={
        "X": Product(
            ((1, 1), (1, 3), (3, -1), (3, 3), (3, 5), (5, 1), (7, -1)),
            ((1, 0), (1, 2), (3, 3), (3, 5), (5, 0), (5, 2)),
        ),
        "Z": Product(((0, 0), (4, -2), (4, 0), (6, 0), (6, 2)), ((2, 0), (4, 3), (6, 2))),
    },
    num_rounds=3,
    decodes_tiles=True,
)

GRAFTS: Mapping[int, Graft] = {graft.distance: graft for graft in (_THREE, _FIVE)}
"""By the distance of the color code."""
