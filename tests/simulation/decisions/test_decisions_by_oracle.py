"""Circuits with a decoder in the loop against density matrices in which the decoder decides each branch.

Statistical comparisons reject a correct sampler with a probability below ``ALPHA`` each.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import numpy as np
import numpy.typing as npt
import pytest
import stim

import stim_nonclifford as snc
from stim_nonclifford.dialect import first_decision, without_decisions
from stim_nonclifford.simulation.decisions import DecidedCircuit

from ...support.oracle.agreement import p_value
from ...support.oracle.deciding import decided_distribution
from ...support.oracle.density_matrix import Records, record_distribution
from ...support.oracle.random_circuits import random_circuit
from ...support.seeds import seeds

ALPHA = 1e-9
POWER = 1e-12
DECIDING = {"M", "MX", "MY", "MR", "MRX", "MXX", "MZZ", "MPP"}
SHOTS = 50_000


@cache
def answers_of_mock(seed: int, decision: int, detectors: tuple[int, ...], count: int) -> tuple[int, ...]:
    """The answer of a decoder that is no decoder: a hash of what it sees."""
    rng = np.random.default_rng([seed, decision, *detectors, 7])
    return tuple(rng.integers(0, 2, count).tolist())


class Mock:
    """A decoder that answers with hashes."""

    def __init__(self, seed: int) -> None:
        self.seed = seed
        self.models: Sequence[stim.DetectorErrorModel] = ()

    def begin(self, models: Sequence[stim.DetectorErrorModel]) -> None:
        self.models = models

    def decide(self, number: int, detectors: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint8]:
        model = self.models[number]
        bits = np.unpackbits(detectors, axis=1, count=model.num_detectors, bitorder="little")
        found = [
            answers_of_mock(self.seed, number, tuple(row), model.num_observables) for row in bits.tolist()
        ]
        answers = np.array(found, dtype=np.uint8).reshape(len(bits), model.num_observables)
        return np.packbits(answers, axis=1, bitorder="little")


class ExactMock:
    """The mock as a function of the detectors and records of a branch.

    What known flips of records do is taken from the package; it has tests of its own.
    """

    def __init__(self, circuit: stim.Circuit, seed: int) -> None:
        self.decided = DecidedCircuit(circuit)
        self.seed = seed

    def __call__(self, number: int, detectors: tuple[int, ...], records: Records) -> tuple[int, ...]:
        decided, known = self.decided, self.decided.knowledge
        point, first, axes = decided.points[number], decided.first_bits[number], decided.axes_of(number)
        flips = [flip for k in range(number) for flip in self(k, detectors, records)]
        made = [k for k in range(first) if flips[k]]
        seen = [
            detectors[d] ^ sum(int(known.detectors[k, d]) for k in made) % 2
            for d in range(point.num_detectors)
        ]
        bits = list(range(first, first + len(point.records)))
        found = [bool(b) for b in answers_of_mock(self.seed, number, tuple(seen), len(bits) + len(axes))]
        for k in made:
            by = [*known.bits[k, bits], *known.axes[k, axes]]
            found = [bit != bool(flip) for bit, flip in zip(found, by, strict=True)]
        for place, axis in enumerate(axes):
            gate = decided.all_axes[axis]
            if (
                found[len(bits) + place]
                and gate.turns[sum(records[r] << j for j, r in enumerate(gate.records))]
            ):
                by = [*known.bits_by_axes[axis, bits], *known.axes_by_axes[axis, axes]]
                found = [bit != bool(flip) for bit, flip in zip(found, by, strict=True)]
        return tuple(int(bit) for bit in found[: len(bits)])


def deciding_circuits(seed: int, count: int) -> list[tuple[int, stim.Circuit]]:
    """Random circuits, some of whose measurements decide, and what the decoders of which is supported."""
    found: list[tuple[int, stim.Circuit]] = []
    k = 0
    while len(found) < count:
        rng = np.random.default_rng([seed, k])
        plain = random_circuit(rng, num_qubits=3, num_operations=25, max_records=8)
        circuit = stim.Circuit()
        for part in plain:
            decides = isinstance(part, stim.CircuitInstruction) and part.name in DECIDING and not part.tag
            if decides and rng.random() < 0.5:
                part = stim.CircuitInstruction(
                    part.name, part.targets_copy(), part.gate_args_copy(), tag="DECODE"
                )
            circuit.append(part)
        k += 1
        if first_decision(circuit) is None:
            continue
        try:
            decided = DecidedCircuit(circuit)
            for number in range(len(decided.points)):
                decided.prefix(number)
        except NotImplementedError:
            continue
        found.append((k, circuit))
    return found


@pytest.mark.parametrize("seed", seeds(6, 1))
def test_random_circuits_with_a_mock_decoder(seed: int) -> None:
    different = 0
    for k, circuit in deciding_circuits(seed, 8):
        plain = snc.Circuit(circuit)
        reference = plain.without_decisions().reference_sample().tolist()
        expected = decided_distribution(circuit, ExactMock(circuit, k), reference)
        sampler = plain.compile_sampler(seed=k, decoder=Mock(k))
        samples = sampler.sample(SHOTS)
        assert p_value(samples, expected) > ALPHA, (k, str(circuit))
        raw = record_distribution(without_decisions(circuit))
        different += p_value(samples, raw) < POWER
    assert different >= 2
