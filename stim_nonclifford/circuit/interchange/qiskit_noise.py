"""Channels of Qiskit and noise models of Aer as circuit text.

A channel is read by its Pauli transfer matrix, whatever it is made of: a mixture of Paulis becomes a Pauli
channel, and relaxation THERMAL_RELAXATION, also on both qubits of a gate and with depolarizing noise before
or after it. Any other channel on one qubit or two becomes KRAUS or KRAUS2.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ...dialect import values_of_operators
from .packages import needed

quantum_info: Any = needed("qiskit.quantum_info", "from_qiskit", "qiskit>=1.3", "qiskit")

Transfer = npt.NDArray[np.float64]

_ROUNDING = 1e-9
_CHANNELS = ("quantum_channel", "kraus", "superop")
_MOST_QUBITS = 2


def channel_of_operation(operation: Any) -> Any | None:
    """The channel that an operation is, or None."""
    if operation.name not in _CHANNELS:
        return None
    error = getattr(operation, "_quantum_error", None)
    if error is not None:
        return error.to_quantumchannel()
    parts = [np.asarray(each) for each in operation.params]
    return quantum_info.Kraus(parts) if operation.name == "kraus" else quantum_info.SuperOp(parts[0])


def channel_lines(channel: Any, qubits: Sequence[int]) -> list[str]:
    """The circuit text of a channel."""
    if len(qubits) > _MOST_QUBITS:
        raise ValueError(
            f"its noise acts on {len(qubits)} qubits together, and channels act on one or two here. Write it"
            " as the product of channels on fewer qubits, each an error of its own."
        )
    transfer = np.asarray(quantum_info.PTM(channel).data)
    if np.abs(transfer.imag).max() > _ROUNDING or not channel.is_cptp(atol=1e-7):
        raise ValueError("its noise is no channel: it changes the trace, or is not completely positive.")
    transfer = transfer.real
    for read in (_paulis, _relaxation if len(qubits) == 1 else _product):
        lines = read(transfer, qubits)
        if lines is not None:
            return lines
    operators = np.array(quantum_info.Kraus(channel).data)
    name = "KRAUS" if len(qubits) == 1 else "KRAUS2"
    values = ", ".join(map(repr, values_of_operators(_completed(operators), name)))
    return [f"{name}({values}) {' '.join(map(str, qubits))}"]


def _completed(operators: npt.NDArray[np.complex128]) -> npt.NDArray[np.complex128]:
    """Operators whose sum of K^dagger K is 1, without the rounding of Qiskit's eigenvalues."""
    total = np.einsum("kba,kbc->ac", operators.conj(), operators)
    values, vectors = np.linalg.eigh(total)
    return np.asarray(operators @ (vectors * values**-0.5) @ vectors.conj().T)


def _paulis(transfer: Transfer, qubits: Sequence[int]) -> list[str] | None:
    """A mixture of Paulis."""
    if np.abs(transfer - np.diag(np.diag(transfer))).max() > _ROUNDING:
        return None
    signs = np.array([[1, 1, 1, 1], [1, 1, -1, -1], [1, -1, 1, -1], [1, -1, -1, 1]])
    all_signs = np.ones((1, 1))
    for _ in qubits:
        all_signs = np.kron(all_signs, signs)
    found = np.maximum(all_signs @ np.diag(transfer) / len(transfer), 0)
    found[found < _ROUNDING**2] = 0
    errors = [float(f"{each:.15g}") for each in found[1:]]
    if not any(each > 1e-15 for each in errors):
        return []
    # The first qubit of Qiskit is the last letter of a Pauli, as is the last target.
    targets = " ".join(map(str, reversed(qubits)))
    if max(errors) - min(errors) < 1e-15:
        return [f"DEPOLARIZE{len(qubits)}({math.fsum(errors)!r}) {targets}"]
    return [f"PAULI_CHANNEL_{len(qubits)}({', '.join(map(repr, errors))}) {targets}"]


