"""Cultivation end to end: growth to any distance, what the escape keeps and checks, and how it decodes."""

import functools
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sinter
import stim

import stim_nonclifford as snc
from sinter_plugin import ChromobiusGapDecoder, LogicalStateCheck, SoftDecodingSampler, task
from stim_nonclifford.generators import cultivation
from stim_nonclifford.generators.cultivation import GateChoice
from stim_nonclifford.generators.cultivation.color_code import ColorCode
from stim_nonclifford.generators.cultivation.end_to_end import build_noiseless_end_to_end

from ...support.seeds import slow
from .test_cultivation_circuits import assert_nearest_neighbours

end_to_end_circuit = functools.partial(cultivation.end_to_end_circuit, readout="expectation_values")
"""With the readout for a decoder, which most of these tests are about."""

pytestmark = pytest.mark.filterwarnings("ignore::stim_nonclifford.RandomObservableWarning")
"""Bits are compared here, whatever they mean: some observables are random without noise."""

SIZES = [(3, 5), (3, 7), (3, 11), (5, 7), (5, 9)]


WEIGHTS = {
    ("T", "y"): (0.0, 2**0.5),
    ("T", "xy"): (0.5**0.5, 0.5**0.5),
    ("S", "y"): (0.0, 1.0),
}
"""What checks by logical Y, or by X and Y, weigh the expectation values of X and Y with."""


def postselected(circuit: stim.Circuit) -> np.ndarray:
    """Which detectors discard a shot: those with a fifth coordinate other than 0."""
    coordinates = circuit.get_detector_coordinates()
    return np.array([coordinates[k][4] != 0 for k in range(circuit.num_detectors)])


def without_logical_x(circuit: stim.Circuit) -> stim.Circuit:
    """The circuit without observable 0, which is random in the S-proxy, so that Stim has an error model."""
    found = stim.Circuit()
    for instruction in circuit:
        if instruction.name != "OBSERVABLE_INCLUDE" or instruction.gate_args_copy() == [1]:
            found.append(instruction)
    return found


def faults(model: stim.DetectorErrorModel) -> Iterator[tuple[frozenset[int], frozenset[int], float]]:
    """What each error of a model flips, and how likely it is."""
    for error in model.flattened():
        if error.type == "error":
            targets = error.targets_copy()
            detectors = frozenset(t.val for t in targets if t.is_relative_detector_id())
            observables = frozenset(t.val for t in targets if t.is_logical_observable_id())
            yield detectors, observables, error.args_copy()[0]


# The whole circuit


@pytest.mark.parametrize(("distance", "escape_distance"), SIZES)
def test_proxy_gives_zero_without_noise(distance: int, escape_distance: int) -> None:
    circuit = end_to_end_circuit(distance, escape_distance, gate="S", noise="none", rounds=2)
    records = circuit.compile_sampler(seed=1).sample(64)
    converter = circuit.compile_m2d_converter(skip_reference_sample=True)
    assert not converter.convert(measurements=records, append_observables=False).any()


@pytest.mark.parametrize("gate", ["T", "S"])
@pytest.mark.parametrize(("distance", "escape_distance"), SIZES)
def test_expectation_values_without_noise(distance: int, escape_distance: int, gate: GateChoice) -> None:
    circuit = snc.Circuit(end_to_end_circuit(distance, escape_distance, gate=gate, noise="none", rounds=1))
    dets, _, values = circuit.compile_detector_sampler(seed=1).sample_expectation_values(64)
    assert not dets.any()
    wanted = {"T": [0.5**0.5, 0.5**0.5], "S": [0.0, 1.0]}[gate]
    np.testing.assert_allclose(values, np.broadcast_to(wanted, (64, 2)), atol=1e-9)


@pytest.mark.parametrize(("distance", "escape_distance"), [(3, 5), (5, 7)])
def test_proxy_is_the_same_circuit_without_tags(distance: int, escape_distance: int) -> None:
    tagged, proxy = (end_to_end_circuit(distance, escape_distance, gate=gate) for gate in ("T", "S"))
    assert tagged.without_tags() == proxy.without_tags()
    assert {i.tag for i in proxy if i.tag} == {i.tag for i in tagged if i.tag.startswith("EXP_VAL")}
    assert {i.tag for i in tagged if i.name in ("S", "S_DAG")} == {"T"}


