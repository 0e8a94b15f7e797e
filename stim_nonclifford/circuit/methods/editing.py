"""Stim's methods to build and change circuits, for circuits with non-Clifford gates."""

from __future__ import annotations

import numbers
from collections.abc import Iterable, Iterator
from typing import Any, TypeAlias, TypeVar, overload

import stim

from ...base.arguments import check_types, integer, iterable, number, refuse_argument, text
from ...base.errors import ResourceLimitError
from ...base.memory import memory_is_a_limit
from ...dialect import (
    TOO_DEEP,
    advice_on_name,
    circuit_repr,
    extended_text,
    inverse_of_tagged,
    is_too_deep,
    listed_targets,
    parse,
    tagged_instruction,
    values_of_operators,
    with_checked_tags,
    without_noise,
)
from ...simulation.compiler.program.extent import Extent, extent_of
from ...simulation.compiler.program.extent_limits import check_targets
from ..pickled_circuit import State, circuit_of_state, state_of
from ..printed_instructions import printed_bare
from ..rewriting.decomposition import decomposed
from ..rewriting.notes import without_notes
from ..rewriting.pauli_twirling import pauli_twirled
from ..rewriting.replacement import circuit_of, with_replaced, without_numbers

__all__ = ["CircuitEditing", "check_coordinates", "check_flattened"]


Self = TypeVar("Self", bound="CircuitEditing")
_MAX_COORDINATES = 1 << 23
"""The largest number of coordinates that are returned. As Python numbers, they take some 40 bytes each."""

Instruction: TypeAlias = stim.CircuitInstruction | stim.CircuitRepeatBlock
_FAR = (1 << 62) - 1
_PARTS = (stim.Circuit, stim.CircuitInstruction, stim.CircuitRepeatBlock)


