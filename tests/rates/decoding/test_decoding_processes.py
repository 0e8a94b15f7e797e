"""Processes that decode parts of batches: the same answers, the same errors, and none that is left behind."""

import os
import signal
import time
from typing import Any

import numpy as np
import pytest
import sinter
import stim

import stim_nonclifford as snc
from stim_nonclifford.rates.decoding import decoding_processes
from stim_nonclifford.rates.decoding.decoders import rate_decoder
from stim_nonclifford.rates.decoding.decoding_processes import DecodingProcesses
from tests.support.processes.stopped_calls import heard_soon, needs_timer
from tests.support.rates.decoded_rate_cases import surface_code


class _SlowMatching(sinter.CompiledDecoder):
    """PyMatching that takes its time, says in which process it is, and raises an error if all detectors fire."""

    def __init__(self, model: stim.DetectorErrorModel, seconds: float) -> None:
        self._matching = sinter.BUILT_IN_DECODERS["pymatching"].compile_decoder_for_dem(dem=model)
        self._seconds = seconds

    def decode_shots_bit_packed(self, *, bit_packed_detection_event_data: np.ndarray) -> np.ndarray:
        time.sleep(self._seconds * len(bit_packed_detection_event_data))
        if (bit_packed_detection_event_data == 255).all(axis=1).any():
            raise ArithmeticError("a byte of detection events")
        print("decoders may print")
        return self._matching.decode_shots_bit_packed(
            bit_packed_detection_event_data=bit_packed_detection_event_data
        )

    def decode_shots_bit_packed_with_confidence(
        self, *, bit_packed_detection_event_data: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Its confidence is the number of its process."""
        answers = self.decode_shots_bit_packed(
            bit_packed_detection_event_data=bit_packed_detection_event_data
        )
        return answers, np.full(len(answers), os.getpid())


class SlowMatching(sinter.Decoder):
    """A decoder that other processes can import."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds

    def compile_decoder_for_dem(self, *, dem: stim.DetectorErrorModel) -> sinter.CompiledDecoder:
        return _SlowMatching(dem, self._seconds)


MODEL = surface_code(0.01).detector_error_model(decompose_errors=True)


def events(shots: int) -> np.ndarray:
    return MODEL.compile_sampler(seed=5).sample(shots, bit_packed=True)[0]


def helped(decoder: Any, count: int) -> tuple[DecodingProcesses, Any, Any]:
    """Processes that have begun, and a decoder with and without their help, with how sure it is."""
    alone = rate_decoder(decoder, True).checked(MODEL).predict
    processes = DecodingProcesses([alone], count)
    shared = processes.shared(0)
    for _ in range(2):  # the first one takes the time after which processes are started
        shared(events(20))
    assert processes._beginning is not None
    processes._beginning.join(60)
    assert len(processes._ready) == count
    return processes, shared, alone


@pytest.fixture(autouse=True)
def _at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(decoding_processes, "_SECONDS_ALONE", 0.0)


def test_parts_are_decoded_by_several_processes_as_by_one() -> None:
    processes, shared, alone = helped(SlowMatching(5e-4), 1)
    with processes:
        dets = events(301)
        predictions, where = shared(dets)
        np.testing.assert_array_equal(predictions, alone(dets)[0])
        assert [int((where == pid).sum()) for pid in dict.fromkeys(where.tolist())] == [151, 150]
        assert len(set(shared(dets[:1])[1].tolist())) == 1  # one is not worth sending
        dets[250] = 255
        for _ in range(2):  # the error of another process, then its own
            with pytest.raises(
                ValueError,
                match=r"SlowMatching failed on .* with ArithmeticError: a byte of detection events",
            ):
                shared(dets)
            dets[0] = 255
        np.testing.assert_array_equal(shared(dets[1:200])[0], predictions[1:200])  # and it goes on
        os.kill(int(where[-1]), signal.SIGTERM)
        processes._started[0]._popen.wait(timeout=60)
        with pytest.raises(RuntimeError, match=r"A process that decodes has ended .*threads=1"):
            shared(dets[1:200])
    assert set(shared(dets[1:200])[1].tolist()) == {os.getpid()}
    with pytest.raises(OSError, match="No such process"):
        os.kill(int(where[-1]), 0)


def test_decoders_that_cannot_be_sent_are_asked_here() -> None:
    class Local(SlowMatching):
        """No other process can import it."""

    here = os.getpid()

    class Elsewhere(SlowMatching):
        """Other processes can unpickle it, but not compile it."""

        def __reduce__(self) -> Any:
            return int, ("no number",)

    local, elsewhere = Local(0.0), Elsewhere(0.0)
    for decoder in (local, elsewhere):
        predict = rate_decoder(decoder, True).checked(MODEL).predict
        with DecodingProcesses([predict], 1) as processes:
            shared = processes.shared(0)
            for _ in range(2):
                assert set(shared(events(50))[1].tolist()) == {here}
            assert processes._beginning is not None
            processes._beginning.join(60)
            assert bool(processes._started) == (decoder is elsewhere)
            assert processes._ready == []
            assert set(shared(events(50))[1].tolist()) == {here}


@needs_timer
def test_interrupt_ends_the_processes() -> None:
    """While both decode for a minute: what Ctrl-C raises gets through, and the other process ends."""
    processes, shared, _ = helped(SlowMatching(0.05), 1)
    helper = processes._started[0]._popen
    with processes, heard_soon():
        assert helper.poll() is None
        shared(events(2400))
    assert helper.poll() == -signal.SIGKILL
    assert len(shared(events(5))[0]) == 5  # alone


def test_rates_do_not_depend_on_the_number_of_threads() -> None:
    circuits = [surface_code(p) for p in (8e-3, 3e-3)]
    found = [
        snc.logical_error_rates(circuits, decoder="pymatching", relative_error=0.1, seed=3, threads=threads)
        for threads in (1, 2)
    ]
    for one, other in zip(*found, strict=True):
        assert one.logical_error_rate == other.logical_error_rate
        assert one.standard_error == other.standard_error
        assert one.decodes == other.decodes
