"""Operations of Qiskit beside its standard gates: exact, by their types and not by their names, or refused."""

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from stim_nonclifford import Circuit

from ...support.oracle.density_matrix import record_distribution

qiskit = pytest.importorskip("qiskit")

from qiskit.circuit import (  # noqa: E402
    AnnotatedOperation,
    Clbit,
    ControlModifier,
    InverseModifier,
    PowerModifier,
    QuantumRegister,
)
from qiskit.circuit.classical import expr, types  # noqa: E402
from qiskit.circuit.library import (  # noqa: E402
    C3SXGate,
    CUGate,
    GlobalPhaseGate,
    PauliEvolutionGate,
    PhaseGate,
    QFTGate,
    RC3XGate,
    RYGate,
    RZGate,
    SwapGate,
    SXGate,
    TGate,
    UnitaryGate,
    XGate,
)
from qiskit.quantum_info import Operator, SparsePauliOp, random_unitary  # noqa: E402


def mixed(size: int) -> Any:
    circuit = qiskit.QuantumCircuit(size)
    for k in range(size):
        circuit.ry(0.4 + k, k)
        circuit.rz(0.3 + k, k)
        circuit.cx(k - 1, k) if k else None
    return circuit


OPERATIONS: dict[str, tuple[Any, int]] = {
    "evolution": (PauliEvolutionGate(SparsePauliOp(["XYZ", "ZZI"], [0.3, 0.4]), 0.7), 3),
    "unitary": (UnitaryGate(random_unitary(8, seed=2)), 3),
    "Fourier": (QFTGate(3), 3),
    "many controls": (PhaseGate(0.3).control(2, annotated=False), 3),
    "open control of a unitary": (UnitaryGate(random_unitary(2, seed=4)).control(1, ctrl_state=0), 2),
    "open control": (RZGate(0.3).control(2, ctrl_state=1, annotated=False), 3),
    "large angle": (RZGate(20.0), 1),
    "controlled large angle": (RZGate(33.0).control(1, annotated=False), 2),
    "large unitary angles": (CUGate(15.0, -20.0, 33.0, 40.0), 2),
    "controlled phase": (GlobalPhaseGate(0.4).control(1, annotated=True), 1),
    "root": (C3SXGate(), 4),
    "relative phases": (RC3XGate(), 4),
    "inverse": (AnnotatedOperation(TGate(), InverseModifier()), 1),
    "controls": (AnnotatedOperation(SXGate(), [ControlModifier(2, 1)]), 3),
    "power": (AnnotatedOperation(RYGate(0.3), [PowerModifier(-3), ControlModifier(1, 0)]), 2),
    "control of control": (
        AnnotatedOperation(RZGate(0.7), [ControlModifier(1, 0), InverseModifier(), ControlModifier(1, 1)]),
        3,
    ),
    "controlled unitary": (AnnotatedOperation(UnitaryGate(random_unitary(2, seed=5)), ControlModifier(1)), 2),
    "controlled definition": (AnnotatedOperation(mixed(2).to_gate(), ControlModifier(1)), 3),
    "swap": (AnnotatedOperation(SwapGate(), [ControlModifier(1)]), 3),
    "Clifford": (qiskit.quantum_info.Clifford(qiskit.circuit.library.CXGate()), 2),
}


@pytest.mark.filterwarnings("ignore::scipy.sparse.SparseEfficiencyWarning")
@pytest.mark.parametrize("name", OPERATIONS)
def test_operations_are_exact(name: str) -> None:
    operation, size = OPERATIONS[name]
    circuit = mixed(size)
    circuit.append(operation, list(reversed(range(size))))
    vector = Circuit.from_qiskit(circuit).state_vector()
    expected = Operator(circuit).data[:, 0]
    assert abs(np.vdot(vector, expected)) == pytest.approx(1, abs=1e-7)


@pytest.mark.parametrize("name", ["delay", "barrier", "reset", "global_phase", "id", "measure", "h"])
def test_an_operation_is_known_by_its_type_and_not_by_its_name(name: str) -> None:
    renamed = XGate().to_mutable()
    renamed.name = name
    body = qiskit.QuantumCircuit(1, 1)
    body.h(0)
    body.measure(0, 0)
    instruction, defined = body.to_instruction(), qiskit.QuantumCircuit(1)
    defined.x(0)
    gate = defined.to_gate()
    instruction.name = gate.name = name
    circuit = qiskit.QuantumCircuit(1, 1)
    circuit.append(renamed, [0])
    circuit.append(gate, [0])
    circuit.append(instruction, [0], [0])
    assert Circuit.from_qiskit(circuit) == Circuit("X 0 0\nH 0\nM 0")


