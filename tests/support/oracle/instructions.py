"""Random choices of single instructions.

The choices come from a NumPy generator or from Hypothesis. An instruction refers to records by
arbitrary numbers, so that it stays meaningful in any circuit.
"""

from __future__ import annotations

import enum
import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar

import numpy as np
import stim
from hypothesis import strategies as st

Item = TypeVar("Item")

PROBABILITIES = (0.0, 0.1, 0.3, 0.5, 0.7, 1.0)
HALF_TURNS = (0.25, 0.5, -0.25, 1.0, 0.0, 0.123, -1.618, 2.75)
MAX_RECORD_REFERENCE = 1000


class Family(enum.Enum):
    """A family of instructions. The first ones are the simplest, preferred when shrinking."""

    ANNOTATIONS = "TICK, coordinates"
    CLIFFORD = "Clifford gates"
    PAULI_PHASE = "SPP and SPP_DAG"
    T = "T gates, also of Pauli products"
    ROTATIONS = "rotations by any angle, also of Pauli products"
    CONTROLLED = "CS CS_DAG CT CT_DAG CH CCZ CCX"
    MEASUREMENTS = "M MX MY MR MRX MRY MXX MYY MZZ MPP MPAD"
    MEASUREMENT_NOISE = "noise arguments of measurements"
    RESETS = "R RX RY"
    NOISE = "Pauli errors, single correlated errors, depolarizing and identity channels"
    EXOTIC_NOISE = "disjoint Pauli channels, chains of correlated errors, heralded channels"
    CONDITIONAL = "gates controlled by records and by sweep bits"
    FEEDBACK = "Paulis controlled by records and by sweep bits"
    DETECTORS = "DETECTOR"
    OBSERVABLES = "OBSERVABLE_INCLUDE of records"
    REPEAT = "repeated blocks"


ALL_FAMILIES = frozenset(Family)
CLIFFORD_FAMILIES = ALL_FAMILIES - {Family.T, Family.ROTATIONS, Family.CONTROLLED, Family.CONDITIONAL}


@dataclass(frozen=True)
class Operation:
    """One line of a circuit, or a block of lines."""

    template: str = ""  # the line, with ``{0}``, ``{1}``, ... in the places of record targets
    references: tuple[int, ...] = ()  # numbers that select the records for these places
    num_records: int = 0  # how many records the line produces
    repetitions: int = 0  # for a block, how often it is repeated
    body: tuple[Operation, ...] = ()  # for a block, its operations


class Chooser(Protocol):
    """A source of arbitrary choices."""

    def integer(self, low: int, high: int) -> int:
        """An integer between low and high, both included."""


class RandomChooser:
    """Makes uniformly random choices."""

    def __init__(self, rng: np.random.Generator):
        self.rng = rng

    def integer(self, low: int, high: int) -> int:
        """An integer between low and high, both included."""
        return int(self.rng.integers(low, high, endpoint=True))


class StrategyChooser:
    """Leaves the choices to Hypothesis, which prefers low numbers when it shrinks."""

    def __init__(self, draw: st.DrawFn):
        self.draw = draw

    def integer(self, low: int, high: int) -> int:
        """An integer between low and high, both included."""
        return self.draw(st.integers(low, high)) if low < high else low


def pick(chooser: Chooser, options: Sequence[Item]) -> Item:
    return options[chooser.integer(0, len(options) - 1)]


def _qubits(chooser: Chooser, num_qubits: int, count: int) -> list[int]:
    """Distinct qubits."""
    remaining = list(range(num_qubits))
    return [remaining.pop(chooser.integer(0, len(remaining) - 1)) for _ in range(count)]


def _bang(chooser: Chooser) -> str:
    return pick(chooser, ["", "!"])


def _product(chooser: Chooser, num_qubits: int, separator: str = "*") -> str:
    """A Pauli product on distinct qubits, possibly inverted."""
    qubits = _qubits(chooser, num_qubits, chooser.integer(1, min(3, num_qubits)))
    product = separator.join(f"{pick(chooser, 'XYZ')}{qubit}" for qubit in qubits)
    return _bang(chooser) + product if separator == "*" else product


