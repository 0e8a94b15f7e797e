"""The CPU engine, in C++ (``stim_nonclifford/native``)."""

from __future__ import annotations

import math
from typing import Literal

import numpy as np
import numpy.typing as npt

from ... import _native
from ...base.arrays import words_of_bits
from ...base.errors import HOW_TO_NARROW
from ...base.memory import machine_bytes
from ..plan import SamplingPlan, plain_attributes
from ..reduction import simulated_width
from .contract import OutcomePasses, PackedBits, Tally

DEFAULT_CACHE_BYTES = 512 << 20
MAX_THREADS = 1024
"""More than the threads of any machine, and few enough to be started."""

_COEFFICIENT_BYTES = 16
_NEGLIGIBLE = 1e-12


class _NativePasses:
    """Outcomes of shots that the native engine simulates in passes."""

    def __init__(self, passes: _native.OutcomePasses, shots: int) -> None:
        self._passes, self._shots = passes, shots

    def draw(self, read: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
        """See ``OutcomePasses.draw``."""
        return self._passes.draw(read).reshape(self._shots, len(read))

    def flip(self, bits: npt.NDArray[np.uint64]) -> None:
        """See ``OutcomePasses.flip``."""
        self._passes.flip(bits.ravel())


class CpuEngine:
    r"""Draws shots on the CPU.

    Args:
        plan: The plan.
        threads: Number of threads, including the calling thread.
        cache_bytes: Limit in bytes for stored outcome laws. Beyond it, outcome laws are computed without
            being stored.
        kernels: The instruction set to use: ``"generic"``, ``"avx2"`` or ``"avx512"``. None selects the one
            in the environment variable ``STIM_NONCLIFFORD_ISA``, or else the best one of this machine.
        path_method: What simulates outcomes: ``"vector"``, all coefficients, or ``"elimination"``, which
            needs few or none and is not for all plans. None selects the cheaper one
            (``reduction.reduction_of``). Shots do not depend on it.

    Raises:
        ValueError: The plan is wrong; ``path_method`` is ``"elimination"``, but it is not possible; the
            instruction set is unknown, or this machine does not have it; or the number of threads is out of
            range.
        MemoryError: There is too little memory for the coefficient vectors of all threads.

    Examples:
        >>> import stim_nonclifford as snc
        >>> engine = CpuEngine(snc.Circuit("X 0\nM 0").compile().record_plan())
        >>> engine.sample(seed=0, first_shot=0, shots=3).tolist()
        [[1], [1], [1]]
    """

    def __init__(
        self,
        plan: SamplingPlan,
        *,
        threads: int = 1,
        cache_bytes: int = DEFAULT_CACHE_BYTES,
        instruction_set: str | None = None,
        path_method: Literal["vector", "elimination"] | None = None,
    ) -> None:
        if not 1 <= threads <= MAX_THREADS:
            raise ValueError(f"threads must be between 1 and {MAX_THREADS}, but is {threads}.")
        self.plan = plan
        self._threads = threads
        try:
            self._engine = _native.Engine(
                plain_attributes(plan), threads, cache_bytes, instruction_set or "", path_method or ""
            )
        except MemoryError:
            raise MemoryError(self._needs()) from None

    @property
    def name(self) -> str:
        """See ``SamplingEngine.name``."""
        return "cpu"

    def count(
        self, seed: int, first_shot: int, shots: int, max_errors: int = 0, *, list_errors: bool = False
    ) -> Tally:
        """See ``SamplingEngine.count``."""
        try:
            return Tally(**self._engine.count(seed, first_shot, shots, max_errors, list_errors))
        except MemoryError:
            raise MemoryError(self._needs()) from None

    def sample(self, seed: int, first_shot: int, shots: int, *, num_outputs: int | None = None) -> PackedBits:
        """See ``SamplingEngine.sample``."""
        wanted = self.plan.num_outputs if num_outputs is None else num_outputs
        try:
            return self._engine.sample(seed, first_shot, shots, wanted)
        except MemoryError:
            raise MemoryError(f"The outputs of {self._rows_need(shots)}") from None

    def sample_kept(self, seed: int, first_shot: int, shots: int) -> PackedBits:
        """See ``SamplingEngine.sample_kept``."""
        return self.sample_kept_numbered(seed, first_shot, shots)[0]

    def sample_kept_numbered(
        self, seed: int, first_shot: int, shots: int
    ) -> tuple[PackedBits, npt.NDArray[np.int64]]:
        """See ``SamplingEngine.sample_kept_numbered``."""
        try:
            return self._engine.sample_kept(seed, first_shot, shots)
        except MemoryError:
            raise MemoryError(f"If all are kept, {self._rows_need(shots)}") from None

    def outcome_law(
        self, signature: npt.NDArray[np.bool_]
    ) -> list[tuple[float, bool, npt.NDArray[np.bool_]]]:
        """The outcome law of a signature, branch by branch.

        A branch has a probability, whether the shot is discarded, and the outputs that outcomes flip.

        The signature is bool of shape (num_signature_bits,), the outputs bool of shape (num_outputs,). All
        discarded branches are one, without flips; it is left out if its probability is at most 1e-12.
        """
        probabilities, outputs = self._engine.kept_law(words_of_bits(signature))
        law = [
            (float(probability), False, self._bits_of(flipped))
            for probability, flipped in zip(probabilities, outputs, strict=True)
        ]
        discards = 1.0 - math.fsum(probabilities) if self.plan.num_outcome_checks else 0.0
        if discards > _NEGLIGIBLE:
            law.append((discards, True, np.zeros(self.plan.num_outputs, dtype=np.bool_)))
        return law

    def rows(self, seed: int, first_shot: int, shots: int) -> npt.NDArray[np.uint64]:
        """See ``RowEngine.rows``."""
        try:
            return self._engine.rows(seed, first_shot, shots)
        except MemoryError:
            raise MemoryError(f"The rows of {self._rows_need(shots)}") from None

    def outcomes(
        self,
        signatures: npt.NDArray[np.uint64],
        numbers: npt.NDArray[np.uint64],
        seed: int,
    ) -> npt.NDArray[np.uint64]:
        """Draws outcomes for given signatures; the plan must not postselect what depends on outcomes.

        Signatures are uint64 of shape (shots, words): bit k is bit k % 64 of word k // 64. Together with the
        seed, a number fixes the outcomes of its signature; random numbers give outcomes with the
        probabilities of the outcome law. Returns the outputs that the outcomes flip, in words, too.
        """
        if self.plan.num_outcome_checks:
            raise ValueError("The plan discards shots because of their outcomes.")
        flat = np.ascontiguousarray(signatures, dtype=np.uint64).ravel()
        found = self._engine.outcomes(flat, np.ascontiguousarray(numbers, dtype=np.uint64), seed)
        return found.reshape(len(numbers), -(-self.plan.num_outputs // 64))

    def can_go_on(self, read: npt.NDArray[np.uint64], bits: npt.NDArray[np.uint64]) -> bool:
        """See ``PassEngine.can_go_on``."""
        return _native.OutcomePasses.suits(self._engine, read.ravel(), bits.ravel())

    def passes(
        self, signatures: npt.NDArray[np.uint64], numbers: npt.NDArray[np.uint64], seed: int
    ) -> OutcomePasses:
        """See ``PassEngine.passes``."""
        return _NativePasses(
            _native.OutcomePasses(self._engine, signatures.ravel(), numbers, seed), len(numbers)
        )

    def possible_path(
        self, signature: npt.NDArray[np.bool_], seed: int, number: int
    ) -> npt.NDArray[np.bool_] | None:
        """The outputs that outcomes flip on a path that a shot can take, however unlikely it is.

        The result is None if the shot is discarded on this path.

        Each outcome that is not certain is 0 or 1 with equal chances, fixed by the seed and the number of the
        path. If one of both would discard the shot at once, it is the other one.
        """
        kept, outputs = self._engine.possible_path(words_of_bits(signature), seed, number)
        return self._bits_of(outputs) if kept else None

    def likely_outputs(self) -> npt.NDArray[np.bool_]:
        """The outputs that the likely outcomes flip without noise; see ``reference.likely_outputs``."""
        return self._bits_of(self._engine.likely_outputs())

    def statistics(self) -> dict[str, int]:
        """Sizes of the store of outcome laws, and the work done; see ``docs/methods/cost.md``."""
        return self._engine.statistics()

    def _needs(self) -> str:
        width = simulated_width(self.plan)
        vector = _COEFFICIENT_BYTES << width
        fits = vector < machine_bytes()
        advice = "Choose fewer threads or a smaller cache_bytes." if fits else HOW_TO_NARROW
        return (
            f"There is too little memory for the engine. Its {self._threads} threads need {vector} bytes each"
            f" for a vector of 2^{width} coefficients, and more for shots; stored outcome laws"
            f" take up to cache_bytes. {advice}"
        )

    def _rows_need(self, shots: int) -> str:
        row = -(-self.plan.num_outputs // 8)
        return (
            f"{shots} shots of {row} bytes need {shots * row} bytes ({shots * row / 2**30:.3g} GiB); there is"
            " not so much memory. Take fewer shots per call, or count them with sample_counts, which needs no"
            " memory for shots."
        )

    def _bits_of(self, outputs: npt.ArrayLike) -> npt.NDArray[np.bool_]:
        bytes_of_words = np.array(outputs, dtype="<u8").view(np.uint8)
        return np.unpackbits(bytes_of_words, count=self.plan.num_outputs, bitorder="little").astype(np.bool_)

    @property
    def instruction_set(self) -> str:
        """The instruction set in use."""
        return self._engine.instruction_set
