"""Error models for decoders: from effects of noise, conditioned on silent detectors, decomposed by Stim."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import TypeAlias

import stim

from .algebra.gf2 import masks_of, ones
from .program.channels import independent_errors
from .sweeps.effects import EffectTable


def detector_error_model(
    table: EffectTable,
    num_detectors: int,
    num_observables: int,
    coordinates: Mapping[int, Sequence[float]],
    *,
    usual: Collection[int] | None = None,
    approximate_disjoint_errors: float = False,
) -> stim.DetectorErrorModel:
    """The error model of the outputs of a circuit.

    Mechanisms that flip the same outputs are one error. Mutually exclusive events become independent errors
    with the same distribution, if such errors exist. Otherwise they can be approximated, up to the
    probability ``approximate_disjoint_errors``. Random quantum outcomes are not errors, so the outputs that
    they flip are not listed.

    ``usual`` are the effects of errors that are more likely than none, whose sum is the constant of
    ``table``: each is an error of the model. By default, their sum is.
    """
    outputs = (1 << table.num_outputs) - 1
    rates: dict[int, float] = {}
    for effect, rate in table.noise.independent().items():
        rates[effect & outputs] = rates.get(effect & outputs, 0.0) + rate
    errors = {effect: -0.5 * math.expm1(-2 * rate) for effect, rate in rates.items()}

    def add(effect: int, probability: float) -> None:
        """Adds an independent error: it and another that flips the same outputs cancel."""
        before = errors.get(effect, 0.0)
        errors[effect] = before + probability - 2 * before * probability

    for effect in [table.constant] if usual is None else usual:
        add(effect & outputs, 1.0)
    known: dict[tuple[tuple[int, float], ...], dict[int, float] | None] = {}  # repeated sites are equal
    for site in table.noise.exclusive():
        choices: dict[int, float] = {}
        for effect, probability in site.items():
            choices[effect & outputs] = choices.get(effect & outputs, 0.0) + probability
        key = tuple(choices.items())
        if key not in known:
            known[key] = independent_errors(key)
        exact = known[key]
        if exact is None:
            _check_approximation(choices.values(), approximate_disjoint_errors)
        for effect, probability in (choices if exact is None else exact).items():
            add(effect, probability)
    for effect in masks_of(table.coins):
        add(effect & outputs, 0.5)

    model = stim.DetectorErrorModel()
    for effect, probability in sorted(errors.items(), key=lambda error: ones(error[0])):
        if effect:
            targets = [
                stim.target_relative_detector_id(bit)
                if bit < num_detectors
                else stim.target_logical_observable_id(bit - num_detectors)
                for bit in ones(effect)
            ]
            model.append("error", probability, targets)
    declare_all(model, num_detectors, num_observables, coordinates)
    return model


def declare_all(
    model: stim.DetectorErrorModel,
    num_detectors: int,
    num_observables: int,
    coordinates: Mapping[int, Sequence[float]],
) -> None:
    """Appends declarations of all detectors, with their coordinates, and of all observables."""
    for detector in range(num_detectors):
        place = list(coordinates.get(detector, ()))
        model.append("detector", place, [stim.target_relative_detector_id(detector)])
    for observable in range(num_observables):
        model.append("logical_observable", [], [stim.target_logical_observable_id(observable)])


def _check_approximation(probabilities: Iterable[float], allowed: float) -> None:
    """Checks what ``approximate_disjoint_errors`` allows, where ``True`` is 1 and ``False`` is 0."""
    largest = max(probabilities, default=0.0)
    if allowed == 0:
        raise ValueError(
            "The circuit has noise with mutually exclusive errors that no independent errors can stand for,"
            " such as PAULI_CHANNEL_1(0.1, 0.2, 0), but an error model has independent errors only. Add the"
            " argument approximate_disjoint_errors=True."
        )
    if largest > allowed:
        raise ValueError(
            f"A channel with mutually exclusive errors has a probability argument ({largest:g}) larger than"
            f" the `approximate_disjoint_errors` threshold ({float(allowed):g})."
        )


Part: TypeAlias = frozenset[stim.DemTarget]
"""What a part of an error flips."""

_GRAPHLIKE = 2
"""An edge of a matching graph has at most two detectors."""


def conditioned(model: stim.DetectorErrorModel, silent: Collection[int]) -> stim.DetectorErrorModel:
    r"""The model without the errors that flip a detector that is known not to fire.

    Two errors that flip the same silent detectors can occur together. The model leaves them out: it is that
    of the shots in which none of the errors occurs that would fire a silent detector alone.

    Where Stim has decomposed an error into parts that flip a silent detector and flip it back, these parts
    are joined.

    Examples:
        >>> print(conditioned(stim.DetectorErrorModel("error(0.25) D0 D1\nerror(0.25) D0 D2 ^ D2"), {1, 2}))
        error(0.25) D0
        detector D1
        detector D2
    """
    known = set(silent)
    result = stim.DetectorErrorModel()
    for instruction in model.flattened():
        if instruction.type == "error":
            parts = list(parts_of(instruction))
            flipped: set[stim.DemTarget] = set()
            for part in parts:
                flipped ^= part
            if any(_is_in(target, known) for target in flipped):
                continue
            if any(_is_in(target, known) for part in parts for target in part):
                result.append("error", instruction.args_copy(), _joined(parts, known))
                continue
        result.append(instruction)
    declared = {target.val for target in _detectors(result)}
    for detector in range(model.num_detectors):
        if detector not in declared:
            result.append("detector", [], [stim.target_relative_detector_id(detector)])
    missing = range(result.num_observables, model.num_observables)
    for observable in missing:
        result.append("logical_observable", [], [stim.target_logical_observable_id(observable)])
    return result


def decomposed(
    model: stim.DetectorErrorModel,
    *,
    ignore_decomposition_failures: bool = False,
    block_decomposition_from_introducing_remnant_edges: bool = False,
) -> stim.DetectorErrorModel:
    r"""The model with Stim's decomposition of errors that flip more than two detectors.

    Stim decomposes circuits only. So each detector and observable becomes a qubit, and each error a
    correlated error on these qubits. A model does not say which errors come from the same noise channel. Stim
    tries such parts first when it decomposes the errors of a circuit. A model that suggests parts that flip
    at most two detectors, for all errors, is returned as it is; other suggestions are dropped.

    Examples:
        >>> model = stim.DetectorErrorModel(
        ...     "error(0.25) D0 D1\nerror(0.25) D2 D3 L0\nerror(0.25) D0 D1 D2 D3 L0"
        ... )
        >>> [error for error in map(str, decomposed(model)) if "^" in error]
        ['error(0.25) D0 D1 ^ D2 D3 L0']
    """
    if _undecomposed(model) is None:
        return model
    num_detectors, num_observables = model.num_detectors, model.num_observables
    circuit = stim.Circuit()
    for instruction in model.flattened():
        if instruction.type != "error":
            continue
        flipped: set[stim.DemTarget] = set()
        for part in parts_of(instruction):
            flipped ^= part
        qubits = sorted(t.val + (0 if t.is_relative_detector_id() else num_detectors) for t in flipped)
        if qubits:
            circuit.append("E", [stim.target_x(qubit) for qubit in qubits], instruction.args_copy())
    circuit.append("M", range(num_detectors + num_observables))
    for detector in range(num_detectors):
        circuit.append("DETECTOR", [stim.target_rec(detector - num_detectors - num_observables)])
    for k in range(num_observables):
        circuit.append("OBSERVABLE_INCLUDE", [stim.target_rec(k - num_observables)], k)
    try:
        found = circuit.detector_error_model(
            decompose_errors=True,
            ignore_decomposition_failures=ignore_decomposition_failures,
            block_decomposition_from_introducing_remnant_edges=block_decomposition_from_introducing_remnant_edges,
        )
    except ValueError as error:
        # What follows is about the places of instructions in the circuit above.
        raise ValueError(str(error).split("\n\nCircuit stack trace")[0]) from None
    result = stim.DetectorErrorModel()
    for instruction in found:
        if instruction.type == "error":
            result.append(instruction)
    declare_all(result, num_detectors, num_observables, model.get_detector_coordinates())
    return result


def check_decomposed(model: stim.DetectorErrorModel) -> None:
    """Checks that no part of an error flips more than two detectors.

    Examples:
        >>> check_decomposed(stim.DetectorErrorModel("error(0.1) D0 D1 D2"))
        Traceback (most recent call last):
        ...
        ValueError: Failed to decompose errors into graphlike components with at most two symptoms.
        The error component that failed to decompose is 'D0, D1, D2'.
        <BLANKLINE>
        You can ignore this error by passing `ignore_decomposition_failures=True`.
    """
    names = _undecomposed(model)
    if names is not None:
        raise ValueError(
            "Failed to decompose errors into graphlike components with at most two symptoms.\n"
            f"The error component that failed to decompose is '{names}'.\n\n"
            "You can ignore this error by passing `ignore_decomposition_failures=True`."
        )


def _undecomposed(model: stim.DetectorErrorModel) -> str | None:
    """The first part of an error that flips more than two detectors."""
    for instruction in model.flattened():
        if instruction.type != "error":
            continue
        for part in parts_of(instruction):
            if sum(target.is_relative_detector_id() for target in part) > _GRAPHLIKE:
                return ", ".join(map(str, sorted(part, key=_place)))
    return None


def parts_of(error: stim.DemInstruction) -> Iterator[Part]:
    """The parts of an error, between separators: what each of them flips."""
    for group in error.target_groups():
        part: set[stim.DemTarget] = set()
        for target in group:
            part ^= {target}
        yield frozenset(part)


def targets_of(parts: Iterable[Collection[stim.DemTarget]]) -> list[stim.DemTarget]:
    """The targets of an error with these parts."""
    targets: list[stim.DemTarget] = []
    for part in filter(None, parts):
        if targets:
            targets.append(stim.target_separator())
        targets += sorted(part, key=_place)
    return targets


def _joined(parts: list[Part], silent: set[int]) -> list[stim.DemTarget]:
    """The targets of an error, with all parts that flip silent detectors joined to one."""
    joined: set[stim.DemTarget] = set()
    others = []
    for part in parts:
        if any(_is_in(target, silent) for target in part):
            joined ^= part
        else:
            others.append(part)
    return targets_of([joined, *others])


def _place(target: stim.DemTarget) -> tuple[bool, int]:
    return not target.is_relative_detector_id(), target.val


def _is_in(target: stim.DemTarget, detectors: set[int]) -> bool:
    return target.is_relative_detector_id() and target.val in detectors


def _detectors(model: stim.DetectorErrorModel) -> Iterator[stim.DemTarget]:
    for instruction in model:
        for target in instruction.targets_copy():
            if not isinstance(target, int) and target.is_relative_detector_id():
                yield target
