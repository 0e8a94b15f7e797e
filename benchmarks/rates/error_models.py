"""What a decoder loses by an inexact error model: coherent noise, heralds, relaxation and leakage.

    python -m benchmarks.rates.error_models coherent|heralds|relaxation|leakage|decay

Every row decodes the same shots of a rotated surface code with PyMatching and several models. ``coherent``
has rotations about Z, ``heralds`` erased data qubits, ``relaxation`` decays or misread outcomes, and
``leakage`` qubits that leak after each CX. The last two also print how many detection events the models have,
divided by those of the shots. ``decay`` counts shots of circuits that relax, and of their Pauli twirls. Each
takes about a minute.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable, Iterator, Sequence

import numpy as np
import numpy.typing as npt
import pymatching
import stim

import stim_nonclifford as snc
from sinter_plugin import HeraldedMatchingDecoder, MatchingGapDecoder, herald_detectors
from stim_nonclifford.generators.cultivation import cultivation_circuit

Bits = npt.NDArray[np.uint8]
_PLACE = 0.25
"""A depolarization of this strength marks the beginning of a round."""


def memory(basis: str, distance: int, **noise: float) -> stim.Circuit:
    """A rotated surface code with as many rounds as its distance."""
    name = f"surface_code:rotated_memory_{basis}"
    return stim.Circuit.generated(name, distance=distance, rounds=distance, **noise).flattened()


Insert = Callable[[stim.CircuitInstruction], stim.Circuit]
"""What stands before an instruction, or instead of a ``DEPOLARIZE1(0.25)``."""


def with_heralds(circuit: stim.Circuit, heralds: Insert) -> snc.Circuit:
    """The circuit with a detector for each record of further instructions.

    Args:
        circuit: A circuit without loops.
        heralds: The further instructions.
    """
    result, places = stim.Circuit(), list[int]()
    for part in circuit:
        new = heralds(part)
        for one in new:
            before = result.num_measurements
            result.append(one)
            for k in range(result.num_measurements - before, 0, -1):
                result.append("DETECTOR", [stim.target_rec(-k)])
        if part.name in ("DETECTOR", "OBSERVABLE_INCLUDE"):
            total = result.num_measurements
            targets = [stim.target_rec(places[target.value] - total) for target in part.targets_copy()]
            result.append(part.name, targets, part.gate_args_copy())
        elif part.gate_args_copy() != [_PLACE]:
            before = result.num_measurements
            result.append(part)
            places += range(before, result.num_measurements)
    return snc.Circuit(result)


def rotated(lines: str, angle: float) -> snc.Circuit:
    """A memory of logical X, d=3, with rotations.

    Args:
        lines: ``"round"``, ``"one qubit"`` or ``"tick"``: all data qubits before each round, qubit 10 four
            times before each round, or all data qubits at each TICK.
        angle: Half-turns.
    """
    circuit = memory(
        "x", 3, after_clifford_depolarization=1e-3, before_measure_flip_probability=1e-3,
        before_round_data_depolarization=_PLACE,
    )  # fmt: skip
    text, mark = str(circuit), rf"DEPOLARIZE1\({_PLACE}\) (.*)\n"
    [data] = set(re.findall(mark, text))
    if lines == "tick":
        return snc.Circuit(re.sub(mark, "", text).replace("TICK", f"TICK\nR_Z({angle}) {data}"))
    return snc.Circuit(re.sub(mark, f"R_Z({angle}) {data if lines == 'round' else '10 10 10 10'}\n", text))


def erased(distance: int) -> snc.Circuit:
    """A memory of logical X whose data qubits are erased with 2%, and heralded, before each round."""
    p = 3e-3
    circuit = memory(
        "x", distance, after_clifford_depolarization=p, before_measure_flip_probability=p,
        after_reset_flip_probability=p, before_round_data_depolarization=_PLACE,
    )  # fmt: skip

    def heralds(part: stim.CircuitInstruction) -> stim.Circuit:
        result = stim.Circuit()
        if part.gate_args_copy() == [_PLACE]:
            result.append("HERALDED_ERASE", part.targets_copy(), 0.02)
        return result

    return with_heralds(circuit, heralds)


def relaxing(
    basis: str, distance: int, t_over_t1: float, ratio: float = 1.0, *, misread: str = ""
) -> snc.Circuit:
    """A memory whose qubits relax at each TICK, with T2 = ratio T1, and are misread."""
    circuit = memory(basis, distance)
    qubits = " ".join(map(str, sorted(circuit.get_final_qubit_coordinates())))
    channel = f"TICK\nTHERMAL_RELAXATION({t_over_t1}, {t_over_t1 / ratio}) {qubits}"
    text = str(circuit).replace("TICK", channel if t_over_t1 else "TICK")
    return snc.Circuit(re.sub(r"(?m)^(M[RX]?) ", rf"\1({misread}) ", text) if misread else text)


def leaking(distance: int, p: float, *, is_heralded: bool) -> snc.Circuit:
    """A memory of logical Z whose qubits leak with p after each CX; heralds return all of them before MR."""
    circuit = memory(
        "z", distance, after_clifford_depolarization=5e-4, before_measure_flip_probability=5e-4,
        after_reset_flip_probability=5e-4,
    )  # fmt: skip
    leaky = stim.Circuit()
    for part in circuit:
        leaky.append(part)
        if part.name == "CX":
            leaky.append("I_ERROR", part.targets_copy(), tag=f"LEAKAGE(p={p!r})")
    qubits = sorted(circuit.get_final_qubit_coordinates())

    def heralds(part: stim.CircuitInstruction) -> stim.Circuit:
        result = stim.Circuit()
        if part.name == "MR" and is_heralded:
            result.append("HERALDED_ERASE", qubits, 0, tag="HERALD_LEAKAGE_EVENT(p=0.0)")
            result.append("I_ERROR", qubits, tag="RL")
        return result

    return with_heralds(leaky, heralds)


class Shots:
    """Detection events and observable flips of a circuit, bit-packed.

    Args:
        circuit: The circuit.
        count: How many shots.
        seed: The seed.
    """

    def __init__(self, circuit: snc.Circuit, count: int, seed: int) -> None:
        sampler = circuit.compile_detector_sampler(seed=seed)
        self.circuit, self.count = circuit, count
        self.events, self.flips = sampler.sample(count, separate_observables=True, bit_packed=True)

    def model(self, circuit: snc.Circuit | None = None) -> stim.DetectorErrorModel:
        """The error model of decoders, of this circuit or of another one."""
        source = circuit or self.circuit
        return source.detector_error_model(decompose_errors=True, approximate_disjoint_errors=True)

    def wrong(self, predictions: Bits) -> int:
        """How many predictions are wrong."""
        return int((predictions != self.flips).any(axis=1).sum())

    def matched(self, model: stim.DetectorErrorModel, *, correlated: bool = False) -> int:
        """How many predictions of PyMatching are wrong."""
        matching = pymatching.Matching.from_detector_error_model(model, enable_correlations=correlated)
        found = matching.decode_batch(
            self.events, bit_packed_shots=True, bit_packed_predictions=True, enable_correlations=correlated
        )
        return self.wrong(found)

    def heralded(self, model: stim.DetectorErrorModel, *, correlated: bool = False) -> int:
        """How many predictions of this package's matching with heralds are wrong."""
        decoder = HeraldedMatchingDecoder(herald_detectors(self.circuit), correlations=correlated)
        compiled = decoder.compile_decoder_for_dem(dem=model)
        return self.wrong(compiled.decode_shots_bit_packed(bit_packed_detection_event_data=self.events))

    def rate_ratio(self, model: stim.DetectorErrorModel) -> float:
        """Detection events in the model over those of the shots, without heralds."""
        told = np.ones(model.num_detectors)
        for error in model.flattened():
            if error.type == "error":
                flipped: set[int] = set()
                for target in error.targets_copy():
                    if target.is_relative_detector_id():
                        flipped ^= {target.val}
                told[list(flipped)] *= 1 - 2 * error.args_copy()[0]
        bits = np.unpackbits(self.events, axis=1, bitorder="little", count=self.circuit.num_detectors)
        others = sorted(set(range(model.num_detectors)) - herald_detectors(self.circuit))
        return float((1 - told)[others].sum() / 2 / bits.mean(axis=0)[others].sum())