def test_two_qubit_gates_connect_nearest_neighbours() -> None:
    assert_nearest_neighbours(end_to_end_circuit(3, 9, noise="none"))


def test_coordinates_tell_colors_and_what_postselects() -> None:
    builder = build_noiseless_end_to_end(3, 7, postselected_rounds=2, rounds=3, readout="expectation_values")
    first = {stage.name: stage.first_moment for stage in reversed(builder.stages)}
    code = ColorCode.triangular(7)
    kinds = {tile.x_ancilla: tile.color for tile in code.tiles}
    kinds |= {tile.z_ancilla: tile.color + 3 for tile in code.tiles}
    coordinates = builder.circuit.get_detector_coordinates().values()
    for x, y, t, color, postselect in coordinates:
        assert postselect == (t < first["decoded syndrome cycle d=7"])
        in_cycle = t >= first["syndrome cycle d=7"]
        assert color == (kinds[int(x), int(y)] if in_cycle else -1)
    # Growth adds five red tiles, whose first outcomes are random.
    checks = 2 * len(code.tiles)
    assert sum(t >= first["syndrome cycle d=7"] for _, _, t, _, _ in coordinates) == 6 * checks - 10


@pytest.mark.parametrize("postselected_rounds", [1, 3])
def test_detectors_for_the_decoder_depend_on_noise_alone(postselected_rounds: int) -> None:
    stim_circuit = end_to_end_circuit(3, 7, postselected_rounds=postselected_rounds, rounds=2)
    assert not (snc.Circuit(stim_circuit).quantum_detectors() & ~postselected(stim_circuit)).any()


