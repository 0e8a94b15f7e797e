"""Checks of logical states fail as often as density matrices say, for random states in random codes.

A qubit is encoded in three, with noise between the gates; a stabilizer generator or both are measured, and a
record says in which frame the logical Paulis are. The oracle has the trace of each logical Pauli with the state,
for all records: no measurement of the state, no frame and no fidelity of the package enters.
"""

import itertools
import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
import scipy.stats
import sinter
import stim

import stim_nonclifford as snc
from sinter_plugin import SoftDecodingSampler, SoftPostselectSampler
from stim_nonclifford import LogicalStateCheck

from ...support.laws.expectation_oracle import ExpectationSimulator
from ...support.oracle.density_matrix import detector_distribution
from ...support.seeds import seeds

EXACT = 1e-12
FALSE_ALARM = 1e-9
SHOTS = 40_000
CODES_PER_SEED = 12
NUM_SEEDS = 4


@dataclass(frozen=True)
class Encoded:
    """A noisy circuit with EXP_VAL of some logical Paulis, and the check of the state that it prepares."""

    text: str
    check: LogicalStateCheck
    flipped: tuple[bool, ...]  # for each Pauli of the check, whether the record of the frame flips it


def targets(pauli: stim.PauliString, separator: str = "*") -> str:
    return separator.join(f"{'_XYZ'[pauli[k]]}{k}" for k in pauli.pauli_indices())


def encoded(rng: np.random.Generator) -> Encoded:
    """A random state in a random code of three qubits, with a frame of a random logical Pauli."""
    tableau = _random_tableau(rng)
    plane = bool(rng.random() < 0.5)
    angle = 0.5 if plane else float(rng.uniform(0.1, 0.9))
    phase = float(rng.choice([0.25, rng.uniform(-1, 1)]))
    vector = (
        math.sin(angle * math.pi) * math.cos(phase * math.pi),
        math.sin(angle * math.pi) * math.sin(phase * math.pi),
        math.cos(angle * math.pi),
    )

    def noise(limit: float = 0.08) -> str:
        q, p = int(rng.integers(3)), float(rng.uniform(0.002, limit))
        other = (q + 1) % 3
        return str(
            rng.choice([f"DEPOLARIZE1({p}) {q}", f"DEPOLARIZE2({p}) {q} {other}", f"E({p}) X{q} Z{other}"])
        )

    lines = ["R 0 1 2", f"R_Y({angle}) 0", noise(), f"R_Z({phase}) 0", noise()]
    for line in str(tableau.to_circuit()).splitlines():
        lines.append(line)
        if rng.random() < 0.3:
            lines.append(noise())
    logical = [tableau(stim.PauliString(f"{letter}__")) for letter in "XYZ"]
    frame = int(rng.integers(3))
    readout = float(rng.uniform(0, 0.05))
    lines += ["R 3", "H 3"]
    lines += [f"C{'_XYZ'[logical[frame][q]]} 3 {q}" for q in logical[frame].pauli_indices()]
    # If the logical Pauli has a sign, the sum over both values of the qubit 3 has one, too.
    lines += [noise(), f"M({readout}) 3"]
    generators = [tableau.z_output(k) for k in (1, 2)][: 1 + int(rng.random() < 0.7)]
    for generator in generators:
        sign = "!" if generator.sign == -1 else ""
        lines += [noise(0.02), f"MPP({float(rng.uniform(0, 0.03))}) {sign}{targets(generator)}"]
    lines += [f"DETECTOR rec[{-1 - k}]" for k in range(len(generators))]
    chosen = [0, 1] if plane else [int(k) for k in rng.permutation(3)]
    signs = ["!" if logical[k].sign == -1 else "" for k in chosen]
    products = [f"{sign}{targets(logical[k])}" for sign, k in zip(signs, chosen, strict=True)]
    lines.append(f"EXP_VAL {' '.join(products)}")
    for number, k in enumerate(chosen):
        record = f" rec[{-1 - len(generators)}]" if k != frame else ""
        lines.append(f"OBSERVABLE_INCLUDE({number}) {targets(logical[k], ' ')}{record}")
    order = tuple(range(len(chosen)))
    check = LogicalStateCheck(order, order, tuple(vector[k] for k in chosen))
    return Encoded("\n".join(lines), check, tuple(k != frame for k in chosen))


def _random_tableau(rng: np.random.Generator) -> stim.Tableau:
    """A random Clifford gate of three qubits, of a circuit of random gates."""
    circuit = stim.Circuit("I 0 1 2")
    for _ in range(9):
        q, other = (int(k) for k in rng.permutation(3)[:2])
        circuit.append(str(rng.choice(["H", "S", "C_XYZ", "SQRT_X"])), [q])
        circuit.append(str(rng.choice(["CX", "CZ", "ISWAP"])), [q, other])
    return circuit.to_tableau()


