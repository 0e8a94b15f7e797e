"""The Clifford gates that stand for non-Clifford gates in the proxies of a circuit.

A rotation counts as the nearest rotation by a multiple of 0.25 half-turns, so that coherent noise does not
change which gate it is:

* Multiples of 0.5 half-turns are Clifford gates. They stand for themselves in every proxy.
* Odd multiples of 0.25 half-turns are T gates up to a Clifford gate. In the S-proxy, the nearest odd multiple
  of 0.5 half-turns stands for them, as S does for T.

Angles that differ by a full turn have the same stand-in, and those of a gate and its inverse cancel.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Literal

import stim

from ...base.written_circuits import circuit_of, instructions_in, with_replaced
from ...dialect import (
    CONDITIONAL_CARRIER,
    NonCliffordGate,
    RotationPart,
    check_static,
    extended_text,
    gate_from_tag,
    groups_of_pairs,
    has_tag_of_channel,
    leakage_of,
)
from .channels import check_chains, errors_on_three_qubits, twirl_of_channel
from .leakage import with_averaged_leakage

Proxy = Literal["s_proxy", "i_proxy"]

_T_TURNS = 4
_QUARTER_TURNS = {"X": ("I", "SQRT_X", "X", "SQRT_X_DAG"), "Y": ("I", "SQRT_Y", "Y", "SQRT_Y_DAG")}
_QUARTER_TURNS["Z"] = ("I", "S", "Z", "S_DAG")


def stand_in(instruction: stim.CircuitInstruction, proxy: Proxy) -> stim.Circuit | None:
    """The Clifford gates that stand for an instruction in a proxy, or None if it is one of Stim and stays.

    In the S-proxy, gates like T become gates like S, and the carriers of all others stay. In the I-proxy, the
    identity stands for both. The Pauli twirl stands for relaxation.
    """
    gate = gate_from_tag(instruction)
    if gate is None:
        return errors_on_three_qubits(instruction) or twirl_of_channel(instruction)
    if instruction.name == CONDITIONAL_CARRIER:
        return _conditional(instruction, gate, proxy)
    if not gate.half_turns:
        return as_stim_reads(instruction) if proxy == "s_proxy" else _identity(instruction)
    rotations = [(pauli, _quarter_turns(angle, proxy)) for pauli, angle in _rotations(gate)]
    turns = [(pauli, count % 4) for pauli, count in rotations if count is not None]
    if len(turns) < len(rotations) or not any(count for _, count in turns):
        return _identity(instruction)
    result = stim.Circuit()
    if gate.definition.num_targets == 1:
        result.append(_qubit_gate(tuple(turns)), instruction.targets_copy())
    else:
        for product in rotation_products(instruction, gate):
            append_quarter_turns(result, product, turns[0][1])
    return result


def proxy_of(circuit: stim.Circuit, proxy: Proxy, *, flags: bool = False) -> stim.Circuit:
    """A proxy of a tagged circuit."""
    check_static(circuit)
    check_chains(circuit)
    circuit = with_averaged_leakage(circuit, flags=flags)
    return with_replaced(circuit, lambda instruction: stand_in(instruction, proxy))


def noiseless_stand_in(instruction: stim.CircuitInstruction) -> stim.Circuit:
    r"""What an instruction does in the S-proxy without noise; heralds are records that are 0.

    Gates that a record controls and that have no stand-in are left out.

    Examples:
        >>> print(noiseless_stand_in(stim.Circuit("S[T] 0")[0]))
        S 0
        >>> noiseless_stand_in(stim.Circuit("X_ERROR(0.1) 0")[0])
        stim.Circuit()
    """
    try:
        parts = stand_in(instruction, "s_proxy")
    except ValueError:
        parts = stand_in(instruction, "i_proxy")
    return (circuit_of(instruction) if parts is None else parts).without_noise()


def is_t_gate(instruction: stim.CircuitInstruction) -> bool:
    """Whether an instruction stands for T, TPP or an inverse of these."""
    gate = gate_from_tag(instruction)
    return gate is not None and gate.definition.takes_note


def drawable_proxy(circuit: stim.Circuit, *, keeps_t_gates: bool = False) -> stim.Circuit:
    r"""The S-proxy, with Z for each gate that a record controls and that has no stand-in.

    Examples:
        >>> print(drawable_proxy(stim.Circuit("M 0\nS[T] 0\nCZ[CT] rec[-1] 0")))
        M 0
        S 0
        CZ rec[-1] 0
        >>> print(drawable_proxy(stim.Circuit("S[T] 0\nI[R_Z(theta=0.1*pi)] 0"), keeps_t_gates=True))
        S[T] 0
        I 0
    """

    def drawable(instruction: stim.CircuitInstruction) -> stim.Circuit | None:
        if keeps_t_gates and is_t_gate(instruction):
            return None
        try:
            return stand_in(instruction, "s_proxy")
        except ValueError:
            return as_stim_reads(instruction)

    return with_replaced(circuit, drawable)


def stim_reads_s_proxy(circuit: stim.Circuit) -> bool:
    """Whether a circuit of which Stim ignores the tags is its S-proxy.

    Stim reads all rotations about single qubits as the identity, and those about products as SPP.

    Examples:
        >>> [stim_reads_s_proxy(stim.Circuit(f"I[R_X(theta={angle}*pi)] 0")) for angle in (0.1, 0.5)]
        [True, False]
    """
    return all(map(_is_read_as_s_proxy, instructions_in(circuit)))


def _is_read_as_s_proxy(instruction: stim.CircuitInstruction) -> bool:
    try:
        stands = stand_in(instruction, "s_proxy")
    except ValueError:
        return False
    if leakage_of(instruction) is not None:
        return False
    is_identity = instruction.name in ("I", "II") and [part.name for part in stands or []] == ["I"]
    return is_identity or stands in (None, as_stim_reads(instruction))


def clifford_of(circuit: stim.Circuit, method: str) -> stim.Circuit:
    r"""A circuit that Stim reads as it is meant, for a method that only Stim has.

    Examples:
        >>> clifford_of(stim.Circuit("REPEAT 2 {\n    S 0\n    S[T] 0\n}"), "to_tableau")
        Traceback (most recent call last):
        ValueError: to_tableau asks for Stim's instructions alone, and `T 0` (line 3) is none. ...
    """
    check_static(circuit)
    lines = [k for k, line in enumerate(str(circuit).splitlines(), 1) if line.strip()[-1] not in "{}"]
    for line, instruction in zip(lines, instructions_in(circuit), strict=True):
        if gate_from_tag(instruction) is not None or has_tag_of_channel(instruction):
            raise ValueError(
                f"{method} asks for Stim's instructions alone, and `{extended_text(circuit_of(instruction))}`"
                f" (line {line}) is none. If you want the answer for a Clifford proxy, call"
                f" circuit.s_proxy().{method} or circuit.i_proxy().{method}."
            )
    return circuit


def rotation_products(
    instruction: stim.CircuitInstruction, gate: NonCliffordGate
) -> Iterator[list[stim.GateTarget]]:
    """The Pauli products about which an instruction rotates, without combiners."""
    if instruction.name.startswith("SPP"):
        for group in instruction.target_groups():
            yield [target for target in group if not target.is_combiner]
        return
    (part,) = gate.definition.decomposition(*gate.half_turns)
    assert isinstance(part, RotationPart)
    targets = instruction.targets_copy()
    for k in range(0, len(targets), len(part.pauli)):
        group = targets[k : k + len(part.pauli)]
        yield [
            stim.target_pauli(target.value, letter) for target, letter in zip(group, part.pauli, strict=True)
        ]


def append_quarter_turns(circuit: stim.Circuit, product: Sequence[stim.GateTarget], turns: int) -> None:
    """Appends the Clifford gate that rotates about a product by 0, 1, 2 or 3 quarter turns."""
    if turns == 2:
        for target in product:
            circuit.append(target.pauli_type, target.value)
    elif turns and len(product) == 1 and not product[0].is_inverted_result_target:
        circuit.append(_QUARTER_TURNS[product[0].pauli_type][turns], product[0].value)
    elif turns:
        circuit.append("SPP" if turns == 1 else "SPP_DAG", stim.target_combined_paulis(product))


def _quarter_turns(half_turns: float, proxy: Proxy) -> int | None:
    """The quarter turns of the stand-in of a rotation; None if it has none in the I-proxy."""
    # If two are equally near, round() returns the even one, which is a Clifford gate.
    t_turns = round(_T_TURNS * math.fmod(half_turns, 4))
    if t_turns % 2 == 0:
        return t_turns // 2
    return 2 * (t_turns // 4) + 1 if proxy == "s_proxy" else None


def _rotations(gate: NonCliffordGate) -> list[tuple[str, float]]:
    """The Paulis about which a gate with angles rotates (``PAULI``: its targets), and by which angles.

    U3 rotates about Z, Y and Z. If Y turns by about a half-turn or not at all, the two others are one.
    """
    name = gate.name.removeprefix("C_")
    if name != "U3":
        return [(name.removeprefix("R_"), gate.half_turns[0])]
    theta, phi, lambda_ = gate.half_turns
    turns = _quarter_turns(theta, "i_proxy")
    if turns is None or turns % 2:
        return [("Z", lambda_), ("Y", theta), ("Z", phi)]
    return [("Y", theta), ("Z", phi - lambda_ if turns % 4 else phi + lambda_)]


@cache
def _qubit_gate(turns: tuple[tuple[str, int], ...]) -> str:
    """The name of the gate on one qubit that is a product of rotations by quarter turns."""
    circuit = stim.Circuit("I 0")
    for letter, count in turns:
        circuit.append(_QUARTER_TURNS[letter][count], 0)
    wanted = circuit.to_tableau()
    return next(
        name
        for name, gate in stim.gate_data().items()
        if gate.is_unitary and gate.is_single_qubit_gate and gate.tableau == wanted
    )


def _conditional(instruction: stim.CircuitInstruction, gate: NonCliffordGate, proxy: Proxy) -> stim.Circuit:
    """The stand-in of a gate that a record controls: Paulis that it controls."""
    name = gate.name.removeprefix("C_")
    if name == "U3" or name.startswith("R_"):
        turns = [(pauli, _quarter_turns(angle, "i_proxy")) for pauli, angle in _rotations(gate)]
        turns = [(pauli, count % 4 if count is not None else None) for pauli, count in turns if count != 0]
        if all(count in (0, 2) for _, count in turns):
            return _controlled_paulis(instruction, gate, [pauli for pauli, count in turns if count])
        is_phase = len(turns) == 1 and turns[0][1] is not None and set(turns[0][0]) == {"Z"}
    else:
        is_phase = name in ("CS", "CS_DAG")
    if proxy == "i_proxy":
        return _identity(instruction)
    if is_phase:
        return as_stim_reads(instruction)
    raise ValueError(
        f"`{extended_text(circuit_of(instruction))}` has no stand-in in the S-proxy: of the gates that a"
        " record controls, only Paulis, S, S_DAG and rotations about products of Z by 0.5 half-turns have"
        " one. Use i_proxy(), which leaves the gate out; for a decoder,"
        ' detector_error_model(kind="noise_only").'
    )


def _controlled_paulis(
    instruction: stim.CircuitInstruction, gate: NonCliffordGate, paulis: Sequence[str]
) -> stim.Circuit:
    """Products of Paulis, one after the other, on the qubits of each group, controlled by its record."""
    if not paulis:
        return _identity(instruction)
    result = stim.Circuit()
    for control, *qubits in groups_of_pairs(gate.definition, instruction.targets_copy()):
        for pauli in paulis:
            for letter, qubit in zip(pauli, qubits, strict=True):
                result.append(f"C{letter}", [control, qubit])
    return result


def as_stim_reads(instruction: stim.CircuitInstruction) -> stim.Circuit:
    """The instruction without its tag, as Stim reads it."""
    return circuit_of(instruction).without_tags()


def _identity(instruction: stim.CircuitInstruction) -> stim.Circuit:
    """The identity on the qubits of an instruction."""
    qubits = [target.value for target in instruction.targets_copy() if target.qubit_value is not None]
    return circuit_of(stim.CircuitInstruction("I", qubits))
