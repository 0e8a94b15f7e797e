"""Exact simulation of small noisy circuits in which qubits leak and are lost.

A qubit has its two levels, a leaked and a lost one. No instruction makes superpositions of levels that differ in
what is leaked, so that the density matrix is a sum over the *levels* of all qubits: for each, the unnormalised
density matrices of ``density_matrix``, in which qubits that are leaked or lost are completely mixed.
"""

import copy
import itertools
import re
from collections.abc import Iterator, Sequence

import numpy as np
import stim

from .density_matrix import MISREAD, Distribution, Simulator, Term, probability
from .operators import PAULIS, parse_tag, pauli_string
from .relaxation import is_relaxation

HERE, LEAKED, LOST = 0, 1, 2
Levels = tuple[int, ...]

_CHANNEL = re.compile(
    r"(LEAKAGE_SPREAD|LEAKAGE|LOSS|RELAX|RL|HERALD_LEAKAGE_EVENT|HERALD_LOSS_EVENT"
    r"|LEAKAGE_FROM_ONE|LEAKAGE_FROM_11|RELAX_TO_ONE"
    r"|LEAKAGE_PARTNER|LEAKAGE_READOUT|LOSS_REPLACEMENT|LEAKAGE_SKIPS_GATES)(?:\(\w+=(.*)\))?"
)
_ZERO, _ONE = np.diag([1, 0]).astype(np.complex128), np.diag([0, 1]).astype(np.complex128)
_TO_ONE: list[Term] = [(1, (), _ONE), (1, (), PAULIS["X"] @ _ZERO)]
_MIX: list[Term] = [(0.25, (), PAULIS[letter]) for letter in "IXYZ"]
_NOISE = {"X_ERROR", "Y_ERROR", "Z_ERROR", "DEPOLARIZE1", "DEPOLARIZE2", "PAULI_CHANNEL_1", "PAULI_CHANNEL_2",
          "E", "ELSE_CORRELATED_ERROR", "HERALDED_ERASE", "HERALDED_PAULI_CHANNEL_1"}  # fmt: skip
_WITHOUT_QUBITS = {"DETECTOR", "OBSERVABLE_INCLUDE", "MPAD", "TICK", "QUBIT_COORDS", "SHIFT_COORDS"}
_MODELS = {"LEAKAGE_PARTNER", "LEAKAGE_READOUT", "LOSS_REPLACEMENT", "LEAKAGE_SKIPS_GATES"}
_RESETS = {"R", "RX", "RY", "MR", "MRX", "MRY"}