def coherent() -> Iterator[Sequence[object]]:
    """Wrong predictions with two models of rotations."""
    yield "rotated", "half-turns", "wrong, S-proxy", "wrong, twirl", "shots"
    rows = [("round", a) for a in (0.02, 0.05, 0.1)] + [("one qubit", 0.05), ("tick", 0.01), ("tick", 0.05)]
    for lines, angle in rows:
        shots = Shots(rotated(lines, angle), 400_000, seed=5)
        models = shots.model(), shots.model(shots.circuit.pauli_twirl())
        yield lines, angle, *(shots.matched(model) for model in models), shots.count


def heralds() -> Iterator[Sequence[object]]:
    """Wrong predictions with and without heralds of erasures."""
    yield "d", "heralds", "with correlations", "gap", "PyMatching alone", "with correlations", "shots"
    for distance, count in ((3, 300_000), (5, 30_000)):
        shots = Shots(erased(distance), count, seed=5)
        model = shots.model()
        gap = MatchingGapDecoder(herald_detectors(shots.circuit)).compile_decoder_for_dem(dem=model)
        yield (
            distance,
            shots.heralded(model),
            shots.heralded(model, correlated=True),
            shots.wrong(gap.decode_shots_bit_packed(bit_packed_detection_event_data=shots.events)),
            shots.matched(model),
            shots.matched(model, correlated=True),
            count,
        )


