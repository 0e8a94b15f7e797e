"""What malignant fault sets say about a circuit."""

from __future__ import annotations

import contextlib
import math
import time
import warnings
from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar, cast, overload

import stim

from ...base.arguments import flag
from ...base.errors import HOW_TO_NARROW, RandomObservableWarning, ResourceLimitError
from ...base.masks import Mask, postselected_outputs
from ...rates.decoded_rates.results import DecodedErrorRate
from ...rates.fault_sets.interface import PlannedCircuit, estimate_rates
from ...rates.fault_sets.malignant import FaultDistance, MalignantSet, fault_distance, malignant_sets
from ...rates.fault_sets.results import LogicalErrorRate
from ...rates.fault_sets.search.limits import DEFAULT_MAX_BYTES, Limits
from ...simulation.compiler import CompiledCircuit
from ...simulation.engines.time_limit import time_limit
from ...simulation.faults import FaultTable
from ...simulation.logical_errors.noiseless_outputs import random_outputs
from ...simulation.logical_errors.refusals import check_logical_errors
from ..logical_states import LogicalState, LogicalStateCheck, state_check_of

__all__ = ["CircuitFaultSets", "checked_circuit", "planned", "rates_of", "rates_with_decoder"]

_MOSTLY = 0.5
"""The part of a rate that is worth a warning if it is there without any fault."""

Self = TypeVar("Self", bound="CircuitFaultSets")


