"""The gates of OpenQASM's libraries have their definitions' unitaries, also under any number of controls."""

import pathlib
import re

import numpy as np
import pytest

from stim_nonclifford import Circuit

from ...support.seeds import seeds

pytest.importorskip("openqasm3.parser")
qiskit = pytest.importorskip("qiskit")

ANGLES = (0.37, 1.9, -2.3, 17.1)
LIBRARIES = pathlib.Path(qiskit.__file__).parent / "qasm" / "libs"
HEADER = re.compile(r"gate (\w+)(?:\(([^)]*)\))? ([\w, ]+?)\s*\{")


def gates_of(library: str) -> list[tuple[str, int, int]]:
    """Names of gates, and their numbers of parameters and qubits."""
    found = HEADER.findall((LIBRARIES / library).read_text())
    return [
        (name, len(angles.split(",")) if angles else 0, len(qubits.split(",")))
        for name, angles, qubits in found
    ]


def call(name: str, num_angles: int, num_qubits: int) -> str:
    angles = f"({', '.join(map(str, ANGLES[:num_angles]))})" if num_angles else ""
    return f"{name}{angles} {', '.join(f'q[{k}]' for k in range(num_qubits))};"


def on_bell_pairs(num_qubits: int) -> str:
    """A preparation after which the state tells the whole unitary."""
    pairs = "".join(f"h q[{k}]; cx q[{k}], q[{num_qubits + k}]; " for k in range(num_qubits))
    return f"qreg q[{2 * num_qubits}];\n{pairs}\n"


def overlap(first: np.ndarray, second: np.ndarray) -> float:
    return float(abs(np.vdot(first, second)))


@pytest.mark.parametrize(("name", "num_angles", "num_qubits"), gates_of("qelib1.inc"))
def test_gates_of_qelib1(name: str, num_angles: int, num_qubits: int) -> None:
    rest = on_bell_pairs(num_qubits) + call(name, num_angles, num_qubits)
    found = Circuit.from_qasm(f'OPENQASM 2.0;\ninclude "qelib1.inc";\n{rest}').state_vector()
    definitions = (LIBRARIES / "qelib1.inc").read_text()
    expected = qiskit.quantum_info.Statevector(qiskit.qasm2.loads(f"OPENQASM 2.0;\n{definitions}\n{rest}"))
    assert overlap(found, expected.data) == pytest.approx(1, abs=1e-6)


def u_of(theta: float, phi: float, lambda_: float) -> np.ndarray:
    """U of the specification of OpenQASM 3."""
    one, other = 1 + np.exp(1j * theta), 1 - np.exp(1j * theta)
    matrix = [
        [one, -1j * np.exp(1j * lambda_) * other],
        [1j * np.exp(1j * phi) * other, np.exp(1j * (phi + lambda_)) * one],
    ]
    return np.array(matrix) / 2


def with_control(matrix: np.ndarray) -> np.ndarray:
    """The control is the first qubit, which counts most."""
    size = len(matrix)
    result = np.eye(2 * size, dtype=complex)
    result[size:, size:] = matrix
    return result


def stdgates() -> dict[str, np.ndarray]:
    """The definitions of ``stdgates.inc``, as matrices, of which the first qubit counts most."""
    a, b, c, d = ANGLES
    x, y = -1j * u_of(np.pi, 0, np.pi), -1j * u_of(np.pi, np.pi / 2, np.pi / 2)
    h = np.exp(-0.25j * np.pi) * u_of(np.pi / 2, 0, np.pi)
    rx, ry = np.exp(-0.5j * a) * u_of(a, -np.pi / 2, np.pi / 2), np.exp(-0.5j * a) * u_of(a, 0, 0)
    rz = np.exp(-0.5j * a) * u_of(0, 0, a)
    swap = np.eye(4)[[0, 2, 1, 3]]
    cu = np.kron(np.diag([1, np.exp(1j * (d - a / 2))]), np.eye(2)) @ with_control(u_of(a, b, c))
    powers = {"z": np.pi, "s": np.pi / 2, "sdg": -np.pi / 2, "t": np.pi / 4, "tdg": -np.pi / 4}
    phases = {name: np.diag([1, np.exp(1j * angle)]) for name, angle in powers.items()}
    p = np.diag([1, np.exp(1j * a)])
    sx = (np.eye(2) + x) / 2 + 1j * (np.eye(2) - x) / 2  # the principal root
    return {
        **phases, "p": p, "u1": p, "phase": p, "x": x, "y": y, "h": h, "sx": sx, "rx": rx, "ry": ry, "rz": rz,
        "cx": with_control(x), "cy": with_control(y), "cz": with_control(phases["z"]), "cp": with_control(p),
        "cphase": with_control(p), "crx": with_control(rx), "cry": with_control(ry), "crz": with_control(rz),
        "ch": with_control(h), "swap": swap, "ccx": with_control(with_control(x)), "cswap": with_control(swap),
        "cu": cu, "id": np.eye(2), "CX": with_control(x),  # its definition in the file is no CNOT, by a slip
        "u2": np.exp(-0.5j * (a + b + np.pi / 2)) * u_of(np.pi / 2, a, b),
        "u3": np.exp(-0.5j * (a + b + c)) * u_of(a, b, c),
    }  # fmt: skip


