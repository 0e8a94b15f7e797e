"""The double cat check: measures the logical operator whose +1 state is the wanted T state.

Between two layers of rotations (see `rotations`), the product of X over all data qubits is the logical
operator (X-Y)/sqrt(2), whose +1 state is T_DAG|+>. This stage measures that product.

A tree of CX gates folds the product onto one data qubit, the root. Extra qubits in |+> take part in the
tree, and do not change the product. The root is measured and reset to |+>. Then the tree runs backwards,
which returns the extra qubits to |+>. Each of them is a *flag*: a fault in either half of the stage may
flip its outcome. The product is checked twice, too: if it was -1, then |+> is the wrong state of the root,
and the reversed tree turns this error into a Z on the root and on a flag.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from .builder import CircuitBuilder, CxMoment
from .color_code import ColorCode, Coord
from .rotations import append_rotations


@dataclass(frozen=True)
class CatTree:
    """A tree of CX gates that folds the product of X over the data qubits onto one of them.

    Attributes:
        root: The data qubit that ends up carrying the product.
        folds: (control, target) pairs of CX gates, one tuple per moment.
        flags: The extra qubits; they start in |+>.
    """

    root: Coord
    folds: tuple[CxMoment, ...]
    flags: tuple[Coord, ...]


# X on the control after a CX equals the product of X on control and target before it. So each CX folds
# its target into its control, and each line brings the product closer to the root (2,1). In the first
# moment, every data qubit except (3,2) meets its flag. Four of the flags then carry part of the product;
# (1,0) and (2,0) only detect faults.
_TREE_D3 = CatTree(
    root=(2, 1),
    folds=(
        (
            ((0, 1), (0, 0)),
            ((1, 0), (1, 1)),
            ((2, 0), (2, 1)),
            ((2, 2), (2, 3)),
            ((3, 1), (3, 0)),
            ((4, 1), (4, 0)),
        ),
        (((1, 1), (0, 1)), ((2, 1), (2, 2)), ((3, 1), (4, 1))),
        (((2, 1), (1, 1)), ((3, 1), (3, 2))),
        (((2, 1), (3, 1)),),
    ),
    flags=((0, 1), (1, 0), (2, 0), (2, 2), (3, 1), (4, 1)),
)

# Here every data qubit meets a flag. The product is then folded from all edges inwards: on the left onto
# (4,1), on the right onto the root (5,1). The last CX folds (4,1) into the root.
_TREE_D5 = CatTree(
    root=(5, 1),
    folds=(
        (
            ((0, 1), (0, 0)),
            ((1, 0), (1, 1)),
            ((2, 0), (2, 1)),
            ((2, 2), (3, 2)),
            ((2, 4), (3, 4)),
            ((3, 1), (3, 0)),
            ((3, 3), (2, 3)),
            ((4, 1), (4, 0)),
            ((4, 3), (5, 3)),
            ((4, 5), (5, 5)),
            ((5, 0), (5, 1)),
            ((5, 2), (4, 2)),
            ((5, 4), (4, 4)),
            ((5, 6), (4, 6)),
            ((6, 0), (6, 1)),
            ((6, 2), (6, 3)),
            ((7, 1), (7, 0)),
            ((7, 3), (7, 2)),
            ((8, 1), (8, 0)),
        ),
        (((1, 1), (0, 1)), ((3, 3), (3, 4)), ((5, 5), (5, 6)), ((6, 2), (7, 2)), ((7, 1), (8, 1))),
        (((2, 1), (1, 1)), ((3, 2), (3, 3)), ((5, 2), (6, 2)), ((5, 4), (5, 5)), ((6, 1), (7, 1))),
        (((3, 1), (3, 2)), ((5, 1), (6, 1)), ((5, 3), (5, 4))),
        (((3, 1), (2, 1)), ((5, 2), (5, 3))),
        (((4, 1), (3, 1)), ((5, 1), (5, 2))),
        (((5, 1), (4, 1)),),
    ),
    flags=(
        *((0, 1), (1, 0), (2, 0), (2, 2), (2, 4), (3, 1), (3, 3), (4, 1), (4, 3), (4, 5)),
        *((5, 0), (5, 2), (5, 4), (5, 6), (6, 0), (6, 2), (7, 1), (7, 3), (8, 1)),
    ),
)

# Every data qubit meets a flag again. An X on a site that carries the product of a subtree becomes X on all
# its data qubits, which no flag sees; a few of these and X on few data qubits after the check can make a
# logical X. This tree came out of a search over assignments of flags, trees and orders of gates, for short
# trees in which such sets are unlikely.
_TREE_D7 = CatTree(
    root=(7, 2),
    folds=(
        (
            ((1, 0), (0, 0)),
            ((1, 2), (1, 1)),
            ((2, 0), (2, 1)),
            ((2, 2), (3, 2)),
            ((3, 1), (3, 0)),
            ((3, 3), (2, 3)),
            ((3, 5), (3, 4)),
            ((4, 1), (5, 1)),
            ((4, 3), (4, 2)),
            ((4, 5), (5, 5)),
            ((5, 0), (4, 0)),
            ((5, 2), (5, 3)),
            ((5, 4), (4, 4)),
            ((5, 6), (4, 6)),
            ((5, 8), (5, 7)),
            ((6, 0), (7, 0)),
            ((6, 2), (6, 1)),
            ((6, 4), (7, 4)),
            ((6, 6), (7, 6)),
            ((6, 8), (6, 9)),
            ((7, 1), (7, 2)),
            ((7, 3), (6, 3)),
            ((7, 5), (6, 5)),
            ((7, 7), (6, 7)),
            ((7, 9), (7, 8)),
            ((8, 1), (8, 0)),
            ((8, 3), (8, 2)),
            ((8, 5), (8, 4)),
            ((8, 7), (8, 6)),
            ((9, 0), (9, 1)),
            ((9, 2), (9, 3)),
            ((9, 4), (9, 5)),
            ((10, 0), (10, 1)),
            ((10, 2), (11, 2)),
            ((10, 4), (10, 3)),
            ((11, 1), (11, 0)),
            ((12, 1), (12, 0)),
        ),
        (((1, 1), (1, 0)), ((4, 5), (4, 6)), ((6, 8), (5, 8)), ((10, 3), (10, 2))),
        (
            ((2, 1), (1, 1)),
            ((4, 4), (4, 5)),
            ((7, 7), (8, 7)),
            ((7, 8), (6, 8)),
            ((9, 3), (10, 3)),
            ((11, 1), (12, 1)),
        ),
        (((3, 1), (2, 1)), ((3, 4), (4, 4)), ((7, 7), (7, 8)), ((9, 4), (9, 3)), ((10, 1), (11, 1))),
        (
            ((3, 2), (3, 1)),
            ((3, 3), (3, 4)),
            ((5, 0), (6, 0)),
            ((7, 6), (7, 7)),
            ((8, 4), (9, 4)),
            ((9, 1), (10, 1)),
        ),
        (((3, 2), (3, 3)), ((5, 1), (5, 0)), ((7, 4), (8, 4)), ((7, 5), (7, 6)), ((8, 1), (9, 1))),
        (((4, 2), (3, 2)), ((5, 2), (5, 1)), ((7, 4), (7, 5)), ((8, 2), (8, 1))),
        (((5, 2), (4, 2)), ((7, 2), (8, 2)), ((7, 3), (7, 4))),
        (((6, 2), (5, 2)), ((7, 2), (7, 3))),
        (((7, 2), (6, 2)),),
    ),
    flags=(
        (1, 0),
        (1, 2),
        (2, 0),
        (2, 2),
        (3, 1),
        (3, 3),
        (3, 5),
        (4, 1),
        (4, 3),
        (4, 5),
        (5, 0),
        (5, 2),
        (5, 4),
        (5, 6),
        (5, 8),
        (6, 0),
        (6, 2),
        (6, 4),
        (6, 6),
        (6, 8),
        (7, 1),
        (7, 3),
        (7, 5),
        (7, 7),
        (7, 9),
        (8, 1),
        (8, 3),
        (8, 5),
        (8, 7),
        (9, 0),
        (9, 2),
        (9, 4),
        (10, 0),
        (10, 2),
        (10, 4),
        (11, 1),
        (12, 1),
    ),
)

CAT_TREES: Mapping[int, CatTree] = {3: _TREE_D3, 5: _TREE_D5, 7: _TREE_D7}
"""The tree for each code distance."""


def append_double_cat_check(builder: CircuitBuilder, code: ColorCode) -> None:
    """Appends the check (14, 20 or 26 moments). In the wanted state all outcomes are 0.

    Args:
        builder: The circuit to extend.
        code: The code whose logical state is checked; its distance must be in `CAT_TREES`.
    """
    tree = CAT_TREES[code.distance]
    builder.begin_stage(f"cat check d={code.distance}")
    builder.reset(x=tree.flags)
    builder.tick()
    append_rotations(builder, code)
    builder.tick()
    builder.cx_moments(tree.folds)
    [outcome] = builder.measure(x=[tree.root])
    builder.detector(tree.root, [outcome])
    builder.tick()

    builder.reset(x=[tree.root])
    builder.tick()
    builder.cx_moments(reversed(tree.folds))
    append_rotations(builder, code, undo=True)
    builder.tick()
    records = builder.measure(x=tree.flags)
    for site, record in zip(tree.flags, records, strict=True):
        builder.detector(site, [record])
    builder.tick()
