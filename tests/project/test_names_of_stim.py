"""What Stim and Sinter have under a public name, this package has, or it is listed here with the reason.

The tests compare with the releases that are installed. CI runs them with the newest pre-releases, too. A name
that a new release of Stim adds fails here, until it is offered or listed.
"""

import contextlib
import dataclasses
import inspect
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
import sinter
import stim

import sinter_plugin
from stim_nonclifford import Circuit
from stim_nonclifford.commands import main
from stim_nonclifford.simulation.sampling import CompiledDetectorSampler, CompiledMeasurementSampler

PAGE = (Path(__file__).parents[2] / "docs/developers/interface.md").read_text(encoding="utf-8")

CLASSES: dict[str, tuple[Any, Any]] = {
    "Circuit": (stim.Circuit, Circuit),
    "CompiledDetectorSampler": (stim.CompiledDetectorSampler, CompiledDetectorSampler),
    "CompiledMeasurementSampler": (stim.CompiledMeasurementSampler, CompiledMeasurementSampler),
}
"""Stim's classes that have a counterpart, and the counterparts."""

OTHER_NAMES = {
    "of instructions, targets and errors, which are Stim's objects here, too": (
        "CircuitErrorLocation CircuitErrorLocationStackFrame CircuitInstruction CircuitRepeatBlock "
        "CircuitTargetsInsideInstruction DemTarget DemTargetWithCoords ExplainedError FlippedMeasurement Flow "
        "GateTarget GateTargetWithCoords target_combined_paulis target_combiner target_inv "
        "target_logical_observable_id target_pauli target_rec target_relative_detector_id target_separator "
        "target_sweep_bit target_x target_y target_z"
    ),
    "of detector error models, which are Stim's": (
        "CompiledDemSampler DemInstruction DemRepeatBlock DetectorErrorModel"
    ),
    "what compile_m2d_converter returns": "CompiledMeasurementsToDetectionEventsConverter",
    "of Paulis and Clifford operations without a circuit": (
        "CliffordString PauliString PauliStringIterator Tableau TableauIterator"
    ),
    "simulates Clifford operations one call at a time, which T gates have no counterpart of": (
        "FlipSimulator TableauSimulator"
    ),
    "of Stim's gates; T gates are in docs/reference/instructions.md": "GateData gate_data",
    "of files of shots, which have Stim's formats here, too": "read_shot_data_file write_shot_data_file",
    "the command line, which is stim_nonclifford.commands.main here": "main",
}
"""Names of the module ``stim`` that this package leaves to Stim, by the reason."""

NO_METHODS = {
    "Circuit.append_operation": "Stim has deprecated it; an AttributeError names append",
    "Circuit.flattened_operations": "Stim has deprecated it; an AttributeError names flattened",
}
OTHER_ARGUMENTS = {
    "Circuit.__init__(stim_program_text)": "the argument may be a circuit, too, and is called circuit",
    "Circuit.diagram(filter_coords)": "None stands for all detectors, as Stim's ((),) does",
    "CompiledDetectorSampler.__init__(circuit)": "Circuit.compile_detector_sampler makes the sampler",
    "CompiledMeasurementSampler.__init__(circuit)": "Circuit.compile_sampler makes the sampler",
}
NO_COMMANDS = {
    "convert": "files of shots have Stim's formats: stim convert",
    "explain_errors": "Circuit.explain_detector_error_model_errors in Python",
    "gen": "of Clifford circuits: stim gen",
    "help": "--help, and --help after a command",
    "m2d": "Circuit.compile_m2d_converter in Python",
    "repl": "of Clifford circuits: stim repl",
    "sample_dem": "of error models, which are Stim's: stim sample_dem",
}
NO_ARGUMENTS_OF_SINTER = {
    "collect(allowed_cpu_affinity_ids)": "the system chooses the cores; taskset keeps a run on some of them",
    "collect(hint_num_tasks)": "the tasks are counted",
    "collect(max_batch_size)": "workers choose their batches; max_batch_seconds limits them",
    "collect(start_batch_size)": "workers choose their batches; max_batch_seconds limits them",
    "Task(circuit_path)": "circuit may be a path",
    "Task(detector_error_model)": "error_model of the sampler",
    "Task(skip_validation)": "tasks are checked",
}


