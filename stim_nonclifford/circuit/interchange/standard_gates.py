"""The gates that OpenQASM's standard libraries and Qiskit have in common, as steps.

The names are those of ``qelib1.inc``, ``stdgates.inc`` and Qiskit's gates. Their angles are in radians there,
and in half-turns here.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from .steps import Gate, Phase, Step, controlled, inverse, phase_gate


@dataclass(frozen=True)
class StandardGate:
    """A gate by its name elsewhere."""

    num_angles: int
    num_qubits: int
    # Function of the angles, in half-turns, and the qubits that returns the steps.
    steps: Callable[..., list[Step]]


def _fixed(name: str, num_qubits: int = 1) -> StandardGate:
    return StandardGate(0, num_qubits, lambda *qubits: [Gate(name, qubits)])


def _rotation(name: str) -> StandardGate:
    return StandardGate(1, len(name.removeprefix("R_")), lambda a, *qubits: [Gate(name, qubits, (a,))])


def _with_control(gate: StandardGate, num_controls: int = 1) -> StandardGate:
    def steps(*arguments: float) -> list[Step]:
        angles, qubits = arguments[: gate.num_angles], arguments[gate.num_angles :]
        found = gate.steps(*angles, *qubits[num_controls:])
        for control in qubits[:num_controls]:
            found = controlled(found, int(control))
        return found

    return StandardGate(gate.num_angles, gate.num_qubits + num_controls, steps)


def _inverse_of(gate: StandardGate) -> StandardGate:
    return StandardGate(gate.num_angles, gate.num_qubits, lambda *arguments: inverse(gate.steps(*arguments)))


def _u(theta: float, phi: float, lambda_: float, qubit: int) -> list[Step]:
    """The unitary whose first entry is cos(θ/2)."""
    return [Gate("U3", (qubit,), (theta, phi, lambda_)), Phase((phi + lambda_) / 2)]


def _built_in_u(theta: float, phi: float, lambda_: float, qubit: int) -> list[Step]:
    """OpenQASM 3's U, whose first entry is (1 + exp(iθ)) / 2; the phase counts if it is controlled."""
    return [*_u(theta, phi, lambda_, qubit), Phase(theta / 2)]


def _rccx(a: int, b: int, c: int) -> list[Step]:
    """The Toffoli gate up to relative phases (Margolus)."""
    return [
        Gate("H", (c,)),
        Gate("T", (c,)),
        Gate("CX", (b, c)),
        Gate("T_DAG", (c,)),
        Gate("CX", (a, c)),
        Gate("T", (c,)),
        Gate("CX", (b, c)),
        Gate("T_DAG", (c,)),
        Gate("H", (c,)),
    ]


def _rc3x(a: int, b: int, c: int, d: int) -> list[Step]:
    """The gate with three controls up to relative phases, of ``qelib1.inc``."""
    into = [Gate("H", (d,)), Gate("T", (d,)), Gate("CX", (c, d)), Gate("T_DAG", (d,)), Gate("H", (d,))]
    turns = [
        step
        for control, turn in ((a, "T"), (b, "T_DAG")) * 2
        for step in (Gate("CX", (control, d)), Gate(turn, (d,)))
    ]
    return [*into, *turns, *into]


_X, _SX = _fixed("X"), _fixed("SQRT_X")
_PHASE = StandardGate(1, 1, lambda a, qubit: phase_gate(a, qubit))
_U = StandardGate(3, 1, _u)
_U2 = StandardGate(2, 1, lambda phi, lambda_, qubit: _u(0.5, phi, lambda_, qubit))
_R = StandardGate(2, 1, lambda theta, phi, q: [Gate("U3", (q,), (theta, phi - 0.5, 0.5 - phi))])

