"""Circuits without gates whose noise flips what the noise of another circuit flips.

Stim decomposes the errors of a circuit into such that flip at most two detectors. It first looks for the
parts of an error within its noise channel: a Y is an X and a Z. A list of all errors does not say which
channel they are from. In a circuit whose records are random, Stim has no error model. So each noise channel
acts here on Bell pairs of its own, which are measured at once, and detectors are parities of these records.
"""

from __future__ import annotations

import itertools

import stim

from ...dialect import has_tag_of_channel
from ..compiler import CompiledCircuit
from ..compiler.algebra.gf2 import ones
from ..compiler.program.flattening import program_of
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
    if any(has_tag_of_channel(part) or (_is_noise(part) and not _is_known(part)) for part in circuit):
        return None
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
    effects = iter([fault.effect for fault in frames_of(probes).faults])
    lines: list[str] = []  # of the result: Stim reads a text faster than it appends its lines
    flipping: list[list[int]] = [[] for _ in range(circuit.num_detectors + circuit.num_observables)]
    records = itertools.count()

    def measure(effect: int) -> None:
        """Notes what is flipped if the next record is 1."""
        record = next(records)
        for output in ones(effect):
            if output < len(flipping):
                flipping[output].append(record)

    def act(name: str, arguments: list[float], letters: list[str]) -> None:
        """A channel on one group of targets; letters are those of a correlated error."""
        firsts = range(0, 2 * len(letters), 2)
        pairs, halves = " ".join(map(str, range(2 * len(letters)))), " ".join(map(str, firsts))
        targets = " ".join(f"{letter}{first}" for letter, first in zip(letters, firsts, strict=True))
        read = " ".join(f"{first + 1} {first}" for first in firsts)
        probabilities = ", ".join(map(repr, arguments))
        lines.append(
            f"R {pairs}\nH {halves}\nCX {pairs}\n{name}({probabilities}) {targets}\n"
            f"CX {pairs}\nH {halves}\nM {read}"
        )
        for _ in letters:
            of_x, of_z, _ = next(effects), next(effects), next(effects)
            measure(of_x)
            measure(of_z)

    for part in circuit:
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
            for _ in range(part.num_measurements):
                lines.append(f"R 0\nX_ERROR({arguments[0]!r}) 0\nM 0")
                measure(next(effects))
    result = stim.Circuit("\n".join(lines))
    assert next(effects, None) is None
    coordinates = circuit.get_detector_coordinates()
    end = result.num_measurements
    for output, odd in enumerate(flipping):
        targets = [stim.target_rec(record - end) for record in odd]
        if output < circuit.num_detectors:
            result.append("DETECTOR", targets, coordinates[output])
        else:
            result.append("OBSERVABLE_INCLUDE", targets, output - circuit.num_detectors)
    return result


def _is_noise(part: stim.CircuitInstruction) -> bool:
    return part.name in _SILENT or (stim.gate_data(part.name).is_noisy_gate and bool(part.gate_args_copy()))


def _is_known(part: stim.CircuitInstruction) -> bool:
    is_flip = stim.gate_data(part.name).produces_measurements and not part.name.startswith("HERALDED")
    return part.name in _WIDTHS or part.name == "E" or part.name in _SILENT or is_flip