def test_delays_and_identities() -> None:
    circuit = qiskit.QuantumCircuit(2)
    circuit.id(0)
    circuit.delay(100, 0, unit="ns")
    circuit.delay(50, 1)
    assert Circuit.from_qiskit(circuit) == Circuit("I 0\nI[delay:100.0ns] 0\nI[delay:50dt] 1")
    with pytest.raises(ValueError, match="Pass dt"):
        Circuit.from_qiskit(circuit, relaxation_times=(1e-6, 1e-6))
    read = Circuit.from_qiskit(circuit, relaxation_times={0: (1e-6, 2e-6), 1: (2e-6, 1e-6)}, dt=1e-9)
    rates = re.findall(r"T[12]=([0-9.e-]+)", str(read.to_stim()))
    assert [float(each) for each in rates] == pytest.approx([0.1, 0.05, 0.025, 0.05])
    with pytest.raises(ValueError, match="no times of qubit 1"):
        Circuit.from_qiskit(circuit, relaxation_times={0: (1e-6, 2e-6)}, dt=1e-9)
    with pytest.raises(ValueError, match="T2"):
        Circuit.from_qiskit(circuit, relaxation_times=(1e-6, 3e-6))


def uint(value: int, width: int = 3) -> Any:
    return expr.lift(value, types.Uint(width))


CONDITIONS: dict[str, tuple[Callable[[Any], Any], Callable[[int], bool]]] = {
    "less": (lambda c: expr.less(c, 5), lambda n: n < 5),
    "greater or equal": (lambda c: expr.greater_equal(c, 3), lambda n: n >= 3),
    "bits": (lambda c: expr.equal(expr.bit_and(c, 6), 4), lambda n: n & 6 == 4),
    "bits or": (lambda c: expr.not_equal(expr.bit_or(c, 1), 3), lambda n: n | 1 != 3),
    "not": (lambda c: expr.equal(expr.bit_not(c), 2), lambda n: n ^ 7 == 2),
    "xor": (lambda c: expr.bit_xor(c[0], c[2]), lambda n: bool((n ^ n >> 2) & 1)),
    "index": (lambda c: expr.index(c, 1), lambda n: bool(n >> 1 & 1)),
    "shift": (lambda c: expr.equal(expr.shift_left(c, 1), 2), lambda n: n << 1 & 7 == 2),
    "cast": (lambda c: expr.cast(c, types.Bool()), bool),
    "wider": (
        lambda c: expr.equal(expr.cast(c, types.Uint(8)), expr.lift(5, types.Uint(8))),
        lambda n: n == 5,
    ),
    "logic": (lambda c: expr.logic_or(expr.less(c, 2), expr.logic_not(c[0])), lambda n: n < 2 or not n & 1),
    "sum": (lambda c: expr.equal(expr.add(c, uint(3)), uint(1)), lambda n: (n + 3) % 8 == 1),
    "tuple": (lambda c: (c, 6), lambda n: n == 6),
    "bit tuple": (lambda c: (c[1], 0), lambda n: not n >> 1 & 1),
}


@pytest.mark.parametrize("name", CONDITIONS)
def test_conditions(name: str) -> None:
    condition, holds = CONDITIONS[name]
    circuit = qiskit.QuantumCircuit(4, 3)
    circuit.h(range(3))
    circuit.measure(range(3), range(3))
    with circuit.if_test(condition(circuit.cregs[0])) as otherwise:
        circuit.x(3)
    with otherwise:
        circuit.id(3)
    read = Circuit.from_qiskit(circuit)
    read.append("M", [3])
    check_condition(read, holds)


def check_condition(read: Circuit, holds: Callable[[int], int]) -> None:
    seen = set()
    for records, probability in record_distribution(read.to_stim(), cutoff=1e-14).items():
        number = records[0] + 2 * records[1] + 4 * records[2]
        seen.add(number)
        assert records[-1] == int(holds(number))
        assert probability == pytest.approx(1 / 8)
    assert seen == set(range(8))


