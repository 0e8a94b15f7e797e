"""The gap of an open time boundary: what a machine knows before the state is measured."""

import itertools
import math

import numpy as np
import pytest
import stim
from numpy.typing import NDArray

import stim_nonclifford as snc
from examples.cultivation.open_boundary import (
    LoopDecoder,
    OpenBoundaryDecoder,
    decided_circuit,
    mask_of,
    unknown_detectors,
)
from sinter_plugin.commands.end_to_end_circuits import generated_circuit
from stim_nonclifford.generators.cultivation import EscapeChoice

pytestmark = pytest.mark.filterwarnings("ignore::stim_nonclifford.InexactErrorModelWarning")

ESCAPES = [pytest.param("matchable"), pytest.param("color", marks=pytest.mark.slow)]
_DECIBEL = 10 / math.log(10)

# Three qubits, whose checks Z0*Z1 and Z1*Z2 are D0 and D1, and D2 and D3 at the end. A check is misread with
# probability 1/50; each qubit flips with probability 1/100 before the check and after it.
REPETITION = """
    error(0.01) D0 L0
    error(0.01) D0 D1
    error(0.01) D1
    error(0.02) D0 D2
    error(0.02) D1 D3
    error(0.01) D2 L0
    error(0.01) D2 D3
    error(0.01) D3
    detector(0, 0, 0, 3, 7) D0
    detector(1, 0, 0, 3, 7) D1
    detector(0, 0, 1, 3, 7) D2
    detector(1, 0, 1, 3, 7) D3
"""
FLIP, MISREAD = math.log(99) * _DECIBEL, math.log(49) * _DECIBEL


def cultivated(escape: EscapeChoice, d2: int = 5) -> snc.Circuit:
    """A circuit with T gates whose logical Y is checked, and one decoded round."""
    return generated_circuit(
        3, d2, 2e-3, "T", escape=escape, postselected_rounds=int(escape == "color"), rounds=1
    ).circuit


def model_of(circuit: snc.Circuit) -> stim.DetectorErrorModel:
    return circuit.detector_error_model(kind="noise_only", decompose_errors=False)


def kept_shots(circuit: snc.Circuit, mask: NDArray[np.bool_], shots: int, seed: int) -> NDArray[np.bool_]:
    sampler = circuit.compile_detector_sampler(seed=seed, postselection_mask=mask)
    return unpacked(sampler.sample_kept(shots).dets, circuit.num_detectors)


def unpacked(rows: NDArray[np.uint8], count: int) -> NDArray[np.bool_]:
    return np.unpackbits(rows, axis=1, count=count, bitorder="little").astype(np.bool_)


def answers(
    decoder: OpenBoundaryDecoder, model: stim.DetectorErrorModel, events: NDArray[np.bool_]
) -> tuple[NDArray[np.uint8], NDArray[np.float64]]:
    return decoder.compile_decoder_for_dem(dem=model).decode_shots_bit_packed_with_confidence(
        bit_packed_detection_event_data=np.packbits(events, axis=1, bitorder="little")
    )


def products_of(targets: list[stim.GateTarget]) -> list[list[stim.GateTarget]]:
    """The Pauli products of an MPP, with combiners."""
    groups = [[targets[0]]]
    for before, target in itertools.pairwise(targets):
        if target.is_combiner or before.is_combiner:
            groups[-1].append(target)
        else:
            groups.append([target])
    return groups


def with_perfect_round(circuit: snc.Circuit) -> snc.Circuit:
    """The circuit, and all checks of its end once more, a moment later."""
    written = circuit.to_stim()
    last = max(k for k, part in enumerate(written) if part.name == "TICK")
    checks = [part.targets_copy() for part in written[last:] if part.name == "MPP"]
    places = [part.gate_args_copy() for part in written[last:] if part.name == "DETECTOR"]
    products = [group for targets in checks for group in products_of(targets)]
    result = written.copy()
    for product, place in zip(products, places, strict=True):
        result.append("MPP", product)
        place[2] += 1
        result.append("DETECTOR", [stim.target_rec(-1), stim.target_rec(-1 - len(products))], place)
    return snc.Circuit(result)


