"""Types, names, ranges, conditions, delays and limits of OpenQASM mean what its specification says."""

import numpy as np
import pytest

from stim_nonclifford import Circuit, ResourceLimitError

from ...support.laws.exact import largest_difference, marginal
from ...support.oracle.density_matrix import record_distribution
from ...support.seeds import seeds
from .qiskit_branches import distribution_of

pytest.importorskip("openqasm3.parser")

HEAD = 'OPENQASM 3.0;\ninclude "stdgates.inc";\n'
HEAD_2 = 'OPENQASM 2.0;\ninclude "qelib1.inc";\n'


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("1 / 2", 0), ("7 / 2", 3), ("-7 / 2", -3), ("7 / 2.0", 3.5), ("-7 % 3", -1), ("7 % -3", 1),
        ("mod(7, 4)", 3), ("mod(7.5, 2)", 1.5), ("2 ** 3 / 3", 2), ("2 ** -1", 0.5), ("2 ** 3 ** 0", 2),
        ("-2 ** 2", -4), ("1 << 3", 8), ("9 >> 2", 2), ("6 & 3 | 8", 10), ("6 ^ 3", 5),
        ("floor(7.5) / 2", 3.5), ("int(-3.9)", -3), ("uint[4](17)", 1), ("float(7) / 2", 3.5),
        ("int(7.9) / 2", 3), ("int[4](uint[4](9))", -7), ("bool(7) + 1", 2), ("true + true", 2),
        ("~uint[4](5)", 10), ("uint[4](3) - uint[4](5)", 14), ("uint[4](15) + 1", 16),
        ("uint[4](15) + uint[4](1)", 0), ("popcount(uint[6](37))", 3), ("rotl(uint[6](37), 3)", 44),
        ("rotr(uint[6](44), 3)", 37), ('popcount("1011")', 3), ('int[3]("101")', -3), ('uint[3]("101")', 5),
        ('rotl("10001111", 2) == "00111110"', 1), ('"10001111" << 1 == "00011110"', 1), ('"0011" < "0100"', 1),
        ("0b1_01 + 0x1F + 0o7 + 1_0", 53), ("sizeof(q)", 3),
        ("sin(pi / 2) + log(euler) + arccos(0)", 2 + np.pi / 2), ("3 > 2 && !(1 == 2)", 1),
        ("angle[4](9 * (pi / 8)) / uint[4](2) / angle[4](pi / 8)", 4),
        ("angle[4](5 * (pi / 4)) / angle[4](pi / 8)", 10),
        ("angle[4](9 * (pi / 8)) << 2 == angle[4](pi / 2)", 1), ("-angle[4](pi / 4) == 7 * (pi / 4)", 1),
        ("1us / 100ns", 10), ("(1us + 500ns) / 1us", 1.5),
    ],
)  # fmt: skip
def test_values_of_expressions(expression: str, value: float) -> None:
    circuit = Circuit.from_qasm(f"{HEAD}qubit[3] q; rz(({expression}) * (pi / 128)) q[0];")
    [angle] = circuit[0].tag.removeprefix("R_Z(theta=").removesuffix("*pi)").split("*pi")
    assert float(angle) == pytest.approx(value / 128, abs=1e-12)


@pytest.mark.parametrize(
    ("declaration", "value"),
    [
        ("const int n = 7 / 2;", 3),
        ("int n = 1; n += 6; n /= 2; n **= 2;", 9),
        ("uint[4] n = 17;", 1),
        ("uint[4] n = 15; n += 1;", 0),
        ("float n = 7; n = n / 2;", 3.5),
        ("const float[32] n = 0.1;", float(np.float32(0.1))),
        ("bool n = 5;", 1),
        ('bit[4] b = "0110"; let n = b[1:2];', 3),
        ("angle[3] a = 3 * pi / 4; int n = a == 3 * pi / 4;", 1),
        ("int n = 0; for int k in [0:3] { n += k; } if (n == 6) { n = 8; } else { n = 9; }", 8),
        ("int n = 1; for int n in [4:5] { }", 1),
        ("int n = 1; if (true) { int n = 2; n = 3; }", 1),
        ("int n = 1; if (true) { n = 3; }", 3),
        ("float n = 0; for float f in {0.5, 1, 1.5} n += f;", 3),
        ('int n = 0; bit[3] b = "101"; for bit k in b { n = 2 * n + k; }', 5),
    ],
)
def test_variables_have_types_and_scopes(declaration: str, value: float) -> None:
    circuit = Circuit.from_qasm(f"{HEAD}qubit[1] q; {declaration} rz(n * (pi / 16)) q[0];")
    [angle] = circuit[0].tag.removeprefix("R_Z(theta=").removesuffix("*pi)").split("*pi")
    assert float(angle) == pytest.approx(value / 16, abs=1e-12)


