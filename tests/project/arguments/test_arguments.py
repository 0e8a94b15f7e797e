"""Wrong arguments of every public function: an error that names the argument and says what it may be.

The test walks the signatures. So a new function needs its line here: how it is called. A new parameter needs its
line in ``kinds``.
"""

from __future__ import annotations

import collections
import dataclasses
import functools
import inspect
import traceback
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import pytest
import sinter
import stim

import sinter_plugin
import stim_nonclifford as snc
from stim_nonclifford.generators import cultivation, device_noise, distillation, logical, teleportation
from stim_nonclifford.simulation.engines import EngineOptions

from ...support.public_names import PUBLIC
from .kinds import KINDS, wrong_values

CIRCUIT = snc.Circuit(
    "RX 0\nZ_ERROR(0.1) 0 1\nT 0\nT_DAG 0\nEXP_VAL X0\nMX 0\nDETECTOR rec[-1]\nTICK\nRX 1\nX_ERROR(0.1) 2"
    "\nM 2\nOBSERVABLE_INCLUDE(0) rec[-1]"
)
NOISELESS = snc.Circuit("H 0\nT 0\nM 0")
CLIFFORD = snc.Circuit("H 0")
FLOW = stim.Flow("X -> Z")
DETECTORS = CIRCUIT.compile_detector_sampler(seed=1)
RECORDS = CIRCUIT.compile_sampler(seed=1)
COUNTS = DETECTORS.sample_counts(10)
TASK = sinter_plugin.task(CIRCUIT, json_metadata={"p": 0.1})
RATE = functools.cache(lambda: CIRCUIT.logical_error_rate(seed=1, postselection_mask="all"))
DECODED = functools.cache(
    lambda: snc.Circuit.generated(
        "repetition_code:memory", distance=3, rounds=1, before_round_data_depolarization=0.01
    ).logical_error_rate(seed=1, decoder="pymatching", relative_error=0.1)
)
STATS = sinter.TaskStats(
    strong_id="a",
    decoder="b",
    json_metadata=None,
    shots=10,
    custom_counts=collections.Counter({"C1": 5, "E1": 2}),
)
GENERATOR = {"distance": 3, "p": 0.001, "gate": "T", "noise": "uniform"}


@dataclasses.dataclass(frozen=True)
class Call:
    """How a public function is called, and of what kinds its parameters are if the name does not tell."""

    function: Callable[..., Any]
    valid: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    kinds: Mapping[str, str | None] = dataclasses.field(default_factory=dict)

    @property
    def parameters(self) -> list[str]:
        found = inspect.signature(self.function).parameters.values()
        return [each.name for each in found if each.kind is not inspect.Parameter.VAR_KEYWORD]


def methods(thing: Any, names: str, **valid: Any) -> dict[str, Call]:
    """Methods of an object, each with these valid arguments."""
    return {f"{type(thing).__name__}.{name}": Call(getattr(thing, name), valid) for name in names.split()}


