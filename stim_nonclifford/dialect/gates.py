"""The table of non-Clifford gates, with their names, tags, inverses and decompositions.

Tags, bare names, inverses, the compiler's steps and ``docs/reference/instructions.md`` are derived from
``GATES``. A new gate is one entry of this table. ``tests/dialect/test_gates.py`` fails until the
entry is complete, and the tests' own simulator has the unitary of the gate.

Angles are in half-turns: 1 is π radians. exp(-i π/2 a P) is the rotation about P by the angle a.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

CONDITIONAL_CARRIER = "CZ"
"""The instruction of Stim that stands, with a tag, for gates controlled by records and sweep bits."""

PRODUCT = "P"
"""In ``RotationPart.pauli``: the Pauli product that is the target of the gate, with its sign."""


@dataclass(frozen=True, slots=True)
class CliffordPart:
    """A Clifford gate of a decomposition."""

    name: str  # the name of the gate in Stim
    targets: tuple[int, ...]  # the positions of its targets in the group of targets


@dataclass(frozen=True, slots=True)
class RotationPart:
    """A rotation exp(-i π/2 a P) of a decomposition."""

    # P, with one letter for each target of the group: ``X``, ``Y``, ``Z``, or ``_`` for the identity;
    # or ``PRODUCT`` if the target is itself a Pauli product
    pauli: str
    half_turns: float  # the angle a


Part = CliffordPart | RotationPart
Angles = tuple[float, ...]


@dataclass(frozen=True)
class TaggedForm:
    """An instruction of Stim with a tag that stands for a non-Clifford gate."""

    carrier: str  # name of the instruction
    word: str  # the tag without angles and note
    # the letters of the Pauli product that replaces each group of qubits. With ``"XX"``, the targets
    # ``0 1`` become ``X0*X1``. Empty if the targets are those of the bare gate
    product: str = ""
    inverted: bool = False  # whether the tag has the negated angles of the gate


def negated(angles: Angles) -> Angles:
    """The angles of the inverse of a rotation."""
    return tuple(-angle for angle in angles)


@dataclass(frozen=True)
class GateDefinition:
    """A non-Clifford gate."""

    name: str  # the bare name
    description: str  # the action of the gate up to a global phase, as a formula or in words
    # the tagged instructions that stand for the gate. The bare gate is translated to the first one
    forms: tuple[TaggedForm, ...]
    num_targets: int | None  # number of qubits in a group of targets; None if a group is a Pauli product
    # function of the angles that returns Clifford gates and rotations, in the order in which they are
    # applied. Their product is the gate up to a global phase
    decomposition: Callable[..., tuple[Part, ...]]
    inverse: str  # name of the inverse gate
    # function from the angles of the gate to those of its inverse
    inverse_angles: Callable[[Angles], Angles] = negated
    # the names of the angles in the tag, in the order of the bare gate's arguments
    parameters: tuple[str, ...] = ()
    takes_note: bool = False  # whether the tag may include a note by the user
    aliases: tuple[str, ...] = ()  # further bare names
    # how many targets, the first ones, a record or a sweep bit may stand for. In the decomposition
    # these targets have the letter Z or none, so that a record gives a sign instead. The order of
    # controls does not matter
    num_controls: int = 0

    @property
    def written_form(self) -> TaggedForm:
        """The form to which the bare gate is translated; if it can act on qubits alone, that one."""
        return self.forms[0]

    @property
    def conditional_form(self) -> TaggedForm | None:
        """The form with records as controls."""
        return next((form for form in self.forms if form.carrier == CONDITIONAL_CARRIER), None)

    @property
    def needs_record(self) -> bool:
        """Whether the gate is defined only with a record or sweep bit as its control."""
        return self.written_form.carrier == CONDITIONAL_CARRIER


def _t_gate(
    name: str, carrier: str, pauli: str, half_turns: float, inverse: str, words: tuple[str, ...] = ("T",)
) -> GateDefinition:
    sign = "-" if half_turns > 0 else "+"
    return GateDefinition(
        name,
        description=f"exp({sign}iπ/8 {pauli})",
        forms=tuple(TaggedForm(carrier, word) for word in words),
        num_targets=None if pauli == PRODUCT else 1,
        decomposition=lambda: (RotationPart(pauli, half_turns),),
        inverse=inverse,
        takes_note=True,
    )


def _rotation(name: str, pauli: str, forms: tuple[TaggedForm, ...]) -> GateDefinition:
    return GateDefinition(
        name,
        description=f"exp(-i θ/2 {'⊗'.join(pauli)})",
        forms=forms,
        num_targets=None if pauli == PRODUCT else len(pauli),
        parameters=("theta",),
        decomposition=lambda theta: (RotationPart(pauli, theta),),
        inverse=name,
    )


def _qubit_rotation(pauli: str) -> GateDefinition:
    return _rotation(f"R_{pauli}", pauli, (TaggedForm("I", f"R_{pauli}"),))


def _pair_rotation(paulis: str) -> GateDefinition:
    name = f"R_{paulis}"
    return _rotation(name, paulis, (TaggedForm("SPP", "R_PAULI", product=paulis), TaggedForm("II", name)))


def _controlled(
    name: str,
    description: str,
    carrier: str,
    decomposition: tuple[Part, ...],
    *,
    num_targets: int,
    num_controls: int,
    inverse: str = "",
) -> GateDefinition:
    return GateDefinition(
        name,
        description=description,
        forms=(TaggedForm(carrier, name), TaggedForm(CONDITIONAL_CARRIER, name)),
        num_targets=num_targets,
        decomposition=lambda: decomposition,
        inverse=inverse or name,
        num_controls=num_controls,
    )


def _phase_of_all(paulis: str, half_turns: float) -> tuple[RotationPart, ...]:
    """Rotations whose product is the phase exp(iπ a) on the states where all the Paulis are -1.

    Let the bit x stand for the Pauli (-1)^x. Then x y = (x + y - (x ⊕ y)) / 2, and similarly for three bits.
    Each parity on the right-hand side is a rotation about a Pauli product.
    """
    turn = half_turns / 2 ** (len(paulis) - 1)
    return tuple(
        RotationPart(
            "".join(pauli if k in chosen else "_" for k, pauli in enumerate(paulis)),
            turn if size % 2 else -turn,
        )
        for size in range(1, len(paulis) + 1)
        for chosen in itertools.combinations(range(len(paulis)), size)
    )


def _controlled_phase(name: str, half_turns: float, inverse: str) -> GateDefinition:
    return _controlled(
        name,
        f"{name[1:]} on the second qubit, controlled by the first",
        "II",
        _phase_of_all("ZZ", half_turns),
        num_targets=2,
        num_controls=2,
        inverse=inverse,
    )


_TAG_OF_BLOQ = "HONEST_T"
"""The compiler bloq marks with it where Stim is given S in place of T."""

_DEFINITIONS = (
    _t_gate("T", "S", "Z", 0.25, inverse="T_DAG", words=("T", _TAG_OF_BLOQ)),
    _t_gate("T_DAG", "S_DAG", "Z", -0.25, inverse="T", words=("T", _TAG_OF_BLOQ)),
    _t_gate("TPP", "SPP", PRODUCT, 0.25, inverse="TPP_DAG"),
    _t_gate("TPP_DAG", "SPP_DAG", PRODUCT, -0.25, inverse="TPP"),
    _qubit_rotation("X"),
    _qubit_rotation("Y"),
    _qubit_rotation("Z"),
    _pair_rotation("XX"),
    _pair_rotation("YY"),
    _pair_rotation("ZZ"),
    _rotation(
        "R_PAULI",
        PRODUCT,
        (TaggedForm("SPP", "R_PAULI"), TaggedForm("SPP_DAG", "R_PAULI", inverted=True)),
    ),
    GateDefinition(
        "U3",
        description="R_Z(φ) R_Y(θ) R_Z(λ)",
        forms=(TaggedForm("I", "U3"),),
        num_targets=1,
        parameters=("theta", "phi", "lambda"),
        decomposition=lambda theta, phi, lambda_: (
            RotationPart("Z", lambda_),
            RotationPart("Y", theta),
            RotationPart("Z", phi),
        ),
        inverse="U3",
        inverse_angles=lambda angles: (-angles[0], -angles[2], -angles[1]),
        aliases=("U",),
    ),
    _controlled_phase("CS", 0.5, inverse="CS_DAG"),
    _controlled_phase("CS_DAG", -0.5, inverse="CS"),
    _controlled_phase("CT", 0.25, inverse="CT_DAG"),
    _controlled_phase("CT_DAG", -0.25, inverse="CT"),
    _controlled(
        "CH",
        "H on the second qubit, controlled by the first",
        "II",
        # H = R_Y(1/4) Z R_Y(-1/4)
        (RotationPart("_Y", -0.25), CliffordPart("CZ", (0, 1)), RotationPart("_Y", 0.25)),
        num_targets=2,
        num_controls=1,
    ),
    _controlled(
        "CCZ",
        "Z on the third qubit, controlled by the first two",
        "I",
        _phase_of_all("ZZZ", 1.0),
        num_targets=3,
        num_controls=3,
    ),
    _controlled(
        "CCX",
        "X on the third qubit, controlled by the first two",
        "I",
        _phase_of_all("ZZX", 1.0),
        num_targets=3,
        num_controls=2,
    ),
)

GATES: Mapping[str, GateDefinition] = MappingProxyType({gate.name: gate for gate in _DEFINITIONS})
"""The non-Clifford gates by their names."""

BARE_NAMES: Mapping[str, GateDefinition] = MappingProxyType(
    {name: gate for gate in _DEFINITIONS for name in (gate.name, *gate.aliases)}
)
"""The non-Clifford gates by the names that circuit text may use, aliases included."""


def _forms_of_word() -> dict[str, dict[str, tuple[GateDefinition, TaggedForm]]]:
    found: dict[str, dict[str, tuple[GateDefinition, TaggedForm]]] = {}
    for gate in _DEFINITIONS:
        for form in gate.forms:
            # A form with a product is read as the gate that has the product as its target.
            if not form.product:
                found.setdefault(form.word, {})[form.carrier] = gate, form
    return found


FORMS_OF_WORD: Mapping[str, Mapping[str, tuple[GateDefinition, TaggedForm]]] = MappingProxyType(
    _forms_of_word()
)
"""The meaning of tags: word -> carrier -> the gate and its form."""
