"""DEPOLARIZE3 and PAULI_CHANNEL_3: their order, their distribution, and what Stim is given for them."""

import itertools
from math import isclose

import numpy as np
import pytest
import stim

import stim_nonclifford as snc

from ..support.laws.records import assert_records_agree
from ..support.oracle.density_matrix import record_distribution
from ..support.texts.instruction_lines import three_qubit_channel

WORDS = ["".join(letters) for letters in itertools.product("IXYZ", repeat=3)][1:]
BITS = {"I": (0, 0), "X": (0, 1), "Y": (1, 1), "Z": (1, 0)}
"""Of each Pauli on one qubit of a Bell pair, the outcomes of XX and ZZ."""


def on_bell_pairs(channel: str) -> snc.Circuit:
    """A channel on halves of three Bell pairs, and the six outcomes that tell which Pauli happened."""
    return snc.Circuit(
        f"RX 0 1 2\nCX 0 3 1 4 2 5\n{channel} 0 1 2\n"
        + "\n".join(f"MPP X{q}*X{q + 3} Z{q}*Z{q + 3}" for q in range(3))
    )


@pytest.mark.parametrize("engine", ["cpu", "reference"])
def test_order(engine: str) -> None:
    """Argument k is the probability of the k-th of IIX, IIY, IIZ, IXI, ..., ZZZ; the first letter is qubit 0's."""
    for word in WORDS:
        circuit = on_bell_pairs(three_qubit_channel({word: 1.0}))
        shots = circuit.compile_sampler(seed=1, engine=engine).sample(3)
        assert np.array_equal(shots, [[bit for letter in word for bit in BITS[letter]]] * 3), word


def test_text_and_tag() -> None:
    circuit = snc.Circuit("DEPOLARIZE3(0.1) 0 1 2 5 4 3")
    assert circuit.to_stim() == stim.Circuit("I_ERROR[DEPOLARIZE3(p=0.1)] 0 1 2 5 4 3")
    assert circuit.pauli_twirl() == circuit
    values = [k / 1e4 + 1 / 3e9 for k in range(63)]
    appended = snc.Circuit()
    appended.append("PAULI_CHANNEL_3", [2, 0, 1], values)
    assert snc.Circuit(str(appended)) == appended
    assert appended.to_stim()[0].tag == f"PAULI_CHANNEL_3({', '.join(map(repr, values))})"
    with pytest.raises(ValueError, match="groups of 3 different qubits; got 0 1"):
        appended.append("DEPOLARIZE3", [0, 1], 0.1)


INDEPENDENT = three_qubit_channel({"IXI": 0.18, "ZII": 0.08, "ZXI": 0.02})
DISJOINT = three_qubit_channel({"IXI": 0.3, "ZYI": 0.2, "XXX": 0.1})


@pytest.mark.parametrize("channel", ["DEPOLARIZE3(0.3)", INDEPENDENT, DISJOINT])
def test_what_stim_is_given_has_the_same_distribution(channel: str) -> None:
    circuit = snc.Circuit(f"RX 0\nCX 0 1\nH 2\n{channel} 2 0 1 1 2 0\nMPP X0*X1 Z0*Z1 X2")
    proxy = circuit.s_proxy()
    assert not any(part.name == "I_ERROR" for part in proxy)
    assert circuit.i_proxy() == proxy
    found, wanted = record_distribution(proxy), record_distribution(circuit.to_stim())
    assert sum(p > 1e-3 for p in wanted.values()) > 3
    for record in found | wanted:
        assert isclose(found.get(record, 0.0), wanted.get(record, 0.0), abs_tol=1e-12)
    assert_records_agree(circuit)


def errors_of(model: stim.DetectorErrorModel) -> dict[str, float]:
    return {
        " ".join(map(str, part.targets_copy())): part.args_copy()[0] for part in model if part.type == "error"
    }


OUTPUTS = "M 0 1 2\n" + "\n".join(f"DETECTOR rec[-{k}]" for k in (1, 2, 3))