class CircuitFaultSets:
    """Sums over fault sets, without waiting for errors; see ``docs/guides/fault_sets.md``."""

    if TYPE_CHECKING:
        _stim: stim.Circuit

        def compile(self) -> CompiledCircuit: ...  # noqa: D102
        def with_logical_readout(  # noqa: D102
            self: Self, state: LogicalStateCheck | LogicalState
        ) -> Self: ...
        def _read_out(self: Self, state: LogicalStateCheck | LogicalState) -> tuple[Self, int]: ...
        def _refuse_random_state(self, state: LogicalStateCheck | LogicalState) -> NoReturn: ...
        def _fault_table(self) -> FaultTable: ...

    @overload
    def logical_error_rate(
        self,
        *,
        decoder: None = None,
        postselection_mask: Mask | None = None,
        postselected_observables_mask: Mask | None = None,
        state_check: LogicalStateCheck | LogicalState | None = None,
        skip_reference_sample: bool = False,
        relative_error: float = 0.01,
        max_seconds: float | None = None,
        max_bytes: int = DEFAULT_MAX_BYTES,
        seed: int | None = None,
        threads: int = 1,
        confidence: bool = False,
        progress: bool = False,
    ) -> LogicalErrorRate: ...

    @overload
    def logical_error_rate(
        self,
        *,
        decoder: Any,
        postselection_mask: Mask | None = None,
        postselected_observables_mask: Mask | None = None,
        state_check: LogicalStateCheck | LogicalState | None = None,
        skip_reference_sample: bool = False,
        relative_error: float = 0.01,
        max_seconds: float | None = None,
        max_bytes: int = DEFAULT_MAX_BYTES,
        seed: int | None = None,
        threads: int = 1,
        confidence: bool = False,
        progress: bool = False,
    ) -> DecodedErrorRate: ...

    def logical_error_rate(
        self,
        *,
        decoder: Any = None,
        postselection_mask: Mask | None = None,
        postselected_observables_mask: Mask | None = None,
        state_check: LogicalStateCheck | LogicalState | None = None,
        skip_reference_sample: bool = False,
        relative_error: float = 0.01,
        max_seconds: float | None = None,
        max_bytes: int = DEFAULT_MAX_BYTES,
        seed: int | None = None,
        threads: int = 1,
        confidence: bool = False,
        progress: bool = False,
    ) -> LogicalErrorRate | DecodedErrorRate:
        r"""The probability that a kept shot is wrong, however small, from the sets of faults that make it so.

        Without a decoder: for circuits most of whose faults are seen by postselected detectors. With a
        decoder: for any circuit whose errors do not exclude each other; from failing fault
        sets, see ``docs/guides/decoded_rates.md``. The seed fixes the result, whatever the
        number of threads, unless ``max_seconds`` ends it early.

        Without noise, each observable must have one value in the shots that are kept, up to what rotations by
        small angles do; ``stim_nonclifford.simulation.logical_errors.noiseless_outputs`` says how that is
        looked at.

        Args:
            decoder: The name of a decoder that Sinter knows, such as ``"pymatching"``, or a
                ``sinter.Decoder``: a shot is wrong if it predicts an observable wrongly. It is told the error
                model of the circuit. None: every detector discards the shot if it fires.
            postselection_mask: The detectors that discard a shot, as in ``compile_detector_sampler``. Without
                a decoder they must be all, ``"all"``, as nothing decodes the others; with one, any, and with
                ``"desaturated"`` those that it needs by default. A circuit without detectors needs no mask.
            postselected_observables_mask: The observables that discard a shot; none by default.
            state_check: A logical state, such as ``"T"``, in place of the observables: a kept shot is wrong
                with probability 1 - fidelity. See ``with_logical_readout``, whose circuit is looked at. With
                the decoder ``"desaturated"``, a check by one logical Pauli in the decoded frame; not with
                others.
            skip_reference_sample: Whether detectors and observables are raw parities of records, and not
                flips of the noiseless reference sample, as in ``compile_detector_sampler``. Of a random check
                the reference sample has the likelier outcome: by default, shots with this one are kept.
                Without a decoder.
            relative_error: The ``relative_error`` of the result at which it stops. The result says so if time
                or limits end it before.
            max_seconds: No new round of sampling begins so long after the call, and no weight is enumerated
                for longer. With a decoder, the search ends then.
            max_bytes: Memory to use, about; without a decoder.
            seed: None for fresh entropy, or an integer in range(2**64).
            threads: Number of threads. With a decoder that takes longer than a second, also the number of
                processes that decode, as most decoders hold Python's global lock. A decoder that another
                process cannot import, such as one that a script defines by itself, is asked by one. With
                ``"desaturated"``, one thread does everything.
            confidence: Whether the result is to have a ``gap_curve``: rates of the shots in which the decoder
                is so sure at least, by the complementary gap (``"pymatching"``, ``"chromobius"``,
                ``"desaturated"``, or a ``sinter.Decoder`` with
                ``decode_shots_bit_packed_with_confidence``). Needs a decoder.
            progress: Whether to print what is under way to stderr.

        Returns:
            The estimate with its interval and its parts; printed, a table. With a decoder, a
            ``DecodedErrorRate``.

        Raises:
            ResourceLimitError: There are too many sets for this method; the message says why.
            TypeError: A mask has the wrong dtype.
            ValueError: There are no observables; an observable is random without noise, or a detector is not
                postselected; a mask has the wrong shape; an argument is out of range; or no shot is ever
                kept.

        Examples:
            >>> import stim_nonclifford as snc
            >>> repetition_code = snc.Circuit.generated(
            ...     "repetition_code:memory", distance=5, rounds=2, before_round_data_depolarization=1e-4
            ... )
            >>> estimate = repetition_code.logical_error_rate(postselection_mask="all", seed=1)
            >>> f"{estimate.logical_error_rate:.2e}"
            '2.63e-21'
            >>> decoded = repetition_code.logical_error_rate(decoder="pymatching", seed=1)
            >>> f"{decoded.logical_error_rate:.1e}"
            '5.9e-12'
        """
        return rates_of(
            [self],
            decoder,
            postselection_mask,
            postselected_observables_mask,
            state_check,
            skip_reference_sample,
            Limits(relative_error, max_seconds, max_bytes),
            seed,
            threads,
            progress,
            confidence,
        )[0]

    def fault_distance(
        self,
        *,
        postselection_mask: Mask | None = None,
        postselected_observables_mask: Mask | None = None,
        state_check: LogicalStateCheck | LogicalState | None = None,
        skip_reference_sample: bool = False,
        max_weight: int = 4,
        threads: int = 1,
        max_bytes: int = DEFAULT_MAX_BYTES,
    ) -> FaultDistance:
        r"""The fewest error mechanisms that can make a kept shot wrong.

        What ``stim.Circuit.shortest_graphlike_error`` is without postselection and T gates. All smaller
        sets are looked at.

        Args:
            postselection_mask: As in ``logical_error_rate``.
            postselected_observables_mask: The same for observables.
            state_check: As in ``logical_error_rate``.
            skip_reference_sample: As in ``logical_error_rate``.
            max_weight: The largest number of mechanisms to look at.
            threads: Number of threads.
            max_bytes: Memory to use, about.

        Returns:
            The distance, or a lower bound if ``max_weight`` or the limits end the search.

        Raises:
            ValueError: As in ``logical_error_rate``.

        Examples:
            >>> import stim_nonclifford as snc
            >>> repetition_code = snc.Circuit.generated(
            ...     "repetition_code:memory", distance=3, rounds=2, before_round_data_depolarization=1e-4
            ... )
            >>> print(repetition_code.fault_distance(postselection_mask="all"))
            3
        """
        plan = planned(
            self, postselection_mask, postselected_observables_mask, state_check, skip_reference_sample
        ).plan()
        return fault_distance(plan, max_weight, threads, max_bytes)

    def malignant_sets(
        self,
        *,
        postselection_mask: Mask | None = None,
        postselected_observables_mask: Mask | None = None,
        state_check: LogicalStateCheck | LogicalState | None = None,
        skip_reference_sample: bool = False,
        max_weight: int | None = None,
        threads: int = 1,
        max_bytes: int = DEFAULT_MAX_BYTES,
    ) -> list[MalignantSet]:
        r"""The sets of error mechanisms that can make a kept shot wrong, those that contribute most first.

        Args:
            postselection_mask: As in ``logical_error_rate``.
            postselected_observables_mask: The same for observables.
            state_check: As in ``logical_error_rate``.
            skip_reference_sample: As in ``logical_error_rate``.
            max_weight: The largest number of mechanisms to look at; by default that of the smallest sets.
            threads: Number of threads.
            max_bytes: Memory to use, about.

        Returns:
            The sets, each with its probability and with the faults that it may consist of.

        Raises:
            ResourceLimitError: There are too many sets.
            ValueError: As in ``logical_error_rate``.

        Examples:
            >>> import stim_nonclifford as snc
            >>> circuit = snc.Circuit("R 0 1\nX_ERROR(0.1) 0 1\nM 0 1\nDETECTOR rec[-1] rec[-2]")
            >>> circuit += snc.Circuit("OBSERVABLE_INCLUDE(0) rec[-1]")
            >>> [malignant] = circuit.malignant_sets(postselection_mask="all")
            >>> print(*malignant.faults, sep="\n")
            line 2, tick 0: X_ERROR 0: X0
            line 2, tick 0: X_ERROR 1: X1
        """
        asked = planned(
            self, postselection_mask, postselected_observables_mask, state_check, skip_reference_sample
        )
        plan = asked.plan()
        circuit = checked_circuit(self, state_check, postselected_observables_mask)
        named = circuit._fault_table().by_mechanism(plan)
        with asked.naming_the_cause():
            return malignant_sets(plan, named, max_weight, threads, max_bytes)