@pytest.mark.parametrize(("name", "num_angles", "num_qubits"), gates_of("stdgates.inc"))
def test_gates_of_stdgates_with_their_phases(name: str, num_angles: int, num_qubits: int) -> None:
    size = num_qubits + 1
    rest = f"{on_bell_pairs(size)}ctrl @ {call(name, num_angles, size)}"
    found = Circuit.from_qasm(f'OPENQASM 3.0;\ninclude "stdgates.inc";\n{rest}').state_vector()
    matrix = with_control(stdgates()[name])
    # Qubit 0 counts least in a state vector.
    order = [int(f"{k:0{size}b}"[::-1], 2) for k in range(2**size)]
    expected = matrix[np.ix_(order, order)].T.reshape(-1) / np.sqrt(2**size)
    swapped = found.reshape(2**size, 2**size)
    assert overlap(swapped.reshape(-1), expected) == pytest.approx(1, abs=1e-6)


@pytest.mark.parametrize("count", [2, 3, 4, 5, 6, 9])
@pytest.mark.parametrize("inner", ["x", "ry(0.7)", "inv @ pow(3) @ t", "U(0.3, 0.2, 5.1)"])
def test_many_controls(count: int, inner: str) -> None:
    frame = "h q; t q; ry(0.4) q;"
    head = f'OPENQASM 3.0; include "stdgates.inc"; qubit[{count + 1}] q; {frame}'
    qubits = ", ".join(f"q[{k}]" for k in range(count + 1))
    before = Circuit.from_qasm(head).state_vector()
    found = Circuit.from_qasm(f"{head} negctrl @ ctrl({count - 1}) @ {inner} {qubits};").state_vector()
    size = 2 ** (count + 1)
    assert np.abs(found[size:]).sum() == pytest.approx(0, abs=1e-5)  # an ancilla is 0 again
    u = u_of(0.3, 0.2, 5.1)
    matrix = {
        "x": np.array([[0, 1], [1, 0]]),
        "ry(0.7)": np.array([[np.cos(0.35), -np.sin(0.35)], [np.sin(0.35), np.cos(0.35)]]),
        "inv @ pow(3) @ t": np.diag([1, np.exp(-0.75j * np.pi)]),
        "U(0.3, 0.2, 5.1)": u,
    }[inner]
    places = [size // 2 - 2, size - 2]
    before[places] = matrix @ before[places]
    assert overlap(found[:size], before) == pytest.approx(1, abs=1e-6)


def test_gates_grow_linearly_with_their_controls() -> None:
    for count in (20, 80):
        qubits = ", ".join(f"q[{k}]" for k in range(count + 1))
        nested = "".join(
            f"gate g{k + 1} {arguments(k + 2)} {{ negctrl @ g{k} {arguments(k + 2)}; }}\n"
            for k in range(count)
        )
        one = Circuit.from_qasm(f"qubit[{count + 1}] q; ctrl({count}) @ x {qubits};")
        other = Circuit.from_qasm(f"gate g0 a0 {{ x a0; }}\n{nested}qubit[{count + 1}] q; g{count} {qubits};")
        for circuit in (one, other):
            assert circuit.num_qubits == count + 2
            assert sum(len(each.targets_copy()) for each in circuit) < 54 * count


def arguments(count: int) -> str:
    return ", ".join(f"a{k}" for k in range(count))


NAMES = [("x", 0, 1), ("h", 0, 1), ("s", 0, 1), ("tdg", 0, 1), ("sx", 0, 1), ("rx", 1, 1), ("rz", 1, 1)]
NAMES += [("p", 1, 1), ("cx", 0, 2), ("cy", 0, 2), ("cp", 1, 2), ("crz", 1, 2), ("ch", 0, 2), ("swap", 0, 2)]
NAMES += [("ccx", 0, 3), ("cswap", 0, 3), ("gphase", 1, 0), ("id", 0, 1)]


def random_call(rng: np.random.Generator, qubits: list[str], names: list[tuple[str, int, int]]) -> str:
    modifiers, taken = "", 0
    for _ in range(rng.integers(4)):
        kind = str(rng.choice(["ctrl", "negctrl", "inv", "pow"]))
        count = int(rng.integers(1, 3)) if "ctrl" in kind else 0
        argument = {"inv": "", "pow": f"({rng.integers(-2, 4)})"}.get(kind, f"({count})")
        modifiers, taken = f"{modifiers}{kind}{argument} @ ", taken + count
    name, num_angles, num_qubits = names[rng.integers(len(names))]
    if not 0 < taken + num_qubits <= len(qubits):
        return random_call(rng, qubits, names)
    angles = (
        f"({', '.join(f'{angle:.3f}' for angle in rng.uniform(-15, 15, num_angles))})" if num_angles else ""
    )
    return f"{modifiers}{name}{angles} {', '.join(rng.permutation(qubits)[: taken + num_qubits])};\n"


@pytest.mark.filterwarnings("ignore:.*annotated:DeprecationWarning")
@pytest.mark.parametrize("seed", seeds(40, quick=5))
def test_random_modifiers_have_the_states_of_qiskit(seed: int) -> None:
    pytest.importorskip("qiskit_qasm3_import")
    rng = np.random.default_rng(seed)
    names, definitions = list(NAMES), ""
    for k in range(2):
        body = "".join(random_call(rng, ["a", "b", "c"], names) for _ in range(3))
        definitions += f"gate g{k}(v, w) a, b, c {{\n{body}rz(v / 2 + w) a;\n}}\n"
        names.append((f"g{k}", 2, 3))
    body = "".join(random_call(rng, [f"q[{k}]" for k in range(6)], names) for _ in range(5))
    frame = "h q; t q; ry(0.4) q; h q[0];\n"
    program = f'OPENQASM 3.0;\ninclude "stdgates.inc";\n{definitions}qubit[6] q;\n{frame}{body}'
    expected = qiskit.quantum_info.Statevector(qiskit.qasm3.loads(program)).data
    found = Circuit.from_qasm(program).state_vector()[:64]
    assert overlap(found, expected) == pytest.approx(1, abs=1e-6)
