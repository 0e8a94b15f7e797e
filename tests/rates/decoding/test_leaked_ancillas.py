"""Errors of leaked and lost qubits are decomposed into edges, apart from the heralds that announce them."""

import numpy as np
import pymatching
import pytest
import stim

import stim_nonclifford as snc
from sinter_plugin import HeraldedMatchingDecoder, herald_detectors
from stim_nonclifford.simulation.compiler.heralds import with_heralds_apart

from ...support.rates.heralded_circuits import qubits_of, with_heralds
from ...support.seeds import slow
from ...support.texts.memory_circuits import memory

Part = frozenset[str]


def leaky_memory(name: str, channel: str) -> snc.Circuit:
    """Stim's memory of distance 3, with a channel on ancillas after each CX and heralds before each MR."""
    plain = memory(f"surface_code:{name}", 3, 3, gates=0.001, reads=0.001, resets=0.001).flattened()
    measured = (part for part in plain if part.name == "MR")
    ancillas = {qubit for part in measured for qubit in qubits_of(part).split()}
    herald = "HERALD_LOSS_EVENT" if channel.startswith("LOSS") else "HERALD_LEAKAGE_EVENT"
    return with_heralds(
        plain,
        lambda part: f"{herald}(0.01) {qubits_of(part)}" if part.name == "MR" else "",
        lambda part: (
            f"{channel} {' '.join(sorted(ancillas.intersection(qubits_of(part).split()), key=int))}"
            if part.name == "CX"
            else ""
        ),
    )


def parts_of(error: stim.DemInstruction) -> list[Part]:
    return [frozenset(map(str, group)) for group in error.target_groups()]


def errors(model: stim.DetectorErrorModel) -> dict[Part, float]:
    """What the errors flip in all, with their probabilities."""
    found: dict[Part, float] = {}
    for error in model.flattened():
        if error.type == "error":
            flipped: Part = frozenset()
            for part in parts_of(error):
                flipped ^= part
            p, q = error.args_copy()[0], found.get(flipped, 0.0)
            found[flipped] = p + q - 2 * p * q
    return found


def check_parts(
    model: stim.DetectorErrorModel, undecomposed: stim.DetectorErrorModel, heralds: set[str]
) -> None:
    """Each part is a herald, or an edge that an error without heralds has, or what is left without them."""
    assert errors(model) == pytest.approx(errors(undecomposed), abs=1e-14)
    edges = {flipped - heralds for flipped in errors(undecomposed)}
    announced = 0
    for error in model.flattened():
        if error.type != "error":
            continue
        parts = parts_of(error)
        fired = [part for part in parts if part & heralds]
        announced += bool(fired and len(parts) > len(fired))
        for part in parts:
            detectors = {target for target in part if target[0] == "D"}
            assert 1 <= len(detectors) <= 2
            if fired:
                assert (len(part) == 1) if part in fired else (part in edges)
    assert announced


@pytest.mark.parametrize(
    ("name", "channel"),
    [
        ("rotated_memory_x", "LEAKAGE(0.001)"),
        ("unrotated_memory_z", "LOSS(0.001)"),
        slow("rotated_memory_z", "LOSS(0.001)"),
        slow("unrotated_memory_x", "LEAKAGE(0.001)"),
    ],
)
def test_ancillas_of_memories(name: str, channel: str) -> None:
    circuit = leaky_memory(name, channel)
    heralds = herald_detectors(circuit)
    for kind in ("s_proxy", "noise_only"):
        model = circuit.detector_error_model(decompose_errors=True, kind=kind)
        undecomposed = circuit.detector_error_model(kind=kind)
        check_parts(model, undecomposed, {f"D{k}" for k in heralds})
        pymatching.Matching.from_detector_error_model(model, enable_correlations=True)
    again = with_heralds_apart(model, heralds)
    assert again == model.flattened()


def test_a_herald_shares_no_part_with_other_detectors() -> None:
    """Stim takes D0 D1 for an edge, from which the boundary explains D2; D1 D2 does so alone."""
    text = "error(0.125) {}\nerror(0.125) D1 D2\nerror(0.125) D1 L0\nerror(0.125) D2 L0"
    model = stim.DetectorErrorModel(text.format("D0 D1 L0 ^ D2 L0"))
    trusted, own = (with_heralds_apart(model, {0}, is_trusted=trusted) for trusted in (True, False))
    assert str(trusted) == text.format("D1 L0 ^ D2 L0 ^ D0")
    assert str(own) == text.format("D1 D2 ^ D0")


