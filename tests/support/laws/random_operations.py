"""Lists of operations as the forward sweep makes them."""

import random

from stim_nonclifford.simulation.compiler.sweeps.operations import Operation, OperationKind, RotationTerm


def rotate(width: int, x: int, z: int, *, number: int = 0, half_turns: float = 0.25) -> Operation:
    """A rotation, whose sign has the same number as the step that it comes from."""
    term = RotationTerm(half_turns, number, number)
    return Operation(OperationKind.ROTATE, width, x, z, (x & z).bit_count() % 4, 0, (term,))


def activate(width: int, *, diagonal: bool = True, number: int = 0, half_turns: float = 0.25) -> Operation:
    """A rotation that activates a coordinate."""
    x, z = (0, 1 << width) if diagonal else (1 << width, 0)
    term = RotationTerm(half_turns, number, number)
    return Operation(OperationKind.ACTIVATE, width, x, z, 0, width, (term,))


def measure(width: int, x: int, z: int, *, number: int = 0, outcome: int = 0) -> Operation:
    """A measurement after which the highest of the coordinates leaves that it can remove."""
    pivot = (x or z).bit_length() - 1
    i_power = (x & z).bit_count() % 4
    return Operation(OperationKind.MEASURE, width, x, z, i_power, pivot, outcome=outcome, step=number)


def negative(operation: Operation) -> Operation:
    """The same about minus the Pauli."""
    return Operation(
        operation.kind,
        operation.width,
        operation.x,
        operation.z,
        (operation.i_power + 2) % 4,
        operation.pivot,
        operation.terms,
        operation.outcome,
        operation.step,
    )


def random_operations(rng: random.Random, length: int) -> list[Operation]:
    """Rotations about few Paulis, many of them diagonal, on up to four coordinates that come and go.

    In the end, all coordinates are measured in random bases.
    """
    operations: list[Operation] = []
    width = outcome = 0
    for number in range(length):
        choice = rng.random()
        if width == 0 or (choice < 0.25 and width < 4):
            half_turns, diagonal = rng.uniform(-1, 1), rng.random() < 0.7
            operations.append(activate(width, diagonal=diagonal, number=number, half_turns=half_turns))
            width += 1
            continue
        x, z = rng.choice([0, 0, rng.getrandbits(width)]), rng.getrandbits(width)
        if choice < 0.8:
            if not x | z:
                continue
            operation = rotate(width, x, z, number=number, half_turns=rng.uniform(-1, 1))
        else:
            # Of the last coordinate: often a weak measurement.
            x = rng.choice([x, 1 << width - 1]) if x | z else 1 << width - 1
            operation = measure(width, x, z, number=number, outcome=outcome)
            width, outcome = width - 1, outcome + 1
        operations.append(negative(operation) if rng.random() < 0.5 else operation)
    for left in range(width, 0, -1):
        x, z = 1 << left - 1 | rng.getrandbits(left), rng.getrandbits(left)
        operations.append(measure(left, x, z, number=length + left, outcome=outcome))
        outcome += 1
    return operations
