"""Error models that know both logical flips: what each fault does to logical X, not only to logical Y.

The readout of `end_to_end_circuit` is that of logical Y in the S-proxy. It does not tell logical X from
logical Z errors, which both flip it. A decoder that compares the likelihoods of both logical classes needs
to know which of them an error is. So does whoever checks a T state, as that depends on logical X flips.

Stim's own error models have deterministic observables only, and logical X of the S-proxy is random. So the
faults are propagated here one by one, as Pauli frames in the S-proxy.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import stim

_ONE_QUBIT = ("X", "Y", "Z")
_TWO_QUBITS = tuple(a + b for a in "IXYZ" for b in "IXYZ")[1:]
_SINGLE_ERRORS = {"X_ERROR": "X", "Y_ERROR": "Y", "Z_ERROR": "Z"}
_MEASUREMENT_FLIPS = {"M": "X", "MX": "Z", "MY": "X"}


def frame_error_model(circuit: stim.Circuit) -> stim.DetectorErrorModel:
    """Returns the error model of an end-to-end circuit with two observables: flips of logical Y and X.

    Args:
        circuit: A circuit that `end_to_end_circuit` returned. Its first `MPP`, of X on all data qubits, says
            which these are.

    Returns:
        The model, for independent errors. Its detectors are those of the circuit, with their coordinates.
        Observable 0 is that of the circuit, logical Y; observable 1 is logical X.

    Raises:
        ValueError: The circuit has no `MPP`, or noise of a kind that `noise` does not write.

    Examples:
        >>> from stim_nonclifford.cultivation import end_to_end_circuit
        >>> model = frame_error_model(end_to_end_circuit(3, 5, rounds=1))
        >>> model.num_detectors, model.num_observables
        (105, 2)
    """
    data = _data_qubits(circuit)
    circuit = circuit.flattened()
    faults = [fault for k, instruction in enumerate(circuit) for fault in _faults(k, instruction)]
    at: dict[int, list[tuple[int, _Fault]]] = {}
    for number, fault in enumerate(faults):
        at.setdefault(fault.index, []).append((number, fault))
    # One instance for each fault. Without randomization, an instance has no flips before its fault.
    simulator = stim.FlipSimulator(batch_size=len(faults), disable_stabilizer_randomization=True)
    for k, instruction in enumerate(circuit):
        _set_flips(simulator, at.get(k, []))
        if stim.gate_data(instruction.name).produces_measurements:
            simulator.do(stim.CircuitInstruction(instruction.name, instruction.targets_copy()))
            _set_flips(simulator, at.get(k, []), clear=True)  # the outcome alone is flipped
        elif not stim.gate_data(instruction.name).is_noisy_gate:
            simulator.do(instruction)
    xs, _, _, detectors, observables = simulator.to_numpy(
        transpose=True, output_xs=True, output_detector_flips=True, output_observable_flips=True
    )
    logical_y = observables[:, 0]
    logical_z = np.bitwise_xor.reduce(xs[:, data], axis=1)
    logical_x = logical_y ^ logical_z
    merged: dict[tuple[tuple[int, ...], bool, bool], float] = {}
    for fault, flipped, y, x in zip(faults, detectors, logical_y, logical_x, strict=True):
        key = (tuple(np.flatnonzero(flipped).tolist()), bool(y), bool(x))
        other = merged.get(key, 0.0)
        merged[key] = other * (1 - fault.probability) + fault.probability * (1 - other)
    model = stim.DetectorErrorModel()
    for (flipped, y, x), probability in merged.items():
        targets = [stim.target_relative_detector_id(k) for k in flipped]
        targets += [stim.target_logical_observable_id(k) for k, flips in enumerate((y, x)) if flips]
        if targets:
            model.append("error", probability, targets)
    for k, coordinates in circuit.get_detector_coordinates().items():
        model.append("detector", coordinates, [stim.target_relative_detector_id(k)])
    return model


@dataclass(frozen=True)
class _Fault:
    """A Pauli at an instruction of a circuit."""

    index: int
    paulis: str
    qubits: tuple[int, ...]
    probability: float


def _faults(index: int, instruction: stim.CircuitInstruction) -> Iterator[_Fault]:
    """Lists the faults of a noise channel, or those of the outcomes of a measurement."""
    name = instruction.name
    arguments = instruction.gate_args_copy()
    gate = stim.gate_data(name)
    if not gate.is_noisy_gate or not arguments or arguments == [0]:
        return
    groups = [tuple(target.value for target in group) for group in instruction.target_groups()]
    if name in ("DEPOLARIZE1", "DEPOLARIZE2"):
        paulis = _ONE_QUBIT if name == "DEPOLARIZE1" else _TWO_QUBITS
        probability = _independent(arguments[0], len(paulis))
        for qubits in groups:
            for pauli in paulis:
                yield _Fault(index, pauli, qubits, probability)
    elif name in _SINGLE_ERRORS or name in _MEASUREMENT_FLIPS:
        pauli = (_SINGLE_ERRORS | _MEASUREMENT_FLIPS)[name]
        for qubits in groups:
            yield _Fault(index, pauli, qubits, arguments[0])
    else:
        raise ValueError(f"the faults of '{instruction}' are not known")


def _independent(p: float, num_paulis: int) -> float:
    """The probability of each Pauli, applied independently, that makes depolarizing noise of strength p.

    A Pauli anticommutes with (n+1)/2 of the n others and itself, so that 1 - (n+1)/n p = (1-2q)^((n+1)/2).
    """
    n = num_paulis
    return float((1 - max(0.0, 1 - (n + 1) / n * p) ** (2 / (n + 1))) / 2)


def _set_flips(
    simulator: stim.FlipSimulator, faults: list[tuple[int, _Fault]], *, clear: bool = False
) -> None:
    for number, fault in faults:
        for pauli, qubit in zip(fault.paulis, fault.qubits, strict=True):
            simulator.set_pauli_flip("I" if clear else pauli, qubit_index=qubit, instance_index=number)


def _data_qubits(circuit: stim.Circuit) -> list[int]:
    """Finds the qubits of the first product that is measured, which is that of the readout."""
    for instruction in circuit:
        if instruction.name == "MPP":
            return [target.value for target in instruction.target_groups()[0]]
    raise ValueError("the circuit has no MPP on its data qubits; is it from end_to_end_circuit?")
