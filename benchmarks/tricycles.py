"""Magic state factories of tricycle codes (arXiv 2508.10714), with noise after every gate.

Three blocks of a code with three sectors of qubits, whose X checks are (c b a) for polynomials a, b and c of
two cyclic shifts with two terms each. CCZ gates between the blocks, as a cup product, are logical CCZ gates.
Each block is entangled with a two-sector code (c b), which is measured, and whose records correct it. At the
end the blocks are decoded, checks are measured, and ideal CCZ gates undo what the factory has made.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Bits = npt.NDArray[np.int64]
Shift = tuple[int, int]

_SIZES: dict[int, tuple[Shift, tuple[Shift, Shift], tuple[Shift, Shift], tuple[Shift, Shift]]] = {
    27: ((3, 3), ((1, 0), (2, 1)), ((2, 1), (2, 2)), ((0, 0), (1, 2))),
    81: ((3, 9), ((2, 4), (2, 6)), ((1, 3), (2, 1)), ((0, 0), (1, 8))),
}
"""For a number of qubits of a block, the order of the shifts, and the terms of a, b and c."""


def echelon(matrix: Bits) -> tuple[Bits, list[int]]:
    """The reduced row echelon form over GF(2) without zero rows, and its pivots."""
    rows = matrix % 2
    pivots: list[int] = []
    for column in range(rows.shape[1]):
        below = np.flatnonzero(rows[len(pivots) :, column])
        if not len(below):
            continue
        top = len(pivots)
        rows[[top, top + below[0]]] = rows[[top + below[0], top]]
        others = np.flatnonzero(rows[:, column])
        rows[others[others != top]] ^= rows[top]
        pivots.append(column)
        if len(pivots) == len(rows):
            break
    return rows[: len(pivots)], pivots


def kernel(matrix: Bits) -> Bits:
    rows, pivots = echelon(matrix)
    free = [column for column in range(matrix.shape[1]) if column not in pivots]
    vectors = np.zeros((len(free), matrix.shape[1]), dtype=np.int64)
    vectors[range(len(free)), free] = 1
    vectors[:, pivots] = rows[:, free].T
    return vectors


def solution(matrix: Bits, right: Bits) -> Bits:
    """One x with matrix x = right; there must be one."""
    rows, pivots = echelon(np.column_stack([matrix, right]))
    found = np.zeros(matrix.shape[1], dtype=np.int64)
    found[pivots] = rows[:, -1]
    return found


def independent(rows: Bits, others: Bits) -> Bits:
    """The rows that are no sums of earlier ones and of ``others``."""
    _, pivots = echelon(np.vstack([others, rows]).T)
    return rows[[k - len(others) for k in pivots if k >= len(others)]]


def encoding_gates(rows: Bits) -> list[tuple[int, int]]:
    """CX gates that map the X of qubit k to row k, and those of other qubits to what completes a basis."""
    size = rows.shape[1]
    units = np.eye(size, dtype=np.int64)
    matrix = np.vstack([rows, independent(units, rows)]).T.copy()
    gates: list[tuple[int, int]] = []
    for column in range(size):
        pivot = column + int(np.argmax(matrix[column:, column]))
        if pivot != column:
            matrix[[column, pivot]] = matrix[[pivot, column]]
            gates += [(column, pivot), (pivot, column), (column, pivot)]
        for row in np.flatnonzero(matrix[:, column]):
            if row != column:
                matrix[row] ^= matrix[column]
                gates.append((column, int(row)))
    return gates[::-1]


class Code:
    """A code by its X checks and Z checks, with logical operators; ``xs`` chooses those of X."""

    def __init__(self, x_checks: Bits, z_checks: Bits, xs: Bits | None = None) -> None:
        checks = independent(x_checks, x_checks[:0])
        self.n = checks.shape[1]
        self.xs = independent(kernel(z_checks), checks) if xs is None else xs
        self.rows = np.vstack([self.xs, checks])
        units = np.eye(len(self.rows), dtype=np.int64)
        self.zs = np.array([solution(self.rows, units[k]) for k in range(len(self.xs))])


@dataclass(frozen=True)
class Torus:
    """Places of qubits of a sector, and shifts of them."""

    order: Shift

    def shift(self, *shifts: Shift) -> Shift:
        return sum(each[0] for each in shifts) % self.order[0], sum(each[1] for each in shifts) % self.order[
            1
        ]

    def inverse(self, of: Shift) -> Shift:
        return self.shift((-of[0], -of[1]))

    def number(self, place: Shift) -> int:
        return place[0] + self.order[0] * place[1]

    def places(self) -> list[Shift]:
        return [(x, y) for y in range(self.order[1]) for x in range(self.order[0])]

    def matrix(self, terms: tuple[Shift, Shift]) -> Bits:
        found = np.zeros((len(self.places()),) * 2, dtype=np.int64)
        for place, term in itertools.product(self.places(), terms):
            found[self.number(self.shift(term, place)), self.number(place)] ^= 1
        return found

    def triples(self, polynomials: Sequence[tuple[Shift, Shift]]) -> Iterator[tuple[int, ...]]:
        """The qubits of each CCZ gate, one of each block: paths along the three polynomials."""
        size = len(self.places())
        for place, (one, two, three) in itertools.product(self.places(), itertools.permutations(range(3))):
            first, middle = self.inverse(polynomials[one][0]), self.inverse(polynomials[two][1])
            last = self.shift(middle, self.inverse(polynomials[three][1]), polynomials[two][0])
            # The sectors are those of c, b and a.
            yield tuple(
                (2 - sector) * size + self.number(self.shift(at, place))
                for sector, at in ((one, first), (two, middle), (three, last))
            )


def ccz(a: int, b: int, c: int) -> Iterator[str]:
    yield f"T {a} {b} {c}"
    for x, y in ((a, b), (a, c), (b, c)):
        yield from (f"CX {x} {y}", f"T_DAG {y}", f"CX {x} {y}")
    yield from (f"CX {a} {c} {b} {c}", f"T {c}", f"CX {b} {c} {a} {c}")


def with_noise(lines: list[str], p: float) -> Iterator[str]:
    """Gates and resets with noise after them, and measurements with flips before them."""
    after = {"CX": "DEPOLARIZE2", "T": "DEPOLARIZE1", "T_DAG": "DEPOLARIZE1", "RX": "Z_ERROR", "R": "X_ERROR"}
    for line in lines:
        name, _, targets = line.partition(" ")
        if name in ("M", "MX"):
            yield f"{'X' if name == 'M' else 'Z'}_ERROR({p}) {targets}"
        yield line
        if name in after and "rec" not in targets:
            yield f"{after[name]}({p}) {targets}"


def tricycle_factory(block: int, p: float) -> str:
    """A factory of logical CCZ states.

    Args:
        block: Qubits of a block, 27 or 81. The circuit has five times as many.
        p: Strength of the noise of gates, resets and measurements, but not of the final check of the outputs.
    """
    order, *polynomials = _SIZES[block]
    torus, size = Torus(order), order[0] * order[1]
    a, b, c = map(torus.matrix, polynomials)
    zero = np.zeros_like(a)
    x_checks, z_checks = np.hstack([c, b, a]), np.block([[b, a, zero], [c, zero, a], [zero, c, b]]).T
    source, target = Code(x_checks, z_checks), Code(np.hstack([c, b]), np.hstack([b.T, c.T]))
    # The first logical qubits of a block are those that the other code sees; it sees nothing of the rest.
    seen = source.xs[:, : 2 * size] @ target.zs.T % 2
    units = np.eye(len(target.zs), dtype=np.int64)
    chosen = np.vstack([*(solution(seen.T, unit)[None] for unit in units), kernel(seen.T)])
    source = Code(x_checks, z_checks, chosen @ source.xs % 2)

    blocks = [(k * source.n, source) for k in range(3)]
    others = [(3 * source.n + k * target.n, target) for k in range(3)]
    lines = [
        "RX " + " ".join(str(first + q) for first, code in blocks + others for q in range(len(code.rows)))
    ]
    idle = [first + q for first, code in blocks + others for q in range(len(code.rows), code.n)]
    lines.append("R " + " ".join(map(str, idle)))
    for first, code in blocks + others:
        lines += [f"CX {first + u} {first + v}" for u, v in encoding_gates(code.rows)]
    for (first, _), (other, _) in zip(blocks, others, strict=True):
        lines += [f"CX {first + q} {other + q}" for q in range(target.n)]
        lines.append("M " + " ".join(str(other + q) for q in range(target.n)))
        for x, z in zip(source.xs, target.zs, strict=False):
            lines += [
                f"CX rec[{record - target.n}] {first + q}"
                for record in np.flatnonzero(z)
                for q in np.flatnonzero(x)
            ]
    triples = list(dict.fromkeys(torus.triples(polynomials)))
    for triple in triples:
        lines += ccz(*(first + q for (first, _), q in zip(blocks, triple, strict=True)))
    checks = []
    for first, code in blocks:
        lines += [f"CX {first + u} {first + v}" for u, v in encoding_gates(code.rows)[::-1]]
        for q in range(len(code.xs), code.n):
            checks.append(f"{'MX' if q < len(code.rows) else 'M'} {first + q}")
    lines += checks
    tail = [f"DETECTOR rec[{k - len(checks)}]" for k in range(len(checks))]
    made = np.zeros([len(source.xs)] * 3, dtype=np.int64)
    for q, r, s in triples:
        made ^= np.einsum("i,j,k->ijk", source.xs[:, q], source.xs[:, r], source.xs[:, s])
    for logical in np.argwhere(made):
        tail += ccz(*(first + int(k) for (first, _), k in zip(blocks, logical, strict=True)))
    outputs = [first + k for first, code in blocks for k in range(len(code.xs))]
    tail.append("MX " + " ".join(map(str, outputs)))
    tail += [f"OBSERVABLE_INCLUDE({k}) rec[{k - len(outputs)}]" for k in range(len(outputs))]
    return "\n".join([*with_noise(lines, p), *tail])