def test_division_is_real_in_openqasm_2() -> None:
    text = "qreg q[1]; rz(1/2*pi) q[0]; rz(-3/2*pi) q[0]; rz(pi*2^3/16) q[0]; rz(ln(exp(pi/4))) q[0];"
    assert Circuit.from_qasm(HEAD_2 + text) == Circuit("R_Z(0.5) 0\nR_Z(-1.5) 0\nR_Z(0.5) 0\nR_Z(0.25) 0")
    # The library alone does not make a program of version 3 one of version 2.
    text = 'OPENQASM 3.0; include "qelib1.inc"; qubit q; rz(1/2*pi) q;'
    assert Circuit.from_qasm(text) == Circuit("R_Z(0) 0")
    assert Circuit.from_qasm('include "qelib1.inc"; qreg q[1]; rz(1/2*pi) q[0];') == Circuit("R_Z(0.5) 0")


@pytest.mark.parametrize(
    ("index", "qubits"),
    [
        ("1:2", "1 2"), ("1:-1", "1 2 3 4"), ("-2:-1", "3 4"), ("0:2:4", "0 2 4"), ("3:-2:0", "3 1"),
        (":1", "0 1"), ("3:", "3 4"), ("{0, -1}", "0 4"), ("-5", "0"),
    ],
)  # fmt: skip
def test_indices(index: str, qubits: str) -> None:
    circuit = Circuit.from_qasm(f"{HEAD}qubit[5] q; t q[{index}]; let a = q[{index}]; t a; t q[4];")
    assert circuit == Circuit(f"T {qubits} {qubits} 4")


def test_aliases_share_the_bits_of_their_registers() -> None:
    text = (
        "qubit[4] q; bit[2] c; bit[2] d; let a = c[1:1] ++ d[0:0]; a = measure q[0:1]; "
        "if (c[1]) t q[2]; d[0] = measure q[3]; if (a[1]) s q[2]; bit[2] copy = a; a[0] = 0; "
        "if (copy[0]) h q[2]; if (c[1]) x q[2];"
    )
    expected = "M 0 1\nC_T rec[-2] 2\nM 3\nC_S rec[-1] 2\nC_H rec[-3] 2"
    assert Circuit.from_qasm(HEAD + text) == Circuit(expected.replace("C_T", "CT").replace("C_S", "CS"))


@pytest.mark.parametrize("seed", seeds(60, quick=6))
def test_conditions_on_registers_of_openqasm_2_as_in_qiskit(seed: int) -> None:
    qiskit = pytest.importorskip("qiskit")
    rng = np.random.default_rng(seed)

    def gates(condition: str = "") -> str:
        names = ["h", "t", "s", "x", "ry(0.7)", "rz(20.5)", "u2(0.3,0.8)", "u3(9.1,-7,3)", "id"]
        pairs = ["cx", "cu1(0.4)", "crz(17.2)", "ch", "cu3(0.1,0.2,0.3)"]
        single = "".join(f"{condition}{rng.choice(names)} q[{rng.integers(3)}];\n" for _ in range(2))
        first, second = rng.permutation(3)[:2]
        return f"{single}{condition}{rng.choice(pairs)} q[{first}],q[{second}];\n"

    program = f"{HEAD_2}qreg q[3];\ncreg c[2];\ncreg d[1];\ncreg e[3];\n{gates()}{gates()}"
    program += "measure q[0]->c[0];\nmeasure q[2]->c[1];\n" + gates()
    program += "".join(gates(f"if(c=={rng.integers(5)}) ") for _ in range(2))
    program += "measure q[1]->d[0];\n" + gates(f"if(d=={rng.integers(2)}) ") + "measure q->e;\n"
    # Other records are of conditions, and of d.
    expected = marginal(distribution_of(qiskit.qasm2.loads(program)), lambda bits: bits[:2] + bits[3:])
    records = record_distribution(Circuit.from_qasm(program).to_stim(), cutoff=1e-14)
    found = marginal(records, lambda bits: (*bits[:2], *bits[-3:]))
    assert largest_difference(found, expected) < 1e-9