def checked_circuit(
    circuit: Self,
    state_check: LogicalStateCheck | LogicalState | None,
    postselected_observables_mask: Mask | None,
) -> Self:
    """The circuit whose observable is the check of a state, if there is one.

    Raises:
        ValueError: Observables are postselected, or the state cannot be checked.
    """
    if state_check is None:
        return circuit
    if postselected_observables_mask is not None:
        raise ValueError(
            "A state check takes the place of the observables, so that none of these can be postselected."
            " Leave out state_check or postselected_observables_mask."
        )
    return circuit.with_logical_readout(state_check)


def planned(
    circuit: CircuitFaultSets,
    postselection_mask: Mask | None,
    postselected_observables_mask: Mask | None,
    state_check: LogicalStateCheck | LogicalState | None = None,
    skip_reference_sample: bool = False,
) -> PlannedCircuit:
    """A circuit with what is asked: its observables, in shots in which the masks' outputs do not fire.

    Args:
        circuit: The circuit.
        postselection_mask: The detectors that discard a shot; they must be all.
        postselected_observables_mask: The observables that do; None: none.
        state_check: What takes the place of its observables; None: nothing.
        skip_reference_sample: Whether outputs are raw parities, and not flips of the reference sample.

    Raises:
        ValueError: Logical errors are not well defined.
    """
    with remedies_of_rates():
        skip_reference_sample = flag(skip_reference_sample, "skip_reference_sample")
        written = circuit.compile()
        written.check_pauli_noise()
        asked = checked_circuit(circuit, state_check, postselected_observables_mask)
        num_detectors, num_observables = asked._stim.num_detectors, asked._stim.num_observables
        postselected = postselected_outputs(
            postselection_mask, postselected_observables_mask, num_detectors, num_observables
        )
        compiled = written if state_check is None else asked.compile()
        if state_check is not None and random_outputs(
            compiled,
            [num_detectors + circuit._read_out(state_check)[1]],
            postselected,
            skip_reference_sample=skip_reference_sample,
        ):
            circuit._refuse_random_state(state_check)
        check_logical_errors(
            compiled, postselected, skip_reference_sample=skip_reference_sample, written=written.circuit
        )
        return PlannedCircuit.of(
            compiled, postselected, skip_reference_sample=skip_reference_sample, written=written
        )


@contextlib.contextmanager
def remedies_of_rates() -> Iterator[None]:
    """Says what helps where a circuit is too wide for its rate: rates have no argument for a higher limit."""
    try:
        yield
    except ResourceLimitError as error:
        if not error.need:
            raise
        limit = error.limit_that_would_do
        counts = (
            " Rates that are computed have no higher limit; count errors, in long shots:"
            f" compile_detector_sampler(max_active_coordinates={limit}).sample_counts(shots)."
            if limit
            else ""
        )
        raise ResourceLimitError(f"{error.need}{counts} {HOW_TO_NARROW}") from None


