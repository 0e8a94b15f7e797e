"""Lists the smallest sets of error mechanisms that make a kept shot wrong, most probable first.

A set is listed with the faults of a shot in which its mechanisms act, and with the number of other faults
that have the same effect.

  stim-nonclifford faults --in circuit.stim --postselect all
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence

from ..rates.fault_sets import MalignantSet
from .options import add_fault_sets, add_shared, fault_set_arguments, whole_number
from .streams import naming, output, read_circuit

_FAR_ENOUGH = 4


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the arguments."""
    add_shared(parser, "--in", "--out")
    add_fault_sets(parser)
    parser.add_argument(
        "--max_weight",
        type=whole_number(0, 100),
        metavar="N",
        help="list all sets of up to N mechanisms (default: those of the fewest mechanisms, of"
        f" {_FAR_ENOUGH} at most)",
    )


def run(args: argparse.Namespace) -> None:
    """Runs the command."""
    circuit = read_circuit(args.circuit)
    asked = fault_set_arguments(args, circuit)
    with naming(args.circuit):
        distance = circuit.fault_distance(
            max_weight=_FAR_ENOUGH if args.max_weight is None else args.max_weight, **asked
        )
        sets = [] if distance.value is None else circuit.malignant_sets(max_weight=args.max_weight, **asked)
    with output(args.out) as file:
        file.write(f"fault distance: {distance}\n".encode())
        for text in _described(sets):
            file.write(text.encode())


def _described(sets: Sequence[MalignantSet]) -> Iterator[str]:
    total = sum(each.probability * each.kept_and_wrong for each in sets)
    if sets:
        yield f"malignant sets: {len(sets)}, with P(these and no others, kept, wrong) = {total:.3g} in all\n"
    for each in sets:
        yield (
            f"\nP(these and no others) = {each.probability:.3g}; then P(kept) = {each.kept:.3g},"
            f" P(kept and wrong) = {each.kept_and_wrong:.3g}\n"
        )
        others = {causes[0]: len(causes) - 1 for causes in each.causes if causes}
        for fault in each.faults:
            count = others.get(fault, 0)
            yield f"  {fault}" + (f"  (or {count} other{'s' * (count > 1)})" if count else "") + "\n"
