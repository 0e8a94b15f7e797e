"""The sums of qubits on which the T gates of a protocol act.

A T gate about the sum s of some qubits multiplies a state by exp(iπ s/4). All T gates of a protocol together
multiply the computational state by exp(iπ f/4), where f adds up their sums, each with a sign (T_DAG: -1).
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Parities:
    """A protocol."""

    num_outputs: int  # number of output qubits; they come first
    num_checks: int  # number of check qubits. Each begins in |+>, and ends there without faults
    sums: tuple[tuple[int, ...], ...]  # the qubits of each sum
    signs: tuple[int, ...]  # for each sum, 1 for T and -1 for T_DAG
    # for each output, 1 if it ends in T|+>, and -1 if it ends in T_DAG|+>. Empty: the outputs together
    # end in CCZ|+++>
    states: tuple[int, ...] = ()


def parities_of(protocol: str, k: int | None = None) -> Parities:
    """The sums of a protocol on one level of T states.

    Examples:
        >>> parities_of("15-to-1").sums[:4]
        ((0, 1), (0, 2), (0, 1, 2), (0, 3))
        >>> parities_of("8T-to-CCZ").signs
        (1, -1, -1, 1, -1, 1, 1, -1)
        >>> [len(parities_of("3k+8-to-k", k).sums) for k in (2, 4)]
        [14, 20]
    """
    if protocol == "15-to-1":
        return fifteen_to_one()
    if protocol == "49-to-1":
        return forty_nine_to_one()
    if protocol == "8T-to-CCZ":
        return _eight_to_ccz()
    assert k is not None
    return three_k_plus_eight_to_k(k)


def fifteen_to_one(sign: int = 1) -> Parities:
    """15-to-1 (Bravyi, Kitaev, quant-ph/0403025): output y, checks x1 to x4.

    The sums are y + v·x for all v other than 0. Eight of them are 1 if x is not 0 and y is 0, seven if x is
    not 0 and y is 1; otherwise all are y. So f = -y modulo 8: the output is T_DAG|+>, and the checks stay in
    |+>. With the sign -1, T_DAG replaces each T, and the output is T|+>.
    """
    sums = tuple(_sum(v, others=(0,)) for v in _vectors(4) if any(v))
    return Parities(1, 4, sums, (sign,) * 15, (-sign,))


def _eight_to_ccz() -> Parities:
    """8T-to-CCZ (Jones, arXiv 1303.3066; Eastin, arXiv 1212.4872): outputs x1 to x3, check c.

    The sums are c + v·x for all v, with the sign (-1)^|v|. So f = 4 if x = (1, 1, 1), else 0: the outputs are
    CCZ|+++>.
    """
    vectors = _vectors(3)
    sums = tuple((*(k for k, bit in enumerate(v) if bit), 3) for v in vectors)
    return Parities(3, 1, sums, tuple((-1) ** sum(v) for v in vectors))


def forty_nine_to_one() -> Parities:
    """49-to-1 (Bravyi, Haah, arXiv 1209.2426), from two smaller codes (Bravyi, Cross, arXiv 1509.03239).

    The output is y, and the checks are x1 to x8, z, and w1 to w4. Let s run through the 17 columns of
    ``_COLOR_CODE``. The sums are y + s·x, and y + z + s·x, and y + z + v·w for all v other than 0. The number
    of the s·x that are 1 is a multiple of 4, and the number of the v·w a multiple of 8, so that the number of
    all sums that are 1 for y = 0 is a multiple of 8. For y = 1 it is 49 minus that, and f = y modulo 8.
    """
    sums = [_sum(s, others=(0,)) for s in _COLOR_CODE]
    sums += [_sum((*s, 1), others=(0,)) for s in _COLOR_CODE]
    sums += [_sum((*(0,) * 8, 1, *v), others=(0,)) for v in _vectors(4) if any(v)]
    return Parities(1, 13, tuple(sums), (1,) * 49, (1,))


def three_k_plus_eight_to_k(k: int) -> Parities:
    """3k+8-to-k (Bravyi, Haah, arXiv 1209.2426): outputs y1 to yk, an even number, checks c1, c2 and c.

    The sums are c + v·(c1, c2) and y1 + ... + yk + c + v·(c1, c2) for all v, and, for each output, yi +
    v·(c1, c2) for all v other than 0. Where c1 = c2 = 0, the first two groups add up to 4 (y1 + ... + yk)
    modulo 8, and output i adds 3 yi: f = -y1 - ... - yk. Elsewhere the first two add up to 4, and output i
    adds 2 - yi. So f is the same if 2k + 4 is a multiple of 8. If it is not, the sums of the last output have
    T_DAG, which adds 3 - 3 yk or yk - 2 in the place of these: all outputs but this one are T_DAG|+>, and it
    is T|+>.
    """
    outputs = tuple(range(k))
    sums = [_sum((*v, 1), others, first=k) for others in ((), outputs) for v in _vectors(2)]
    sums += [_sum(v, (output,), first=k) for output in outputs for v in _vectors(2) if any(v)]
    states = (-1,) * (k - 1) + (1 if k % 4 == 0 else -1,)
    signs = (1,) * 8 + tuple(-state for state in states for _ in range(3))
    return Parities(k, 3, tuple(sums), signs, states)


def _vectors(size: int) -> list[tuple[int, ...]]:
    """All vectors of bits; the first bit changes first."""
    return [v[::-1] for v in itertools.product((0, 1), repeat=size)]


def _sum(checks: Sequence[int], others: tuple[int, ...] = (), first: int = 1) -> tuple[int, ...]:
    """The qubits of a sum: outputs, and those of the checks, numbered from ``first``, whose bit is 1."""
    return (*others, *(first + k for k, bit in enumerate(checks) if bit))


def _color_code() -> list[tuple[int, ...]]:
    """The columns of eight checks on 17 qubits: the color code of distance 5.

    They are the only ones whose sums have weights that are multiples of 4 and at most 12. Ten of the qubits
    are five pairs: each two neighbouring pairs are a check. Seven are those of Steane's code, with its three
    checks. The last check has one qubit of each pair and these seven.
    """
    columns = []
    for qubit in range(10):
        pair = qubit // 2
        columns.append((*(int(pair in (k, k + 1)) for k in range(4)), 0, 0, 0, 1 - qubit % 2))
    columns += [(0, 0, 0, 0, *v, 1) for v in _vectors(3) if any(v)]
    return columns


_COLOR_CODE = _color_code()
