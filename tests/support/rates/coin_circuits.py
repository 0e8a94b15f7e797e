"""Random circuits in which coins turn rotations, and turn them back later."""

import random

_MEASUREMENTS = "MXX {0} {1}", "MXX {0} {1}", "MX {0}", "MZZ {0} {1}", "M {0}"
_NOISE = "X_ERROR(0.05) {}", "Z_ERROR(0.05) {}", "DEPOLARIZE1(0.05) {}"


def random_coin_circuit(rng: random.Random) -> str:
    """A circuit of one to three coins and two to four qubits.

    Each coin turns a rotation or two, and the opposite rotation is turned by it somewhere later: what stands
    between them may be measurements and noise, and commutes with them or not.
    """
    num_qubits, num_coins = rng.choice((2, 3, 4)), rng.choice((1, 2, 3))
    letters = rng.choice(("Z", "Z", "XYZZ"))

    def axis() -> tuple[str, str]:
        targets = sorted(rng.sample(range(num_qubits), rng.choice((1, 2, 2))))
        return rng.choice(letters) * len(targets), " ".join(map(str, targets))

    axes = [axis() for _ in range(rng.choice((1, 2, 3)))]
    body: list[tuple[str, int]] = []  # lines, and the coin of each; -1: none
    for _ in range(rng.choice((4, 7, 10))):
        kind = rng.random()
        if kind < 0.3:
            line = rng.choice(_MEASUREMENTS).format(*rng.sample(range(num_qubits), 2))
        elif kind < 0.5:
            line = rng.choice(_NOISE).format(rng.randrange(num_qubits))
        else:
            paulis, targets = rng.choice(axes)
            line = f"R_{paulis}({rng.choice((0.25, 0.5, -0.25, 0.1))}) {targets}"
        body.append((line, -1))
    for coin in range(num_coins):
        for _ in range(rng.choice((1, 2))):
            (paulis, targets), angle = rng.choice(axes), rng.choice((0.25, 0.5, -0.5, 0.1))
            first, second = sorted(rng.randrange(len(body) + 1) for _ in range(2))
            body.insert(second, (f"C_R_{paulis}({-angle}) rec[{{}}] {targets}", coin))
            body.insert(first, (f"C_R_{paulis}({angle}) rec[{{}}] {targets}", coin))
    lines = ["RX " + " ".join(map(str, range(num_qubits)))] + num_coins * ["RX 9\nM 9"]
    num_records = num_coins
    for line, coin in body:
        lines.append(line.format(coin - num_records) if coin >= 0 else line)
        if line.startswith("M"):
            num_records += 1
            lines += ["DETECTOR rec[-1]"] * rng.choice((0, 1))
    lines += [
        f"X_ERROR(0.05) {qubit}\n{rng.choice(('MX', 'MX', 'M'))} {qubit}" for qubit in range(num_qubits)
    ]
    return "\n".join([*lines, "DETECTOR rec[-1]\nOBSERVABLE_INCLUDE(0) rec[-2]"])
