"""What users get from the public names is public too, and documented."""

from __future__ import annotations

import dataclasses
import inspect
import typing
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from stim_nonclifford.simulation.compiler import CompiledCircuit
from stim_nonclifford.simulation.plan import SamplingPlan

from ..support.public_names import PUBLIC

# The methods and attributes of these are for those who look inside.
INSIDES = {CompiledCircuit, SamplingPlan}


CLASSES = {name: value for name, value in PUBLIC.items() if inspect.isclass(value)}


def own_methods(cls: type) -> Iterator[tuple[str, Callable[..., Any]]]:
    """The public methods and properties of a class that this project defines."""
    for name in dir(cls):
        found = inspect.getattr_static(cls, name)
        function = getattr(found, "fget", None) or getattr(found, "func", None) or getattr(cls, name)
        ours = str(getattr(function, "__module__", "")).split(".")[0] in ("stim_nonclifford", "sinter_plugin")
        if ours and not name.startswith("_") and inspect.isroutine(function):
            yield name, function


FUNCTIONS = {
    **{name: value for name, value in PUBLIC.items() if inspect.isfunction(value)},
    **{
        f"{name}.{method}": function
        for name, cls in CLASSES.items()
        if cls not in INSIDES
        for method, function in own_methods(cls)
    },
}


def classes_in(hint: Any) -> Iterator[type]:
    """The classes that a type is made of."""
    if inspect.isclass(hint):
        yield hint
    for part in (typing.get_origin(hint), *typing.get_args(hint)):
        if part is not None:
            yield from classes_in(part)


def assert_public(hint: Any) -> None:
    for cls in classes_in(hint):
        if cls.__module__.split(".")[0] in ("stim_nonclifford", "sinter_plugin"):
            assert cls in CLASSES.values(), f"{cls.__module__}.{cls.__qualname__} is not in the reference"


def test_there_is_much_to_look_at() -> None:
    assert {"stim_nonclifford.Circuit.plan", "stim_nonclifford.Circuit.append"} <= set(FUNCTIONS)
    assert "stim_nonclifford.circuit.plan_report.PlanReport.peak_width" in FUNCTIONS
    assert len(FUNCTIONS) > 60


@pytest.mark.parametrize("name", FUNCTIONS)
def test_what_functions_return_is_public_and_documented(name: str) -> None:
    function = FUNCTIONS[name]
    assert function.__doc__, name
    hints = typing.get_type_hints(function)
    assert "return" in hints, name
    assert_public(hints["return"])


@pytest.mark.parametrize("name", CLASSES)
def test_classes_are_documented_with_their_attributes(name: str) -> None:
    cls = CLASSES[name]
    assert cls.__doc__, name
    if dataclasses.is_dataclass(cls):
        for field in dataclasses.fields(cls):
            if not field.name.startswith("_"):
                assert f"{field.name}:" in cls.__doc__, f"{name}.{field.name}"
        if cls not in INSIDES:
            for attribute, hint in typing.get_type_hints(cls).items():
                if not attribute.startswith("_"):
                    assert_public(hint)
