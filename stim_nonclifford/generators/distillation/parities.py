"""The sums of qubits on which the T gates of a protocol act.

A T gate about the sum s of some qubits multiplies a state by exp(iπ s/4). All T gates of a protocol together
multiply the computational state by exp(iπ f/4), where f adds up their sums, each with a sign (T_DAG: -1).
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Literal, get_args

from ...base.arguments import choice

ProtocolChoice = Literal["15-to-1", "8T-to-CCZ"]
PROTOCOL_CHOICES: tuple[ProtocolChoice, ...] = get_args(ProtocolChoice)


@dataclass(frozen=True)
class Parities:
    """A protocol.

    Attributes:
        num_outputs: Number of output qubits; they come first.
        num_checks: Number of check qubits. Each begins in |+>, and ends there without faults.
        sums: The qubits of each sum.
        signs: For each sum, 1 for T and -1 for T_DAG.
    """

    num_outputs: int
    num_checks: int
    sums: tuple[tuple[int, ...], ...]
    signs: tuple[int, ...]


def parities_of(protocol: ProtocolChoice) -> Parities:
    r"""The sums of a protocol.

    * ``15-to-1`` (Bravyi, Kitaev, quant-ph/0403025): output y, checks x1 to x4. The sums are y + v·x for all
      v other than 0. Eight of them are 1 if x is not 0 and y is 0, seven if x is not 0 and y is 1; otherwise
      all are y. So f = -y modulo 8: the output is T_DAG|+>, and the checks stay in |+>.
    * ``8T-to-CCZ`` (Jones, arXiv 1303.3066; Eastin, arXiv 1212.4872): outputs x1 to x3, check c. The sums are
      c + v·x for all v, with the sign (-1)^|v|. So f = 4 if x = (1, 1, 1), else 0: the outputs are CCZ|+++>.

    Args:
        protocol: One of `PROTOCOL_CHOICES`.

    Raises:
        ValueError: There is no such protocol.

    Examples:
        >>> parities_of("15-to-1").sums[:4]
        ((0, 1), (0, 2), (0, 1, 2), (0, 3))
        >>> parities_of("8T-to-CCZ").signs
        (1, -1, -1, 1, -1, 1, 1, -1)
    """
    if choice(protocol, "protocol", PROTOCOL_CHOICES) == "15-to-1":
        vectors = [v[::-1] for v in itertools.product((0, 1), repeat=4) if any(v)]
        sums = tuple((0, *(1 + k for k, bit in enumerate(v) if bit)) for v in vectors)
        return Parities(1, 4, sums, (1,) * 15)
    vectors = [v[::-1] for v in itertools.product((0, 1), repeat=3)]
    sums = tuple((*(k for k, bit in enumerate(v) if bit), 3) for v in vectors)
    return Parities(3, 1, sums, tuple((-1) ** sum(v) for v in vectors))
