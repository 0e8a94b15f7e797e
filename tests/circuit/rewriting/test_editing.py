"""Building and changing circuits: what Stim's methods do to the tagged circuit."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import stim

from stim_nonclifford import Circuit

TEXT = """
    RX 0 1
    S[T] 0
    REPEAT 3 {
        SPP_DAG[T] X0*Z1
        M(0.1) 1
        SHIFT_COORDS(1)
        DETECTOR(2) rec[-1]
    }
    I[R_Z(theta=0.1*pi)] 0
    MX 0
    OBSERVABLE_INCLUDE(0) rec[-1]
"""
BLOCK = stim.CircuitRepeatBlock(2, stim.Circuit("S[T] 1\nTICK"))


def same_edit(edit: Callable[[Any], Any]) -> None:
    """Makes a change to a circuit and to Stim's; results and changed circuits must be the same."""
    circuit, expected = Circuit(TEXT), stim.Circuit(TEXT)
    found, result = edit(circuit), edit(expected)
    assert (found.to_stim() if isinstance(found, Circuit) else found) == result
    assert circuit.to_stim() == expected


@pytest.mark.parametrize(
    "edit",
    [
        lambda c: c.append("H", [0, 1]),
        lambda c: c.append("X_ERROR", 0, 0.25),
        lambda c: c.append("H", 0, tag="mine"),
        lambda c: c.append("CX", [stim.target_rec(-1), 1]),
        lambda c: c.append("MPP", stim.PauliString("XZ")),
        lambda c: c.append(stim.CircuitInstruction("S", [1], tag="T")),
        lambda c: c.append(BLOCK),
        lambda c: c.append_from_stim_program_text("H 0\nS[T] 0"),
        lambda c: c.insert(2, stim.CircuitInstruction("S_DAG", [1], tag="T")),
        lambda c: c.insert(-1, stim.Circuit("S[T] 1\nM 1")),
        lambda c: c.insert(1, BLOCK),
        lambda c: c.pop(),
        lambda c: c.pop(2),
        lambda c: c.pop(-3),
        lambda c: c.clear(),
        lambda c: c.copy(),
        lambda c: c.flattened(),
        lambda c: c.without_noise(),
        lambda c: c + stim.Circuit("S[T] 1"),
        lambda c: c.__iadd__(stim.Circuit("S[T] 1")),
        lambda c: c * 2,
        lambda c: 3 * c,
        lambda c: c.__imul__(2),
        lambda c: c * 0,
        lambda c: c[1],
        lambda c: c[-1],
        lambda c: c[2],
        lambda c: c[1:4],
        lambda c: c[::-2],
        lambda c: list(c),
        lambda c: len(c),
        lambda c: c.num_measurements,
    ],
)  # fmt: skip
def test_as_stim(edit: Callable[[Any], Any]) -> None:
    same_edit(edit)


PRODUCTS = {
    "TPP": ((), 0.25),
    "TPP_DAG": ((), -0.25),
    "SPP": ((), 0.5),
    "SPP_DAG": ((), -0.5),
    "R_PAULI": (0.1, 0.1),
}


@pytest.mark.parametrize("product", ["-Z", "+YX", "-XZ", "-_YX", "XXY", "-ZZZ"])
@pytest.mark.parametrize("name", PRODUCTS)
@pytest.mark.parametrize("in_list", [True, False])
def test_products_keep_their_sign(name: str, product: str, in_list: bool) -> None:
    pauli = stim.PauliString(product)
    arg, half_turns = PRODUCTS[name]
    circuit = Circuit("R_Y(0.3) 0\nR_X(0.2) 0 1 2\nCX 0 1 1 2")
    state = circuit.state_vector()
    circuit.append(name, [pauli] if in_list else pauli, arg)
    padded = stim.PauliString(3) * pauli
    matrix = padded.to_unitary_matrix(endian="little")
    angle = half_turns * np.pi / 2
    expected = np.cos(angle) * state - 1j * np.sin(angle) * (matrix @ state)
    assert abs(np.vdot(expected, circuit.state_vector())) == pytest.approx(1, abs=1e-6)
    circuit.append("EXP_VAL", [pauli])
    _, values = circuit.compile_sampler(seed=5).sample_expectation_values(1)
    assert values[0, 0] == pytest.approx(np.vdot(state, matrix @ state).real, abs=1e-6)


def test_a_negative_product_is_measured_as_such() -> None:
    circuit = Circuit("X 1")
    circuit.append("MPP", [stim.PauliString("-Z"), stim.PauliString("ZZ"), "Z1", stim.PauliString("-ZZ")])
    circuit.append("MPP", stim.PauliString("-_Z"), 0.0)
    assert circuit.reference_sample().tolist() == [True, True, True, False, False]
    assert str(circuit) == "X 1\nMPP !Z0 Z0*Z1 Z1 !Z0*Z1\nMPP(0) !Z1"