CALLS: dict[str, Call] = {
    "Circuit": Call(snc.Circuit),
    "Circuit.append": Call(
        lambda name="H", targets=(0,), arg=None, tag="": snc.Circuit().append(name, targets, arg, tag=tag),
        kinds={"name": "circuit", "targets": None},  # Stim says what is wrong with a target
    ),
    "Circuit.decision_model": Call(
        snc.Circuit("X_ERROR(0.1) 0\nM 0\nDETECTOR rec[-1]\nDECODE 0").decision_model,
        {"point": 0},
        {"point": "index", "records": "object or None"},
    ),
    "Circuit.insert": Call(lambda index=0, operation=CIRCUIT: CIRCUIT.copy().insert(index, operation)),
    "Circuit.pop": Call(lambda index=0: CIRCUIT.copy().pop(index)),
    "Circuit.append_from_stim_program_text": Call(
        lambda stim_program_text: snc.Circuit().append_from_stim_program_text(stim_program_text)
    ),
    "Circuit.from_file": Call(snc.Circuit.from_file),
    "Circuit.generated": Call(snc.Circuit.generated),
    "Circuit.from_qasm": Call(snc.Circuit.from_qasm, {"program": "qubit q;"}),
    "Circuit.from_qiskit": Call(
        snc.Circuit.from_qiskit, {"circuit": None}, {"circuit": "object", "noise_model": None}
    ),  # qiskit_noise says what is wrong with a noise model, and its tests need Aer
    "Circuit.from_cirq": Call(snc.Circuit.from_cirq, {"circuit": None}, {"circuit": "object"}),
    "Circuit.approx_equals": Call(CIRCUIT.approx_equals, {"other": CIRCUIT}, {"other": None}),
    "Circuit.diagram": Call(
        CIRCUIT.diagram,
        {"type": "timeslice-svg"},
        {"noise": "flag", "filter_coords": None},  # Stim says what is wrong with filter_coords
    ),
    **methods(
        CIRCUIT,
        "compile_detector_sampler compile_m2d_converter compile_sampler count_determined_measurements"
        " detector_error_model get_detector_coordinates likeliest_error_sat_problem missing_detectors"
        " pauli_twirl plan reference_detector_and_observable_signs reference_sample"
        " shortest_error_sat_problem state_vector to_file"
        " with_logical_readout",
    ),
    **methods(CLIFFORD, "to_tableau"),
    "Circuit.has_flow": Call(CLIFFORD.has_flow, {"flow": FLOW}, {"flow": None}),  # Stim says what is wrong
    "Circuit.has_all_flows": Call(CLIFFORD.has_all_flows, {"flows": [FLOW]}, {"flows": None}),
    "Circuit.solve_flow_measurements": Call(
        CLIFFORD.solve_flow_measurements, {"flows": [FLOW]}, {"flows": None}
    ),
    "Circuit.time_reversed_for_flows": Call(
        CLIFFORD.time_reversed_for_flows, {"flows": [FLOW]}, {"flows": None}
    ),
    **methods(CIRCUIT, "fault_distance", postselection_mask="all"),
    **methods(CIRCUIT, "error_budget", by="noise", shots=10, seed=1),
    **methods(CIRCUIT, "logical_error_rate", postselection_mask="all", seed=1),
    **methods(CIRCUIT, "outcome_probabilities", postselection_mask="all", faults=[]),
    **methods(CIRCUIT, "page", postselection_mask="all", seed=1, file="/dev/null"),
    **methods(CIRCUIT, "with_faults", faults=[]),
    "Circuit.malignant_sets": Call(
        CIRCUIT.malignant_sets, {"postselection_mask": "all"}, {"max_weight": "integer or None"}
    ),
    "Circuit.to_crumble_url": Call(CIRCUIT.to_crumble_url, {}, {"mark": None}),  # Stim says what is wrong
    "Circuit.to_qasm": Call(NOISELESS.to_qasm),
    "logical_error_rates": Call(
        snc.logical_error_rates, {"circuits": [CIRCUIT], "postselection_mask": "all"}
    ),
    "EngineOptions": Call(EngineOptions),
    **methods(DETECTORS, "iter_kept"),
    **methods(
        DETECTORS,
        "sample sample_bit_packed sample_counts sample_expectation_values sample_failures sample_kept",
        shots=3,
    ),
    **methods(RECORDS, "sample sample_bit_packed sample_expectation_values", shots=3),
    **methods(DETECTORS, "sample_write", shots=3, filepath="/dev/null"),
    **methods(RECORDS, "sample_write", shots=3, filepath="/dev/null"),
    **methods(DETECTORS, "seek", shot=3),
    **methods(RECORDS, "seek", shot=3),
    "LogicalErrorRate.failures": Call(lambda count=10: DECODED().failures(count)),
    "LogicalErrorRate.error_budget": Call(lambda by: RATE().error_budget(by)),
    **methods(COUNTS, "interval"),
    "SampleCounts.to_sinter": Call(COUNTS.to_sinter, {"json_metadata": {"p": 0.1}}, {"decoder": "text"}),
    "DifferenceBudget.largest": Call(
        lambda count: CIRCUIT.error_budget("noise", shots=10, seed=1).largest(count)
    ),
    "ErrorBudget.largest": Call(lambda count: RATE().error_budget("noise").largest(count)),
    **methods(CIRCUIT.plan(), "table"),
    "SoftPostselectSampler": Call(sinter_plugin.SoftPostselectSampler),
    "SoftDecodingSampler": Call(sinter_plugin.SoftDecodingSampler, {}, {"decoder": "decoder"}),
    "task": Call(sinter_plugin.task, {"circuit": CIRCUIT}, {"json_metadata": None}),
    "collect": Call(sinter_plugin.collect, {"tasks": [TASK]}),
    "ChromobiusGapDecoder": Call(sinter_plugin.ChromobiusGapDecoder),
    **methods(sinter_plugin.ChromobiusGapDecoder(), "compile_decoder_for_dem"),
    **methods(sinter_plugin.DesaturatedGapDecoder(), "compile_decoder_for_dem postselected_detectors"),
    **methods(sinter_plugin.MatchingGapDecoder(), "compile_decoder_for_dem"),
    "HeraldedMatchingDecoder": Call(sinter_plugin.HeraldedMatchingDecoder, {"heralds": [1]}),
    **methods(sinter_plugin.HeraldedMatchingDecoder([1]), "compile_decoder_for_dem"),
    "sinter_plugin.herald_detectors": Call(sinter_plugin.herald_detectors),
    "LogicalStateCheck": Call(
        sinter_plugin.LogicalStateCheck,
        {"expectation_values": (0,), "observables": (0,), "weights": (1.0,)},
        {"expectation_values": "integers"},
    ),
    "gap_points": Call(sinter_plugin.gap_points, {"stats": STATS}),
    "gap_calibration": Call(sinter_plugin.gap_calibration, {"stats": STATS}),
    "read_gap_stats": Call(lambda paths: sinter_plugin.read_gap_stats(paths)),
    "write_gap_points": Call(
        sinter_plugin.write_gap_points, {"stats": [STATS], "path": "/dev/null"}, {"stats": "circuits"}
    ),
    "CompiledSoftPostselectSampler.sample": Call(
        sinter_plugin.SoftPostselectSampler().compiled_sampler_for_task(TASK).sample
    ),
    "CompiledSoftPostselectSampler.sample_range": Call(
        sinter_plugin.SoftPostselectSampler().compiled_range_sampler_for_task(TASK, seed=1).sample_range,
        {"first_shot": 0, "shots": 3},
    ),
    "cultivation_circuit": Call(cultivation.cultivation_circuit),
    "end_to_end_circuit": Call(cultivation.end_to_end_circuit, {}, {"rounds": "integer"}),
    "cultivation.circuit_file_name": Call(cultivation.circuit_file_name, GENERATOR),
    "cultivation.circuit_statistics": Call(cultivation.circuit_statistics),
    "QubitCalibration": Call(device_noise.QubitCalibration, {"T1": 1.0}, {"t_error": "probability or None"}),
    **methods(device_noise.QubitCalibration(T1=1.0), "relaxation relaxing slow_turn"),
    "PairCalibration": Call(device_noise.PairCalibration),
    "DeviceNoise": Call(
        device_noise.DeviceNoise, {"qubits": {}, "pairs": {}}, {"qubits": "object", "pairs": "object"}
    ),
    "DeviceNoise.from_csv": Call(device_noise.DeviceNoise.from_csv, {"path": "/dev/null"}),
    "DeviceNoise.from_json": Call(device_noise.DeviceNoise.from_json, {"path": "/dev/null"}),
    "DeviceNoise.from_qiskit": Call(
        device_noise.DeviceNoise.from_qiskit,
        {"target": None},
        {"target": "object", "two_qubit_gate": None, "virtual_gates": None},
    ),
    **methods(device_noise.DeviceNoise({}, {}), "apply", circuit="TICK"),
    "DeviceNoise.pair": Call(
        device_noise.DeviceNoise({}, {}).pair,
        {"first": 0, "second": 1},
        {"first": "integer", "second": "integer"},
    ),
    "distillation_circuit": Call(
        distillation.distillation_circuit, {"t_error": 0.01}, {"k": "integer or None", "teleported": "flag"}
    ),
    "logical_circuit": Call(
        logical.logical_circuit,
        {"rotations": [(0.125, "Z")], "magic": "cultivated", "magic_error": 1e-6},
        {
            "rotations": "object",
            "measurements": "object",
            "distance": "distance",
            "magic_error": "probability or None",
        },
    ),
    "logical_fidelity": Call(
        logical.logical_fidelity,
        {
            "rotations": [(0.125, "Z")],
            "shots": 10,
            "seed": 1,
            "magic": "cultivated",
            "magic_error": 1e-6,
        },
        {
            "rotations": "object",
            "measurements": "object",
            "distance": "distance",
            "magic_error": "probability or None",
        },
    ),
    "ideal_distribution": Call(
        logical.ideal_distribution,
        {"rotations": [(0.125, "Z")], "measurements": ["Z"]},
        {"rotations": "object", "measurements": "object"},
    ),
    "operation_counts": Call(
        logical.operation_counts,
        {"rotations": [(0.125, "Z")]},
        {"rotations": "object", "measurements": "object", "distance": "distance"},
    ),
    "operation_errors": Call(
        logical.operation_errors,
        {"fidelities": [logical.LogicalFidelity(0.9, 0.01, 100, 100, {"T": 1})], "kinds": ["T"]},
        {"fidelities": "object", "kinds": "object"},
    ),
    "OperationErrors.infidelity": Call(
        logical.operation_errors([logical.LogicalFidelity(0.9, 0.01, 100, 100, {"T": 1})], ["T"]).infidelity,
        {"operations": {"T": 2}},
        {"operations": "object"},
    ),
    "program_of": Call(logical.program_of, {"circuit": "T 0"}),
    "circuit_of_program": Call(
        logical.circuit_of_program,
        {"rotations": [(0.125, "Z")], "measurements": ["Z"]},
        {"rotations": "object", "measurements": "object"},
    ),
    "logical.circuit_file_name": Call(
        logical.circuit_file_name,
        {"name": "bell", **GENERATOR, "magic": "cultivated", "magic_error": 1e-6},
        {"name": "text", "distance": "distance", "magic_error": "probability or None"},
    ),
    "injection_circuit": Call(teleportation.injection_circuit),
    "teleportation_circuit": Call(
        teleportation.teleportation_circuit,
        {"magic": "cultivated", "magic_error": 1e-6},
        {"magic_error": "probability or None"},
    ),
    "teleportation.circuit_file_name": Call(
        teleportation.circuit_file_name,
        {**GENERATOR, "magic": "cultivated", "magic_error": 1e-6},
        {"magic_error": "probability or None"},
    ),
}