HERALDS: Part = frozenset({"D6", "D7"})


def random_model(random: np.random.Generator) -> stim.DetectorErrorModel:
    """Edges of a graph of six detectors, and errors of up to three edges, without common ends, that a herald announces.

    The model suggests any two parts of these errors.
    """
    edges: list[Part] = []
    while len(edges) < 7:
        detectors = random.choice(6, random.integers(1, 3), replace=False).tolist()
        edge = frozenset([f"D{k}" for k in detectors] + ["L0"] * int(random.integers(0, 2)))
        edges += [] if edge in edges else [edge]
    lines = [f"error({random.uniform(0.01, 0.1)}) {' '.join(sorted(edge))}" for edge in edges]
    for _ in range(10):
        flipped: Part = frozenset({f"D{random.integers(6, 8)}"})
        for k in random.choice(7, random.integers(1, 4), replace=False):
            flipped |= edges[k] if flipped.isdisjoint(edges[k]) else frozenset()
        targets = random.permutation(sorted(flipped)).tolist()
        cut = int(random.integers(1, len(targets) + 1))
        parts = filter(None, (targets[:cut], targets[cut:]))
        lines.append(f"error({random.uniform(0.001, 0.01)}) {' ^ '.join(map(' '.join, parts))}")
    return stim.DetectorErrorModel("\n".join(lines))


def test_random_models() -> None:
    """Seed 3: what edges have made is decomposed into edges."""
    random = np.random.default_rng(3)
    num_decomposed = 0
    for _ in range(100):
        model = random_model(random)
        apart = with_heralds_apart(model, {6, 7}, is_trusted=bool(random.integers(0, 2)))
        assert errors(apart) == pytest.approx(errors(model), abs=1e-14)
        edges = {flipped - HERALDS for flipped in errors(model)}
        for error in apart:
            parts = parts_of(error)
            if parts[0] & HERALDS:  # it flips no other detector
                assert len(parts) == 1
                assert parts[0] - HERALDS <= {"L0"}
                continue
            assert [part for part in parts if part & HERALDS] == [part for part in parts if part <= HERALDS]
            for part in parts:
                assert part <= HERALDS or part in edges
                assert 1 <= len(part - {"L0"}) <= 2
            num_decomposed += len(parts) > 2
    assert num_decomposed > 100


def test_the_likeliest_edges_are_taken() -> None:
    text = "error(0.1) D0 D1\nerror(0.01) D2\nerror(0.2) D0 L0\nerror(0.2) D1 D2 L0"
    model = stim.DetectorErrorModel(f"{text}\nerror(0.125) D3 D0 ^ D1 D2")
    assert str(with_heralds_apart(model, {3})).splitlines()[-1] == "error(0.125) D0 L0 ^ D1 D2 L0 ^ D3"


def test_what_no_edges_explain() -> None:
    model = stim.DetectorErrorModel(
        "error(0.25) D0 D1 ^ D2 L0 ^ L0 ^ D3\nerror(0.25) D0 D1 D2 D3\nerror(0.25) L0"
    )
    assert str(with_heralds_apart(model, {3})).splitlines() == [
        "error(0.25) D0 D1 L0 ^ D2 L0 ^ D3",
        "error(0.25) D0 D1 D2 ^ D3",
        "error(0.25) L0",
    ]
    cancelled = stim.DetectorErrorModel("error(0.25) D0 L0 ^ L0\nerror(0.25) L0 ^ L0")
    assert with_heralds_apart(cancelled, {3}) == cancelled
    assert str(with_heralds_apart(cancelled, {3}, is_trusted=False)) == "error(0.25) D0\nerror(0.25) L0 ^ L0"
    blocked = with_heralds_apart(model, {3}, new_edges=False)
    assert str(blocked).splitlines()[0] == "error(0.25) D0 D1 D2 ^ D3"


def test_a_herald_of_a_flipped_observable_alone() -> None:
    circuit = snc.Circuit(
        "HERALDED_PAULI_CHANNEL_1(0.001, 0.2, 0, 0) 0\nDETECTOR rec[-1]\nM 0\nOBSERVABLE_INCLUDE(0) rec[-1]"
    )
    model = circuit.detector_error_model(decompose_errors=True, approximate_disjoint_errors=True)
    decoder = HeraldedMatchingDecoder([0]).compile_decoder_for_dem(dem=model)
    events = np.array([[0], [1]], dtype=np.uint8)
    assert decoder.decode_shots_bit_packed(bit_packed_detection_event_data=events).tolist() == [[0], [1]]
