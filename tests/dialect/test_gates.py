"""The table of non-Clifford gates: every entry is complete, and all its parts say the same.

The unitaries come from the oracle, which reads tags by itself: a gate that it does not know is a Clifford gate
for it, and fails here.
"""

import itertools
import re

import numpy as np
import pytest
import stim

from stim_nonclifford import Circuit
from stim_nonclifford.dialect import (
    GATES,
    PRODUCT,
    CliffordPart,
    GateDefinition,
    NonCliffordGate,
    gate_from_tag,
)
from stim_nonclifford.dialect.gates import BARE_NAMES, CONDITIONAL_CARRIER, FORMS_OF_WORD, TaggedForm
from stim_nonclifford.dialect.tags import tag_of
from stim_nonclifford.simulation.compiler.program.flattening import program_of
from stim_nonclifford.simulation.compiler.program.steps import Clifford, Rotate

from ..support.oracle.operators import PAULIS, Matrix, clifford, gate_unitary, kron, rotation

ANGLES = (0.3, -1.234, 0.717)
PRODUCT_TARGETS = "X0*!Y1*Z2"
# Forms with records among the targets are tested in test_conditional_gates.
FORMS = [
    (name, form) for name, gate in GATES.items() for form in gate.forms if form.carrier != CONDITIONAL_CARRIER
]

every_gate = pytest.mark.parametrize("name", GATES)
every_name = pytest.mark.parametrize("name", BARE_NAMES)
every_form = pytest.mark.parametrize(
    ("name", "form"), FORMS, ids=[f"{name}: {form.carrier}[{form.word}]" for name, form in FORMS]
)


def gate_of(name: str) -> NonCliffordGate:
    return NonCliffordGate(name, ANGLES[: len(GATES[name].parameters)])


def targets_of(gate: GateDefinition, groups: int) -> str:
    """One group, or another one after it that does not commute with it (of gates that have such groups)."""
    if gate.num_targets is None:
        return " ".join([PRODUCT_TARGETS, "Z0*Y1"][:groups])
    qubits = list(range(gate.num_targets))
    return " ".join(map(str, [*qubits, *qubits[-1:], *qubits[:-1]][: groups * len(qubits)]))


def tagged(name: str, form: TaggedForm, groups: int = 1) -> stim.Circuit:
    targets = targets_of(GATES[name], groups)
    if form.product:
        size = len(form.product)
        qubits = targets.split()
        chunks = [qubits[k : k + size] for k in range(0, len(qubits), size)]
        targets = " ".join("*".join(map("".join, zip(form.product, chunk, strict=True))) for chunk in chunks)
    return stim.Circuit(f"{form.carrier}[{tag_of(gate_of(name), form)}] {targets}")


def bare(name: str, note: str = "") -> str:
    gate = BARE_NAMES[name]
    angles = ", ".join(map(repr, gate_of(gate.name).half_turns))
    return f"{name}{note and f'[{note}]'}{angles and f'({angles})'} {targets_of(gate, 2)}"


def pauli_matrix(letters: dict[int, str], num_qubits: int) -> Matrix:
    return kron(PAULIS[letters.get(qubit, "I")] for qubit in range(num_qubits))


def on_qubits(matrix: Matrix, qubits: tuple[int, ...], num_qubits: int) -> Matrix:
    """A gate on some of several qubits, entry by entry."""
    result: Matrix = np.zeros((1 << num_qubits, 1 << num_qubits), dtype=np.complex128)
    for column in range(1 << num_qubits):
        inside = sum((column >> q & 1) << k for k, q in enumerate(qubits))
        outside = column & ~sum(1 << q for q in qubits)
        for row in range(1 << len(qubits)):
            place = outside | sum((row >> k & 1) << q for k, q in enumerate(qubits))
            result[place, column] = matrix[row, inside]
    return result


def by_oracle(circuit: stim.Circuit) -> Matrix:
    """Of the only group of targets of the only instruction."""
    (instruction,) = circuit
    targets = [target for target in instruction.targets_copy() if not target.is_combiner]
    qubits, matrix = gate_unitary(instruction.name, instruction.tag, targets)
    assert qubits == tuple(range(len(qubits)))
    return matrix


