"""The magic state cultivation circuits: what they prepare, check and cost, and their files."""

from __future__ import annotations

import re
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sinter
import stim

from circuits.cultivation import (
    CircuitStatistics,
    circuit_file_name,
    circuit_statistics,
    cultivation_circuit,
    write_circuit_file,
)
from circuits.cultivation.__main__ import main
from circuits.cultivation.builder import CircuitBuilder
from circuits.cultivation.cat_check import append_double_cat_check
from circuits.cultivation.color_code import ColorCode, Coord
from circuits.cultivation.injection import CORNER, CORNER_PARKING, append_unitary_injection
from circuits.cultivation.noise import NoiseModel, add_noise
from circuits.cultivation.syndrome_cycle import append_syndrome_cycle

ROOT = Path(__file__).parents[1]
REFERENCE_FILE = (
    Path(__file__).parents[2] / "shared" / "reference_circuits" / "msc_d3_inject_cultivate_p1e-3.stim"
)
CHANNELS = ("X_ERROR", "Z_ERROR", "DEPOLARIZE1", "DEPOLARIZE2")


@pytest.fixture(scope="module")
def reference() -> stim.Circuit:
    """The published d=3 circuit at p=1e-3, its T gates written as tagged gates."""
    if not REFERENCE_FILE.exists():
        pytest.skip(f"no reference circuit at {REFERENCE_FILE}")
    text = re.sub(r"^T(_DAG)? ", r"S\1[T] ", REFERENCE_FILE.read_text(), flags=re.MULTILINE)
    return stim.Circuit(text)


# Geometry


@pytest.mark.parametrize("distance", [3, 5, 7, 9])
def test_color_code_is_a_color_code(distance: int) -> None:
    code = ColorCode.triangular(distance)
    assert len(code.data) == (3 * distance**2 + 1) // 4
    assert len(code.tiles) == (len(code.data) - 1) // 2
    for k, tile in enumerate(code.tiles):
        assert len(tile.data) in (4, 6)
        for other in code.tiles[:k]:
            shared = set(tile.data) & set(other.data)
            assert len(shared) in (0, 2)
            assert not shared or tile.color != other.color
    assert not set(code.data) & {*code.x_ancillas, *code.z_ancillas}


@pytest.mark.parametrize("distance", [1, 4, -3])
def test_color_code_refuses_other_distances(distance: int) -> None:
    with pytest.raises(ValueError, match="distance must be 3, 5, 7"):
        ColorCode.triangular(distance)


def test_two_qubit_gates_connect_nearest_neighbours() -> None:
    circuit = cultivation_circuit(noise="none")
    site = circuit.get_final_qubit_coordinates()
    pairs = [
        group for instruction in circuit if instruction.name == "CX" for group in instruction.target_groups()
    ]
    assert len(pairs) == 81
    for control, target in pairs:
        (x, y), (u, v) = site[control.value], site[target.value]
        assert abs(x - u) + abs(y - v) == 1


def test_qubits_are_numbered_in_the_order_of_their_coordinates() -> None:
    coordinates = list(cultivation_circuit().get_final_qubit_coordinates().values())
    assert coordinates == sorted(coordinates)


# Stages, by the flow of Pauli products through their S-proxy


def pauli_product(pauli: str, sites: tuple[Coord, ...], numbers: dict[Coord, int]) -> str:
    return "*".join(f"{pauli}{numbers[site]}" for site in sites)


def numbered(sites: tuple[Coord, ...]) -> dict[Coord, int]:
    return {site: k for k, site in enumerate(sites)}


def test_injection_prepares_the_encoded_state() -> None:
    code = ColorCode.triangular(3)
    sites = code.sites(extra=[CORNER_PARKING])
    builder = CircuitBuilder(sites, gate="S")
    append_unitary_injection(builder)
    numbers = numbered(sites)
    numbers[CORNER] = numbers[CORNER_PARKING]
    for tile in code.tiles:
        for pauli in "XZ":
            assert builder.circuit.has_flow(stim.Flow("1 -> " + pauli_product(pauli, tile.data, numbers)))
    # S_DAG|+> has logical Y = -1, and Y on all 7 qubits is minus logical Y.
    assert builder.circuit.has_flow(stim.Flow("1 -> " + pauli_product("Y", code.data, numbers)))


