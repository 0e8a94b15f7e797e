"""Refusals of the language, of methods of circuits, and of other languages."""

from __future__ import annotations

from .rows import Row

__all__ = ["CIRCUITS"]

_OPENQASM = "Circuit.from_qasm('OPENQASM 3.0;include \"stdgates.inc\";qubit[3] q;bit[3] m;uint[8] n=3;%s')"
_OPENQASM_2 = "Circuit.from_qasm('OPENQASM 2.0;include \"qelib1.inc\";qreg q[3];%s')"
_T_CHECK = "{'state_check': 'T', 'postselection_mask': 'all'}"


def _qasm(refused: str, named: str, works: str) -> Row:
    return Row(_OPENQASM % refused, named, _OPENQASM % works)


CIRCUITS = [
    # Text
    Row("c('circuits/x.stim')", "Circuit.from_file('circuits/x.stim')", "Circuit.from_file(file('x.stim', 'T 0'))"),
    Row("c('OPENQASM 3.0; / qubit q;')", "Circuit.from_qasm(text)", "Circuit.from_qasm('OPENQASM 3.0;\\nqubit q;')"),
    Row("Circuit.from_file(file('a.stim', b'T 0 # \\xe9'))", "Save it as UTF-8", "Circuit.from_file(file('a.stim', 'T 0 # \\xe9'))"),
    Row("c('T 0 # \\udce9')", "Save it as UTF-8", "c('T 0 # \\xe9')"),
    Row("c('R_X[a](0.5) 0')", "Leave it out", "c('R_X(0.5) 0')"),
    Row("c('EXP_VAL[a] X0')", "Leave it out", "c('EXP_VAL X0')"),
    Row("c('LEAKAGE[a](0.5) 0')", "Leave it out", "c('LEAKAGE(0.5) 0')"),
    Row("c('M[a](0.1,0.2) 0')", "Leave it out", "c('M(0.1,0.2) 0')"),
    Row("c('T[R_X(theta=0.1*pi)] 0')", "S[T:R_X(theta=0.1*pi)]", "c('S[T:R_X(theta=0.1*pi)] 0')"),
    Row("c('R_X(pi/4) 0')", "write 0.25", "c('R_X(0.25) 0')"),
    Row("c('T rec[-1]')", "has no control", "c('M 0 / CT rec[-1] 1')"),
    Row("c('M 0 / T rec[-1] 0')", "write CT rec[-1] 0", "c('M 0 / CT rec[-1] 0')"),
    Row("c('I[r_z(theta=0.2*pi)] 0')", "write gates in tags in upper case", "c('I[R_Z(theta=0.2*pi)] 0')"),
    Row("c('S[mine] 0')", "Put other notes on another instruction", "Circuit(stim.Circuit('TICK[mine]\\nS[mine] 0').without_tags())"),
    Row("c('C_X rec[-1] 0')", "write CX rec[-1] 0", "c('M 0 / CX rec[-1] 0')"),
    Row("c('C_M rec[-1] 0')", "Measure always", "c('M 0 1 / CCX rec[-1] rec[-2] 2')"),
    Row("c('C_R rec[-1] 0')", "Reset always", "c('M 0 / R 0 / M 1 / CCX rec[-1] rec[-2] 1')"),
    Row("c('M 0 / CPP rec[-1] X0')", "PP", "c('M 0 / C_TPP rec[-1] X0')"),
    Row("Circuit().append('TPP', [stim.PauliString('iX')])", "stim.PauliString('+X')", "Circuit().append('TPP', [stim.PauliString('+X')])"),
    Row("c('READOUT_ERROR(0.1) 0')", "M(p01, p10)", "c('M(0.1, 0.2) 0')"),
    Row("c('M[READOUT_NOISE(p01=0.1, p10=0.2)] 0')", "M[READOUT_NOISE(p01=0.1, p10=0.2)](0.15)", "c('M[READOUT_NOISE(p01=0.1, p10=0.2)](0.15) 0')"),
    Row("c('M[READOUT_NOISE(p01=0.1, p10=0.2)](0.1) 0')", "change the tag", "c('M[READOUT_NOISE(p01=0.05, p10=0.15)](0.1) 0')"),
    Row("c('M 0 / CX(0.1,0.1,0.1,0.1) rec[-1] 0')", "without a tag and without probabilities", "c('M 0 / CX rec[-1] 0')"),
    Row("c('COHERENT_ERROR(0.1) 0')", "R_X(0.01) 0", "c('R_X(0.01) 0')"),
    Row("c('ERASURE(0.1) 0')", "HERALDED_ERASE(p)", "c('HERALDED_ERASE(0.1) 0')"),
    # Methods of circuits
    Row("c('H 0') + 'T 0'", "circuit + Circuit(text)", "c('H 0') + Circuit('T 0')"),
    Row("Circuit().append(stim.CircuitInstruction('H', [0]), [1])", "Leave them out", "Circuit().append(stim.CircuitInstruction('H', [0]))"),
    Row("Circuit('DETECTOR').diagram('timeline-svg')", "`I 0`", "Circuit('I 0\\nDETECTOR').diagram('timeline-svg')"),
    Row("c('X_ERROR(0.1) 0 / T 0').diagram('matchgraph-svg', noise=False)", "Leave out noise=False", "c('X_ERROR(0.1) 0 / T 0').diagram('matchgraph-svg')"),
    Row("c('T 0').diagram('detslice-svg', fold=True)", "Leave out fold=True", "c('T 0 / M 0 / DETECTOR rec[-1]').diagram('detslice-svg')"),
    Row("c('T 0').to_tableau", "circuit.s_proxy().to_tableau", "c('T 0').s_proxy().to_tableau()"),
    Row("c('H 0 / M 0').state_vector()", "Ask for the state before it", "c('H 0').state_vector()"),
    Row("c('H 0 / CX 0 1 / R 0').state_vector()", "Ask for the state before it", "c('H 0 / CX 0 1').state_vector()"),
    Row("c('X_ERROR(0.1) 0').state_vector()", "circuit.without_noise().state_vector()", "c('X_ERROR(0.1) 0').without_noise().state_vector()"),
    Row("c('H 99').state_vector()", "number them from 0", "c('H 0').state_vector()"),
    Row("c('R_XX(0.1) 0 1 / E(0.1) X0 / ELSE_CORRELATED_ERROR(0.1) X1').pauli_twirl()", "PAULI_CHANNEL_1", "c('R_XX(0.1) 0 1 / PAULI_CHANNEL_1(0.1,0,0) 0').pauli_twirl()"),
    Row("c('M 0 / C_R_Z(0.1) rec[-1] 0 / C_TPP rec[-1] X0').s_proxy()", "i_proxy()", "c('M 0 / C_TPP rec[-1] X0').i_proxy()"),
    Row("c('RX 0 / T 0 / MX 0 / OBSERVABLE_INCLUDE(0) rec[-1] / X_ERROR(0.1) 0 / RX 0 / MZ 0 / DETECTOR rec[-1]').detector_error_model()", 'kind="noise_only"', "c('RX 0 / MZ 0 / DETECTOR rec[-1]').detector_error_model(kind='noise_only')"),
    Row("c('H 0 / T 0 / X_ERROR(0.1) 0 / M 0 / DETECTOR rec[-1]').shortest_graphlike_error()", "circuit.fault_distance()", "c('X_ERROR(0.1) 0 / M 0 / OBSERVABLE_INCLUDE(0) rec[-1]').fault_distance()"),
    Row("c('T 0 / PAULI_CHANNEL_1(0.1,0.2,0) 0 / M 0 / DETECTOR rec[-1]').detector_error_model()", "approximate_disjoint_errors=True", "c('T 0 / PAULI_CHANNEL_1(0.1,0.2,0) 0 / M 0 / DETECTOR rec[-1]').detector_error_model(approximate_disjoint_errors=True)"),
    Row("c('T 0 / CX sweep[0] 0 / H 0 / M 0').compile_m2d_converter()", "with X, Y and Z in place of CX", "c('T 0 / X 0 / M 0').compile_m2d_converter()"),
    Row("c('T 0 / OBSERVABLE_INCLUDE(0) X0').compile_m2d_converter()", "MPP", "c('T 0 / MPP X0 / OBSERVABLE_INCLUDE(0) rec[-1]').compile_m2d_converter()"),
    Row("c('AMPLITUDE_DAMPING(0.1) 0 / OBSERVABLE_INCLUDE(0) X0').compile_detector_sampler()", "leave this observable out", "c('AMPLITUDE_DAMPING(0.1) 0 / MPP X0 / OBSERVABLE_INCLUDE(0) rec[-1]').compile_detector_sampler()"),
    Row("c('M 0 / LEAKAGE(0.1) 0 / CCX rec[-1] 0 1').compile_sampler()", "Write gates on single qubits", "c('M 0 / LEAKAGE(0.1) 0 / CX rec[-1] 1').compile_sampler()"),
    Row("c('LEAKAGE_READOUT(0.1) 0 / LEAKAGE_READOUT(0.2) 0 / LEAKAGE(0.1) 0 / M 0').compile_sampler()", "keep one of them", "c('LEAKAGE_READOUT(0.1) 0 / LEAKAGE(0.1) 0 / M 0').compile_sampler()"),
    Row("c('REPEAT 1000000000000 { / T 0 / M 0 / }').compile_sampler()", "Lower the repeat counts", "c('REPEAT 10 { / T 0 / M 0 / }').compile_sampler()"),
    # Other languages
    Row("Circuit.from_qasm('circuits/x.qasm')", "give its text to Circuit.from_qasm", "Circuit.from_qasm(open(file('x.qasm', 'OPENQASM 3.0;\\nqubit q;')).read())"),
    _qasm("angle[8] a=pi;rx(a*1.5) q[0];", "Declare it as float", "float a=pi;rx(a*1.5) q[0];"),
    _qasm("while(m[0]) { x q[0]; }", "Write a for loop", "for int i in [0:2] { x q[0]; }"),
    _qasm("switch(n) { case 3 { x q[0]; } }", "Write it with if", "if (n==3) { x q[0]; }"),
    _qasm("def f(qubit a) { x a; } f(q[0]);", "Write a gate in its place", "gate f a { x a; } f q[0];"),
    _qasm("include \"other.inc\";", "Put the text of other.inc in the place of this line", "gate mine a { x a; } mine q[0];"),
    _qasm("x $0;", "Name all qubits, or none", "x q[0];"),
    _qasm("stretch s; delay[s] q[0];", "Write a duration", "duration d = 100ns; delay[d] q[0];"),
    _qasm("let a = 3;", "Declare a constant", "const int a = 3;"),
    _qasm("const int a = 3; a = 4;", "Declare it without const", "int a = 3; a = 4;"),
    _qasm("input float a;", "Write a constant", "const float a = 0.1; rx(a) q[0];"),
    _qasm("int a; rx(a) q[0];", "Write it at the end, after =", "int a = 1; rx(a) q[0];"),
    _qasm("rx(a) q[0];", "Declare it before, with a number", "float a = 1; rx(a) q[0];"),
    _qasm("box[100ns] { x q[0]; }", "Write delays inside", "box { x q[0]; delay[100ns] q[0]; }"),
    _qasm("if (q[0]==1) { x q[1]; }", "Measure them first", "m[0] = measure q[0]; if (m[0]==1) { x q[1]; }"),
    _qasm("bit q;", "Choose another name", "bit r;"),
    _qasm("gate U a { x a; }", "Choose another name", "gate u_ a { x a; }"),
    _qasm("gate f a,a { x a; }", "Choose another name", "gate f a,b { x a; }"),
    _qasm("pow(0.5) @ x q[0];", "such as sx", "sx q[0];"),
    _qasm("gate f a { barrier a; x a; for int i in [0:1] { x a; } }", "Write it out in gates", "gate f a { x a; }"),
    _qasm("rx(" + "(" * 3000 + "1" + ")" * 3000 + ") q[0];", "fewer levels", "rx(((1))) q[0];"),
    Row(_OPENQASM_2 % "opaque f a;f q[0];", "Define it with gate", _OPENQASM_2 % "gate f a {x a;} f q[0];"),
    Row("c('MPAD 1 / M 0 / DETECTOR rec[-1] rec[-2]').to_qasm(open_qasm_version=2)", "open_qasm_version=3", "c('MPAD 1 / M 0 / DETECTOR rec[-1]').to_qasm(open_qasm_version=3)"),
    Row("c('I[delay:long] 0').to_qasm(open_qasm_version=3)", "I[delay:100ns]", "c('I[delay:100ns] 0').to_qasm(open_qasm_version=3)"),
    Row("c('I[delay:100ns] 0').to_qasm(open_qasm_version=2)", "open_qasm_version=3", "c('I[delay:100ns] 0').to_qasm(open_qasm_version=3)"),
    Row("c('M 0 1 / CCX rec[-1] rec[-2] 0').to_qasm(open_qasm_version=2)", "open_qasm_version=3", "c('M 0 1 / CCX rec[-1] rec[-2] 0').to_qasm(open_qasm_version=3)"),
    Row("c('M 0 / DETECTOR rec[-1]').to_qasm(open_qasm_version=2)", "skip_dets_and_obs=True", "c('M 0 / DETECTOR rec[-1]').to_qasm(open_qasm_version=2, skip_dets_and_obs=True)"),
    Row("c('OBSERVABLE_INCLUDE(0) X0').to_qasm(open_qasm_version=3)", "skip_dets_and_obs=True", "c('OBSERVABLE_INCLUDE(0) X0').to_qasm(open_qasm_version=3, skip_dets_and_obs=True)"),
    Row("c('EXP_VAL X0').to_qasm(open_qasm_version=3)", "skip_dets_and_obs=True", "c('EXP_VAL X0').to_qasm(open_qasm_version=3, skip_dets_and_obs=True)"),
    Row("c('X_ERROR(0.1) 0').to_qasm(open_qasm_version=3)", "circuit.without_noise()", "c('X_ERROR(0.1) 0').without_noise().to_qasm(open_qasm_version=3)"),
    Row("c('AMPLITUDE_DAMPING(0.1) 0').to_cirq()", "circuit.pauli_twirl()", "c('AMPLITUDE_DAMPING(0.1) 0').pauli_twirl().to_cirq()"),
]  # fmt: skip