def by_parts(gate: GateDefinition, angles: tuple[float, ...]) -> Matrix:
    num_qubits = gate.num_targets or 3
    result: Matrix = np.eye(1 << num_qubits, dtype=np.complex128)
    for part in gate.decomposition(*angles):
        if isinstance(part, CliffordPart):
            result = on_qubits(clifford(part.name), part.targets, num_qubits) @ result
        elif part.pauli == PRODUCT:
            pauli = -pauli_matrix({0: "X", 1: "Y", 2: "Z"}, 3)  # PRODUCT_TARGETS
            result = rotation(pauli, part.half_turns * np.pi) @ result
        else:
            assert len(part.pauli) == num_qubits
            pauli = pauli_matrix(dict(enumerate(part.pauli.replace("_", "I"))), num_qubits)
            result = rotation(pauli, part.half_turns * np.pi) @ result
    return result


def by_steps(circuit: stim.Circuit) -> Matrix:
    """The product of the compiler's steps."""
    num_qubits = circuit.num_qubits
    result: Matrix = np.eye(1 << num_qubits, dtype=np.complex128)
    for step in program_of(circuit).steps:
        if isinstance(step, Clifford):
            for targets in step.groups:
                result = on_qubits(clifford(step.gate.name), targets, num_qubits) @ result
        else:
            assert isinstance(step, Rotate)
            letters = {qubit: "_XZY"[code] for qubit, code in step.factors}
            result = rotation(pauli_matrix(letters, num_qubits), step.half_turns * np.pi) @ result
    return result


def assert_equal_up_to_phase(a: Matrix, b: Matrix) -> None:
    assert a.shape == b.shape
    assert abs(np.vdot(a, b)) == pytest.approx(len(a), abs=1e-12)


@every_form
def test_decomposition(name: str, form: TaggedForm) -> None:
    """It is the gate up to a global phase; where the description is a formula, exactly."""
    gate = GATES[name]
    found, expected = by_parts(gate, gate_of(name).half_turns), by_oracle(tagged(name, form))
    assert_equal_up_to_phase(found, expected)
    if "controlled" not in gate.description:
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12)


@every_form
def test_steps(name: str, form: TaggedForm) -> None:
    assert_equal_up_to_phase(by_steps(tagged(name, form)), by_oracle(tagged(name, form)))


@every_form
def test_inverse(name: str, form: TaggedForm) -> None:
    """Of the entry, and of a circuit with two groups of targets."""
    gate, angles = GATES[name], gate_of(name).half_turns
    inverse = GATES[gate.inverse]
    assert inverse.inverse == name
    assert inverse.inverse_angles(gate.inverse_angles(angles)) == angles
    product = by_parts(inverse, gate.inverse_angles(angles)) @ by_parts(gate, angles)
    assert_equal_up_to_phase(product, np.eye(len(product)))

    circuit = tagged(name, form, groups=2)
    inverted = Circuit(circuit).inverse().to_stim()
    found = gate_from_tag(inverted[0])
    assert found is not None
    assert found.half_turns == gate.inverse_angles(angles)
    if not form.product:  # which is read as a gate of Pauli products
        assert found.name == gate.inverse
    product = by_steps(circuit + inverted)
    assert_equal_up_to_phase(product, np.eye(len(product)))


@every_form
def test_tag_round_trip(name: str, form: TaggedForm) -> None:
    circuit = tagged(name, form, groups=2)
    found = gate_from_tag(circuit[0])
    assert found is not None
    assert found.half_turns == gate_of(name).half_turns
    if not form.product:
        assert found.name == name
    printed = str(Circuit(circuit))
    if form == GATES[name].written_form:
        assert printed == bare(name)
    assert Circuit(printed).to_stim() == circuit


@every_name
def test_bare_round_trip(name: str) -> None:
    gate = BARE_NAMES[name]
    circuit = Circuit(bare(name))
    assert circuit.to_stim() == tagged(gate.name, gate.written_form, groups=2)
    assert str(circuit) == bare(gate.name)
    assert Circuit(bare(name).replace(name, name.lower())) == circuit
    targets = circuit.to_stim()[0].targets_copy() if not gate.written_form.product else [0, 1, 1, 0]
    for spelling in (name, name.lower()):
        appended = Circuit()
        appended.append(spelling, targets, gate_of(gate.name).half_turns)
        assert appended == circuit


@every_name
def test_notes(name: str) -> None:
    """Carried by the gates that take them, refused by the others."""
    gate = BARE_NAMES[name]
    circuit = Circuit()
    arguments = (name, Circuit(bare(name)).to_stim()[0].targets_copy(), gate_of(gate.name).half_turns)
    if gate.takes_note:
        assert str(Circuit(bare(name, "my note"))) == bare(gate.name, "my note")
        circuit.append(*arguments, tag="my note")
        assert circuit == Circuit(bare(name, "my note"))
        assert circuit.inverse().inverse() == circuit
    else:
        with pytest.raises(ValueError, match=f"{name} cannot have a tag"):
            Circuit(bare(name, "my note"))
        with pytest.raises(ValueError, match=f"{name} cannot have a tag"):
            circuit.append(*arguments, tag="my note")