@pytest.mark.parametrize("distance", [3, 5, 7])
def test_syndrome_cycle_measures_and_keeps_every_check(distance: int) -> None:
    code = ColorCode.triangular(distance)
    sites = code.sites()
    builder = CircuitBuilder(sites)
    append_syndrome_cycle(builder, code)
    numbers = numbered(sites)
    num_tiles = len(code.tiles)
    products = [
        (pauli, pauli_product(pauli, qubits, numbers))
        for qubits in (*(tile.data for tile in code.tiles), code.data)
        for pauli in "ZX"
    ]
    for k, (pauli, product) in enumerate(products[:-2]):
        record = k // 2 + (num_tiles if pauli == "X" else 0)
        assert builder.circuit.has_flow(stim.Flow(f"{product} -> rec[{record}]"))
    for pauli, product in products:
        # Outcomes of X checks may be left on the data as Z byproducts, those of Z checks are not.
        [records] = builder.circuit.solve_flow_measurements([stim.Flow(f"{product} -> {product}")])
        assert records is not None
        assert all(pauli == "X" and record >= num_tiles for record in records)


def test_cat_check_measures_the_logical_operator_and_keeps_the_code() -> None:
    code = ColorCode.triangular(3)
    sites = code.sites(extra=[(0, 1)])
    builder = CircuitBuilder(sites, gate="S")
    append_double_cat_check(builder, code)
    numbers = numbered(sites)
    logical = pauli_product("Y", code.data, numbers)
    assert builder.circuit.has_flow(stim.Flow(f"{logical} -> rec[0]"))
    for tile in code.tiles:
        z_check = pauli_product("Z", tile.data, numbers)
        assert builder.circuit.has_flow(stim.Flow(f"{z_check} -> {z_check}"))
        # The root is in every tile; -1 instead of +1 on it leaves a Z there.
        x_check = pauli_product("X", tile.data, numbers)
        assert builder.circuit.has_flow(stim.Flow(f"{x_check} -> {x_check} xor rec[0]"))


# The whole circuit


def test_statistics_are_those_of_table_ii() -> None:
    # SOFT paper (arXiv 2512.23037), Table II, column d=3.
    published = CircuitStatistics(
        qubits=15,
        gates=137,
        depth=39,
        two_qubit_gates=81,
        measurements=14,
        t_count=22,
        t_support=7,
        t_depth=4,
    )
    assert circuit_statistics(cultivation_circuit(3, p=1e-3, gate="T")) == published
    assert circuit_statistics(cultivation_circuit(3, noise="none", gate="S")) == published


def test_proxy_is_deterministic() -> None:
    circuit = cultivation_circuit(3, p=1e-3)
    circuit.detector_error_model()  # raises if a detector or the observable is random
    detectors, observables = circuit.reference_detector_and_observable_signs()
    assert not detectors.any()
    assert not observables.any()
    assert (circuit.num_detectors, circuit.num_observables) == (20, 1)


def test_true_t_gates_give_zero_everywhere() -> None:
    """Follows the state vector of the noiseless circuit: every measurement is certain, and 0."""
    circuit = cultivation_circuit(3, gate="T", noise="none")
    n = circuit.num_qubits
    state = np.zeros((2,) * n, dtype=np.complex128)
    state[(0,) * n] = 1

    def part(bits: dict[int, int]) -> tuple[slice | int, ...]:
        return tuple(bits.get(q, slice(None)) for q in range(n))

    def apply(paulis: list[tuple[str, int]]) -> np.ndarray:
        result = state.copy()
        for pauli, q in paulis:
            if pauli == "Z":
                result[part({q: 1})] *= -1
            else:
                result = np.flip(result, axis=q).copy()
        return result

    num_measured = 0
    for instruction in circuit:
        name = instruction.name
        for group in instruction.target_groups():
            qubits = [target.value for target in group if not target.is_combiner]
            if name in ("R", "RX"):
                # Every reset qubit is in a product state, so keeping one outcome loses nothing.
                state = state + apply([("Z" if name == "R" else "X", qubits[0])])
                if np.linalg.norm(state) < 1e-6:
                    pytest.fail("reset of a qubit that is in the orthogonal state")
                state /= np.linalg.norm(state)
            elif name == "CX":
                control, target = qubits
                state[part({control: 1})] = np.flip(state, axis=target)[part({control: 1})]
            elif name in ("S", "S_DAG"):
                assert instruction.tag == "T"
                state[part({qubits[0]: 1})] *= np.exp((1j if name == "S" else -1j) * np.pi / 4)
            elif name in ("M", "MX", "MPP"):
                basis = {"M": "Z", "MX": "X", "MPP": group[0].pauli_type}[name]
                expectation = np.vdot(state, apply([(basis, q) for q in qubits])).real
                assert expectation == pytest.approx(1, abs=1e-12)
                num_measured += 1
            else:
                assert name in ("QUBIT_COORDS", "TICK", "DETECTOR", "OBSERVABLE_INCLUDE")
    assert num_measured == circuit.num_measurements == 21


