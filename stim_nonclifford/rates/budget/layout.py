"""Places of qubits in a picture."""

from __future__ import annotations

import math

import stim

__all__ = ["places_of_qubits"]


def places_of_qubits(circuit: stim.Circuit) -> dict[int, tuple[float, float]]:
    r"""Where to draw each qubit: at its first two coordinates, if all have different ones, else on a grid.

    Args:
        circuit: The circuit.

    Returns:
        Qubit -> place. Qubits that only have coordinates are among them.

    Examples:
        >>> places_of_qubits(stim.Circuit("QUBIT_COORDS(2, 5) 0\nQUBIT_COORDS(3) 1\nCX 0 1"))
        {0: (2.0, 5.0), 1: (3.0, 0.0)}
        >>> places_of_qubits(stim.Circuit("CX 0 1 2 3"))
        {0: (0.0, 0.0), 1: (1.0, 0.0), 2: (0.0, 1.0), 3: (1.0, 1.0)}
    """
    given = circuit.get_final_qubit_coordinates()
    used = sorted({*_used(circuit), *given})
    found: dict[int, tuple[float, float]] = {}
    for qubit in used:
        own = [float(each) for each in given.get(qubit, [])] + [0.0, 0.0]
        found[qubit] = (own[0], own[1])
    if used and (set(given) >= set(used)) and len(set(found.values())) == len(used):
        return found
    columns = max(1, math.ceil(math.sqrt(len(used))))
    return {qubit: (float(k % columns), float(k // columns)) for k, qubit in enumerate(used)}


def _used(circuit: stim.Circuit) -> set[int]:
    found: set[int] = set()
    for part in circuit:
        if isinstance(part, stim.CircuitRepeatBlock):
            found |= _used(part.body_copy())
        elif part.name != "MPAD":
            found |= {
                target.value
                for target in part.targets_copy()
                if target.is_qubit_target or target.pauli_type in ("X", "Y", "Z")
            }
    return found