def _angle(chooser: Chooser) -> str:
    return f"{pick(chooser, HALF_TURNS)}*pi"


def _disjoint_probabilities(chooser: Chooser, count: int) -> str:
    """Probabilities with a sum of at most 1, in multiples of 1/16 to be free of rounding."""
    left = pick(chooser, [16, 8])
    shares = []
    for _ in range(count):
        shares.append(chooser.integer(0, left) if chooser.integer(0, 1) else 0)
        left -= shares[-1]
    return ", ".join(str(share / 16) for share in shares)


def _targets(chooser: Chooser, num_qubits: int, arity: int) -> str:
    """One or two groups of distinct qubits."""
    groups = [_qubits(chooser, num_qubits, arity) for _ in range(chooser.integer(1, 2))]
    return " ".join(str(qubit) for group in groups for qubit in group)


@functools.cache
def _clifford_gates() -> tuple[tuple[str, int], ...]:
    """The names and numbers of qubits of Stim's gates on plain targets, simple ones first."""
    gates = [
        (name, 2 if gate.is_two_qubit_gate else 1)
        for name, gate in stim.gate_data().items()
        if gate.unitary_matrix is not None
    ]
    return tuple(sorted(gates, key=lambda gate: (gate[1], len(gate[0]), gate[0])))


def _clifford(chooser: Chooser, num_qubits: int) -> Operation:
    gate, arity = pick(chooser, [g for g in _clifford_gates() if g[1] <= num_qubits])
    return Operation(f"{gate} {_targets(chooser, num_qubits, arity)}")


def _pauli_phase(chooser: Chooser, num_qubits: int) -> Operation:
    return Operation(f"{pick(chooser, ['SPP', 'SPP_DAG'])} {_product(chooser, num_qubits)}")


def _t(chooser: Chooser, num_qubits: int) -> Operation:
    gate = pick(chooser, ["S", "S_DAG", "SPP", "SPP_DAG"])
    product = gate.startswith("SPP")
    targets = _product(chooser, num_qubits) if product else _targets(chooser, num_qubits, 1)
    return Operation(f"{gate}[T] {targets}")


def _rotation(chooser: Chooser, num_qubits: int) -> Operation:
    kinds = ["R_X", "R_Y", "R_Z", "U3", "SPP", "SPP_DAG"]
    kind = pick(chooser, kinds + (["R_XX", "R_YY", "R_ZZ"] if num_qubits > 1 else []))
    if kind.startswith("SPP"):
        angle = _angle(chooser)
        return Operation(f"{kind}[R_PAULI(theta={angle})] {_product(chooser, num_qubits)}")
    arity = 2 if kind in {"R_XX", "R_YY", "R_ZZ"} else 1
    angles = f"theta={_angle(chooser)}"
    if kind == "U3":
        angles += f", phi={_angle(chooser)}, lambda={_angle(chooser)}"
    return Operation(f"{'I' * arity}[{kind}({angles})] {_targets(chooser, num_qubits, arity)}")


def _controlled(chooser: Chooser, num_qubits: int) -> Operation:
    pairs = ["CS", "CS_DAG", "CT", "CT_DAG", "CH"] if num_qubits > 1 else []
    triples = ["CCZ", "CCX"] if num_qubits > 2 else []
    if not pairs:
        return _t(chooser, num_qubits)
    gate = pick(chooser, pairs + triples)
    carrier, arity = ("I", 3) if gate in triples else ("II", 2)
    return Operation(f"{carrier}[{gate}] {' '.join(map(str, _qubits(chooser, num_qubits, arity)))}")


