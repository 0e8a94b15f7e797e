"""Circuits whose cost depends on one thing, and the suites that ``benchmarks.compare`` measures."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import stim

import stim_nonclifford as snc
from benchmarks.simulators import Mode
from benchmarks.tricycles import tricycle_factory
from examples.lattice_surgery.decoder_in_the_loop import teleported_t_gate
from stim_nonclifford.generators.cultivation import cultivation_circuit
from stim_nonclifford.generators.distillation import distillation_circuit

CIRCUITS = Path(__file__).parents[2] / "shared" / "reference_circuits"
OURS = "stim_nonclifford"
MODES: tuple[Mode, ...] = ("postselected", "bits")
PEERS = (OURS, "clifft", "symft", "ticit", "merlin-sim", "stim")
FILES = {
    "d3": "msc_d3_inject_cultivate_p1e-3",
    "d5": "msc_d5_inject_cultivate_p1e-3",
    "distillation": "distillation",
    "coherent-d3r3": "coherent_d3_r3",
    "coherent-d5r5": "coherent_d5_r5",
    "surface-d7": "pure_surface_d7_r7_p1e-3",
    "k19": "k19_not_a_code_p5e-4",
    "qv10": "quantum_volume_q10_seed42",
}
_LAYERS = 3
_ROUNDS = 6
"""Rounds of two-qubit gates between layers of T gates, so that every outcome depends on every T gate."""


@dataclass(frozen=True)
class Workload:
    """A circuit, what is done with it, and by whom."""

    name: str  # the row of a table, or the curve of a plot
    build: Callable[[], str] = field(repr=False)  # returns the text of the circuit
    mode: Mode = "postselected"  # what is done; see ``benchmarks.simulators``
    simulators: tuple[str, ...] = (OURS,)  # the simulators that do it
    x: float | None = None  # the place on the horizontal axis of a plot; None if there is no plot with one
    plot: str = ""  # what grows along that axis
    goal: float | None = None  # shots per second of one core, or seconds if the first shot is what counts
    first_shot: bool = False  # whether that is so


def scrambled(width: int) -> snc.Circuit:
    """Layers of T gates on all qubits, with random Clifford gates in between; then all qubits are measured.

    Strong noise after the first layer randomizes the signs of the later rotations. The outcomes are random
    too, so in a wide circuit no two shots have the same signature and outcomes.

    Args:
        width: Number of qubits, and of active coordinates.
    """
    qubits = " ".join(map(str, range(width)))
    lines = [f"RX {qubits}", f"T {qubits}", f"DEPOLARIZE1(0.3) {qubits}"]
    for _ in range(_LAYERS - 1):
        lines += [*_scramble(width, len(lines)), f"T {qubits}"]
    return snc.Circuit("\n".join([*lines, *_scramble(width, len(lines)), f"M {qubits}"]))


def mirrored(width: int, p: float) -> snc.Circuit:
    """The layers of ``scrambled``, noise, and the inverse of the layers; one detector per qubit.

    Args:
        width: Number of qubits, and of active coordinates.
        p: Probability of depolarizing noise on each qubit.
    """
    qubits = " ".join(map(str, range(width)))
    lines = [f"T {qubits}"]
    for _ in range(_LAYERS - 1):
        lines += [*_scramble(width, len(lines)), f"T {qubits}"]
    layers = snc.Circuit("\n".join(lines))
    detectors = "".join(f"\nDETECTOR rec[-{k + 1}]" for k in range(width))
    return snc.Circuit(
        f"RX {qubits}\n{layers}\nTICK\nDEPOLARIZE1({p}) {qubits}\nTICK\n{layers.inverse()}\nMX {qubits}"
        f"{detectors}\nOBSERVABLE_INCLUDE(0) rec[-1]"
    )


def many_mechanisms(count: int, p: float) -> snc.Circuit:
    """A circuit of noise alone: independent errors, each of which flips 4 randomly chosen of 64 detectors.

    Args:
        count: Number of errors; those with equal effects are one mechanism.
        p: Probability of each error.
    """
    return snc.Circuit(random_effects(count, p, 64, 4, count) + "\nOBSERVABLE_INCLUDE(0) rec[-1]")


def random_effects(count: int, p: float, detectors: int, flips: int, seed: int) -> str:
    """Independent errors, each of which flips so many of the detectors."""
    rng = np.random.default_rng(seed)
    qubits = " ".join(map(str, range(detectors)))
    lines = [f"R {qubits}"]
    for _ in range(count):
        flipped = rng.choice(detectors, size=flips, replace=False)
        lines.append(f"CORRELATED_ERROR({p}) " + " ".join(f"X{q}" for q in flipped))
    return "\n".join([*lines, f"M {qubits}", *(f"DETECTOR rec[-{k + 1}]" for k in range(detectors))])


def memory_circuit(distance: int, p: float, rounds: int | None = None, basis: str = "z") -> stim.Circuit:
    """A memory experiment with a rotated surface code.

    Args:
        distance: Distance of the code.
        p: Strength of each noise channel: on gates, before measurements and after resets.
        rounds: Number of rounds; by default the distance.
        basis: "x" or "z"; with "x", data qubits have noise before each round, too.
    """
    return stim.Circuit.generated(
        f"surface_code:rotated_memory_{basis}",
        distance=distance,
        rounds=rounds or distance,
        after_clifford_depolarization=p,
        before_round_data_depolarization=p if basis == "x" else 0,
        before_measure_flip_probability=p,
        after_reset_flip_probability=p,
    )


def repetition_code(rounds: int, in_round: str = "") -> str:
    """A repetition code of distance 3, with further gates at the beginning of each round but the first."""
    circuit = stim.Circuit.generated(
        "repetition_code:memory", distance=3, rounds=rounds, after_clifford_depolarization=1e-3
    )
    return str(circuit).replace(f"REPEAT {rounds - 1} {{", f"REPEAT {rounds - 1} {{\n{in_round}")


def with_fresh_t_states(rounds: int) -> str:
    """The same with a T state in each round, which is measured at once."""
    before, middle, rest = repetition_code(rounds, "RX 10\nT 10\nMX 10").partition("REPEAT")
    body, end, after = rest.partition("}")
    # One more record lies between a round and the one before it.
    body = body.replace("rec[-4]", "rec[-5]").replace("rec[-3]", "rec[-4]")
    return before + middle + body + end + after


def layers_of_t_gates(count: int) -> str:
    """So many T gates on twelve qubits, in layers with Clifford gates between them."""
    layers, rest = divmod(count, 12)
    qubits = " ".join(map(str, range(12)))
    text = f"RX {qubits}\n"
    for layer in range(layers + 1):
        text += f"T {' '.join(map(str, range(12 if layer < layers else rest)))}\n".replace("T \n", "")
        shift = layer % 11 + 1
        pairs = [f"{k} {(k + shift) % 12}" for k in range(0, 12, 2 if shift % 2 else 12)]
        text += f"CX {' '.join(pairs)}\nH {qubits}\n"
    return text + f"M {qubits}\n"


def with_events(events: float, rounds: int) -> str:
    """A surface code of distance 3, with so many noise events per shot on average."""
    small = 1e-6
    per_strength = snc.Circuit(memory_circuit(3, small, rounds)).plan().mean_events / small
    return str(memory_circuit(3, events / per_strength, rounds))


def cultivation(distance: int, p: float) -> str:
    """Injection and cultivation, with T gates as other simulators read them."""
    text = str(cultivation_circuit(distance=distance, p=p))
    return text.replace("S[T]", "T").replace("S_DAG[T]", "T_DAG")


def factory(k: int, p: float, undone: bool = True) -> str:
    """3k+8-to-k without teleportation: each T gate acts on a product of Zs.

    Args:
        k: Number of outputs.
        p: Strength of all noise.
        undone: Whether ideal T gates undo the outputs before these are measured.
    """
    text = str(distillation_circuit("3k+8-to-k", k=k, t_error=p, p=p, teleported=False))
    before, detector, tail = text.rpartition("DETECTOR")
    kept = [line for line in tail.splitlines() if undone or "[T]" not in line]
    return _readable_by_all(before + detector + "\n".join(kept))


def _readable_by_all(text: str) -> str:
    """A factory whose T gates on products of Zs, with their errors, are gates on a qubit between CX gates."""

    def chain(found: re.Match[str]) -> str:
        *others, last = (factor[1:] for factor in found["product"].split("*"))
        parity = f"CX {' '.join(f'{q} {last}' for q in others)}\n" if others else ""
        return f"{parity}T{found['sign']} {last}\nZ_ERROR({found['p']}) {last}\n{parity}"

    text = re.sub(r"SPP(?P<sign>_DAG|)\[T\] (?P<product>\S+)\nE\((?P<p>\S+)\) .*\n", chain, text)
    return text.replace("S[T]", "T").replace("S_DAG[T]", "T_DAG")


def file(folder: Path, name: str) -> str:
    """A file. Expectation values are left out, as the other simulators cannot read them."""
    lines = (folder / f"{name}.stim").read_text(encoding="utf-8").splitlines()
    return "\n".join(line for line in lines if not line.startswith("EXP_VAL"))


def text_of(make: Callable[..., object], *arguments: object) -> Callable[[], str]:
    """A function that returns the text of the circuit that ``make`` returns."""
    return lambda: str(make(*arguments))


def peers(folder: Path) -> Iterator[Workload]:
    """The published circuits, in all simulators."""
    for name, stem in FILES.items():
        for mode in MODES[name == "qv10" :]:
            yield Workload(name, text_of(file, folder, stem), mode, PEERS)


def narrow(folder: Path) -> Iterator[Workload]:
    """Circuits whose outcomes need few coefficients or none, beside simulations with all coefficients."""
    cases = {
        **{f"3k+8-to-k, k={k}": text_of(factory, k, 1e-3) for k in (8, 18)},
        **{f"3k+8-to-k, k={k}, p=1e-4": text_of(factory, k, 1e-4) for k in (100, 200)},
        "3k+8-to-k, k=18, outputs measured directly": text_of(factory, 18, 1e-3, False),
        **{f"tricycle factory, {5 * n} qubits": text_of(tricycle_factory, n, 1e-3) for n in (27, 81)},
        **{f"cultivation d={d}": text_of(cultivation, d, 1e-3) for d in (5, 7)},
        "k19": text_of(file, folder, FILES["k19"]),
    }
    for name, build in cases.items():
        for mode in MODES:
            # No shot of the larger tricycle factory passes all its checks at this strength of noise.
            if mode == "bits" or "405" not in name:
                yield Workload(name, build, mode, (OURS, "with all coefficients", "clifft", "merlin-sim"))


def speed(folder: Path) -> Iterator[Workload]:
    """Cultivation, beside Stim on the S-proxy."""
    for d in (3, 5):
        name, simulators = f"cultivation d={d}, p=1e-3", (OURS, "two threads", "stim")
        yield Workload(name, text_of(cultivation, d, 1e-3), "postselected", simulators)


def width(folder: Path) -> Iterator[Workload]:
    """Circuits that differ in the width of the vector."""
    for w in range(4, 23):
        yield Workload(
            "every shot simulated", text_of(scrambled, w), "records", ("without store",), w, "width"
        )
        yield Workload("postselected, p=0.001", text_of(mirrored, w, 1e-3), x=w, plot="width")


def mechanisms(folder: Path) -> Iterator[Workload]:
    """Circuits that differ in the number of error mechanisms."""
    for count in (10, 30, 100, 300, 1000, 3000, 10_000, 30_000, 100_000):
        for name, p in (("half an event per shot", 0.5 / count), ("probability 0.001 each", 1e-3)):
            yield Workload(name, text_of(many_mechanisms, count, p), x=count, plot="errors in the circuit")


def noise(folder: Path) -> Iterator[Workload]:
    """Cultivation at several strengths of noise."""
    for p in (1e-4, 2e-4, 5e-4, 1e-3, 2e-3, 5e-3, 1e-2, 2e-2):
        for d in (3, 5):
            build, plot = text_of(cultivation, d, p), "physical error probability p"
            yield Workload(f"d={d}, postselected", build, x=p, plot=plot)
            yield Workload(f"d={d}, all bits of all shots", build, "bits", x=p, plot=plot)


def threads(folder: Path) -> Iterator[Workload]:
    """Two threads, beside one and beside two samplers that share nothing."""
    three = (OURS, "two threads", "two samplers")
    for d, mode in ((3, MODES[0]), (5, MODES[0]), (5, MODES[1])):
        yield Workload(f"cultivation d={d}, {mode}", text_of(cultivation, d, 1e-3), mode, three)
    three = ("without store", "without store, two threads", "without store, two samplers")
    for w in (10, 16):
        yield Workload(f"width {w}, every shot simulated", text_of(scrambled, w), "records", three)


def surface(folder: Path) -> Iterator[Workload]:
    """All detectors of surface codes, beside Stim."""
    for d in (7, 11, 15, 25):
        for p in (1e-3, 5e-3):
            yield Workload(f"d = {d}, p = {p:g}", text_of(memory_circuit, d, p), "bits", (OURS, "stim"))


def lists(folder: Path) -> Iterator[Workload]:
    """Rows of effects as words and as lists: ten events per shot, 4,000 mechanisms."""
    for words in (8, 12, 16, 32, 64, 128):
        for ones in (2, 4, 8, 16, 32):
            build = text_of(random_effects, 4000, 0.0025, 64 * words, ones, 1)
            yield Workload(f"{words} words, {ones} ones", build, "bits", ("lists", "words"))


def dense(folder: Path) -> Iterator[Workload]:
    """Circuits in which every shot simulates the vector."""
    for name in ("coherent-d5r5", "k19"):
        yield Workload(name, text_of(file, folder, FILES[name]), "bits", ("with all coefficients",))


def decoders(folder: Path) -> Iterator[Workload]:
    """Surface codes with a matching decoder, beside Sinter's."""
    names = ("soft_pymatching", "soft_pymatching without store", "pymatching")
    for p in (1e-3, 5e-3):
        for d in (3, 5, 7):
            yield Workload(f"d = {d}, p = {p:g}", text_of(memory_circuit, d, p, None, "x"), "decoded", names)


