"""Error models for decoders: Stim's own without T gates, conditioned on postselection, and decomposed."""

import itertools
import warnings
from typing import Any

import numpy as np
import pytest
import stim

import sinter_plugin
import stim_nonclifford as snc
from stim_nonclifford.simulation.compiler.error_models import conditioned, decomposed
from stim_nonclifford.simulation.noise_events import noise_events, usual_effects

from ..support.rates.error_models import largest_difference, symptoms
from ..support.texts.memory_circuits import memory

TASKS = ("surface_code:rotated_memory_x", "repetition_code:memory", "color_code:memory_xyz")
FLAGS = (
    "decompose_errors", "flatten_loops", "allow_gauge_detectors", "approximate_disjoint_errors",
    "ignore_decomposition_failures", "block_decomposition_from_introducing_remnant_edges",
)  # fmt: skip


def noisy(task: str, distance: int = 3, rounds: int = 20, p: float = 0.01) -> stim.Circuit:
    return memory(task, distance, rounds, gates=p, reads=p)


def outcome(circuit: Any, **arguments: Any) -> tuple[str, str]:
    try:
        return "model", str(circuit.detector_error_model(**arguments))
    except ValueError as error:
        return "refused", str(error)


@pytest.mark.parametrize("task", TASKS)
def test_without_t_gates_every_argument_is_that_of_stim(task: str) -> None:
    circuit = noisy(task)
    for values in itertools.product([False, True], repeat=len(FLAGS)):
        arguments = dict(zip(FLAGS, values, strict=True))
        assert outcome(snc.Circuit(circuit), **arguments) == outcome(circuit, **arguments), arguments


@pytest.mark.parametrize(
    "text",
    [
        "PAULI_CHANNEL_1(0.1, 0.2, 0.02) 0\nM 0\nDETECTOR rec[-1]",
        "HERALDED_ERASE(0.1) 0\nM 0\nDETECTOR rec[-1] rec[-2]",
        "E(0.3) X0\nELSE_CORRELATED_ERROR(0.2) X1\nM 0 1\nDETECTOR rec[-1]\nOBSERVABLE_INCLUDE(2) rec[-2]",
        "H 0\nM 0\nDETECTOR(4) rec[-1]",
        "H 0\nM 0\nOBSERVABLE_INCLUDE(0) rec[-1]",
        "DEPOLARIZE1(0.9) 0\nM 0\nDETECTOR rec[-1]",
    ],
)
@pytest.mark.parametrize("approximate", [False, 0.15, True])
@pytest.mark.parametrize("gauges", [False, True])
def test_stims_refusals(text: str, approximate: float, gauges: bool) -> None:
    arguments = {"approximate_disjoint_errors": approximate, "allow_gauge_detectors": gauges}
    assert outcome(snc.Circuit(text), **arguments) == outcome(stim.Circuit(text), **arguments)


@pytest.mark.filterwarnings("ignore::stim_nonclifford.InexactErrorModelWarning")
def test_with_t_gates_it_is_that_of_the_proxy() -> None:
    circuit = snc.Circuit("H 0\nT 0\nX_ERROR(0.125) 0\nT_DAG 0\nH 0\nM 0\nDETECTOR rec[-1]")
    assert str(circuit.detector_error_model()) == "error(0.125) D0"
    assert circuit.detector_error_model() == circuit.s_proxy().detector_error_model()
    # X T X becomes a superposition of I and Z behind T_DAG, of which neither is certain.
    assert circuit.detector_error_model(kind="noise_only").num_errors == 0


def test_a_random_proxy_is_refused_with_the_alternative() -> None:
    circuit = snc.Circuit("H 0\nT 0\nH 0\nX_ERROR(0.25) 0\nM 0\nDETECTOR rec[-1]")
    with pytest.raises(
        ValueError, match=r'S-proxy.*: D0 is random there\. kind="noise_only" exists'
    ) as error:
        circuit.detector_error_model()
    assert "\n" not in str(error.value)
    with pytest.warns(snc.InexactErrorModelWarning):
        assert str(circuit.detector_error_model(kind="noise_only")) == "error(0.25) D0\ndetector D0"


