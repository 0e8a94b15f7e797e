"""Clifford gates as products of rotations by quarter turns and a Pauli."""

from __future__ import annotations

import itertools
from functools import cache

import stim

from ..gates import CliffordPart, Part, RotationPart

# A Pauli as bits: bit 2k is its X part on target k, bit 2k+1 its Z part.
_LETTERS = "_XZY"


@cache
def rotations_of_clifford(name: str) -> tuple[Part, ...]:
    """Rotations and Paulis whose product is a Clifford gate up to a global phase.

    The rotation about P by a quarter turn maps a Pauli Q that anticommutes with P to PQ, up to its sign. Such
    maps, the transvections, generate all linear maps of Paulis that keep commutation. A breadth-first search
    finds the smallest number of them; the sign is that of a Pauli, which comes last.

    Examples:
        >>> for part in rotations_of_clifford("H"):
        ...     print(part)
        RotationPart(pauli='Y', half_turns=0.5)
        CliffordPart(name='X', targets=(0,))
        >>> [part.pauli for part in rotations_of_clifford("SWAP")]
        ['XX', 'ZZ', 'YY']
    """
    wanted = stim.Tableau.from_named_gate(name)
    size = len(wanted)
    products = _shortest_product(_images(wanted), size)
    paulis = ["".join(_LETTERS[bits >> 2 * k & 3] for k in range(size)) for bits in products]
    rotations = stim.Circuit("\n".join(["I " + " ".join(map(str, range(size))), *map(_phase, paulis)]))
    # What is left after the rotations changes signs alone: it is a Pauli.
    rest = rotations.inverse().to_tableau().then(wanted)
    parts: list[Part] = [RotationPart(pauli, 0.5) for pauli in paulis]
    for k in range(size):
        x = rest.z_output(k).sign.real < 0
        z = rest.x_output(k).sign.real < 0
        if x or z:
            parts.append(CliffordPart(_LETTERS[x + 2 * z], (k,)))
    return tuple(parts)


def _phase(pauli: str) -> str:
    return "SPP " + "*".join(f"{letter}{k}" for k, letter in enumerate(pauli) if letter != "_")


def _images(tableau: stim.Tableau) -> tuple[int, ...]:
    """The images of X and Z on each target, without their signs."""
    outputs = [out(k) for k in range(len(tableau)) for out in (tableau.x_output, tableau.z_output)]
    return tuple(
        sum("_XZY".index("_XYZ"[image[k]]) << 2 * k for k in range(len(tableau))) for image in outputs
    )


def _anticommute(a: int, b: int) -> bool:
    swapped = (b & 0x5) << 1 | (b & 0xA) >> 1
    return (a & swapped).bit_count() % 2 == 1


def _shortest_product(wanted: tuple[int, ...], size: int) -> list[int]:
    """The fewest Paulis whose rotations by a quarter turn, one after the other, have these images."""
    identity = tuple(1 << bit for bit in range(2 * size))
    paths: dict[tuple[int, ...], list[int]] = {identity: []}
    layer = [identity]
    while wanted not in paths:
        following = []
        for images, pauli in itertools.product(layer, range(1, 1 << 2 * size)):
            turned = tuple(image ^ pauli if _anticommute(image, pauli) else image for image in images)
            if turned not in paths:
                paths[turned] = [*paths[images], pauli]
                following.append(turned)
        layer = following
    return paths[wanted]