def decisions(folder: Path) -> Iterator[Workload]:
    """T gates by lattice surgery, whose S gates follow decoded outcomes."""
    for d, gates in ((3, 1), (3, 4), (3, 16), (5, 1), (5, 8)):
        build = text_of(teleported_t_gate, d, 1e-3, gates)
        yield Workload(f"d={d}, {gates} T gates", build, "decoded", ("pymatching in the loop",))


def first_shot(folder: Path) -> Iterator[Workload]:
    """From text to the first shot, beside Stim on the S-proxy and Clifft."""
    cases = {
        **{f"surface code d={d}, {d} rounds": text_of(memory_circuit, d, 1e-3) for d in (11, 15, 25)},
        "cultivation d=5": text_of(cultivation, 5, 1e-3),
        "repetition code d=3, 10⁴ rounds": text_of(repetition_code, 10**4),
        "the same, a T gate per round": text_of(repetition_code, 10**4, "T 0"),
        "the same, a fresh T state per round": text_of(with_fresh_t_states, 10**4),
        "repetition code d=3, 10⁵ rounds": text_of(repetition_code, 10**5),
        "repetition code d=3, 10⁶ rounds": text_of(repetition_code, 10**6),
        **{
            f"`{name}.stim`": text_of(file, folder, name)
            for name in ("e2e_t_d3_p1e-3", "e2e_t_d5_p1e-3", "quantum_volume_q20_seed42")
        },
    }
    for name, build in cases.items():
        yield Workload(name, build, "bits", (OURS, "stim", "clifft"))