class TestQuantumDetectors:
    """Detectors that no error model describes, and the warning about them."""

    CIRCUIT = (
        "RX 0\nX_ERROR(0.1) 1\nM 1\nDETECTOR rec[-1]\nT 0\nY_ERROR(0.1) 0\nT_DAG 0\nMX 0\nDETECTOR rec[-1]"
    )

    def warnings_of(self, circuit: snc.Circuit, **arguments: Any) -> list[str]:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            circuit.detector_error_model(**arguments)
        assert all(warning.category is snc.InexactErrorModelWarning for warning in caught)
        assert all(warning.filename == __file__ for warning in caught)
        return [str(warning.message) for warning in caught]

    @pytest.mark.parametrize("kind", ["s_proxy", "noise_only"])
    def test_one_warning_names_them(self, kind: Any) -> None:
        circuit = snc.Circuit(self.CIRCUIT)
        assert circuit.quantum_detectors().tolist() == [False, True]
        [message] = self.warnings_of(circuit, kind=kind)
        assert "1 of 2, first D1" in message
        assert self.warnings_of(circuit, kind=kind, postselection_mask=np.array([False, True])) == []
        assert len(self.warnings_of(circuit, kind=kind, postselection_mask=np.array([True, False]))) == 1

    def test_none_where_noise_alone_decides(self) -> None:
        for text in (
            "RX 0\nY_ERROR(0.1) 0\nMX 0\nDETECTOR rec[-1]",
            "X_ERROR(0.1) 0\nM 0\nDETECTOR rec[-1]\nRX 0\nT 0\nY_ERROR(0.1) 0\nT_DAG 0\nMX 0\nOBSERVABLE_INCLUDE(0) rec[-1]",
        ):
            circuit = snc.Circuit(text)
            assert not circuit.quantum_detectors().any()
            assert not any("Detectors depend" in message for message in self.warnings_of(circuit))

    def test_none_about_circuits_that_cannot_be_sampled(self) -> None:
        wide = (
            "RX 0\nT 0\nH 0\n" * 3 + "R 0\nM 0\nDETECTOR rec[-1]\nREPEAT 1000000000000 {\n    T 0\n    M 0\n}"
        )
        circuit = snc.Circuit(wide)
        with pytest.raises(snc.ResourceLimitError):
            circuit.quantum_detectors()
        assert self.warnings_of(circuit) == []

    def test_sinter_tasks_and_decoders_do_not_repeat_it(self) -> None:
        text = "X_ERROR(0.1) 0\nM 0\nDETECTOR rec[-1]\nRX 1\nT 1\nMX 1\nDETECTOR rec[-1]\nOBSERVABLE_INCLUDE(0) rec[-2]"
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            task = sinter_plugin.task(snc.Circuit(text))
            assert caught == []
            sinter_plugin.SoftDecodingSampler(error_model="noise_only").compiled_sampler_for_task(task)
        [warning] = caught
        assert warning.category is snc.InexactErrorModelWarning


def test_qubits_with_large_numbers() -> None:
    text = "X_ERROR(0.25) {0}\nCX {0} 5\nM 5 {0}\nDETECTOR rec[-1]\nDETECTOR rec[-2]"
    assert (
        snc.Circuit(text.format(16_000_000)).detector_error_model()
        == stim.Circuit(text.format(6)).detector_error_model()
    )


