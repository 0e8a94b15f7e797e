"""One round of check measurements, with the detectors that compare each check with what is known of it.

An ancilla meets its data qubits in four moments. The order is such that one fault of an ancilla, which
spreads to the two data qubits that it meets last, makes a pair across the logical operators: a vertical
pair of X, or a horizontal pair of Z. Ancillas of neighbouring checks meet the two qubits that they share in
the same order.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

from ..cultivation.builder import CircuitBuilder, Pauli
from ..cultivation.color_code import Coord, shifted
from .surface_code import Check

CheckValues = dict[Coord, frozenset[int]]
"""What is known of the checks: the records whose parity is the value of a check, by its ancilla.

The empty set stands for +1. Checks whose value would be random are left out.
"""

# Steps from the ancilla to the data qubit that it meets in each moment.
_STEPS: Mapping[Pauli, tuple[Coord, ...]] = {
    "X": ((-1, 1), (-1, -1), (1, 1), (1, -1)),
    "Z": ((-1, 1), (1, 1), (-1, -1), (1, -1)),
}


def values_after_reset(
    checks: Sequence[Check], *, x: Collection[Coord] = (), z: Collection[Coord] = ()
) -> CheckValues:
    """The checks that are +1 because all their data qubits were reset in their basis.

    Examples:
        >>> left, right = Check((0, 2), "X", ((1, 1), (1, 3))), Check((2, 2), "Z", ((1, 1), (1, 3)))
        >>> values_after_reset([left, right], x=[(1, 1), (1, 3)])
        {(0, 2): frozenset()}
    """
    reset = {"X": set(x), "Z": set(z)}
    return {check.ancilla: frozenset() for check in checks if reset[check.pauli].issuperset(check.data)}


def append_syndrome_round(builder: CircuitBuilder, checks: Sequence[Check], values: CheckValues) -> None:
    """Appends a round (6 moments). The first moment may also have other operations, written before.

    A check whose value is known gets a detector. Afterwards all values are the outcomes of this round.
    """
    ancillas = {pauli: [check.ancilla for check in checks if check.pauli == pauli] for pauli in "XZ"}
    builder.reset(x=ancillas["X"], z=ancillas["Z"])
    builder.tick()
    builder.cx_moments([_meetings(checks, k) for k in range(4)])
    records = builder.measure(x=ancillas["X"], z=ancillas["Z"])
    for ancilla, record in zip([*ancillas["Z"], *ancillas["X"]], records, strict=True):
        append_comparison(builder, ancilla, record, values)
    builder.tick()


def append_comparison(builder: CircuitBuilder, ancilla: Coord, record: int, values: CheckValues) -> None:
    """Appends the detector of a check, if its value was known, and notes its new value."""
    if ancilla in values:
        builder.detector(ancilla, [*sorted(values[ancilla]), record])
    values[ancilla] = frozenset([record])


def append_noiseless_checks(builder: CircuitBuilder, checks: Iterable[Check], values: CheckValues) -> None:
    """Appends perfect measurements of checks, compared with what is known of them."""
    for check in checks:
        append_comparison(builder, check.ancilla, builder.measure_product(check.pauli, check.data), values)


def _meetings(checks: Sequence[Check], k: int) -> list[tuple[Coord, Coord]]:
    """The CX gates in which ancillas meet data qubits for the k-th time: X controls, Z is the target."""
    pairs = []
    for check in checks:
        data = shifted(check.ancilla, _STEPS[check.pauli][k])
        if data in check.data:
            pairs.append((check.ancilla, data) if check.pauli == "X" else (data, check.ancilla))
    return pairs
