"""A logical T state in a noisy rotated surface code, read out by a measurement or by expectation values."""

from typing import Literal

import stim_nonclifford as snc


def noisy_t_memory(
    distance: int, p: float, readout: Literal["measured", "expectation_values"]
) -> snc.Circuit:
    """A T state of a rotated surface code, ``distance`` rounds of noise, and a noiseless readout.

    Args:
        distance: Of the code, odd.
        p: Strength of the depolarizing noise of each qubit and round, and of the readout errors of checks.
        readout: The logical X after T_DAG about the logical Z, or the expectation values of X and Y.
    """
    data = {(x, y): x + distance * y for y in range(distance) for x in range(distance)}
    checks = []
    for y in range(-1, distance):
        for x in range(-1, distance):
            letter = "XZ"[(x + y) % 2]
            corners = [(x + i, y + j) for i in (0, 1) for j in (0, 1)]
            qubits = [data[corner] for corner in corners if corner in data]
            # Checks of weight two: X at the sides, Z at the upper and the lower boundary.
            at_side = x in (-1, distance - 1)
            if len(qubits) == 4 or (len(qubits) == 2 and (letter == "X") == at_side):
                checks.append("*".join(f"{letter}{qubit}" for qubit in qubits))
    # X commutes with the Z checks at the upper and lower boundary, Z with the X checks at the sides.
    logical_x = [f"X{data[x, 0]}" for x in range(distance)]
    logical_z = [f"Z{data[0, y]}" for y in range(distance)]
    logical_y = ["Y0", *logical_x[1:], *logical_z[1:]]
    count = len(checks)
    every = " ".join(map(str, data.values()))
    compared = "\n".join(f"DETECTOR rec[-{k + 1}] rec[-{k + 1 + count}]" for k in reversed(range(count)))
    measured = f"""
        TPP_DAG {"*".join(logical_z)}
        MPP {"*".join(logical_x)}
        OBSERVABLE_INCLUDE(0) rec[-1]
    """
    asked = f"""
        EXP_VAL {"*".join(logical_x)} {"*".join(logical_y)}
        OBSERVABLE_INCLUDE(0) {" ".join(logical_x)}
        OBSERVABLE_INCLUDE(1) {" ".join(logical_y)}
    """
    return snc.Circuit(f"""
        RX {every}
        MPP {" ".join(checks)}
        TPP {"*".join(logical_z)}
        REPEAT {distance} {{
            DEPOLARIZE1({p}) {every}
            MPP({p}) {" ".join(checks)}
            {compared}
        }}
        MPP {" ".join(checks)}
        {compared}
        {measured if readout == "measured" else asked}
    """)