class LeakageSimulator:
    """Runs circuits on the qubits 0, 1, ..., which start in |0>."""

    def __init__(self, num_qubits: int) -> None:
        self.num_qubits = num_qubits
        self.parts: dict[Levels, Simulator] = {(HERE,) * num_qubits: Simulator(range(num_qubits))}
        self.models: dict[tuple[str, int], list[float]] = {}  # by name and qubit

    def run(self, circuit: stim.Circuit) -> None:
        """Performs the instructions of a circuit."""
        for instruction in circuit.flattened():
            channel = _CHANNEL.fullmatch(instruction.tag)
            if channel and channel[1] in _MODELS:
                for target in instruction.targets_copy():
                    parts = channel[2].split(",") if channel[2] else []
                    values = [float(part.rpartition("=")[2]) for part in parts]
                    self.models[channel[1], target.value] = values
        for instruction in circuit.flattened():
            channel = _CHANNEL.fullmatch(instruction.tag)
            if channel and channel[1] in _MODELS:
                continue
            if channel and channel[1] == "LEAKAGE_SPREAD":
                values = [float(part.rpartition("=")[2]) for part in channel[2].split(",")]
                for a, b in instruction.target_groups():
                    self._spread(values, a.value, b.value)
                continue
            if channel and channel[1].startswith("LEAKAGE_FROM"):
                for group in instruction.target_groups():
                    self._leak_from_ones(float(channel[2]), [target.value for target in group])
                continue
            if channel and instruction.name != "MPAD":
                p = float(channel[2]) if channel[2] else 1.0
                for target in instruction.targets_copy():
                    self._channel(channel[1], p, target.value)
                continue
            for part in _parts(instruction):
                self._perform(part)

    def distribution(self) -> Distribution:
        """The joint distribution of all records so far."""
        found: Distribution = {}
        for simulator in self.parts.values():
            for (records, _), rho in simulator.branches.items():
                found[records] = found.get(records, 0.0) + probability(rho)
        return {records: p for records, p in found.items() if p > 1e-15}

    def _channel(self, name: str, p: float, qubit: int) -> None:
        before, self.parts = self.parts, {}
        for levels, simulator in before.items():
            level = levels[qubit]
            if name.startswith("HERALD"):
                of = LOST if "LOSS" in name else LEAKED
                one = 1 - p if level == of else 0.0
                identity = pauli_string("")
                simulator._apply([(1 - one, (0,), identity), (one, (1,), identity)], [])
                self._add(levels, simulator)
                continue
            to, q = level, p
            if name == "LEAKAGE" and level == HERE:
                to = LEAKED
            elif name == "LOSS":
                to = LOST
            elif name in ("RELAX", "RL", "RELAX_TO_ONE") and level == LEAKED:
                to = HERE
            if to == level:
                q = 0.0
            for weight, after in ((1 - q, level), (q, to)):
                if weight:
                    part = copy.copy(simulator)
                    part.branches = {key: weight * rho for key, rho in simulator.branches.items()}
                    if after != level:
                        part._apply(_TO_ONE if name == "RELAX_TO_ONE" else _MIX, [qubit])
                    self._add((*levels[:qubit], after, *levels[qubit + 1 :]), part)

    def _leak_from_ones(self, p: float, qubits: Sequence[int]) -> None:
        """Measures all qubits with probability p; if all are 1, the first one leaks and the others become 0."""
        before, self.parts = self.parts, {}
        for levels, simulator in before.items():
            if any(levels[qubit] != HERE for qubit in qubits):
                self._add(levels, simulator)
                continue
            for outcomes in (None, *itertools.product((0, 1), repeat=len(qubits))):
                part, after = copy.copy(simulator), levels
                weight = 1 - p if outcomes is None else p
                part.branches = {key: weight * rho for key, rho in simulator.branches.items()}
                for qubit, outcome in zip(qubits, outcomes or (), strict=False):
                    part._apply([(1, (), _ONE if outcome else _ZERO)], [qubit])
                if outcomes and all(outcomes):
                    after = tuple(LEAKED if k == qubits[0] else level for k, level in enumerate(levels))
                    part._apply(_MIX, qubits[:1])
                    for qubit in qubits[1:]:
                        part._apply([(1, (), PAULIS["X"])], [qubit])
                self._add(after, part)

    def _spread(self, values: Sequence[float], first: int, second: int) -> None:
        """Both directions one after the other; in each, leakage moves if it does not spread."""
        for source, partner, spread, move in (
            (first, second, values[0], values[2]),
            (second, first, values[1], values[3]),
        ):
            before, self.parts = self.parts, {}
            for levels, simulator in before.items():
                if levels[source] != LEAKED or levels[partner] != HERE:
                    self._add(levels, simulator)
                    continue
                for weight, at_source in ((spread, LEAKED), ((1 - spread) * move, HERE)):
                    part = copy.copy(simulator)
                    part.branches = {key: weight * rho for key, rho in simulator.branches.items()}
                    part._apply(_MIX, [source])
                    part._apply(_MIX, [partner])
                    after = list(levels)
                    after[source], after[partner] = at_source, LEAKED
                    self._add(tuple(after), part)
                stays = (1 - spread) * (1 - move)
                simulator.branches = {key: stays * rho for key, rho in simulator.branches.items()}
                self._add(levels, simulator)

    def _perform(self, instruction: stim.CircuitInstruction) -> None:
        name = instruction.name
        if instruction.tag.startswith("EXP_VAL"):
            return
        qubits = [t.value for t in instruction.targets_copy() if t.qubit_value is not None and name != "MPAD"]
        before, self.parts = self.parts, {}
        for levels, simulator in before.items():
            gone = [qubit for qubit in qubits if levels[qubit] != HERE]
            if not gone or name in _WITHOUT_QUBITS | _NOISE or is_relaxation(instruction.tag):
                simulator._perform(instruction)  # a channel acts on the others as with a mixed qubit
                for qubit in gone:
                    simulator._apply(_MIX, [qubit])
            elif len(qubits) > 1 and self._vanishes(name, gone):
                pass
            elif name in _RESETS:
                self._reset(instruction, levels, simulator)
                continue
            elif len(qubits) > 1 and any(("LEAKAGE_PARTNER", qubit) in self.models for qubit in gone):
                simulator._perform(instruction)  # with mixed qubits, which stay so
                for qubit in gone:
                    simulator._apply(_MIX, [qubit])
                for partner in set(qubits) - set(gone):
                    for qubit in gone:
                        paulis = self.models.get(("LEAKAGE_PARTNER", qubit), [0.25] * 3)
                        weights = zip([1 - sum(paulis), *paulis], "IXYZ", strict=True)
                        simulator._apply([(p, (), PAULIS[letter]) for p, letter in weights], [partner])
            else:
                if stim.gate_data(name).produces_measurements:
                    self._record(instruction, simulator)
                for partner in dict.fromkeys(qubits):
                    if partner not in gone:
                        simulator._apply(_MIX, [partner])
            self._add(levels, simulator)

    def _vanishes(self, name: str, gone: Sequence[int]) -> bool:
        skips = any(("LEAKAGE_SKIPS_GATES", qubit) in self.models for qubit in gone)
        return skips and stim.gate_data(name).is_unitary

    def _record(self, instruction: stim.CircuitInstruction, simulator: Simulator) -> None:
        """The record of a measurement with a qubit that is leaked or lost."""
        targets = [target.value for target in instruction.targets_copy()]
        given = self.models.get(("LEAKAGE_READOUT", targets[0])) if len(targets) == 1 else None
        misread, arguments = MISREAD.fullmatch(instruction.tag), instruction.gate_args_copy() or [0.0]
        p01, p10 = (float(misread[1]), float(misread[2])) if misread else (arguments[0],) * 2
        # A reading that is given is not misread once more; a random outcome is.
        one = given[0] if given else (1 - p10 + p01) / 2
        inversions = sum(target.is_inverted_result_target for target in instruction.targets_copy())
        one = 1 - one if inversions % 2 else one
        identity = pauli_string("")
        simulator._apply([(1 - one, (0,), identity), (one, (1,), identity)], [])

    def _reset(self, instruction: stim.CircuitInstruction, levels: Levels, simulator: Simulator) -> None:
        (target,) = instruction.targets_copy()
        qubit = target.value
        if instruction.name.startswith("M"):
            self._record(instruction, simulator)
        simulator._perform(stim.CircuitInstruction(instruction.name.removeprefix("M"), [qubit]))
        (replaced,) = self.models.get(("LOSS_REPLACEMENT", qubit), [1.0])
        replaced = 1.0 if levels[qubit] == LEAKED else replaced
        for weight, level in ((replaced, HERE), (1 - replaced, LOST)):
            part = copy.copy(simulator)
            part.branches = {key: weight * rho for key, rho in simulator.branches.items()}
            if level == LOST:
                part._apply(_MIX, [qubit])
            if weight:
                self._add((*levels[:qubit], level, *levels[qubit + 1 :]), part)

    def _add(self, levels: Levels, simulator: Simulator) -> None:
        there = self.parts.setdefault(levels, simulator)
        if there is not simulator:
            for key, rho in simulator.branches.items():
                there.branches[key] = there.branches[key] + rho if key in there.branches else rho


