"""Tags that turn a Clifford instruction of Stim into a non-Clifford gate.

Stim carries a free text, the tag, on every instruction and ignores it. A non-Clifford gate is a Clifford
gate with a tag, so every Stim tool can still read, draw and edit the circuit:

=====================================================  ==========================================
tagged instruction                                     gate
=====================================================  ==========================================
``S[T] 0`` / ``S_DAG[T] 0``                            T / T_DAG
``SPP[T] X0*Y1`` / ``SPP_DAG[T] X0*Y1``                exp(-iπ/8 P) / exp(+iπ/8 P)
``I[R_X(theta=0.25*pi)] 0``, ``R_Y``, ``R_Z``          exp(-i θ/2 P)
``I[U3(theta=a*pi, phi=b*pi, lambda=c*pi)] 0``         R_Z(φ) R_Y(θ) R_Z(λ)
``SPP[R_PAULI(theta=0.25*pi)] X0*Y1``                  exp(-i θ/2 P); with ``SPP_DAG`` exp(+i θ/2 P)
``II[R_XX(theta=0.25*pi)] 0 1``, ``R_YY``, ``R_ZZ``    exp(-i θ/2 P⊗P)
``II[CS] 0 1``, ``II[CS_DAG] 0 1``, ``II[CH] 0 1``     S, S_DAG or H on the second qubit, controlled
``I[CCZ] 0 1 2``, ``I[CCX] 0 1 2``                     Z or X on the third qubit, controlled twice
=====================================================  ==========================================

The factor ``*pi`` is mandatory: angles are in half-turns. ``S[T:my tag]`` is a T gate that carries the
tag ``my tag``. These are the tags of `tsim <https://github.com/QuEraComputing/tsim>`_, whose files load.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

import stim

__all__ = ["CONTROLLED_CARRIERS", "NonCliffordGate", "gate_from_tag", "tag_of_rotation", "tag_of_t"]

_NUMBER = r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?"
_CALL = re.compile(r"\s*(?P<name>[A-Za-z_]\w*)\s*\((?P<arguments>.*)\)\s*", re.DOTALL)
_ARGUMENT = re.compile(rf"\s*(?P<key>\w+)\s*=\s*(?P<value>{_NUMBER})\s*\*\s*pi\s*")

# What each carrier instruction may mean, and the parameters that the tag must give.
_T_CARRIERS = {"S": "T", "S_DAG": "T_DAG", "SPP": "TPP", "SPP_DAG": "TPP_DAG"}
_ROTATION_CARRIERS: dict[str, dict[str, tuple[str, ...]]] = {
    "I": {
        "R_X": ("theta",),
        "R_Y": ("theta",),
        "R_Z": ("theta",),
        "U3": ("theta", "phi", "lambda"),
    },
    "II": {"R_XX": ("theta",), "R_YY": ("theta",), "R_ZZ": ("theta",)},
    "SPP": {"R_PAULI": ("theta",)},
    "SPP_DAG": {"R_PAULI": ("theta",)},
}
CONTROLLED_CARRIERS = {"CS": "II", "CS_DAG": "II", "CH": "II", "CCZ": "I", "CCX": "I"}
"""Controlled gates without parameters: the instruction whose tag they are."""
_ROTATION_NAMES = {name for carrier in _ROTATION_CARRIERS.values() for name in carrier}
# Untagged meaning is kept only without a tag: a stray tag here is more likely a typing error.
_CARRIERS = {*_T_CARRIERS, *_ROTATION_CARRIERS}


@dataclass(frozen=True)
class NonCliffordGate:
    """A non-Clifford gate as read from a tag.

    Attributes:
        name: ``T``, ``T_DAG``, ``TPP``, ``TPP_DAG``, ``R_X``, ``R_Y``, ``R_Z``,
            ``R_XX``, ``R_YY``, ``R_ZZ``, ``R_PAULI``, ``U3``, ``CS``, ``CS_DAG``, ``CH``, ``CCZ`` or ``CCX``.
        half_turns: The angles in half-turns (1 half-turn = π radians), in the order of the gate's
            arguments: none for T gates, (θ) for rotations, (θ, φ, λ) for ``U3``.
        user_tag: What follows ``T:`` in the tag of a T gate, else empty.
    """

    name: str
    half_turns: tuple[float, ...] = ()
    user_tag: str = ""


def tag_of_t(user_tag: str = "") -> str:
    """The tag that makes a T gate of ``S`` (or T_DAG of ``S_DAG``, TPP of ``SPP``).

    Examples:
        >>> tag_of_t(), tag_of_t("first layer")
        ('T', 'T:first layer')
    """
    return f"T:{user_tag}" if user_tag else "T"


def tag_of_rotation(name: str, half_turns: tuple[float, ...]) -> str:
    """The tag that makes the rotation ``name`` of its carrier instruction.

    Args:
        name: ``R_X``, ``R_Y``, ``R_Z``,
            ``R_XX``, ``R_YY``, ``R_ZZ``, ``R_PAULI``, ``U3``, ``CS``, ``CS_DAG``, ``CH``, ``CCZ`` or ``CCX``.
        half_turns: One angle per parameter of the gate, in half-turns.

    Raises:
        ValueError: An angle is not finite.

    Examples:
        >>> tag_of_rotation("R_Z", (0.25,))
        'R_Z(theta=0.25*pi)'
    """
    for value in half_turns:
        if not math.isfinite(value):
            raise ValueError(f"The angle of {name} must be a finite number of half-turns, not {value}.")
    keys = ("theta", "phi", "lambda")
    arguments = ", ".join(f"{key}={value!r}*pi" for key, value in zip(keys, half_turns, strict=False))
    return f"{name}({arguments})"


def gate_from_tag(instruction: stim.CircuitInstruction) -> NonCliffordGate | None:
    """Reads the tag of an instruction.

    Args:
        instruction: Any instruction of a ``stim.Circuit``.

    Returns:
        The non-Clifford gate that the tag stands for, or None where the instruction is Stim's own.

    Raises:
        ValueError: The tag is unknown or malformed on an instruction that a tag can reinterpret
            (``S[t]``, ``I[R_Z(0.25)]``), or a tag of this dialect stands on an instruction that it does
            not belong to (``H[T]``, which ``stim.Circuit.decomposed`` leaves behind).

    Examples:
        >>> import stim
        >>> gate_from_tag(stim.CircuitInstruction("S", [0], tag="T"))
        NonCliffordGate(name='T', half_turns=(), user_tag='')
        >>> gate_from_tag(stim.CircuitInstruction("I", [0], tag="R_X(theta=-0.5*pi)"))
        NonCliffordGate(name='R_X', half_turns=(-0.5,), user_tag='')
        >>> gate_from_tag(stim.CircuitInstruction("S", [0])) is None
        True
        >>> gate_from_tag(stim.CircuitInstruction("H", [0], tag="T"))
        Traceback (most recent call last):
        ...
        ValueError: The tag [T] makes no sense on H...
    """
    name, tag = instruction.name, instruction.tag
    if not tag:
        return None
    if tag == "T" or tag.startswith("T:"):
        if name in _T_CARRIERS:
            return NonCliffordGate(_T_CARRIERS[name], user_tag=tag[2:])
        raise ValueError(_misplaced(name, tag, "S, S_DAG, SPP and SPP_DAG"))
    if tag in CONTROLLED_CARRIERS:
        if name != CONTROLLED_CARRIERS[tag]:
            raise ValueError(_misplaced(name, tag, CONTROLLED_CARRIERS[tag]))
        if tag in ("CCZ", "CCX"):
            _check_triples(tag, [target.value for target in instruction.targets_copy()])
        return NonCliffordGate(tag)
    call = _CALL.fullmatch(tag)
    rotation = call["name"] if call else tag
    if call and rotation in _ROTATION_CARRIERS.get(name, {}):
        return NonCliffordGate(
            rotation, _half_turns(name, tag, call["arguments"], _ROTATION_CARRIERS[name][rotation])
        )
    if rotation.upper() in _ROTATION_NAMES and call:
        carriers = [c for c, gates in _ROTATION_CARRIERS.items() if rotation.upper() in gates]
        raise ValueError(_misplaced(name, tag, " and ".join(carriers)))
    if name in _CARRIERS:
        raise ValueError(
            f"Unknown tag [{tag}] on {name}. On {name} a tag decides which gate it is"
            f"{_known_tags(name)}; to keep a note of your own, put it elsewhere"
            " (for example on a TICK), or drop it with stim.Circuit.without_tags()."
        )
    return None


def _half_turns(name: str, tag: str, text: str, keys: tuple[str, ...]) -> tuple[float, ...]:
    parts = [_ARGUMENT.fullmatch(part) for part in text.split(",")]
    found = {part["key"]: float(part["value"]) for part in parts if part}
    if len(parts) != len(keys) or set(found) != set(keys):
        wanted = ", ".join(f"{key}=0.25*pi" for key in keys)
        raise ValueError(
            f"Malformed tag [{tag}] on {name}: expected ({wanted}) with your own numbers. Angles are in"
            " half-turns and the factor *pi must be written."
        )
    values = tuple(found[key] for key in keys)
    if not all(math.isfinite(value) for value in values):
        raise ValueError(f"Malformed tag [{tag}] on {name}: the angle is not a finite number.")
    return values


def _check_triples(name: str, qubits: list[int]) -> None:
    triples = [qubits[k : k + 3] for k in range(0, len(qubits), 3)]
    if any(len(set(triple)) != 3 for triple in triples):
        raise ValueError(
            f"{name} needs targets in threes, each three different qubits; got"
            f" {' '.join(str(qubit) for qubit in qubits)}."
        )


def _misplaced(name: str, tag: str, carriers: str) -> str:
    hint = (
        " stim.Circuit.decomposed() copies tags to every helper gate: call it before tagging, not after."
        if name in {"H", "CX", "H_YZ", "H_XY", "S", "R", "M"}
        else ""
    )
    return f"The tag [{tag}] makes no sense on {name}; it belongs on {carriers}.{hint}"


def _known_tags(name: str) -> str:
    known = ["[T]"] if name in _T_CARRIERS else []
    known += [f"[{tag}]" for tag, carrier in CONTROLLED_CARRIERS.items() if carrier == name]
    for rotation, keys in _ROTATION_CARRIERS.get(name, {}).items():
        known.append(f"[{rotation}({', '.join(f'{key}=0.25*pi' for key in keys)})]")
    return f" ({name} knows {', '.join(known)})" if known else ""