class CircuitEditing:
    """The methods of ``stim.Circuit`` to build and change circuits.

    Arguments may be bare instructions (``append("T", [0])``) or tagged ones. Instructions that methods return
    are Stim's: ``circuit[0]`` of a T gate has the name S and the tag T, and is printed as ``T 0``.
    """

    _stim: stim.Circuit

    @classmethod
    def _wrap(cls: type[Self], circuit: stim.Circuit) -> Self:
        """A circuit from a ``stim.Circuit`` whose tags are known to be valid."""
        result = cls.__new__(cls)
        result._stim = circuit
        return result

    def _append_checked(self, addition: stim.Circuit) -> None:
        self._stim += with_checked_tags(addition)

    def append(
        self,
        name: str | Instruction | CircuitEditing | stim.Circuit,
        targets: int | stim.GateTarget | stim.PauliString | Iterable[Any] = (),
        arg: float | Iterable[Any] | None = None,
        *,
        tag: str = "",
    ) -> None:
        """Appends an instruction, as ``stim.Circuit.append``.

        Args:
            name: The name of a gate (it may be a bare non-Clifford gate), an instruction, or a circuit.
            targets: A target, or an iterable of targets. A ``stim.PauliString`` is a product with its sign,
                which Stim drops.
            arg: The arguments; angles of rotations are in half-turns. For KRAUS they may be the operators, an
                array of shape (number of operators, 2, 2), and for KRAUS2 one of shape (number of operators,
                4, 4).
            tag: The tag; T gates accept any tag as a note.

        Raises:
            IndexError: There is no instruction of this name.
            ValueError: The instruction is malformed.

        Examples:
            >>> import stim_nonclifford as snc
            >>> circuit = snc.Circuit()
            >>> circuit.append("T", [0, 1])
            >>> circuit.append("R_Z", [2], 0.125)
            >>> circuit.append("X_ERROR", 0, 0.01)
            >>> print(circuit)
            T 0 1
            R_Z(0.125) 2
            X_ERROR(0.01) 0
        """
        addition = stim.Circuit()
        targets, tag = listed_targets(str(name), targets), text(tag, "tag")
        if not isinstance(name, str):
            check_types(
                name, "name", "the name of a gate, an instruction or a circuit", CircuitEditing, *_PARTS
            )
            if targets or arg is not None or tag:
                raise ValueError(
                    f"`targets`, `arg` and `tag` belong to the name of a gate, but name is a"
                    f" {type(name).__name__}. Leave them out."
                )
            addition.append(name._stim if isinstance(name, CircuitEditing) else name)
        else:
            if name.upper() in ("KRAUS", "KRAUS2") and isinstance(arg, Iterable) and not _is_flat(arg):
                arg = values_of_operators(arg, name.upper())
            arg = _checked_arg(arg)
            instruction = tagged_instruction(name, targets, arg, tag)
            if instruction is not None:
                addition.append(instruction)
            else:
                try:
                    addition.append(name, targets, arg, tag=tag)
                except IndexError as error:  # Stim has no such gate
                    raise IndexError(f"{error}{advice_on_name(name)}") from None
        self._append_checked(addition)

    def append_from_stim_program_text(self, stim_program_text: str) -> None:
        r"""Appends circuit text, whose non-Clifford gates may be bare or tagged.

        Examples:
            >>> import stim_nonclifford as snc
            >>> circuit = snc.Circuit("H 0")
            >>> circuit.append_from_stim_program_text("T 0\nM 0")
            >>> len(circuit)
            3
        """
        self._stim += parse(text(stim_program_text, "stim_program_text"))

    def insert(self, index: int, operation: Instruction | CircuitEditing | stim.Circuit) -> None:
        """Inserts an instruction or a circuit, as ``stim.Circuit.insert``.

        Raises:
            ValueError: A tag is unknown or malformed.
        """
        index, addition = integer(index, "index", -_FAR, _FAR), stim.Circuit()
        if isinstance(operation, CircuitEditing):
            addition = operation._stim
        else:
            check_types(operation, "operation", "an instruction or a circuit", *_PARTS)
            addition.append(operation)
        self._stim.insert(index, with_checked_tags(addition))

    def pop(self, index: int = -1) -> Instruction:
        """Removes an instruction and returns it, as ``stim.Circuit.pop``."""
        return printed_bare(self._stim.pop(integer(index, "index", -_FAR, _FAR)))

    def clear(self) -> None:
        """Removes all instructions."""
        self._stim.clear()

    def copy(self: Self) -> Self:
        """An independent copy.

        Raises:
            ResourceLimitError: There is not enough memory.
        """
        with memory_is_a_limit():
            return self._wrap(self._stim.copy())

    def flattened(self: Self) -> Self:
        """The circuit without REPEAT blocks and SHIFT_COORDS.

        Raises:
            ResourceLimitError: The result would have more than 2^26 targets.
        """
        check_flattened(self._stim)
        return self._wrap(self._stim.flattened())

    def without_noise(self: Self) -> Self:
        r"""The circuit without noise, as ``stim.Circuit.without_noise``.

        Examples:
            >>> import stim_nonclifford as snc
            >>> print(snc.Circuit("T 0\nX_ERROR(0.1) 0\nM(0.1) 0").without_noise())
            T 0
            M 0
        """
        return self._wrap(without_noise(self._stim))

    def without_tags(self: Self) -> Self:
        r"""The circuit without tags that are notes, as ``stim.Circuit.without_tags``; its gates stay.

        Tags that stand for gates and for expectation values are part of what the circuit does, and stay. A
        T gate loses its note. Stim's own method takes those tags too, so that T becomes S:
        ``circuit.to_stim().without_tags()``.

        Examples:
            >>> import stim_nonclifford as snc
            >>> circuit = snc.Circuit("H[note] 0\nT[first layer] 0\nI[R_X(theta=0.1*pi)] 0\nTICK[end]")
            >>> print(circuit.without_tags())
            H 0
            T 0
            R_X(0.1) 0
            TICK
        """
        return self._wrap(without_notes(self._stim))

    def pauli_twirl(self: Self, *, below: float = 0.25) -> Self:
        r"""The circuit with Pauli channels in place of coherent noise, relaxation and leakage, for decoders.

        A rotation by a small angle is replaced by its Pauli twirl: R_Z(a) becomes Z_ERROR(sin(πa/2)^2), and a
        rotation about a product of Paulis an E. A rotation near a Clifford gate is over-rotated, and becomes
        this gate and an error. Each rotation is twirled by itself, although rotations that follow each other
        add up to more. So sample the circuit as it is, and use the twirled one for the decoder.
        AMPLITUDE_DAMPING, PHASE_DAMPING, THERMAL_RELAXATION and readout noise become their Pauli twirls,
        too. In place of leakage and loss there are, at each place, the Pauli errors of a leaked qubit, with
        the probability that a qubit is leaked or lost there. REPEAT blocks are unrolled for that.

        Args:
            below: Rotations that differ from the nearest Clifford gate by a smaller angle than this, in
                half-turns, are noise. All others are gates, and stay. T gates and gates that are controlled
                always stay.

        Returns:
            The circuit. It has the same qubits, measurements, detectors and observables.

        Raises:
            ValueError: ``below`` is not in [0, 0.25], or the circuit has ELSE_CORRELATED_ERROR and a rotation
                about a product of Paulis.

        Examples:
            >>> import stim_nonclifford as snc
            >>> print(snc.Circuit("R_X(0.04) 0 1\nR_ZZ(0.54) 0 1\nR_Z(0.25) 0").pauli_twirl())
            X_ERROR(0.00394265) 0 1
            SPP Z0*Z1
            E(0.00394265) Z0 Z1
            R_Z(0.25) 0
        """
        return self._wrap(pauli_twirled(self._stim, number(below, "below", 0, 0.25)))

    def inverse(self: Self) -> Self:
        r"""The inverse circuit, as ``stim.Circuit.inverse``, non-Clifford gates included.

        Examples:
            >>> import stim_nonclifford as snc
            >>> print(snc.Circuit("H 0\nT 0\nR_X(0.1) 1\nCS 0 1").inverse())
            CS_DAG 0 1
            R_X(-0.1) 1
            T_DAG 0
            H 0
        """
        return self._wrap(
            with_replaced(self._stim.inverse(), lambda part: circuit_of(inverse_of_tagged(part)))
        )

    def decomposed(self: Self) -> Self:
        r"""The circuit with Stim's Clifford operations in terms of H, S, CX, M and R.

        Non-Clifford gates and noise stay as they are. Readout errors stay too, on the M that a measurement
        becomes, while ``stim.Circuit.decomposed`` drops them.

        Examples:
            >>> import stim_nonclifford as snc
            >>> print(snc.Circuit("T 0\nMX(0.1) 0").decomposed())
            T 0
            H 0
            M(0.1) 0
            H 0
        """
        return self._wrap(decomposed(self._stim))

    def approx_equals(self, other: object, *, atol: float) -> bool:
        r"""Whether the circuits are equal, up to ``atol`` in their arguments and angles (in half-turns).

        Arguments of the channels of this package are compared in this way, too.

        Examples:
            >>> import stim_nonclifford as snc
            >>> circuit = snc.Circuit("R_X(0.1) 0\nM(0.01) 0")
            >>> circuit.approx_equals(snc.Circuit("R_X(0.1000001) 0\nM(0.0100001) 0"), atol=1e-6)
            True
        """
        atol = number(atol, "atol", 0)
        if not isinstance(other, CircuitEditing):
            return False
        own, others = without_numbers(self._stim), without_numbers(other._stim)
        if not own[0].approx_equals(others[0], atol=atol) or len(own[1]) != len(others[1]):
            return False
        return all(abs(a - b) <= atol for a, b in zip(own[1], others[1], strict=True))

    def __add__(self: Self, other: CircuitEditing | stim.Circuit) -> Self:
        result = self.copy()
        result += other
        return result

    def __iadd__(self: Self, other: CircuitEditing | stim.Circuit) -> Self:
        if not isinstance(other, (CircuitEditing, stim.Circuit)):
            hint = " For text, write circuit + Circuit(text)." if isinstance(other, str) else ""
            raise TypeError(f"Only a circuit can be added to a circuit, not {type(other).__name__}.{hint}")
        self._append_checked(other._stim if isinstance(other, CircuitEditing) else other)
        return self

    def __mul__(self: Self, repetitions: int) -> Self:
        return self._wrap(_checked_depth(self._stim * repetitions))

    def __rmul__(self: Self, repetitions: int) -> Self:
        return self * repetitions

    def __imul__(self: Self, repetitions: int) -> Self:
        self._stim = _checked_depth(self._stim * repetitions)
        return self

    @overload
    def __getitem__(self: Self, index: int) -> Instruction: ...

    @overload
    def __getitem__(self: Self, index: slice) -> Self: ...

    def __getitem__(self: Self, index: int | slice) -> Instruction | Self:
        found = self._stim[index]
        return self._wrap(found) if isinstance(found, stim.Circuit) else printed_bare(found)

    def __iter__(self) -> Iterator[Instruction]:
        return map(printed_bare, self._stim)

    def __len__(self) -> int:
        return len(self._stim)

    def __eq__(self, other: object) -> bool:
        return self._stim == other._stim if isinstance(other, CircuitEditing) else NotImplemented

    __hash__ = None  # type: ignore[assignment]

    def __str__(self) -> str:
        return extended_text(self._stim)

    def __repr__(self) -> str:
        return circuit_repr(self._stim)

    def __getstate__(self) -> State:
        return state_of(self._stim)

    def __setstate__(self, state: State) -> None:
        self._stim = circuit_of_state(state)


