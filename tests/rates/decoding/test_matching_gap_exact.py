"""The complementary gap of small random models, against the likeliest of all sets of errors."""

import itertools
import math

import numpy as np
import pytest
import stim

from sinter_plugin import MatchingGapDecoder
from stim_nonclifford.rates.decoding.matching.matching_graph import edge_probabilities, split_graph

from ...support.rates.least_weights import LeastWeights

DECIBEL = 10 / math.log(10)
PROBABILITIES = (0.0, 0.003, 0.02, 0.1, 0.2, 0.3, 0.45, 0.5, 0.6, 0.9, 0.999, 1.0)


def assert_exact(
    model: stim.DetectorErrorModel, heralds: dict[int, stim.DetectorErrorModel] | None = None
) -> int:
    """Compares all detection events; returns how many gaps were compared.

    Args:
        model: The model that is decoded.
        heralds: For each combination of heralds that fire, as a mask of detectors, the model of such shots.
    """
    num_detectors = model.num_detectors
    silent = 0
    for mask in heralds or {}:
        silent |= mask
    decoder = MatchingGapDecoder(
        heralds=[k for k in range(num_detectors) if silent >> k & 1]
    ).compile_decoder_for_dem(dem=model)
    compared = 0
    for fired, given in (heralds or {0: model}).items():
        least = LeastWeights(given).weights
        events = [k for k in range(1 << num_detectors) if not k & silent]
        explained = np.isfinite(least[:, events])
        np.testing.assert_array_equal(explained[0], explained[1])  # both classes, or none
        rows = np.array(events, dtype=np.uint32)[explained[0]]
        shots = (rows | fired).view(np.uint8).reshape(-1, 4)[:, : -(-num_detectors // 8)]
        predictions, gaps = decoder.decode_shots_bit_packed_with_confidence(
            bit_packed_detection_event_data=shots
        )
        advantage = least[1, rows] - least[0, rows]
        assert np.isfinite(gaps).all()
        np.testing.assert_allclose(gaps, np.abs(advantage) * DECIBEL, atol=0.01, err_msg=str(model))
        sure = gaps > 0.1
        np.testing.assert_array_equal(predictions[sure, 0], advantage[sure] < 0, err_msg=str(model))
        compared += len(rows)
        for row in np.array(events, dtype=np.uint32)[~explained[0]]:
            shot = (
                np.array([row | fired], dtype=np.uint32)
                .view(np.uint8)
                .reshape(1, 4)[:, : -(-num_detectors // 8)]
            )
            with pytest.raises(ValueError, match="perfect matching"):
                decoder.decode_shots_bit_packed_with_confidence(bit_packed_detection_event_data=shot)
    return compared


def random_model(rng: np.random.Generator) -> stim.DetectorErrorModel:
    """Up to 6 detectors and 12 errors: repeated, parallel, at the boundary, certain, impossible, in parts."""
    num_detectors = int(rng.integers(1, 7))
    model = stim.DetectorErrorModel(f"detector D{num_detectors - 1}\nlogical_observable L0")
    pairs = [*itertools.combinations(range(num_detectors), 2)]
    chosen = [pairs[k] for k in rng.permutation(len(pairs))[: rng.integers(0, 7)]]
    chosen += [(int(k),) for k in rng.integers(0, num_detectors, size=rng.integers(0, 4))]
    likely = rng.random() < 0.3
    for _ in range(rng.integers(2, 13)):
        targets: list[stim.DemTarget] = []
        for _ in range(1 + (rng.random() < 0.2)):
            if targets:
                targets.append(stim.target_separator())
            flips = [stim.target_logical_observable_id(0)] * int(rng.integers(0, 2))
            detectors = (
                () if not chosen or (flips and rng.random() < 0.05) else chosen[rng.integers(len(chosen))]
            )
            part = [stim.target_relative_detector_id(k) for k in detectors] + flips
            if not part:
                part = [stim.target_logical_observable_id(0)]
            targets += part
        limit = len(PROBABILITIES) if likely else 8
        model.append("error", PROBABILITIES[rng.integers(limit)], targets)
    return model


@pytest.mark.parametrize("seed", range(4))
def test_gaps_and_predictions_are_exact(seed: int) -> None:
    """250 models of the seeds [seed, 0], [seed, 1], ...: all detection events, or a refusal with a reason."""
    compared = split = 0
    refused: list[str] = []
    for k in range(250):
        model = random_model(np.random.default_rng([seed, k]))
        try:
            compared += assert_exact(model)
        except ValueError as error:
            refused.append(str(error))
            weights = LeastWeights(model).weights
            assert np.isinf(weights).any(axis=0).all(), model  # no detection events have two classes
        else:
            graph = split_graph(edge_probabilities(model).edges, model.num_detectors)
            split += any(len(nodes) == 2 for nodes in graph.copies)
    assert all("no error of the other logical class" in message for message in refused)
    assert len(refused) < 60
    assert split > 60
    assert compared > 1000


def test_parts_that_cancel_are_no_edges() -> None:
    """So that detection events which nothing explains are refused, rather than answered."""
    assert_exact(stim.DetectorErrorModel("error(1) D1 ^ D1\nerror(0.9) D0 L0 ^ D0 L0\nerror(0.9) D0"))


def given_heralds(
    errors: list[tuple[float, set[int], list[str]]], base: str, fired: frozenset[int]
) -> stim.DetectorErrorModel:
    """The model of shots in which some heralds fire, each edge by itself.

    Args:
        errors: Their probability, the heralds that they fire, and what they flip beside, in parts.
        base: The other errors.
        fired: The heralds that fire.
    """
    model = stim.DetectorErrorModel(base)
    for herald in fired:
        mine = [(p, parts) for p, flipped, parts in errors if herald in flipped]
        edges = {part for _, parts in mine for part in parts}
        odd: dict[str, float] = dict.fromkeys(edges, 0.0)
        total = 0.0
        for happens in itertools.product((False, True), repeat=len(mine)):
            if sum(happens) % 2:
                chance = math.prod(p if it else 1 - p for it, (p, _) in zip(happens, mine, strict=True))
                total += chance
                for edge in edges:
                    count = sum(parts.count(edge) for it, (_, parts) in zip(happens, mine, strict=True) if it)
                    odd[edge] += chance * (count % 2)
        for edge in sorted(edges):
            model += stim.DetectorErrorModel(f"error({odd[edge] / total!r}) {edge}")
    return model


def test_heralds_change_the_probabilities_of_edges() -> None:
    """60 models of seed 5 with two heralds, for all combinations of them that fire."""
    compared = 0
    for k in range(60):
        rng = np.random.default_rng([5, k])
        base = random_model(rng)
        num_detectors = base.num_detectors
        heralds = (num_detectors, num_detectors + 1)
        parts = ["D0", "D0 L0"]
        parts += [f"D{a} D{b}{flip}" for a in range(num_detectors) for b in range(a) for flip in ("", " L0")]
        errors = []
        for number in range(int(rng.integers(2, 5))):
            chosen = [parts[j] for j in rng.integers(0, len(parts), size=rng.integers(0, 3))]
            flipped = set(heralds) if rng.random() < 0.1 else {heralds[number % 2]}
            errors.append((float(rng.choice([0.01, 0.2, 0.5])), flipped, chosen))
        # A floor for each edge, as an edge that only a herald makes possible has a small probability without.
        floor = "\n".join(f"error(0.001) {part}" for part in parts)
        text = f"{base}\n{floor}\n"
        model = stim.DetectorErrorModel(text)
        for p, flipped, chosen in errors:
            written = [*chosen, *(f"D{herald}" for herald in flipped)]
            if chosen and rng.random() < 0.3 and len(chosen[0].split()) == 1:
                written = [f"{chosen[0]} D{min(flipped)}", *written[1:]]  # in one part with the herald
                written.remove(f"D{min(flipped)}")
            model += stim.DetectorErrorModel(f"error({p}) {' ^ '.join(written)}")
        declared = f"detector D{heralds[1]}\n"
        cases = {}
        for fired in itertools.chain.from_iterable(itertools.combinations(heralds, n) for n in range(3)):
            if all(any(herald in flipped for _, flipped, _ in errors) for herald in fired):
                given = given_heralds(errors, text + declared, frozenset(fired))
                cases[sum(1 << herald for herald in fired)] = given
        compared += assert_exact(model, cases)
    assert compared > 1500


def test_rings() -> None:
    """A ring of detectors has one closed loop that flips the observable, and a torus too many."""
    ring = "\n".join(f"error({0.01 * (k + 1)}) D{k} D{(k + 1) % 5}{' L0' * (k == 2)}" for k in range(5))
    assert assert_exact(stim.DetectorErrorModel(ring)) == 16
    torus = stim.DetectorErrorModel()
    for x, y in itertools.product(range(8), repeat=2):
        for dx, dy in ((1, 0), (0, 1)):
            ends = f"D{8 * x + y} D{(x + dx) % 8 * 8 + (y + dy) % 8}"
            torus += stim.DetectorErrorModel(f"error(0.01) {ends}{' L0' * (dx and x == 7)}")
    with pytest.raises(
        ValueError, match=r"Closed loops of errors flip the observable, through 8 detectors \(D"
    ):
        MatchingGapDecoder().compile_decoder_for_dem(dem=torus)


def test_an_error_that_no_detector_sees_limits_the_gap() -> None:
    assert assert_exact(stim.DetectorErrorModel("error(0.001) D0\nerror(0.1) L0")) == 2


def test_a_refused_batch_leaves_no_trace() -> None:
    """Detection events that no error explains, in a shot with a herald: later shots are decoded as before."""
    model = stim.DetectorErrorModel("error(0.1) D0 L0\nerror(0.2) D0\nerror(0.01) D0 ^ D2\ndetector D2")
    decoder = MatchingGapDecoder(heralds=[2]).compile_decoder_for_dem(dem=model)
    shots = np.array([[0b001]], dtype=np.uint8)
    before = decoder.decode_shots_bit_packed_with_confidence(bit_packed_detection_event_data=shots)
    with pytest.raises(ValueError, match="perfect matching"):
        decoder.decode_shots_bit_packed(bit_packed_detection_event_data=shots | 0b110)
    after = decoder.decode_shots_bit_packed_with_confidence(bit_packed_detection_event_data=shots)
    assert [array.tolist() for array in before] == [array.tolist() for array in after]
