"""Writes OpenQASM 2 and 3.

Gates that the standard libraries have are written by name, in OpenQASM 2 only those of the paper that defines
it (arXiv 1707.03429), which every reader knows. Other Clifford gates are written as Stim decomposes them.
Rotations and measurements of Pauli products become those of one qubit, between CX gates.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import cache

import numpy as np
import numpy.typing as npt
import stim

from ....base.written_circuits import instructions_in
from ....dialect import (
    CONDITIONAL_CARRIER,
    GATES,
    CliffordPart,
    RotationPart,
    gate_from_tag,
    groups_of_pairs,
    is_expectation,
)
from ....simulation.compiler.algebra.paulis import X, Y, Z, product_of
from ....simulation.compiler.program.loops import unrolled

_LETTERS = {X: "X", Y: "Y", Z: "Z"}
_SKIPPED = frozenset({"QUBIT_COORDS", "SHIFT_COORDS"})
_DELAY = "delay:"
_DURATION = re.compile(r"(\d+\.?\d*(?:e[+-]?\d+)?)(s|ms|us|µs|ns|ps|dt)")
_OUTPUTS = frozenset({"DETECTOR", "OBSERVABLE_INCLUDE"})

_NAMES = {
    "I": "id",
    "X": "x",
    "Y": "y",
    "Z": "z",
    "H": "h",
    "S": "s",
    "S_DAG": "sdg",
    "T": "t",
    "T_DAG": "tdg",
    "CX": "cx",
    "CY": "cy",
    "CZ": "cz",
    "CH": "ch",
    "CCX": "ccx",
    "R_X": "rx",
    "R_Y": "ry",
    "R_Z": "rz",
    "U3": "u3",
}
"""Gates that the libraries of both versions have."""

_CONTROLLED_PHASES = {"CS": 0.5, "CS_DAG": -0.5, "CT": 0.25, "CT_DAG": -0.25}
_INTO_Z = {"X": ("h",), "Y": ("sdg", "h"), "Z": ()}
_OUT_OF_Z = {"X": ("h",), "Y": ("h", "s"), "Z": ()}

Product = Sequence[tuple[int, str]]


def qasm_of(
    circuit: stim.Circuit,
    version: int,
    skip_dets_and_obs: bool,
    reference_records: Callable[[], npt.NDArray[np.bool_]],
) -> str:
    """A tagged circuit as a program; see ``Circuit.to_qasm``."""
    return _Writer(circuit, version, skip_dets_and_obs, reference_records).text()


class _Writer:
    def __init__(
        self,
        circuit: stim.Circuit,
        version: int,
        skip_dets_and_obs: bool,
        reference_records: Callable[[], npt.NDArray[np.bool_]],
    ) -> None:
        self._circuit = circuit
        self._is_2 = version == 2
        self._skips_outputs = skip_dets_and_obs
        self._lines: list[str] = []
        self._num_records = 0
        self._parities: list[list[int]] = []
        self._observables: dict[int, list[int]] = {}
        # In OpenQASM 2 a condition is on a whole register, so that each record is one.
        self._one_register_each = self._is_2 and any(
            part.name not in _OUTPUTS
            and any(target.is_measurement_record_target for target in part.targets_copy())
            for part in instructions_in(circuit)
        )
        for instruction in unrolled(circuit):
            try:
                self._write(instruction)
            except _NoCounterpart as error:
                raise ValueError(f"`{instruction}`: {error}") from None
        if self._parities or self._observables:
            self._write_outputs(reference_records())

    def text(self) -> str:
        """The program."""
        qubits, records = self._circuit.num_qubits, self._circuit.num_measurements
        library = "qelib1.inc" if self._is_2 else "stdgates.inc"
        lines = [f"OPENQASM {2 if self._is_2 else 3}.0;", f'include "{library}";', ""]
        if qubits:
            lines.append(f"qreg q[{qubits}];" if self._is_2 else f"qubit[{qubits}] q;")
        if self._one_register_each:
            lines += [f"creg rec{k}[1];" for k in range(records)]
        elif records:
            lines.append(f"creg rec[{records}];" if self._is_2 else f"bit[{records}] rec;")
        if not self._skips_outputs:
            counts = {"dets": self._circuit.num_detectors, "obs": self._circuit.num_observables}
            lines += [f"bit[{count}] {name};" for name, count in counts.items() if count]
        return "\n".join([*lines, "", *self._lines])

    def _write(self, part: stim.CircuitInstruction) -> None:
        name = part.name
        data = stim.gate_data(name)
        gate = gate_from_tag(part)
        if name in _SKIPPED:
            return
        if is_expectation(part):
            if not self._skips_outputs:
                raise _NoCounterpart("OpenQASM has no expectation values. Write skip_dets_and_obs=True.")
            return
        if name == "TICK":
            if self._circuit.num_qubits:
                self._lines.append("barrier q;")
        elif name in _OUTPUTS:
            self._keep_output(part)
        elif data.is_noisy_gate and (any(part.gate_args_copy()) or not data.produces_measurements):
            if data.is_reset and not data.produces_measurements:
                self._measure_or_reset(part, data)
                return
            raise _NoCounterpart("OpenQASM has no noise. Write circuit.without_noise().")
        elif name == "MPAD":
            self._pad(part)
        elif data.produces_measurements or data.is_reset:
            self._measure_or_reset(part, data)
        elif name == CONDITIONAL_CARRIER and gate is not None:
            for group in groups_of_pairs(gate.definition, part.targets_copy()):
                self._conditional(gate.name, gate.half_turns, group)
        elif name.startswith("SPP"):
            sign = -1 if name == "SPP_DAG" else 1
            angle = 0.5 * sign
            if gate is not None:
                [piece] = gate.definition.decomposition(*gate.half_turns)
                assert isinstance(piece, RotationPart)
                angle = piece.half_turns
            for product in part.target_groups():
                factors, negative = _factors(product, name)
                self._lines += _rotation(factors, -angle if negative else angle)
        elif name == "I" and part.tag.startswith(_DELAY):
            self._delay(part)
        elif gate is not None:
            targets = [target.value for target in part.targets_copy()]
            size = gate.definition.num_targets or 1
            for k in range(0, len(targets), size):
                self._lines += self._unitary(gate.name, gate.half_turns, targets[k : k + size])
        else:
            for group in part.target_groups():
                self._clifford(name, group)

    def _delay(self, part: stim.CircuitInstruction) -> None:
        if self._is_2:
            raise _NoCounterpart("OpenQASM 2 has no delays. Write open_qasm_version=3.")
        found = _DURATION.fullmatch(part.tag.removeprefix(_DELAY))
        if found is None:
            raise _NoCounterpart("this note is no duration. Write one as in I[delay:100ns].")
        amount, unit = found.groups()
        duration = f"{float(amount) / 1000!r}ns" if unit == "ps" else f"{amount}{unit}"
        self._lines += [f"delay[{duration}] q[{target.value}];" for target in part.targets_copy()]

    def _clifford(self, name: str, group: Sequence[stim.GateTarget]) -> None:
        classical = [target for target in group if not target.is_qubit_target]
        qubits = [target.value for target in group if target.is_qubit_target]
        if not classical:
            self._lines += self._unitary(name, (), qubits)
        elif qubits:
            pauli = name.replace("C", "").replace("Z", "") or "Z"
            self._under(classical, self._unitary(pauli, (), qubits))

    def _conditional(
        self, name: str, half_turns: tuple[float, ...], group: Sequence[stim.GateTarget]
    ) -> None:
        classical = [target for target in group if not target.is_qubit_target]
        qubits = [target.value for target in group if target.is_qubit_target]
        inner = name.removeprefix("C_") if name.startswith("C_") else name[len(classical) :]
        if inner.startswith("R_") and inner not in GATES:
            letters = inner.removeprefix("R_")
            body = _rotation(list(zip(qubits, letters, strict=True)), half_turns[0])
        else:
            body = self._unitary(inner, half_turns, qubits)
        self._under(classical, body)

    def _under(self, bits: Sequence[stim.GateTarget], body: Sequence[str]) -> None:
        if any(bit.is_sweep_bit_target for bit in bits):
            raise _NoCounterpart("OpenQASM has no sweep bits.")
        records = [self._num_records + bit.value for bit in bits]
        if self._is_2 and len(records) > 1:
            raise _NoCounterpart("OpenQASM 2 has no condition on two records. Write open_qasm_version=3.")
        if self._is_2:
            self._lines += [f"if(rec{records[0]}==1) {line}" for line in body]
        else:
            condition = " && ".join(f"rec[{k}] == true" for k in records)
            self._lines.append(f"if ({condition}) {{ {' '.join(body)} }}")

    def _unitary(self, name: str, half_turns: Sequence[float], qubits: Sequence[int]) -> list[str]:
        """The lines of a gate."""
        if name in _NAMES:
            return [_line(_NAMES[name], qubits, half_turns)]
        if name in _CONTROLLED_PHASES:
            return [_line("cu1" if self._is_2 else "cp", qubits, [_CONTROLLED_PHASES[name]])]
        if name == "SQRT_X":
            return [_line(each, qubits) for each in ("h", "s", "h")]
        if name == "SQRT_X_DAG":
            return [_line(each, qubits) for each in ("h", "sdg", "h")]
        if name == "SWAP":
            first, second = qubits
            return [_line("cx", pair) for pair in ((first, second), (second, first), (first, second))]
        if name == "II":
            return [_line("id", [qubit]) for qubit in qubits]
        if name == "CCZ":
            return [_line("h", qubits[2:]), _line("ccx", qubits), _line("h", qubits[2:])]
        if name in GATES:
            lines: list[str] = []
            for piece in GATES[name].decomposition(*half_turns):
                if isinstance(piece, CliffordPart):
                    lines += self._unitary(piece.name, (), [qubits[k] for k in piece.targets])
                else:
                    factors = [(qubits[k], letter) for k, letter in enumerate(piece.pauli) if letter != "_"]
                    lines += _rotation(factors, piece.half_turns)
            return lines
        return [_line(_NAMES[each], [qubits[k] for k in places]) for each, places in _decomposition(name)]

    def _measure_or_reset(self, part: stim.CircuitInstruction, data: stim.GateData) -> None:
        for group in part.target_groups():
            if part.name == "MPP":
                factors, negative = _factors(group, "MPP")
            else:
                letters = part.name.replace("M", "").replace("R", "") or "Z"
                pairs = zip(group, letters, strict=True)
                factors = [(target.value, letter) for target, letter in pairs]
                negative = sum(target.is_inverted_result_target for target in group) % 2 == 1
            before, qubit, after = _conjugation(factors)
            if not data.produces_measurements:
                self._lines += [_line("reset", [qubit]), *after]
                continue
            flip = [_line("x", [qubit])] if negative else []
            self._lines += [*before, *flip, self._measurement(qubit)]
            self._lines += [*([_line("reset", [qubit])] if data.is_reset else flip), *after]

    def _measurement(self, qubit: int) -> str:
        record = f"rec{self._num_records}[0]" if self._one_register_each else f"rec[{self._num_records}]"
        self._num_records += 1
        return f"measure q[{qubit}] -> {record};" if self._is_2 else f"{record} = measure q[{qubit}];"

    def _pad(self, part: stim.CircuitInstruction) -> None:
        for target in part.targets_copy():
            if self._is_2 and target.value:
                raise _NoCounterpart("OpenQASM 2 has no bits that are 1. Write open_qasm_version=3.")
            if not self._is_2:
                self._lines.append(f"rec[{self._num_records}] = {target.value};")
            self._num_records += 1

    def _keep_output(self, part: stim.CircuitInstruction) -> None:
        if self._skips_outputs:
            return
        if self._is_2:
            raise _NoCounterpart(
                "OpenQASM 2 has no operations on bits. Write skip_dets_and_obs=True, or open_qasm_version=3."
            )
        targets = part.targets_copy()
        if not all(target.is_measurement_record_target for target in targets):
            raise _NoCounterpart("OpenQASM has no observables of Paulis. Write skip_dets_and_obs=True.")
        records = [self._num_records + target.value for target in targets]
        if part.name == "DETECTOR":
            self._parities.append(records)
        else:
            self._observables.setdefault(int(part.gate_args_copy()[0]), []).extend(records)

    def _write_outputs(self, reference: npt.NDArray[np.bool_]) -> None:
        named = [(f"dets[{k}]", records) for k, records in enumerate(self._parities)]
        named += [(f"obs[{k}]", records) for k, records in sorted(self._observables.items())]
        for name, records in named:
            terms = [f"rec[{k}]" for k in records]
            if reference[records].sum() % 2:
                terms.append("1")
            self._lines.append(f"{name} = {' ^ '.join(terms) or '0'};")


class _NoCounterpart(ValueError):
    """Something that a program cannot say."""


def _line(name: str, qubits: Sequence[int], half_turns: Sequence[float] = ()) -> str:
    angles = f"({', '.join(f'{angle!r}*pi' for angle in half_turns)})" if half_turns else ""
    return f"{name}{angles} {', '.join(f'q[{qubit}]' for qubit in qubits)};"


def _factors(product: Sequence[stim.GateTarget], name: str) -> tuple[Product, bool]:
    factors, negative = product_of([each for each in product if not each.is_combiner], lambda: name)
    if not factors:
        raise _NoCounterpart("OpenQASM has no product of Paulis that is the identity.")
    return [(qubit, _LETTERS[code]) for qubit, code in factors], negative


def _conjugation(factors: Product) -> tuple[list[str], int, list[str]]:
    """Gates that turn a product of Paulis into Z of one qubit, that qubit, and their inverse."""
    *others, (last, _) = factors
    before = [_line(name, [qubit]) for qubit, letter in factors for name in _INTO_Z[letter]]
    after = [_line(name, [qubit]) for qubit, letter in factors for name in _OUT_OF_Z[letter]]
    ladder = [_line("cx", [qubit, last]) for qubit, _ in others]
    return before + ladder, last, ladder[::-1] + after


def _rotation(factors: Product, half_turns: float) -> list[str]:
    before, qubit, after = _conjugation(factors)
    fixed = {0.25: "t", -0.25: "tdg", 0.5: "s", -0.5: "sdg"}.get(half_turns)
    turn = _line(fixed, [qubit]) if fixed else _line("rz", [qubit], [half_turns])
    return [*before, turn, *after]


@cache
def _decomposition(name: str) -> tuple[tuple[str, tuple[int, ...]], ...]:
    """A Clifford gate as gates H, S and CX on the places of its targets."""
    size = 2 if stim.gate_data(name).is_two_qubit_gate else 1
    circuit = stim.Circuit()
    circuit.append(name, range(size))
    return tuple(
        (part.name, tuple(target.value for target in group))
        for part in circuit.decomposed()
        for group in part.target_groups()
    )