def test_a_product_that_a_record_controls() -> None:
    circuit = Circuit("M 0")
    circuit.append("C_R_PAULI", [stim.target_rec(-1), stim.PauliString("-XY")], 0.1)
    assert circuit == Circuit("M 0\nC_R_PAULI(0.1) rec[-1] !X0*Y1")
    circuit.append("SPP", stim.PauliString("-XY"), tag="T")
    assert circuit[-1] == stim.Circuit("SPP[T] !X0*Y1")[0]


@pytest.mark.parametrize("name", [*PRODUCTS, "MPP", "EXP_VAL", "C_TPP"])
def test_products_that_are_not_hermitian_are_refused(name: str) -> None:
    circuit = Circuit()
    arg = 0.1 if name == "R_PAULI" else ()
    with pytest.raises(ValueError, match=rf"{name} needs .* \+1 or -1, but \+iX_Z .*String\('-X_Z'\)"):
        circuit.append(name.lower(), [stim.PauliString("iX_Z")], arg)
    with pytest.raises(ValueError, match=f"{name} needs products of X, Y and Z; got the identity -__"):
        circuit.append(name, stim.PauliString("-__"), arg)
    assert len(circuit) == 0


@pytest.mark.parametrize("sign", [1, -1, 1j])
def test_the_sign_of_an_error_is_a_phase(sign: complex) -> None:
    circuit = Circuit()
    circuit.append("E", stim.PauliString("XZ") * sign, 0.1)
    assert circuit == Circuit("E(0.1) X0*Z1")


@pytest.mark.parametrize("name", ["H", "T", "CCZ", "R_XX", "R_X", "LEAKAGE", "M", "CX", "EXP_VAL"])
def test_targets_from_a_generator(name: str) -> None:
    args = {"R_X": 0.1, "R_XX": 0.1, "LEAKAGE": 0.1, "M": (0.1, 0.2), "CX": (0.1, 0.0, 0.0, 0.1)}
    targets = [f"X{k}" for k in range(6)] if name == "EXP_VAL" else range(6)
    circuit, expected = Circuit(), Circuit()
    circuit.append(name, (target for target in targets), args.get(name))
    expected.append(name, list(targets), args.get(name))
    assert circuit == expected
    for part in circuit:
        assert sum(not target.is_combiner for target in part.targets_copy()) == 6


@pytest.mark.parametrize(
    "arguments", [{"targets": [1]}, {"arg": 0.1}, {"tag": "T"}, {"targets": stim.PauliString("X")}]
)
def test_an_instruction_has_targets_of_its_own(arguments: dict[str, Any]) -> None:
    for part in (stim.Circuit("S 0")[0], BLOCK, stim.Circuit("S 0"), Circuit("S 0")):
        circuit = Circuit()
        with pytest.raises(ValueError, match="`targets`, `arg` and `tag` belong to the name of a gate"):
            circuit.append(part, **arguments)
        assert len(circuit) == 0


def test_other_circuits() -> None:
    circuit, other = Circuit("T 0"), Circuit("T_DAG 1")
    circuit += other
    circuit.append(other)
    circuit.insert(0, other)
    assert str(circuit) == "T_DAG 1\nT 0\nT_DAG 1 1"
    assert str(circuit + other) == "T_DAG 1\nT 0\nT_DAG 1 1 1"
    assert str(other) == "T_DAG 1"


@pytest.mark.parametrize(
    "edit",
    [
        lambda c, wrong: c.append(wrong[0]),
        lambda c, wrong: c.append(wrong),
        lambda c, wrong: c.insert(0, wrong[0]),
        lambda c, wrong: c.insert(0, wrong),
        lambda c, wrong: c.__iadd__(wrong),
        lambda c, wrong: c.append_from_stim_program_text(str(wrong)),
    ],
)
def test_a_wrong_tag_is_refused_and_changes_nothing(edit: Callable[[Circuit, stim.Circuit], None]) -> None:
    circuit = Circuit(TEXT)
    with pytest.raises(ValueError, match="R_Q"):
        edit(circuit, stim.Circuit("I[R_Q(theta=0.1*pi)] 0"))
    assert circuit == Circuit(TEXT)


def test_copies_are_independent() -> None:
    circuit = Circuit("T 0\nM 0")
    plain = circuit.to_stim()
    copies = [circuit.copy(), Circuit(circuit), circuit[:], circuit + Circuit(), Circuit(plain)]
    plain.append("M", [0])
    circuit.append("T", 0)
    assert all(copy == Circuit("T 0\nM 0") for copy in copies)


def test_approximate_equality() -> None:
    circuit = Circuit("X_ERROR(0.1) 0\nT 0")
    assert circuit.approx_equals(Circuit("X_ERROR(0.1001) 0\nT 0"), atol=0.001)
    assert not circuit.approx_equals(Circuit("X_ERROR(0.1001) 0\nT 0"), atol=1e-6)
    assert not circuit.approx_equals(Circuit("X_ERROR(0.1) 0\nS 0"), atol=0.001)
    assert not circuit.approx_equals("X_ERROR(0.1) 0\nT 0", atol=0.001)


