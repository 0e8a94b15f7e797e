"""Bell pairs on data qubits that are one, two or three steps apart.

A pair starts at one qubit of its path in |+>, from which CX gates spread: in the first moment along
the middle of the path, in the second to its ends. In the third moment the data qubits take the sites
between them out again, which must end in |0>.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .builder import CircuitBuilder, CxMoment
from .color_code import Coord


@dataclass(frozen=True)
class BellPairs:
    """How to make Bell pairs.

    Attributes:
        starts: Qubits that start in |+>, sorted.
        others: Qubits that start in |0>, sorted.
        spread: Two moments of CX gates; the second is for paths with sites between the ends.
        take_out: A moment of CX gates.
        helpers: Sites between the ends, sorted, which end in |0>.
    """

    starts: tuple[Coord, ...]
    others: tuple[Coord, ...]
    spread: tuple[CxMoment, CxMoment]
    take_out: CxMoment
    helpers: tuple[Coord, ...]

    @classmethod
    def along(cls, paths: Sequence[tuple[Coord, ...]]) -> BellPairs:
        """Plans Bell pairs.

        Args:
            paths: For each pair the sites from one end to the other, of which there are 2, 3 or 4.

        Returns:
            The plan.

        Examples:
            >>> pairs = BellPairs.along([((0, 0), (1, 0), (2, 0))])
            >>> pairs.spread
            ((((1, 0), (0, 0)),), (((1, 0), (2, 0)),))
            >>> pairs.take_out
            (((2, 0), (1, 0)),)
        """
        starts, first, second, third = [], [], [], []
        for path in paths:
            match path:
                case (a, b):
                    starts.append(a)
                    first.append((a, b))
                case (a, m, b):
                    starts.append(m)
                    first.append((m, a))
                    second.append((m, b))
                    third.append((b, m))
                case (a, m, n, b):
                    starts.append(m)
                    first.append((m, n))
                    second += [(m, a), (n, b)]
                    third += [(a, m), (b, n)]
                case _:
                    raise ValueError(f"a path must have 2, 3 or 4 sites, but {path} has {len(path)}")
        sites = {site for path in paths for site in path}
        helpers = {site for path in paths for site in path[1:-1]}
        return cls(
            starts=tuple(sorted(starts)),
            others=tuple(sorted(sites.difference(starts))),
            spread=(tuple(first), tuple(second)),
            take_out=tuple(third),
            helpers=tuple(sorted(helpers)),
        )


def append_bell_pairs(builder: CircuitBuilder, paths: Sequence[tuple[Coord, ...]]) -> None:
    """Appends Bell pairs (5 moments).

    Args:
        builder: The circuit to extend.
        paths: See `BellPairs.along`.
    """
    pairs = BellPairs.along(paths)
    builder.reset(x=pairs.starts, z=pairs.others)
    builder.tick()
    builder.cx_moments([*pairs.spread, pairs.take_out])
    records = builder.measure(z=pairs.helpers)
    for site, record in zip(pairs.helpers, records, strict=True):
        builder.detector(site, [record])
    builder.tick()
