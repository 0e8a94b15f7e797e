"""Least weights of matchings by distances, against all matchings and against PyMatching."""

import numpy as np
import pytest

from sinter_plugin import MatchingGapDecoder
from stim_nonclifford._native import MatchingWeights

from ...support.texts.memory_circuits import memory

FAR = 1 << 40


def all_distances(num_nodes: int, edges: list[tuple[int, int, int]]) -> np.ndarray:
    """Shortest ways between nodes and the boundary, which is the last one (Floyd and Warshall)."""
    distances = np.full((num_nodes + 1, num_nodes + 1), FAR, dtype=np.int64)
    np.fill_diagonal(distances, 0)
    for a, b, weight in edges:
        distances[a, b] = distances[b, a] = min(distances[a, b], weight)
    for k in range(num_nodes + 1):
        distances = np.minimum(distances, distances[:, k, np.newaxis] + distances[k])
    return distances


def least_weights(num_nodes: int, edges: list[tuple[int, int, int]]) -> np.ndarray:
    """The least weight for each set of nodes that fire: each is matched with another or with the boundary."""
    distances = all_distances(num_nodes, edges)
    least = np.zeros(1 << num_nodes, dtype=np.int64)
    for chosen in range(1, 1 << num_nodes):
        first = (chosen & -chosen).bit_length() - 1
        rest = chosen & (chosen - 1)
        least[chosen] = distances[first, num_nodes] + least[rest]
        for other in range(first + 1, num_nodes):
            if rest >> other & 1:
                weight = distances[first, other] + least[rest & ~(1 << other)]
                least[chosen] = min(least[chosen], weight)
    return least


def matching_weights(
    num_nodes: int, edges: list[tuple[int, int, int]], max_bytes: int = 1 << 20
) -> MatchingWeights:
    first, second, weights = np.array(edges, dtype=np.int64).reshape(-1, 3).T.copy()
    return MatchingWeights(num_nodes, first, second, weights, max_bytes)


def random_edges(rng: np.random.Generator, num_nodes: int) -> list[tuple[int, int, int]]:
    """Few different weights, so that there are ties and nested blossoms; the boundary is near or far."""
    largest = int(rng.choice([2, 5, 1000]))
    away = int(rng.choice([1, 5, 40]))
    edges = []
    for _ in range(int(rng.integers(num_nodes, 5 * num_nodes))):
        a, b = rng.choice(num_nodes + 1, 2, replace=False)
        weight = 2 * int(rng.integers(0, largest + 1)) * (away if num_nodes in (a, b) else 1)
        edges.append((int(min(a, b)), int(max(a, b)), weight))
    return [*edges, (0, num_nodes, 2 * largest * away)]


def test_weights_of_all_sets_of_events() -> None:
    """60 graphs with 11 nodes, of seeds [4, 0], [4, 1], ...: all 2^10 sets, without and with the last node."""
    for k in range(60):
        edges = random_edges(np.random.default_rng([4, k]), 11)
        expected = least_weights(11, edges).reshape(2, 1024).T
        events = np.arange(1024, dtype="<u2").view(np.uint8)
        found = matching_weights(11, edges).least(events, 2, 10, 10).reshape(-1, 2)
        known = (expected < FAR).all(axis=1) & (found[:, 0] >= 0)
        np.testing.assert_array_equal(found[known], expected[known], err_msg=str(edges))
        # A node that cannot reach the boundary is left to others.
        apart = np.flatnonzero(all_distances(11, edges)[:11, 11] >= FAR)
        silent = (np.arange(1024)[:, np.newaxis] >> apart & 1).sum(axis=1) == 0
        np.testing.assert_array_equal(found[:, 0] >= 0, silent)


def test_what_is_left_to_others() -> None:
    edges = [(0, 1, 2), (1, 2, 4), (2, 3, 6)]
    events = np.array([0b000, 0b001, 0b011], dtype=np.uint8)
    assert matching_weights(3, edges).least(events, 1, 2, 9).tolist() == [0, 6, 12, 6, 2, 8]
    assert matching_weights(3, edges).least(events, 1, 2, 1).tolist() == [0, 6, 12, 6, -1, -1]
    # Memory for the distances from one node of three.
    assert matching_weights(3, edges, 12).least(events, 1, 2, 9).tolist() == [0, 6, -1, -1, -1, -1]
    assert matching_weights(3, edges, 12).least(events[1:2], 1, 2, 9).tolist() == [12, -1]
    heavy = [(k, k + 1, 1 << 26) for k in range(40)]
    found = matching_weights(40, heavy).least(np.array([1, 0, 0, 0, 0], dtype=np.uint8), 5, 39, 9)
    assert found.tolist() == [-1, -1]  # 40 times 2^26 is more than 2^31


@pytest.mark.parametrize(("distance", "p", "shots"), [(3, 0.02, 3000), (7, 0.01, 1000), (9, 0.02, 60)])
def test_gaps_are_those_of_pymatching_bit_by_bit(distance: int, p: float, shots: int) -> None:
    circuit = memory("surface_code:rotated_memory_x", distance, distance, gates=p, reads=p)
    rows = circuit.compile_detector_sampler(seed=3).sample(shots, bit_packed=True)
    model = circuit.detector_error_model(decompose_errors=True)
    decoder = MatchingGapDecoder().compile_decoder_for_dem(dem=model)
    found = decoder.decode_shots_bit_packed_with_confidence(bit_packed_detection_event_data=rows)
    assert decoder._near is not None
    decoder._near = None
    expected = decoder.decode_shots_bit_packed_with_confidence(bit_packed_detection_event_data=rows)
    np.testing.assert_array_equal(found[1], expected[1])
    np.testing.assert_array_equal(found[0], expected[0])
    assert 0 < found[0].mean() < 1
