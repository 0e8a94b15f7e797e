"""Writes docs/reference/instructions.md: every instruction, with its meaning and its tagged form.

python docs/site/make_instructions.py
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

import stim

from stim_nonclifford.dialect.channels.channel_tags import ChannelDefinition, tagged_channel
from stim_nonclifford.dialect.channels.kraus import KRAUS
from stim_nonclifford.dialect.channels.leakage import LEAKAGE
from stim_nonclifford.dialect.channels.quasistatic import QUASISTATIC
from stim_nonclifford.dialect.channels.readout import MEASUREMENTS, readout_head
from stim_nonclifford.dialect.channels.relaxation import RELAXATION
from stim_nonclifford.dialect.channels.three_qubit_errors import THREE_QUBIT_ERRORS
from stim_nonclifford.dialect.expectation_values import tagged_expectation
from stim_nonclifford.dialect.feed_forward.blocks import escaped_conditions
from stim_nonclifford.dialect.feed_forward.conditional import PRODUCT_GATES, conditional_gate
from stim_nonclifford.dialect.feed_forward.decisions import decision_head, question_text
from stim_nonclifford.dialect.gates import BARE_NAMES, CONDITIONAL_CARRIER, GateDefinition, TaggedForm
from stim_nonclifford.simulation.compiler.program.extent import MAX_SECONDS

TARGET = Path(__file__).parents[1] / "reference" / "instructions.md"

NOTES = {
    "CX": "may be controlled by a record; does nothing if controlled by a sweep bit, as in Stim's samplers",
    "CY": "as CX",
    "CZ": "as CX, with the classical target on either side",
    "XCZ": "as CX, with the classical target second",
    "YCZ": "as CX, with the classical target second",
    "E": "alias CORRELATED_ERROR; with ELSE_CORRELATED_ERROR a chain of exclusive errors",
    "ELSE_CORRELATED_ERROR": "the chain continues until the next E, whatever comes in between, as in Stim's samplers",
    "I_ERROR": "does nothing; a tag on it is one of the channels below, or is refused",
    "II_ERROR": "as I_ERROR",
    "OBSERVABLE_INCLUDE": "Pauli targets count flips by anticommuting faults, as in Stim",
    "REPEAT": f"unrolled, if the compiler can follow it within {MAX_SECONDS} s; a long block of Clifford gates alone becomes one gate",
}


def table() -> str:
    """The text of the page."""
    lines = [
        "# Instructions",
        "",
        f"All instructions of Stim {stim.__version__}, and those below. Each is compared with density-matrix simulations, to"
        " 10⁻¹⁰ (`QUASISTATIC` in plans: 10⁻⁹). Decisions, and blocks that records switch, are for samplers, and for rates with `decoder=`.",
        "",
        "## Stim's instructions",
        "",
        f"As in Stim: {', '.join(name for name in sorted(stim.gate_data()) if name not in NOTES)}. And with a note:",
        "",
        "| instruction | note |",
        "|---|---|",
        *(f"| {name} | {note} |" for name, note in sorted(NOTES.items())),
        "",
        "## Non-Clifford gates",
        "",
        "a, b and c are angles in half-turns: θ = aπ, φ = bπ, λ = cπ. P is a Pauli product. Stim and Sinter read the",
        "tagged form. Rotations by multiples of 0.5 half-turns cost nothing. Bare angles of more than 4 half-turns are",
        "refused: they are probably in degrees.",
        "",
        "Refused are unknown tags on S, SPP, I, II, I_ERROR and II_ERROR, tags of the gates below on another",
        "instruction, and tags of noise that only other simulators have. Any other tag is a comment, and kept.",
        "",
        "| gate | meaning, up to a global phase | tagged instruction | inverse |",
        "|---|---|---|---|",
    ]
    for name, gate in sorted(BARE_NAMES.items()):
        meaning = gate.description if name == gate.name else f"alias of {gate.name}"
        forms = " or ".join(
            f"`{_example(gate, form)}`" for form in gate.forms if form.carrier != CONDITIONAL_CARRIER
        )
        lines.append(f"| {_call(name, gate)} | {meaning} | {forms} | {_inverse(gate)} |")
    lines += _conditional_section()
    lines += _channel_section(
        "Pauli errors on three qubits",
        "The noise of CCZ and CCX, of which Stim takes no notice. `s_proxy()` and error models have E instructions in its"
        " place: independent errors if such have the same distribution, as those of DEPOLARIZE3(p) up to p = 63/64, or"
        " else a chain of exclusive errors.",
        THREE_QUBIT_ERRORS,
    )
    lines += _channel_section(
        "Relaxation",
        "No mixtures of Paulis, and sampled exactly ([relaxation](../guides/relaxation.md)).",
        {**RELAXATION, **KRAUS},
    )
    lines += _channel_section(
        "Quasi-static noise",
        "Angles that are drawn once for each shot and qubit ([slow noise](../guides/relaxation.md#slow-noise)).",
        QUASISTATIC,
    )
    lines += [
        "",
        "## Readout noise",
        "",
        "`M(p01, p10)` reads 0 as 1 with p01, and 1 as 0 with p10 ([readout](../guides/relaxation.md#readout)). Tagged,"
        f" it is `{readout_head('M', None, (0.01, 0.05))} 0 1`, with their mean in parentheses. The same holds for"
        f" {', '.join(name for name in MEASUREMENTS if name != 'M')}.",
    ]
    lines += _channel_section(
        "Leakage and loss",
        "[What gates, measurements and resets do](../methods/noise.md#the-model-of-leakage) to leaked and lost qubits. Leakage"
        " [that depends on the state](../guides/relaxation.md#leakage-that-depends-on-the-state) is for samplers alone.",
        LEAKAGE,
    )
    lines += [
        "",
        "## Annotations",
        "",
        "| instruction | meaning | tagged instruction |",
        "|---|---|---|",
        "| EXP_VAL P | the expectation value of P in each shot: [expectation values](../guides/expectation_values.md) |"
        f" `{tagged_expectation('X0*Y1 !Z3')}` |",
        "",
        "## Blocks that records switch",
        "",
        "In a tag, Stim writes `\\C` for a closing bracket.",
        "",
        "| instruction | meaning | tagged instruction |",
        "|---|---|---|",
        *(
            f"| {written} | {meaning} | `{escaped_conditions(tagged)}` |"
            for written, meaning, tagged in _BLOCKS
        ),
        "",
        "## Decisions",
        "",
        "| instruction | meaning | tagged instruction |",
        "|---|---|---|",
        "| DECODE | a measurement whose record is the decoded value: [decoders in the loop](../methods/decisions.md) |"
        f" `{decision_head(None, None)} 0 1` |",
        "| FRAME P | a record that is 1 if errors have flipped P, as a decoder says |"
        f" `{question_text('FRAME', None, None, ['X0*Y1'])}` |",
        "| SURE(gap) P | a record that is 1 if the complementary gap of this question is at least so many"
        " decibels |"
        f" `{question_text('SURE', '20', None, ['X0*Y1'])}` |",
    ]
    return "\n".join(lines) + "\n"


_BLOCKS = (
    (
        "C_M rec[-1] 0",
        "measures if the record is 1; otherwise appends the record 0. The same for every other measurement",
        "M[IF rec[-1]] 0",
    ),
    ("C_R rec[-1] 0", "a reset if the record is 1; C_RX and C_RY, too", "R[IF rec[-1]] 0"),
    (
        "REPEAT[IF rec[-1]] 1 { ... }",
        "a block if the record is 1: [feed-forward](../guides/feed_forward.md)",
        "REPEAT[IF rec[-1]] 1 {",
    ),
    (
        "REPEAT[UNTIL rec[-1]] 5 { ... }",
        "a block until its last record is 1, five times at most",
        "REPEAT[UNTIL rec[-1]] 5 {",
    ),
)


def _conditional_section() -> list[str]:
    lines = [
        "",
        "## Gates controlled by records",
        "",
        "Records and sweep bits can control the gates above that have a control (`CS rec[-1] 0`, `CCZ rec[-2] rec[-1] 0`), and any",
        "other gate after C_ ([feed-forward](../guides/feed_forward.md)). A sweep bit is 0. The tagged CZ has all pairs of a control",
        "and a qubit as targets; Stim reads it as Z controlled by the record.",
        "",
    ]
    regular: dict[str, list[str]] = {}
    rows = []
    names = [name for name, gate in stim.gate_data().items() if gate.unitary_matrix is not None]
    definitions = {
        f"C_{name}": conditional_gate(f"C_{name}") for name in [*names, "U3", "CS", "CT_DAG", "CH", "CCX"]
    }
    for name, gate in sorted(definitions.items()):
        if gate is None:
            continue  # C_X and the like are Stim's own CX
        qubits = " ".join(map(str, range((gate.num_targets or 2) - 1)))
        pairs = " ".join(f"rec[-1] {qubit}" for qubit in qubits.split())
        form = gate.conditional_form
        assert form is not None
        call = _call(name, gate) + ("" if gate.name == name else f" = {gate.name}")
        tagged = _example(gate, form).split("]")[0] + f"] {pairs}"
        if call == name and tagged == f"{CONDITIONAL_CARRIER}[{name}] {pairs}":
            regular.setdefault(qubits, []).append(name)
        else:
            rows.append(f"| {call} | rec[-1] {qubits} | `{tagged}` |")
    tagged = f"{CONDITIONAL_CARRIER}[C_R_XY(theta=a*pi)] rec[-1] 0 rec[-1] 1"
    rows.append(f"| C_R_PAULI(a) | rec[-1] X0*Y1 | `{tagged}` |")
    fixed = {name: angle for name, angle in sorted(PRODUCT_GATES.items()) if angle is not None}
    angles = ", ".join(map(str, fixed.values()))
    rows.append(f"| {', '.join(fixed)} | rec[-1] X0*Y1 | the same with a = {angles} |")
    for qubits, names in sorted(regular.items()):
        pairs = " ".join(f"rec[-1] {qubit}" for qubit in qubits.split())
        example = f"`{names[0]} rec[-1] {qubits}`, tagged `{CONDITIONAL_CARRIER}[{names[0]}] {pairs}`"
        lines += [f"* {example}: {', '.join(names)}."]
    return [*lines, "", "| gate | targets | tagged instruction |", "|---|---|---|", *rows]


def _channel_section(title: str, text: str, table: Mapping[str, ChannelDefinition]) -> list[str]:
    lines = [
        "",
        f"## {title}",
        "",
        text,
        "",
        "| instruction | meaning | tagged instruction |",
        "|---|---|---|",
    ]
    for name, channel in table.items():
        call = f"{name}({', '.join(channel.parameters)})" if channel.parameters else name
        tagged = str(tagged_channel(channel, list(range(channel.num_targets)), channel.example))
        if name == "PAULI_CHANNEL_3":
            tagged = tagged.replace(", 0.0" * 61, ", ...")  # of 62 zeros
        elif name == "KRAUS2":
            tagged = re.sub(r"(?<=0\.0, 1\.0, ).*(?=\))", "...", tagged)  # of 32 numbers
        meaning = channel.description.replace("|", "\\|")
        lines.append(f"| {call} | {meaning} | `{tagged}` |")
    return lines


LETTERS = "abc"


def _call(name: str, gate: GateDefinition) -> str:
    return name + (f"({', '.join(LETTERS[: len(gate.parameters)])})" if gate.parameters else "")


def _inverse(gate: GateDefinition) -> str:
    """The inverse gate with its angles. It is asked for the angles 1, 2, 3, so that each of them can be told apart."""
    angles = gate.inverse_angles(tuple(range(1, len(gate.parameters) + 1)))
    letters = [f"{'-' * (angle < 0)}{LETTERS[int(abs(angle)) - 1]}" for angle in angles]
    return gate.inverse + (f"({', '.join(letters)})" if letters else "")


def _example(gate: GateDefinition, form: TaggedForm) -> str:
    values = [f"{'-' * form.inverted}{letter}" for letter in LETTERS]
    angles = ", ".join(f"{key}={value}*pi" for key, value in zip(gate.parameters, values, strict=False))
    targets = " ".join(str(k) for k in range(gate.num_targets or 0)) or "X0*Y1"
    if form.product:
        targets = "*".join(f"{pauli}{k}" for k, pauli in enumerate(form.product))
    return f"{form.carrier}[{form.word}{f'({angles})' if angles else ''}] {targets}"


if __name__ == "__main__":
    TARGET.write_text(table(), encoding="utf-8")