def _relaxation(transfer: Transfer, qubits: Sequence[int]) -> list[str] | None:
    """Relaxation towards a population of |1> of at most 1/2: a decay to |0>, then flips."""
    kept, moved, coherence = (float(transfer[place]) for place in ((3, 3), (3, 0), (1, 1)))
    form = np.diag([1.0, coherence, coherence, kept])
    form[3, 0] = moved
    if np.abs(transfer - form).max() > _ROUNDING or not moved + kept > 0:
        return None
    flip = max(0.0, (1 - moved - kept) / 2)
    flip = 0.0 if flip < _ROUNDING**2 or flip < 1e-13 else flip
    kept, coherence = kept / (1 - 2 * flip), coherence / (1 - flip)
    if not (0 < kept <= 1 and 0 < coherence <= 1 and flip < 0.5) or coherence**2 > kept * (1 + 1e-12):
        return None
    over_t1 = -math.log(kept)
    over_t2 = max(over_t1 / 2, -math.log(coherence))
    lines = [f"THERMAL_RELAXATION({over_t1!r}, {over_t2!r}) {qubits[0]}"]
    return lines + ([f"PAULI_CHANNEL_1({flip / 2!r}, {flip / 2!r}, 0) {qubits[0]}"] if flip else [])


def _product(transfer: Transfer, qubits: Sequence[int]) -> list[str] | None:
    """Channels of both qubits, and depolarizing noise before or after them."""
    tensor = transfer.reshape(4, 4, 4, 4)  # second, first, by second, first
    first, second = tensor[0, :, 0, :].copy(), tensor[:, 0, :, 0].copy()
    if min(abs(first[3, 3]), abs(second[3, 3]), abs(transfer[15, 15])) < _ROUNDING:
        return None
    left = float(first[3, 3] * second[3, 3] / transfer[15, 15])  # of an expectation value, by depolarizing
    if not 0 < left <= 1 + _ROUNDING:
        return None
    depolarizing = np.diag([1.0] + [left] * 15)
    for is_after in (False, True):
        one, two = first.copy(), second.copy()
        for each in (one, two):
            if is_after:
                each[1:] /= left
            else:
                each[:, 1:] /= left
        both = np.kron(two, one)
        if np.abs((depolarizing @ both if is_after else both @ depolarizing) - transfer).max() > _ROUNDING:
            continue
        parts: list[str] = []
        for own, qubit in ((one, qubits[0]), (two, qubits[1])):
            channel = quantum_info.PTM(own)
            if not channel.is_cptp(atol=1e-7):
                break
            parts += channel_lines(channel, [qubit])
        else:
            strength = 15 / 16 * (1 - left)
            errors = [f"DEPOLARIZE2({strength!r}) {qubits[0]} {qubits[1]}"] if strength > 1e-13 else []
            return parts + errors if is_after else errors + parts
    return None


class AerNoise:
    """The noise that a ``qiskit_aer.noise.NoiseModel`` adds to operations."""

    def __init__(self, model: Any) -> None:
        try:
            self._errors = (model._local_quantum_errors, model._default_quantum_errors)
            self._readout = (model._local_readout_errors, model._default_readout_error)
            passes = model._custom_noise_passes
        except AttributeError:
            raise TypeError(
                f"noise_model must be a qiskit_aer.noise.NoiseModel, but has type {type(model).__name__}."
            ) from None
        if passes:
            names = ", ".join(type(each).__name__ for each in passes)
            raise ValueError(
                f"The noise model has passes that change the circuit ({names}). Apply them first, for example"
                " RelaxationNoisePass(t1s, t2s, dt)(circuit), and give a noise model without them."
            )
        several = [qubits for qubits in self._readout[0] if len(qubits) > 1]
        if several:
            raise ValueError(
                f"The noise model has a readout error of the qubits {several[0]} together, and measurements"
                " are misread independently here. Give it one for each qubit."
            )

    def has(self, name: str) -> bool:
        """Whether any qubits have noise of this operation."""
        return any(name in each for each in self._errors)

    def lines(self, name: str, qubits: Sequence[int]) -> list[str]:
        """The noise of an operation: its error on these qubits, or else that on all."""
        local, default = self._errors
        error = local.get(name, {}).get(tuple(qubits), default.get(name))
        if error is None:
            return []
        if error.num_qubits != len(qubits):
            raise ValueError(
                f"its noise acts on {error.num_qubits} qubits, and the operation on {len(qubits)}."
            )
        return channel_lines(error.to_quantumchannel(), qubits)

    def readout(self, qubit: int) -> str:
        """The arguments of a measurement."""
        local, default = self._readout
        error = local.get((qubit,), default)
        if error is None:
            return ""
        (_, p01), (p10, _) = np.asarray(error.probabilities).tolist()
        return "" if not (p01 or p10) else f"({p01!r})" if p01 == p10 else f"({p01!r}, {p10!r})"
