"""The T state of the compiler bloq: shots kept by the complementary gap, and the infidelity of what is kept.

    pip install bloq-py pymatching
    python -m examples.lattice_surgery.bloq_t_state [--d 5 7 9 11] [--attempts 2000000]
        [--compute_seconds 0] [--out FILE]

bloq compiles a cultivated T state that grows into a patch of a surface code, and ten rounds of memory. Its
circuit of T gates, in Clifft's text, is read as it is: bare T, EXP_VAL. Its Clifford companion says what the
decoder knows: cultivation has no noise there, as it postselects. A perfect round closes the memory.

An attempt is accepted if no postselected detector fires, and if the gaps of logical X and Z are both at least
THRESHOLDS, in PyMatching's units: logarithms of odds. Beside our numbers are those of bloq's tutorial "T
State Cultivation" (v0.1.1), from 2e7 attempts each with Clifft and a fork of PyMatching.

With ``--compute_seconds``, the infidelity is a sum over fault sets (``logical_error_rate``): the mean of
those by X_L and by Y_L alone. Attempts are then counted for the accepted share.
"""

from __future__ import annotations

import argparse
import importlib
import math
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import sinter
import stim
from numpy.typing import NDArray

import stim_nonclifford as snc
from stim_nonclifford.rates.decoding.kept_shot_decoding import ConfidentDecoder
from stim_nonclifford.rates.decoding.matching.matching_gap import MatchingGapDecoder

THRESHOLDS = {5: 12, 7: 11, 9: 11, 11: 11}
PUBLISHED = {
    5: (0.31319105, 6.386e-6, 1.517e-6),
    7: (0.39447890, 7.985e-6, 1.561e-6),
    9: (0.40051925, 7.865e-6, 1.528e-6),
    11: (0.40120605, 6.730e-6, 1.403e-6),
}
"""Accepted share, its infidelity, and half the width of that one's 95% interval."""

_NAT = 10 / math.log(10)
"""Decibels of a factor of e."""

_SURE = 10
"""The confidence of accepted attempts."""

_SHARES = (0.3, 0.7)
"""Parts of the time for logical X and Y: of accepted attempts (d=7), Y is flipped in five times as many."""


@dataclass(frozen=True)
class TState:
    """A circuit of a T state, and what is asked of its shots."""

    circuit: snc.Circuit  # observables 0 and 1: the records that say in which frame logical X and Y are
    decoder: FrameDecoder
    products: tuple[str, str]  # logical X and Y
    signs: tuple[int, int]  # of the expectation values of logical X and Y


@dataclass(frozen=True)
class FrameDecoder(sinter.Decoder):  # type: ignore[misc]
    """Predicts the flips of logical X and Y, and says whether the gaps of both frames are large enough.

    Attributes:
        models: The error models of the Pauli frames X and Z, that bloq's companion has.
        postselected: The detectors that discard an attempt.
        least: The least gap of each frame, a logarithm of odds.
    """

    models: tuple[stim.DetectorErrorModel, stim.DetectorErrorModel]
    postselected: NDArray[np.bool_]
    least: float

    def postselected_detectors(self, dem: stim.DetectorErrorModel) -> NDArray[np.bool_]:
        """The detectors that discard an attempt."""
        return self.postselected

    def compile_decoder_for_dem(self, *, dem: stim.DetectorErrorModel) -> CompiledFrames:
        """Prepares the decoder, which knows its models."""
        return CompiledFrames(self)


class CompiledFrames(ConfidentDecoder, sinter.CompiledDecoder):  # type: ignore[misc]
    """Decodes with confidence; ``FrameDecoder.compile_decoder_for_dem`` returns it."""

    def __init__(self, decoder: FrameDecoder) -> None:
        self._frames = [MatchingGapDecoder().compile_decoder_for_dem(dem=each) for each in decoder.models]
        self._least = decoder.least * _NAT

    def decode_shots_bit_packed_with_confidence(
        self, *, bit_packed_detection_event_data: NDArray[np.uint8]
    ) -> tuple[NDArray[np.uint8], NDArray[np.float64]]:
        """The predictions, and ``_SURE`` for accepted attempts, less for others."""
        (x, of_x), (z, of_z) = (
            each.decode_shots_bit_packed_with_confidence(
                bit_packed_detection_event_data=bit_packed_detection_event_data
            )
            for each in self._frames
        )
        gaps = np.minimum(of_x, of_z) / self._least
        flips = (z | (x ^ z) << 1).astype(np.uint8)
        return flips, np.where(gaps >= 1, _SURE, np.minimum(np.floor(_SURE * gaps), _SURE - 1.0))


