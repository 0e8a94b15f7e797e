"""Operations of Cirq that are no plain gates: the distribution of records is Cirq's, or they are refused."""

import numpy as np
import pytest

from stim_nonclifford import Circuit

from ...support.laws.exact import largest_difference, marginal
from ...support.oracle.density_matrix import record_distribution

cirq = pytest.importorskip("cirq")
sympy = pytest.importorskip("sympy")
pytest.importorskip("stimcirq")

from .cirq_branches import distribution_of  # noqa: E402

A, B, C = cirq.LineQubit.range(3)
START = [cirq.X(A) ** 0.3, cirq.Y(B) ** 0.4, cirq.CX(A, B), cirq.X(C) ** 0.2, cirq.CX(B, C) ** 0.5]
KEY = cirq.MeasurementKey
a, b = sympy.symbols("a b")
bits = sympy.IndexedBase("a")


def operators_of(seed: int, size: int, count: int) -> list[np.ndarray]:
    rng = np.random.default_rng(seed)
    shape = (size * count, size)
    stacked, _ = np.linalg.qr(rng.normal(size=shape) + 1j * rng.normal(size=shape))
    return list(stacked.reshape(count, size, size))


def confusion(seed: int, size: int) -> np.ndarray:
    found = np.random.default_rng(seed).uniform(0.1, 1, size=(size, size))
    return found / found.sum(axis=1, keepdims=True)


PARITY = sympy.Xor(bits[0], bits[1])
SUBCIRCUIT = cirq.FrozenCircuit(
    cirq.X(A) ** 0.3, cirq.measure(A, key="m"), cirq.Y(B).with_classical_controls("m"), cirq.CX(B, A)
)

