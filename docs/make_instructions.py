"""Writes docs/instructions.md: every instruction, whether it is supported, and which test says so.

python docs/make_instructions.py
"""

from __future__ import annotations

from pathlib import Path

import stim

from stim_nonclifford.dialect.text import BARE_GATES

TARGET = Path(__file__).with_name("instructions.md")

NOTES = {
    "CX": "also controlled by a record; controlled by a sweep bit it does nothing, as in Stim's samplers",
    "CY": "as CX",
    "CZ": "as CX, with the classical target on either side",
    "XCZ": "as CX, with the classical target second",
    "YCZ": "as CX, with the classical target second",
    "E": "alias CORRELATED_ERROR; with ELSE_CORRELATED_ERROR a chain of exclusive errors",
    "ELSE_CORRELATED_ERROR": "the chain lasts until the next E, whatever stands in between, as in Stim's samplers",
    "I_ERROR": "does nothing, as in Stim",
    "II_ERROR": "does nothing, as in Stim",
    "OBSERVABLE_INCLUDE": "Pauli targets count flips by anticommuting faults, as in Stim",
    "REPEAT": "unrolled: memory grows with the repetitions; the limit is 2^28 instruction targets",
    "DEPOLARIZE1": "any probability up to 1",
    "DEPOLARIZE2": "any probability up to 1",
    "PAULI_CHANNEL_1": "any probabilities that sum to at most 1",
    "PAULI_CHANNEL_2": "any probabilities that sum to at most 1",
    "T": "`S[T]`",
    "T_DAG": "`S_DAG[T]`",
    "TPP": "`SPP[T]`",
    "TPP_DAG": "`SPP_DAG[T]`",
    "R_X": "`I[R_X(theta=0.25*pi)]`; multiples of half a half-turn are Clifford and cost nothing",
    "R_Y": "`I[R_Y(theta=0.25*pi)]`",
    "R_Z": "`I[R_Z(theta=0.25*pi)]`",
    "R_XX": "`SPP[R_PAULI(theta=0.25*pi)] X0*X1` or `II[R_XX(theta=0.25*pi)] 0 1`",
    "R_YY": "as R_XX",
    "R_ZZ": "as R_XX",
    "R_PAULI": "`SPP[R_PAULI(theta=0.25*pi)] X0*Y1`",
    "U3": "`I[U3(theta=a*pi, phi=b*pi, lambda=c*pi)]` = R_Z(b) R_Y(a) R_Z(c)",
    "U": "alias of U3",
    "CS": "`II[CS] 0 1`",
    "CS_DAG": "`II[CS_DAG] 0 1`",
    "CH": "`II[CH] 0 1`",
    "CCZ": "`I[CCZ] 0 1 2`",
    "CCX": "`I[CCX] 0 1 2`",
}


def table() -> str:
    """The text of the page."""
    lines = [
        "# Instructions",
        "",
        f"Every instruction of Stim {stim.__version__} and every non-Clifford gate. All are exact: the distribution",
        "of the measurement record equals that of a density-matrix simulation to 10^-10, in circuits with T gates.",
        "`tests/test_exact_distribution.py` compares random circuits over all of them. This page is written by",
        "`docs/make_instructions.py`.",
        "",
        "## Stim's instructions",
        "",
        "| instruction | supported | exact | tested by | note |",
        "|---|---|---|---|---|",
    ]
    for name in sorted(stim.gate_data()):
        test = f"`test_every_instruction.py::test_stim_instruction[{name}]`"
        lines.append(f"| {name} | yes | yes | {test} | {NOTES.get(name, '')} |")
    lines += [
        "",
        "## Non-Clifford gates",
        "",
        "Angles are in half-turns. The tag is what a file for Stim and Sinter holds.",
        "",
        "| gate | supported | exact | tested by | tag |",
        "|---|---|---|---|---|",
    ]
    for name in sorted(BARE_GATES):
        test = f"`test_every_instruction.py::test_non_clifford_gate[{name}]`"
        lines.append(f"| {name} | yes | yes | {test} | {NOTES[name]} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    TARGET.write_text(table(), encoding="utf-8")
