"""What is stored of a circuit when it is pickled: enough to make an equal one.

Usually that is the circuit's text, with all digits (``dialect.exact_text``). But when Stim reads text or
appends instructions, it fuses neighbours such as ``H 0`` and ``H 1`` to ``H 0 1``, while edits may leave them
apart. Where the text would not give an equal circuit, the state is a list of the instructions, one by one.
"""

from __future__ import annotations

from typing import TypeAlias

import stim

from ...base.written_circuits import circuit_of
from ...dialect import exact_text

Part: TypeAlias = "str | tuple[int, str, State]"
State: TypeAlias = "str | list[Part]"
"""Text, or a list of parts: texts, and REPEAT blocks as (repeat count, tag, state of the body)."""


def state_of(circuit: stim.Circuit) -> State:
    r"""What is to be stored of a circuit.

    Examples:
        >>> state_of(stim.Circuit("H 0\nM 0"))
        'H 0\nM 0'
        >>> apart = stim.Circuit("H 0\nTICK\nH 1")
        >>> tick = apart.pop(1)
        >>> state_of(apart)
        ['H 0', 'H 1']
    """
    short = str(circuit)
    if _is_text_of(circuit, short):
        return short
    exact = exact_text(circuit)
    return exact if _is_text_of(circuit, exact) else _parts(circuit)


def _is_text_of(circuit: stim.Circuit, text: str) -> bool:
    try:
        return bool(stim.Circuit(text) == circuit)
    except ValueError:  # rounded probabilities may add up to more than 1
        return False


def _parts(circuit: stim.Circuit) -> list[Part]:
    return [
        (part.repeat_count, part.tag, state_of(part.body_copy()))
        if isinstance(part, stim.CircuitRepeatBlock)
        else exact_text(circuit_of(part))
        for part in circuit
    ]


def circuit_of_state(state: State) -> stim.Circuit:
    """The circuit of which a state was stored."""
    if isinstance(state, str):
        return stim.Circuit(state)
    circuit = stim.Circuit()
    for part in state:
        if isinstance(part, str):
            addition = stim.Circuit(part)
        else:
            repeat_count, tag, body = part
            addition = circuit_of(stim.CircuitRepeatBlock(repeat_count, circuit_of_state(body), tag=tag))
        end = len(circuit)
        circuit.append("TICK", [])  # so that nothing is fused
        circuit += addition
        circuit.pop(end)
    return circuit