def relaxation() -> Iterator[Sequence[object]]:
    """Detection events and wrong predictions with two twirls of relaxation and readout."""
    yield "memory", "noise", "detectors, state-aware", "plain", "wrong, state-aware", "plain", "shots"
    rows = (
        ("z, d=3", "relaxation", relaxing("z", 3, 1e-3), 400_000),
        ("x, d=3", "relaxation, T2 = 1.43 T1", relaxing("x", 3, 1e-3, 1.43), 400_000),
        ("z, d=3", "readout", relaxing("z", 3, 0, misread="0.005, 0.015"), 400_000),
        ("z, d=3", "both", relaxing("z", 3, 1e-3, misread="0.005, 0.015"), 100_000),
        ("z, d=3", "relaxation, five times longer", relaxing("z", 3, 5e-3), 400_000),
        ("x, d=3", "relaxation, five times longer", relaxing("x", 3, 5e-3), 400_000),
        ("z, d=5", "relaxation", relaxing("z", 5, 1e-3), 100_000),
        ("z, d=5", "relaxation, five times longer", relaxing("z", 5, 5e-3), 100_000),
    )
    for name, noise, circuit, count in rows:
        shots = Shots(circuit, count, seed=1)
        models = shots.model(), shots.model(circuit.pauli_twirl())
        ratios = [f"{shots.rate_ratio(model):.3f}" for model in models]
        yield name, noise, *ratios, *(shots.matched(model) for model in models), count


def leakage() -> Iterator[Sequence[object]]:
    """Detection events and wrong predictions with leakage as events, and twirled."""
    yield "d", "leakage", "heralds", "detectors, events", "twirl", "wrong, events", "twirl", "shots"
    for p, is_heralded in ((0.001, False), (0.004, True)):
        for distance, count in ((3, 200_000), (5, 40_000)):
            shots = Shots(leaking(distance, p, is_heralded=is_heralded), count, seed=1)
            models = shots.model(), shots.model(shots.circuit.pauli_twirl())
            ratios = [f"{shots.rate_ratio(model):.3f}" for model in models]
            wrong = shots.heralded(models[0]) if is_heralded else shots.matched(models[0])
            yield distance, p, is_heralded, *ratios, wrong, shots.matched(models[1]), count


def relaxing_cultivation(t_over_t1: float) -> snc.Circuit:
    """Cultivation of d=3 with T1 = T2 wherever uniform noise depolarizes one qubit, without other noise."""
    text = str(cultivation_circuit(distance=3, p=_PLACE))
    text = re.sub(r"(?m)^(X_ERROR|Z_ERROR|DEPOLARIZE2).*\n", "", text).replace(f"({_PLACE})", "")
    return snc.Circuit(text.replace("DEPOLARIZE1 ", f"THERMAL_RELAXATION({t_over_t1}, {t_over_t1}) "))


def decay() -> Iterator[Sequence[object]]:
    """Kept shots and wrong ones of circuits that relax, and of their twirls."""
    yield "circuit", "t/T1", "shots", "kept", "kept, twirl", "wrong", "wrong, twirl"
    for time in (0.01, 0.02):
        circuit, count = relaxing_cultivation(time), 20_000_000
        found = [
            each.compile_detector_sampler(seed=1, postselection_mask="all").sample_counts(count)
            for each in (circuit, circuit.pauli_twirl())
        ]
        rates = [f"{each.rate:.3g} ± {each.rate / each.errors**0.5:.1g}" for each in found]
        yield "cultivation, d=3", time, count, *(f"{each.kept / count:.5f}" for each in found), *rates
    for basis in "zx":
        channel = "THERMAL_RELAXATION(0.02, 0.02)"
        circuit = memory(basis, 3, before_round_data_depolarization=_PLACE)
        real = snc.Circuit(str(circuit).replace(f"DEPOLARIZE1({_PLACE})", channel))
        runs = [Shots(each, 1_000_000, seed=1) for each in (real, real.pauli_twirl())]
        wrong = [run.matched(runs[1].model()) / run.count for run in runs]
        yield f"memory {basis}, d=3", 0.02, runs[0].count, 1, 1, *(f"{each:.3%}" for each in wrong)


TABLES = {table.__name__: table for table in (coherent, heralds, relaxation, leakage, decay)}


def main() -> None:
    """Prints a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("table", choices=TABLES)
    for k, row in enumerate(TABLES[parser.parse_args().table]()):
        print("|", " | ".join(map(str, row)), "|", flush=True)
        if not k:
            print("|---" * len(row) + "|")


if __name__ == "__main__":
    main()