class TestNoiseOnly:
    """The model that exists for every circuit."""

    def test_exclusive_errors_need_leave_to_be_approximated(self) -> None:
        text = "T 0\nPAULI_CHANNEL_1(0.125, 0.25, 0) 1\nMPP X1*X2 Z1*Z2\nDETECTOR rec[-1]\nDETECTOR rec[-2]"
        both = snc.Circuit("H 2\nCX 2 1\n" + text)
        with pytest.raises(ValueError, match="Add the argument approximate_disjoint_errors=True"):
            both.detector_error_model(kind="noise_only")
        with pytest.raises(ValueError, match=r"argument \(0.25\) larger than .* threshold \(0.2\)"):
            both.detector_error_model(kind="noise_only", approximate_disjoint_errors=0.2)
        approximate = both.detector_error_model(kind="noise_only", approximate_disjoint_errors=True)
        assert symptoms(approximate) == {0b01: 0.125, 0b11: 0.25}
        # Heralded errors whose herald nobody reads are independent.
        exact = snc.Circuit("H 1\nT 1\nHERALDED_ERASE(0.5) 0\nM 0\nDETECTOR rec[-1]")
        assert str(exact.detector_error_model(kind="noise_only")) == "error(0.25) D0\ndetector D0"

    def test_fair_random_outcomes_are_errors(self) -> None:
        circuit = snc.Circuit("H 0\nT 1\nM 0\nM 0\nDETECTOR rec[-1]\nDETECTOR rec[-2]")
        assert symptoms(circuit.detector_error_model(kind="noise_only")) == {0b11: 0.5}

    def test_errors_with_the_same_effect_are_one(self) -> None:
        circuit = snc.Circuit("T 1\nREPEAT 3 {\nY_ERROR(0.5) 0\n}\nM 0\nDETECTOR rec[-1]")
        assert str(circuit.detector_error_model(kind="noise_only")) == "error(0.5) D0\ndetector D0"
        # Two exclusive errors, at two places.
        circuit = snc.Circuit("T 1\nPAULI_CHANNEL_1(0.1, 0.2, 0) 0 0\nM 0\nDETECTOR rec[-1]")
        expected = 2 * 0.3 * (1 - 0.3)
        assert symptoms(circuit.detector_error_model(kind="noise_only")) == {1: pytest.approx(expected)}

    def test_it_is_decomposed(self) -> None:
        """Without knowledge of the channels: the same errors as Stim's."""
        circuit = noisy("surface_code:rotated_memory_x", distance=3, rounds=5, p=0.004)
        stims = circuit.detector_error_model(decompose_errors=True, flatten_loops=True)
        ours = snc.Circuit(circuit).detector_error_model(kind="noise_only", decompose_errors=True)
        assert largest_difference(symptoms(ours), symptoms(stims)) < 1e-12
        assert ours.get_detector_coordinates() == stims.get_detector_coordinates()