def signature_of(text: str) -> inspect.Signature | None:
    """The signature in a line of documentation, such as ``sample(self: stim.X, shots: int) -> object``.

    None for lines that have none, or no names of parameters.
    """
    name, is_call, _ = text.partition("(")
    if not is_call or not name.isidentifier() or "*args" in text or "arg0: " in text:
        return None
    names: dict[str, Any] = {}
    code = (
        f"from __future__ import annotations\ndef {re.sub(r'self: [^,)]+', 'self', text.rstrip(':'))}: pass"
    )
    exec(code, names)
    return inspect.signature(names[name])


def documented_signatures(method: Callable[..., Any]) -> list[inspect.Signature]:
    """Those of one of Stim's methods: pybind's own, which has deprecated arguments, and the ones for users."""
    lines = (method.__doc__ or "").splitlines()
    texts = lines[:1] + [line.partition(" def ")[2] for line in lines if line.startswith(("@sig", "@over"))]
    return [found for text in texts if (found := signature_of(text))]


def parameters_of(method: Callable[..., Any]) -> Iterator[inspect.Parameter]:
    """The parameters of all documented signatures but ``self``."""
    for signature in documented_signatures(method):
        yield from (each for each in signature.parameters.values() if each.name != "self")


def positional(parameters: Mapping[str, inspect.Parameter]) -> list[str]:
    """The names of positional parameters."""
    return [each.name for each in parameters.values() if each.kind is inspect.Parameter.POSITIONAL_OR_KEYWORD]


def is_accepted(wanted: inspect.Parameter, ours: dict[str, inspect.Parameter]) -> bool:
    """Whether a call with a parameter of Stim's means the same here."""
    found = ours.get(wanted.name)
    if found is None:  # the method passes its keywords on to Stim
        return wanted.kind is inspect.Parameter.KEYWORD_ONLY and any(
            each.kind is inspect.Parameter.VAR_KEYWORD for each in ours.values()
        )
    is_required = wanted.default is inspect.Parameter.empty
    return found.kind is wanted.kind and (is_required or found.default == wanted.default)


def public_methods(cls: Any) -> list[str]:
    """The public names of a class, its constructor and its operators."""
    operators = {name for name in vars(cls) if re.fullmatch("__[a-z]+__", name)}
    return sorted({name for name in dir(cls) if not name.startswith("_")} | operators)


def shared_methods(name: str) -> Iterator[tuple[str, Any, dict[str, inspect.Parameter]]]:
    """Methods of a class that both have: the name, Stim's method and our parameters."""
    theirs, ours = CLASSES[name]
    for method in public_methods(theirs):
        of_stim = getattr(theirs, method)
        is_operator = method.startswith("__") and method != "__init__"
        if hasattr(ours, method) and callable(of_stim) and not is_operator:
            yield method, of_stim, dict(inspect.signature(getattr(ours, method)).parameters)


@pytest.mark.parametrize("name", CLASSES)
def test_methods_and_properties_exist(name: str) -> None:
    theirs, ours = CLASSES[name]
    missing = {f"{name}.{each}" for each in public_methods(theirs) if not hasattr(ours, each)}
    assert missing == {each for each in NO_METHODS if each.startswith(f"{name}.")}
    for each in public_methods(theirs):
        if not callable(getattr(theirs, each)) and not each.startswith("__"):
            assert isinstance(inspect.getattr_static(ours, each), property), each


@pytest.mark.parametrize("name", CLASSES)
def test_arguments(name: str) -> None:
    """Stim's parameters, of the same kind and with the same defaults; positional ones in the same order."""
    differing, compared = set(), 0
    for method, of_stim, ours in shared_methods(name):
        for parameter in parameters_of(of_stim):
            compared += 1
            if not is_accepted(parameter, ours):
                differing.add(f"{name}.{method}({parameter.name})")
        for signature in documented_signatures(of_stim):
            wanted = positional(signature.parameters)
            if method != "__init__":
                assert positional(ours)[: len(wanted)] == wanted, method
    assert compared >= 5
    assert differing == {each for each in OTHER_ARGUMENTS if each.startswith(f"{name}.")}


@pytest.mark.parametrize("name", CLASSES)
def test_further_arguments_are_keywords_with_defaults(name: str) -> None:
    """So that later releases of Stim can add positional ones."""
    for method, of_stim, ours in shared_methods(name):
        known = {"self", *(each.name for each in parameters_of(of_stim))}
        for each in ours.values():
            is_own = each.name not in known and each.kind is not inspect.Parameter.VAR_KEYWORD
            if is_own and method != "__init__":
                assert each.kind is inspect.Parameter.KEYWORD_ONLY, f"{method}({each.name})"
                assert each.default is not inspect.Parameter.empty, f"{method}({each.name})"