def test_delays_and_identities_are_kept() -> None:
    text = f"{HEAD}qubit[2] q; id q[0]; delay[100ns] q; duration d = 2us; delay[2 * d + 500ns] q[1]; delay[3dt] q[0];"
    expected = "I 0\nI[delay:100.0ns] 0 1\nI[delay:4.5us] 1\nI[delay:3.0dt] 0"
    assert Circuit.from_qasm(text) == Circuit(expected)
    assert Circuit.from_qasm(f"{HEAD}qubit[2] q; delay[1us];") == Circuit("I[delay:1.0us] 0 1")
    assert Circuit.from_qasm(f"{HEAD_2}qreg q[1]; id q[0]; u0(1) q[0];") == Circuit("I 0 0")


def test_delays_become_relaxation() -> None:
    text = f"{HEAD}qubit[2] q; h q; delay[100ns] q; delay[30dt] q[1]; h q; bit[2] c = measure q;"
    circuit = Circuit.from_qasm(text, relaxation_times={0: (80e-6, 90e-6), 1: (50e-6, 100e-6)}, dt=1e-9)
    noise = [each for each in str(circuit).splitlines() if each.startswith("THERMAL")]
    numbers = [
        [float(each) for each in line[line.index("(") + 1 : line.index(")")].split(",")] for line in noise
    ]
    assert numbers == [
        pytest.approx(each) for each in ([1e-7 / 80e-6, 1e-7 / 90e-6], [2e-3, 1e-3], [6e-4, 3e-4])
    ]
    found = record_distribution(circuit.to_stim())
    expected = (1 - np.exp(-1e-7 / 90e-6)) / 2  # coherence is lost at the rate 1/T2
    assert sum(found[key] for key in found if key[0]) == pytest.approx(expected, abs=1e-12)
    with pytest.raises(ValueError, match=r"Line 3: .*in units of dt. Pass dt"):
        Circuit.from_qasm(text, relaxation_times=(1.0, 1.0))
    with pytest.raises(ValueError, match=r"Line 3: .*no times of qubit 1. Add 1: \(T1, T2\)"):
        Circuit.from_qasm(text, relaxation_times={0: (1.0, 1.0)})


@pytest.mark.parametrize("angle", [20.0, -33.3, 4.25 * np.pi, 1e6, -5 * np.pi, 13 * np.pi / 4])
def test_large_angles_also_under_control(angle: float) -> None:
    gates = f"ctrl @ rz({angle!r}) q[0], q[1]; ctrl @ gphase({angle!r}) q[0]; ctrl @ U({angle!r}, 7, 8) q[0], q[1];"
    found = Circuit.from_qasm(f"{HEAD}qubit[2] q; h q; {gates}").state_vector().reshape(2, 2)[:, 1]
    one, other = 1 + np.exp(1j * angle), 1 - np.exp(1j * angle)
    u = np.array([[one, -1j * np.exp(8j) * other], [1j * np.exp(7j) * other, np.exp(15j) * one]]) / 2
    turned = np.exp(1j * angle) * np.exp(np.array([-0.5j, 0.5j]) * angle) / 2
    state = np.array([[0.5, 0.5], u @ turned]).T.reshape(-1)
    all_found = Circuit.from_qasm(f"{HEAD}qubit[2] q; h q; {gates}").state_vector()
    assert len(found) == 2
    assert abs(np.vdot(state, all_found)) == pytest.approx(1, abs=1e-6)