def _measurement(chooser: Chooser, num_qubits: int) -> Operation:
    pairs = ["MXX", "MYY", "MZZ"] if num_qubits > 1 else []
    name = pick(chooser, ["M", "MX", "MY", "MR", "MRX", "MRY", "MPP", "MPAD", *pairs])
    count = chooser.integer(1, 2)
    groups = []
    for _ in range(count):
        if name == "MPP":
            groups.append(_product(chooser, num_qubits))
        elif name == "MPAD":
            groups.append(str(chooser.integer(0, 1)))
        else:
            qubits = _qubits(chooser, num_qubits, 2 if name in pairs else 1)
            groups.append(" ".join(f"{_bang(chooser)}{qubit}" for qubit in qubits))
    return Operation(f"{name} {' '.join(groups)}", num_records=count)


def _noisy_measurement(chooser: Chooser, num_qubits: int) -> Operation:
    operation = _measurement(chooser, num_qubits)
    name, targets = operation.template.split(" ", 1)
    p = pick(chooser, PROBABILITIES)
    return Operation(f"{name}({p}) {targets}", num_records=operation.num_records)


def _reset(chooser: Chooser, num_qubits: int) -> Operation:
    return Operation(f"{pick(chooser, ['R', 'RX', 'RY'])} {_targets(chooser, num_qubits, 1)}")


def _noise(chooser: Chooser, num_qubits: int) -> Operation:
    pairs = ["DEPOLARIZE2", "II_ERROR"] if num_qubits > 1 else []
    names = ["X_ERROR", "Y_ERROR", "Z_ERROR", "E", "DEPOLARIZE1", "I_ERROR", *pairs]
    name = pick(chooser, names)
    p = pick(chooser, PROBABILITIES)
    if name == "E":
        return Operation(f"E({p}) {_product(chooser, num_qubits, ' ')}")
    # Beyond these limits the noise cannot be written as independent Pauli errors.
    p = min(p, {"DEPOLARIZE1": 3 / 4, "DEPOLARIZE2": 15 / 16}.get(name, 1.0))
    return Operation(f"{name}({p}) {_targets(chooser, num_qubits, 2 if name in pairs else 1)}")


def _exotic_noise(chooser: Chooser, num_qubits: int) -> Operation:
    counts = {"PAULI_CHANNEL_1": 3, "HERALDED_PAULI_CHANNEL_1": 4, "PAULI_CHANNEL_2": 15}
    names = ["ELSE_CORRELATED_ERROR", "E", "HERALDED_ERASE", *counts]
    name = pick(chooser, names[: -1 if num_qubits == 1 else None])
    if name in {"E", "ELSE_CORRELATED_ERROR"}:
        p = pick(chooser, PROBABILITIES)
        return Operation(f"{name}({p}) {_product(chooser, num_qubits, ' ')}")
    heralded = name.startswith("HERALDED")
    if name == "HERALDED_ERASE":
        arguments = str(pick(chooser, PROBABILITIES))
    else:
        arguments = _disjoint_probabilities(chooser, counts[name])
    targets = _qubits(chooser, num_qubits, 2 if name == "PAULI_CHANNEL_2" else 1)
    return Operation(f"{name}({arguments}) {' '.join(map(str, targets))}", num_records=heralded)


def _feedback(chooser: Chooser, num_qubits: int) -> Operation:
    layout = pick(chooser, ["CX c q", "CY c q", "CZ c q", "CZ q c", "XCZ q c", "YCZ q c"])
    qubit = chooser.integer(0, num_qubits - 1)
    line = layout.replace("q", str(qubit))
    if chooser.integer(0, 4) == 4:
        return Operation(line.replace("c", f"sweep[{chooser.integer(0, 3)}]"))
    return Operation(line.replace("c", "{0}"), (chooser.integer(0, MAX_RECORD_REFERENCE),))


