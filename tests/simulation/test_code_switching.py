"""T gates on a doubled color code of distance 5, which is then switched to the two-dimensional one.

Doubling (S. Bravyi, A. Cross, arXiv 1509.03239) joins two copies of the color code of distance d and the doubled
code of distance d - 2. T and T_DAG on all qubits are a logical gate, and measuring the X checks of the first copy
leaves its logical qubit in the code of that copy.
"""

import numpy as np
import numpy.typing as npt
import pytest

import stim_nonclifford as snc
from stim_nonclifford.generators.cultivation.color_code import ColorCode
from stim_nonclifford.generators.cultivation.stages.rotations import opposite_rotation_sites

Rows = npt.NDArray[np.int64]


def doubled(distance: int) -> tuple[Rows, Rows]:
    """The X checks, and +1 or -1 for each qubit: T or T_DAG."""
    if distance == 1:
        return np.zeros((0, 1), dtype=np.int64), np.ones(1, dtype=np.int64)
    small, small_signs = doubled(distance - 2)
    code = ColorCode.triangular(distance)
    tiles = np.array([[site in tile.data for site in code.data] for tile in code.tiles], dtype=np.int64)
    signs = np.array([1 if site in opposite_rotation_sites(code) else -1 for site in code.data])
    signs *= 1 if (signs.sum() + small_signs.sum()) % 8 == 0 else -1
    count = len(signs)
    rows = np.block(
        [
            [tiles, tiles, np.zeros((len(tiles), small.shape[1]), dtype=np.int64)],
            [np.zeros((len(small), 2 * count), dtype=np.int64), small],
            [np.repeat([[0, 1]], count, axis=1), np.ones((1, small.shape[1]), dtype=np.int64)],
        ]
    )
    return rows, np.concatenate([-signs, signs, small_signs])


def even_sets(rows: Rows) -> tuple[Rows, list[int]]:
    """A basis of the sets with an even overlap with all rows, each with a qubit that no other one has."""
    rows, pivots = rows.copy(), []
    for row in range(len(rows)):
        pivots.append(int(np.argmax(rows[row])))
        others = (np.arange(len(rows)) != row) & (rows[:, pivots[-1]] == 1)
        rows[others] ^= rows[row]
    free = [k for k in range(rows.shape[1]) if k not in pivots]
    sets = np.zeros((len(free), rows.shape[1]), dtype=np.int64)
    sets[range(len(free)), free] = 1
    sets[:, pivots] = rows[:, free].T
    return sets, free


def product(pauli: str, qubits: Rows) -> str:
    return "*".join(f"{pauli}{k}" for k in np.flatnonzero(qubits))


@pytest.mark.parametrize("distance", [3, 5])
def test_a_doubled_code_is_switched(distance: int) -> None:
    x_checks, signs = doubled(distance)
    qubits = range(len(signs))
    logical = np.ones(len(signs), dtype=np.int64)
    z_checks, own = even_sets(np.vstack([x_checks, logical]))
    code = ColorCode.triangular(distance)
    noise = f"DEPOLARIZE1(0.001) {' '.join(map(str, qubits))}"
    lines = [f"RX {' '.join(map(str, qubits))}", *(f"MPP {product('Z', row)}" for row in z_checks)]
    # X on the own qubit of a Z check flips this check alone.
    lines += [f"CX rec[{k - len(own)}] {qubit}" for k, qubit in enumerate(own)]
    lines.append(noise)
    lines += [f"{'T' if sign > 0 else 'T_DAG'} {k}" for k, sign in enumerate(signs)]
    lines.append(noise)
    for pauli, checks in ("X", x_checks), ("Z", z_checks):
        for row in checks:
            lines += [f"MPP {product(pauli, row)}", "DETECTOR rec[-1]"]
    first = [np.array([site in tile.data for site in code.data]) for tile in code.tiles]
    lines += [f"MPP {product('X', row)}" for row in first]
    # The logical gate is T to the power of the sum, which is 1 or -1 modulo 8.
    undo = "SPP_DAG[T]" if signs.sum() % 8 == 1 else "SPP[T]"
    lines += [
        f"{undo} {product('Z', logical)}",
        f"MPP {product('X', logical)}",
        "OBSERVABLE_INCLUDE(0) rec[-1]",
    ]
    circuit = snc.Circuit("\n".join(lines))
    quiet = circuit.without_noise().compile_detector_sampler(seed=1)
    assert not quiet.sample(1000, append_observables=True).any()
    assert circuit.fault_distance().at_least == distance
    assert "could replace the vector" in str(circuit.plan())