def _is_flat(arg: Iterable[Any]) -> bool:
    return all(isinstance(each, numbers.Real) for each in arg)


def _checked_arg(arg: Any) -> list[float] | None:
    """The argument ``arg`` of ``append``, as a list."""
    if arg is None:
        return None
    wanted = "a number, an iterable of numbers, or None"
    given = [arg] if isinstance(arg, numbers.Real) else list(iterable(arg, "arg", wanted))
    for each in given:
        if not isinstance(each, numbers.Real):
            refuse_argument("arg", wanted, arg)
    return [float(each) for each in given]


def check_flattened(circuit: stim.Circuit) -> None:
    """Checks that a circuit is small enough for Stim to unroll it in memory.

    Raises:
        ResourceLimitError: The unrolled circuit would have more than 2^26 targets, or its detectors more than
            2^23 coordinates.
    """
    extent = extent_of(circuit)
    check_targets(extent)
    check_coordinates(extent)


def check_coordinates(extent: Extent) -> None:
    """Checks that Stim can list the coordinates of the detectors; it crashes where the memory ends.

    Raises:
        ResourceLimitError: There are more than 2^23 coordinates.
    """
    if extent.coordinates > _MAX_COORDINATES:
        raise ResourceLimitError(
            f"The detectors of the unrolled circuit have {extent.coordinates:,} coordinates; the limit is"
            f" {_MAX_COORDINATES:,}. Lower the repeat counts, or give detectors fewer coordinates."
        )


def _checked_depth(circuit: stim.Circuit) -> stim.Circuit:
    if is_too_deep(circuit):
        raise ValueError(f"{TOO_DEEP} Combine repetitions: multiply less often, by larger numbers.")
    return circuit
