"""Random noisy circuits with non-Clifford gates, most of whose outputs are certain without noise.

They are made of segments, after each of which the qubits are in a product state again:

* gates, and the same gates undone;
* gates, a Pauli product measured twice, of which the two outcomes agree, and a reset of all qubits;
* a measurement with a random outcome, gates that it controls, and these undone.

Noise stands everywhere in between. Records whose value is certain, sums of records that agree, and some
that are random, become detectors and observables.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import stim

_PAIRS = ("CX", "CZ", "ISWAP", "SQRT_XX", "CY", "SWAP")
_SINGLES = ("H", "S", "SQRT_X", "C_XYZ", "H_YZ")


@dataclass
class _Text:
    """A circuit in the making."""

    rng: np.random.Generator
    size: int
    exclusive: bool  # whether there is noise whose errors exclude each other
    clifford: bool  # whether all gates are Clifford gates
    lines: list[str] = field(default_factory=list)  # what is written so far
    records: int = 0
    # sets of records whose sum is certain without noise
    certain: list[list[int]] = field(default_factory=list)
    random: list[list[int]] = field(default_factory=list)  # sets of records whose sum may be random

    def chance(self, probability: float) -> bool:
        return bool(self.rng.random() < probability)

    def strength(self) -> float:
        """Of a place of noise: mostly small, sometimes larger than one half."""
        return float(f"{0.93 if self.chance(0.04) else 10 ** self.rng.uniform(-3, -0.8):.6g}")

    def qubits(self, count: int) -> list[int]:
        return [int(q) for q in self.rng.permutation(self.size)[:count]]

    def product(self) -> str:
        count = int(self.rng.integers(1, min(3, self.size) + 1))
        return "*".join(f"{self.rng.choice(list('XYZ'))}{q}" for q in self.qubits(count))

    def angle(self) -> float:
        return float(f"{self.rng.uniform(0.1, 0.9) * self.rng.choice([-1, 1]):.4g}")

    def noise(self) -> None:
        p = self.strength()
        q, *others = self.qubits(2)
        kinds = [
            f"{self.rng.choice(['X', 'Y', 'Z'])}_ERROR({p}) {q}",
            f"DEPOLARIZE1({min(p, 0.7)}) {q}",
            f"E({p}) {self.product().replace('*', ' ')}",
        ]
        if others:
            kinds.append(f"X_ERROR({p}) {q} {others[0]}")
        if self.exclusive:
            kinds.append(f"PAULI_CHANNEL_1({p / 3}, {p / 2}, {p / 7}) {q}")
            kinds.append(
                f"E({p}) {self.product().replace('*', ' ')}\nELSE_CORRELATED_ERROR({p}) X{q}\n"
                f"ELSE_CORRELATED_ERROR({min(2 * p, 1)}) {self.product().replace('*', ' ')}"
            )
            kinds.append(f"HERALDED_PAULI_CHANNEL_1({p / 4}, {p / 3}, {p / 5}, 0) {q}")
            kinds.append(f"HERALDED_ERASE({p}) {q}")
        line = str(self.rng.choice(kinds))
        self.lines.append(line)
        if line.startswith("HERALDED"):
            self.certain.append([self.records])
            self.records += 1

    def maybe_noise(self, probability: float) -> None:
        if self.chance(probability):
            self.noise()

    def gate(self) -> tuple[str, str]:
        """A gate and its inverse."""
        q, *others = self.qubits(3)
        kind = int(self.rng.integers(6 if self.clifford else 0, 9))
        angle = self.angle()
        if kind == 0:
            return f"S[T] {q}", f"S_DAG[T] {q}"
        if kind == 1:
            product = self.product()
            return f"SPP[T] {product}", f"SPP_DAG[T] {product}"
        if kind == 2:
            product = self.product()
            return f"SPP[R_PAULI(theta={angle}*pi)] {product}", f"SPP[R_PAULI(theta={-angle}*pi)] {product}"
        if kind == 3:
            axis = self.rng.choice(list("XYZ"))
            return f"I[R_{axis}(theta={angle}*pi)] {q}", f"I[R_{axis}(theta={-angle}*pi)] {q}"
        if kind == 4:
            a, b, c = angle, self.angle(), self.angle()
            return tuple(  # type: ignore[return-value]
                f"I[U3(theta={x}*pi, phi={y}*pi, lambda={z}*pi)] {q}" for x, y, z in ((a, b, c), (-a, -c, -b))
            )
        if kind == 5 and others:
            return f"II[CS] {q} {others[0]}", f"II[CS_DAG] {q} {others[0]}"
        if kind == 6 and others:
            name = str(self.rng.choice(_PAIRS))
            return f"{name} {q} {others[0]}", f"{stim.gate_data(name).inverse.name} {q} {others[0]}"
        name = str(self.rng.choice(_SINGLES))
        return f"{name} {q}", f"{stim.gate_data(name).inverse.name} {q}"

    def measure(self, what: str) -> int:
        """One measurement, noisy or not; its record."""
        name, targets = what.split(" ", 1)
        noisy = f"({self.strength()})" if self.chance(0.3) else ""
        self.lines.append(f"{name}{noisy} {targets}")
        self.records += 1
        return self.records - 1

    def echo(self, gates: int) -> None:
        """Gates and their inverses; then some qubits are measured."""
        pairs = [self.gate() for _ in range(gates)]
        for forward, _ in pairs:
            self.lines.append(forward)
            self.maybe_noise(0.3)
        for _, backward in reversed(pairs):
            self.lines.append(backward)
            self.maybe_noise(0.2)
        for q in self.qubits(int(self.rng.integers(1, self.size + 1))):
            self.certain.append([self.measure(f"{self.rng.choice(['M', 'MR'])} {q}")])

    def repetition(self, gates: int) -> None:
        """A product that is measured twice in some state; the qubits start again afterwards."""
        for _ in range(gates):
            self.lines.append(self.gate()[0])
            self.maybe_noise(0.2)
        product = self.product()
        first = self.measure(f"MPP {product}")
        self.maybe_noise(0.7)
        second = self.measure(f"MPP {product}")
        self.certain.append([first, second])
        self.random.append([first])
        self.lines.append(f"R {' '.join(map(str, range(self.size)))}")

    def feedback(self) -> None:
        """A random record, and gates that it controls twice."""
        q, *others = self.qubits(2)
        self.lines.append(f"I[R_X(theta={self.angle()}*pi)] {q}")
        self.maybe_noise(0.5)
        record = self.measure(f"MR {q}")
        self.random.append([record])
        place = f"rec[{record - self.records}]"
        target = others[0] if others else q
        forward, backward = (
            ("CT", "CT_DAG"),
            ("CH", "CH"),
            ("C_R_X(theta=0.3*pi)", "C_R_X(theta=-0.3*pi)"),
            ("CS", "CS_DAG"),
        )[int(self.rng.integers(4))]
        self.lines.append(f"CZ[{forward}] {place} {target}")
        self.maybe_noise(0.7)
        self.lines.append(f"CZ[{backward}] {place} {target}")
        if self.chance(0.5):
            # A Pauli that the record controls, and the sum of both records.
            self.lines.append(f"CX {place} {target}")
            self.maybe_noise(0.5)
            self.certain.append([record, self.measure(f"MR {target}")])
        else:
            self.certain.append([self.measure(f"MR {target}")])


def certain_circuit(
    rng: np.random.Generator,
    *,
    num_qubits: int,
    num_segments: int = 2,  # how many segments; fewer if the records are used up
    gates: int = 5,  # how many gates a segment has, before they are undone
    max_records: int = 9,  # no segment begins with more records, less the number of qubits
    exclusive: bool = True,  # whether there is noise whose errors exclude each other
    clifford: bool = False,  # whether all gates are Clifford gates; then no record controls one
    mixed: bool = False,  # whether the gates of every other segment are
    num_observables: int = 2,  # how many observables there are
    # the probability that a random record is an output, and that it is one of an observable
    random_outputs: float = 0.4,
) -> stim.Circuit:
    """A noisy circuit of segments whose outputs are mostly certain without noise."""
    text = _Text(rng, num_qubits, exclusive, clifford)
    for segment in range(num_segments):
        if text.records + num_qubits > max_records:
            break
        text.clifford = clifford or (mixed and segment % 2 == 0)
        kind = int(rng.integers(4))
        if kind == 0:
            text.repetition(gates)
        elif kind == 1 and not text.clifford:
            text.feedback()
        else:
            text.echo(gates)
    detectors, observables = _outputs(text, num_observables, random_outputs)
    for records in detectors:
        text.lines.append(f"DETECTOR {_places(records, text.records)}")
    for k, records in enumerate(observables):
        text.lines.append(f"OBSERVABLE_INCLUDE({k}) {_places(records, text.records)}")
    return stim.Circuit("\n".join(text.lines))


def _places(records: Sequence[int], total: int) -> str:
    return " ".join(f"rec[{record - total}]" for record in records)


def _outputs(text: _Text, count: int, random: float) -> tuple[list[list[int]], list[list[int]]]:
    """The records of the detectors and those of the observables."""
    detectors: list[list[int]] = []
    observables: list[list[int]] = [[] for _ in range(count)]
    for records in text.certain:
        if text.chance(0.6):
            detectors.append(records)
        else:
            observables[int(text.rng.integers(count))] += records
            continue
        if text.chance(0.4):
            observables[int(text.rng.integers(count))] += records
    for records in text.random:
        if text.chance(random):
            if text.chance(random):
                observables[int(text.rng.integers(count))] += records
            else:
                detectors.append(records)
    return detectors, observables