@pytest.mark.parametrize(
    ("events", "prediction", "closed", "opened"),
    [
        # Silence: a logical error has three flips, before the check or after it.
        ([0, 0, 0, 0], 0, 3 * FLIP, 3 * FLIP),
        # D0 alone was a flip of the first qubit, rather than two of the others. Without the end, it is
        # a misread check: D2 would fire. Three flips then explain the same with the other class.
        ([1, 0, 0, 0], 1, FLIP, 3 * FLIP - MISREAD),
        ([1, 0, 1, 0], 0, 3 * FLIP - MISREAD, 3 * FLIP - MISREAD),
        # D0 and D1: the middle qubit, or the two others.
        ([1, 1, 0, 0], 0, FLIP, FLIP),
        # The first qubit flipped after the check: nobody knows before the end.
        ([0, 0, 1, 0], 1, FLIP, 3 * FLIP),
    ],
)
def test_shots_by_hand(events: list[int], prediction: int, closed: float, opened: float) -> None:
    model = stim.DetectorErrorModel(REPETITION)
    assert unknown_detectors(model).tolist() == [2, 3]
    rows = np.array([events], dtype=np.bool_)
    for boundary, gap in (("closed", closed), ("open", opened)):
        flips, gaps = answers(OpenBoundaryDecoder("matchable", boundary), model, rows)
        assert flips[0, 0] == prediction
        assert gaps[0] == pytest.approx(gap, abs=1e-3)


@pytest.mark.parametrize("escape", ESCAPES)
def test_after_a_perfect_round_the_open_gap_is_the_closed_one(escape: EscapeChoice) -> None:
    circuit = cultivated(escape)
    model = model_of(circuit)
    events = kept_shots(circuit, mask_of(circuit, OpenBoundaryDecoder(escape)), 1000, seed=1)
    _, closed = answers(OpenBoundaryDecoder(escape, "closed"), model, events)
    _, opened = answers(OpenBoundaryDecoder(escape, "open"), model, events)
    longer = with_perfect_round(circuit)
    assert len(unknown_detectors(model_of(longer))) == longer.num_detectors - circuit.num_detectors
    events = np.c_[events, np.zeros((len(events), longer.num_detectors - circuit.num_detectors), dtype=bool)]
    _, found = answers(OpenBoundaryDecoder(escape, "open"), model_of(longer), events)
    assert np.abs(found - closed).max() < 1e-3
    assert (np.abs(opened - closed) > 1).any()  # without that round, they differ


@pytest.mark.parametrize("escape", ESCAPES)
def test_the_open_gap_does_not_know_the_end(escape: EscapeChoice) -> None:
    circuit = cultivated(escape)
    model = model_of(circuit)
    events = kept_shots(circuit, mask_of(circuit, OpenBoundaryDecoder(escape)), 1000, seed=2)
    other = events.copy()
    unknown = unknown_detectors(model)
    other[:, unknown] ^= np.random.default_rng(3).random((len(events), len(unknown))) < 0.1
    for boundary in ("closed", "open"):
        decoder = OpenBoundaryDecoder(escape, boundary)
        (_, gaps), (_, changed) = (answers(decoder, model, each) for each in (events, other))
        assert (np.abs(gaps - changed).max() < 1e-6) == (boundary == "open")


def test_sure_discards_before_the_measurement() -> None:
    """``SURE`` in the circuit keeps the shots whose open gap is large enough, one by one."""
    circuit = cultivated("matchable", 7)
    decoder, least = OpenBoundaryDecoder("matchable"), 30
    model = model_of(circuit)
    decided = decided_circuit(circuit, least)
    [point] = decided.decision_points()
    assert point.num_detectors == len(np.setdiff1d(range(circuit.num_detectors), unknown_detectors(model)))
    mask = np.append(mask_of(circuit, decoder), False)
    sampler = decided.compile_detector_sampler(
        seed=5, decoder=LoopDecoder(circuit, decoder), postselection_mask=mask
    )
    events = unpacked(sampler.sample_kept(3000).dets, decided.num_detectors)
    _, gaps = answers(decoder, model, events[:, :-1])
    unsure = gaps < least
    assert (events[:, -1] == unsure).all()
    assert 20 < unsure.sum() < len(events) // 2
