"""Channels of Cirq as circuit text, and back."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import stim

from ....dialect import (
    Relaxation,
    TaggedChannel,
    ThreeQubitErrors,
    kraus_of,
    relaxation_of,
    three_qubit_errors_of,
    values_of_operators,
)
from .gates import cirq, name_of

_MOST_QUBITS = 5
"""A channel of Paulis on more qubits would be more than a thousand instructions."""

Matrix = npt.NDArray[np.float64]


def _words(size: int) -> list[str]:
    """The Paulis but the identity, in the order of PAULI_CHANNEL_1, _2 and _3."""
    return ["".join(word) for word in itertools.product("IXYZ", repeat=size)][1:]


def channel_lines(gate: Any, qubits: Sequence[int]) -> list[str] | None:
    """The circuit text of a channel; None if it is none."""
    if cirq.is_measurement(gate):
        raise ValueError(
            "its record is the number of an operator, and records are outcomes of measurements here. Leave"
            " out its key."
        )
    targets = " ".join(map(str, qubits))
    named = _named(gate)
    if named:
        return [f"{named} {targets}"]
    if isinstance(gate, cirq.RandomGateChannel) and isinstance(gate.sub_gate, cirq.BaseDensePauliString):
        return _chain({"".join("IXYZ"[k] for k in gate.sub_gate.pauli_mask): gate.probability}, qubits)
    if isinstance(gate, cirq.AsymmetricDepolarizingChannel):
        return _paulis(gate.error_probabilities, qubits)
    if isinstance(gate, cirq.DepolarizingChannel):
        size = len(qubits)
        if size <= 3:
            return [f"DEPOLARIZE{size}({gate.p!r}) {targets}"]
        if size > _MOST_QUBITS:
            raise ValueError(
                f"it has 4^{size} - 1 errors, and those on more than {_MOST_QUBITS} qubits are not written"
                " out. Write it on fewer qubits."
            )
        words = _words(size)
        return _chain(dict.fromkeys(words, gate.p / len(words)), qubits)
    if not cirq.has_kraus(gate):
        return None
    if len(qubits) > 2:
        raise ValueError(
            "a channel that is no mixture of Paulis acts on at most two qubits here (KRAUS2). Write it as"
            " gates with an ancilla that is reset."
        )
    name = "KRAUS" if len(qubits) == 1 else "KRAUS2"
    values = ", ".join(map(repr, values_of_operators(cirq.kraus(gate), name)))
    # Cirq's first qubit is the most significant one.
    return [f"{name}({values}) {' '.join(map(str, reversed(qubits)))}"]


def _named(gate: Any) -> str:
    if isinstance(gate, cirq.BitFlipChannel):
        return f"X_ERROR({gate.p!r})"
    if isinstance(gate, cirq.PhaseFlipChannel):
        return f"Z_ERROR({gate.p!r})"
    if isinstance(gate, cirq.AmplitudeDampingChannel):
        return f"AMPLITUDE_DAMPING({gate.gamma!r})"
    if isinstance(gate, cirq.PhaseDampingChannel):
        return f"PHASE_DAMPING({gate.gamma!r})"
    if isinstance(gate, cirq.RandomGateChannel):
        name = name_of(gate.sub_gate)
        if name in ("X", "Y", "Z", "I", "II"):
            return f"{name}_ERROR({gate.probability!r})"
    return ""


def _paulis(probabilities: Mapping[str, float], qubits: Sequence[int]) -> list[str]:
    """A mixture of Paulis, by their letters."""
    targets = " ".join(map(str, qubits))
    if len(qubits) <= 3:
        values = [probabilities.get(word, 0.0) for word in _words(len(qubits))]
        return [f"PAULI_CHANNEL_{len(qubits)}({', '.join(map(repr, map(float, values)))}) {targets}"]
    return _chain(probabilities, qubits)


def _chain(probabilities: Mapping[str, float], qubits: Sequence[int]) -> list[str]:
    """Errors that exclude each other."""
    lines: list[str] = []
    left = 1.0
    for word, probability in probabilities.items():
        if not probability or not word.strip("I"):
            continue
        targets = " ".join(
            f"{pauli}{qubit}" for pauli, qubit in zip(word, qubits, strict=True) if pauli != "I"
        )
        name = "ELSE_CORRELATED_ERROR" if lines else "E"
        lines.append(f"{name}({min(1.0, float(probability / left))!r}) {targets}")
        left -= probability
        if left <= 0:
            break
    return lines


def readout_arguments(confusion_map: Mapping[tuple[int, ...], npt.ArrayLike], num_qubits: int) -> list[str]:
    """The arguments of the measurement of each qubit, for Cirq's map from places to matrices by outcome.

    Examples:
        >>> readout_arguments({(1,): [[0.9, 0.1], [0.2, 0.8]]}, 2)
        ['', '(0.1, 0.2)']
    """
    noise: list[tuple[float, float]] = [(0.0, 0.0)] * num_qubits
    for places, given in confusion_map.items():
        matrix = np.asarray(given, dtype=np.float64)
        factors = _factors(matrix, len(places))
        product: Any = np.ones((1, 1))
        for factor in factors:
            product = np.kron(product, factor)
        if product.shape != matrix.shape or np.abs(product - matrix).max() > 1e-9:
            raise ValueError(
                f"the confusion map of the qubits {list(places)} is no product of maps of one qubit, and"
                " measurements are misread independently here. Give it one map for each qubit."
            )
        for place, factor in zip(places, factors, strict=True):
            noise[place] = (float(factor[0, 1]), float(factor[1, 0]))
    return [
        "" if not any(each) else f"({each[0]!r})" if each[0] == each[1] else f"({each[0]!r}, {each[1]!r})"
        for each in noise
    ]


def _factors(matrix: Matrix, size: int) -> list[Matrix]:
    """The map of each qubit, if the others are 0 and their readings do not count."""
    if size == 1:
        return [matrix]
    tensor = matrix.reshape((2,) * (2 * size))
    factors = []
    for place in range(size):
        rows = tuple(slice(None) if k == place else 0 for k in range(size))
        summed = tensor[rows].sum(axis=tuple(1 + k for k in range(size) if k != place))
        factors.append(np.asarray(summed))
    return factors


def confusion_of(p01: float, p10: float) -> dict[tuple[int, ...], Matrix]:
    """The confusion map of a measurement of one qubit."""
    return {(0,): np.array([[1 - p01, p01], [p10, 1 - p10]])} if p01 or p10 else {}


def channel_operations(instruction: stim.CircuitInstruction, channel: TaggedChannel) -> list[Any]:
    """The operations of Cirq for a channel that Stim does not have."""
    qubits = [cirq.LineQubit(target.value) for target in instruction.targets_copy()]
    relaxation, kraus = relaxation_of(instruction), kraus_of(instruction)
    errors = three_qubit_errors_of(instruction)
    if errors is not None:
        gate = _three_qubit_gate(errors)
        return [gate.on(*qubits[k : k + 3]) for k in range(0, len(qubits), 3)]
    if relaxation is not None:
        return [operation for qubit in qubits for operation in _relaxation(relaxation, qubit)]
    if kraus is None:
        raise ValueError(
            f"`{instruction}`: Cirq has no leakage, as its qubits have two levels. Write the circuit with its"
            " Pauli twirl, circuit.pauli_twirl(), or circuit.without_noise()."
        )
    size = kraus.num_qubits
    parts = np.array(kraus.values).reshape(-1, 1 << size, 1 << size, 2)
    gate = cirq.KrausChannel([each[..., 0] + 1j * each[..., 1] for each in parts])
    # Cirq's first qubit is the most significant one.
    return [gate.on(*reversed(qubits[k : k + size])) for k in range(0, len(qubits), size)]


def _three_qubit_gate(errors: ThreeQubitErrors) -> Any:
    if errors.name == "DEPOLARIZE3":
        return cirq.depolarize(errors.values[0], n_qubits=3)
    probabilities = dict(zip(_words(3), errors.probabilities, strict=True))
    nothing = max(0.0, 1 - math.fsum(errors.probabilities))
    return cirq.asymmetric_depolarize(error_probabilities={"III": nothing, **probabilities})


def _relaxation(channel: Relaxation, qubit: Any) -> list[Any]:
    if channel.name == "PHASE_DAMPING":
        return [cirq.phase_damp(channel.values[0]).on(qubit)]
    decay = cirq.amplitude_damp(channel.decay).on(qubit)
    # Written as a decay of phases, for which Cirq has a gate: 1 - 2p is the square root of 1 - λ.
    kept = (1 - 2 * channel.dephasing) ** 2
    return [decay, cirq.phase_damp(1 - kept).on(qubit)] if not math.isclose(kept, 1, abs_tol=0) else [decay]