@pytest.mark.parametrize(("distance", "escape_distance"), [(3, 7), (5, 9)])
def test_fault_distance_is_that_of_cultivation(distance: int, escape_distance: int) -> None:
    circuit = end_to_end_circuit(distance, escape_distance, gate="S", postselected_rounds=1, rounds=2)
    circuit = without_logical_x(circuit)
    assert all(detectors or not flips for detectors, flips, _ in faults(circuit.detector_error_model()))
    found = circuit.shortest_graphlike_error(ignore_ungraphlike_errors=True)
    assert len(found) == distance


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"escape_distance": 8}, "escape_distance must be odd and larger than distance=3, but is 8"),
        ({"postselected_rounds": 0, "rounds": 0}, "must not both be 0"),
    ],
)
def test_wrong_arguments_are_named(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        end_to_end_circuit(**arguments)


README = (Path(__file__).parents[3] / "circuits" / "cultivation" / "README.md").read_text(encoding="utf-8")
ROWS = re.findall(
    r"^\| (\d+) \| (\d+) \| (\d+) \| (\d+) \| (\d+) \| (\d+) \| ([\d.]+)% \|$", README, re.MULTILINE
)


@pytest.mark.parametrize("row", ROWS)
def test_table_of_sizes(row: tuple[str, ...]) -> None:
    """Kept shots within 6 sigma, a false alarm in 10^8 runs, and the rounding of the page."""
    distance, escape_distance, postselected, qubits, detectors, discarding = (int(cell) for cell in row[:6])
    circuit = snc.Circuit(end_to_end_circuit(distance, escape_distance, postselected_rounds=postselected))
    assert (circuit.num_qubits, circuit.num_detectors) == (qubits, detectors)
    flags = [coordinates[4] for coordinates in circuit.get_detector_coordinates().values()]
    assert sum(flags) == discarding
    sampler = circuit.compile_detector_sampler(
        seed=1, postselection_mask=np.array(flags) != 0, state_check="T"
    )
    counts = sampler.sample_counts(1_000_000)
    kept = 1 - counts.discards / counts.shots
    assert abs(kept - float(row[6]) / 100) < 6 * (kept * (1 - kept) / counts.shots) ** 0.5 + 0.0005


@pytest.mark.parametrize(("distance", "width"), [(3, 4), (5, 10)])
def test_width_does_not_depend_on_the_escape(distance: int, width: int) -> None:
    for escape_distance in (distance + 2, distance + 6):
        plan = snc.Circuit(end_to_end_circuit(distance, escape_distance, rounds=1)).plan()
        assert f"peak width {width} " in " ".join(str(plan).split())


# Decoding


def collected(
    gate: GateChoice, p: float, shots: int, check: str = "y", rounds: int = 1
) -> sinter.AnonTaskStats:
    pytest.importorskip("chromobius")
    circuit = end_to_end_circuit(3, 7, p, gate, postselected_rounds=1, rounds=rounds)
    sampler = SoftDecodingSampler(
        decoder="chromobius",
        confidence=True,
        error_model="noise_only",
        condition_on_postselection=True,
        state_check=LogicalStateCheck((0, 1), (0, 1), WEIGHTS[gate, check]),
    )
    masked = task(circuit, postselection_mask=np.packbits(postselected(circuit), bitorder="little"))
    return sampler.compiled_range_sampler_for_task(masked, seed=1).sample_range(0, shots)


@pytest.mark.parametrize("gate", ["T", slow("S")])
def test_single_faults_of_kept_shots_are_corrected_with_confidence(gate: GateChoice) -> None:
    pytest.importorskip("chromobius")
    circuit = snc.Circuit(end_to_end_circuit(3, 7, gate=gate, postselected_rounds=3, rounds=2))
    mask = postselected(circuit.to_stim())
    model = circuit.detector_error_model(kind="noise_only", postselection_mask=mask)
    kept = [(detectors, flips) for detectors, flips, _ in faults(model) if detectors]
    rows = np.zeros((len(kept), circuit.num_detectors), dtype=np.bool_)
    for row, (detectors, _) in zip(rows, kept, strict=True):
        row[list(detectors)] = True
    decoder = ChromobiusGapDecoder().compile_decoder_for_dem(dem=model)
    predictions, gaps = decoder.decode_shots_bit_packed_with_confidence(
        bit_packed_detection_event_data=np.packbits(rows, axis=1, bitorder="little")
    )
    assert len(kept) > 1000
    assert predictions[:, 0].tolist() == [sum(1 << k for k in flips) for _, flips in kept]
    assert gaps.min() > 40


@pytest.mark.parametrize(("gate", "check"), [("T", "y"), ("T", "xy"), ("S", "y")])
def test_nothing_is_wrong_without_noise(gate: GateChoice, check: str) -> None:
    stats = collected(gate, 1e-9, 1000, check)
    assert (stats.errors, stats.discards) == (0, 0)


@pytest.mark.slow
def test_t_gates_keep_what_the_proxy_keeps_and_are_wrong_as_often() -> None:
    """Five sigma of the kept shots, and of the errors at all gaps: less than one false alarm in 10^6 runs."""
    t, s = (collected(gate, 0.002, 200_000) for gate in ("T", "S"))
    kept = [stats.shots - stats.discards for stats in (t, s)]
    assert min(kept) > 20_000
    assert abs(kept[0] - kept[1]) < 5 * (2 * kept[1]) ** 0.5
    assert min(t.errors, s.errors) > 100
    assert abs(t.errors - s.errors) < 5 * (t.errors + s.errors) ** 0.5
    fidelity = collected("T", 0.002, 200_000, "xy")
    assert fidelity.discards == t.discards  # the same shots
    assert 0.5 * t.errors < fidelity.errors < t.errors


def test_errors_become_rare_with_the_gap() -> None:
    stats = collected("S", 0.001, 40_000, rounds=2)
    wrong, kept = ([0, 0], [0, 0])
    for name, count in stats.custom_counts.items():
        if name[0] in "CE" and name[1:].isdigit():
            sure = int(name[1:]) >= 30
            kept[sure] += count
            wrong[sure] += count * (name[0] == "E")
    assert wrong[False] > 40
    assert kept[True] > 20 * kept[False]
    assert wrong[True] / kept[True] < 0.05 * wrong[False] / kept[False]
