"""The trajectory engine: it follows the state of each shot, in C++ (``native/engine/trajectories``)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import stim

from ..._native import TrajectoryEngine as NativeTrajectoryEngine
from ..compiler import CompiledCircuit
from ..compiler.algebra.gf2 import mask_of, ones
from ..compiler.program.flattening import program_of
from ..compiler.program.program import Program
from ..compiler.program.steps import ObservableStep
from ..compiler.program.turns import TurnSteps
from ..compiler.reference_sample import DEFAULT_MAX_ACTIVE_COORDINATES
from .contract import KeptRowsEngine, PackedBits


class TrajectoryEngine(KeptRowsEngine):
    r"""Draws shots by following each of them by itself.

    The state of a shot is a Clifford operation on a vector of its active coordinates and qubits in \|0>: the
    generalized stabilizer formalism (T. J. Yoder, A generalization of the stabilizer formalism for
    simulating arbitrary quantum circuits, 2012). So noise may change which operations there are. Relaxation
    is a mixture of nothing, a reset, a Z, and for T2 > T1 a weak amplitude damping: a reset takes a
    stabilizer away and adds another one, and hardly ever makes the vector longer.

    Shots are numbered, and depend on the circuit, the seed and the number alone. They are not the shots of
    the other engines. An outcome has a random number of its own (``random_streams``).

    Args:
        circuit: The circuit.
        by_records: Whether the outputs are records; if not, they are detectors, then observables.
        inverted: The outputs that are inverted, as a mask: bit k is output k.
        reported: The outputs of ``sample`` and ``sample_kept``, in this order; None for all.
        postselected: The outputs that discard a shot if they are 1.
        threads: Number of threads, including the calling thread.
        max_active_coordinates: Limit for the active coordinates of a shot.
        with_expectations: Whether shots have the expectation values of EXP_VAL. The bits
            of a shot are the same.

    Raises:
        ResourceLimitError: The circuit has more than 1024 qubits, or 2^24 operations. Methods raise it if a
            shot needs more active coordinates.
        ValueError: An observable has Pauli targets.

    Examples:
        >>> import stim_nonclifford as snc
        >>> circuit = snc.Circuit("X 0\nAMPLITUDE_DAMPING(1) 0\nM 0")
        >>> engine = TrajectoryEngine(circuit.to_stim(), by_records=True)
        >>> engine.sample(seed=0, first_shot=0, shots=3).tolist()
        [[0], [0], [0]]
    """

    def __init__(
        self,
        circuit: stim.Circuit,
        *,
        by_records: bool,
        inverted: int = 0,
        reported: Sequence[int] | None = None,
        postselected: Sequence[int] = (),
        threads: int = 1,
        max_active_coordinates: int = DEFAULT_MAX_ACTIVE_COORDINATES,
        with_expectations: bool = False,
    ) -> None:
        program = program_of(circuit, for_trajectories=True, with_expectations=with_expectations)
        _check_observables(program)
        count = program.num_records if by_records else program.num_detectors + program.num_observables
        constant = np.zeros(count, dtype=np.uint8)
        constant[ones(inverted)] = 1
        arguments = (
            program.native,
            np.array([place.line for place in program.stored_places], dtype=np.int32),
            by_records,
            constant,
            np.array(range(count) if reported is None else reported, dtype=np.uint32),
            np.array(postselected, dtype=np.uint32),
            *_models_of_leakage(program),
        )
        if program.turns.tables:
            tables = _tables_of_turns(program.turns)
            self._engine = NativeTrajectoryEngine(*arguments, *tables, threads, max_active_coordinates)
        else:
            self._engine = NativeTrajectoryEngine(*arguments, threads, max_active_coordinates)

    @property
    def name(self) -> str:
        """See ``SamplingEngine.name``."""
        return "trajectory"

    def sample_kept_numbered(
        self, seed: int, first_shot: int, shots: int
    ) -> tuple[PackedBits, npt.NDArray[np.int64]]:
        """See ``SamplingEngine.sample_kept_numbered``."""
        return self._engine.sample_kept(seed, first_shot, shots)[:2]

    def sample_kept_with_values(
        self, seed: int, first_shot: int, shots: int
    ) -> tuple[PackedBits, npt.NDArray[np.int64], npt.NDArray[np.float64]]:
        """As ``sample_kept_numbered``, with the expectation values: float64, shape (kept shots, values).

        A value is NaN where a shot does not come to its EXP_VAL, in a block that records switch.
        """
        return self._engine.sample_kept(seed, first_shot, shots)

    def likely_outputs(self) -> int:
        """All outputs, as a mask, without noise on the likely outcomes; the engine must not postselect.

        Each outcome has its more likely value, given the earlier ones, and 0 if both are equally likely. Of
        attempts that are repeated, the detectors that are not reached are those of the last one.
        """
        return mask_of(np.flatnonzero(self._engine.likely_outputs()).tolist())

    def statistics(self) -> dict[str, int]:
        """Counts of the work that was done.

        Returns:
            The numbers of ``shots``; of ``structural_events``, which are relaxations and leakage; of
            ``pauli_events``; of ``steps`` of the circuit, and of ``skipped_steps``, which were as without
            noise; and the ``largest_width``, the active coordinates of the widest shot.
        """
        return self._engine.statistics()


def reference_detectors(compiled: CompiledCircuit, max_active_coordinates: int) -> int:
    """The detectors and observables of the reference sample, as a mask; records may switch blocks."""
    if not compiled.program.is_switched:
        return compiled.reference_detectors(max_active_coordinates)
    return _likely(compiled, max_active_coordinates, by_records=False)


def reference_records(compiled: CompiledCircuit, max_active_coordinates: int) -> int:
    """The records of the reference sample, as a mask; records may switch blocks."""
    if not compiled.program.is_switched:
        return compiled.reference_records(max_active_coordinates)
    return _likely(compiled, max_active_coordinates, by_records=True)


def _likely(compiled: CompiledCircuit, max_active_coordinates: int, *, by_records: bool) -> int:
    limit = max_active_coordinates
    engine = TrajectoryEngine(compiled.circuit, by_records=by_records, max_active_coordinates=limit)
    return engine.likely_outputs()


def _check_observables(program: Program) -> None:
    for step, place in zip(program.stored_steps, program.stored_places, strict=True):
        if isinstance(step, ObservableStep) and step.factors:
            raise ValueError(
                f"Line {place.line}: `{place.source}`: an observable with Pauli targets counts Pauli errors,"
                " and an engine that follows each shot has none to count. Measure the Paulis (MPP) and make"
                " the record the observable; or leave the Pauli targets out, and ask for EXP_VAL of them."
            )


def _tables_of_turns(
    turns: TurnSteps,
) -> tuple[
    npt.NDArray[np.uint32],
    npt.NDArray[np.uint32],
    npt.NDArray[np.float64],
    npt.NDArray[np.uint32],
    npt.NDArray[np.float64],
]:
    """The angles of quasi-static noise, as ``TurnTables`` in C++ has them."""
    tables, weights = list(turns.tables), turns.weights

    def firsts(rows: Sequence[Sequence[float]]) -> npt.NDArray[np.uint32]:
        return np.cumsum([0, *map(len, rows)]).astype(np.uint32)

    return (
        np.array([variable for variable, _ in tables], dtype=np.uint32),
        firsts([angles for _, angles in tables]),
        np.array([angle for _, angles in tables for angle in angles], dtype=np.float64),
        firsts(weights),
        np.concatenate([np.zeros(0), *map(np.cumsum, weights)]),
    )


def _models_of_leakage(program: Program) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """What unusual models of leakage say of each qubit, as ``LeakagePartners`` in C++ has it."""
    partners = np.full((program.num_qubits, 3), -1.0)
    replacements = np.ones(program.num_qubits)
    for qubit, paulis in program.leakage_models.partners.items():
        partners[qubit] = paulis
    for qubit, probability in program.leakage_models.replacements.items():
        replacements[qubit] = probability
    return partners.ravel(), replacements
