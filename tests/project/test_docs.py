"""Pages that are generated are what their generators write, and speak of tests that exist."""

import importlib.util
import re
import sys
from pathlib import Path
from types import FrameType, ModuleType

import pytest
import stim

import sinter_plugin
import stim_nonclifford
import stim_nonclifford.simulation.compiler
from stim_nonclifford.generators import cultivation, distillation, teleportation
from stim_nonclifford.simulation.compiler.program.extent import MAX_SECONDS
from stim_nonclifford.simulation.compiler.sweeps.backward_sweep import MAX_EFFECT_BYTES
from stim_nonclifford.simulation.engines.auto import START_SECONDS

from ..support.public_names import PUBLIC
from ..support.texts.instruction_lines import CONDITIONAL, NON_CLIFFORD
from .test_architecture import NATIVE_ROOMS, ROOMS

DOCS = Path(__file__).parents[2] / "docs"
PAGES = [
    *DOCS.rglob("*.md"),
    *DOCS.glob("tutorials/*.ipynb"),
    *(
        DOCS.parent / folder / "README.md"
        for folder in (
            ".", "examples", "circuits/cultivation", "circuits/distillation", "circuits/teleportation",
        )
    ),
]  # fmt: skip


def generator(name: str) -> ModuleType:
    """A module of docs/site/, which is no package."""
    spec = importlib.util.spec_from_file_location(name, DOCS / "site" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_pictures_are_fresh() -> None:
    drawn = dict(generator("make_pictures").pictures())
    files = (*DOCS.glob("pictures/**/*.svg"), *DOCS.parent.glob("circuits/*/pictures/*.svg"))
    assert {file: file.read_text(encoding="utf-8") for file in files} == drawn, (
        "run python docs/site/make_pictures.py"
    )


def test_a_rate_goes_the_way_that_internals_describes() -> None:
    page = (DOCS / "developers" / "internals.md").read_text(encoding="utf-8")
    section = page.split("## A rate's way")[1].split("\n## ")[0]
    described = set(re.findall(r"`((?:circuit|rates)/\w[\w/]*\.py)`", section))
    described.remove("rates/samplers/backward_deletion.py")  # only for rarer failures than this circuit has
    text = str(
        stim.Circuit.generated(
            "surface_code:rotated_memory_z", distance=3, rounds=3, after_clifford_depolarization=1e-3
        )
    )
    package = Path(stim_nonclifford.__file__).parent
    entered: set[str] = set()

    def note(frame: FrameType, event: str, _: object) -> None:
        path = Path(frame.f_code.co_filename)
        if event == "call" and path.is_relative_to(package):
            entered.add(path.relative_to(package).as_posix())

    circuit = stim_nonclifford.Circuit(text)
    circuit.logical_error_rate(decoder="pymatching", seed=1)  # what is imported is not followed
    before = sys.getprofile()
    sys.setprofile(note)
    try:
        circuit.logical_error_rate(decoder="pymatching", seed=1)
    finally:
        sys.setprofile(before)
    assert {name for name in entered if name.startswith(("circuit/", "rates/"))} == described
    assert len(described) <= 25


def test_every_picture_is_shown() -> None:
    shown = {
        (page.parent / name).resolve()
        for page in PAGES
        for name in re.findall(r"\(((?:\.\./)?pictures/.*?\.svg)\)", page.read_text(encoding="utf-8"))
    }
    assert shown == {file for file, _ in generator("make_pictures").pictures()}


def test_every_public_name_is_in_the_reference() -> None:
    exported = {
        f"{package.__name__}.{name}"
        for package in (stim_nonclifford, sinter_plugin, cultivation, distillation, teleportation)
        for name in package.__all__
        if not name.startswith("__")
    }
    assert exported <= PUBLIC.keys()


def test_instructions_that_are_said_to_be_refused_are_refused() -> None:
    page = (DOCS / "start" / "coming_from.md").read_text(encoding="utf-8")
    block = page.split("are refused here, with an error that names the line:\n\n```\n")[1].split("```")[0]
    for instruction in block.splitlines():
        with pytest.raises(ValueError, match="Line 1"):
            stim_nonclifford.Circuit(instruction)
    assert len(block.splitlines()) >= 2


def test_table_of_instructions_is_fresh() -> None:
    page = (DOCS / "reference" / "instructions.md").read_text(encoding="utf-8")
    assert page == generator("make_instructions").table(), "run python docs/site/make_instructions.py"
    sections = dict(re.findall(r"^## (.*)\n((?:(?!## ).*\n)*)", page, re.MULTILINE))
    rows = {title: re.findall(r"^\| ([A-Z]\w*)", text, re.MULTILINE) for title, text in sections.items()}
    [listed] = re.findall(r"^As in Stim: (.*)\. And", sections["Stim's instructions"], re.MULTILINE)
    assert sorted([*listed.split(", "), *rows["Stim's instructions"]]) == sorted(stim.gate_data())
    assert set(rows["Non-Clifford gates"]) == set(NON_CLIFFORD)
    records = sections["Gates controlled by records"]
    regular = [
        name for names in re.findall(r"^\* .*`: (.*)\.$", records, re.MULTILINE) for name in names.split(", ")
    ]
    assert {*regular, *rows["Gates controlled by records"]} <= set(CONDITIONAL)
    assert len(regular) > 20


def test_links_of_the_readme_lead_somewhere() -> None:
    for page in PAGES:
        text = re.sub(r"`[^`\n]*`", "", page.read_text(encoding="utf-8"))  # tags look like links
        for link in re.findall(r"\]\(([^)#]+)", text):
            if not link.startswith("http"):
                assert (page.parent / link).exists(), f"{page.name}: {link}"


def test_source_files_that_pages_name_exist() -> None:
    folders = [
        DOCS.parent / name for name in ("stim_nonclifford", "sinter_plugin", "tests", "examples", "docs")
    ]
    sources = [f"/{path.relative_to(DOCS.parent)}" for folder in folders for path in folder.rglob("*.*")]
    named = [
        (page.name, name)
        for page in PAGES
        for name in re.findall(r"`([\w/]+\.(?:py|h|cc|cu|ipynb))`", page.read_text(encoding="utf-8"))
    ]
    assert len(named) > 20
    assert [place for place in named if not any(path.endswith(f"/{place[1]}") for path in sources)] == []


def test_passes_of_the_compiler_are_listed_in_their_order() -> None:
    page = (DOCS / "developers" / "internals.md").read_text(encoding="utf-8")
    listed = re.findall(r"^\d+\. \*\*.*?\*\* \(`(\w+)\.py`\)", page, re.MULTILINE)
    described = re.findall(
        r"^\d+\. +``(\w+)``", stim_nonclifford.simulation.compiler.__doc__ or "", re.MULTILINE
    )
    assert listed == described
    assert len(listed) >= 10


def test_rooms_are_listed_in_their_order() -> None:
    page = (DOCS / "developers" / "internals.md").read_text(encoding="utf-8")
    tables = re.findall(r"(?<=\|---\|---\|\n)(?:\|.*\n)+", page.split("## One shot's way")[0])
    rooms = [
        re.findall(r"`([\w/]+)(?:\.py)?`", re.sub(r"(\n\| [^|]*\|).*", r"\1", f"\n{table}"))
        for table in tables
    ]
    python = dict.fromkeys(room.split(".")[0] for room in ROOMS if room != "_native")
    inner = dict.fromkeys(
        ".".join(room.split(".")[:2]) for room in ROOMS if re.match("simulation.|rates.", room)
    )
    assert rooms == [list(python), [room.split(".")[1] for room in inner], list(NATIVE_ROOMS)]


def test_limits_are_those_of_the_code() -> None:
    """A page that says how long or how much says what the code does."""
    questions = (DOCS / "methods" / "cost.md").read_text(encoding="utf-8")
    forecast = re.search(r"at least\s+(\d+) s by its own forecast", questions)
    assert forecast is not None
    assert int(forecast[1]) == MAX_SECONDS
    effects = re.search(r"the effects of noise would need more than (\d+) GiB", questions)
    assert effects is not None
    assert int(effects[1]) << 30 == MAX_EFFECT_BYTES
    seconds = {"twenty": 20.0}
    for page in ("guides/gpu.md", "start/which_tool.md"):
        text = (DOCS / page).read_text(encoding="utf-8")
        hand_over = re.search(r"more than (\w+) seconds (?:for all|on the CPU)", text)
        assert hand_over is not None, page
        assert seconds[hand_over[1]] == START_SECONDS