OPERATIONS = {
    "confusion": cirq.measure(A, B, key="a", confusion_map={(1,): confusion(1, 2)}, invert_mask=(True, True)),
    "product of confusions": cirq.measure(
        A, B, key="a", confusion_map={(1, 0): np.kron(confusion(1, 2), confusion(2, 2))}
    ),
    "amplitude damping": cirq.amplitude_damp(0.3)(A),
    "generalized": cirq.generalized_amplitude_damp(0.3, 0.4)(B),
    "phase damping": cirq.phase_damp(0.3)(B),
    "phase flip": cirq.phase_flip(0.3)(B),
    "bit flip": cirq.bit_flip(0.3)(B),
    "kraus": cirq.KrausChannel(operators_of(3, 2, 3))(A),
    "kraus on two": cirq.KrausChannel(operators_of(4, 4, 2))(C, A),
    "mixed unitaries": cirq.MixedUnitaryChannel([(0.3, cirq.unitary(cirq.H)), (0.7, cirq.unitary(cirq.T))])(
        A
    ),
    "mixed unitaries on two": cirq.MixedUnitaryChannel(
        [(0.3, cirq.unitary(cirq.CX)), (0.7, cirq.unitary(cirq.ISWAP))]
    )(C, A),
    "depolarize": cirq.depolarize(0.3)(A),
    "depolarize 2": cirq.depolarize(0.3, n_qubits=2)(A, C),
    "depolarize 3": cirq.depolarize(0.3, n_qubits=3)(A, C, B),
    "asymmetric 1": cirq.asymmetric_depolarize(0.1, 0.2, 0.3)(A),
    "asymmetric 2": cirq.asymmetric_depolarize(error_probabilities={"XI": 0.2, "ZY": 0.3, "II": 0.5})(C, A),
    "asymmetric 3": cirq.asymmetric_depolarize(error_probabilities={"XIY": 0.2, "IZX": 0.3, "III": 0.5})(
        C, A, B
    ),
    "all errors": cirq.asymmetric_depolarize(error_probabilities={"XIY": 0.4, "IXX": 0.6})(C, A, B),
    "reset": cirq.reset(A),
    "resets": cirq.ParallelGate(cirq.ResetChannel(), 2)(A, B),
    "state preparation": cirq.StatePreparationChannel(np.array([0.6, 0.8j]))(B),
    "state preparation on two": cirq.StatePreparationChannel(np.array([0.5, 0.5j, -0.5, 0.5]))(B, A),
    "dampings": cirq.ParallelGate(cirq.amplitude_damp(0.2), 2)(A, B),
    "random Pauli": cirq.Y(A).with_probability(0.3),
    "random gate": (cirq.CX(A, B) ** 0.5).with_probability(0.3),
    "random T": cirq.T(A).with_probability(0.3),
    "random product": cirq.DensePauliString("XIZ")(A, B, C).with_probability(0.3),
    "products": cirq.PauliMeasurementGate(cirq.DensePauliString("XY", coefficient=-1), key="a")(A, C),
    "one Pauli": cirq.PauliMeasurementGate(cirq.DensePauliString("Y", coefficient=-1), key="a")(A),
    "phasor": cirq.PauliStringPhasor(-1 * cirq.X(A) * cirq.Z(C), exponent_neg=0.3, exponent_pos=0.1),
    "quarter phasor": cirq.PauliStringPhasor(-1 * cirq.X(A) * cirq.Z(C), exponent_neg=2.5),
    "large exponents": [cirq.X(A) ** 5.25, cirq.CZ(A, B) ** 9.3, cirq.rx(20.0)(C), cirq.XX(A, C) ** -7.6],
    "controlled phase": cirq.ControlledOperation([A], cirq.GlobalPhaseGate(1j).on()),
    "controlled large": (cirq.Z**5.25).on(B).controlled_by(A),
    "controlled rotation": cirq.rz(30.0).on(B).controlled_by(A, C, control_values=[0, 1]),
    "controlled values": cirq.ControlledOperation(
        [A, B], cirq.Y(C) ** 0.3, control_values=cirq.SumOfProducts([(0, 1), (1, 0)])
    ),
    "controlled matrix": cirq.ControlledGate(cirq.MatrixGate(operators_of(7, 2, 1)[0]))(A, B),
    "matrix": cirq.MatrixGate(operators_of(8, 4, 1)[0])(B, A),
    "wait": cirq.wait(A, B, nanos=20),
    "swaps": [cirq.CXSWAP(A, B), cirq.CZSWAP(B, C), cirq.CCY(A, B, C), cirq.CSWAP(C, B, A)],
    "permutation": cirq.QubitPermutationGate([2, 0, 1])(A, B, C),
    "diagonal": cirq.ThreeQubitDiagonalGate([0.1 * k for k in range(8)])(C, A, B),
    "fourier": cirq.qft(A, B, C),
    "boolean": cirq.BooleanHamiltonianGate(["a", "b"], ["a ^ b", "a & b"], 0.3)(A, C),
    "clifford": cirq.CliffordGate.from_op_list([cirq.H(A), cirq.CX(A, B), cirq.S(B)], [A, B])(C, A),
    "repetitions": cirq.CircuitOperation(SUBCIRCUIT, repetitions=2),
    "repetitions without ids": cirq.CircuitOperation(SUBCIRCUIT, repetitions=2, use_repetition_ids=False),
    "mapping": cirq.CircuitOperation(SUBCIRCUIT)
    .with_qubit_mapping({A: C})
    .with_measurement_key_mapping({"m": "k"}),
    "inverse": cirq.CircuitOperation(cirq.FrozenCircuit(cirq.T(A), cirq.CX(A, B) ** 0.3), repetitions=-2),
    "nested": cirq.CircuitOperation(
        cirq.FrozenCircuit(cirq.CircuitOperation(SUBCIRCUIT, repetitions=2), cirq.H(C)), repetitions=2
    ),
    "conditional sub-circuit": [
        cirq.measure(C, key="c"),
        cirq.CircuitOperation(cirq.FrozenCircuit(cirq.H(A), cirq.T(A))).with_classical_controls("c"),
    ],
    "key twice": [
        cirq.measure(A, key="a"),
        cirq.H(A),
        cirq.measure(A, key="a"),
        cirq.X(B).with_classical_controls(cirq.KeyCondition(KEY("a"), 0)),
        cirq.Y(C).with_classical_controls(cirq.KeyCondition(KEY("a"), -1)),
    ],
}
CONDITIONS = {
    "key": cirq.KeyCondition(KEY("a")),
    "bits": cirq.BitMaskKeyCondition("a", bitmask=2),
    "equal": cirq.BitMaskKeyCondition("a", target_value=2, equal_target=True),
    "masked": cirq.BitMaskKeyCondition.create_equal_mask("a", 3),
    "unequal": cirq.BitMaskKeyCondition.create_not_equal_mask("a", 1),
    "impossible": cirq.BitMaskKeyCondition("a", bitmask=1, target_value=2, equal_target=True),
    "too large": cirq.BitMaskKeyCondition("a", target_value=9, equal_target=False),
    "symbol": cirq.SympyCondition(sympy.Eq(a, 2)),
    "greater": cirq.SympyCondition(a > b + 1),
    "sum": cirq.SympyCondition(sympy.Eq(a + b, 2)),
    "parity": cirq.SympyCondition(PARITY),
    "both": cirq.SympyCondition(sympy.And(sympy.Eq(a, 1), sympy.Eq(b, 1))),
}


def compare(circuit: cirq.Circuit, keys: set[str] | None = None) -> None:
    """The records of a circuit are those of Cirq, but for records of ancillas in between."""
    read = Circuit.from_cirq(circuit)
    expected = distribution_of(circuit)
    [size] = {len(each) for each in expected}
    records = record_distribution(read.to_stim(), cutoff=1e-14)
    found = marginal(records, lambda bits: (*bits[: size - 3], *bits[-3:]))
    assert largest_difference(found, expected) < 3e-6


