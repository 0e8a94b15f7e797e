"""The whole circuit of a distillation protocol."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal, get_args

import stim

from ...base.arguments import choice, flag, integer_or_none, probability
from .five_to_one import MOST_STATE_ERROR, five_to_one_circuit
from .parities import Parities, fifteen_to_one, parities_of
from .teleported_rotation import add_direct_rotation, add_t_state, add_teleported_rotation

ProtocolChoice = Literal["15-to-1", "8T-to-CCZ", "49-to-1", "225-to-1", "3k+8-to-k", "5-to-1"]
PROTOCOL_CHOICES: tuple[ProtocolChoice, ...] = get_args(ProtocolChoice)
GateChoice = Literal["T", "S"]

_MOST_OUTPUTS = 1000

_WITHOUT_PROXY = {
    "8T-to-CCZ": "with S in place of T, it applies the identity",
    "5-to-1": "its states are no T|+>, and S in place of them has no error that is detected",
}


def distillation_circuit(
    protocol: ProtocolChoice = "15-to-1",
    *,
    t_error: float,
    p: float = 0.0,
    gate: GateChoice = "T",
    k: int | None = None,
    teleported: bool = True,
) -> stim.Circuit:
    """A distillation circuit with teleported T gates and conditional corrections.

    Outputs and checks stand for patches of a code; here they are bare qubits. They begin in |+>. One T gate
    after the other is teleported into them. Then the checks are measured in the X basis: these measurements
    are the detectors, and all of them postselect. At the end, the gate that prepares the ideal output from
    |+> is undone without noise, and the outputs are measured in the X basis. These measurements are the
    observables: the output is wrong if any of them is flipped.

    ``225-to-1`` is 15-to-1 twice: each T state of the second level is the output of a 15-to-1, whose checks
    are detectors, too. ``5-to-1`` has no T gates: five states with the Bloch vector (1, 1, 1)/sqrt(3) are
    projected on a code, whose syndrome has four detectors. A shot without noise is kept with probability 1/6.

    Args:
        protocol: One of ``PROTOCOL_CHOICES``.
        t_error: Probability that a T state has a Z error. Every error of a T state is one, after twirling. In
            5-to-1, the probability that a state is orthogonal to the right one, at most 2/3.
        p: Strength of the other noise. Resets of outputs and checks, and measurements, fail with this
            probability. CX gates have two-qubit depolarizing noise. After each teleported gate, outputs and
            checks have depolarizing noise, for its correction and for idling; in 225-to-1, those of the level
            of the gate. In 5-to-1, qubits have it while they wait.
        gate: ``"T"``, or ``"S"`` for the S-proxy, which 8T-to-CCZ and 5-to-1 do not have.
        k: The number of outputs of ``3k+8-to-k``, an even number; None for all other protocols.
        teleported: Whether T gates are teleported. If not, each is one gate on its outputs and checks,
            without ancilla, readout and correction. It has the error of its T state and, with ``p``, the
            noise after it. In 225-to-1 this is so on the first level; the second one is always teleported.

    Returns:
        The circuit. Qubits: outputs, checks, and one ancilla that holds each T state in turn, if T gates are
        teleported. In 225-to-1 the
        ancilla is the output of the first level, whose checks and ancilla come after it.

    Raises:
        ValueError: The protocol is unknown, a probability is not between 0 and 1, k is odd, missing or not
            asked for, or the protocol has no S-proxy, or no T gates to apply directly.

    Examples:
        >>> print(distillation_circuit("8T-to-CCZ", t_error=0.01)[:9])
        RX 0 1 2 3 4
        S[T] 4
        Z_ERROR(0.01) 4
        CX 3 4
        M 4
        CZ[C_R_Z(theta=0.5*pi)] rec[-1] 3
        TICK
        RX 4
        S_DAG[T] 4
        >>> circuit = distillation_circuit("3k+8-to-k", k=4, t_error=0.01)
        >>> circuit.num_qubits, circuit.num_detectors, circuit.num_observables
        (8, 3, 4)
    """
    protocol = choice(protocol, "protocol", PROTOCOL_CHOICES)
    t_error, p = probability(t_error, "t_error"), probability(p, "p")
    gate = choice(gate, "gate", get_args(GateChoice))
    k = _checked_k(protocol, k)
    if gate == "S" and protocol in _WITHOUT_PROXY:
        raise ValueError(f"{protocol} has no S-proxy: {_WITHOUT_PROXY[protocol]}. Leave out gate='S'.")
    teleported = flag(teleported, "teleported")
    if protocol == "5-to-1":
        if not teleported:
            raise ValueError("5-to-1 has no T gates, and teleports none. Leave out teleported=False.")
        return five_to_one_circuit(probability(t_error, "t_error of 5-to-1", MOST_STATE_ERROR), p)
    circuit = stim.Circuit()

    def add_rotation(qubits: Sequence[int], ancilla: int, sign: int, number: int) -> None:
        if teleported:
            add_t_state(circuit, ancilla, sign=sign, gate=gate, t_error=t_error)
            add_teleported_rotation(circuit, qubits, ancilla, sign=sign, gate=gate, p=p)
        else:
            add_direct_rotation(circuit, qubits, sign=sign, gate=gate, t_error=t_error)

    def add_distilled_rotation(qubits: Sequence[int], ancilla: int, sign: int, number: int) -> None:
        _add_level(circuit, fifteen_to_one(-sign), ancilla, add_rotation, p, coordinates=(number,))
        add_teleported_rotation(circuit, qubits, ancilla, sign=sign, gate=gate, p=p)

    is_twice = protocol == "225-to-1"
    parities = fifteen_to_one() if is_twice else parities_of(protocol, k)
    _add_level(circuit, parities, 0, add_distilled_rotation if is_twice else add_rotation, p)
    _add_output_check(circuit, parities, gate)
    return circuit


def _checked_k(protocol: ProtocolChoice, k: Any) -> int | None:
    """The number of outputs of 3k+8-to-k, or None."""
    k = integer_or_none(k, "k", 2, _MOST_OUTPUTS)
    if protocol != "3k+8-to-k":
        if k is not None:
            raise ValueError(f"k is the number of outputs of 3k+8-to-k. Leave it out for {protocol}.")
        return None
    if k is None:
        raise ValueError("3k+8-to-k has an even number k of outputs. Write it, for example k=2.")
    if k % 2:
        raise ValueError(f"k must be an even number, but is {k}. Write k={k - 1}.")
    return k


def _add_level(
    circuit: stim.Circuit,
    parities: Parities,
    first: int,
    add_rotation: Callable[[Sequence[int], int, int, int], None],
    p: float,
    coordinates: tuple[int, ...] = (),
) -> None:
    """Runs a protocol on outputs and checks, up to the measurements of the checks.

    The outputs begin at `first`; the checks and an ancilla follow them. `add_rotation` applies a rotation; it
    is called with the qubits of its sum, the ancilla, its sign and its number.
    """
    ancilla = first + parities.num_outputs + parities.num_checks
    qubits = range(first, ancilla)
    circuit.append("RX", qubits)
    if p:
        circuit.append("Z_ERROR", qubits, p)
    for number, (positions, sign) in enumerate(zip(parities.sums, parities.signs, strict=True)):
        add_rotation([qubits[k] for k in positions], ancilla, sign, number)
        if p:
            circuit.append("DEPOLARIZE1", qubits, p)
        circuit.append("TICK")
    circuit.append("MX", qubits[parities.num_outputs :], p or None)
    for k in range(parities.num_checks):
        circuit.append("DETECTOR", [stim.target_rec(k - parities.num_checks)], [k, *coordinates])


def _add_output_check(circuit: stim.Circuit, parities: Parities, gate: GateChoice) -> None:
    """Measures, without noise, whether the outputs are in the ideal state."""
    outputs = range(parities.num_outputs)
    if not parities.states:
        circuit.append("I", outputs, tag="CCZ")
    for output, state in enumerate(parities.states):
        circuit.append("S_DAG" if state > 0 else "S", [output], tag="T" if gate == "T" else "")
    circuit.append("MX", outputs)
    for k in outputs:
        circuit.append("OBSERVABLE_INCLUDE", [stim.target_rec(k - len(outputs))], k)
