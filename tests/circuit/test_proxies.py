"""Clifford stand-ins, and what Stim computes from them."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import stim

from stim_nonclifford import Circuit

TEXT = """
    QUBIT_COORDS(1, 2) 0
    R 0 1 2
    S[T] 0
    REPEAT 2 {
        SPP_DAG[T] X0*Z1
        I[R_X(theta=0.1*pi)] 2
        DEPOLARIZE1(0.01) 0 1
        TICK
    }
    I[U3(theta=0.5*pi, phi=0*pi, lambda=1*pi)] 1
    SPP[R_PAULI(theta=0.1*pi)] X1*Y2
    CX sweep[3] 2
    MR 2
    DETECTOR(4, 5) rec[-1]
    M 0 1
    OBSERVABLE_INCLUDE(0) rec[-1]
"""


@pytest.mark.parametrize(
    ("proxy", "t", "tpp"), [("s_proxy", "S 0", "SPP_DAG X0*Z1"), ("i_proxy", "I 0", "I 0 1")]
)
def test_proxies(proxy: str, t: str, tpp: str) -> None:
    """T is S or the identity, rotations are the nearest Clifford gates, and the tags of other instructions stay."""
    circuit = Circuit(TEXT + "H[mine] 0\nTICK[yours]")
    plain = str(circuit.to_stim())
    for tagged, stand_in in {
        "S[T] 0": t,
        "SPP_DAG[T] X0*Z1": tpp,
        "I[R_X(theta=0.1*pi)] 2": "I 2",
        "I[U3(theta=0.5*pi, phi=0*pi, lambda=1*pi)] 1": "H 1",
        "SPP[R_PAULI(theta=0.1*pi)] X1*Y2": "I 1 2",
    }.items():
        assert tagged in plain
        plain = plain.replace(tagged, stand_in)
    assert getattr(circuit, proxy)() == stim.Circuit(plain)


@pytest.mark.parametrize(
    "line", ["CS rec[-1] 1", "C_SPP rec[-1] Z1*Z2", "C_SPP_DAG rec[-1] !Z1*Z2", "C_R_ZZ(1.5) rec[-1] 1 2"]
)
def test_z_stands_for_conditional_s(line: str) -> None:
    qubits = (1, 2) if "C_" in line else (1,)
    expected = "CZ " + " ".join(f"rec[-1] {qubit}" for qubit in qubits)
    assert Circuit(f"M 0\n{line}").s_proxy() == stim.Circuit(f"M 0\n{expected}")


@pytest.mark.parametrize(
    "line", ["CT rec[-1] 1", "C_R_ZZ(0.25) rec[-1] 1 2", "C_SPP rec[-1] X1*Z2", "C_H rec[-1] 1"]
)
def test_other_conditional_gates_have_no_stand_in(line: str) -> None:
    with pytest.raises(ValueError, match="has no stand-in in the S-proxy"):
        Circuit(f"M 0\n{line}").s_proxy()


@pytest.mark.parametrize(
    "ask",
    [
        lambda c: c.num_ticks,
        lambda c: c.num_sweep_bits,
        lambda c: c.num_qubits,
        lambda c: c.get_detector_coordinates(),
        lambda c: c.get_detector_coordinates(only=[0]),
        lambda c: c.get_final_qubit_coordinates(),
        lambda c: c.count_determined_measurements(),
        lambda c: c.count_determined_measurements(unknown_input=True),
        lambda c: c.detecting_regions(),
        lambda c: str(c.explain_detector_error_model_errors()),
        lambda c: str(c.shortest_graphlike_error(canonicalize_circuit_errors=True)),
        lambda c: c.missing_detectors(),
    ],
)
def test_answers_are_those_of_the_s_proxy(ask: Callable[[Any], Any]) -> None:
    circuit = Circuit.generated(
        "repetition_code:memory", distance=3, rounds=3, before_measure_flip_probability=0.1
    )
    circuit.insert(2, Circuit("T_DAG 1 3\nTICK"))
    assert ask(circuit) == ask(circuit.s_proxy()) == ask(circuit.to_stim())


def test_unknown_input() -> None:
    circuit = Circuit("T 0\nM 0\nM 0\nDETECTOR rec[-1] rec[-2]")
    assert circuit.count_determined_measurements() == 2
    assert circuit.count_determined_measurements(unknown_input=True) == 1
    assert str(circuit.missing_detectors(unknown_input=False)) == "DETECTOR rec[-2]"
    assert not circuit.missing_detectors(unknown_input=True)


def test_search_for_undetectable_logical_errors() -> None:
    circuit = Circuit.generated(
        "surface_code:rotated_memory_z", distance=3, rounds=2, after_reset_flip_probability=0.1
    )
    arguments = {
        "dont_explore_detection_event_sets_with_size_above": 4,
        "dont_explore_edges_with_degree_above": 4,
        "dont_explore_edges_increasing_symptom_degree": False,
    }
    found = circuit.search_for_undetectable_logical_errors(**arguments)
    assert str(found) == str(circuit.to_stim().search_for_undetectable_logical_errors(**arguments))
    assert found


@pytest.mark.parametrize(
    "search",
    [
        lambda c: c.shortest_graphlike_error(),
        lambda c: c.explain_detector_error_model_errors(),
        lambda c: c.search_for_undetectable_logical_errors(
            dont_explore_detection_event_sets_with_size_above=4,
            dont_explore_edges_with_degree_above=4,
            dont_explore_edges_increasing_symptom_degree=False,
        ),
    ],
)
def test_searches_that_stim_refuses_say_why(search: Callable[[Any], Any]) -> None:
    circuit = Circuit(
        "RX 0 1\nT 0\nDEPOLARIZE1(0.1) 0\nMZZ 0 1\nMX 0 1\nDETECTOR rec[-3]\nOBSERVABLE_INCLUDE(0) rec[-1]"
    )
    with pytest.raises(ValueError, match=r"S in place of T.*L0 is random there.*fault_distance\(\)") as error:
        search(circuit)
    assert "\n" not in str(error.value)
    with pytest.raises(ValueError, match="non-deterministic") as stims:  # a Clifford circuit: Stim's message
        search(Circuit(circuit.s_proxy()))
    assert not str(stims.value).startswith("Stim searches")


CLIFFORD = "R 0 1\nX 1\nH 0\nCX 0 1\nMZZ 0 1\nM 1\nCX rec[-1] 0\nDETECTOR rec[-1] rec[-2]\nOBSERVABLE_INCLUDE(2) rec[-1]"

OF_CLIFFORD_CIRCUITS: dict[str, tuple[str, tuple[object, ...], dict[str, object]]] = {
    "to_tableau": ("H 0\nX_ERROR(0.1) 0\nCX 0 1", (), {"ignore_noise": True}),
    "has_flow": (CLIFFORD, (stim.Flow("1 -> Z1 xor rec[1]"),), {"unsigned": True}),
    "has_all_flows": (CLIFFORD, ([stim.Flow("1 -> Z1 xor rec[1]"), stim.Flow("1 -> Z0")],), {}),
    "flow_generators": (CLIFFORD, (), {}),
    "solve_flow_measurements": (CLIFFORD, ([stim.Flow("1 -> Z1"), stim.Flow("X0 -> X0")],), {}),
    "time_reversed_for_flows": (
        "R 0\nH 0\nM 1", ([stim.Flow("1 -> X0")],), {"dont_turn_measurements_into_resets": True}
    ),
    "with_inlined_feedback": ("R 0 1\nH 0\nM 0\nCX rec[-1] 1\nM 1\nDETECTOR rec[-1] rec[-2]", (), {}),
    "to_quirk_url": ("H 0\nCX 0 1", (), {}),
    "reference_detector_and_observable_signs": (CLIFFORD, (), {"bit_packed": True}),
}  # fmt: skip
"""A Clifford circuit and arguments for each method that only Clifford circuits have, and for the signs."""


@pytest.mark.parametrize("name", OF_CLIFFORD_CIRCUITS)
def test_methods_of_clifford_circuits_are_those_of_stim(name: str) -> None:
    text, arguments, keywords = OF_CLIFFORD_CIRCUITS[name]
    expected = getattr(stim.Circuit(text), name)(*arguments, **keywords)
    found = getattr(Circuit(text), name)(*arguments, **keywords)
    if isinstance(expected, stim.Circuit):
        assert isinstance(found, Circuit)
        assert found == Circuit(expected)
    elif name == "reference_detector_and_observable_signs":
        for one, other in zip(found, expected, strict=True):
            assert one.dtype == other.dtype
            np.testing.assert_array_equal(one, other)
    elif isinstance(expected, tuple):
        assert found[0] == Circuit(expected[0])
        assert found[1:] == expected[1:]
    else:
        assert found == expected
        assert type(found) is type(expected)


@pytest.mark.parametrize(
    "line", ["T 0", "CS rec[-1] 0", "AMPLITUDE_DAMPING(0.1) 0", "M(0.1, 0.2) 0", "M[DECODE] 0"]
)
@pytest.mark.parametrize("name", [name for name in OF_CLIFFORD_CIRCUITS if not name.startswith("reference")])
def test_other_circuits_have_no_such_methods(name: str, line: str) -> None:
    _, arguments, keywords = OF_CLIFFORD_CIRCUITS[name]
    circuit = Circuit(f"H 0\nREPEAT 2 {{\n    M 1\n    {line}\n}}")
    with pytest.raises((ValueError, NotImplementedError), match=r"line 4|DECODE"):
        getattr(circuit, name)(*arguments, **keywords)


def test_signs_of_a_circuit_with_t_gates() -> None:
    circuit = Circuit(
        "RX 0\nT 0\nZ 0\nT 0\nS_DAG 0\nMX 0\nDETECTOR rec[-1]\nX 1\nM 1\nOBSERVABLE_INCLUDE(1) rec[-1]"
    )
    detectors, observables = circuit.reference_detector_and_observable_signs()
    assert (detectors.tolist(), observables.tolist()) == ([True], [False, True])


def test_every_method_of_stim_is_there_or_says_why_not() -> None:
    for name in dir(stim.Circuit):
        if not name.startswith("_") and not hasattr(Circuit, name):
            with pytest.raises(
                AttributeError, match=rf"has no {name}, which Stim has deprecated. Call circuit"
            ):
                getattr(Circuit("T 0"), name)
    with pytest.raises(AttributeError, match="no attribute 'to_tableaux'"):
        Circuit("T 0").to_tableaux()
    assert not hasattr(Circuit("T 0"), "_no_such_thing")


def test_deprecated_names_of_methods() -> None:
    for name, other in (("append_operation", "append"), ("flattened_operations", "flattened")):
        with pytest.raises(AttributeError, match=rf"no {name}, .* deprecated\. Call circuit\.{other}\."):
            getattr(Circuit("T 0"), name)
        assert hasattr(Circuit, other)
