"""The extent of a circuit: what unrolling it would give, found without unrolling it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import stim

from ..dialect import gate_from_tag

__all__ = ["CONTROLLED_PAULIS", "WITHOUT_EFFECT", "Extent", "extent_of"]

WITHOUT_EFFECT = {"TICK", "QUBIT_COORDS", "SHIFT_COORDS", "I_ERROR", "II_ERROR"}
CONTROLLED_PAULIS = {"CX", "CY", "CZ", "XCZ", "YCZ"}
_WITHOUT_QUBITS = {*WITHOUT_EFFECT, "DETECTOR", "MPAD"}

_POWER_FROM = 1000
"""So many targets of Clifford gates are unrolled rather than multiplied."""

_MAX_POWER_QUBITS = 256
"""The power of a block is a dense table over its qubits, which takes up to 120 multiplications."""


@dataclass
class Extent:
    """The extent of a circuit, or of the body of a REPEAT block.

    Attributes:
        targets: Number of targets after unrolling, at least one for each instruction.
        kept: The same with each block that ``becomes_power`` counted once.
        instructions: Number of instructions after unrolling.
        ticks: Number of TICKs among them.
        lines: Lines of the circuit when it is printed.
        qubits: The qubits that instructions act on.
        is_clifford: Whether there are Clifford gates and nothing else that has an effect.
        bodies: The bodies of the REPEAT blocks in it, with their extents and repeat counts, in order.
    """

    targets: int = 0
    kept: int = 0
    instructions: int = 0
    ticks: int = 0
    lines: int = 0
    qubits: set[int] = field(default_factory=set)
    is_clifford: bool = True
    bodies: list[tuple[stim.Circuit, Extent, int]] = field(default_factory=list)

    def becomes_power(self, repetitions: int) -> bool:
        """Whether the block is compiled to one Clifford gate, the power of its body."""
        return (
            self.is_clifford
            and bool(self.qubits)
            and self.kept * repetitions > _POWER_FROM
            and len(self.qubits) <= _MAX_POWER_QUBITS
        )

    @property
    def has_powers(self) -> bool:
        """Whether any block becomes a power."""
        return self.kept < self.targets


def extent_of(circuit: stim.Circuit) -> Extent:
    r"""The extent of a circuit.

    Args:
        circuit: A circuit in the dialect of ``stim_nonclifford.dialect``.

    Examples:
        >>> extent = extent_of(stim.Circuit("REPEAT 1000000 {\n    X 7\n    TICK\n}\nM 3"))
        >>> extent.targets, extent.kept, extent.ticks, sorted(extent.qubits)
        (2000001, 3, 1000000, [3, 7])
    """
    extent = Extent()
    for instruction in circuit:
        if isinstance(instruction, stim.CircuitRepeatBlock):
            _add_block(extent, instruction.body_copy(), instruction.repeat_count)
        else:
            _add_instruction(extent, instruction)
    return extent


def _add_block(extent: Extent, circuit: stim.Circuit, repetitions: int) -> None:
    body = extent_of(circuit)
    # An empty body takes the time of a target, too.
    extent.targets += repetitions * max(1, body.targets)
    extent.kept += max(1, body.kept) * (1 if body.becomes_power(repetitions) else repetitions)
    extent.instructions += repetitions * body.instructions
    extent.ticks += repetitions * body.ticks
    extent.lines += 2 + body.lines
    extent.qubits |= body.qubits
    extent.is_clifford &= body.is_clifford
    extent.bodies.append((circuit, body, repetitions))


def _add_instruction(extent: Extent, instruction: stim.CircuitInstruction) -> None:
    name = instruction.name
    targets = instruction.targets_copy()
    extent.targets += max(1, len(targets))
    extent.kept += max(1, len(targets))
    extent.instructions += 1
    extent.lines += 1
    extent.ticks += name == "TICK"
    if name not in WITHOUT_EFFECT:
        extent.is_clifford = extent.is_clifford and _is_clifford(instruction, targets)
    if name not in _WITHOUT_QUBITS:
        extent.qubits.update(qubit for target in targets if (qubit := target.qubit_value) is not None)


def _is_clifford(instruction: stim.CircuitInstruction, targets: Iterable[stim.GateTarget]) -> bool:
    name = instruction.name
    if not stim.gate_data(name).is_unitary or gate_from_tag(instruction) is not None:
        return False
    if name in ("SPP", "SPP_DAG"):  # may be refused, with the line
        return False
    return name not in CONTROLLED_PAULIS or all(target.is_qubit_target for target in targets)
