"""The detector error models of a circuit: what decoders are given."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
import numpy.typing as npt
import stim

from ...base.arguments import choice, flag, probability
from ...base.errors import InexactErrorModelWarning, ResourceLimitError
from ...base.masks import Mask, checked_mask
from ...base.memory import can_be_allocated, memory_is_a_limit
from ...base.stim_refusals import is_of_random_outputs, random_outputs
from ...dialect import three_qubit_errors_of
from ...simulation.compiler import CompiledCircuit, compile_circuit
from ...simulation.compiler.error_models.detector_error_model import detector_error_model
from ...simulation.compiler.error_models.error_model_changes import check_decomposed, conditioned, decomposed
from ...simulation.compiler.error_models.heralds import herald_detectors, with_heralds_apart
from ...simulation.compiler.program.extent import extent_of
from ...simulation.compiler.program.extent_limits import check_targets
from ...simulation.compiler.program.relabelling import relabelled
from ...simulation.engines import likely_outputs
from ...simulation.faults import usual_effects
from ...simulation.logical_errors.coherent_noise import twirl_advice
from ...simulation.logical_errors.noiseless_outputs import outcome_dependent, outputs_of_chance
from ...simulation.logical_errors.refusals import warn_of_frames, warn_of_observables_flipped_by_chance
from ..rewriting.leakage import has_leakage, with_averaged_leakage
from ..rewriting.twirled_channels import with_twirled_channels
from .editing import check_coordinates, check_flattened

if TYPE_CHECKING:
    from ..rewriting.stand_ins import Proxy

__all__ = ["CircuitErrorModels", "ErrorModelKind"]

ErrorModelKind = Literal["s_proxy", "noise_only"]
_MANY_UNUSED_QUBITS = 1 << 16
_EVEN = 0.5
"""An error of this probability is as likely as none."""


class CircuitErrorModels:
    """Error models, with Stim's arguments."""

    if TYPE_CHECKING:
        _stim: stim.Circuit

        def compile(self) -> CompiledCircuit: ...  # noqa: D102
        def _proxy(self, proxy: Proxy, *, flags: bool) -> stim.Circuit: ...

    def detector_error_model(
        self,
        *,
        decompose_errors: bool = False,
        flatten_loops: bool = False,
        allow_gauge_detectors: bool = False,
        approximate_disjoint_errors: float = False,
        ignore_decomposition_failures: bool = False,
        block_decomposition_from_introducing_remnant_edges: bool = False,
        kind: ErrorModelKind | stim.DetectorErrorModel = "s_proxy",
        postselection_mask: Mask | None = None,
    ) -> stim.DetectorErrorModel:
        r"""The detector error model, for a decoder. Without non-Clifford gates it is Stim's.

        No error model is exact for a circuit with T gates, because T turns the error X into a superposition
        of X and Y. There are two models, which agree about detectors and observables that depend on noise
        alone, and are exact for these:

        * ``"s_proxy"`` is Stim's model of the Clifford circuit ``s_proxy()``. It has S in place of T, where X
          becomes Y. Rotations by multiples of 0.5 half-turns are the Clifford gates that they are. Other
          rotations are the nearest of these or, if they are nearer to T, S. So coherent noise is left out.
          Stim refuses if a detector or an observable of that circuit is random.
        * ``"noise_only"`` has the direct flips by noise, but not how noise changes the distribution of the
          quantum outcomes. It exists for every circuit.

        Where they differ, decoders are right much more often with ``"s_proxy"``: see
        ``docs/guides/decoding.md``. If detectors are heralds of erasures, a matching
        decoder must know them (the same page). In place of leakage and loss there are the errors of
        ``pauli_twirl()``, but an error of a leaked qubit flips its next herald, too, as often as the rate of
        the herald allows.

        Args:
            decompose_errors: Whether to decompose errors that flip more than two detectors. Heralds of
                leakage and loss are parts of their own: the other parts are edges as without a herald.
            flatten_loops: Whether to unroll loops. ``"noise_only"`` has none.
            allow_gauge_detectors: Whether detectors may be random without noise. In ``"noise_only"`` they
                always may. Fair random outcomes are errors with probability 1/2, as in Stim.
            approximate_disjoint_errors: Whether, or up to which probability, mutually exclusive errors may be
                replaced by independent ones. ``"noise_only"`` needs this only if no independent errors have
                the same distribution.
            ignore_decomposition_failures: Whether to leave errors as they are if they cannot be decomposed.
            block_decomposition_from_introducing_remnant_edges: Whether all parts of a decomposed error must
                occur as errors of their own.
            kind: ``"s_proxy"``, ``"noise_only"``, or a model of the circuit to condition and to decompose.
            postselection_mask: The detectors that discard a shot, as in ``compile_detector_sampler``. Errors
                that flip one of them are left out. By default there is no such condition.

        Returns:
            The model, with the detectors and observables of the circuit.

        Warns:
            InexactErrorModelWarning: A detector depends on quantum outcomes and is not postselected; a single
                error flips an observable with a probability that is neither 0 nor 1; or an observable has
                Pauli targets after T gates, so that only the flips of its Pauli frame are known.

        Raises:
            ValueError: Stim refuses the S-proxy, because a detector or an observable of it is random;
                exclusive errors must be approximated; an error cannot be decomposed; or an argument is wrong.
            NotImplementedError: An instruction is not supported (``"noise_only"``).

        Examples:
            >>> import numpy as np
            >>> import stim_nonclifford as snc
            >>> circuit = snc.Circuit('''
            ...     X_ERROR(0.125) 0
            ...     DEPOLARIZE1(0.25) 1
            ...     MPP Z0*Z1
            ...     M 1
            ...     DETECTOR(1, 2) rec[-2]
            ...     DETECTOR rec[-1]
            ...     OBSERVABLE_INCLUDE(0) rec[-1]
            ... ''')
            >>> circuit.detector_error_model()
            stim.DetectorErrorModel('''
                error(0.125) D0
                error(0.166667) D0 D1 L0
                detector(1, 2) D0
            ''')
            >>> circuit.detector_error_model(postselection_mask=np.array([False, True]))
            stim.DetectorErrorModel('''
                error(0.125) D0
                detector(1, 2) D0
                detector D1
                logical_observable L0
            ''')
        """
        if not isinstance(kind, stim.DetectorErrorModel):
            kind = choice(kind, "kind", get_args(ErrorModelKind), ", or a stim.DetectorErrorModel")
        decompose_errors = flag(decompose_errors, "decompose_errors")
        flatten_loops = flag(flatten_loops, "flatten_loops")
        allow_gauge_detectors = flag(allow_gauge_detectors, "allow_gauge_detectors")
        if not isinstance(approximate_disjoint_errors, bool):
            approximate_disjoint_errors = probability(
                approximate_disjoint_errors, "approximate_disjoint_errors"
            )
        decomposition = {
            name: flag(value, name)
            for name, value in {
                "ignore_decomposition_failures": ignore_decomposition_failures,
                "block_decomposition_from_introducing_remnant_edges": (
                    block_decomposition_from_introducing_remnant_edges
                ),
            }.items()
        }
        num_detectors = self._stim.num_detectors
        silent = checked_mask(postselection_mask, num_detectors, "postselection_mask", "detectors")
        # Stim decomposes errors of its own heralded channels well, but not those that stand for leakage.
        is_stims = kind == "s_proxy" and not has_leakage(self._stim)
        heralds = herald_detectors(self._stim) if decompose_errors and not is_stims else frozenset()
        if silent or heralds:
            # An error that flips a silent detector need not be decomposed, and one with a herald is later.
            decomposition["ignore_decomposition_failures"] = True
        if kind == "s_proxy":
            model = self._proxy_model(
                decompose_errors=decompose_errors,
                flatten_loops=flatten_loops or bool(silent),
                allow_gauge_detectors=allow_gauge_detectors,
                approximate_disjoint_errors=approximate_disjoint_errors,
                **decomposition,
            )
        elif isinstance(kind, stim.DetectorErrorModel):
            found = (kind.num_detectors, kind.num_observables)
            if found != (num_detectors, self._stim.num_observables):
                raise ValueError(
                    "The error model is that of another circuit: it has (detectors, observables) ="
                    f" {found}, but this circuit has {(num_detectors, self._stim.num_observables)}."
                )
            model = kind.flattened() if flatten_loops else kind
        else:
            check_flattened(self._stim)
            with memory_is_a_limit():
                compiled = self.compile()
                if compiled.program.has_non_pauli_channels or compiled.program.has_leakage:
                    paulis = with_twirled_channels(with_averaged_leakage(self._stim, flags=True))
                    compiled = compile_circuit(paulis, likely_outputs)
                model = detector_error_model(
                    compiled.effects("detectors"),
                    num_detectors,
                    self._stim.num_observables,
                    self._stim.get_detector_coordinates(),
                    usual=usual_effects(compiled) if _may_have_usual_errors(self._stim) else None,
                    approximate_disjoint_errors=approximate_disjoint_errors,
                )
        if silent:
            model = conditioned(model, silent)
        if decompose_errors and kind != "s_proxy":
            model = decomposed(model, **decomposition)
        if heralds:
            new_edges = not block_decomposition_from_introducing_remnant_edges
            model = with_heralds_apart(model, heralds, is_trusted=False, new_edges=new_edges)
        if decompose_errors and (silent or heralds) and not ignore_decomposition_failures:
            check_decomposed(model)
        self._warn_of_inexact_models(silent)
        return model

    def quantum_detectors(self) -> npt.NDArray[np.bool_]:
        r"""The detectors that depend on random outcomes: of quantum measurements, or of coins.

        No detector error model describes exactly those that depend on quantum measurements. The gates decide
        which detectors depend on outcomes, not the noise: a detector counts even if its outcomes are certain
        without noise.

        Returns:
            bool, shape (num_detectors,).

        Raises:
            NotImplementedError: An instruction is not supported.
            ResourceLimitError: The circuit is too large to be compiled.

        Examples:
            >>> import stim_nonclifford as snc
            >>> circuit = snc.Circuit("RX 0\nT 0\nM 1\nDETECTOR rec[-1]\nMX 0\nDETECTOR rec[-1]")
            >>> circuit.quantum_detectors()
            array([False,  True])
            >>> snc.Circuit("RX 0\nM 0\nDETECTOR rec[-1]").quantum_detectors()  # a coin
            array([ True])
        """
        return self._outputs_of_chance()[: self._stim.num_detectors]

    def quantum_observables(self) -> npt.NDArray[np.bool_]:
        r"""The observables that depend on random outcomes: of quantum measurements, or of coins.

        What counts is said at ``quantum_detectors``. An observable with Pauli targets counts if a measurement
        of these Paulis would.

        Returns:
            bool, shape (num_observables,).

        Raises:
            NotImplementedError: An instruction is not supported.
            ResourceLimitError: The circuit is too large to be compiled.

        Examples:
            >>> import stim_nonclifford as snc
            >>> circuit = snc.Circuit("RX 0\nT 0\nM 1\nOBSERVABLE_INCLUDE(0) rec[-1]")
            >>> circuit += snc.Circuit("OBSERVABLE_INCLUDE(1) X0")
            >>> circuit.quantum_observables()
            array([False,  True])
        """
        return self._outputs_of_chance()[self._stim.num_detectors :]

    def _outputs_of_chance(self) -> npt.NDArray[np.bool_]:
        num_outputs = self._stim.num_detectors + self._stim.num_observables
        if not can_be_allocated(num_outputs):
            raise ResourceLimitError(
                f"The circuit has {num_outputs:,} detectors and observables, and the memory has no room for a"
                " byte for each. Lower the repeat counts."
            )
        found = np.zeros(num_outputs, dtype=np.bool_)
        found[outputs_of_chance(self.compile())] = True
        return found

    def _warn_of_inexact_models(self, postselected: list[int]) -> None:
        if self._stim == self._stim.without_tags():  # a Clifford circuit
            return
        try:
            found = outcome_dependent(self.compile())
        except (NotImplementedError, ResourceLimitError):  # it cannot be sampled, and no answer will be wrong
            return
        found[postselected] = False
        if found.any():
            warnings.warn(
                "Detectors depend on outcomes of quantum measurements"
                f" ({np.count_nonzero(found)} of {len(found)}, first D{found.argmax()}). No error model"
                " describes these exactly, and a decoder that uses it is worse than it could be. Postselect"
                f" them (postselection_mask). {twirl_advice(self.compile(), np.flatnonzero(found))}".strip(),
                InexactErrorModelWarning,
                stacklevel=3,
            )
        warn_of_observables_flipped_by_chance(self.compile(), postselected, stacklevel=3)
        warn_of_frames(self.compile(), InexactErrorModelWarning, stacklevel=3)

    def _proxy_model(self, **arguments: Any) -> stim.DetectorErrorModel:
        """Stim's model of the S-proxy."""
        circuit = self._proxy("s_proxy", flags=True)
        extent = extent_of(circuit)
        check_coordinates(extent)
        if arguments["flatten_loops"]:
            check_targets(extent)
        if circuit.num_qubits > len(extent.qubits) + _MANY_UNUSED_QUBITS:  # Stim stores all of them
            circuit = relabelled(extent, {label: k for k, label in enumerate(sorted(extent.qubits))})
        try:
            return circuit.detector_error_model(**arguments)
        except ValueError as error:
            if circuit != self._stim and is_of_random_outputs(error):
                raise ValueError(
                    "Stim refuses to compute an error model of the S-proxy, the circuit with S in place of T:"
                    f' {random_outputs(error)}. kind="noise_only" exists for every circuit.'
                ) from error
            raise


def _probabilities(part: stim.CircuitInstruction) -> Sequence[float]:
    """The probabilities of the errors of an instruction."""
    errors = three_qubit_errors_of(part)
    if errors is not None:
        return errors.probabilities
    return part.gate_args_copy() if stim.gate_data(part.name).is_noisy_gate else ()


def _may_have_usual_errors(circuit: stim.Circuit) -> bool:
    """Whether an error may be more likely than none: a channel's, or one of a chain."""
    for part in circuit:
        if isinstance(part, stim.CircuitRepeatBlock):
            if _may_have_usual_errors(part.body_copy()):
                return True
        elif part.name == "ELSE_CORRELATED_ERROR" or sum(_probabilities(part)) > _EVEN:
            return True
    return False
