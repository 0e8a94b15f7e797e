"""How good logical circuits are, and the error of each of their operations.

For small errors, the logarithms of fidelities add: that of a program is the sum of what its operations cost.
A fit over several programs finds the cost of each kind of operation, and the costs predict other programs.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

import numpy as np
import numpy.typing as npt
import stim

from ...base.arguments import check_types, choice, integer, iterable, seed_of
from ...circuit import Circuit
from ..cultivation.builder import GateChoice
from ..cultivation.noise import NoiseChoice
from ..teleportation.protocol import MagicChoice, SGateChoice
from .layout import Layout
from .program import checked_program, surgery_steps
from .protocol import YStateChoice, checked_distance, logical_circuit

FidelityChoice = Literal["process", "state", "distribution"]
FIDELITY_CHOICES: tuple[FidelityChoice, ...] = get_args(FidelityChoice)
_CHUNK_SHOTS = 1024
_MOST_SHOTS = 1 << 40


@dataclass(frozen=True)
class LogicalFidelity:
    """The fidelity of a logical circuit, estimated from shots.

    Attributes:
        fidelity: The estimate.
        standard_error: Its standard error. Where no shot was wrong, it is that of one wrong shot.
        shots: The number of shots.
        kept: The number of those that no injection has discarded.
        operations: What the program consists of; see ``operation_counts``.
        seconds: Processor seconds of sampling and decoding, without compiling.
    """

    fidelity: float
    standard_error: float
    shots: int
    kept: int
    operations: Mapping[str, float] = field(default_factory=dict)
    seconds: float = field(default=0.0, compare=False)


def logical_fidelity(
    rotations: Iterable[tuple[float, str]],
    measurements: Iterable[str] = (),
    *,
    of: FidelityChoice = "process",
    shots: int = 10_000,
    decoder: Any = "pymatching",
    seed: int | None = None,
    threads: int = 1,
    distance: int = 3,
    p: float = 1e-3,
    gate: GateChoice = "T",
    noise: NoiseChoice = "uniform",
    magic: MagicChoice = "perfect",
    magic_error: float | None = None,
    y_state: YStateChoice = "perfect",
    s_gate: SGateChoice = "ideal",
    rounds: int = 2,
) -> LogicalFidelity:
    """The fidelity of a logical circuit with the program that it does, with a decoder in the loop.

    Args:
        rotations: As in ``logical_circuit``.
        measurements: As in ``logical_circuit``. For "process" and "state", they are left out.
        of: "process" is the entanglement fidelity: that of Bell pairs, of which logical qubits are halves.
            "state" is the fidelity of what becomes of |0>. "distribution" is 1 - sum |p - q| / 2, for the
            distribution p of the measured outcomes and the ideal one q. Half of the shots decide which
            outcomes are too frequent, and the other half says by how much, so that fluctuations do not count
            as errors.
        shots: Number of shots, at least 2.
        decoder: What decides, as in ``Circuit.compile_detector_sampler``. With "raw", the process and the
            state are not corrected at their end either.
        seed: As in ``Circuit.compile_detector_sampler``.
        threads: Number of threads.
        distance: As in ``logical_circuit``, as all that follow.
        p: The strength of the noise.
        gate: "T", or "S" for the S-proxy.
        noise: The noise model.
        magic: How T states are prepared.
        magic_error: The error of cultivated ones.
        y_state: How |Y> states are prepared.
        s_gate: What makes S after T.
        rounds: Rounds of an injection.

    Returns:
        The fidelity, with its error.

    Raises:
        ValueError: An argument has none of the values above, there are no measurements for a distribution, or
            all shots are discarded.

    Examples:
        >>> found = logical_fidelity([(1/8, "Z")], distance=3, p=1e-3, shots=2000, seed=1)
        >>> 0.97 < found.fidelity < 0.999, found.operations["T"]
        (True, 1)
    """
    rotations = [*iterable(rotations, "rotations", "pairs of an angle and a product")]
    measurements = [*iterable(measurements, "measurements", "Pauli products")]
    checked_program(rotations, measurements)
    choice(of, "of", FIDELITY_CHOICES)
    shots = integer(shots, "shots", 2, _MOST_SHOTS)
    seed = seed_of(seed)
    if of != "distribution":
        measurements = []
    elif not measurements:
        raise ValueError("of='distribution' is about measured outcomes, but there are no measurements.")
    circuit = Circuit(
        logical_circuit(
            rotations,
            measurements,
            distance=distance,
            p=p,
            gate=gate,
            noise=noise,
            magic=magic,
            magic_error=magic_error,
            y_state=y_state,
            s_gate=s_gate,
            rounds=rounds,
            ending="measurements" if of == "distribution" else of,
        )
    )
    places = circuit.get_detector_coordinates()
    discards = np.array([places[k][3] != 0 for k in range(circuit.num_detectors)])
    sampler = circuit.compile_detector_sampler(
        seed=seed,
        decoder=decoder,
        threads=threads,
        postselection_mask=discards,
        skip_reference_sample=of == "distribution",
    )
    sampler.sample(1)  # compiles
    begin = time.process_time()
    if of != "distribution":
        counts = sampler.sample_counts(shots)
        kept = counts.kept
        _check_kept(kept)
        share = counts.rate
        least = max(share, 1 / kept)
        value, error = 1 - share, (least * max(1 - least, 1 / kept) / kept) ** 0.5
    else:
        found: list[npt.NDArray[np.int64]] = []
        for first in range(0, shots, _CHUNK_SHOTS):
            chunk = min(_CHUNK_SHOTS, shots - first)
            detectors, outcomes = sampler.sample(chunk, separate_observables=True)
            outcomes = outcomes[~detectors[:, discards].any(axis=1)]
            found.append(outcomes @ (1 << np.arange(outcomes.shape[1])))
        numbers = np.concatenate(found)
        kept = len(numbers)
        _check_kept(kept // 2)
        value, error = _distribution_fidelity(numbers, ideal_distribution(rotations, measurements))
    seconds = time.process_time() - begin
    operations = operation_counts(rotations, measurements, distance=distance)
    return LogicalFidelity(value, error, shots, kept, operations, seconds)


def _check_kept(kept: int) -> None:
    if not kept:
        raise ValueError(
            "All shots were discarded. Take more shots, or a better T state than an injected one."
        )


def _distribution_fidelity(
    numbers: npt.NDArray[np.int64], ideal: npt.NDArray[np.float64]
) -> tuple[float, float]:
    """1 - sum |p - q| / 2 and its standard error: each half of the shots says for the other where p > q."""
    halves = [numbers[0::2], numbers[1::2]]
    shares = [np.bincount(half, minlength=len(ideal)) / len(half) for half in halves]
    distance, variance = 0.0, 0.0
    for mine, other, half in zip(shares, reversed(shares), halves, strict=True):
        excess = other > ideal
        share = float(mine[excess].sum())
        distance += (share - float(ideal[excess].sum())) / 2
        least = min(max(share, 1 / len(half)), 1 - 1 / len(half))
        variance += least * (1 - least) / len(half) / 4
    return 1 - distance, variance**0.5


def ideal_distribution(
    rotations: Iterable[tuple[float, str]], measurements: Iterable[str]
) -> npt.NDArray[np.float64]:
    """The probabilities of the outcomes of a program, exactly.

    Args:
        rotations: As in ``logical_circuit``, with angles of any size.
        measurements: As in ``logical_circuit``.

    Returns:
        float64, shape (2^measurements,). The outcome of the first measurement is the lowest bit of the index.

    Raises:
        ValueError: As in ``logical_circuit``.

    Examples:
        >>> ideal_distribution([(1/8, "X")], ["Z"]).round(4)
        array([0.8536, 0.1464])
    """
    turns, measured = checked_program(rotations, measurements)
    state = np.zeros(1 << len([*(product for _, product in turns), *measured][0]), dtype=np.complex128)
    state[0] = 1
    for theta, product in turns:
        state = np.cos(np.pi * theta) * state - 1j * np.sin(np.pi * theta) * _times(product, state)
    states = [state]
    for product in measured:
        both = [(each, _times(product, each)) for each in states]
        states = [(each + sign * turned) / 2 for sign in (1, -1) for each, turned in both]
    return np.array([np.vdot(each, each).real for each in states])


def _times(product: stim.PauliString, state: npt.NDArray[np.complex128]) -> npt.NDArray[np.complex128]:
    """A Pauli product times a state vector, in which qubit k is bit k of the index."""
    xs, zs = product.to_numpy()
    index = np.arange(len(state))
    signs = np.ones(len(state))
    for k in zs.nonzero()[0]:
        signs *= 1 - 2 * (index >> k & 1)
    result = np.empty_like(state)
    result[index ^ int(xs @ (1 << np.arange(len(product))))] = (
        product.sign * 1j ** int((xs & zs).sum()) * signs * state
    )
    return result


def operation_counts(
    rotations: Iterable[tuple[float, str]], measurements: Iterable[str] = (), *, distance: int = 3
) -> dict[str, float]:
    """What a program consists of by lattice surgery.

    Args:
        rotations: As in ``logical_circuit``.
        measurements: As in ``logical_circuit``.
        distance: As in ``logical_circuit``.

    Returns:
        The numbers of ``"T"``, of ``"S"``, the Clifford gates that turn products, and of ``"measurement"``;
        ``"lane"``, the area of all lanes and corridors in units of a patch; ``"idle round"``, the rounds of
        checks of each patch while others are merged; and ``"patch round"``, all rounds of each patch.

    Raises:
        ValueError: As in ``logical_circuit``.

    Examples:
        >>> operation_counts([(1/8, "ZI"), (1/8, "IY")])
        ... # doctest: +NORMALIZE_WHITESPACE
        {'T': 2, 'S': 1, 'measurement': 0, 'lane': 36.77777777777778, 'idle round': 12, 'patch round': 24}
    """
    distance = checked_distance(distance)
    num_qubits, steps = surgery_steps(rotations, measurements)
    layout = Layout(distance, num_qubits + 1)
    merged = [
        layout.merged(step.basis, step.qubits if step.gate == "M" else (*step.qubits, num_qubits))
        for step in steps
    ]
    gates = [step.gate for step in steps]
    return {
        "T": gates.count("T"),
        "S": gates.count("S"),
        "measurement": gates.count("M"),
        "lane": sum(len(code.region) for code in merged) / distance**2,
        "idle round": (distance + 1) * sum(num_qubits - len(step.qubits) for step in steps),
        "patch round": (distance + 1) * num_qubits * len(steps),
    }


@dataclass(frozen=True)
class OperationErrors:
    """The error of each kind of operation, as a fit over programs finds it.

    Attributes:
        errors: The error of one operation of each kind.
        standard_errors: The standard errors of these.
        covariance: float64, shape (kinds, kinds): their covariance, in the same order.
        chi_squared: The sum of squared deviations of the programs in standard errors.
        degrees_of_freedom: The number of programs less that of kinds.
    """

    errors: Mapping[str, float]
    standard_errors: Mapping[str, float]
    covariance: npt.NDArray[np.float64]
    chi_squared: float
    degrees_of_freedom: int

    def infidelity(self, operations: Mapping[str, float]) -> tuple[float, float]:
        """1 - fidelity of a program with these operations as the fit predicts it, and its standard error.

        Args:
            operations: As of ``operation_counts``. Kinds that the fit does not have are left out.
        """
        check_types(operations, "operations", "a dictionary, as operation_counts returns it", Mapping)
        counts = np.array([operations.get(kind, 0.0) for kind in self.errors])
        total = float(counts @ np.array([*self.errors.values()]))
        return float(-np.expm1(-total)), float(np.exp(-total) * (counts @ self.covariance @ counts) ** 0.5)


def operation_errors(
    fidelities: Iterable[LogicalFidelity], kinds: Sequence[str] = ("T", "S", "idle round")
) -> OperationErrors:
    """The error of each kind of operation, by a fit over programs.

    The logarithm of each fidelity is the sum of the errors of the operations. The fit is by least squares,
    with the standard errors of the fidelities as weights.

    Args:
        fidelities: Fidelities of programs of one distance and one noise.
        kinds: The kinds of operations; see ``operation_counts``.

    Returns:
        The errors. They are as good as the fit: ``chi_squared`` should not be much larger than
        ``degrees_of_freedom``.

    Raises:
        ValueError: There are too few programs, or these do not tell the kinds apart.

    Examples:
        >>> programs = [LogicalFidelity(0.98, 1e-3, 10**4, 10**4, {"T": 1}),
        ...             LogicalFidelity(0.94, 1e-3, 10**4, 10**4, {"T": 3})]
        >>> found = operation_errors(programs, ["T"])
        >>> f"{found.errors['T']:.4f} +- {found.standard_errors['T']:.4f}"
        '0.0206 +- 0.0003'
        >>> round(found.infidelity({"T": 2})[0], 3)
        0.04
    """
    wanted, names = "fidelities of programs, as logical_fidelity finds them", 'names such as ["T", "S"]'
    programs = [*iterable(fidelities, "fidelities", wanted)]
    kinds = [*iterable(kinds, "kinds", names)]
    for each in programs:
        check_types(each, "fidelities", wanted, LogicalFidelity)
    for kind in kinds:
        check_types(kind, "kinds", names, str)
    counts = np.array([[each.operations.get(kind, 0.0) for kind in kinds] for each in programs])
    if not kinds or len(programs) < len(kinds) or np.linalg.matrix_rank(counts) < len(kinds):
        raise ValueError(
            f"{len(programs)} programs do not tell the errors of {len(kinds)} kinds of operations apart. Take"
            " programs that have these kinds in other proportions, or fewer kinds."
        )
    values = np.array([each.fidelity for each in programs])
    if (values <= 0).any():
        raise ValueError("A fidelity of 0 or less has no logarithm. Take shorter programs, or more shots.")
    scale = values / np.array([each.standard_error for each in programs])
    weighted, logarithms = counts * scale[:, None], -np.log(values) * scale
    covariance = np.linalg.inv(weighted.T @ weighted)
    found = covariance @ (weighted.T @ logarithms)
    return OperationErrors(
        dict(zip(kinds, found.tolist(), strict=True)),
        dict(zip(kinds, np.sqrt(np.diag(covariance)).tolist(), strict=True)),
        covariance,
        float(((logarithms - weighted @ found) ** 2).sum()),
        len(programs) - len(kinds),
    )
