"""Places of qubits in a picture."""

from __future__ import annotations

import math

import stim

from ...dialect import is_on_qubit


def places_of_qubits(circuit: stim.Circuit) -> dict[int, tuple[float, float]]:
    r"""Where to draw each qubit: at its first two coordinates, if all have different ones, else on a grid.

    Examples:
        >>> places_of_qubits(stim.Circuit("QUBIT_COORDS(2, 5) 0\nQUBIT_COORDS(3) 1\nCX 0 1"))
        {0: (2.0, 5.0), 1: (3.0, 0.0)}
        >>> places_of_qubits(stim.Circuit("CX 0 1 2 3"))
        {0: (0.0, 0.0), 1: (1.0, 0.0), 2: (0.0, 1.0), 3: (1.0, 1.0)}
    """
    given = circuit.get_final_qubit_coordinates()
    targets = (
        target for part in circuit.flattened() if part.name != "MPAD" for target in part.targets_copy()
    )
    used = sorted({*given, *(target.value for target in targets if is_on_qubit(target))})
    found = {qubit: (*map(float, place[:2]), 0.0, 0.0)[:2] for qubit, place in given.items()}
    if used and len(set(found.values())) == len(used):  # all have coordinates, which differ
        return dict(sorted(found.items()))
    columns = max(1, math.ceil(math.sqrt(len(used))))
    return {qubit: (float(k % columns), float(k // columns)) for k, qubit in enumerate(used)}
