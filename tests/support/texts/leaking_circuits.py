"""Random circuits in which qubits leak and are lost, with all instructions of leakage."""

import numpy as np

_LINES = (
    "LEAKAGE(0.3)", "LEAKAGE(0.04)", "LOSS(0.2)", "RELAX(0.6)", "RL", "HERALD_LEAKAGE_EVENT(0.2)",
    "HERALD_LOSS_EVENT(0)",
)  # fmt: skip
_OF_STATES = (
    "LEAKAGE_FROM_ONE(0.6) {b}",
    "LEAKAGE_FROM_11(0.7) {a} {b}",
    "LEAKAGE_FROM_11(1) {b} {a}",
    "RELAX_TO_ONE(0.6) {a}",
)
_SPREAD = "LEAKAGE_SPREAD(0.4, 0.1, 0.5, 0.3) {a} {b}"
_GATES = ("CX {a} {b}", "CZ {a} {b}", "ISWAP {a} {b}", "SWAP {a} {b}", "CS {a} {b}", "R_XX(0.3) {a} {b}", "CH {a} {b}",
         "SPP X{a}*Z{b}", "TPP Y{a}*X{b}", "CCZ 0 1 2", "MPP X{a}*Z{b}", "MXX {a} {b}", "MZZ(0.1) {a} {b}")  # fmt: skip
_MODELS = "LEAKAGE_PARTNER(0.1, 0.3, 0.2) 0 1\nLEAKAGE_READOUT(0.8) {readout}\nLOSS_REPLACEMENT(0.4) 0 1 2"


def random_leaking_text(
    seed: int,
    length: int = 4,
    *,
    spreads: bool = False,
    models: bool = False,
    num_qubits: int = 3,
    of_states: bool = False,
) -> str:
    """Gates, noise, measurements and feedback on a few qubits, with leakage between them.

    With ``of_states``, leakage depends on states, and gates of some qubits vanish.
    """
    rng = np.random.default_rng(seed)
    lines = [
        *[_MODELS.format(readout=seed % 3)] * models,
        *[f"LEAKAGE_SKIPS_GATES {seed % 3}"] * (of_states and seed % 4 > 0),
        f"H {' '.join(map(str, range(num_qubits)))}",
        f"LEAKAGE({rng.choice([0.2, 0.9, 1])}) {rng.integers(num_qubits)}",
    ]
    records = 0
    for _ in range(length):
        a, b = rng.choice(num_qubits, size=2, replace=False)
        lines.append(f"{rng.choice(['T', 'R_X(0.3)', 'H', 'SQRT_Y', 'AMPLITUDE_DAMPING(0.3)'])} {a}")
        lines.append(str(rng.choice(_GATES)).format(a=a, b=b))
        records += lines[-1][0] == "M"
        lines += [_SPREAD.format(a=a, b=b)] * spreads
        lines += [str(rng.choice(_OF_STATES)).format(a=a, b=b)] if of_states else []
        lines.append(f"{rng.choice(_LINES)} {b}")
        records += lines[-1][:2] == "HE"
        kind = rng.integers(6)
        if kind == 0 and records < 6:
            lines.append(f"{rng.choice(['M', 'MR', 'MX'])}(0.1) {a}")
            records += 1
        elif kind == 1:
            lines.append(f"DEPOLARIZE1(0.1) {a}\nDEPOLARIZE2(0.1) {a} {b}")
        elif kind == 2 and records:
            lines.append(f"CX rec[-1] {a}")
        elif kind == 3 and records:
            lines.append(f"C_R_X(0.3) rec[-1] {a}")
        elif kind == 4:
            lines.append(f"R {b}")
    lines.append(f"MY 0\nMX 1\nM {' '.join(map(str, range(2, num_qubits)))}")
    return "\n".join(lines)