@every_name
def test_wrong_arguments(name: str) -> None:
    gate = BARE_NAMES[name]
    targets = targets_of(gate, 1)
    count = len(gate.parameters)
    message = f"{name} takes {count} angle" if count else f"{name} takes no arguments"
    with pytest.raises(ValueError, match=f"Line 2: .*{message}"):
        Circuit(f"M 0\n{name}({', '.join(['0.1'] * (count + 1))}) {targets}")
    with pytest.raises(ValueError, match=f"{name} takes {count} angles in half-turns; got {count + 1}"):
        Circuit().append(name, [0, 1, 2], [0.1] * (count + 1))
    if gate.num_targets not in (None, 1):
        with pytest.raises(ValueError, match=r"groups of 3|even number of"):
            Circuit(f"{bare(name)} 2")


@every_form
def test_name_of_the_gate_as_a_tag(name: str, form: TaggedForm) -> None:
    """``S[T_DAG]`` is an error that says how to write the gate."""
    for tag in (name, name.lower()):
        wrong = f"{form.carrier}[{tag}] {targets_of(GATES[name], 1)}"
        words = {each.word for each in GATES[name].forms if each.carrier == form.carrier}
        if name == tag and tag in words and not GATES[name].parameters:
            assert gate_from_tag(stim.Circuit(wrong)[0]) == NonCliffordGate(name)
            continue
        if form.product:
            continue
        pattern = (
            re.escape(f"{form.carrier}[{form.word}")
            if len(GATES[name].forms) == 1 or GATES[name].num_controls
            else name
        )
        with pytest.raises(ValueError, match=f"The gate {name} is written .*{pattern}"):
            Circuit(wrong)


@every_form
def test_proxies(name: str, form: TaggedForm) -> None:
    """Without angles the carrier; what stands for gates with angles is tested in test_clifford_angles."""
    circuit = Circuit(tagged(name, form, groups=2))
    proxies = [circuit.s_proxy(), circuit.i_proxy()]
    if not GATES[name].parameters:
        assert proxies[0] == circuit.to_stim().without_tags()
        assert [instruction.name for instruction in proxies[1]] == ["I"]
    for proxy in proxies:
        assert proxy == proxy.without_tags()
        qubits = {target.value for part in proxy for target in part.targets_copy() if not target.is_combiner}
        assert qubits == set(range(circuit.num_qubits))


@every_form
def test_clifford_angles_in_proxies(name: str, form: TaggedForm) -> None:
    """The proxies of a gate by multiples of 0.5 half-turns have its unitary, for every form."""
    gate = GATES[name]
    for angles in itertools.product((-1.5, -0.5, 0.0, 0.5, 1.0), repeat=len(gate.parameters)):
        if not angles:
            continue
        values = [-value if form.inverted else value for value in angles]
        circuit = Circuit(
            stim.Circuit(re.sub(r"theta=.*pi", _arguments(gate, values), str(tagged(name, form))))
        )
        unitary = by_parts(gate, angles)
        for proxy in (circuit.s_proxy(), circuit.i_proxy()):
            found = proxy.to_tableau().to_unitary_matrix(endian="little")
            assert abs(np.trace(found.conj().T @ unitary)) == pytest.approx(len(unitary), abs=1e-4)


def _arguments(gate: GateDefinition, values: list[float]) -> str:
    return ", ".join(f"{key}={value}*pi" for key, value in zip(gate.parameters, values, strict=True))


def test_entries_do_not_collide() -> None:
    names = [name for gate in GATES.values() for name in (gate.name, *gate.aliases)]
    assert len(set(names)) == len(names)
    clifford_names = {alias for gate in stim.gate_data().values() for alias in gate.aliases}
    assert not set(names) & clifford_names
    read = [(form.word, form.carrier) for _, form in FORMS if not form.product]
    conditional = sum(CONDITIONAL_CARRIER in forms for forms in FORMS_OF_WORD.values())
    assert len(set(read)) == len(read) == sum(map(len, FORMS_OF_WORD.values())) - conditional
    for forms in FORMS_OF_WORD.values():  # what a word looks like does not depend on the carrier
        assert len({(gate.parameters, gate.takes_note) for gate, _ in forms.values()}) == 1
