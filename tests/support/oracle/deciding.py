"""Exact simulation of small circuits with a decoder in the loop.

Where a circuit decides, each branch of the density matrix asks the decoder, which sees the detectors of the
branch.
"""

from collections.abc import Callable, Sequence

import stim

from .density_matrix import Distribution, Records, Simulator, Tensor, probability

Answer = Callable[[int, tuple[int, ...], Records], Sequence[int]]
"""From the number of a decision, the detectors before it, and the records so far, the flips of the last records.

Those are the ones that are decided, and they are raw.
"""


class DecidingSimulator(Simulator):
    """A simulator whose decisions are taken by a function."""

    def __init__(self, qubits: Sequence[int], answer: Answer, reference: Sequence[int]):
        super().__init__(qubits)
        self.answer = answer
        self.reference = reference
        self.num_decisions = 0

    def _perform(self, instruction: stim.CircuitInstruction) -> None:
        if not instruction.tag.startswith(("DECODE", "FRAME")):
            super()._perform(instruction)
            return
        plain = stim.CircuitInstruction(
            instruction.name, instruction.targets_copy(), instruction.gate_args_copy()
        )
        super()._perform(plain)
        count = instruction.num_measurements
        decided: dict[tuple[Records, bool], Tensor] = {}
        for (records, fired), rho in self.branches.items():
            seen = tuple(
                sum(records[k] + self.reference[k] for k in sources) % 2 for sources in self.detectors
            )
            flips = self.answer(self.num_decisions, seen, records)
            last = tuple(bit ^ flip for bit, flip in zip(records[-count:], flips, strict=True))
            key = records[:-count] + last, fired
            decided[key] = decided[key] + rho if key in decided else rho
        self._replace_branches(decided)
        self.num_decisions += 1


def decided_distribution(circuit: stim.Circuit, answer: Answer, reference: Sequence[int]) -> Distribution:
    """The distribution of all records of a circuit in which a function decides."""
    simulator = DecidingSimulator(range(max(circuit.num_qubits, 1)), answer, reference)
    simulator.run(circuit)
    result: Distribution = {}
    for (records, _), rho in simulator.branches.items():
        result[records] = result.get(records, 0.0) + probability(rho)
    return result