def _parts(instruction: stim.CircuitInstruction) -> Iterator[stim.CircuitInstruction]:
    """The instruction for one group of targets after the other."""
    name, groups = instruction.name, instruction.target_groups()
    if name in _WITHOUT_QUBITS or name in ("E", "ELSE_CORRELATED_ERROR") or "EXP_VAL" in instruction.tag:
        yield instruction
        return
    if name == "I" and instruction.tag and parse_tag(name, instruction.tag).name in {"CCZ", "CCX"}:
        targets = instruction.targets_copy()
        groups = [targets[k : k + 3] for k in range(0, len(targets), 3)]
    for group in groups:
        yield stim.CircuitInstruction(
            name, _with_combiners(name, group), instruction.gate_args_copy(), tag=instruction.tag
        )


def _with_combiners(name: str, group: Sequence[stim.GateTarget]) -> list[stim.GateTarget]:
    if name not in ("MPP", "SPP", "SPP_DAG"):
        return list(group)
    return [part for target in group for part in (target, stim.target_combiner())][:-1]


def leaked_record_distribution(circuit: stim.Circuit) -> Distribution:
    """The joint distribution of all measurement records of a circuit with leakage and loss."""
    simulator = LeakageSimulator(circuit.num_qubits)
    simulator.run(circuit)
    return simulator.distribution()
