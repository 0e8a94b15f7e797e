"""The trees of CX gates of the cat checks: one for each distance and variant of the protocol.

`cat_check` says how a tree measures the product of X over all data qubits.

**Hooks.** An X on a site that carries the product of a subtree becomes X on all data qubits of the subtree,
when the reversed tree unfolds. Flags in |+> do not see this, as they only see Z. With T gates, such an X
between the two layers of rotations is seen by no check with certainty, and two of them with an X on one data
qubit can make a logical X: that is why the fault distance of the published circuit of distance 5 is 3.

**Hook flags** see them. They start in |0>, and CX gates from two sites that carry parts of the product add
the parity of their Z to the flag. The reversed tree adds it again, so that the flag ends in |0> unless there
was an X on one of the two sites in between. As each of the two is in the product, their parity commutes with
it, and the flag learns nothing about the state. The parity is taken before a site takes up the parts of the
product that a hook would spread to: an X from before does not spread.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, get_args

from ..builder import CxMoment
from ..color_code import Coord

VariantChoice = Literal["published", "flagged"]
VARIANT_CHOICES: tuple[VariantChoice, ...] = get_args(VariantChoice)


@dataclass(frozen=True)
class CatTree:
    """A tree of CX gates that folds the product of X over the data qubits onto one of them."""

    root: Coord  # the data qubit that ends up carrying the product
    folds: tuple[CxMoment, ...]  # (control, target) pairs of CX gates, one tuple per moment
    flags: tuple[Coord, ...]  # extra qubits that take part in the product; they start in |+>
    hook_flags: tuple[Coord, ...] = ()  # extra qubits that compare Z of two sites; they start in |0>
    # whether the data qubits rotate while flags are reset or measured, and not a moment later or
    # earlier. This saves two moments, and hook flags need two more
    rotate_at_reset: bool = False


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

# Every data qubit meets a flag here, too. Of a few random trees of at most 15 moments, this is one with which
# no set of four faults is malignant.
_FLAGS_OF_D9 = (
    *(((1, 0), (0, 0)), ((1, 2), (1, 1)), ((2, 0), (2, 1)), ((2, 2), (3, 2)), ((3, 1), (3, 0))),
    *(((3, 3), (2, 3)), ((3, 5), (3, 4)), ((4, 1), (5, 1)), ((4, 3), (4, 2)), ((4, 5), (5, 5))),
    *(((5, 0), (4, 0)), ((5, 2), (5, 3)), ((5, 4), (4, 4)), ((5, 6), (4, 6)), ((5, 8), (5, 7))),
    *(((6, 0), (7, 0)), ((6, 2), (6, 3)), ((6, 4), (6, 5)), ((6, 6), (7, 6)), ((6, 8), (7, 8))),
    *(((7, 1), (6, 1)), ((7, 3), (7, 2)), ((7, 5), (7, 4)), ((7, 7), (6, 7)), ((7, 9), (6, 9))),
    *(((7, 11), (7, 10)), ((8, 1), (8, 0)), ((8, 3), (9, 3)), ((8, 5), (8, 6)), ((8, 7), (8, 8))),
    *(((8, 9), (8, 10)), ((8, 11), (8, 12)), ((9, 0), (9, 1)), ((9, 2), (8, 2)), ((9, 4), (8, 4))),
    *(((9, 6), (9, 5)), ((9, 8), (9, 7)), ((9, 10), (9, 9)), ((10, 0), (11, 0)), ((10, 2), (10, 1))),
    *(((10, 4), (10, 5)), ((10, 6), (10, 7)), ((10, 8), (11, 8)), ((10, 10), (10, 9))),
    *(((10, 11), (9, 11)), ((11, 1), (11, 2)), ((11, 3), (10, 3)), ((11, 5), (11, 4))),
    *(((11, 7), (11, 6)), ((12, 1), (13, 1)), ((12, 3), (12, 2)), ((12, 5), (13, 5)), ((12, 7), (12, 6))),
    *(((13, 0), (12, 0)), ((13, 2), (13, 3)), ((13, 4), (12, 4)), ((14, 0), (14, 1)), ((14, 2), (15, 2))),
    *(((14, 4), (14, 3)), ((15, 1), (15, 0)), ((16, 1), (16, 0))),
)
_TREE_D9 = CatTree(
    root=(9, 3),
    folds=(
        _FLAGS_OF_D9,
        (
            *(((1, 1), (1, 0)), ((3, 3), (3, 4)), ((5, 1), (5, 0)), ((5, 5), (5, 4)), ((5, 6), (5, 7))),
            *(((7, 1), (7, 0)), ((8, 11), (9, 11)), ((9, 8), (9, 9)), ((10, 1), (10, 0))),
            *(((10, 8), (10, 9)), ((11, 6), (10, 6)), ((12, 1), (12, 0)), ((15, 1), (16, 1))),
        ),
        (
            *(((2, 1), (1, 1)), ((3, 2), (3, 3)), ((5, 2), (5, 1)), ((5, 5), (5, 6)), ((8, 10), (8, 11))),
            *(((9, 8), (10, 8)), ((11, 1), (12, 1)), ((12, 6), (11, 6)), ((14, 1), (15, 1))),
        ),
        (
            *(((3, 1), (2, 1)), ((6, 5), (5, 5)), ((7, 10), (8, 10)), ((8, 8), (9, 8))),
            *(((10, 1), (11, 1)), ((12, 5), (12, 6)), ((14, 2), (14, 1))),
        ),
        (
            *(((3, 2), (3, 1)), ((7, 5), (6, 5)), ((7, 8), (8, 8)), ((7, 9), (7, 10)), ((9, 1), (10, 1))),
            *(((12, 4), (12, 5)), ((14, 3), (14, 2))),
        ),
        (((4, 2), (3, 2)), ((7, 8), (7, 9)), ((13, 3), (14, 3))),
        (((5, 2), (4, 2)), ((7, 7), (7, 8)), ((12, 3), (13, 3))),
        (((6, 2), (5, 2)), ((7, 6), (7, 7)), ((12, 4), (12, 3))),
        (((7, 2), (6, 2)), ((7, 5), (7, 6)), ((11, 4), (12, 4))),
        (((7, 1), (7, 2)), ((8, 5), (7, 5)), ((10, 4), (11, 4))),
        (((8, 1), (7, 1)), ((9, 5), (8, 5)), ((10, 3), (10, 4))),
        (((9, 1), (8, 1)), ((9, 3), (10, 3)), ((9, 4), (9, 5))),
        (((9, 2), (9, 1)), ((9, 3), (9, 4))),
        (((9, 3), (9, 2)),),
    ),
    flags=tuple(flag for flag, _ in _FLAGS_OF_D9),
)

# Three hook flags, and a tree in which what they do not see is unlikely to be wrong. Of the two sites that a
# hook flag compares, one is or has a flag in |+>: so a Z on the hook flag, which becomes Z on both sites, is
# seen. The tree came out of a random search that minimized the probability of malignant sets of four faults
# in the check.
_FLAGGED_TREE_D5 = CatTree(
    root=(5, 1),
    folds=(
        (
            ((0, 1), (0, 0)),
            ((1, 0), (1, 1)),
            ((2, 0), (2, 1)),
            ((2, 3), (2, 2)),
            ((2, 4), (3, 4)),
            ((3, 1), (3, 0)),
            ((3, 3), (4, 3)),
            ((4, 1), (4, 0)),
            ((4, 5), (5, 5)),
            ((5, 0), (5, 1)),
            ((5, 2), (4, 2)),
            ((5, 4), (6, 4)),
            ((5, 6), (4, 6)),
            ((6, 0), (6, 1)),
            ((7, 1), (7, 0)),
            ((7, 3), (7, 2)),
            ((8, 1), (8, 0)),
        ),
        (
            ((1, 1), (0, 1)),
            ((2, 1), (2, 2)),
            ((3, 3), (2, 3)),
            ((5, 3), (4, 3)),
            ((5, 4), (4, 4)),
            ((5, 5), (5, 6)),
            ((6, 3), (6, 4)),
            ((7, 1), (8, 1)),
        ),
        (
            ((2, 1), (1, 1)),
            ((3, 3), (3, 4)),
            ((5, 4), (5, 5)),
            ((6, 2), (6, 3)),
            ((7, 2), (7, 1)),
        ),
        (
            ((3, 1), (2, 1)),
            ((3, 2), (3, 3)),
            ((5, 3), (5, 4)),
            ((6, 2), (7, 2)),
        ),
        (
            ((3, 1), (3, 2)),
            ((5, 2), (5, 3)),
            ((6, 1), (6, 2)),
        ),
        (
            ((4, 1), (3, 1)),
            ((5, 1), (6, 1)),
        ),
        (((5, 1), (4, 1)),),
        (((5, 1), (5, 2)),),
    ),
    flags=(
        (0, 1),
        (1, 0),
        (2, 0),
        (2, 4),
        (3, 1),
        (3, 3),
        (4, 1),
        (4, 5),
        (5, 0),
        (5, 2),
        (5, 4),
        (5, 6),
        (6, 0),
        (6, 2),
        (7, 1),
        (7, 3),
        (8, 1),
    ),
    hook_flags=(
        (2, 2),
        (4, 3),
        (6, 4),
    ),
    rotate_at_reset=True,
)

CAT_TREES: Mapping[int, CatTree] = {3: _TREE_D3, 5: _TREE_D5, 7: _TREE_D7, 9: _TREE_D9}
"""The tree of the last cat check of the published variant, for each code distance."""

FLAGGED_CAT_TREES: Mapping[int, CatTree] = {5: _FLAGGED_TREE_D5}
"""The tree of the last cat check of the flagged variant, for each code distance.

Smaller codes on the way are checked with the trees of `CAT_TREES`.
"""