def test_proxy_fault_distance_is_three() -> None:
    circuit = cultivation_circuit(3, p=1e-3, gate="S")
    # No one or two error mechanisms flip the observable without a detector ...
    observable_of: dict[frozenset[int], bool] = {frozenset(): False}
    for error in circuit.detector_error_model().flattened():
        if error.type == "error":
            targets = error.targets_copy()
            detectors = frozenset(t.val for t in targets if t.is_relative_detector_id())
            observable = any(t.is_logical_observable_id() for t in targets)
            assert observable_of.setdefault(detectors, observable) == observable
    # ... but three do.
    found = circuit.search_for_undetectable_logical_errors(
        dont_explore_detection_event_sets_with_size_above=6,
        dont_explore_edges_with_degree_above=6,
        dont_explore_edges_increasing_symptom_degree=False,
    )
    assert len(found) == 3


def test_detectors_have_coordinates_that_postselect() -> None:
    circuit = cultivation_circuit()
    for x, y, t, flag in circuit.get_detector_coordinates().values():
        assert [x, y] in circuit.get_final_qubit_coordinates().values()
        assert 0 <= t <= 39
        assert flag == 1
    mask = sinter.post_selection_mask_from_4th_coord(circuit)
    assert np.unpackbits(mask, bitorder="little").sum() == circuit.num_detectors


def test_proxy_is_the_same_circuit_without_tags() -> None:
    tagged = cultivation_circuit(3, p=2e-3, gate="T")
    proxy = cultivation_circuit(3, p=2e-3, gate="S")
    assert {i.tag for i in tagged if i.name in ("S", "S_DAG")} == {"T"}
    assert not any(i.tag for i in proxy)
    assert tagged.without_tags() == proxy


