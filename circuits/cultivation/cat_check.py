"""The double cat check: measures the logical operator whose +1 state is the wanted T state.

Conjugating X by T on every data qubit gives a product of H_XY = T X T_DAG = (X+Y)/sqrt(2). On the
distance-3 code this product is the logical operator (X-Y)/sqrt(2), whose +1 state is T_DAG|+>. So
between a layer of T_DAG and a layer of T, the check measures the product of X over all data qubits.

It does so with a tree of CX gates that folds the product onto one qubit, and with extra qubits in
|+> spread over the tree, which do not change the product. After the qubit has been measured and put
back into |+>, the tree runs backwards and returns the extra qubits to |+>: each of them is a flag,
which a fault in either half may raise. The product is checked twice, too: had it been -1, then |+>
on the root would be wrong, and the unfolding would turn that into a Z on a flag and on the root.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from circuits.cultivation.builder import CircuitBuilder, CxMoment
from circuits.cultivation.color_code import ColorCode, Coord


@dataclass(frozen=True)
class CatTree:
    """How to fold the product of X over the data qubits onto one of them.

    Attributes:
        root: The data qubit that ends up carrying the product.
        folds: (control, target) pairs of CX gates, one tuple per moment.
        flags: The extra qubits, which start in |+>.
    """

    root: Coord
    folds: tuple[CxMoment, ...]
    flags: tuple[Coord, ...]


# Measuring X on the control of a CX afterwards is measuring the product of X on control and target
# before: each CX folds its target into its control, and each line brings the product closer to the
# root (2,1). In the first moment every data qubit but (3,2) meets its flag. Four of the flags carry
# the product on from there; (1,0) and (2,0) only watch.
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

CAT_TREES: Mapping[int, CatTree] = {3: _TREE_D3}
"""The tree for each code distance."""


def append_double_cat_check(builder: CircuitBuilder, code: ColorCode) -> None:
    """Appends the check (14 moments for distance 3), all outcomes 0 in the wanted state.

    Args:
        builder: The circuit to extend.
        code: The code whose logical state is checked; its distance must be in `CAT_TREES`.
    """
    tree = CAT_TREES[code.distance]
    builder.reset(x=tree.flags)
    builder.tick()
    builder.t_dag(code.data)
    builder.tick()
    for pairs in tree.folds:
        builder.cx(pairs)
        builder.tick()
    [outcome] = builder.measure(x=[tree.root])
    builder.detector(tree.root, [outcome])
    builder.tick()

    builder.reset(x=[tree.root])
    builder.tick()
    for pairs in reversed(tree.folds):
        builder.cx(pairs)
        builder.tick()
    builder.t(code.data)
    builder.tick()
    records = builder.measure(x=tree.flags)
    for site, record in zip(tree.flags, records, strict=True):
        builder.detector(site, [record])
    builder.tick()