def rates_of(
    circuits: Sequence[CircuitFaultSets],
    decoder: Any,
    postselection_mask: Mask | None,
    postselected_observables_mask: Mask | None,
    state_check: LogicalStateCheck | LogicalState | None,
    skip_reference_sample: bool,
    limits: Limits,
    seed: int | None,
    threads: int,
    progress: bool,
    confidence: bool = False,
) -> list[LogicalErrorRate] | list[DecodedErrorRate]:
    """The logical error rates of circuits, with a decoder or without; see ``Circuit.logical_error_rate``.

    Raises:
        ResourceLimitError: There are too many sets for this method, or time was too short.
        TypeError: An argument is of the wrong type.
        ValueError: Logical errors are not well defined, or an argument is out of range.
    """
    if decoder is not None:
        if flag(skip_reference_sample, "skip_reference_sample"):
            raise ValueError(
                "skip_reference_sample=True makes detectors raw parities, but decoders are told flips of the"
                " noiseless reference sample. Leave out skip_reference_sample or decoder."
            )
        return rates_with_decoder(
            circuits,
            decoder,
            limits,
            seed,
            threads,
            progress,
            postselection_mask,
            confidence,
            state_check,
            postselected_observables_mask,
        )
    begin = time.perf_counter()
    if flag(confidence, "confidence"):
        raise ValueError('confidence=True asks how sure a decoder is. Give one: decoder="pymatching".')
    try:
        with time_limit(limits.max_seconds):
            asked = [
                planned(
                    circuit,
                    postselection_mask,
                    postselected_observables_mask,
                    state_check,
                    skip_reference_sample,
                )
                for circuit in circuits
            ]
    except TimeoutError:
        raise ResourceLimitError(
            f"max_seconds={limits.max_seconds:g} were over before all circuits had been checked for"
            " observables that are random without noise, as their coefficient vectors are long. Raise"
            " max_seconds."
        ) from None
    found = estimate_rates(asked, limits, seed, threads, progress, begin)
    for each, estimate in zip(asked, found, strict=True):
        if each.compiled.program.has_non_clifford_gates:
            _warn_of_faultless_errors(estimate)
    return found


def rates_with_decoder(
    circuits: Sequence[CircuitFaultSets],
    decoder: Any,
    limits: Limits,
    seed: int | None,
    threads: int,
    progress: bool,
    postselection_mask: Mask | None = None,
    confidence: bool = False,
    state_check: LogicalStateCheck | LogicalState | None = None,
    postselected_observables_mask: Mask | None = None,
) -> list[DecodedErrorRate]:
    """The logical error rates of circuits with a decoder; see ``Circuit.logical_error_rate``.

    Raises:
        ResourceLimitError: Time was too short, or no failing shot is found.
        TypeError: An argument is of the wrong type.
        ValueError: A circuit or the decoder is none that this is possible for.
    """
    # It imports Sinter, which takes as long as this package: not at the top.
    from ...rates.decoding_problems import decoded_error_rates

    with remedies_of_rates():
        return decoded_error_rates(
            cast("Any", circuits),
            decoder,
            limits,
            seed,
            threads,
            progress,
            postselection_mask,
            postselected_observables_mask,
            confidence,
            None if state_check is None else partial(_with_pauli_readout, state=state_check),
        )


def _with_pauli_readout(circuit: Self, state: LogicalStateCheck | LogicalState) -> tuple[Self, int, float]:
    """The circuit with a measurement of the checked Pauli; its observable; and the weight of the check."""
    check = state_check_of(circuit._stim, state)
    terms = [k for k, weight in enumerate(check.weights) if weight]
    if len(terms) != 1 or not check.observables:
        raise ValueError(
            "With a decoder, a state is checked by one logical Pauli here, with an observable that has its"
            " Pauli targets: LogicalStateCheck((1,), (1,), (2**0.5,)) checks a T state by its Y, which"
            " X errors and Z errors flip. To check by several, count errors: the sampler"
            " soft_desaturated_gap with state_check."
        )
    (term,) = terms
    observable, weight = check.observables[term], check.weights[term]
    pauli = LogicalStateCheck((check.expectation_values[term],), (observable,), (math.copysign(1.0, weight),))
    return circuit.with_logical_readout(pauli), observable, abs(weight)


def _warn_of_faultless_errors(estimate: LogicalErrorRate) -> None:
    """Warns if most of a rate is there without any fault, because of rotations."""
    if estimate.without_faults > _MOSTLY * estimate.logical_error_rate:
        warnings.warn(
            f"{estimate.without_faults:.6g} of the logical error rate {estimate.logical_error_rate:.6g} is"
            " there without any fault. If the rotations by small angles of the circuit are no noise, the"
            " observable is random without noise, or the state_check has the wrong sign or angle.",
            RandomObservableWarning,
            stacklevel=4,
        )