def test_switch() -> None:
    circuit = qiskit.QuantumCircuit(4, 3)
    circuit.h(range(3))
    circuit.measure(range(3), range(3))
    with circuit.switch(circuit.cregs[0]) as case:
        with case(1, 4):
            circuit.x(3)
        with case(6):
            circuit.h(3)
            circuit.z(3)
            circuit.h(3)
        with case(case.DEFAULT):
            circuit.id(3)
    with circuit.switch(expr.bit_xor(circuit.cregs[0], 1)) as case:
        with case(3):
            circuit.z(3)
        with case(case.DEFAULT):
            circuit.x(3)
    read = Circuit.from_qiskit(circuit)
    read.append("M", [3])
    check_condition(read, lambda n: (n in (1, 4, 6)) != (n ^ 1 != 3))


def test_boxes_layouts_and_loops_that_never_run() -> None:
    circuit = qiskit.QuantumCircuit(3, 1)
    with circuit.box():
        circuit.h(0)
        circuit.cx(0, 2)
    with circuit.while_loop((circuit.clbits[0], 1)):
        circuit.x(1)
    assert Circuit.from_qiskit(circuit) == Circuit("H 0\nCX 0 2")
    placed = qiskit.transpile(
        circuit_of_ghz(), initial_layout=[2, 0, 1], coupling_map=[[0, 1], [1, 2]], seed_transpiler=1
    )
    found = record_distribution(Circuit.from_qiskit(placed).to_stim(), cutoff=1e-14)
    assert found == {(0, 0, 0): pytest.approx(0.5), (1, 1, 1): pytest.approx(0.5)}


def circuit_of_ghz() -> Any:
    circuit = qiskit.QuantumCircuit(3, 3)
    circuit.h(0)
    circuit.cx(0, 1)
    circuit.cx(0, 2)
    circuit.measure(range(3), range(3))
    return circuit


def refused(write: Callable[[Any], None]) -> str:
    circuit = qiskit.QuantumCircuit(QuantumRegister(2), [Clbit(), Clbit()])
    circuit.h(0)
    circuit.measure(0, 0)
    write(circuit)
    with pytest.raises(ValueError, match="nstruction") as error:
        Circuit.from_qiskit(circuit)
    return str(error.value)


def test_refusals_name_the_instruction_of_the_circuit() -> None:
    def measured(circuit: Any) -> None:
        with circuit.if_test((circuit.clbits[0], 1)):
            circuit.x(1)
            circuit.measure(1, 1)

    def resets(circuit: Any) -> None:
        with circuit.if_test((circuit.clbits[0], 1)):
            circuit.reset(1)

    def waits(circuit: Any) -> None:
        with circuit.if_test((circuit.clbits[0], 1)):
            circuit.delay(10, 1)

    def breaks(circuit: Any) -> None:
        with circuit.for_loop(range(3)):
            circuit.break_loop()

    def whiles(circuit: Any) -> None:
        with circuit.while_loop((circuit.clbits[0], 1)):
            circuit.h(0)

    def variable(circuit: Any) -> None:
        found = circuit.add_var("a", False)
        with circuit.if_test(found):
            circuit.x(0)

    def root(circuit: Any) -> None:
        circuit.append(AnnotatedOperation(XGate(), PowerModifier(0.5)), [0])

    assert "Instruction 2, if_else: in it instruction 1, measure: a measurement" in refused(measured)
    assert "Instruction 2, if_else: in it instruction 0, reset: a reset cannot" in refused(resets)
    assert "Instruction 2, if_else: in it instruction 0, delay: this operation cannot" in refused(waits)
    assert "Instruction 2, for_loop: in it instruction 0, break_loop: it has no counterpart" in refused(
        breaks
    )
    assert "Instruction 2, while_loop: it has no counterpart" in refused(whiles)

    def trotter(circuit: Any) -> None:
        circuit.append(PauliEvolutionGate(SparsePauliOp(["XX", "ZI"]), 0.3), [0, 1])

    assert "its terms do not commute" in refused(trotter)
    assert "store: it has no counterpart" in refused(variable)
    assert "has no counterpart here" in refused(root)