def after(*operations: object) -> cirq.Circuit:
    mixed = [cirq.X(each) ** 0.3 for each in (A, B, C)]
    return cirq.Circuit(START, *operations, mixed, cirq.measure(A, key="x"), cirq.measure(B, C, key="y"))


@pytest.mark.parametrize("name", OPERATIONS)
def test_operations_have_their_distribution(name: str) -> None:
    compare(after(OPERATIONS[name]))


@pytest.mark.parametrize("name", CONDITIONS)
def test_conditions_have_their_distribution(name: str) -> None:
    measured = [cirq.measure(A, B, key="a"), cirq.measure(C, key="b")]
    compare(after(measured, (cirq.Y(A) ** 0.4).with_classical_controls(CONDITIONS[name])))


def test_ticks_of_a_sub_circuit_are_kept() -> None:
    inner = cirq.FrozenCircuit(cirq.H(A), cirq.T(A))
    other = cirq.FrozenCircuit(cirq.X(B), cirq.Y(B), cirq.Z(B))
    circuit = cirq.Circuit(
        cirq.Moment(cirq.CircuitOperation(inner, repetitions=2), cirq.CircuitOperation(other)), cirq.Z(A)
    )
    expected = Circuit("H 0\nX 1\nTICK\nT 0\nY 1\nTICK\nH 0\nZ 1\nTICK\nT 0\nTICK\nZ 0\nTICK")
    assert Circuit.from_cirq(circuit) == expected


def test_waiting_is_kept_or_relaxes() -> None:
    circuit = cirq.Circuit(cirq.wait(A, B, nanos=20), cirq.I(A))
    assert Circuit.from_cirq(circuit) == Circuit("I[delay:20.0ns] 0\nI[delay:20.0ns] 1\nTICK\nI 0\nTICK")
    relaxed = Circuit.from_cirq(circuit, relaxation_times={0: (1e-6, 2e-6), 1: (2e-6, 1e-6)})
    expected = Circuit("THERMAL_RELAXATION(0.02, 0.01) 0\nTHERMAL_RELAXATION(0.01, 0.02) 1\nTICK\nI 0\nTICK")
    assert relaxed.approx_equals(expected, atol=1e-12)


def test_names_and_tags_are_kept() -> None:
    circuit = cirq.Circuit(
        cirq.X(A).with_tags("a", "b"),
        cirq.T(B).with_tags("t"),
        cirq.X(C) ** 0.5,
        cirq.measure(A, key="m").with_tags("r"),
    )
    assert Circuit.from_cirq(circuit) == Circuit("X[a, b] 0\nT[t] 1\nSQRT_X 2\nTICK\nM[r] 0\nTICK")


CORRELATED = np.array([[0.9, 0, 0, 0.1], [0, 1, 0, 0], [0, 0, 1, 0], [0.1, 0, 0, 0.9]])
UNTIL = cirq.CircuitOperation(
    cirq.FrozenCircuit(cirq.H(A), cirq.measure(A, key="m")),
    use_repetition_ids=False,
    repeat_until=cirq.KeyCondition(KEY("m")),
)


@pytest.mark.parametrize(
    ("operation", "message"),
    [
        (cirq.measure(A, B, key="a", confusion_map={(0, 1): CORRELATED}), r"Moment 0, .*no product of maps"),
        (cirq.amplitude_damp(0.1)(A).with_classical_controls("z"), "cannot be conditional"),
        (UNTIL, "repeated until a condition holds"),
        (cirq.X(A) ** sympy.Symbol("s"), r"the symbols s have no values. Write cirq.resolve_parameters"),
        (cirq.KrausChannel([np.eye(2)], key="k")(A), "its record is the number of an operator"),
        (cirq.KrausChannel(operators_of(1, 8, 1))(A, B, C), "at most two qubits"),
        (cirq.depolarize(0.1, n_qubits=6)(*cirq.LineQubit.range(6)), "4\\^6 - 1 errors"),
        (cirq.X(cirq.LineQid(0, 3)) if False else cirq.ResetChannel(3)(cirq.LineQid(0, 3)), "3 levels"),
        (cirq.rz(0.3)(A).with_tags("note"), "cannot have its tag 'note'"),
        (cirq.X(A).with_classical_controls(cirq.KeyCondition(KEY("z"), 1)), "measurement 1 with the key z"),
        (cirq.X(A).with_classical_controls("unknown"), "nothing before it was measured with the key unknown"),
    ],
)
def test_refusals_name_the_operation(operation: cirq.Operation, message: str) -> None:
    moments = [cirq.Moment(cirq.measure(cirq.LineQubit(9), key="z")), cirq.Moment(operation)]
    if "Moment 0" in message:
        moments = moments[1:]
    with pytest.raises(ValueError, match=message):
        Circuit.from_cirq(cirq.Circuit(moments))
    with pytest.raises(TypeError, match=r"circuit must be a cirq.Circuit, but has type str"):
        Circuit.from_cirq("T 0")