@pytest.mark.parametrize(
    ("program", "message"),
    [
        ("OPENQASM 4.0;\nqubit q;", r"Line 1: `OPENQASM 4.0;`: OpenQASM 4.0 is not known here; 2.0, 3.0 and 3.1"),
        ("// x\nOPENQASM 2.1;", r"Line 2: .*2.1 is not known"),
        ("qubit q;\nqubit q;", r"Line 2: .* q is declared already"),
        ("qubit q;\nbit q;", r"Line 2: .* q is declared already"),
        ("const int n = 1;\nconst int n = 2;", r"Line 2: .* n is declared already"),
        ("gate f a { }\ngate f a { }", r"Line 2: .* f is declared already"),
        ("gate f a { }\nqubit f;", r"Line 2: .* f is declared already"),
        ('include "stdgates.inc";\nqubit x;', r"Line 2: .* x is declared already, or a gate of the library"),
        ('include "stdgates.inc";\ngate x a { }', r"Line 2: .* x is declared already"),
        ("gate f a, a { }", r"Line 1: .* a is given twice"),
        ("gate f(a) a { }", r"Line 1: .* a is given twice"),
        ("gate f a {\n x a;\n f a; }", r"Line 3: .* the gate f calls itself"),
        ("gate x a { x a; }", r"Line 1: .* the gate x calls itself"),
        ("gate f a { g a; }\ngate g a { f a; }", r"Line 1: .* there is no gate g"),
        ("gate f a { rz(k) a; }\nconst float k = 1;", r"Line 1: .* k is no parameter, and no constant"),
        ("float k = 1;\ngate f a { rz(k) a; }", r"Line 2: .* k is no parameter, and no constant"),
        ("int pi = 3;", r"Line 1: .* pi is declared already"),
        ("for int i in [0:1] { }\nqubit q; rz(i) q;", r"Line 2: .* i has no value here"),
        ("const int n = 3.5;", r"Line 1: .* 3.5 is a float, .* Write int"),
        ("int[4] n = 8;", r"Line 1: .* 8 does not fit in an int of 4 bits"),
        ("uint n = -1;", r"Line 1: .* Write the width, as in uint\[32\]"),
        ("const int n = 1;\nn = 2;", r"Line 2: .* n is a constant. Declare it without const"),
        ("qubit q;\nrz(2 ** 10000) q;", r"Line 2: .* too large"),
        ("qubit q;\nrz(1 << 10 ** 9) q;", r"Line 2: .* too long"),
        ("qubit q;\nrz(angle(1.0) * 0.5) q;", r"Line 2: .* an angle is multiplied"),
        ("qubit[4] q;\nx q[2:1];", r"Line 2: .* this selects no element"),
        ("qubit[4] q;\nx q[{0, 0}];", r"Line 2: .* an element is selected twice"),
        ("qubit[4] q;\nlet a = q ++ q[0:1];", r"Line 2: .* not concatenated with a part of itself"),
        ("qubit q;\nx $0;", r"Line 1: .* physical qubits such as \$0"),
        ("#pragma braket noise bit_flip(0.1) q", r"Line 1: .* Remove it"),
        ("qubit q;\n@note\nx q;", r"Line 2: .* annotations have no counterpart"),
        ("stretch s;", r"Line 1: .* a stretch has no length"),
        ("qubit q;\nbox[1us] { x q; }", r"Line 2: .* Write delays inside"),
        ("qubit q; bit c = measure q;\nif (c) { delay[1us] q; }", r"Line 2: .* cannot be conditional"),
        ("OPENQASM 2.0;\nopaque f(a) b;\nqreg q[1];\nf(1) q[0];", r"Line 4: .* f is opaque"),
        ("qubit q; bit c = measure q;\nswitch (c) { case 0 { } }", r"Line 2: .* Write it with if"),
        ("qubit q;\nif (true) { gate g a { } }", r"^Line 2: `if .*`: gate definitions must be global\.$"),
        ("gate g(x) a {\nx a; }", r"Line 2: .* x is a parameter here, and no gate"),
        ("gate g0 a { }\n" + "".join(f"gate g{k + 1} a {{ g{k} a; }}\n" for k in range(300)), r"Line 201: .* more than 200 definitions are inside one another"),
        ("def f() { }", r"Line 1: .* subroutines have no counterpart"),
        ("qubit q;\nrz(1e400) q;", r"Line 2: .* a finite number is needed"),
        ("qubit q;\nxx q;", r"Line 2: `xx q;`: there is no gate xx"),
        ("qubit q;\nh q[0];", r"Line 2: .* only registers"),
        ("qubit[2] q;\nh q[2];", r"Line 2: .* there is no element 2: the register has 2"),
        ("qubit[2] q;\ncx q[0], q[0];", r"Line 2: .* one is given twice"),
        ("qubit[2] q;\nrx q[0];", r"Line 2: .* rx has 1 parameters and 1 qubits, and not 0 and 1"),
        ("qubit q;\nbit c = measure q;\nif (c) {\n  reset q;\n}", r"Line 4: `reset q;`: a reset cannot be"),
        ("qubit q;\nbit c = measure q;\nif (c) {\n  c = measure q;\n}", r"Line 4: .* a measurement cannot be"),
        ("input float x;\nqubit q;\nrx(x) q;", r"Line 1: .* an input has no value"),
        ("qubit q;\nwhile (true) { h q; }", r"Line 2: .* a while loop has no counterpart"),
        ('include "mine.inc";', r"Line 1: .* only qelib1.inc and stdgates.inc are known"),
        ("qubit q;\npow(0.5) @ x q;", r"Line 2: .* a whole number is needed here, and this is 0.5"),
        ("qubit q;\nrx(1/0) q;", r"Line 2: .* cannot be calculated"),
        ("qubit q;\nrz(1us) q;", r"Line 2: .* a number is needed here, and this is a duration"),
        ("uint[8] n = 3;\nduration d = n;", r"Line 2: .* a value of type uint\[8\] is no duration"),
        ("float f = 0.5;\nduration d = f;", r"Line 2: .* of type float is no duration"),
        ("duration d = true;", r"Line 1: .* of type bool is no duration"),
        ("angle[4] a = 0.5;\nint n = a;", r"Line 2: .* of type angle\[4\] is no int"),
        ('bit[2] b = "01";\nduration d = b;', r"Line 2: .* of type bit\[2\] is no duration"),
        ("circuits/x.qasm", "looks like a path. Read the file"),
        ("qubit q\nx q;", r"Line 2: `x q;`: the parser does not expect 'x'"),
        ("qubit[2] q;\nqubit[3] r;\ncx q, r;", r"Line 3: .* different sizes"),
        ("OPENQASM 2.0;\nqreg q[2];\nopaque f a;\n\nopaque f a,b;", r"Line 5: `opaque f a,b;`: f is declared"),
    ],
)  # fmt: skip
def test_what_is_malformed_is_named_with_its_line(program: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Circuit.from_qasm(program)


def test_declarations_without_use_are_read() -> None:
    text = "OPENQASM 2.0;\nopaque f(a) b, c; // opaque\nqreg q[2];\nCX q[0], q[1];"
    assert Circuit.from_qasm(text) == Circuit("CX 0 1")
    assert Circuit.from_qasm("output bit c; qubit q; c = measure q;") == Circuit("M 0")
    assert Circuit.from_qasm("x $2; h $0;") == Circuit("X 2\nH 0")


@pytest.mark.parametrize(
    "program",
    [
        "qubit q; for int i in [0:100000000] { x q; }",
        "qubit q; for int i in [0:3000] { for int j in [0:3999] { x q; } }",
        "qubit[100000000] q;",
        "bit[100000000] c;",
        "x $100000000;",
        "qubit q; pow(100000000) @ x q;",
        "gate g0 a { x a; } gate g1 a { pow(1000) @ g0 a; } gate g2 a { pow(1000) @ g1 a; } gate g3 a { pow(9) @ g2 a; } qubit q; g3 q;",
        "gate f0 a { x a; x a; }\n"
        + "".join(f"gate f{k + 1} a {{ f{k} a; inv @ f{k} a; }}\n" for k in range(40))
        + "qubit q; f40 q;",
    ],
)
def test_limits_are_checked_before_the_work(program: str) -> None:
    with pytest.raises(ResourceLimitError, match=r"more than 10?,000,000 gates"):
        Circuit.from_qasm(program)