def emitted(distance: int, p: float = 1e-3, rounds: int = 10) -> Any:
    """What bloq writes about one attempt: circuits as text, and a manifest of columns."""
    try:
        bloq: Any = importlib.import_module("bloq")
    except ImportError:
        raise SystemExit("This example needs bloq: pip install bloq-py") from None
    graph = bloq.BlockGraph()
    graph.add_block(bloq.Block((0, 0, 0), "T"))
    graph.add_block(bloq.Block((0, 0, 1), "Port"))
    graph.add_pipe(bloq.Pipe((0, 0, 0), "+Z"))
    program = bloq.compile(graph, distance=distance)
    [(path, body)] = [(path, body) for path, body in program.levels() if path]
    program.insert_memory_rounds_after(body.quantum_tail(), rounds=rounds, path=path)
    return bloq.emit_isolated_t_attempts(program, noise=p)


def t_state(artifacts: Any, least: float) -> TState:
    """The circuit with a perfect round at its end, and the decoder of the two frames."""
    manifest = artifacts.manifest
    companion = stim.Circuit(artifacts.companion)
    closing, checks = closing_round(artifacts)
    circuit = snc.Circuit(artifacts.physical_t)
    if any(manifest.detector_signs) or any(manifest.frontier_signs):
        raise ValueError("A detector of the circuit is 1 without noise.")
    num_records = circuit.num_measurements
    of_x, of_z = {*manifest.frame_x_measurements}, {*manifest.frame_z_measurements}
    for k, frame in enumerate((of_z, of_x ^ of_z)):  # X_L is flipped by Z, and Y_L by both
        circuit.append(
            "OBSERVABLE_INCLUDE", [stim.target_rec(each - num_records) for each in sorted(frame)], k
        )
    circuit += snc.Circuit(closing)
    for k, columns in enumerate(checks):
        records = [num_records + k, *(num_records + offset for offset in columns)]
        circuit.append("DETECTOR", [stim.target_rec(each - circuit.num_measurements) for each in records])
    closed = companion + closing
    for k, columns in enumerate(checks):
        records = [companion.num_measurements + each for each in (k, *columns)]
        closed.append("DETECTOR", [stim.target_rec(each - closed.num_measurements) for each in records])
    postselected = np.zeros(circuit.num_detectors, dtype=np.bool_)
    postselected[list(manifest.postselection_detectors)] = True
    model = closed.detector_error_model(decompose_errors=True).flattened()
    x, z = (
        frame_model(model, observable, postselected)
        for observable in (manifest.frame_x_gap_observable, manifest.frame_z_gap_observable)
    )
    products = [line.split()[1] for line in artifacts.physical_t.splitlines() if line.startswith("EXP_VAL")]
    turned = manifest.frame_z_sign, manifest.frame_x_sign ^ manifest.frame_z_sign
    signs = [sign * (-1) ** turn for sign, turn in zip(manifest.exp_val_signs, turned, strict=False)]
    return TState(
        circuit, FrameDecoder((x, z), postselected, least), (products[0], products[1]), (signs[0], signs[1])
    )


def closing_round(artifacts: Any) -> tuple[stim.Circuit, list[list[int]]]:
    """A perfect measurement of each stabilizer, and the records before it that it is compared with."""
    records: dict[int, list[int]] = {}
    paulis: dict[int, list[stim.GateTarget]] = {}
    for part in stim.Circuit(artifacts.sheets):
        number = int(part.gate_args_copy()[0])
        for target in part.targets_copy():
            if target.is_measurement_record_target:
                records.setdefault(number, []).append(target.value)
            else:
                paulis.setdefault(number, []).append(target)
    closing = stim.Circuit()
    for number in artifacts.manifest.frontier_observables:
        closing.append("MPP", stim.target_combined_paulis(paulis[number]))
    return closing, [records[number] for number in artifacts.manifest.frontier_observables]


