"""Circuits without gates whose noise flips what the noise of another circuit flips.

Stim decomposes the errors of a circuit into such that flip at most two detectors. It first looks for the
parts of an error within its noise channel: a Y is an X and a Z. A list of all errors does not say which
channel they are from. In a circuit whose records are random, Stim has no error model. So each noise channel
acts here on Bell pairs of its own, which are measured at once, and detectors are parities of these records.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import stim

from ...base.memory import collector_paused, memory_is_a_limit
from ...dialect import has_tag_of_channel
from ..compiler import CompiledCircuit
from ..compiler.program.flattening import program_of
from ..compiler.sweeps.backward_sweep import fault_effects
from ..compiler.sweeps.forward_sweep import QuantumProgram
from ..engines import likely_outputs

_WIDTHS = {
    **dict.fromkeys(("X_ERROR", "Y_ERROR", "Z_ERROR", "DEPOLARIZE1", "PAULI_CHANNEL_1"), 1),
    **dict.fromkeys(("DEPOLARIZE2", "PAULI_CHANNEL_2"), 2),
}
_SILENT = frozenset({"I_ERROR", "II_ERROR"})
_PROBE = 0.25


def frames_of(circuit: stim.Circuit) -> CompiledCircuit:
    """A circuit compiled for its Pauli frames alone.

    Errors pass rotations by other angles than quarter turns as they are. A sampler may take an error for
    another one that differs by a stabilizer of the state, which changes nothing there. But the axis of a
    conditional rotation could tell them apart.
    """
    program = program_of(circuit)
    quantum = QuantumProgram.without_operations([0] * program.num_records)
    return CompiledCircuit(circuit, program, quantum, likely_outputs)


def frame_circuit(circuit: stim.Circuit) -> stim.Circuit | None:
    r"""The circuit of Bell pairs with the noise channels of a circuit.

    Args:
        circuit: A tagged circuit without blocks.

    Returns:
        A circuit of Stim with the same detectors and observables, and for each noise channel the same one;
        None if the circuit has other noise than that, heralds, or chains of errors.

    Examples:
        >>> circuit = stim.Circuit("RX 0\nS[T] 0\nZ_ERROR(0.125) 0\nMX 0 0\nDETECTOR rec[-1]")
        >>> print(frame_circuit(circuit).detector_error_model())
        error(0.125) D0
    """
    if not has_known_noise(circuit):
        return None
    return FrameCircuits(circuit).up_to(len(circuit), circuit.num_detectors, range(circuit.num_observables))


def has_known_noise(circuit: stim.Circuit) -> bool:
    """Whether all noise of a circuit without blocks can act on Bell pairs."""
    return not any(has_tag_of_channel(part) or (_is_noise(part) and not _is_known(part)) for part in circuit)


@dataclass(frozen=True)
class _Channel:
    """A noise channel on one group of targets, acting on Bell pairs."""

    number: int  # of its instruction
    text: str
    outputs: tuple[tuple[int, ...], ...]  # for each record of the text, the outputs that its 1 flips


class FrameCircuits:
    """The circuits of Bell pairs of the beginnings of one circuit, with the noise channels of each.

    Args:
        circuit: A tagged circuit without blocks, which has known noise.
    """

    def __init__(self, circuit: stim.Circuit) -> None:
        self._num_detectors = circuit.num_detectors
        self._coordinates = circuit.get_detector_coordinates()
        self._channels: list[_Channel] = []
        probes = stim.Circuit()
        for part in circuit:
            if part.name in _SILENT:
                continue
            if part.name == "E":
                probes.append("DEPOLARIZE1", [t.value for t in part.targets_copy()], _PROBE)
            elif part.name in _WIDTHS:
                probes.append("DEPOLARIZE1", part.targets_copy(), _PROBE)
            else:
                probes.append(part)
        compiled = frames_of(probes)
        with memory_is_a_limit(), collector_paused():
            effects = fault_effects(compiled.program, compiled.quantum)

        def act(name: str, arguments: Sequence[float], letters: Sequence[str]) -> None:
            """A channel on one group of targets; letters are those of a correlated error."""
            flipped: list[tuple[int, ...]] = []
            for _ in letters:
                of_x, of_z, _ = next(effects), next(effects), next(effects)
                flipped += [of_x, of_z]
            text = _acting(name, tuple(arguments), tuple(letters))
            self._channels.append(_Channel(number, text, tuple(flipped)))

        for number, part in enumerate(circuit):
            arguments = part.gate_args_copy()
            if part.name in _SILENT:
                continue
            if part.name == "E":
                act(part.name, arguments, [target.pauli_type for target in part.targets_copy()])
            elif part.name in _WIDTHS:
                width = _WIDTHS[part.name]
                for _ in range(0, len(part.targets_copy()), width):
                    act(part.name, arguments, [""] * width)
            elif part.num_measurements and arguments and arguments[0] > 0:
                text = f"R 0\nX_ERROR({arguments[0]!r}) 0\nM 0"
                for _ in range(part.num_measurements):
                    self._channels.append(_Channel(number, text, (next(effects),)))
        assert next(effects, None) is None
        # For each output the records that flip it, ascending.
        self._flipping: list[list[int]] = [[] for _ in range(circuit.num_detectors + circuit.num_observables)]
        flips = (outputs for channel in self._channels for outputs in channel.outputs)
        for record, outputs in enumerate(flips):
            for output in outputs:
                self._flipping[output].append(record)

    def up_to(self, end: int, num_detectors: int, observables: Sequence[int]) -> stim.Circuit:
        """The circuit of the first instructions, with the first detectors and some of the observables."""
        channels = self._channels[: bisect_left(self._channels, end, key=lambda channel: channel.number)]
        num_records = sum(len(channel.outputs) for channel in channels)
        # Stim reads a text far faster than it appends its lines.
        lines = [channel.text for channel in channels]
        for k in range(num_detectors):
            place = ", ".join(map(repr, self._coordinates[k]))
            name = f"DETECTOR({place})" if place else "DETECTOR"
            lines.append(name + self._targets(k, num_records))
        for j, k in enumerate(observables):
            targets = self._targets(self._num_detectors + k, num_records)
            lines.append(f"OBSERVABLE_INCLUDE({j}){targets}")
        return stim.Circuit("\n".join(lines))

    def _targets(self, output: int, num_records: int) -> str:
        """The targets of an output after so many records, as text."""
        records = self._flipping[output]
        return "".join(
            f" rec[{record - num_records}]" for record in records[: bisect_left(records, num_records)]
        )


@lru_cache(maxsize=1 << 12)
def _acting(name: str, arguments: tuple[float, ...], letters: tuple[str, ...]) -> str:
    """A channel that acts on one half of each of some Bell pairs, which are measured then."""
    firsts = range(0, 2 * len(letters), 2)
    pairs, halves = " ".join(map(str, range(2 * len(letters)))), " ".join(map(str, firsts))
    targets = " ".join(f"{letter}{first}" for letter, first in zip(letters, firsts, strict=True))
    read = " ".join(f"{first + 1} {first}" for first in firsts)
    probabilities = ", ".join(map(repr, arguments))
    begin, end = f"R {pairs}\nH {halves}\nCX {pairs}", f"CX {pairs}\nH {halves}\nM {read}"
    return f"{begin}\n{name}({probabilities}) {targets}\n{end}"


def _is_noise(part: stim.CircuitInstruction) -> bool:
    return part.name in _SILENT or (stim.gate_data(part.name).is_noisy_gate and bool(part.gate_args_copy()))


def _is_known(part: stim.CircuitInstruction) -> bool:
    is_flip = stim.gate_data(part.name).produces_measurements and not part.name.startswith("HERALDED")
    return part.name in _WIDTHS or part.name == "E" or part.name in _SILENT or is_flip