def test_approximate_equality_of_angles() -> None:
    """Half-turns in tags are compared like arguments; carriers, signs and notes must be the same."""
    text = "R_X(0.1) 0\nREPEAT 2 {\n    R_PAULI(-0.3) X0*Y1\n}\nU3(0.1, 0.2, 0.3) 0\nT[note] 1\nM 0\nC_R_Z(1) rec[-1] 1"
    circuit = Circuit(text)
    for old, new in (
        ("R_X(0.1)", "R_X(0.1001)"),
        ("-0.3", "-0.2999"),
        ("0.2,", "0.2001,"),
        ("Z(1)", "Z(1.0001)"),
    ):
        other = Circuit(text.replace(old, new))
        assert circuit.approx_equals(other, atol=0.001)
        assert not circuit.approx_equals(other, atol=0.00001)
    for old, new in (("R_X", "R_Y"), ("X0*Y1", "!X0*Y1"), ("note", "other"), ("M 0", "M 1"), ("0.3", "0.5")):
        assert not circuit.approx_equals(Circuit(text.replace(old, new, 1)), atol=0.001)


@pytest.mark.parametrize(
    "text",
    [
        "LEAKAGE(%s) 0", "LEAKAGE_READOUT(%s) 0", "AMPLITUDE_DAMPING(%s) 0", "THERMAL_RELAXATION(0.2, %s) 0",
        "HERALD_LEAKAGE_EVENT(%s) 0", "M(%s, 0.2) 0", "CX(0.1, 0.2, %s, 0.3) 0 1",
        "REPEAT 2 {\n    MX(0.2, %s) 0 !1\n}", "DEPOLARIZE1(%s) 0",
    ],
)  # fmt: skip
def test_approximate_equality_of_channels(text: str) -> None:
    """Arguments of channels are compared up to ``atol``, whether Stim knows the channel or not."""
    circuit, other = Circuit(text % 0.1), Circuit(text % 0.1001)
    assert circuit.approx_equals(other, atol=0.001)
    assert not circuit.approx_equals(other, atol=0.00001)
    assert not circuit.approx_equals(Circuit("LOSS(0.1) 0"), atol=0.001)


def test_operators_of_different_number_are_not_approximately_equal() -> None:
    one, two = "1, 0, 0, 0, 0, 0, 1, 0", "0, 0, 0, 0, 0, 0, 0, 0"
    first, second = (
        Circuit(f"KRAUS({one}) 0\nKRAUS({one}, {two}) 0"),
        Circuit(f"KRAUS({one}, {two}) 0\nKRAUS({one}) 0"),
    )
    assert first.approx_equals(first, atol=0)
    assert not first.approx_equals(second, atol=2)


def test_decomposed_leaves_non_clifford_gates() -> None:
    found = Circuit("REPEAT 2 {\n    SWAP 0 1\n    T 0\n    CS 0 1\n}\nMPP X0*X1").decomposed()
    clifford = {instruction.name for instruction in found.flattened() if not instruction.tag}
    assert clifford <= {"H", "S", "CX", "R", "M"}  # Stim's basic gates
    assert [i.tag for i in found.flattened() if i.tag] == ["T", "CS"] * 2


def test_an_edited_circuit_is_compiled_anew() -> None:
    circuit = Circuit("X 0\nM 0")
    edits: list[tuple[Callable[[], Any], list[bool]]] = [
        (lambda: None, [True]),
        (lambda: circuit.append("M", 1), [True, False]),
        (lambda: circuit.insert(0, Circuit("Y 1")), [True, True]),
        (lambda: circuit.pop(1), [False, True]),
        (lambda: circuit.append_from_stim_program_text("MX 2"), [False, True, False]),
        (lambda: circuit.__iadd__(Circuit("M !2")), [False, True, False, True]),
        (lambda: circuit.__imul__(2), [False, True, False, True, False, False, False, True]),
        (lambda: circuit.clear(), []),
    ]
    for edit, expected in edits:
        edit()
        assert circuit.reference_sample().tolist() == expected
        assert len(circuit.compile_sampler(seed=1).sample(1)[0]) == len(expected)


@pytest.mark.parametrize("other", ["H 0", 3, None])
def test_only_circuits_can_be_added(other: Any) -> None:
    circuit = Circuit("T 0")
    remedy = "write circuit \\+ Circuit\\(text\\)" if isinstance(other, str) else type(other).__name__
    with pytest.raises(TypeError, match=remedy):
        circuit + other
    with pytest.raises(TypeError, match="Only a circuit"):
        circuit += other
    assert str(circuit) == "T 0"