def frame_model(
    model: stim.DetectorErrorModel, observable: int, postselected: NDArray[np.bool_]
) -> stim.DetectorErrorModel:
    """The model of one observable, given that no postselected detector fires."""
    result = stim.DetectorErrorModel()
    for part in model:
        if part.type != "error":
            continue
        for group in part.target_groups():
            detectors = [target for target in group if target.is_relative_detector_id()]
            if not detectors or any(postselected[target.val] for target in detectors):
                continue
            flips = any(target.is_logical_observable_id() and target.val == observable for target in group)
            named = [stim.target_logical_observable_id(0)] if flips else []
            result.append("error", part.args_copy(), [*detectors, *named])
    result.append("detector", [], [stim.target_relative_detector_id(len(postselected) - 1)])
    return result


def measure(state: TState, attempts: int, seed: int) -> tuple[float, float, float]:
    """The share of attempts that is accepted, the infidelity of these, and its standard error."""
    decoder = CompiledFrames(state.decoder)
    sampler = state.circuit.compile_detector_sampler(
        seed=seed, postselection_mask=state.decoder.postselected, skip_reference_sample=True
    )
    accepted, total, square = 0, 0.0, 0.0
    for batch in sampler.iter_kept(max_shots=attempts, expectation_values=True):
        values = batch.expectation_values
        assert values is not None  # they are asked for
        predictions, confidence = decoder.decode_shots_bit_packed_with_confidence(
            bit_packed_detection_event_data=batch.dets
        )
        flips = np.unpackbits(batch.obs ^ predictions, axis=1, count=2, bitorder="little")
        x, y = (values[:, k] * state.signs[k] * (1 - 2.0 * flips[:, k]) for k in (0, 1))
        wrong = ((1 - (x + y) / math.sqrt(2)) / 2)[confidence == _SURE].clip(0, 1)
        accepted, total, square = accepted + len(wrong), total + wrong.sum(), square + (wrong**2).sum()
    mean = total / accepted
    return accepted / attempts, mean, math.sqrt(square / accepted - mean**2) / math.sqrt(accepted)


def compute(state: TState, seconds: float, seed: int) -> tuple[float, float]:
    """Accepted share times infidelity, from fault sets, the mean for X_L and Y_L alone; its error."""
    circuit = state.circuit.copy()
    for k, product in enumerate(state.products):
        circuit += snc.Circuit(f"OBSERVABLE_INCLUDE({k}) {product.replace('*', ' ')}")
    points = []
    for k in (0, 1):
        rate = circuit.logical_error_rate(
            decoder=state.decoder,
            confidence=True,
            state_check=snc.LogicalStateCheck((k,), (k,), (math.sqrt(2),)),
            relative_error=0.01,
            max_seconds=seconds * _SHARES[k],
            seed=seed + k,
        )
        points.append(rate.gap_curve[-1])
        assert points[k].gap == _SURE
    mean = sum(point.kept_and_wrong for point in points) / 2
    return mean, math.hypot(*(point.kept_and_wrong_error for point in points)) / 2


def main() -> int:
    """Prints a line for each distance, beside what was published."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--d", type=int, nargs="+", default=[5, 7, 9, 11], choices=list(THRESHOLDS))
    parser.add_argument("--attempts", type=int, default=2_000_000)
    parser.add_argument("--compute_seconds", type=float, default=0.0, help="0: the infidelity is counted")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", type=Path, help="append the lines to this file")
    arguments = parser.parse_args()
    for distance in arguments.d:
        start = time.process_time()
        state = t_state(emitted(distance), THRESHOLDS[distance])
        seconds, attempts = arguments.compute_seconds, arguments.attempts
        share, mean, error = measure(state, attempts, arguments.seed)
        if seconds:
            wrong, error_of_wrong = compute(state, seconds, arguments.seed)
            mean, error = wrong / share, error_of_wrong / share
        spent = time.process_time() - start
        published_share, published, half = PUBLISHED[distance]
        line = (
            f"d={distance}: accepted {share:.4%} of {attempts:,} (published {published_share:.4%}),"
            f" infidelity {mean:.2e} +- {1.96 * error:.1e} (published {published:.2e} +- {half:.1e}),"
            f" {spent:.0f} CPU seconds"
        )
        print(line, flush=True)
        if arguments.out is not None:
            with arguments.out.open("a", encoding="utf-8") as file:
                file.write(line + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
