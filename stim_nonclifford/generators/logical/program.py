"""Programs of Pauli-product rotations, and what lattice surgery does in their place.

A rotation by θ half-turns about a Pauli product P is exp(-i π θ P): T about P for θ = 1/8, S for 1/4, and P
itself for 1/2, up to a phase (D. Litinski, Quantum 3, 128, 2019). A Clifford gate G before a rotation can be
left out, as

    exp(-i π θ P) G = G exp(-i π θ G† P G),

so that all of them move to the end, and there into the products that are measured. What is left are T gates
about Pauli products, and measurements.

One merge of patches measures a product of Z alone, or one of X alone. Other products are turned first. With
the bits (x | z) of a product, S about a product A of X alone, with the bits (a | 0), makes (x + a | z) of it
if it anticommutes with A, that is, if a · z is odd. So if x · z is odd, one S with a = x leaves a product of
Z. Otherwise one S about the Z of one qubit with an X makes it odd first. These gates are no part of the
program: what follows is turned with them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

import stim

from ...base.arguments import iterable, number, refuse_argument
from ..teleportation.surgery import Basis

Gate = Literal["T", "S", "M"]

_EIGHTHS = 8
"""Angles are multiples of 1/8 half-turn, that of T. Doubled, rotations would need other magic states."""


_ROTATIONS = 'pairs of an angle and a product, such as [(0.125, "ZX")]'


@dataclass(frozen=True)
class SurgeryStep:
    """A gate about a product of one Pauli over logical qubits, or the measurement of such a product.

    Attributes:
        gate: "T" and "S" are rotations by 1/8 and 1/4 half-turn, "M" is a measurement.
        basis: The Pauli of the product.
        qubits: The logical qubits of the product, ascending.
        inverted: Whether the product has the sign -1.
        is_of_program: Whether the program has this step; otherwise it turns a product that comes later.
    """

    gate: Gate
    basis: Basis
    qubits: tuple[int, ...]
    inverted: bool = False
    is_of_program: bool = True


def surgery_steps(
    rotations: Iterable[tuple[float, str]], measurements: Iterable[str]
) -> tuple[int, list[SurgeryStep]]:
    """The number of logical qubits of a program, and its steps by lattice surgery.

    Args:
        rotations: Pairs of an angle in half-turns, a multiple of 1/8, and a Pauli product with a letter of
            ``IXYZ`` for each qubit, and perhaps a sign: the first one acts first.
        measurements: The products that are measured after all rotations.

    Returns:
        The number of qubits, and the steps in order.

    Raises:
        ValueError: There is nothing to do, products have different lengths, a product is no Pauli product or
            is the identity, or an angle is no multiple of 1/8.

    Examples:
        >>> surgery_steps([(1/4, "X"), (1/8, "Z")], ["Z"])[1]  # T about Z after S about X is T about Y
        ... # doctest: +NORMALIZE_WHITESPACE
        [SurgeryStep(gate='S', basis='X', qubits=(0,), inverted=False, is_of_program=False),
         SurgeryStep(gate='T', basis='Z', qubits=(0,), inverted=False, is_of_program=True),
         SurgeryStep(gate='M', basis='Z', qubits=(0,), inverted=False, is_of_program=True)]
    """
    turns, measured = checked_program(rotations, measurements)
    frame = _Frame(len([*(product for _, product in turns), *measured][0]))
    steps: list[SurgeryStep] = []
    for k, (theta, product) in enumerate(turns):
        eighths = _eighths(theta, k)
        inverted = eighths % 4 == 3
        if eighths % 2:
            steps += frame.steps_of("T", -product if inverted else product)
        frame.leave_out((eighths + inverted) // 2 % 4, product)
    for product in measured:
        steps += frame.steps_of("M", product)
    return frame.num_qubits, steps


def checked_program(
    rotations: Iterable[tuple[float, str]], measurements: Iterable[str]
) -> tuple[list[tuple[float, stim.PauliString]], list[stim.PauliString]]:
    """The arguments of ``surgery_steps`` with angles of any size, and products of equal length."""
    turns = []
    for k, pair in enumerate(iterable(rotations, "rotations", _ROTATIONS)):
        if isinstance(pair, str) or not isinstance(pair, Sequence) or len(pair) != 2:
            refuse_argument(f"rotations[{k}]", "an angle in half-turns and a Pauli product", pair)
        turns.append((number(pair[0], f"rotations[{k}][0]"), _product(pair[1], f"rotations[{k}]")))
    wanted = 'Pauli products, such as ["ZI"]'
    products = iterable(measurements, "measurements", wanted)
    measured = [_product(text, f"measurements[{k}]") for k, text in enumerate(products)]
    lengths = {len(product) for product in (*(product for _, product in turns), *measured)}
    if not lengths:
        raise ValueError("There are neither rotations nor measurements.")
    if len(lengths) > 1:
        raise ValueError(
            f"Products have a letter for each logical qubit, but some have {min(lengths)} letters and some"
            f" {max(lengths)}. Write I for the qubits that a product leaves alone."
        )
    return turns, measured


class _Frame:
    """What a product of the program is on the patches, after the gates that were left out and added."""

    def __init__(self, num_qubits: int) -> None:
        self.num_qubits = num_qubits
        self._tableau = stim.Tableau(num_qubits)

    def leave_out(self, quarters: int, product: stim.PauliString) -> None:
        """Leaves out a rotation of the program by so many quarters of a half-turn."""
        for _ in range(quarters):
            self._tableau = _s_gate(-product).then(self._tableau)

    def steps_of(self, gate: Gate, product: stim.PauliString) -> list[SurgeryStep]:
        """A step about a product of the program, after those that turn it to one Pauli."""
        steps: list[SurgeryStep] = []
        for _ in range(3):
            found = self._tableau(product)
            if (step := _step(gate, found)) is not None:
                return [*steps, step]
            x, z = found.to_numpy()
            odd = bool((x & z).sum() % 2)
            chosen = x if odd else x & z if (x & z).any() else x
            which = chosen.nonzero()[0].tolist()
            turn = SurgeryStep("S", "X" if odd else "Z", tuple(which if odd else which[:1]), False, False)
            steps.append(turn)
            self._tableau = self._tableau.then(_s_gate(_pauli_of(turn, self.num_qubits)))
        raise AssertionError("two S gates turn each product to one of Z")


def _step(gate: Gate, product: stim.PauliString) -> SurgeryStep | None:
    """The step about a product of one Pauli; None: the product has several."""
    x, z = product.to_numpy()
    if x.any() and z.any():
        return None
    basis: Basis = "X" if x.any() else "Z"
    return SurgeryStep(gate, basis, tuple((x | z).nonzero()[0].tolist()), product.sign == -1)


def _pauli_of(step: SurgeryStep, num_qubits: int) -> stim.PauliString:
    letters = (step.basis if k in step.qubits else "I" for k in range(num_qubits))
    return stim.PauliString(("-" if step.inverted else "+") + "".join(letters))


def _s_gate(product: stim.PauliString) -> stim.Tableau:
    """S about a product: exp(-i π/4 P) up to a phase."""
    circuit = stim.Circuit(f"I {len(product) - 1}")
    targets: Sequence[stim.GateTarget] = [
        stim.target_pauli(k, product[k]) for k in range(len(product)) if product[k]
    ]
    circuit.append("SPP_DAG" if product.sign == -1 else "SPP", stim.target_combined_paulis(targets))
    return circuit.to_tableau()


def _eighths(theta: float, number: int) -> int:
    eighths = round(theta * _EIGHTHS)
    if abs(theta * _EIGHTHS - eighths) > 1e-9:
        raise ValueError(
            f"The angle of rotation {number} must be a multiple of 1/8 half-turn, that of T, but is"
            f" {theta!r}. Write other rotations as a product of such ones first."
        )
    return eighths % _EIGHTHS


def _product(text: object, what: str) -> stim.PauliString:
    letters = text.lstrip("+-") if isinstance(text, str) else ""
    if not isinstance(text, str) or not letters or set(letters) - set("IXYZ") or len(text) - len(letters) > 1:
        raise ValueError(
            f"The Pauli product {what} must be letters of I, X, Y and Z, one for each logical qubit,"
            f" but is {text!r}."
        )
    if set(letters) == {"I"}:
        raise ValueError(f"The Pauli product {what} is the identity. Leave it out.")
    return stim.PauliString(text)
