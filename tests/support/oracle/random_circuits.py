"""Random noisy Clifford+T circuits, from a NumPy generator or as a Hypothesis strategy.

Both draw a list of independent operations and assemble them with the same code. A list stays valid
when operations are removed or changed: references to records are reduced modulo the number of
records available, and operations that would exceed the number of records allowed are left out.
"""

from collections.abc import Collection, Iterator, Sequence

import numpy as np
import stim
from hypothesis import strategies as st

from .instructions import (
    ALL_FAMILIES,
    CLIFFORD_FAMILIES,
    GENERATORS,
    PROBABILITIES,
    Chooser,
    Family,
    Operation,
    RandomChooser,
    StrategyChooser,
    pick,
    random_operation,
)

__all__ = [
    "ALL_FAMILIES", "CLIFFORD_FAMILIES", "Family", "Operation", "assemble", "circuits", "mirrored_circuit",
    "random_circuit",
]  # fmt: skip

_MIRRORED = {
    Family.CLIFFORD, Family.PAULI_PHASE, Family.T, Family.NOISE, Family.EXOTIC_NOISE, Family.REPEAT,
}  # fmt: skip


def _size(operation: Operation) -> int:
    """The number of records that an operation produces."""
    return operation.num_records + operation.repetitions * sum(map(_size, operation.body))


def _lines(operations: Sequence[Operation], num_records: int, limit: int) -> list[str]:
    """The text of the operations after a number of records, with at most ``limit`` in total."""
    lines: list[str] = []
    for operation in operations:
        size = _size(operation)
        impossible = operation.references and num_records == 0
        if num_records + size > limit or impossible:
            continue
        if operation.body:
            body = _lines(operation.body, num_records, limit)
            if body:
                lines += [f"REPEAT {operation.repetitions} {{", *body, "}"]
        else:
            places = [f"rec[-{1 + k % num_records}]" for k in operation.references]
            lines.append(operation.template.format(*places))
        num_records += size
    return lines


def assemble(
    operations: Sequence[Operation], final: Sequence[Operation] = (), *, max_records: int
) -> stim.Circuit:
    """Builds a circuit, leaving out operations that lack records or would produce too many.

    Up to half of the records are reserved for the final operations.
    """
    reserved = min(sum(map(_size, final)), max_records // 2)
    lines = _lines(operations, 0, max_records - reserved)
    num_records = stim.Circuit("\n".join(lines)).num_measurements
    lines += _lines(final, num_records, max_records)
    return stim.Circuit("\n".join(lines))


def _ordered(instructions: Collection[Family]) -> list[Family]:
    return [family for family in Family if family in instructions]


def _detectors(chooser: Chooser, num_qubits: int, families: Collection[Family]) -> list[Operation]:
    """Two detectors and two observables, if they are wanted."""
    wanted = [f for f in (Family.DETECTORS, Family.OBSERVABLES) if f in families]
    return [GENERATORS[family](chooser, num_qubits) for family in wanted for _ in range(2)]


def _end(chooser: Chooser, num_qubits: int, families: Collection[Family]) -> list[Operation]:
    """Measurements of all qubits, and detectors and observables."""
    measurements = [
        Operation(f"{pick(chooser, ['M', 'MX', 'MY'])} {qubit}", num_records=1) for qubit in range(num_qubits)
    ]
    return measurements + _detectors(chooser, num_qubits, families)


def random_circuit(
    rng: np.random.Generator,
    *,
    num_qubits: int = 4,
    num_operations: int = 20,  # the number of lines and blocks, before the end
    max_records: int = 8,  # the largest number of records, with repeated blocks unrolled
    instructions: Collection[Family] = ALL_FAMILIES,
    # whether to append a measurement of each qubit in a random basis, as far as the number of records
    # allows, and two detectors and two observables if these are among the instructions
    measure_at_end: bool = True,
) -> stim.Circuit:
    """A random circuit of uniformly chosen families of instructions."""
    chooser = RandomChooser(rng)
    families = _ordered(instructions)
    operations = [random_operation(chooser, num_qubits, families) for _ in range(num_operations)]
    final = _end(chooser, num_qubits, families) if measure_at_end else []
    return assemble(operations, final, max_records=max_records)


def mirrored_circuit(
    rng: np.random.Generator,
    *,
    num_qubits: int = 4,  # the number of qubits, and of records
    num_operations: int = 10,  # the number of lines and blocks before the inverse
    # gates without an inverse are not used, nor are
    # rotations, since Stim knows no inverse of the tags of ``I`` and ``II``
    instructions: Collection[Family] = ALL_FAMILIES,
) -> stim.Circuit:
    """A noisy circuit of gates, then its noiseless inverse, then noisy measurements of all qubits.

    Without its noise, all records are 0. The distributions of other random circuits are usually
    uniform over a subspace, and hide much; those of mirrored circuits show every error.
    """
    chooser = RandomChooser(rng)
    families = _ordered(set(instructions) & _MIRRORED)
    operations = [random_operation(chooser, num_qubits, families) for _ in range(num_operations)]
    forward = assemble(operations, max_records=0)
    end = [
        Operation(f"M({pick(chooser, PROBABILITIES)}) {qubit}", num_records=1) for qubit in range(num_qubits)
    ]
    end += _detectors(chooser, num_qubits, instructions)
    # Flattening removes the empty blocks that the removal of noise may leave behind.
    backward = forward.without_noise().flattened().inverse()
    return forward + backward + assemble([], end, max_records=num_qubits)


def seeded_circuits(
    seed: int, count: int, *, num_qubits: int, num_operations: int
) -> Iterator[tuple[int, np.random.Generator, stim.Circuit]]:
    """Circuits of the seeds [seed, 0], ..., [seed, count - 1], each with its number and its generator.

    Every other one is mirrored, with 15 operations.
    """
    for k in range(count):
        rng = np.random.default_rng([seed, k])
        if k % 2:
            yield k, rng, mirrored_circuit(rng, num_qubits=num_qubits, num_operations=15)
        else:
            yield k, rng, random_circuit(rng, num_qubits=num_qubits, num_operations=num_operations)


@st.composite
def _operations(draw: st.DrawFn, num_qubits: int, families: Sequence[Family]) -> Operation:
    return random_operation(StrategyChooser(draw), num_qubits, families)


@st.composite
def circuits(
    draw: st.DrawFn,
    *,
    max_qubits: int = 4,
    max_operations: int = 20,
    max_records: int = 8,
    instructions: Collection[Family] = ALL_FAMILIES,
    measure_at_end: bool = True,
) -> stim.Circuit:
    """A strategy for circuits as from :func:`random_circuit`, which shrink line by line."""
    num_qubits = draw(st.integers(1, max_qubits))
    families = _ordered(instructions)
    one = _operations(num_qubits, families)
    operations = draw(st.lists(one, max_size=max_operations))
    chooser = StrategyChooser(draw)
    final = _end(chooser, num_qubits, families) if measure_at_end else []
    return assemble(operations, final, max_records=max_records)


def one_group_per_instruction(circuit: stim.Circuit) -> stim.Circuit:
    """The circuit without noise and annotations."""
    result = stim.Circuit()
    for instruction in circuit.without_noise().flattened():
        if instruction.name in {"DETECTOR", "OBSERVABLE_INCLUDE"}:
            continue
        products = stim.gate_data(instruction.name).takes_pauli_targets
        for group in instruction.target_groups():
            targets = []
            for target in group:
                targets += [target, stim.target_combiner()] if products else [target]
            result.append(instruction.name, targets[:-1] if products else targets)
            result.append("TICK")  # keeps Stim from joining the instructions again
    return result
