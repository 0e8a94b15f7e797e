"""Exact simulation of small noisy Clifford+T circuits with density matrices.

The state is a map from the measurement records so far to an unnormalised density matrix, whose
trace is the probability of those records. Every instruction is a quantum instrument: a list of
terms ``(weight, bits, K)``, each of which appends ``bits`` to the records and maps the density
matrix rho to ``weight * K rho K^dagger``. Branches that end up with equal records are added up.

Sweep bits are 0, as in Stim's samplers when no sweep data is given.
"""

import itertools
import re
from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import numpy.typing as npt
import stim

from .conditional import conditional_gates
from .operators import (
    PAULIS,
    Matrix,
    gate_unitary,
    kron,
    parse_tag,
    pauli_product,
    pauli_string,
    target_terms,
)
from .relaxation import is_relaxation, kraus_operators

Records = tuple[int, ...]
Distribution = dict[Records, float]
Term = tuple[float, Records, Matrix]
# The records, and whether the current chain of correlated errors has already fired.
Key = tuple[Records, bool]
# A density matrix of n qubits with one axis per row bit, then one axis per column bit; or many, with a first axis.
Tensor = npt.NDArray[np.complex128]

MISREAD = re.compile(r"READOUT_NOISE\(p01=(.*), p10=(.*)\)")

THREE_QUBIT_ERRORS = re.compile(r"(DEPOLARIZE3|PAULI_CHANNEL_3)\((?:p=)?(.*)\)")

TIE_TOLERANCE = 1e-9

_QUBITS_OF_SUPEROPERATORS = 2
"""On more qubits, superoperators are too large to be worth it."""

_ANNOTATIONS = {"TICK", "QUBIT_COORDS", "SHIFT_COORDS", "I_ERROR", "II_ERROR"}
_MEASURED_BASIS = {
    "M": "Z", "MX": "X", "MY": "Y",
    "MR": "Z", "MRX": "X", "MRY": "Y",
    "MXX": "X", "MYY": "Y", "MZZ": "Z",
    "MPP": None,
}  # fmt: skip
_RESET_BASIS = {"R": "Z", "RX": "X", "RY": "Y", "MR": "Z", "MRX": "X", "MRY": "Y"}
_FLIP_OF_BASIS = {"X": "Z", "Y": "X", "Z": "X"}
_PAULIS_1 = ["X", "Y", "Z"]
_PAULIS_3 = [a + b + c for a, b, c in itertools.product("IXYZ", repeat=3)][1:]
_PAULIS_2 = [a + b for a, b in itertools.product("IXYZ", repeat=2) if a + b != "II"]
_PAULI_CHANNELS = {
    "X_ERROR": ["X"], "Y_ERROR": ["Y"], "Z_ERROR": ["Z"],
    "DEPOLARIZE1": _PAULIS_1, "PAULI_CHANNEL_1": _PAULIS_1,
    "DEPOLARIZE2": _PAULIS_2, "PAULI_CHANNEL_2": _PAULIS_2,
    "DEPOLARIZE3": _PAULIS_3, "PAULI_CHANNEL_3": _PAULIS_3,
}  # fmt: skip
_HERALDED_CHANNELS = {"HERALDED_ERASE": [*"IXYZ"], "HERALDED_PAULI_CHANNEL_1": [*"IXYZ"]}
# The Pauli that a record applies, and the places where the target may be a record.
_FEEDBACK = {
    "CX": ("X", (0,)), "CY": ("Y", (0,)), "CZ": ("Z", (0, 1)),
    "XCZ": ("X", (1,)), "YCZ": ("Y", (1,)),
}  # fmt: skip


def transformed(tensor: Tensor, matrix: Matrix, axes: Sequence[int]) -> Tensor:
    """A matrix applied to some axes of a tensor, the first of them its most significant one."""
    order = [*axes, *(axis for axis in range(tensor.ndim) if axis not in axes)]
    moved = tensor.transpose(order)
    product = matrix @ moved.reshape(len(matrix), -1)
    return product.reshape(moved.shape).transpose(np.argsort(order))


def sandwich(rho: Tensor, operator: Matrix, qubits: Sequence[int]) -> Tensor:
    """K rho K^dagger, for an operator K on some of the qubits."""
    rows, columns = _axes(rho, qubits)
    return transformed(transformed(rho, operator, rows), operator.conj(), columns)


