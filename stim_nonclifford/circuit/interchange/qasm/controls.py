"""Unitaries under controls, whose number of gates grows linearly with the controls.

A control of a program is kept as it is, around what it controls, until all of them are known. Up to three are
added gate by gate. Of more, an ancilla holds whether all are 1, so that it alone and the last one control the
rest. That ancilla is computed by Toffoli gates which borrow other qubits (Barenco et al., Phys. Rev. A 52,
3457, lemmas 7.2 and 7.3), and is 0 again afterwards.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from ..steps import Gate, Step, controlled, inverse

_MOST_WITHOUT_ANCILLA = 3


@dataclass(frozen=True, slots=True)
class Controlled:
    """A unitary under controls."""

    controls: tuple[tuple[int, bool], ...]  # each qubit, and whether it must be 1, and not 0
    terms: tuple[Step | Controlled, ...]
    size: int  # number of its gates, about

    @classmethod
    def of(cls, controls: Sequence[tuple[int, bool]], terms: Sequence[Term]) -> Controlled:
        """A unitary under further controls."""
        if len(terms) == 1 and isinstance(terms[0], Controlled):
            return cls.of([*controls, *terms[0].controls], terms[0].terms)
        of_controls = 16 * len(controls)  # of each of the Toffoli ladders
        size = sum(term.size + of_controls if isinstance(term, Controlled) else 8 for term in terms)
        return cls(tuple(controls), tuple(terms), of_controls + size)


Term = Step | Controlled


def size_of(terms: Sequence[Term]) -> int:
    """Number of gates, about."""
    return sum(term.size if isinstance(term, Controlled) else 1 for term in terms)


def inverse_of(terms: Sequence[Term]) -> list[Term]:
    """The inverse of a unitary."""
    return [
        Controlled(term.controls, tuple(inverse_of(term.terms)), term.size)
        if isinstance(term, Controlled)
        else inverse([term])[0]
        for term in reversed(terms)
    ]


def lowered(terms: Sequence[Term], ancilla: Callable[[int], int]) -> Iterator[Step]:
    """The gates of a unitary; ``ancilla`` returns the ancilla of a number, which is 0 before and afterwards.

    Examples:
        >>> [step.name for step in lowered([Controlled.of([(0, False)], [Gate("X", (1,))])], lambda k: 9)]
        ['X', 'CX', 'X']
    """
    return _under([], terms, ancilla, 0)


def _under(
    qubits: Sequence[int], terms: Sequence[Term], ancilla: Callable[[int], int], depth: int
) -> Iterator[Step]:
    """A unitary that is applied if some qubits are 1; ``depth`` ancillas are in use."""
    if len(qubits) > _MOST_WITHOUT_ANCILLA:
        *others, last = qubits
        found = ancilla(depth)
        together = list(_flip(others, found, [last]))
        yield from together
        yield from _under([found, last], terms, ancilla, depth + 1)
        yield from reversed(together)
        return
    for term in terms:
        if isinstance(term, Controlled):
            flips = [Gate("X", (qubit,)) for qubit, positive in term.controls if not positive]
            yield from flips
            inner = [*qubits, *(qubit for qubit, _ in term.controls)]
            yield from _under(inner, term.terms, ancilla, depth)
            yield from flips
            continue
        steps = [term]
        for qubit in reversed(qubits):
            steps = controlled(steps, qubit)
        yield from steps


def _flip(controls: Sequence[int], target: int, borrowed: Sequence[int]) -> Iterator[Gate]:
    """X on a target if all controls are 1; more than two of them need a borrowed qubit, left as it was."""
    count = len(controls)
    if count < 3:
        yield Gate("CX" if count == 1 else "CCX", (*controls, target))
    elif len(borrowed) >= count - 2:
        places = [*borrowed[: count - 2], target]
        ladder = [Gate("CCX", (controls[k + 1], places[k - 1], places[k])) for k in range(count - 2, 0, -1)]
        foot = Gate("CCX", (controls[0], controls[1], places[0]))
        yield from [*ladder, foot, *reversed(ladder)]
        yield from [*ladder[1:], foot, *reversed(ladder[1:])]
    else:
        half = (count + 1) // 2
        spare, *_ = borrowed
        first = list(_flip(controls[:half], spare, [*controls[half:], target]))
        second = list(_flip([*controls[half:], spare], target, controls[:half]))
        yield from [*first, *second, *first, *second]