def first_shot_growth(folder: Path) -> Iterator[Workload]:
    """The same against rounds, distance and T gates."""
    rounds = (10**2, 10**3, 10**4, 10**5, 10**6)
    curves: tuple[tuple[str, str, tuple[int, ...], Callable[[int], Callable[[], str]]], ...] = (
        ("rounds", "no T gates", rounds, lambda n: text_of(repetition_code, n)),
        ("rounds", "a T gate per round", rounds[:4], lambda n: text_of(repetition_code, n, "T 0")),
        ("rounds", "a fresh T state per round", rounds[:3], lambda n: text_of(with_fresh_t_states, n)),
        ("distance", "surface code", (3, 5, 7, 11, 15, 19, 25), lambda d: text_of(memory_circuit, d, 1e-3)),
        (
            "T gates",
            "layers on 12 qubits",
            (30, 100, 300, 1000, 3000, 10_000),
            lambda n: text_of(layers_of_t_gates, n),
        ),
    )
    for plot, name, places, build in curves:
        for x in places:
            yield Workload(name, build(x), "bits", (OURS, "stim", "clifft"), x, plot)


def estimates(folder: Path) -> Iterator[Workload]:
    """Logical error rates from fault sets, of cultivation."""
    for d, p in ((3, 5e-4), (3, 1e-3), (3, 2e-3), (3, 5e-3), (5, 1e-4), (5, 5e-4), (5, 1e-3), (5, 2e-3)):
        name, build = f"cultivation d={d}, p={p:g}", text_of(cultivation, d, p)
        yield Workload(name, build, "estimate", ("fault sets, 2 GiB",))