CASES = [
    (name, parameter)
    for name, call in CALLS.items()
    for parameter in call.parameters
    if call.kinds.get(parameter, "") is not None
]


@pytest.mark.parametrize(("name", "parameter"), CASES, ids=lambda part: part)
def test_wrong_arguments_are_named(name: str, parameter: str) -> None:
    call = CALLS[name]
    kind = call.kinds.get(parameter) or KINDS[parameter]
    for value in wrong_values(kind):
        with pytest.raises((TypeError, ValueError)) as caught:  # noqa: PT012
            found = call.function(**{**call.valid, parameter: value})
            pytest.fail(f"{parameter}={value!r} is accepted: {str(found)[:200]}")
        message = str(caught.value)
        assert parameter in message, f"{value!r}: {type(caught.value).__name__}: {message}"
        last = traceback.extract_tb(caught.value.__traceback__)[-1]
        assert any(part in last.filename for part in ("/stim_nonclifford/", "/sinter_plugin/"))
        assert (last.line or "").startswith("raise"), f"{value!r}: {last.filename}:{last.lineno}: {message}"


WITHOUT_CHECKS = {
    "CompiledCircuit": "its methods take what the compiler makes, not what a user has",
    "CompiledChromobiusGap": "a decoder makes it, and Sinter calls it with rows of its own",
    "CompiledDesaturatedGap": "the same",
    "CompiledHeraldedMatching": "the same",
    "CompiledMatchingGap": "the same",
    "ConfidentDecoder": "a protocol, which others implement",
    "CompiledDetectorSampler.__init__": "Circuit.compile_detector_sampler calls it",
    "CompiledMeasurementSampler.__init__": "Circuit.compile_sampler calls it",
    "CompiledSoftDecodingSampler": "the same methods as of CompiledSoftPostselectSampler",
    "CompiledSoftPostselectSampler.__init__": "SoftPostselectSampler calls it",
    "DifferenceBudget.plot": "matplotlib checks the axes",
    "ErrorBudget.plot": "the same",
    "LogicalErrorRate.plot": "the same",
    "LogicalStateCheck.check_circuit": "a sampler calls it, and the two below",
    "LogicalStateCheck.failures": "the same",
    "LogicalStateCheck.fidelities": "the same",
    "SamplingPlan.row_of": "engines call it",
    "SoftDecodingSampler.check": "collect calls it",
    "SoftPostselectSampler.check": "the same",
    "SoftDecodingSampler.compiled_sampler_for_task": "Sinter calls it with its own tasks",
    "SoftPostselectSampler.compiled_sampler_for_task": "the same",
    "SoftDecodingSampler.compiled_range_sampler_for_task": "collect calls it with tasks and a seed",
    "SoftPostselectSampler.compiled_range_sampler_for_task": "the same",
    "sinter_plugin.error_rate": "`sinter plot` calls it with a row",
}
"""Public functions that are not checked here, and why."""


