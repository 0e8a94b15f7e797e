"""Cultivation kept by a gap that a machine has: decided before the state is measured.

    python -m examples.cultivation.open_boundary [--d 3] [--d2 7] [--p 0.001] [--rounds 6]
        [--escape matchable] [--compute_seconds 60] [--attempts 0] [--out out/open_boundary.csv]

The gap of the published curves knows a perfect measurement of all checks at the end: a *closed* time
boundary. A machine that hands the state on has no such measurement. It decides after the last noisy round,
and is given the *open* gap here: of all errors that explain what was seen until then, the likeliest one says
which values the checks have now. The gap is that to the likeliest error of the other logical class that
leaves the checks with the same values. What is kept is decoded later, with all detectors, as before.

With ``--compute_seconds``, both curves are sums over fault sets with true T gates (``logical_error_rate``).
With ``--attempts``, shots are counted; those of both gaps are the same. Costs are qubit-rounds per kept shot
as in ``end_to_end``.
"""

from __future__ import annotations

import argparse
import csv
import dataclasses
import importlib
import sys
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
import sinter
import stim
from numpy.typing import NDArray

import sinter_plugin
import stim_nonclifford as snc
from sinter_plugin.commands.end_to_end_circuits import CheckedCircuit, generated_circuit
from stim_nonclifford.rates.decoding.chromobius_gap import ChromobiusGapDecoder
from stim_nonclifford.rates.decoding.kept_shot_decoding import ConfidentDecoder
from stim_nonclifford.rates.decoding.matching.desaturated_gap import DesaturatedGapDecoder
from stim_nonclifford.rates.decoding.matching.detector_kinds import detector_kinds
from stim_nonclifford.rates.decoding.matching.matching_graph import model_errors
from stim_nonclifford.rates.decoding.matching.pair_graph import BasisGraph, basis_graphs, hidden_detectors

from .end_to_end import qubit_rounds

Boundary = Literal["closed", "open"]
_MOMENT, _KIND = 2, 4
_Y = 1
"""The number of the observable of logical Y."""

_FREE = 1e-12
"""The weight of an unknown check. Doubled, no matching changes, as no other weight is so small."""


def unknown_detectors(model: stim.DetectorErrorModel) -> NDArray[np.intp]:
    """The detectors of the last moment: those of the perfect measurement, which no machine has."""
    moments = [place[_MOMENT] for _, place in sorted(model.get_detector_coordinates().items())]
    return np.flatnonzero(np.array(moments) == max(moments))


@dataclass(frozen=True)
class OpenBoundaryDecoder(sinter.Decoder):  # type: ignore[misc]
    """A decoder of both time boundaries: it predicts with all detectors, and its confidence is the open gap.

    Attributes:
        escape: "matchable": as the decoder ``desaturated``. "color": as ``chromobius``.
        boundary: "open", or "closed": the gap with all detectors.
    """

    escape: Literal["color", "matchable"] = "matchable"
    boundary: Boundary = "open"

    def postselected_detectors(self, dem: stim.DetectorErrorModel) -> NDArray[np.bool_]:
        """The detectors that discard a shot: those of cultivation and of the escape."""
        if self.escape == "matchable":
            return DesaturatedGapDecoder().postselected_detectors(dem)
        places = dem.get_detector_coordinates()
        return np.array([places[k][_KIND] == 1 for k in range(dem.num_detectors)], dtype=np.bool_)

    def compile_decoder_for_dem(self, *, dem: stim.DetectorErrorModel) -> CompiledOpenBoundary:
        """Prepares the decoder for an error model of the whole circuit."""
        if self.escape == "matchable":
            closed: Any = DesaturatedGapDecoder().compile_decoder_for_dem(dem=dem)
        else:
            closed = ChromobiusGapDecoder().compile_decoder_for_dem(dem=given_silence(dem, self))
        if self.boundary == "closed":
            return CompiledOpenBoundary(closed, ())
        unknown = unknown_detectors(dem)
        if self.escape == "color":
            return CompiledOpenBoundary(closed, ColorFrontier.of_bases(given_silence(dem, self), unknown))
        kinds, errors = detector_kinds(dem), model_errors(dem)
        graphs = basis_graphs(errors, kinds, hidden_detectors(errors, kinds))
        return CompiledOpenBoundary(
            closed, [MatchingFrontier(graph, unknown) for graph in graphs if graph.detectors]
        )