STANDARD_GATES: dict[str, StandardGate] = {
    "id": _fixed("I"),
    "u0": StandardGate(1, 1, lambda a, qubit: [Gate("I", (qubit,))]),
    **{
        name: _fixed(own)
        for name, own in {
            "x": "X",
            "y": "Y",
            "z": "Z",
            "h": "H",
            "s": "S",
            "sdg": "S_DAG",
            "t": "T",
            "tdg": "T_DAG",
            "sx": "SQRT_X",
            "sxdg": "SQRT_X_DAG",
        }.items()
    },
    **{
        name: _fixed(own, 2)
        for name, own in {
            "cx": "CX",
            "CX": "CX",
            "cnot": "CX",
            "cy": "CY",
            "cz": "CZ",
            "ch": "CH",
            "cs": "CS",
            "csdg": "CS_DAG",
            "swap": "SWAP",
            "iswap": "ISWAP",
        }.items()
    },
    "ccx": _fixed("CCX", 3),
    "ccz": _fixed("CCZ", 3),
    "cswap": _with_control(_fixed("SWAP", 2)),
    "p": _PHASE,
    "phase": _PHASE,
    "u1": _PHASE,
    "u2": _U2,
    "u3": _U,
    "u": _U,
    "r": _R,
    "rx": _rotation("R_X"),
    "ry": _rotation("R_Y"),
    "rz": _rotation("R_Z"),
    "rxx": _rotation("R_XX"),
    "ryy": _rotation("R_YY"),
    "rzz": _rotation("R_ZZ"),
    "rzx": StandardGate(1, 2, lambda a, *qubits: [Gate("R_PAULI", qubits, (a,), "ZX")]),
    "crx": _with_control(_rotation("R_X")),
    "cry": _with_control(_rotation("R_Y")),
    "crz": _with_control(_rotation("R_Z")),
    "cp": _with_control(_PHASE),
    "cphase": _with_control(_PHASE),
    "cu1": _with_control(_PHASE),
    "cu3": _with_control(_U),
    "cu": StandardGate(
        4, 2, lambda theta, phi, lambda_, a, *q: controlled([*_u(theta, phi, lambda_, q[1]), Phase(a)], q[0])
    ),
    "csx": _with_control(_SX),
    "dcx": StandardGate(0, 2, lambda a, b: [Gate("CX", (a, b)), Gate("CX", (b, a))]),
    "rccx": StandardGate(0, 3, _rccx),
    "rc3x": StandardGate(0, 4, _rc3x),
    "rcccx": StandardGate(0, 4, _rc3x),
    "c3x": _with_control(_X, 3),
    "mcx": _with_control(_X, 3),
    "c3sqrtx": _with_control(_SX, 3),
    "c3sx": _with_control(_SX, 3),
    "c4x": _with_control(_X, 4),
}
"""By name. ``mcx`` is the one with three controls, as Qiskit writes it; it has others of the same name."""


def _rotation_by_u3(theta: float, phi: float, lambda_: float, qubit: int) -> list[Step]:
    """The gate ``u3`` of ``stdgates.inc``, whose determinant is 1; the phase counts if it is controlled."""
    return [Gate("U3", (qubit,), (theta, phi, lambda_))]


OPENQASM_3: dict[str, StandardGate] = {
    "u2": StandardGate(2, 1, lambda phi, lambda_, qubit: _rotation_by_u3(0.5, phi, lambda_, qubit)),
    "u3": StandardGate(3, 1, _rotation_by_u3),
}
"""The gates that have another phase in ``stdgates.inc`` than in Qiskit."""

_QELIB1 = "u3 u2 u1 cx id x y z h s sdg t tdg rx ry rz cz cy ch ccx crz cu1 cu3"
_STDGATES = "p x y z h s sdg t tdg sx rx ry rz cx cy cz cp crx cry crz ch swap ccx cswap cu"
_STDGATES += " CX phase cphase id u1 u2 u3"
LIBRARIES = {"qelib1.inc": _QELIB1.split(), "stdgates.inc": _STDGATES.split()}
"""The names that a library declares; of ``qelib1.inc`` those that all its versions have."""

BUILT_IN: dict[str, StandardGate] = {"U": StandardGate(3, 1, _built_in_u), "CX": _fixed("CX", 2)}
"""The gates that OpenQASM has without a library."""
