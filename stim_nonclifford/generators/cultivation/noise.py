"""Noise models, and a function that adds their noise to a noiseless circuit.

`add_noise` works for any circuit. In each moment (from TICK to TICK) it finds the qubits that are reset,
measured, acted on by gates, or idle, and appends the noise of each.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

import stim

from ...base.arguments import choice, probability

NoiseChoice = Literal["uniform", "si1000", "none"]


@dataclass(frozen=True)
class NoiseModel:
    """The strength of the noise of each kind of operation.

    Depolarizing noise of strength p applies, with probability p, one of the Paulis other than the
    identity. All of them are equally likely (3 on one qubit, 15 on two).
    """

    one_qubit_gate: float  # strength of the depolarizing noise after a one-qubit gate
    two_qubit_gate: float  # strength of the two-qubit depolarizing noise after a two-qubit gate
    idle: float  # strength of the depolarizing noise on each qubit without an operation, per moment
    reset: float  # probability that a reset prepares the orthogonal state
    measurement: float  # probability that a measurement reports the wrong outcome
    after_measurement: float  # strength of the depolarizing noise on a qubit that has been measured
    # strength of the additional depolarizing noise on each qubit that is neither reset nor measured, in
    # each moment in which some other qubit is reset or measured
    waiting: float = 0.0

    @classmethod
    def uniform(cls, p: float) -> NoiseModel:
        """Returns the uniform depolarizing model: all strengths are p."""
        return cls(
            one_qubit_gate=p,
            two_qubit_gate=p,
            idle=p,
            reset=p,
            measurement=p,
            after_measurement=p,
        )

    @classmethod
    def si1000(cls, p: float) -> NoiseModel:
        """Returns the superconducting inspired model with 1000 ns cycles (arXiv 2108.10457).

        The strength p is that of two-qubit gates. One-qubit gates and idling are ten times less noisy;
        resets and measurements are slow and several times noisier. The published model has CZ, one-qubit
        gates and operations in the Z basis. Here CX has the noise of CZ, and resets and measurements in
        the X basis have the noise of those in the Z basis.
        """
        if p > 0.2:
            raise ValueError(
                f"p must be at most 0.2 for si1000, where measurements flip with probability 5p, but is {p}"
            )
        return cls(
            one_qubit_gate=p / 10,
            two_qubit_gate=p,
            idle=p / 10,
            reset=2 * p,
            measurement=5 * p,
            after_measurement=p,
            waiting=2 * p,
        )


_MODELS: Mapping[NoiseChoice, Callable[[float], NoiseModel]] = {
    "uniform": NoiseModel.uniform,
    "si1000": NoiseModel.si1000,
    "none": lambda _: NoiseModel.uniform(0.0),
}
NOISE_CHOICES: tuple[NoiseChoice, ...] = tuple(_MODELS)


def noise_model(name: NoiseChoice, p: float) -> NoiseModel:
    """Returns the noise model of a name in `NOISE_CHOICES`, of strength p.

    Examples:
        >>> noise_model("uniform", 1e-3).reset
        0.001
        >>> noise_model("si1000", 1e-3).reset
        0.002
        >>> noise_model("none", 1e-3) == noise_model("uniform", 0)
        True
    """
    return _MODELS[choice(name, "noise", NOISE_CHOICES)](probability(p, "p"))


def add_noise(circuit: stim.Circuit, model: NoiseModel, *, bits: Collection[int] = ()) -> stim.Circuit:
    r"""Adds noise to every moment that ends with a TICK.

    The noise channels of a moment come after all its operations. Every qubit of the circuit gets the channel
    of the operation that acts on it, or that of `model.idle`, and then that of `model.waiting` if it applies.
    Measurements also get their flip probability. Feedback (CX and CZ controlled by outcomes) takes no time:
    it has no noise, and another operation may act on the same qubit in the same moment. Operations on `bits`,
    qubits that stand for classical bits, and those after the last TICK take no time, and get no noise.
    Channels of strength 0 are left out.

    Examples:
        >>> circuit = stim.Circuit("R 0 1 2\nTICK\nCX 0 1\nTICK\nM 0\nTICK\nM 1 2")
        >>> print(add_noise(circuit, NoiseModel.uniform(0.01)))
        R 0 1 2
        X_ERROR(0.01) 0 1 2
        TICK
        CX 0 1
        DEPOLARIZE2(0.01) 0 1
        DEPOLARIZE1(0.01) 2
        TICK
        M(0.01) 0
        DEPOLARIZE1(0.01) 0 1 2
        TICK
        M 1 2
    """
    noisy = stim.Circuit()
    num_qubits = circuit.num_qubits
    moment: list[stim.CircuitInstruction] = []
    for instruction in circuit.flattened():
        if instruction.name == "TICK":
            noisy += _noisy_moment(moment, set(range(num_qubits)).difference(bits), model)
            noisy.append(instruction)
            moment.clear()
        else:
            moment.append(instruction)
    for instruction in moment:
        noisy.append(instruction)
    return noisy


def is_feedback(instruction: stim.CircuitInstruction) -> bool:
    r"""Tells whether an instruction applies Paulis controlled by outcomes.

    Examples:
        >>> [is_feedback(instruction) for instruction in stim.Circuit("CX rec[-1] 0\nH 0\nCX 1 0")]
        [True, False, False]
    """
    return stim.gate_data(instruction.name).is_two_qubit_gate and all(
        any(target.is_measurement_record_target for target in group) for group in instruction.target_groups()
    )


_ANNOTATIONS = ("DETECTOR", "OBSERVABLE_INCLUDE", "QUBIT_COORDS")
_MEASUREMENTS = ("M", "MX", "MY")
# The error that turns the state prepared by a reset into the orthogonal state.
_RESET_ERRORS = {"R": "X_ERROR", "RY": "X_ERROR", "RX": "Z_ERROR"}


def _noisy_moment(
    moment: Iterable[stim.CircuitInstruction], qubits_with_noise: set[int], model: NoiseModel
) -> stim.Circuit:
    noisy = stim.Circuit()
    idle = set(qubits_with_noise)
    waiting = set(qubits_with_noise)
    channels: dict[tuple[str, float], list[int]] = {}  # qubits by (channel, strength)
    for instruction in moment:
        if instruction.name in _ANNOTATIONS or is_feedback(instruction):
            noisy.append(instruction)
            continue
        qubits = [target.value for target in instruction.targets_copy()]
        if qubits_with_noise.isdisjoint(qubits):
            noisy.append(instruction)
            continue
        channel = _channel_after(instruction, model)
        if not qubits_with_noise.issuperset(qubits):
            raise ValueError(f"'{instruction}' acts on bits and on other qubits")
        if len(set(qubits)) < len(qubits) or not idle.issuperset(qubits):
            raise ValueError(f"'{instruction}' touches a qubit for the second time in a moment")
        idle.difference_update(qubits)
        channels.setdefault(channel, []).extend(qubits)
        if instruction.name in _RESET_ERRORS or instruction.name in _MEASUREMENTS:
            waiting.difference_update(qubits)
        if instruction.name in _MEASUREMENTS and model.measurement > 0:
            targets = instruction.targets_copy()
            noisy.append(instruction.name, targets, model.measurement, tag=instruction.tag)
        else:
            noisy.append(instruction)
    channels.setdefault(("DEPOLARIZE1", model.idle), []).extend(sorted(idle))
    for (name, strength), qubits in channels.items():
        if qubits and strength > 0:
            # As text, which Stim reads several times as fast as it takes targets.
            noisy.append_from_stim_program_text(f"{name}({strength!r}) {' '.join(map(str, qubits))}")
    if 0 < len(waiting) < len(qubits_with_noise) and model.waiting > 0:
        noisy.append("DEPOLARIZE1", sorted(waiting), model.waiting)
    return noisy


def _channel_after(instruction: stim.CircuitInstruction, model: NoiseModel) -> tuple[str, float]:
    """Returns the name and the strength of the noise channel that follows an operation."""
    name = instruction.name
    gate = stim.gate_data(name)
    on_qubits = all(target.is_qubit_target for target in instruction.targets_copy())
    if on_qubits and not instruction.gate_args_copy():
        if name in _RESET_ERRORS:
            return _RESET_ERRORS[name], model.reset
        if name in _MEASUREMENTS:
            return "DEPOLARIZE1", model.after_measurement
        if gate.is_unitary and gate.is_two_qubit_gate:
            return "DEPOLARIZE2", model.two_qubit_gate
        if gate.is_unitary and gate.is_single_qubit_gate:
            return "DEPOLARIZE1", model.one_qubit_gate
    raise ValueError(f"no noise is defined for '{instruction}' inside a moment")