class MatchingFrontier:
    """The likeliest values of unknown detectors of one basis, by matching.

    Each of them may fire at no cost: an edge of weight 0 leads from it to the boundary.
    """

    def __init__(self, graph: BasisGraph, unknown: NDArray[np.intp]) -> None:
        import pymatching

        self.known = np.array([k for k in graph.detectors if k not in set(unknown.tolist())], dtype=np.intp)
        self.unknown = np.array([k for k in graph.detectors if k in set(unknown.tolist())], dtype=np.intp)
        place = {k: node for node, k in enumerate(graph.detectors)}
        self._known_nodes = [place[k] for k in self.known.tolist()]
        self._num_nodes = graph.num_nodes
        self._matching = pymatching.Matching(stim.DetectorErrorModel(f"detector D{graph.num_nodes - 1}"))
        likeliest: dict[tuple[int, ...], float] = {}
        for edge, p in graph.probabilities.edges.items():
            likeliest[edge.detectors] = max(p, likeliest.get(edge.detectors, 0.0))
        for k in self.unknown.tolist():
            likeliest[place[k],] = 0.5
        fault = {place[k]: j for j, k in enumerate(self.unknown.tolist())}
        for nodes, p in likeliest.items():
            weight = float(np.log((1 - p) / p)) or _FREE
            if len(nodes) == 1:
                self._matching.add_boundary_edge(
                    *nodes, weight=weight, fault_ids=fault.get(nodes[0], set()), merge_strategy="replace"
                )
            elif nodes:
                self._matching.add_edge(*nodes, weight=weight, merge_strategy="replace")
        self._matching.ensure_num_fault_ids(len(fault))

    def values(self, events: NDArray[np.uint8]) -> NDArray[np.uint8]:
        """Whether each unknown detector would fire: one byte each, shape (shots, unknown)."""
        seen = np.zeros((len(events), self._num_nodes), dtype=np.uint8)
        seen[:, self._known_nodes] = events[:, self.known]
        return np.asarray(self._matching.decode_batch(seen), dtype=np.uint8)


class ColorFrontier:
    """The likeliest values of unknown detectors of one basis: to Chromobius they are observables."""

    def __init__(
        self, model: stim.DetectorErrorModel, known: NDArray[np.intp], unknown: NDArray[np.intp]
    ) -> None:
        chromobius: Any = importlib.import_module("chromobius")
        self.known, self.unknown = known, unknown
        places = model.get_detector_coordinates()
        new = {k: stim.target_relative_detector_id(j) for j, k in enumerate(known.tolist())}
        new |= {k: stim.target_logical_observable_id(j) for j, k in enumerate(unknown.tolist())}
        merged: dict[tuple[int, ...], float] = {}
        for error in model_errors(model):
            key = tuple(sorted(k for k in error.detectors if k in new))
            if any(k in set(known.tolist()) for k in key):
                p = merged.get(key, 0.0)
                merged[key] = p * (1 - error.probability) + error.probability * (1 - p)
        seen = stim.DetectorErrorModel()
        for key, p in merged.items():
            seen.append("error", p, [new[k] for k in key])
        for k in known.tolist():
            seen.append("detector", [*places[k][:3], places[k][3]], [new[k]])
        for k in unknown.tolist():
            seen.append("logical_observable", [], [new[k]])
        self._decoder = chromobius.compile_decoder_for_dem(seen)

    @staticmethod
    def of_bases(model: stim.DetectorErrorModel, unknown: NDArray[np.intp]) -> list[ColorFrontier]:
        """One for the X checks and one for the Z checks."""
        places = model.get_detector_coordinates()
        chosen = set(unknown.tolist())
        found = []
        for colors in (range(3), range(3, 6)):
            mine = [k for k in range(model.num_detectors) if places[k][3] in colors]
            known = np.array([k for k in mine if k not in chosen], dtype=np.intp)
            found.append(
                ColorFrontier(model, known, np.array([k for k in mine if k in chosen], dtype=np.intp))
            )
        return found

    def values(self, events: NDArray[np.uint8]) -> NDArray[np.uint8]:
        """Whether each unknown detector would fire: one byte each, shape (shots, unknown)."""
        packed = np.ascontiguousarray(np.packbits(events[:, self.known], axis=1, bitorder="little"))
        found = self._decoder.predict_obs_flips_from_dets_bit_packed(packed)
        return np.unpackbits(np.asarray(found), axis=1, count=len(self.unknown), bitorder="little")


