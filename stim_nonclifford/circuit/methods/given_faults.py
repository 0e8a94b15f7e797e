"""A circuit's faults, and what shots with given faults do."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, TypeVar, overload

import stim

from ...base.arguments import iterable, refuse_argument
from ...base.masks import Mask, checked_mask
from ...simulation.faults import CircuitFault, FaultTable, OutcomeProbabilities
from ...simulation.logical_errors.refusals import check_no_detector_is_left

__all__ = ["CircuitFaults"]

Self = TypeVar("Self", bound="CircuitFaults")


class CircuitFaults:
    """The faults of the circuit's noise, and shots in which given ones happen."""

    if TYPE_CHECKING:
        _stim: stim.Circuit

        @classmethod
        def _wrap(cls: type[Self], circuit: stim.Circuit) -> Self: ...
        def _fault_table(self) -> FaultTable: ...

    def faults(self) -> list[CircuitFault]:
        r"""All faults that the circuit's noise can cause, in circuit order.

        Returns:
            The faults, each with its line and tick in the circuit.

        Examples:
            >>> import stim_nonclifford as snc
            >>> circuit = snc.Circuit("H 0\nDEPOLARIZE1(0.1) 0\nM(0.1) 0")
            >>> for fault in circuit.faults():
            ...     print(fault)
            line 2, tick 0: DEPOLARIZE1 0: X0
            line 2, tick 0: DEPOLARIZE1 0: Z0
            line 2, tick 0: DEPOLARIZE1 0: Y0
            line 3, tick 0: M 0: record 0 flips
        """
        return self._fault_table().faults

    @overload
    def outcome_probabilities(
        self, faults: Iterable[CircuitFault], *, postselection_mask: Mask | None = None
    ) -> OutcomeProbabilities: ...

    @overload
    def outcome_probabilities(
        self,
        faults: Iterable[Iterable[CircuitFault]],
        *,
        postselection_mask: Mask | None = None,
    ) -> list[OutcomeProbabilities]: ...

    def outcome_probabilities(
        self,
        faults: Iterable[CircuitFault] | Iterable[Iterable[CircuitFault]],
        *,
        postselection_mask: Mask | None = None,
    ) -> OutcomeProbabilities | list[OutcomeProbabilities]:
        r"""The exact probabilities that a shot with given faults is discarded, or has a logical error.

        Args:
            faults: Faults from ``faults()``, of a ``MalignantSet`` or of a ``KeptFailure``: those of one
                shot. Or several of such sets of faults, one for each shot, which takes much less time than a
                call for each. A fault that is given twice cancels.
            postselection_mask: The detectors that discard a shot, as in ``compile_detector_sampler``. They
                must be all, ``"all"``, as nothing here decodes the others. A circuit without detectors needs
                no mask.

        Returns:
            The probabilities that the shot is kept and right, kept and wrong, and discarded. For several
            sets, a list of these. An empty argument is one shot without faults.

        Raises:
            ValueError: A fault is not one of this circuit; two faults cannot both happen, as they are of one
                place or of one chain of correlated errors; a detector is not postselected, or the mask has
                the wrong shape; or faults stand beside sets of faults.
            ResourceLimitError: The result depends on more than 16 coins.

        Examples:
            >>> import stim_nonclifford as snc
            >>> circuit = snc.Circuit("X_ERROR(0.1) 0\nH 0\nT 0\nH 0\nM 0\nOBSERVABLE_INCLUDE(0) rec[-1]")
            >>> [flip] = circuit.faults()
            >>> round(circuit.outcome_probabilities([flip]).kept_and_wrong, 6)  # cos(pi/8)^2
            0.853553
            >>> for fate in circuit.outcome_probabilities([[], [flip]]):
            ...     print(round(fate.kept_and_wrong, 6))
            0.146447
            0.853553
        """
        count = self._stim.num_detectors
        postselected = checked_mask(postselection_mask, count, "postselection_mask", "detectors")
        check_no_detector_is_left(count, postselected)
        shots, are_several = _faults_of_shots(faults)
        found = self._fault_table().outcome_probabilities(shots, postselected)
        return found if are_several else found[0]

    def with_faults(self: Self, faults: Iterable[CircuitFault]) -> Self:
        r"""The circuit without its noise, but with given faults as gates, which any simulator can run.

        The faults also change the noiseless reference sample of the new circuit. Sample it with
        ``skip_reference_sample=True`` to see the bits that they flip.

        Args:
            faults: Faults from ``faults()``, of a ``MalignantSet`` or of a ``KeptFailure``. A fault that is
                given twice cancels.

        Returns:
            The circuit, with loops unrolled, Paulis as gates and readout errors as inverted targets.

        Raises:
            ValueError: A fault is not one of this circuit, or two faults cannot both happen: a place of noise
                has one error at most, and so has a chain of correlated errors.

        Examples:
            >>> import stim_nonclifford as snc
            >>> circuit = snc.Circuit("H 0\nT 0\nDEPOLARIZE1(0.1) 0\nM(0.1) 0")
            >>> faults = circuit.faults()
            >>> print(circuit.with_faults([faults[1], faults[3]]))
            H 0
            T 0
            Z 0
            M !0
        """
        return self._wrap(self._fault_table().circuit_with(_checked_faults(faults)))


def _faults_of_shots(faults: Any) -> tuple[list[list[CircuitFault]], bool]:
    """The faults of each shot, and whether the argument was a list of sets rather than those of one shot."""
    given = list(iterable(faults, "faults", "the faults of a shot, or a list of these for several shots"))
    one_shot = [each for each in given if isinstance(each, CircuitFault)]
    several = [_checked_faults(each) for each in given if not isinstance(each, CircuitFault)]
    if one_shot and several:
        raise ValueError("faults must be the faults of one shot or a list of such sets, not a mixture.")
    return several or [one_shot], bool(several)


def _checked_faults(faults: Any) -> list[CircuitFault]:
    """The argument ``faults`` of a method, for one shot, as a list.

    Raises:
        TypeError: It is no iterable, or has anything else than faults.
    """
    found = list(iterable(faults, "faults", "an iterable of faults"))
    for fault in found:
        if not isinstance(fault, CircuitFault):
            refuse_argument("Each of faults", "a CircuitFault", fault)
    return found