def test_error_models() -> None:
    """On two of the three qubits it is DEPOLARIZE2, and Stim's own model; p/63 on all is seven errors."""
    pairs = {f"{a}{b}I": 0.3 / 15 for a in "IXYZ" for b in "IXYZ" if a + b != "II"}
    circuit = snc.Circuit(f"R 0 1 2\n{three_qubit_channel(pairs)} 0 1 2\n{OUTPUTS}")
    wanted = stim.Circuit(f"R 0 1 2\nDEPOLARIZE2(0.3) 0 1\n{OUTPUTS}").detector_error_model()
    for kind in ("s_proxy", "noise_only"):
        found = errors_of(circuit.detector_error_model(kind=kind))
        assert found == pytest.approx(errors_of(wanted), rel=1e-12)
    model = snc.Circuit(f"R 0 1 2\nDEPOLARIZE3(0.1) 0 1 2\n{OUTPUTS}").detector_error_model()
    # Eight of the 64 Paulis flip the same outcomes: 1 - 2 q is the eighth power of 1 - 2 e, and that of four of
    # the seven is a character, 1 - 64 p / 63.
    q = (1 - (1 - 64 * 0.1 / 63) ** (1 / 4)) / 2
    assert list(errors_of(model).values()) == pytest.approx([q] * 7, rel=1e-9)


def test_exclusive_errors_are_approximated_if_asked_for() -> None:
    """As PAULI_CHANNEL_2 in Stim, but only where no independent errors have the same distribution."""
    circuit = snc.Circuit(f"R 0 1 2\n{DISJOINT} 0 1 2\n{OUTPUTS}")
    for kind in ("s_proxy", "noise_only"):
        with pytest.raises(ValueError, match="approximate_disjoint_errors"):
            circuit.detector_error_model(kind=kind)
    two = f"PAULI_CHANNEL_2({', '.join({3: '0.3', 13: '0.2'}.get(k, '0') for k in range(15))}) 0 1"
    same = three_qubit_channel({"XII": 0.3, "ZYI": 0.2})
    found = snc.Circuit(f"R 0 1 2\n{same} 0 1 2\n{OUTPUTS}").detector_error_model(
        approximate_disjoint_errors=True
    )
    wanted = stim.Circuit(f"R 0 1 2\n{two}\n{OUTPUTS}").detector_error_model(approximate_disjoint_errors=True)
    assert errors_of(found) == pytest.approx(errors_of(wanted), rel=1e-12)
    assert snc.Circuit(f"R 0 1 2\n{INDEPENDENT} 0 1 2\n{OUTPUTS}").detector_error_model()


def test_no_chain_is_ended_by_what_stim_is_given() -> None:
    apart = snc.Circuit("E(0.1) X0\nDEPOLARIZE3(0.1) 0 1 2\nELSE_CORRELATED_ERROR(0.5) X1\nM 0 1")
    with pytest.raises(ValueError, match="Move the instructions in between"):
        apart.s_proxy()
    together = snc.Circuit("E(0.1) X0\nELSE_CORRELATED_ERROR(0.5) X1\nDEPOLARIZE3(0.1) 0 1 2\nM 0 1")
    assert together.s_proxy().num_measurements == 2


def test_faults_and_budget() -> None:
    """The error of a logical CCZ on bare qubits: 56 of the 63 Paulis flip an outcome."""
    text = "R 0 1 2\nCCZ 0 1 2\nDEPOLARIZE3(0.063) 0 1 2\nM 0 1 2\n"
    circuit = snc.Circuit(text + "\n".join(f"OBSERVABLE_INCLUDE({k}) rec[-{k + 1}]" for k in range(3)))
    faults = circuit.faults()
    assert len(faults) == 63
    assert {(fault.instruction, fault.targets) for fault in faults} == {("DEPOLARIZE3", (0, 1, 2))}
    assert "DEPOLARIZE3 0 1 2: X0*Y1*Z2" in "\n".join(map(str, faults))
    rate = circuit.logical_error_rate()
    assert rate.logical_error_rate == pytest.approx(0.056, rel=1e-9)
    for by, name in (("place", "CCZ 0-1-2, tick 0"), ("instruction", "line 3: DEPOLARIZE3(0.063)")):
        [group] = rate.error_budget(by).groups
        assert (group.group, group.share) == (name, pytest.approx(1))


def test_an_error_that_is_likelier_than_none() -> None:
    circuit = snc.Circuit(f"R 0 1 2\n{three_qubit_channel({'XII': 0.9})} 0 1 2\n{OUTPUTS}")
    one = stim.Circuit(f"R 0 1 2\nX_ERROR(0.9) 0\n{OUTPUTS}")
    for kind in ("s_proxy", "noise_only"):
        found = errors_of(circuit.detector_error_model(kind=kind))
        assert found == pytest.approx(errors_of(one.detector_error_model()), rel=1e-12)
