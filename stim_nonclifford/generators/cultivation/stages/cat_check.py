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

from ..builder import CircuitBuilder
from ..color_code import ColorCode
from .cat_trees import CAT_TREES, CatTree
from .rotations import append_rotations


def append_double_cat_check(builder: CircuitBuilder, code: ColorCode, tree: CatTree | None = None) -> None:
    """Appends the check (14, 20, 26 or 34 moments). In the wanted state all outcomes are 0.

    By default, the tree of CX gates is that of the published circuits, from `CAT_TREES`.
    """
    if tree is None:
        tree = CAT_TREES[code.distance]
    builder.begin_stage(f"cat check d={code.distance}")
    builder.reset(x=tree.flags, z=tree.hook_flags)
    if not tree.rotate_at_reset:
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
    if not tree.rotate_at_reset:
        builder.tick()
    records = builder.measure(x=tree.flags, z=tree.hook_flags)
    for site, record in zip((*tree.hook_flags, *tree.flags), records, strict=True):
        builder.detector(site, [record])
    builder.tick()
