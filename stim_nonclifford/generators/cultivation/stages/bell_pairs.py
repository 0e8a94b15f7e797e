"""Bell pairs on data qubits that are one, two or three steps apart.

One qubit of the path starts in |+>, and CX gates copy its bit along the path: in the first moment along
the middle of the path, in the second to its ends. In the third moment, CX gates from the data qubits
disentangle the *helpers*, the sites between the ends. The helpers then must be in |0>.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..builder import CircuitBuilder, CxMoment
from ..color_code import Coord


@dataclass(frozen=True)
class BellPairs:
    """The operations that prepare Bell pairs."""

    starts: tuple[Coord, ...]  # qubits that start in |+>, sorted
    others: tuple[Coord, ...]  # qubits that start in |0>, sorted
    # two moments of CX gates that copy bits; paths without helpers need only the first
    spread: tuple[CxMoment, CxMoment]
    take_out: CxMoment  # the moment of CX gates that disentangles the helpers
    helpers: tuple[Coord, ...]  # sites between the ends of the paths, sorted; they end in |0>

    @classmethod
    def along(cls, paths: Sequence[tuple[Coord, ...]]) -> BellPairs:
        """Plans Bell pairs, each along the 2, 3 or 4 sites from one end to the other.

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
    """Appends the preparation of Bell pairs (5 moments)."""
    pairs = BellPairs.along(paths)
    builder.reset(x=pairs.starts, z=pairs.others)
    builder.tick()
    builder.cx_moments([*pairs.spread, pairs.take_out])
    records = builder.measure(z=pairs.helpers)
    for site, record in zip(pairs.helpers, records, strict=True):
        builder.detector(site, [record])
    builder.tick()
