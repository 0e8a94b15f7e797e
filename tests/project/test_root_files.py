"""The files for contributors, citations and releases say what is so."""

import re
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

import stim_nonclifford as snc
from stim_nonclifford.dialect import GateDefinition, RotationPart, gates
from stim_nonclifford.dialect.channels.table import CHANNELS
from stim_nonclifford.simulation.compiler import RequestedOutputs
from stim_nonclifford.simulation.engines import CpuEngine
from stim_nonclifford.simulation.plan import BLOCK_SHOTS

from ..support.engines.engine_cases import LAYERS
from ..support.public_names import PUBLIC

ROOT = Path(__file__).parents[2]
CONTRIBUTING = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
INTERNALS = (ROOT / "docs" / "developers" / "internals.md").read_text(encoding="utf-8")


def code_blocks(indentation: str) -> list[str]:
    """The Python of docs/developers/internals.md with this indentation."""
    fence = re.compile(rf"^{indentation}```python\n(.*?)^{indentation}```$", re.MULTILINE | re.DOTALL)
    return [re.sub(f"^{indentation}", "", code, flags=re.MULTILINE) for code in fence.findall(INTERNALS)]


def test_all_versions_are_the_same() -> None:
    declared = re.search(r'^version = "(.*)"$', (ROOT / "pyproject.toml").read_text(), re.MULTILINE)
    cited = re.search(r"^version: (.*)$", (ROOT / "CITATION.cff").read_text(), re.MULTILINE)
    changed = re.search(r"^## ([\d.]+)", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
    assert {match[1] for match in (declared, cited, changed) if match} == {snc.__version__}
    assert declared
    assert cited
    assert changed


def test_names_in_the_changelog_exist() -> None:
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    named = [name for name in re.findall(r"`([A-Za-z_.]+)`", text) if name[0].isupper() and name != "EXP_VAL"]
    assert len(named) >= 5
    public = {place.rpartition(".")[2]: thing for place, thing in PUBLIC.items()}
    for name in named:
        first, *rest = name.split(".")
        found = public.get(first)
        for part in rest:
            found = getattr(found, part, None)
        assert found is not None or name.removeprefix("U.") in {*gates.GATES, *CHANNELS}, name


def test_links_and_files_of_contributing_exist() -> None:
    links = re.findall(r"\]\(([^)#]+)\)", CONTRIBUTING)
    assert len(links) >= 3
    assert [link for link in links if not (ROOT / link).exists()] == []
    pages = CONTRIBUTING + INTERNALS
    named = re.findall(r"`((?:stim_nonclifford|tests|docs)/[\w/.]*)`", pages)
    named += re.findall(r"(?<=pytest )[\w./ ]+(?=`)", pages)
    assert len(named) >= 12
    assert [name for names in named for name in names.split() if not (ROOT / name).exists()] == []


@pytest.mark.parametrize(
    ("name", "file"),
    [
        ("PAULI_CHANNELS", "stim_nonclifford/simulation/compiler/program/channels.py"),
        ("channel_of_patterns", "stim_nonclifford/simulation/compiler/program/channels.py"),
        ("_HALF_FAULTS", "stim_nonclifford/simulation/compiler/program/extent.py"),
        ("_TAGS_OF_GATE", "tests/support/oracle/operators.py"),
        ("_HERALDED_CHANNELS", "tests/support/oracle/density_matrix.py"),
        ("EngineName", "stim_nonclifford/simulation/engines/options.py"),
        ("engine_factory", "stim_nonclifford/simulation/engines/__init__.py"),
    ],
)
def test_names_of_internals_are_in_their_files(name: str, file: str) -> None:
    assert f"`{name}`" in INTERNALS
    assert name in (ROOT / file).read_text(encoding="utf-8")


def test_the_example_of_a_gate_is_one() -> None:
    entries, channel = code_blocks("   ")
    names: dict[str, Any] = {"_t_gate": gates._t_gate}
    exec(entries, names)
    found: list[GateDefinition] = list(names["_DEFINITIONS"][1:])
    assert [gate.name for gate in found] == ["TX", "TX_DAG"]
    assert found[0].decomposition() == (RotationPart("X", 0.25),)
    assert [gate.inverse for gate in found] == ["TX_DAG", "TX"]
    assert not {gate.name for gate in found} & set(gates.GATES)
    channels = (ROOT / "stim_nonclifford/simulation/compiler/program/channels.py").read_text(encoding="utf-8")
    for line in channel.splitlines()[:2]:
        assert line in channels


def test_the_example_of_an_engine_returns_the_shots_of_the_others() -> None:
    (code,) = code_blocks("")
    names: dict[str, Any] = {}
    exec(code, names)
    names["BLOCK_SHOTS"] = (
        32  # where it divides a range changes nothing; so few shots have several such places
    )
    circuit = snc.Circuit(LAYERS)
    detectors, observables = (
        range(circuit.num_detectors),
        range(circuit.num_detectors, circuit.num_detectors + 2),
    )
    first, shots = BLOCK_SHOTS - 50, 150
    for requested in (
        RequestedOutputs.of([*detectors, *observables]),
        RequestedOutputs.of(observables, detectors),
    ):
        plan = circuit.compile().detector_plan(requested)
        engine, expected = names["BlockwiseEngine"](plan), CpuEngine(plan)
        assert engine.count(5, first, shots) == expected.count(5, first, shots)
        assert isinstance(engine.statistics(), dict)
        np.testing.assert_array_equal(
            engine.sample_kept(5, first, shots), expected.sample_kept(5, first, shots)
        )
        for found, wanted in zip(
            engine.sample_kept_numbered(5, first, shots),
            expected.sample_kept_numbered(5, first, shots),
            strict=True,
        ):
            np.testing.assert_array_equal(found, wanted)
        if not requested.postselected:
            np.testing.assert_array_equal(engine.sample(5, first, shots), expected.sample(5, first, shots))


def test_hooks_run_what_make_check_runs() -> None:
    hooks = re.findall(r"^ +entry: (.*)$", (ROOT / ".pre-commit-config.yaml").read_text(), re.MULTILINE)
    recipes = (ROOT / "Makefile").read_text().replace("$(BIN)", ".venv/bin")
    for hook in hooks[:3]:
        assert hook.removesuffix(" --force-exclude") in recipes
    assert hooks[3] == ".venv/bin/python docs/site/make_instructions.py"


def test_citation_has_what_its_format_requires() -> None:
    """The required keys of the Citation File Format 1.2.0, and the forms of its values."""
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    for found in (citation, *citation["references"]):
        assert {"title", "authors", "type"} <= found.keys()
        for author in found["authors"]:
            assert author.keys() <= {"name", "family-names", "given-names"}
    assert citation["cff-version"] == "1.2.0"
    assert citation["type"] == "software"
    assert citation["message"].startswith("If you use")
    assert citation["license"] in (ROOT / "pyproject.toml").read_text()
    is_released = ", unreleased" not in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert isinstance(citation.get("date-released"), date) == is_released
    for reference in citation["references"]:
        assert re.fullmatch(r"10\.\d{4,9}/\S+", reference["doi"])


def test_licences_of_what_wheels_contain() -> None:
    listed = re.search(r"^license-files = \[(.*)\]$", (ROOT / "pyproject.toml").read_text(), re.MULTILINE)
    assert listed
    texts = [(ROOT / name).read_text() for name in re.findall(r'"(.*?)"', listed[1])]
    assert len(texts) == 2
    for author in ("Wenzel Jakob", "Thibaut Goetghebuer-Planchon", "THE SOFTWARE IS PROVIDED"):
        assert author in texts[1]


def test_workflows_run_what_exists() -> None:
    """Scripts and targets; and every Python that is allowed and released is among the systems."""
    targets = set(re.findall(r"^(?:\.PHONY: )?([\w. /%-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    known = {name for line in targets for name in line.split()} | {".venv/requirements-test"}
    jobs = {}
    for path in sorted((ROOT / ".github/workflows").glob("*.yml")):
        workflow = yaml.safe_load(path.read_text(encoding="utf-8"))
        for name, job in workflow["jobs"].items():
            jobs[name] = job
            for command in (step.get("run", "") for step in job["steps"]):
                assert [
                    each for each in re.findall(r"\.ci/[\w.]+", command) if not (ROOT / each).is_file()
                ] == []
                if command.startswith("make "):
                    assert set(command.split()[1:]) <= known, command
    assert len(jobs) >= 12
    oldest = re.search(r'requires-python = ">=3\.(\d+)"', (ROOT / "pyproject.toml").read_text())
    assert oldest
    pythons = jobs["system"]["strategy"]["matrix"]["python"]
    assert pythons == [f"3.{minor}" for minor in range(int(oldest[1]), int(oldest[1]) + len(pythons))]
    assert jobs["without-a-compiler"]["strategy"]["matrix"]["python"] == pythons


def test_tests_of_sanitizers_exist() -> None:
    script = (ROOT / ".ci/sanitize").read_text()
    limits = re.search("^limits=(.*)$", script, re.MULTILINE)
    listed = re.search(r"^tests=\((.*?)\)$", script, re.MULTILINE | re.DOTALL)
    assert limits
    assert listed
    for test in listed[1].replace("$limits", limits[1]).split():
        path, _, name = test.partition("::")
        assert f"def {name}(" in (ROOT / path).read_text() if name else (ROOT / path).is_file(), test