def _axes(rho: Tensor, qubits: Sequence[int]) -> tuple[list[int], list[int]]:
    """The row axes and the column axes of some qubits."""
    # The first qubit is the least significant bit, hence the last axis. An odd one is that of the branches.
    rows = [rho.ndim % 2 + qubit for qubit in reversed(qubits)]
    return rows, [rho.ndim // 2 + row for row in rows]


def superoperators(instrument: Iterable[Term]) -> dict[Records, Matrix]:
    """By the bits of the terms, the sum of weight * K (x) K*, which acts on rows and columns at once."""
    by_bits: dict[Records, list[tuple[float, Matrix]]] = {}
    for weight, bits, operator in instrument:
        by_bits.setdefault(bits, []).append((weight, operator))
    result = {}
    for bits, terms in by_bits.items():
        weights, operators = np.array([w for w, _ in terms]), np.array([k for _, k in terms])
        factors = weights[:, np.newaxis, np.newaxis] * operators
        size = operators.shape[1] ** 2
        result[bits] = np.einsum("kab,kcd->acbd", factors, operators.conj()).reshape(size, size)
    return result


def probability(rho: Tensor) -> float:
    """The trace of a density matrix."""
    dimension = 2 ** (rho.ndim // 2)
    return float(rho.reshape(dimension, dimension).trace().real)


def _probabilities(branches: Mapping[Key, Tensor]) -> dict[Key, float]:
    """The traces of all density matrices."""
    together = np.stack(list(branches.values()))
    dimension = 2 ** (together.ndim // 2)
    traces = together.reshape(-1, dimension, dimension).trace(axis1=1, axis2=2).real
    return dict(zip(branches, traces.tolist(), strict=True))


class Simulator:
    """Runs circuits on the given qubits, which start in |0>."""

    def __init__(self, qubits: Sequence[int], cutoff: float = 0.0):
        self.position = {qubit: k for k, qubit in enumerate(qubits)}
        zero = np.zeros((2,) * (2 * len(qubits)), dtype=np.complex128)
        zero[(0,) * zero.ndim] = 1
        self.branches: dict[Key, Tensor] = {((), False): zero}
        self.cutoff = cutoff
        self.num_records = 0
        self.detectors: list[list[int]] = []
        self.observables: dict[int, list[int]] = {}

    def run(self, circuit: stim.Circuit) -> None:
        """Performs the instructions of a circuit."""
        for instruction in circuit:
            if isinstance(instruction, stim.CircuitRepeatBlock) and instruction.tag.startswith("IF "):
                self._run_if(instruction)
            elif isinstance(instruction, stim.CircuitRepeatBlock) and instruction.tag.startswith("UNTIL "):
                self._run_until(instruction)
            elif isinstance(instruction, stim.CircuitRepeatBlock):
                for _ in range(instruction.repeat_count):
                    self.run(instruction.body_copy())
            else:
                self._perform(instruction)

    def _run_if(self, block: stim.CircuitRepeatBlock) -> None:
        """Runs a block in the branches that have its condition. In the others, its records are 0."""
        body = block.body_copy()
        others = {key: rho for key, rho in self.branches.items() if not self._holds(block.tag, key[0])}
        self.branches = {key: rho for key, rho in self.branches.items() if key not in others}
        self.run(body)
        for (records, fired), rho in others.items():
            _accumulate(self.branches, (records + (0,) * body.num_measurements, fired), rho)

    def _run_until(self, block: stim.CircuitRepeatBlock) -> None:
        """Runs a block until its condition holds. The records of the attempts come last in its places."""
        body, before, done = block.body_copy(), self.num_records, dict[Key, Tensor]()
        for left in reversed(range(block.repeat_count)):
            self.run(body)
            failed = {}
            for (records, fired), rho in self.branches.items():
                if left and not self._holds(block.tag, records):
                    failed[records, fired] = rho
                    continue
                skipped = (0,) * (left * body.num_measurements)
                _accumulate(done, (records[:before] + skipped + records[before:], fired), rho)
            self.branches = failed
        self.branches = done

    def _holds(self, tag: str, records: Records) -> bool:
        """Whether all terms of a condition hold."""
        return all(
            sum(records[self.num_records + int(place)] for place in re.findall(r"-\d+", term)) % 2
            != term.startswith("!")
            for term in tag.split()[1:]
        )

    def _perform(self, instruction: stim.CircuitInstruction) -> None:
        name = instruction.name
        arguments = instruction.gate_args_copy()
        groups = instruction.target_groups()
        if is_relaxation(instruction.tag):
            terms: list[Term] = [(1, (), operator) for operator in kraus_operators(instruction.tag)]
            for group in groups:
                self._apply(terms, [target.value for target in group])
            return
        errors = THREE_QUBIT_ERRORS.fullmatch(instruction.tag)
        if errors:
            terms = _noise(errors[1], [float(part) for part in errors[2].split(",")])
            qubits = [target.value for target in instruction.targets_copy()]
            for k in range(0, len(qubits), 3):
                self._apply(terms, qubits[k : k + 3])
            return
        if name in _ANNOTATIONS:
            return
        if name == "DETECTOR":
            self.detectors.append([self._record(target) for (target,) in groups])
        elif name == "OBSERVABLE_INCLUDE":
            records = self.observables.setdefault(round(arguments[0]), [])
            for target in instruction.targets_copy():
                if target.is_measurement_record_target:
                    records.append(self._record(target))
        elif name in {"E", "ELSE_CORRELATED_ERROR"}:
            terms, _ = target_terms(t for t in instruction.targets_copy() if not t.is_combiner)
            self._correlated_error(arguments[0], terms, chained=name != "E")
        elif name == "MPAD":
            for (target,) in groups:
                self._apply(_with_record(target.value, arguments, kron([])), [])
        elif (conditional := conditional_gates(instruction)) is not None:
            for controls, qubits, unitary in conditional:
                if not any(control.is_sweep_bit_target for control in controls):
                    records = [self._record(control) for control in controls]
                    self._apply([(1, (), unitary)], qubits, controls=records)
        else:
            if name == "I" and parse_tag(name, instruction.tag).name in {"CCZ", "CCX"}:
                targets = instruction.targets_copy()
                groups = [targets[k : k + 3] for k in range(0, len(targets), 3)]
            for group in groups:
                self._perform_on_group(name, arguments, instruction.tag, group)

    def _perform_on_group(
        self, name: str, arguments: Sequence[float], tag: str, group: Sequence[stim.GateTarget]
    ) -> None:
        if any(t.is_measurement_record_target or t.is_sweep_bit_target for t in group):
            self._feedback(name, group)
        elif name in _MEASURED_BASIS:
            self._measure(name, arguments, group, tag)
        elif name in _RESET_BASIS:
            self._reset(_RESET_BASIS[name], group)
        elif stim.gate_data(name).is_unitary:
            qubits, unitary = gate_unitary(name, tag, group)
            self._apply([(1, (), unitary)], qubits)
        else:
            self._apply(_noise(name, arguments), [target.value for target in group])

    def _apply(self, instrument: Sequence[Term], qubits: Sequence[int], controls: Sequence[int] = ()) -> None:
        """Applies an instrument, in the branches whose controlling records are all 1."""
        positions = [self.position[qubit] for qubit in qubits]
        terms = [term for term in instrument if term[0] > 0]
        acting = {
            key: rho for key, rho in self.branches.items() if all(key[0][control] for control in controls)
        }
        new = {key: rho for key, rho in self.branches.items() if key not in acting}
        if acting:
            together = np.stack(list(acting.values()))
            if len(qubits) <= _QUBITS_OF_SUPEROPERATORS:
                rows, columns = _axes(together, positions)
                changed = [
                    (bits, transformed(together, matrix, rows + columns))
                    for bits, matrix in superoperators(terms).items()
                ]
            else:
                changed = [(bits, weight * sandwich(together, k, positions)) for weight, bits, k in terms]
            for bits, rhos in changed:
                for (records, flag), rho in zip(acting, rhos, strict=True):
                    _accumulate(new, (records + bits, flag), rho)
        self._replace_branches(new)
        self.num_records += len(instrument[0][1])

    def _replace_branches(self, new: dict[Key, Tensor]) -> None:
        if new:
            self.branches = {key: new[key] for key, p in _probabilities(new).items() if p > self.cutoff}

    def _record(self, target: stim.GateTarget) -> int:
        """The absolute number of the record that a rec[-k] target refers to."""
        index: int = self.num_records + target.value
        if index < 0:
            raise ValueError(f"{target} refers to a time before the first measurement")
        return index

    def _feedback(self, name: str, group: Sequence[stim.GateTarget]) -> None:
        """Applies a Pauli to a qubit if a record is 1. Controlled phases of records do nothing."""
        letter, control_places = _FEEDBACK[name]
        for k, target in enumerate(group):
            if target.qubit_value is None and k not in control_places:
                raise ValueError(f"{name} would edit the record {target}")
        qubits = [target.value for target in group if target.qubit_value is not None]
        for target in group:
            if target.is_measurement_record_target and qubits:
                self._apply([(1, (), PAULIS[letter])], qubits, controls=[self._record(target)])

    def _measure(
        self, name: str, arguments: Sequence[float], group: Sequence[stim.GateTarget], tag: str = ""
    ) -> None:
        misread = MISREAD.fullmatch(tag)
        terms, negated = target_terms(group, _MEASURED_BASIS[name])
        qubits, pauli = pauli_product(terms)
        identity = np.eye(len(pauli))
        instrument = []
        for outcome in (0, 1):
            operator = (identity + (-1) ** outcome * pauli) / 2
            if outcome and name in _RESET_BASIS:
                operator = PAULIS[_FLIP_OF_BASIS[_RESET_BASIS[name]]] @ operator
            flip = [float(misread[1 + outcome])] if misread else arguments
            instrument += _with_record(outcome ^ negated, flip, operator)
        self._apply(instrument, qubits)

    def _reset(self, basis: str, group: Sequence[stim.GateTarget]) -> None:
        pauli, flip = PAULIS[basis], PAULIS[_FLIP_OF_BASIS[basis]]
        projectors = [(PAULIS["I"] + pauli) / 2, (PAULIS["I"] - pauli) / 2]
        instrument: list[Term] = [(1, (), projectors[0]), (1, (), flip @ projectors[1])]
        self._apply(instrument, [target.value for target in group])

    def _correlated_error(self, p: float, terms: list[tuple[str, int]], chained: bool) -> None:
        """A Pauli product error; a chained one cannot occur once the chain has fired."""
        new: dict[Key, Tensor] = {}
        for (records, fired), rho in self.branches.items():
            if chained and fired:
                _accumulate(new, (records, True), rho)
                continue
            hit = rho
            for letter, qubit in terms:
                hit = sandwich(hit, PAULIS[letter], [self.position[qubit]])
            _accumulate(new, (records, True), p * hit)
            _accumulate(new, (records, False), (1 - p) * rho)
        self._replace_branches(new)


class ReferenceSimulator(Simulator):
    """Keeps, after each measurement, only the branch of its more likely outcome.

    A tie is broken in favour of the +1 eigenvalue of the measured Pauli product, which an inverted
    target records as 1. With ``collapse_resets`` the outcome of the measurement inside a reset is
    chosen in the same way; otherwise a reset discards it, leaving a mixed state. ``tied`` says whether
    two outcomes were equally likely anywhere.
    """

    tied = False

    def __init__(self, qubits: Sequence[int], collapse_resets: bool = False):
        super().__init__(qubits)
        self.collapse_resets = collapse_resets

    def _replace_branches(self, new: dict[Key, Tensor]) -> None:
        weights = _probabilities(new)
        best = max(weights.values())
        likeliest = [key for key, weight in weights.items() if weight >= best - TIE_TOLERANCE]
        self.tied |= len(likeliest) > 1
        key = likeliest[0]
        self.branches = {key: new[key] / weights[key]}

    def _reset(self, basis: str, group: Sequence[stim.GateTarget]) -> None:
        if not self.collapse_resets:
            super()._reset(basis, group)
            return
        self._measure({"Z": "MR", "X": "MRX", "Y": "MRY"}[basis], [], group)
        (((records, fired), rho),) = self.branches.items()
        self.branches = {(records[:-1], fired): rho}
        self.num_records -= 1


def _accumulate(branches: dict[Key, Tensor], key: Key, rho: Tensor) -> None:
    branches[key] = branches[key] + rho if key in branches else rho


def _with_record(bit: int, arguments: Sequence[float], operator: Matrix) -> list[Term]:
    """A term that records a bit, wrongly with the probability given by the arguments, if any."""
    p = arguments[0] if arguments else 0.0
    return [(1 - p, (bit,), operator), (p, (1 - bit,), operator)]


def _noise(name: str, arguments: Sequence[float]) -> list[Term]:
    """The instrument of a noise channel on one group of targets.

    Channels with a single argument share it equally among their Paulis.
    """
    heralded = name in _HERALDED_CHANNELS
    paulis = _HERALDED_CHANNELS[name] if heralded else _PAULI_CHANNELS[name]
    equal_shares = [arguments[0] / len(paulis)] * len(paulis)
    weights = arguments if len(arguments) == len(paulis) else equal_shares
    instrument: list[Term] = [
        (1 - sum(weights), (0,) if heralded else (), pauli_string("I" * len(paulis[0])))
    ]
    for weight, pauli in zip(weights, paulis, strict=True):
        instrument.append((weight, (1,) if heralded else (), pauli_string(pauli)))
    return instrument


def used_qubits(circuit: stim.Circuit) -> list[int]:
    """The qubits that occur in the instructions of a circuit, in ascending order."""
    qubits: set[int] = set()
    for instruction in circuit:
        if isinstance(instruction, stim.CircuitRepeatBlock):
            qubits.update(used_qubits(instruction.body_copy()))
        elif (
            instruction.name not in _ANNOTATIONS | {"MPAD"}
            or is_relaxation(instruction.tag)
            or THREE_QUBIT_ERRORS.fullmatch(instruction.tag)
        ):
            targets = instruction.targets_copy()
            qubits.update(t.value for t in targets if t.qubit_value is not None)
    return sorted(qubits)


def _simulate(circuit: stim.Circuit, cutoff: float = 0.0) -> tuple[Simulator, Distribution]:
    """The simulator after the circuit, and the distribution of its records; neither is to be changed."""
    if _last and _last[0][0] == (circuit, cutoff):
        return _last[0][1]
    simulator = Simulator(used_qubits(circuit), cutoff)
    simulator.run(circuit)
    distribution: Distribution = {}
    for (records, _), rho in simulator.branches.items():
        distribution[records] = distribution.get(records, 0.0) + probability(rho)
    _last[:] = [((circuit.copy(), cutoff), (simulator, distribution))]
    return simulator, distribution


_last: list[tuple[tuple[stim.Circuit, float], tuple[Simulator, Distribution]]] = []
"""What was simulated last, as many tests ask for the records of a circuit and then for its detectors."""


def record_distribution(circuit: stim.Circuit, *, cutoff: float = 0.0) -> Distribution:
    """The joint distribution of all measurement records of a noisy circuit.

    Branches whose probability drops to the cutoff or below are forgotten. Rounding errors may
    leave impossible records with a probability of about 1e-17; a cutoff of 1e-14 removes them.
    """
    return dict(_simulate(circuit, cutoff)[1])


def detector_distribution(circuit: stim.Circuit, *, cutoff: float = 0.0) -> Distribution:
    """The joint distribution of the parities of the records in D0, D1, ..., L0, L1, ..."""
    if _has_pauli_observables(circuit):
        raise NotImplementedError("OBSERVABLE_INCLUDE with Pauli targets")
    simulator, records_distribution = _simulate(circuit, cutoff)
    distribution: Distribution = {}
    for records, p in records_distribution.items():
        parities = _parities(simulator, records, circuit.num_observables)
        distribution[parities] = distribution.get(parities, 0.0) + p
    return distribution


def reference_sample(circuit: stim.Circuit, *, collapse_resets: bool = False) -> Records:
    """The records of the noiseless circuit when each measurement takes its more likely value; heralds read 0.

    With ``collapse_resets``, the hidden outcome of the reset of an entangled qubit is fixed, too, as Stim's reference sample does.
    """
    simulator = ReferenceSimulator(used_qubits(circuit), collapse_resets)
    simulator.run(circuit.without_noise())
    ((records, _),) = simulator.branches
    return records


def unique_reference(circuit: stim.Circuit) -> tuple[Records, Records] | None:
    """The records of the likeliest noiseless sample and its detectors and observables; None if it is not unique."""
    simulator = ReferenceSimulator(used_qubits(circuit), collapse_resets=True)
    simulator.run(circuit.without_noise())
    if simulator.tied:
        return None
    ((records, _),) = simulator.branches
    return records, _parities(simulator, records, circuit.num_observables)


def _parities(simulator: Simulator, records: Records, num_observables: int) -> Records:
    sets = [*simulator.detectors, *(simulator.observables.get(k, []) for k in range(num_observables))]
    return tuple(sum(records[k] for k in members) % 2 for members in sets)


def final_density_matrix(circuit: stim.Circuit) -> Matrix:
    """The state of qubits 0, 1, ... after a circuit, averaged over the measurement records."""
    simulator = Simulator(range(circuit.num_qubits))
    simulator.run(circuit)
    total = sum(simulator.branches.values(), start=np.zeros((), dtype=np.complex128))
    bits = circuit.num_qubits
    axes = [*reversed(range(bits)), *reversed(range(bits, 2 * bits))]
    return total.transpose(axes).reshape(2**bits, 2**bits)


def _has_pauli_observables(circuit: stim.Circuit) -> bool:
    return any(
        instruction.name == "OBSERVABLE_INCLUDE"
        and any(not target.is_measurement_record_target for target in instruction.targets_copy())
        for instruction in circuit.flattened()
    )