class CompiledOpenBoundary(ConfidentDecoder, sinter.CompiledDecoder):  # type: ignore[misc]
    """Decodes with confidence; ``OpenBoundaryDecoder.compile_decoder_for_dem`` returns it."""

    def __init__(self, closed: Any, frontiers: Sequence[MatchingFrontier | ColorFrontier]) -> None:
        self._closed, self._frontiers = closed, frontiers

    def decode_shots_bit_packed_with_confidence(
        self, *, bit_packed_detection_event_data: NDArray[np.uint8]
    ) -> tuple[NDArray[np.uint8], NDArray[np.float64]]:
        """The predictions with all detectors, and the gaps; see ``ConfidentDecoder``."""
        rows = bit_packed_detection_event_data
        predictions, gaps = self._closed.decode_shots_bit_packed_with_confidence(
            bit_packed_detection_event_data=rows
        )
        return predictions, self.open_gaps(rows) if self._frontiers else gaps

    def open_gaps(self, rows: NDArray[np.uint8]) -> NDArray[np.float64]:
        """The gaps of bit-packed detection events, whatever unknown detectors are in them."""
        events = np.unpackbits(rows, axis=1, bitorder="little")
        for frontier in self._frontiers:
            events[:, frontier.unknown] = frontier.values(events)
        _, gaps = self._closed.decode_shots_bit_packed_with_confidence(
            bit_packed_detection_event_data=np.packbits(events, axis=1, bitorder="little")
        )
        return np.asarray(gaps)


