"""Circuits with decisions where no decoder is asked, and decoders that do not answer as they should."""

import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import sinter
import stim

import stim_nonclifford as snc

TEXT = """
R 0 1 2
X_ERROR(0.1) 0
M 0
DETECTOR rec[-1]
T 2
DECODE 0
CX rec[-1] 1
M 1
OBSERVABLE_INCLUDE(0) rec[-1]
"""
CIRCUIT = snc.Circuit(TEXT)

ASKS_NO_DECODER: dict[str, Callable[[snc.Circuit], Any]] = {
    **{
        name: operator.methodcaller(name)
        for name in (
            "compile",
            "plan",
            "reference_sample",
            "compile_m2d_converter",
            "faults",
            "logical_error_rate",
            "fault_distance",
            "malignant_sets",
            "detector_error_model",
            "quantum_detectors",
            "quantum_observables",
            "explain_detector_error_model_errors",
            "shortest_graphlike_error",
            "shortest_error_sat_problem",
            "likeliest_error_sat_problem",
            "detecting_regions",
            "count_determined_measurements",
            "missing_detectors",
            "s_proxy",
            "i_proxy",
            "to_crumble_url",
            "to_cirq",
        )
    },
    "with_faults": lambda circuit: circuit.with_faults([]),
    "noise_only": lambda circuit: circuit.detector_error_model(kind="noise_only"),
    "to_qasm": lambda circuit: circuit.without_noise().to_qasm(),
    "state_vector": lambda circuit: circuit.without_noise().state_vector(),
}


@pytest.mark.parametrize("name", ASKS_NO_DECODER)
@pytest.mark.parametrize(
    "text", [TEXT, TEXT.replace("T 2", "TICK"), TEXT.replace("DECODE 0", "REPEAT 1 {\nDECODE 0\n}")]
)
def test_calls_that_ask_no_decoder_refuse_decisions(name: str, text: str) -> None:
    with pytest.raises(
        NotImplementedError, match=r"Line \d+: `M\[DECODE\] 0`: DECODE asks a decoder.*without_decisions"
    ):
        ASKS_NO_DECODER[name](snc.Circuit(text))


def test_the_remedies_work() -> None:
    assert CIRCUIT.without_decisions().detector_error_model().num_errors == 1
    for name in ("compile_sampler", "compile_detector_sampler"):
        compiles = getattr(CIRCUIT, name)
        with pytest.raises(ValueError, match=r"Line 6: `M\[DECODE\] 0`: the circuit asks a decoder"):
            compiles(seed=1)
        raw = compiles(seed=1, decoder="raw").sample(1000)
        assert np.array_equal(raw, getattr(CIRCUIT.without_decisions(), name)(seed=1).sample(1000))
        assert compiles(seed=1, decoder="pymatching").sample(10).shape == raw[:10].shape


def test_samplers_refuse_what_they_do_not_decide() -> None:
    sampler = CIRCUIT.compile_detector_sampler(seed=1, decoder="pymatching")
    with pytest.raises(NotImplementedError, match=r"sample_failures does not support.*sample_kept"):
        sampler.sample_failures(10)
    with pytest.raises(NotImplementedError, match="engine='cpu' or 'gpu'"):
        CIRCUIT.compile_sampler(decoder="pymatching", engine="trajectory")
    with pytest.raises(ValueError, match="The circuit has no DECODE"):
        snc.Circuit("M 0").compile_sampler(decoder="pymatching")


class _Answers:
    def __init__(self, answer: Any) -> None:
        self.answer = answer

    def begin(self, models: Any) -> None:
        pass

    def decide(self, number: int, detectors: Any) -> Any:
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer(len(detectors))


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (RuntimeError("no"), "Line 6: decision 0: the decoder raised RuntimeError: no"),
        (
            lambda n: np.zeros((n, 2), np.uint8),
            r"uint8 of shape \(5, 1\), but returned uint8 of shape \(5, 2\)",
        ),
        (lambda n: np.zeros(n, np.uint8), r"returned uint8 of shape \(5,\)"),
        (lambda n: np.zeros((n, 1), np.bool_), r"returned bool of shape \(5, 1\)"),
        (lambda n: [0] * n, r"returned \[0, 0, 0, 0, 0\]"),
    ],
)
def test_decoders_that_do_not_answer(answer: Any, message: str) -> None:
    sampler = CIRCUIT.compile_sampler(seed=1, decoder=_Answers(answer))
    with pytest.raises(ValueError, match=message):
        sampler.sample(5)
    # No shot is used up.
    assert sampler.next_shot == 0


class _WrongShape(sinter.Decoder):
    def compile_decoder_for_dem(self, *, dem: stim.DetectorErrorModel) -> Any:
        return self

    def decode_shots_bit_packed(self, *, bit_packed_detection_event_data: Any) -> Any:
        return np.zeros((1, 7), dtype=np.uint8)


