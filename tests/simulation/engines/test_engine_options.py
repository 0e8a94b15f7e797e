"""The options of engines: one definition, and every signature that has them agrees with it."""

import dataclasses
import inspect
from collections.abc import Callable
from typing import Any, get_args, get_type_hints

import pytest

import stim_nonclifford as snc
from sinter_plugin import SoftPostselectSampler
from stim_nonclifford.simulation.engines import EngineName, EngineOptions

FIELDS = {field.name: field for field in dataclasses.fields(EngineOptions)}


@pytest.mark.parametrize(
    ("signature", "shared"),
    [
        (snc.Circuit.compile_sampler, set(FIELDS)),
        (snc.Circuit.compile_detector_sampler, set(FIELDS)),
        (SoftPostselectSampler, {"engine", "device"}),
    ],
)
def test_signatures_agree_with_the_definition(signature: Callable[..., Any], shared: set[str]) -> None:
    parameters = inspect.signature(signature).parameters
    hints = get_type_hints(signature)
    expected = get_type_hints(EngineOptions)
    assert set(parameters) & set(FIELDS) == shared
    for name in shared:
        assert parameters[name].default == FIELDS[name].default, name
        assert hints[name] == expected[name], name


@pytest.mark.parametrize("compile_it", [snc.Circuit.compile_sampler, snc.Circuit.compile_detector_sampler])
def test_wrong_options_are_refused_before_anything_is_compiled(compile_it: Callable[..., Any]) -> None:
    circuit = snc.Circuit("H 0 1 2\nT 0 1 2\nMPP X0*X1*X2\nDETECTOR rec[-1]\nOBSERVABLE_INCLUDE(0) rec[-1]")
    with pytest.raises(snc.ResourceLimitError):
        compile_it(circuit, max_active_coordinates=1)
    for wrong in ({"engine": "qpu"}, {"threads": 0}, {"cache_bytes": -1}, {"engine": "cpu", "device": 0}):
        [name] = wrong.keys() - {"engine"} or {"engine"}
        with pytest.raises(ValueError, match=name):
            compile_it(circuit, max_active_coordinates=1, **wrong)


def test_engines_that_the_types_name_are_those_that_there_are() -> None:
    circuit = snc.Circuit("RX 0\nT 0\nMX 0")
    for engine in get_args(EngineName):
        try:
            sampler = circuit.compile_sampler(engine=engine, seed=1)
        except snc.EngineUnavailableError:
            assert engine == "gpu"
            continue
        assert sampler.sample(10).shape == (10, 1)