class LoopDecoder:
    """The decoder in the loop that ``SURE`` asks before the final measurement; see ``decided_circuit``.

    Args:
        circuit: The circuit without ``SURE``, which ends in the perfect measurement.
        decoder: The decoder of its open gap.
    """

    def __init__(self, circuit: snc.Circuit, decoder: OpenBoundaryDecoder) -> None:
        model = circuit.detector_error_model(kind="noise_only", decompose_errors=False)
        self._compiled = decoder.compile_decoder_for_dem(dem=model)
        self._row_bytes = -(-model.num_detectors // 8)

    def begin(self, models: Sequence[stim.DetectorErrorModel]) -> None:
        """Is given the model of the circuit until ``SURE``, in which no check is known at the end."""
        (self.model,) = models

    def decide(self, number: int, detectors: NDArray[np.uint8]) -> NDArray[np.uint8]:
        """Is not asked: the circuit decides no record."""
        raise NotImplementedError

    def gaps(self, number: int, detectors: NDArray[np.uint8]) -> NDArray[np.float64]:
        """The gaps of shots by the detectors before ``SURE``: decibels, shape (shots, 1)."""
        rows = np.zeros((len(detectors), self._row_bytes), dtype=np.uint8)
        rows[:, : detectors.shape[1]] = detectors
        return self._compiled.open_gaps(rows)[:, np.newaxis]


def decided_circuit(circuit: snc.Circuit, least_gap: float) -> snc.Circuit:
    """The circuit in which a shot is decided before it is measured: one more detector, its last, discards it.

    It fires if the decoder of ``SURE`` is not sure of the logical Y by so many decibels.
    """
    written = circuit.to_stim()
    last = max(k for k, part in enumerate(written) if part.name == "TICK")
    y = [part for part in written[last:] if part.name == "OBSERVABLE_INCLUDE"][_Y]
    product = "*".join(f"{target.pauli_type}{target.value}" for target in y.targets_copy())
    decided = snc.Circuit(written[: last + 1])
    decided += snc.Circuit(f"SURE({least_gap}) {product}")
    decided += snc.Circuit(written[last + 1 :])
    decided.append("DETECTOR", [stim.target_rec(circuit[last + 1 :].num_measurements * -1 - 1)])
    return decided


def given_silence(model: stim.DetectorErrorModel, decoder: OpenBoundaryDecoder) -> stim.DetectorErrorModel:
    """The model without the errors that flip a postselected detector."""
    postselected = set(np.flatnonzero(decoder.postselected_detectors(model)).tolist())
    result = stim.DetectorErrorModel()
    for part in model.flattened():
        flipped = {t.val for t in part.targets_copy() if t.is_relative_detector_id()}
        if part.type != "error" or not flipped & postselected:
            result.append(part)
    return result


@dataclass(frozen=True)
class Point:
    """A row: shots whose gap is at least ``least_gap_dB`` are kept."""

    escape: str
    d: int
    d2: int
    rounds: int
    p: float
    boundary: str  # "closed" or "open"
    kind: str  # "computed" or "counted"
    least_gap_dB: int
    attempts_per_kept_shot: float
    qubit_rounds_per_kept_shot: float
    rate: float  # logical errors per kept shot
    low: float  # the 95% interval of the rate
    high: float


def computed(
    checked: CheckedCircuit, decoder: OpenBoundaryDecoder, cost: float, seconds: float, seed: int
) -> list[Point]:
    """The curve of a decoder, as a sum over kept fault sets."""
    rate = checked.circuit.logical_error_rate(
        decoder=decoder,
        confidence=True,
        state_check=checked.check,
        relative_error=0.1,
        max_seconds=seconds,
        seed=seed,
    )
    curve = rate.gap_curve
    chosen = [next(p for p in curve if p.gap >= least) for least in range(0, curve[-1].gap + 1, 10)]
    return [
        Point(
            *_facts(checked, decoder), "computed", 10 * k, point.attempts_per_kept_shot,
            cost * point.attempts_per_kept_shot, point.logical_error_rate, *point.interval,
        )
        for k, point in enumerate(chosen)
    ]  # fmt: skip


def counted(
    checked: CheckedCircuit, decoder: OpenBoundaryDecoder, cost: float, attempts: int, seed: int
) -> list[Point]:
    """The curve of a decoder from shots; those of two decoders are the same shots."""
    sampler = sinter_plugin.SoftDecodingSampler(
        decoder=decoder,
        confidence=True,
        state_check=checked.check,
        error_model="noise_only",
        warn=False,
    )
    [row] = sinter_plugin.collect(
        [sinter_plugin.task(checked.circuit, decoder="mine", postselection_mask=None)],
        custom_decoders={"mine": sampler},
        max_shots=attempts,
        seed=seed,
        num_workers=1,
    )
    found = []
    points = sinter_plugin.gap_points(row)
    for least in range(0, points[-1].gap + 1, 10):
        point = next(point for point in points if point.gap >= least)
        fit = sinter_plugin.error_rate(sinter.AnonTaskStats(shots=point.kept, errors=point.errors))
        cost_of_kept = cost * point.attempts_per_kept_shot
        found.append(
            Point(
                *_facts(checked, decoder),
                "counted",
                least,
                point.attempts_per_kept_shot,
                cost_of_kept,
                fit.best,
                fit.low,
                fit.high,
            )
        )
    return found


def _facts(checked: CheckedCircuit, decoder: OpenBoundaryDecoder) -> tuple[str, int, int, int, float, str]:
    facts = checked.metadata
    return decoder.escape, facts["d"], facts["d2"], facts["r"], facts["p"], decoder.boundary


def write(points: Sequence[Point], path: Path) -> None:
    """Appends points to a file, which begins with the names of its columns."""
    path.parent.mkdir(parents=True, exist_ok=True)
    is_new = not path.exists()
    with path.open("a", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        if is_new:
            writer.writerow([field.name for field in dataclasses.fields(Point)])
        for point in points:
            writer.writerow(
                [f"{each:.4g}" if isinstance(each, float) else each for each in dataclasses.astuple(point)]
            )


def main() -> int:
    """Computes or counts curves of both boundaries, and writes them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--d", type=int, default=3)
    parser.add_argument("--d2", type=int, default=7)
    parser.add_argument("--p", type=float, default=1e-3)
    parser.add_argument("--rounds", type=int, nargs="+", default=[6], help="those that are decoded")
    parser.add_argument("--escape", choices=["color", "matchable"], default="matchable")
    parser.add_argument("--boundary", nargs="+", choices=["closed", "open"], default=["closed", "open"])
    parser.add_argument("--compute_seconds", type=float, default=60.0, help="0: compute nothing")
    parser.add_argument("--attempts", type=int, default=0, help="0: count nothing")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", type=Path, default=Path("out/open_boundary.csv"))
    arguments = parser.parse_args()
    warnings.simplefilter("ignore", snc.InexactErrorModelWarning)
    for rounds in arguments.rounds:
        checked = generated_circuit(
            arguments.d, arguments.d2, arguments.p, "T", escape=arguments.escape,
            postselected_rounds=int(arguments.escape == "color"), rounds=rounds,
        )  # fmt: skip
        postselected = mask_of(checked.circuit, OpenBoundaryDecoder(arguments.escape))
        cost = qubit_rounds(checked.circuit, postselected=postselected)
        for boundary in arguments.boundary:
            decoder = OpenBoundaryDecoder(arguments.escape, boundary)
            found: list[Point] = []
            if arguments.compute_seconds:
                found += computed(checked, decoder, cost, arguments.compute_seconds, arguments.seed)
            if arguments.attempts:
                found += counted(checked, decoder, cost, arguments.attempts, arguments.seed)
            write(found, arguments.out)
            for point in found:
                print(point, flush=True)
    return 0


def mask_of(circuit: snc.Circuit, decoder: OpenBoundaryDecoder) -> NDArray[np.bool_]:
    """The detectors of a circuit that discard a shot."""
    return decoder.postselected_detectors(
        circuit.detector_error_model(kind="noise_only", decompose_errors=False)
    )


if __name__ == "__main__":
    sys.exit(main())
