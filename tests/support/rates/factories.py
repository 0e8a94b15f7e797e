"""Distillation circuits: triorthogonal codes, decoded, with Z errors on the T states."""

import numpy as np
import numpy.typing as npt

import stim_nonclifford as snc
from benchmarks.tricycles import encoding_gates

Bits = npt.NDArray[np.int64]


def bravyi_haah(k: int, p: float) -> snc.Circuit:
    """3k+8 noisy T states become k, an even number (Bravyi, Haah, Phys. Rev. A 86, 052329); all is checked.

    The last k measurements are those of the outputs, in the basis in which they are certain.
    """
    rows = _generators(k)
    num_inputs = rows.shape[1]
    encoding = encoding_gates(rows)
    lines = ["RX " + " ".join(map(str, range(len(rows))))]
    lines += [f"CX {a} {b}" for a, b in encoding]
    lines += [f"T_DAG {q}\nZ_ERROR({p}) {q}" for q in range(num_inputs)]
    lines += [f"CX {a} {b}" for a, b in reversed(encoding)]
    # The Clifford correction: weights of rows, and of their overlaps, modulo 8.
    lines += [f"Z {q}" for q, row in enumerate(rows) if ((q < k) + int(row.sum())) % 8 == 4]
    overlaps = rows @ rows.T
    lines += [
        f"CZ {a} {b}" for a in range(len(rows)) for b in range(a + 1, len(rows)) if overlaps[a, b] % 4 == 2
    ]
    lines += [f"{'MX' if q < len(rows) else 'M'} {q}\nDETECTOR rec[-1]" for q in range(k, num_inputs)]
    lines += [f"T_DAG {q}\nMX {q}\nOBSERVABLE_INCLUDE({q}) rec[-1]" for q in range(k)]
    return snc.Circuit("\n".join(lines))


def _generators(k: int) -> Bits:
    """k odd rows, then three even ones."""
    blocks = k // 2
    ones, odd = np.ones(4, int), np.array([[1, 1, 1, 0, 0, 0], [0, 0, 0, 1, 1, 1]])
    head = np.array([[0, 1, 0, 1], [0, 0, 1, 1], [1, 1, 1, 1]])
    tail = np.array([[1, 0, 1, 1, 0, 1], [0, 1, 1, 0, 1, 1], [0] * 6])
    rows = [
        np.concatenate([0 * ones, ones, *(odd[r] * (b == block) for b in range(blocks))])
        for block in range(blocks)
        for r in range(2)
    ]
    return np.array(rows + [np.concatenate([head[r], head[r], *[tail[r]] * blocks]) for r in range(3)])


def five_to_one(p: float) -> snc.Circuit:
    """Five states with the Bloch vector (1, 1, 1)/sqrt(3), projected on the five-qubit code.

    Kept without noise is one in six shots, in the logical state -(1, 1, 1)/sqrt(3) (Bravyi, Kitaev, Phys.
    Rev. A 71, 022316). EXP_VAL asks for X, Y and Z.
    """
    qubits, half_turns = "0 1 2 3 4", float(np.arccos(3**-0.5) / np.pi)
    lines = [f"R {qubits}\nR_Y({half_turns!r}) {qubits}\nR_Z(0.25) {qubits}\nDEPOLARIZE1({p}) {qubits}"]
    for shift in range(4):
        product = "*".join(f"{pauli}{(shift + k) % 5}" for k, pauli in enumerate("XZZX"))
        lines.append(f"MPP {product}\nDETECTOR rec[-1]")
    lines.append("EXP_VAL " + " ".join("*".join(f"{pauli}{q}" for q in range(5)) for pauli in "XYZ"))
    return snc.Circuit("\n".join(lines))
