"""Circuit texts and tags for fuzzing: valid ones, and how they are changed by character, token and line."""

import random
import re
from collections.abc import Callable

import stim

import stim_nonclifford as snc

from .instruction_lines import LINES, NON_CLIFFORD, lines_of

HAND_WRITTEN = [
    "QUBIT_COORDS(0, 1.5) 0\nQUBIT_COORDS(-2, 1e3) 1\nR 0 1\nH 0\nT 0\nCX 0 1\nT_DAG 1\nMR 0 !1\n"
    "DETECTOR(1, 2, 0.5) rec[-1] rec[-2]\nSHIFT_COORDS(0, 1)\nDETECTOR(1, 2)\nOBSERVABLE_INCLUDE(1) rec[-1]",
    "# a comment with T 0 and R_Z(0.1) 1\nh 0 # another { [T] }\nt 0\nr_z(.5e-1)  0\n\n   S[T]   0 0 \nm 0\n",
    "T[my note] 0 1\nT_DAG[a\\Cb\\n\\r\\B] 0\nTICK[ T 0 ]\nX[S[T\\C] 0\nTPP[T:x] X0*!Y1 Z2\nM[REPEAT 2 {] 0 1 2",
    "REPEAT[loop] 2 {\n    T 0\n    REPEAT 3 {\n        MR 0\n        CX rec[-1] 1\n        DETECTOR rec[-1]\n"
    "    }\n    SHIFT_COORDS(1)\n}\nM 1\nOBSERVABLE_INCLUDE(0) rec[-1] rec[-2]",
    "S[T] 0\nS_DAG[T:note] 1\nSPP[T] X0*X1\nSPP_DAG[T] !Z0*Z1*Z2\nI[R_X(theta=0.25*pi)] 0\nM 0 1 2",
    "I[R_Y(theta=-1e-3*pi)] 1\nI[U3(theta=0.1*pi, phi=-.2*pi, lambda=+3.*pi)] 0 1\nMX 0 1\nDETECTOR rec[-1]",
    "SPP[R_PAULI(theta=0.3*pi)] X0*Y1*Z2\nSPP_DAG[R_PAULI(theta=0.3*pi)] X0\nII[R_XX( theta = 0.1 * pi )] 0 1\nMY 0",
    "II[CS] 0 1\nII[CS_DAG] 1 2\nII[CH] 0 2\nI[CCZ] 0 1 2\nI[CCX] 2 1 0\nMZZ !0 1\nMPP X0*X1*!X2 Z0",
    "R_XX(0.1) 0 1 2 3\nR_YY(-0.25) 0 1\nR_PAULI(0.7) X0*Y1*!Z2 Z3\nU3(0.1,0.2,0.3) 0\nU(1, 2, 3) 1\nM(0.01) 0 1 2",
    "H 0\r\nT 0\r\nH 0\r\nM 0\r\nDETECTOR rec[-1]\r\n",
    "CX sweep[0] 0 rec[-1] 1\nCZ 0 sweep[3]",
]


def around(line: str) -> str:
    """A small circuit with T gates around some lines, which may refer to two measurements."""
    return (
        f"R 0 1 2\nH 0 1\nT 0\nMR 0 1\n{line}\nR_X(0.3) 0\nM 0 1 2\n"
        "DETECTOR(0, 1) rec[-1]\nOBSERVABLE_INCLUDE(0) rec[-2]"
    )


def corpus() -> list[str]:
    """Valid texts: every instruction, every non-Clifford gate, the same with tags, and those above."""
    lines = [*HAND_WRITTEN[:-1], "\n".join(["M 0", HAND_WRITTEN[-1]])]
    for name in sorted({*stim.gate_data(), *LINES}):
        lines += [around(line) for line in lines_of(name)]
    for bare in NON_CLIFFORD.values():
        lines += [around("\n".join(bare)), str(snc.Circuit(around("\n".join(bare))).to_stim())]
    return lines


CORPUS = corpus()