def failures(
    example: Encoded, predicted: npt.NDArray[np.uint8]
) -> dict[tuple[int, ...], tuple[float, float]]:
    """By detectors, their probability and that of a failed check in addition, if a decoder predicts these flips as bits."""
    circuit = snc.Circuit(example.text).to_stim()
    simulator = ExpectationSimulator(circuit)
    # The record of the frame is the first one; it is 0 in the reference sample.
    [detectors] = [bits for bits, p in noiseless_detectors(example).items() if p > 1 - 1e-9]
    found: dict[tuple[int, ...], tuple[float, float]] = {}
    for records, weight in simulator.weights[0].items():
        events = tuple(
            sum(records[k] for k in members) % 2 ^ usual
            for members, usual in zip(simulator.detectors, detectors, strict=True)
        )
        prediction = int(predicted[sum(event << k for k, event in enumerate(events))])
        overlap = sum(
            weight_of_pauli
            * simulator.traces[k][records]
            * (-1) ** ((records[0] & example.flipped[k]) ^ (prediction >> k & 1))
            for k, weight_of_pauli in enumerate(example.check.weights)
        )
        p, failed = found.get(events, (0.0, 0.0))
        found[events] = p + weight, failed + (weight - overlap) / 2
    return found


def noiseless_detectors(example: Encoded) -> dict[tuple[int, ...], float]:
    text = "\n".join(
        line for line in example.text.splitlines() if not line.startswith(("EXP_VAL", "OBSERVABLE_INCLUDE"))
    )
    return detector_distribution(snc.Circuit(text).without_noise().to_stim())


NOTHING = np.zeros(4, dtype=np.uint8)


@pytest.mark.parametrize("seed", seeds(NUM_SEEDS, quick=1))
def test_rates(seed: int) -> None:
    """Of ``logical_error_rate``, with all detectors postselected, exactly."""
    for k in range(CODES_PER_SEED):
        example = encoded(np.random.default_rng([1000 + seed, k]))
        by_events = failures(example, NOTHING)
        kept, wrong = by_events[(0,) * len(next(iter(by_events)))]
        found = snc.Circuit(example.text).logical_error_rate(
            postselection_mask="all", state_check=example.check, seed=1
        )
        assert all(share.method == "enumerated" or share.probability < EXACT for share in found.strata)
        assert found.kept == pytest.approx(kept, rel=0, abs=EXACT), example
        assert found.kept_and_wrong == pytest.approx(wrong, rel=0, abs=EXACT), example


class Table(sinter.Decoder):  # type: ignore[misc]
    """Predicts what a table says."""

    def __init__(self, predicted: npt.NDArray[np.uint8]) -> None:
        self.predicted = predicted

    def compile_decoder_for_dem(self, *, dem: stim.DetectorErrorModel) -> Any:
        return CompiledTable(self.predicted)


class CompiledTable(sinter.CompiledDecoder):  # type: ignore[misc]
    def __init__(self, predicted: npt.NDArray[np.uint8]) -> None:
        self.predicted = predicted

    def decode_shots_bit_packed(
        self, *, bit_packed_detection_event_data: npt.NDArray[np.uint8]
    ) -> npt.NDArray[np.uint8]:
        return self.predicted[bit_packed_detection_event_data[:, :1]]


@pytest.mark.parametrize("seed", seeds(NUM_SEEDS, quick=1))
def test_counted_failures(seed: int) -> None:
    """Of shots that are decoded by any table, and of those that are postselected; significance ``FALSE_ALARM``.

    The Paulis that the table flips are those of a Pauli frame, so that none or two of X, Y and Z are.
    """
    wrong_predictions = 0
    for k in range(CODES_PER_SEED):
        rng = np.random.default_rng([1100 + seed, k])
        example = encoded(rng)
        num_paulis = len(example.check.weights)
        frames = [
            f for f in itertools.product([0, 1], repeat=num_paulis) if num_paulis == 2 or sum(f) % 2 == 0
        ]
        chosen = [frames[int(rng.integers(len(frames)))] for _ in range(4)]
        predicted = np.array([sum(bit << j for j, bit in enumerate(f)) for f in chosen], dtype=np.uint8)
        predicted[0] = 0
        wrong_predictions += int(np.count_nonzero(predicted))
        task = sinter.Task(circuit=snc.Circuit(example.text).to_stim())
        decoding = SoftDecodingSampler(
            decoder=Table(predicted), state_check=example.check, error_model="noise_only", warn=False
        )
        stats = decoding.compiled_range_sampler_for_task(task, seed=k).sample_range(0, SHOTS)
        expected = sum(failed for _, failed in failures(example, predicted).values())
        assert scipy.stats.binomtest(stats.errors, SHOTS, expected).pvalue > FALSE_ALARM, example
        postselecting = SoftPostselectSampler(state_check=example.check)
        stats = postselecting.compiled_range_sampler_for_task(task, seed=k).sample_range(0, SHOTS)
        by_events = failures(example, NOTHING)
        kept, wrong = by_events[(0,) * len(next(iter(by_events)))]
        shots_kept = stats.shots - stats.discards
        assert scipy.stats.binomtest(shots_kept, SHOTS, kept).pvalue > FALSE_ALARM, example
        assert scipy.stats.binomtest(stats.errors, shots_kept, wrong / kept).pvalue > FALSE_ALARM, example
    assert wrong_predictions > CODES_PER_SEED