def _conditional(chooser: Chooser, num_qubits: int) -> Operation:
    """Any gate, controlled by one record, or a Pauli by two."""
    clifford, size = pick(chooser, [g for g in _clifford_gates() if g[1] <= num_qubits])
    words = [
        ("CS", 1),
        ("CS_DAG", 1),
        ("CT", 1),
        ("CT_DAG", 1),
        ("CH", 1),
        ("two records", 1),
        (f"C_{clifford}", size),
        (f"C_U3(theta={_angle(chooser)}, phi={_angle(chooser)}, lambda={_angle(chooser)})", 1),
    ]
    if clifford in ("I", "II", "X", "Y", "Z", "S", "S_DAG", "H", "CX", "CZ"):
        del words[-2]  # they have other names, or do nothing
    if num_qubits > 1:
        words += [("CCZ", 2), ("CCX", 2), ("C_CS", 2)]
    letters = "".join(pick(chooser, "XYZ") for _ in range(chooser.integer(1, min(3, num_qubits))))
    words.append((f"C_R_{letters}(theta={_angle(chooser)})", len(letters)))
    word, size = pick(chooser, words)
    qubits = _qubits(chooser, num_qubits, size)
    references = tuple(chooser.integer(0, MAX_RECORD_REFERENCE) for _ in range(2))
    if word == "two records":
        word = pick(chooser, ["CCZ", "CCX"])
        return Operation(f"CZ[{word}] {{0}} {qubits[0]} {{1}} {qubits[0]}", references)
    control = f"sweep[{chooser.integer(0, 3)}]" if chooser.integer(0, 9) == 9 else "{0}"
    pairs = " ".join(f"{control} {qubit}" for qubit in qubits)
    return Operation(f"CZ[{word}] {pairs}", references[:1] if control == "{0}" else ())


def _annotation(chooser: Chooser, num_qubits: int) -> Operation:
    line = pick(chooser, ["TICK", "SHIFT_COORDS(0, 1)", "QUBIT_COORDS(1, 2)"])
    qubit = f" {chooser.integer(0, num_qubits - 1)}" if line.startswith("QUBIT") else ""
    return Operation(line + qubit)


def _record_set(chooser: Chooser, prefix: str) -> Operation:
    count = chooser.integer(0, 3)
    places = " ".join(f"{{{k}}}" for k in range(count))
    references = tuple(chooser.integer(0, MAX_RECORD_REFERENCE) for _ in range(count))
    return Operation(f"{prefix} {places}".rstrip(), references)


def _detector(chooser: Chooser, num_qubits: int) -> Operation:
    return _record_set(chooser, pick(chooser, ["DETECTOR", "DETECTOR(1, 2)"]))


def _observable(chooser: Chooser, num_qubits: int) -> Operation:
    return _record_set(chooser, f"OBSERVABLE_INCLUDE({chooser.integer(0, 2)})")


GENERATORS: Mapping[Family, Callable[[Chooser, int], Operation]] = {
    Family.CLIFFORD: _clifford,
    Family.PAULI_PHASE: _pauli_phase,
    Family.T: _t,
    Family.CONTROLLED: _controlled,
    Family.ROTATIONS: _rotation,
    Family.MEASUREMENTS: _measurement,
    Family.MEASUREMENT_NOISE: _noisy_measurement,
    Family.RESETS: _reset,
    Family.NOISE: _noise,
    Family.EXOTIC_NOISE: _exotic_noise,
    Family.CONDITIONAL: _conditional,
    Family.FEEDBACK: _feedback,
    Family.ANNOTATIONS: _annotation,
    Family.DETECTORS: _detector,
    Family.OBSERVABLES: _observable,
}


def random_operation(chooser: Chooser, num_qubits: int, families: Sequence[Family]) -> Operation:
    family = pick(chooser, families)
    if family is not Family.REPEAT:
        return GENERATORS[family](chooser, num_qubits)
    repetitions = chooser.integer(1, 3)
    inner = [f for f in families if f is not Family.REPEAT] * 3 + [Family.REPEAT]
    body = tuple(random_operation(chooser, num_qubits, inner) for _ in range(chooser.integer(1, 3)))
    return Operation(repetitions=repetitions, body=body)