def estimates_growth(folder: Path) -> Iterator[Workload]:
    """The same of surface codes with more and more rounds, with little and with much memory."""
    limits = ("fault sets, 64 MiB", "fault sets, 2 GiB")
    for events in (0.3, 1.0):
        for rounds in (2, 4, 8, 16, 32, 64, 96):
            name, build = f"{events:g} events per shot", text_of(with_events, events, rounds)
            yield Workload(name, build, "estimate", limits, rounds, "rounds")


def tracked(folder: Path) -> Iterator[Workload]:
    """Fifteen workloads whose speed is stored from version to version, with goals."""
    cases: tuple[tuple[str, Callable[[], str], Mode, str, float], ...] = (
        ("cultivation d=3, p=1e-3", text_of(cultivation, 3, 1e-3), "postselected", OURS, 2e8),
        ("cultivation d=5, p=1e-3", text_of(cultivation, 5, 1e-3), "postselected", OURS, 1e8),
        ("cultivation d=3, p=1e-3", text_of(cultivation, 3, 1e-3), "bits", OURS, 5e7),
        ("cultivation d=5, p=1e-3", text_of(cultivation, 5, 1e-3), "bits", OURS, 5e6),
        ("surface code d=7, p=1e-3", text_of(memory_circuit, 7, 1e-3), "bits", OURS, 5e7),
        ("surface code d=15, p=5e-3", text_of(memory_circuit, 15, 5e-3), "bits", OURS, 1e6),
        ("32-to-8 distillation, p=1e-3", text_of(factory, 8, 1e-3), "postselected", OURS, 1e8),
        ("tricycle factory, 135 qubits", text_of(tricycle_factory, 27, 1e-3), "bits", OURS, 1e6),
        ("every shot simulated, width 10", text_of(scrambled, 10), "records", "without store", 3e5),
        ("every shot simulated, width 16", text_of(scrambled, 16), "records", "without store", 5e3),
        ("mirrored layers, width 12", text_of(mirrored, 12, 1e-3), "postselected", OURS, 2e8),
        ("10⁴ errors", text_of(many_mechanisms, 10_000, 5e-5), "bits", OURS, 1e8),
        (
            "surface code d=5, p=5e-3",
            text_of(memory_circuit, 5, 5e-3, None, "x"),
            "decoded",
            "soft_pymatching",
            5e5,
        ),
    )
    for name, build, mode, simulator, goal in cases:
        yield Workload(name, build, mode, (simulator,), goal=goal)
    first: tuple[tuple[str, Callable[[], str], Mode, str, float], ...] = (
        ("surface code d=25, the first shot", text_of(memory_circuit, 25, 1e-3), "bits", OURS, 0.2),
        (
            "cultivation d=3, p=1e-3, rate to 1%",
            text_of(cultivation, 3, 1e-3),
            "estimate",
            "fault sets, 2 GiB",
            0.5,
        ),
    )
    for name, build, mode, simulator, goal in first:
        yield Workload(name, build, mode, (simulator,), goal=goal, first_shot=True)


def _scramble(width: int, seed: int) -> list[str]:
    rng = np.random.default_rng([width, seed])
    lines = []
    for _ in range(_ROUNDS):
        order = rng.permutation(width)
        pairs = " ".join(map(str, order[: width // 2 * 2]))
        lines += [
            f"CX {pairs}",
            f"SQRT_X {' '.join(map(str, order[::2]))}",
            f"H {' '.join(map(str, order[1::2]))}",
        ]
    return lines


SUITES: dict[str, Callable[[Path], Iterator[Workload]]] = {
    suite.__name__: suite
    for suite in (
        *(peers, narrow, speed, threads, surface, lists, dense, decoders, decisions),
        *(width, mechanisms, noise, first_shot, first_shot_growth, estimates, estimates_growth, tracked),
    )
}