@pytest.mark.parametrize("arguments", [{"p": 0}, {"noise": "none"}, {"p": 0.5, "noise": "none"}])
def test_without_noise(arguments: dict[str, Any]) -> None:
    circuit = cultivation_circuit(3, **arguments)
    assert circuit == cultivation_circuit(3, p=0.01).without_noise()
    assert not any(i.name in CHANNELS for i in circuit)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"distance": 5}, "distance 5 is not available yet; distances available: 3"),
        ({"p": 1.5}, r"p must be a probability \(0 to 1\), but is 1.5"),
        ({"p": float("nan")}, "p must be a probability"),
        ({"gate": "U"}, "gate must be one of T, S, but is 'U'"),
        ({"noise": "pink"}, "unknown noise model 'pink'; noise models: uniform, none"),
    ],
)
def test_wrong_arguments_are_named(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        cultivation_circuit(**arguments)


# Against the published circuit


def noise_locations(circuit: stim.Circuit) -> Counter[str]:
    locations: Counter[str] = Counter()
    for instruction in circuit:
        if instruction.name in CHANNELS or (instruction.name in ("M", "MX") and instruction.gate_args_copy()):
            locations[instruction.name] += len(instruction.target_groups())
    return locations


def protocol_moments(circuit: stim.Circuit) -> list[set[tuple[object, ...]]]:
    """Operations and noise up to the last TICK, by moment, in an order-free form.

    Operations of one moment act on different qubits, and so do its noise channels, so neither of
    them has an order. Qubits are named by their coordinates.
    """
    site = {q: tuple(c) for q, c in circuit.get_final_qubit_coordinates().items()}
    moments: list[list[tuple[object, ...]]] = [[]]
    for instruction in circuit:
        if instruction.name == "TICK":
            moments.append([])
        elif instruction.name not in ("QUBIT_COORDS", "DETECTOR", "OBSERVABLE_INCLUDE", "MPP"):
            for group in instruction.target_groups():
                sites = [site[target.value] for target in group]
                if instruction.name == "DEPOLARIZE2":
                    sites.sort()
                arguments = tuple(instruction.gate_args_copy())
                moments[-1].append((instruction.name, instruction.tag, arguments, *sites))
    for moment in moments:
        assert len(set(moment)) == len(moment)
    return [set(moment) for moment in moments[:-1]]


def test_as_many_noise_locations_as_the_published_circuit(reference: stim.Circuit) -> None:
    locations = noise_locations(cultivation_circuit(3, p=1e-3))
    assert locations == noise_locations(reference)
    assert sum(locations.values()) == 518


def test_same_operations_and_noise_as_the_published_circuit(reference: stim.Circuit) -> None:
    assert protocol_moments(cultivation_circuit(3, p=1e-3)) == protocol_moments(reference)


def measured_parities(circuit: stim.Circuit) -> tuple[list[set[object]], set[object]]:
    """Detectors and observable 0 as sets of measurements, named by where and when they happen."""
    site = {q: tuple(c) for q, c in circuit.get_final_qubit_coordinates().items()}
    names: list[object] = []
    detectors: list[set[object]] = []
    observable: set[object] = set()
    moment = 0
    for instruction in circuit:
        if instruction.name == "TICK":
            moment += 1
        elif instruction.name in ("M", "MX"):
            names += [(moment, site[target.value]) for target in instruction.targets_copy()]
        elif instruction.name == "MPP":
            for group in instruction.target_groups():
                factors = [target for target in group if not target.is_combiner]
                if len(factors) == circuit_statistics(circuit).t_support:
                    names.append("logical")
                else:
                    names.append((factors[0].pauli_type, *(site[target.value] for target in factors)))
        elif instruction.name == "DETECTOR":
            detectors.append({names[target.value] for target in instruction.targets_copy()})
        elif instruction.name == "OBSERVABLE_INCLUDE":
            observable ^= {names[target.value] for target in instruction.targets_copy()}
    return detectors, observable


def rank(parities: list[set[object]]) -> int:
    """Number of independent parities, by elimination over GF(2)."""
    pivots: dict[object, set[object]] = {}
    for parity in parities:
        remainder = set(parity)
        while remainder:
            pivot = min(remainder, key=str)
            if pivot not in pivots:
                pivots[pivot] = remainder
                break
            remainder ^= pivots[pivot]
    return len(pivots)


def test_same_shots_are_kept_and_right_as_in_the_published_circuit(reference: stim.Circuit) -> None:
    """The detectors span the same parities, and in kept shots the observables are the same."""
    ours, our_observable = measured_parities(cultivation_circuit())
    theirs, their_observable = measured_parities(reference)
    # Our detectors are single measurements, so a set of measurements is a sum of detectors if it
    # is a subset of them.
    assert all(len(detector) == 1 for detector in ours)
    checked = set().union(*ours)
    assert set().union(*theirs) == checked
    assert rank(theirs) == len(theirs) == len(ours) == 20
    assert their_observable ^ our_observable <= checked


# Noise


def test_noise_follows_the_kind_of_operation() -> None:
    model = NoiseModel(
        one_qubit_gate=0.01,
        two_qubit_gate=0.02,
        idle=0.03,
        reset=0.04,
        measurement=0.05,
        after_measurement=0.06,
    )
    circuit = stim.Circuit("R 0\nRX 1\nH 2\nTICK\nCX 0 1\nM 2\nDETECTOR rec[-1]\nTICK\nTICK\nM 0")
    assert add_noise(circuit, model) == stim.Circuit(
        """
        R 0
        RX 1
        H 2
        X_ERROR(0.04) 0
        Z_ERROR(0.04) 1
        DEPOLARIZE1(0.01) 2
        TICK
        CX 0 1
        M(0.05) 2
        DETECTOR rec[-1]
        DEPOLARIZE2(0.02) 0 1
        DEPOLARIZE1(0.06) 2
        TICK
        DEPOLARIZE1(0.03) 0 1 2
        TICK
        M 0
        """
    )


@pytest.mark.parametrize(
    ("moment", "message"),
    [
        ("H 0\nM 0", "'M 0' touches a qubit for the second time"),
        ("CX 0 1 1 2", "touches a qubit for the second time"),
        ("M 0\nTICK\nCX rec[-1] 0", "no noise is defined for 'CX rec"),
        ("M(0.1) 0", "no noise is defined"),
        ("X_ERROR(0.1) 0", "no noise is defined"),
        ("MPP X0*X1", "no noise is defined"),
    ],
)
def test_moments_without_defined_noise_are_refused(moment: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        add_noise(stim.Circuit(moment + "\nTICK"), NoiseModel.uniform(0.01))


# Files and command line


@pytest.mark.parametrize("p", [0.0, 1e-3, 5e-4, 1e-7, 1.0])
def test_sinter_reads_metadata_from_the_file_name(p: float) -> None:
    name = circuit_file_name(distance=3, p=p, gate="T", noise="uniform")
    assert re.fullmatch(r"[\w.,=+-]+", name)
    metadata = sinter.comma_separated_key_values(f"some/folder/{name}")
    assert metadata == {"c": "inject+cultivate", "d": 3, "g": "T", "noise": "uniform", "p": p}
    assert isinstance(metadata["p"], float)


def test_written_file_is_the_circuit(tmp_path: Path) -> None:
    path = write_circuit_file(tmp_path / "new" / "folder", distance=3, p=0.002, gate="S", noise="uniform")
    assert stim.Circuit.from_file(path) == cultivation_circuit(3, p=0.002, gate="S")


def test_command_line_writes_every_combination(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["--d", "3", "--p", "0.0005", "0.001", "--gate", "T", "S", "--out", str(tmp_path)]
    assert main(arguments) == 0
    printed = [Path(line) for line in capsys.readouterr().out.splitlines()]
    assert len(printed) == 4
    assert sorted(printed) == sorted(tmp_path.iterdir())
    path = tmp_path / "c=inject+cultivate,d=3,g=T,noise=uniform,p=0.0005.stim"
    assert stim.Circuit.from_file(path) == cultivation_circuit(3, p=0.0005)


def test_command_line_without_noise(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--noise", "none", "--out", str(tmp_path)]) == 0
    path = Path(capsys.readouterr().out.strip())
    assert path.name == "c=inject+cultivate,d=3,g=T,noise=none,p=0.0.stim"
    assert stim.Circuit.from_file(path) == cultivation_circuit(3, noise="none")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["--distance", "5", "--p", "0.001"],
            "distance 5 is not available yet; distances available: 3",
        ),
        (
            ["--d", "3", "5", "--p", "0.001"],
            "argument --distance/--d: distance 5 is not available yet",
        ),
        (
            ["--d", "three", "--p", "0.001"],
            "argument --distance/--d: 'three' is not a whole number",
        ),
        (["--p", "1.5"], "argument --p: '1.5' is not a probability between 0 and 1"),
        (["--p", "small"], "argument --p: 'small' is not a probability between 0 and 1"),
        (["--p", "nan"], "argument --p: 'nan' is not a probability between 0 and 1"),
        (["--p", "0.001", "--gate", "U"], "argument --gate: invalid choice: 'U'"),
        (["--p", "0.001", "--noise", "pink"], "argument --noise: invalid choice: 'pink'"),
        ([], "--noise uniform needs its strength, for example --p 0.001"),
        (["--p", "0.001", "--noise", "none"], "--noise none has no strength, leave out --p"),
    ],
)
def test_command_line_errors(
    arguments: list[str], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as error:
        main([*arguments, "--out", str(tmp_path)])
    assert error.value.code == 2
    assert message in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_command_line_reports_a_folder_that_it_cannot_make(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("not a folder")
    with pytest.raises(SystemExit) as error:
        main(["--p", "0.001", "--out", str(blocked)])
    assert error.value.code == 2
    assert str(blocked) in capsys.readouterr().err


def test_command_line_runs_as_a_module(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "circuits.cultivation", "--p", "0.001", "--out", str(tmp_path)]
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    assert Path(result.stdout.strip()).exists()