def public_functions() -> Iterator[str]:
    """The names of all public functions that have parameters, with the class if they are methods."""
    for place, thing in PUBLIC.items():
        *_, short, name = place.split(".")
        if inspect.isclass(thing):
            results = dataclasses.is_dataclass(thing) and f"{name}" not in CALLS  # no user makes them
            if "__init__" in vars(thing) and not results:
                yield name if name in CALLS else f"{name}.__init__"
            # Python 3.13 takes a cached property for a routine.
            routines = (
                (method, each)
                for method, each in inspect.getmembers(thing, inspect.isroutine)
                if callable(each)
            )
            for method, function in routines:
                own = str(getattr(function, "__module__", "")).startswith((snc.__name__, "sinter_plugin"))
                if own and not method.startswith("_") and parameters_of(function):
                    yield f"{name}.{method}"
        elif inspect.isfunction(thing) and parameters_of(thing):
            yield name if name in CALLS else f"{short}.{name}"


def parameters_of(function: Callable[..., Any]) -> list[str]:
    return [
        each.name
        for each in inspect.signature(function).parameters.values()
        if each.name != "self" and each.kind is not inspect.Parameter.VAR_KEYWORD
    ]


def test_every_public_function_is_called_with_wrong_arguments() -> None:
    names = set(public_functions())
    assert len(names) > 60
    checked = {*CALLS, *WITHOUT_CHECKS}
    assert {
        name for name in names if name not in checked and name.split(".")[0] not in WITHOUT_CHECKS
    } == set()
