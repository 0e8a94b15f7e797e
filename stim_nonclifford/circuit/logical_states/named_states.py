"""States of a logical qubit by their names."""

from __future__ import annotations

import ast
from itertools import islice
from typing import Any, Literal, get_args

import stim

from ...base.arguments import choice
from .operators import expected_paulis, observable_paulis, shown_product
from .state_check import LogicalStateCheck

LogicalState = Literal["T", "T_DAG", "X", "-X", "Y", "-Y", "Z", "-Z"]
"""``"T"`` is T|+>, the +1 state of (X + Y)/√2, and ``"T_DAG"`` that of (X - Y)/√2. The others are the +1
states of a Pauli: ``"X"`` is |+>, ``"-Z"`` is |1>."""

_ROOT = 0.5**0.5
_BLOCH_VECTORS: dict[str, dict[str, float]] = {
    "T": {"X": _ROOT, "Y": _ROOT},
    "T_DAG": {"X": _ROOT, "Y": -_ROOT},
    **{letter: {letter: 1.0} for letter in "XYZ"},
    **{f"-{letter}": {letter: -1.0} for letter in "XYZ"},
}
_FEWEST_TO_REFUSE = 17
"""A logical qubit has three expectation values; more of them than that are not looked through."""

_BY_NUMBER = (
    "Say which ones are meant: LogicalStateCheck(expectation_values=(0, 1), observables=(0, 1),"
    " weights=(0.5**0.5, 0.5**0.5))."
)


def state_check_of(circuit: stim.Circuit, state: LogicalStateCheck | LogicalState | str) -> LogicalStateCheck:
    r"""The check of a state, with the numbers of the circuit's expectation values and observables.

    X is a product of X alone, Z a product of Z alone, and Y one of Y alone or the product of both, up to the
    sign that the circuit gives it: ``EXP_VAL !Y0*Y1`` turns Y around.

    Examples:
        >>> circuit = stim.Circuit("RX 0\nS[T] 0\nI[EXP_VAL(X, Y)] 0 0")
        >>> state_check_of(circuit, "-Y")
        LogicalStateCheck(expectation_values=(1,), observables=(), weights=(-1.0,))
    """
    if isinstance(state, LogicalStateCheck):
        state.check_circuit(circuit)
        return state
    name = choice(state, "state_check", get_args(LogicalState), ", or a LogicalStateCheck")
    products = list(islice(expected_paulis(circuit), _FEWEST_TO_REFUSE))
    if len(products) == _FEWEST_TO_REFUSE:
        raise ValueError(
            f"The circuit asks for {_FEWEST_TO_REFUSE} or more expectation values, and not for those of one"
            f" logical qubit alone. {_BY_NUMBER}"
        )
    kinds = [_kind(product, products) for product in products]
    vector = _BLOCH_VECTORS[name]
    numbers = []
    for letter in vector:
        found = [k for k, kind in enumerate(kinds) if kind == letter]
        if len(found) != 1:
            raise ValueError(_message(name, letter, len(found), products))
        numbers += found
    paulis = observable_paulis(circuit)
    observables = [_observable_of(products[k], paulis) for k in numbers] if paulis else []
    check = LogicalStateCheck(tuple(numbers), tuple(observables), tuple(vector.values()))
    check.check_circuit(circuit)
    return check


def parsed_state(text: str) -> LogicalStateCheck | LogicalState | str:
    """A state as a command line has it: a name, or a ``LogicalStateCheck(...)`` of numbers like 0.5**0.5.

    Examples:
        >>> parsed_state("T")
        'T'
        >>> parsed_state("LogicalStateCheck((1,), (0,), (2**0.5,))").weights
        (1.4142135623730951,)
    """
    if text in _BLOCH_VECTORS:
        return text
    try:
        call = ast.parse(text, mode="eval").body
        if not isinstance(call, ast.Call) or ast.unparse(call.func) != "LogicalStateCheck":
            raise SyntaxError
        arguments: list[Any] = [_value(argument) for argument in call.args]
        named: dict[str, Any] = {keyword.arg or "": _value(keyword.value) for keyword in call.keywords}
        check = LogicalStateCheck(*arguments, **named)
    except (SyntaxError, TypeError, ArithmeticError):
        names = ", ".join(get_args(LogicalState))
        raise ValueError(
            f"{text!r} is neither one of {names}, nor a check such as"
            " 'LogicalStateCheck((0, 1), (0, 1), (0.5**0.5, 0.5**0.5))'."
        ) from None
    return check


def _value(node: ast.expr) -> object:
    """What an expression of numbers stands for."""
    match node:
        case ast.Tuple(elts=parts) | ast.List(elts=parts):
            return tuple(_value(part) for part in parts)
        case ast.Constant(value=int() | float() as number):
            return number
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -_number(operand)
        case ast.BinOp(left=left, op=ast.Pow(), right=right):
            return float(_number(left)) ** float(_number(right))
        case ast.BinOp(left=left, op=ast.Div(), right=right):
            return _number(left) / _number(right)
        case ast.BinOp(left=left, op=ast.Mult(), right=right):
            return _number(left) * _number(right)
    raise SyntaxError


def _number(node: ast.expr) -> int | float:
    value = _value(node)
    if not isinstance(value, (int, float)):
        raise SyntaxError
    return value


def _kind(product: stim.PauliString, products: list[stim.PauliString]) -> str:
    """X, Y or Z, for the logical Pauli that a product is; otherwise nothing."""
    pure = _letter(product)
    if pure:
        return pure
    # A product of all of X and all of Z of a logical qubit.
    for other in products:
        if not product.commutes(other) and {_letter(other), _letter(product * other)} == {"X", "Z"}:
            return "Y"
    return ""


def _letter(product: stim.PauliString) -> str:
    letters = {"_XYZ"[product[qubit]] for qubit in product.pauli_indices()}
    return letters.pop() if len(letters) == 1 else ""


def _observable_of(product: stim.PauliString, paulis: dict[int, stim.PauliString]) -> int:
    found = [observable for observable, pauli in paulis.items() if pauli in (product, -product)]
    if len(found) != 1:
        raise ValueError(
            f"{'No' if not found else 'More than one'} observable has the Pauli targets"
            f" {shown_product(product)}, the product of an EXP_VAL, so that it is not known in which frame"
            f" this is. Add OBSERVABLE_INCLUDE with these targets beside the EXP_VAL. {_BY_NUMBER}"
        )
    return found[0]


def _message(state: str, letter: str, count: int, products: list[stim.PauliString]) -> str:
    shown = ", ".join(map(shown_product, products[:5])) + (", ..." if len(products) > 5 else "")
    if not products:
        return (
            f"The check of the state {state} needs the expectation value of the logical {letter}, but the"
            " circuit asks for none. Write EXP_VAL with the logical Paulis at the place where the state is"
            " checked, for example EXP_VAL X0*X1 Y0*X1. Or, if the circuit measures the state as it is, leave"
            " out the check."
        )
    what = f"{count} products of {letter} alone" if count else f"none of them is recognized as {letter}"
    return (
        f"The check of the state {state} needs the expectation value of the logical {letter}. The circuit has"
        f" EXP_VAL of {shown}: {what}. {_BY_NUMBER}"
    )