@pytest.mark.parametrize(
    ("decoder", "message"),
    [
        ("pymatchng", "Did you mean pymatching"),
        (7, "neither a name, such as 'pymatching', nor a sinter.Decoder"),
        (_WrongShape, "is the class"),
        ({}, "DECODE does not say which of the decoders"),
        ({"a": "pymatching", "b": "raw"}, r"Write DECODE\(decoder=a\)"),
    ],
)
def test_arguments_that_are_no_decoder(decoder: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        CIRCUIT.compile_sampler(decoder=decoder)


def test_names_of_decoders() -> None:
    named = snc.Circuit(TEXT.replace("DECODE", "DECODE(decoder=fast)"))
    records = named.compile_sampler(seed=1, decoder={"fast": "pymatching", "slow": "raw"}).sample(100)
    assert np.array_equal(records, CIRCUIT.compile_sampler(seed=1, decoder="pymatching").sample(100))
    with pytest.raises(ValueError, match="names a decoder that is not known"):
        named.compile_sampler(decoder="pymatching")
    with pytest.raises(ValueError, match="has no such name"):
        named.compile_sampler(decoder={"fat": "pymatching"})
    wrong = CIRCUIT.compile_sampler(decoder=_WrongShape())
    with pytest.raises(ValueError, match="Line 6: decision 0: the decoder raised"):
        wrong.sample(5)


def test_axes_that_flip_what_the_decoder_of_the_end_sees() -> None:
    text = "RX 0\nM 1\nC_S rec[-1] 0\nX_ERROR(0.1) 0\nMX 0\nDETECTOR rec[-1]\nTICK\nDECODE 0"
    circuit = snc.Circuit(f"{text}\nM 1\nOBSERVABLE_INCLUDE(0) rec[-1]")
    circuit.compile_sampler(decoder="pymatching").sample(10)
    message = r"Line 3: `CS`: whether an error before this gate flips D0.*axis Z0.*decoder of the observables"
    with pytest.raises(NotImplementedError, match=message):
        circuit.logical_error_rate(decoder="pymatching")
    with pytest.raises(NotImplementedError, match="product of commuting rotations"):
        snc.Circuit("M 0\nC_H rec[-1] 1\nDECODE 1").compile_sampler(decoder="pymatching")


def test_points_and_models_by_number() -> None:
    assert CIRCUIT.decision_model(-1) == CIRCUIT.decision_model(0)
    with pytest.raises(IndexError, match="There is no decision 1: the circuit has 1"):
        CIRCUIT.decision_model(1)
    assert snc.Circuit("M 0").decision_points() == []


def test_what_comes_after_a_decision_is_no_part_of_it() -> None:
    with pytest.raises(ValueError, match=r"Line 3: `CX rec\[-1\] 1`: there is no measurement record"):
        snc.Circuit("R 0 1\nX_ERROR(0.1) 0\nCX rec[-1] 1\nDECODE 0").compile_sampler(decoder="pymatching")
    # Detectors behind the line are not seen, even if they have its own record alone.
    late = snc.Circuit("X_ERROR(0.2) 0\nDECODE 0\nDETECTOR rec[-1]\nM 0\nDETECTOR rec[-1]")
    assert late.decision_points()[0].num_detectors == 0
    records = late.compile_sampler(seed=1, decoder="pymatching").sample(1000)
    assert np.array_equal(records[:, 0], records[:, 1])
    assert records.any()
    # Its own record is a detector of the next one, as it was decided.
    text = "X_ERROR(0.2) 0\nM 0\nDETECTOR rec[-1]\nDECODE 0\nDETECTOR rec[-1]\nDECODE 0\nDETECTOR rec[-1]"
    dets = snc.Circuit(text).compile_detector_sampler(seed=1, decoder="pymatching").sample(1000)
    assert dets[:, 0].any()
    assert not dets[:, 1:].any()


def test_sweep_bits_are_zero() -> None:
    with_sweeps = TEXT.replace("M 0", "CX sweep[0] 1\nCZ sweep[3] 2\nM 0", 1)
    samples = [
        snc.Circuit(text).compile_detector_sampler(seed=1, decoder="pymatching").sample(200)
        for text in (TEXT, with_sweeps)
    ]
    assert np.array_equal(*samples)


class _Discards(sinter.Decoder):
    def compile_decoder_for_dem(self, *, dem: stim.DetectorErrorModel) -> Any:
        return self

    def decode_shots_bit_packed(self, *, bit_packed_detection_event_data: Any) -> Any:
        return np.array([[0, 255]] * len(bit_packed_detection_event_data), dtype=np.uint8)


def test_decisions_cannot_discard() -> None:
    with pytest.raises(ValueError, match=r"Line 6: decision 0: .*discards shots"):
        CIRCUIT.compile_sampler(seed=1, decoder=_Discards()).sample(5)