class TestConditioned:
    """Errors that discard the shot are left out."""

    @pytest.mark.parametrize("kind", ["s_proxy", "noise_only"])
    @pytest.mark.parametrize(
        "noise", ["X_ERROR(0.9) 0 1", "E(0.9) X0\nE(0.1) X2\nELSE_CORRELATED_ERROR(0.9) X1"]
    )
    def test_errors_that_are_likelier_than_none(self, kind: Any, noise: str) -> None:
        """Each is an error of its own: D1 usually fires in the shots without D0, too."""
        circuit = snc.Circuit(f"{noise}\nM 0 1\nDETECTOR rec[-2]\nDETECTOR rec[-1]")
        model = circuit.detector_error_model(
            kind=kind, postselection_mask=np.array([True, False]), approximate_disjoint_errors=True
        )
        assert symptoms(model) == {0b10: pytest.approx(0.9 if "E(" not in noise else 0.81)}

    def test_they_are_the_usual_results_of_draws(self) -> None:
        """Seed 3. Of channels, readout and chains with every choice of the likeliest result."""
        rng, num_usual = np.random.default_rng(3), 0
        for _ in range(40):
            p, q, r = rng.uniform(0, 1, 3).round(3)
            circuit = snc.Circuit(
                f"REPEAT 2 {{\nE({p}) X0\nM({r}) 2\nDEPOLARIZE1({0.75 * q}) 0\nPAULI_CHANNEL_1({p / 3}, {r / 2}, 0) 1 2\n"
                f"ELSE_CORRELATED_ERROR({q}) Y1\nELSE_CORRELATED_ERROR({r}) Y1 X2\nX_ERROR({q}) 1\n}}\nM 0 1 2\n"
                + "\n".join(f"DETECTOR rec[-{k}]" for k in range(1, 6))
            )
            compiled = circuit.compile()
            draws = noise_events(compiled).draws
            usual = [compiled.faults[draw.faults[draw.usual]].effect for draw in draws if draw.usual]
            assert sorted(usual_effects(compiled)) == sorted(usual)
            num_usual += len(usual)
        assert num_usual > 100

    def test_errors_that_discard_need_not_be_decomposed(self) -> None:
        """Stim finds parts of D0 D1 D2 D3 only where one of them occurs as an error of its own."""
        circuit = snc.Circuit(
            "E(0.25) X0 X1 X2 X3\nE(0.125) X4 X5\nM 0 1 2 3 4 5\n"
            + "\n".join(f"DETECTOR rec[{k - 6}]" for k in range(6))
        )
        silent = np.arange(6)
        for kind in ("s_proxy", "noise_only"):
            arguments: dict[str, Any] = {"kind": kind, "decompose_errors": True}
            for mask in (None, silent == 4):
                with pytest.raises(ValueError, match="failed to decompose is 'D0, D1, D2, D3'") as caught:
                    circuit.detector_error_model(postselection_mask=mask, **arguments)
                assert kind == "s_proxy" or "instruction #" not in str(caught.value)
                circuit.detector_error_model(
                    postselection_mask=mask, ignore_decomposition_failures=True, **arguments
                )
            model = circuit.detector_error_model(postselection_mask=silent == 3, **arguments)
            assert symptoms(model) == {0b110000: pytest.approx(0.125)}
            assert model.num_detectors == 6

    def test_parts_that_flip_a_silent_detector_twice_are_joined(self) -> None:
        model = stim.DetectorErrorModel("error(0.25) D0 D1 ^ D1 D2 L1 ^ D3\nerror(0.125) D1 L0")
        assert str(conditioned(model, {1})) == ("error(0.25) D0 D2 L1 ^ D3\ndetector D1")


class TestGivenModel:
    """A model of one's own is conditioned and decomposed."""

    CIRCUIT = snc.Circuit("H 0\nT 0\nM 1 2 3\nDETECTOR rec[-1]\nDETECTOR rec[-2]\nDETECTOR rec[-3]")

    def test_it_is_conditioned(self) -> None:
        model = stim.DetectorErrorModel("error(0.25) D0 D1\nerror(0.25) D2")
        found = self.CIRCUIT.detector_error_model(
            kind=model, postselection_mask=np.array([1, 0, 0], dtype=bool)
        )
        assert symptoms(found) == {0b100: 0.25}
        assert self.CIRCUIT.detector_error_model(kind=model) == model

    def test_parts_that_it_suggests_are_kept(self) -> None:
        model = stim.DetectorErrorModel("error(0.25) D0 D1 ^ D2\nerror(0.125) D0 ^ D1 D2")
        assert self.CIRCUIT.detector_error_model(kind=model, decompose_errors=True) == model
        raw = stim.DetectorErrorModel("error(0.25) D0 D1 D2\nerror(0.125) D0 D1")
        assert str(decomposed(raw)).splitlines()[:2] == ["error(0.125) D0 D1", "error(0.25) D0 D1 ^ D2"]

    def test_of_another_circuit(self) -> None:
        with pytest.raises(ValueError, match=r"observables\) = \(1, 1\), but this circuit has \(3, 0\)"):
            self.CIRCUIT.detector_error_model(kind=stim.DetectorErrorModel("error(0.25) D0 L0"))