def test_every_name_of_the_module() -> None:
    listed = {name: reason for reason, names in OTHER_NAMES.items() for name in names.split()}
    assert {name for name in dir(stim) if not name.startswith("_")} == {*CLASSES, *listed}


def test_differences_stand_in_the_documentation() -> None:
    """On the page about the interface, each with its reason."""
    for names in OTHER_NAMES.values():
        for name in names.split():
            assert f"`{name}`" in PAGE or (name.startswith("target_") and "`target_…`" in PAGE), name
    for table in (NO_METHODS, OTHER_ARGUMENTS, NO_COMMANDS, NO_ARGUMENTS_OF_SINTER):
        for name, reason in table.items():
            assert f"| `{name}` | {reason} |" in PAGE, name


def test_commands_and_their_arguments(capfd: pytest.CaptureFixture[str]) -> None:
    """The commands of ``stim`` on the command line, and the arguments of those that exist in both."""

    def help_of_stim(topic: str) -> str:
        assert stim.main(command_line_args=["help", topic]) == 0
        return capfd.readouterr().out

    def own_help(*command: str) -> str:
        with contextlib.suppress(SystemExit):
            main([*command, "--help"])
        return capfd.readouterr().out

    theirs = set(re.findall(r"^    stim (\w+) +#", help_of_stim("commands"), re.MULTILINE))
    ours = set(re.findall(r"^  ([\w-]+)  ", own_help(), re.MULTILINE))
    assert theirs - ours == set(NO_COMMANDS)
    assert theirs & ours >= {"sample", "detect", "analyze_errors", "diagram"}
    for command in sorted(theirs & ours):
        wanted = re.findall(r"^    (--\w+)$", help_of_stim(command), re.MULTILINE)
        assert len(wanted) >= 5
        shown = own_help(command)
        assert [each for each in wanted if not re.search(rf"{each}\b", shown)] == [], command


def test_sinter() -> None:
    """The arguments of Sinter's functions that this package extends, and the methods of its samplers."""
    missing = {
        f"{place}({name})"
        for place, theirs, ours in (
            ("collect", sinter.collect, sinter_plugin.collect),
            ("Task", sinter.Task, sinter_plugin.task),
        )
        for name in inspect.signature(theirs).parameters
        if not name.startswith("_") and name not in inspect.signature(ours).parameters
    }
    assert missing == set(NO_ARGUMENTS_OF_SINTER)
    for sampler in sinter_plugin.sinter_samplers().values():
        assert isinstance(sampler, sinter.Sampler)
        assert {"count_detection_events", "count_observable_error_combos"} <= {
            field.name for field in dataclasses.fields(sampler)
        }
    for base, cls in (
        (sinter.Sampler, sinter_plugin.SoftPostselectSampler),
        (sinter.Sampler, sinter_plugin.SoftDecodingSampler),
        (sinter.CompiledSampler, type(compiled_sampler())),
    ):
        for name in dir(base):
            if not name.startswith("_"):
                theirs, ours = (inspect.signature(getattr(each, name)).parameters for each in (base, cls))
                assert list(ours) == list(theirs), name


def compiled_sampler() -> sinter.CompiledSampler:
    circuit = stim.Circuit("M 0\nDETECTOR rec[-1]\nOBSERVABLE_INCLUDE(0) rec[-1]")
    return sinter_plugin.SoftPostselectSampler().compiled_sampler_for_task(sinter.Task(circuit=circuit))


@pytest.mark.parametrize(
    ("text", "has_power"),
    [
        ("sample(self: stim.X, shots: int, *, bit_packed: bool = False) -> object", False),
        ("sample(self, shots: int, *, bit_packed: bool = True) -> np.ndarray:", True),
        ("sample(self, shots: int, *, fresh: bool = False) -> np.ndarray:", True),
        ("sample(self, shots: int, bit_packed: bool = False) -> np.ndarray:", True),
        ("sample(self, number: int) -> np.ndarray:", True),
    ],
)
def test_a_changed_signature_is_seen(text: str, has_power: bool) -> None:
    signature = signature_of(text)
    assert signature
    own = dict(inspect.signature(CompiledMeasurementSampler.sample).parameters)
    wanted = [each for each in signature.parameters.values() if each.name != "self"]
    assert all(is_accepted(each, own) for each in wanted) != has_power
