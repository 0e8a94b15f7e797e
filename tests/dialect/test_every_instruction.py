"""Every instruction of Stim, and every non-Clifford gate, in circuits with T gates, exactly.

Each instruction stands between random non-Clifford gates, and the exact distribution of the measurement record
is compared with a density-matrix simulation. The lists are Stim's own: an instruction that a later Stim adds
fails here until it is handled.
"""

import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import stim

import stim_nonclifford as snc

from ..support.laws.quasistatic import turned_record_distribution
from ..support.laws.records import assert_records_agree
from ..support.oracle.agreement import p_value
from ..support.oracle.density_matrix import record_distribution
from ..support.oracle.leakage import leaked_record_distribution
from ..support.seeds import seeds
from ..support.texts.instruction_lines import (
    CONDITIONAL,
    FEEDBACK,
    LEAKAGE,
    LINES,
    NON_CLIFFORD,
    OF_STATES,
    QUASISTATIC,
    READOUT_NOISE,
    RELAXATION,
    THREE_QUBIT_ERRORS,
    lines_of,
)
from ..support.texts.round_trips import read_again

in_contexts = pytest.mark.parametrize("context", seeds(3, quick=1, first=1))
"""Numbers of the random gates around a line: with an odd one, gates stand before the final measurements, too."""


def scramble(rng: np.random.Generator) -> str:
    """Random gates on qubits 0 to 2: products of rotations by unrelated angles, and entangling gates."""
    lines = []
    for _ in range(2):
        for qubit in range(3):
            axes = rng.choice(["R_X", "R_Y", "R_Z"], size=2, replace=False)
            lines += [f"{axis}({rng.choice([0.25, -0.25, 0.3, 0.6])}) {qubit}" for axis in axes]
        a, b = rng.choice(3, size=2, replace=False)
        lines.append(f"{rng.choice(['CX', 'ISWAP', 'CZ'])} {a} {b}")
    return "\n".join(lines)


def check(
    line: str,
    seed: int,
    context: int,
    oracle: Callable[[stim.Circuit], dict[tuple[int, ...], float]] = record_distribution,
) -> None:
    rng = np.random.default_rng([seed, context])
    final = rng.choice(["M", "MX", "MY"], size=3)
    text = "\n".join(
        [
            "H 0 1\nMR 0 1",
            scramble(rng),
            line,
            scramble(rng) if context % 2 else "",
            *(f"{measurement} {qubit}" for qubit, measurement in enumerate(final)),
        ]
    )
    circuit = snc.Circuit(text)
    if circuit.compile().program.no_plan:  # one in 10^10 correct engines is rejected
        assert p_value(circuit.compile_sampler(seed=seed).sample(50_000), oracle(circuit.to_stim())) > 1e-10
    else:
        assert_records_agree(
            circuit, oracle, tolerance=3e-9 if oracle is turned_record_distribution else 1e-10
        )


@pytest.mark.parametrize("name", sorted(stim.gate_data()))
@in_contexts
def test_stim_instruction(name: str, context: int) -> None:
    for k, line in enumerate(lines_of(name)):
        check(line, k, context)


@pytest.mark.parametrize("name", sorted(NON_CLIFFORD))
@in_contexts
def test_non_clifford_gate(name: str, context: int) -> None:
    for k, line in enumerate(NON_CLIFFORD[name]):
        check(line, k, context)


CHANNELS = RELAXATION | THREE_QUBIT_ERRORS | READOUT_NOISE | LEAKAGE | QUASISTATIC | OF_STATES


@pytest.mark.parametrize("name", sorted(CHANNELS))
@in_contexts
def test_channel(name: str, context: int) -> None:
    oracle = leaked_record_distribution if name in LEAKAGE | OF_STATES else record_distribution
    oracle = turned_record_distribution if name in QUASISTATIC else oracle
    for k, line in enumerate(CHANNELS[name]):
        check(line, k, context, oracle)


@pytest.mark.parametrize("name", sorted(CHANNELS))
def test_channels_in_texts_files_pictures_and_append(name: str, tmp_path: Path) -> None:
    for line in CHANNELS[name]:
        circuit = read_again(str(snc.Circuit(line)), tmp_path)
        appended = snc.Circuit()
        for part in circuit.flattened():
            written = re.match(r"(\w+)(?:\((.*?)\))?", str(part))
            assert written is not None
            values = [float(value) for value in written[2].split(",")] if written[2] else ()
            appended.append(written[1], part.targets_copy(), values)
        assert appended == circuit.flattened()
        assert appended.to_stim() == circuit.flattened().to_stim()
        assert ("HERALDED_ERASE" if name.startswith("HERALD") else name) in str(circuit.diagram())
        assert name.startswith("HERALD") or f"{name}(" not in str(circuit.without_noise())


@pytest.mark.parametrize("name", sorted(CONDITIONAL))
@in_contexts
def test_conditional_gate(name: str, context: int) -> None:
    for k, line in enumerate(CONDITIONAL[name]):
        check(line, k, context)


def test_the_lists_know_nothing_that_stim_does_not() -> None:
    names = set(stim.gate_data()) | {"CORRELATED_ERROR"}
    assert set(LINES) <= names
    assert set(FEEDBACK) <= names
