"""Noise that is switched off, and acts on further qubits instead.

An engine that follows each shot draws the events of noise by their places and probabilities, and so with the
same seed the same ones, wherever they act. So noise that is switched off acts on qubits that nothing else
touches: all other noise does the same in each shot as with it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

import stim

from ...base.written_circuits import instructions_in, source_of
from ...dialect import (
    bare_name,
    channel_of,
    check_unconditional,
    kraus_of,
    leakage_of,
    readout_noise_of,
    relaxation_of,
    three_qubit_errors_of,
)
from ...dialect.channels.leakage import LEAKAGE
from ...rates.budget.gate_names import GateNames
from ...rates.results.error_budget import NoisePlace
from ...simulation.compiler.program.loops import unrolled

_LEAVING = ("LEAKAGE", "LEAKAGE_FROM_ONE", "LEAKAGE_FROM_11", "LOSS")

Part = tuple[stim.CircuitInstruction, list[list[stim.GateTarget]], list[int]]


class NoiseSwitches:
    """The places of noise of a circuit, and the circuit with any of them switched off.

    Attributes:
        places: The places, in the order of the circuit.
    """

    def __init__(self, circuit: stim.Circuit) -> None:
        check_unconditional(circuit)
        self._first_free = circuit.num_qubits
        self._parts: list[Part] = []
        self.places: list[NoisePlace] = []
        gates, tick = GateNames(circuit), 0
        for number, (line, part) in enumerate(zip(_lines(circuit), unrolled(circuit), strict=True)):
            groups = _groups(part)
            first = len(self.places)
            for group in groups:
                targets = tuple(
                    each.value for each in group if each.qubit_value is not None and part.name != "MPAD"
                )
                name, channel = bare_name(part), channel_of(part)
                readout = readout_noise_of(part)
                source, source_qubits = source_of(part)
                values = tuple(part.gate_args_copy()) if channel is None else channel.values
                self.places.append(
                    NoisePlace(
                        line=line,
                        tick=tick,
                        instruction=name,
                        arguments=values if readout is None else (readout.p01, readout.p10),
                        targets=targets,
                        gate=gates.of(name, number, tick, targets),
                        source=source,
                        source_qubits=source_qubits,
                    )
                )
            self._parts.append((part, groups, list(range(first, len(self.places)))))
            tick += part.name == "TICK"

    def without(self, numbers: Collection[int]) -> stim.Circuit:
        r"""The circuit, unrolled, in which some places of noise act on further qubits.

        Args:
            numbers: Their numbers in ``places``.

        Examples:
            >>> switches = NoiseSwitches(stim.Circuit("X_ERROR(0.1) 0 1\nM(0.2) 0"))
            >>> print(switches.without({1, 2}))
            X_ERROR(0.1) 0 2
            M 0
            E(0.2) X2
        """
        off = frozenset(numbers)
        result = stim.Circuit()
        for part, groups, places in self._parts:
            if off.isdisjoint(places):
                result.append(part)
                continue
            for group, place in zip(groups, places, strict=True):
                if place in off:
                    self._append_off(result, part, group)
                else:
                    result.append(_with_targets(part, group))
        return result

    def _append_off(
        self, circuit: stim.Circuit, part: stim.CircuitInstruction, group: list[stim.GateTarget]
    ) -> None:
        arguments = part.gate_args_copy()
        if part.name.startswith("HERALDED"):  # no other record could be the herald's
            circuit.append(part.name, group, [0.0] * len(arguments))
            return
        if readout_noise_of(part) is not None:  # whether it acts depends on the outcome
            circuit.append(_with_targets(part, group, [], ""))
        elif stim.gate_data(part.name).produces_measurements:
            circuit.append(_with_targets(part, group, []))
            circuit.append("E", [stim.target_x(self._first_free)], arguments)
        else:
            free = [
                stim.target_pauli(self._first_free + k, target.pauli_type)
                if target.pauli_type != "I"
                else stim.GateTarget(self._first_free + k)
                for k, target in enumerate(group)
            ]
            circuit.append(stim.CircuitInstruction(part.name, free, arguments, tag=part.tag))


def _with_targets(
    part: stim.CircuitInstruction,
    group: list[stim.GateTarget],
    arguments: list[float] | None = None,
    tag: str | None = None,
) -> stim.CircuitInstruction:
    """The instruction for one group of targets."""
    is_product = stim.gate_data(part.name).produces_measurements and any(t.pauli_type != "I" for t in group)
    return stim.CircuitInstruction(
        part.name,
        stim.target_combined_paulis(group) if is_product else group,
        part.gate_args_copy() if arguments is None else arguments,
        tag=part.tag if tag is None else tag,
    )


def _groups(part: stim.CircuitInstruction) -> list[list[stim.GateTarget]]:
    """The targets of each place of noise that an instruction has."""
    data = stim.gate_data(part.name)
    if part.tag:
        leakage = leakage_of(part)
        if leakage is not None:
            is_noise = leakage.name in _LEAVING and leakage.values[0] > 0
            return _in_groups(part, LEAKAGE[leakage.name].num_targets) if is_noise else []
        kraus = kraus_of(part)
        if relaxation_of(part) is not None or kraus is not None or three_qubit_errors_of(part) is not None:
            size = 3 if three_qubit_errors_of(part) is not None else 1 if kraus is None else kraus.num_qubits
            return _in_groups(part, size)
    if not (data.is_noisy_gate or data.produces_measurements) or not any(part.gate_args_copy()):
        return []
    if part.name in ("E", "ELSE_CORRELATED_ERROR"):
        return [part.targets_copy()]
    return [[target for target in group if not target.is_combiner] for group in part.target_groups()]


def _in_groups(part: stim.CircuitInstruction, size: int) -> list[list[stim.GateTarget]]:
    targets = part.targets_copy()
    return [targets[k : k + size] for k in range(0, len(targets), size)]


def _lines(circuit: stim.Circuit) -> Iterator[int]:
    """The line of each instruction of the unrolled circuit in the printed one."""
    written = [k for k, line in enumerate(str(circuit).splitlines(), 1) if line.strip()[-1] not in "{}"]
    return _unrolled_lines(circuit, written, 0)


def _unrolled_lines(circuit: stim.Circuit, written: list[int], first: int) -> Iterator[int]:
    for part in circuit:
        if not isinstance(part, stim.CircuitRepeatBlock):
            yield written[first]
            first += 1
            continue
        body = part.body_copy()
        for _ in range(part.repeat_count):
            yield from _unrolled_lines(body, written, first)
        first += sum(1 for _ in instructions_in(body))