TOKENS = [
    *("T", "T_DAG", "[T]", "[T:", "[", "]", "[t]", "S[T]", "[R_X(theta=0.25*pi)]", "[CCZ]", "[CS]", "TPP", "CH"),
    *("R_Z(", "R_PAULI(0.1)", "U3", "SPP", "SPP_DAG", "II", "I", "MPP", "E(0.5)", "ELSE_CORRELATED_ERROR(1)"),
    *("{", "}", "(", ")", "{\n", "\n}", "REPEAT 2 {\n", "REPEAT 3 {", "REPEAT 0 {\n", "repeat[T] 2 {\n", "REPEAT"),
    *("nan", "inf", "-inf", "1e999", "1e308", "-1e308", "1e-320", "-1", "-0.0", "0", "1", "2", "0.5", ".5", "1."),
    *("1_0", "0x10", "1/4", "pi", "*pi", "theta=", "0.30000000000000004", "1e16", "3000000000.25"),
    *("rec[-1]", "rec[-2]", "rec[-99]", "rec[0]", "rec[-1", "sweep[0]", "sweep[-1]", "sweep[99999999999]"),
    *("!", "*", "!!", "**", "X0*Y0", "X0*X0", "X0*Y0*Z0", "X0 Y0", "rec[-0]", "!X1", "Z2", "X0", "*X1", "Y19", "X", "D0", "L0"),
    *("16777215", "16777216", "2147483648", "4294967296", "18446744073709551616", "9" * 40, "1" * 400),
    *("DETECTOR", "OBSERVABLE_INCLUDE(5)", "OBSERVABLE_INCLUDE(0) X0", "SHIFT_COORDS(1e300)", "QUBIT_COORDS(1) 0"),
    *(";", ",", "#", "# ", "\\", "\\C", "\\n", "'", '"', "%", "$", "=", "^", "  ", "\t", "\n", "\r\n", "\r"),
    *("\0", "\v", "\f", "\x1c", "\x7f", "\x85", "\u00a0", "\u2028", "\ufeff", "\ud800"),
    *("é", "٣", "²", "０", "π", "ﬁ", "ı", "\U0001d7d8", "\U0001f600"),
]  # fmt: skip
CHARACTERS = "0123456789.-+eE*!()[]{}#:=, \t\n\r\\TSRMXYZIUCHP_DAGxytheta√\0"
TOKEN = re.compile(r"\w+|[^\S\n]+|.", re.DOTALL)
WORDS = sorted({word for text in CORPUS for word in TOKEN.findall(text) if word[0].isalpha()})
NUMBERS = [
    *("0", "1", "2", "3", "4", "5", "7", "19", "0.5", "0.25", "1.5", "1e-9", "1e9", "1e16", "1e308", "1e999"),
    *("0.125", "00", "1e-400", "0.30000000000000004", "16777215", "16777216", "4294967296", "9" * 30, "1" * 400),
]  # fmt: skip


def edited(rng: random.Random, pieces: list[str], new: Callable[[], str]) -> str:
    """Pieces of a text with one of them deleted, doubled, exchanged, replaced, or one more."""
    if not pieces:
        return new()
    a, b = rng.randrange(len(pieces)), rng.randrange(len(pieces))
    edit = rng.randrange(6)
    if edit == 0:
        del pieces[a]
    elif edit == 1:
        pieces.insert(a, pieces[a])
    elif edit == 2:
        pieces[a], pieces[b] = pieces[b], pieces[a]
    elif edit == 3:
        pieces[a] = new()
    elif edit == 4:
        pieces.insert(a, new())
    else:
        pieces.insert(a, pieces[b])
    return "".join(pieces)


def with_another_of_its_kind(rng: random.Random, text: str) -> str:
    """The text with a number or a word replaced by another number or word."""
    tokens = TOKEN.findall(text)
    places = [k for k, token in enumerate(tokens) if token[0].isalnum()]
    if places:
        place = rng.choice(places)
        tokens[place] = rng.choice(NUMBERS if tokens[place].isdigit() else WORDS)
    return "".join(tokens)


def mutated_text(rng: random.Random) -> str:
    """A text of the corpus after one to four changes, and now and then a block around it."""
    text = rng.choice(CORPUS)
    for _ in range(rng.choice([1, 1, 1, 2, 2, 3, 4])):
        kind = rng.choice(["character", "token", "token", "line", "line", "line", "kin", "kin", "kin", "end"])
        if kind == "character":
            text = edited(rng, list(text), lambda: rng.choice(CHARACTERS))
        elif kind == "token":
            text = edited(rng, TOKEN.findall(text), lambda: rng.choice(TOKENS))
        elif kind == "line":
            other = rng.choice(CORPUS).splitlines(keepends=True)
            text = edited(
                rng, text.splitlines(keepends=True), lambda other=other: rng.choice(other).rstrip("\n") + "\n"
            )
        elif kind == "kin":
            text = with_another_of_its_kind(rng, text)
        else:
            text = text[: rng.randrange(len(text) + 1)]
    if rng.random() < 0.05:
        depth = rng.choice([1, 2, 3, 10, 40])
        closing = depth + rng.choice([0, 0, 0, -1, 1])
        text = f"REPEAT {rng.choice([1, 1, 2, 10**18])} {{\n" * depth + text + "\n}" * closing
    return text


TAGS = [
    *("T", "T:", "T:note", "CCZ", "CCX", "CS", "CS_DAG", "CH", "R_X(theta=0.25*pi)", "R_Z(theta=-1.5e-3*pi)"),
    *("R_XX(theta=.5*pi)", "R_PAULI(theta=0.1*pi)", "U3(theta=0.1*pi, phi=0.2*pi, lambda=-1.*pi)", ""),
    *("R_Y( theta = +2e0 * pi )", "a note", "R_Y(theta=0.5*pi)", "R_YY(theta=1*pi)", "R_ZZ(theta=0.25*pi)"),
]  # fmt: skip
CARRIERS = {
    "S": "0 1", "S_DAG": "0", "SPP": "X0*Y1 !Z2", "SPP_DAG": "X0*Y1", "I": "0 1 2", "II": "0 1 1 2", "H": "0",
    "CX": "0 1", "TICK": "", "M": "0",
}  # fmt: skip


def mutated_tag(rng: random.Random) -> str:
    """A tag after none to three changes."""
    tag = rng.choice(TAGS)
    for _ in range(rng.choice([0, 1, 1, 2, 3])):
        if rng.random() < 0.5:
            tag = edited(rng, list(tag), lambda: rng.choice(CHARACTERS))
        else:
            tag = edited(rng, TOKEN.findall(tag), lambda: rng.choice(TOKENS).replace("\ud800", "\U0001f600"))
    return tag
