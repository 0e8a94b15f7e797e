"""What a decoder cannot know of a circuit: warnings, and their names in the rows."""

from __future__ import annotations

import warnings

import numpy as np

import stim_nonclifford as snc
from stim_nonclifford.base.arguments import check_types
from stim_nonclifford.base.arrays import Bools
from stim_nonclifford.dialect import first_decision
from stim_nonclifford.rates.decoding.decoders import DECODERS_WITHOUT_HERALDS
from stim_nonclifford.simulation.compiler.heralds import herald_detectors as detectors_of_heralds
from stim_nonclifford.simulation.decisions import is_switched
from stim_nonclifford.simulation.logical_errors.coherent_noise import twirl_advice
from stim_nonclifford.simulation.logical_errors.noiseless_outputs import outcome_dependent
from stim_nonclifford.simulation.logical_errors.refusals import (
    warn_of_observables_flipped_by_chance,
    warn_of_random_outputs,
)

from ..statistics.row_warnings import (
    FLIPPED_BY_CHANCE,
    QUANTUM_DETECTORS,
    RANDOM_OUTPUTS,
    UNUSED_HERALDS,
    counted,
)


def herald_detectors(circuit: snc.Circuit) -> frozenset[int]:
    r"""The detectors that contain no other records than those of HERALDED_ERASE and HERALDED_PAULI_CHANNEL_1.

    Args:
        circuit: The circuit.

    Returns:
        Their numbers.

    Examples:
        >>> circuit = snc.Circuit("HERALDED_ERASE(0.01) 0\nDETECTOR rec[-1]\nM 0\nDETECTOR rec[-1] rec[-2]")
        >>> herald_detectors(circuit)
        frozenset({0})
    """
    check_types(circuit, "circuit", "a stim_nonclifford.Circuit", snc.Circuit)
    return detectors_of_heralds(circuit.to_stim())


def warn_of_decoding(
    circuit: snc.Circuit,
    detectors: Bools,
    *,
    decoder: str | None,
    counts_flips: bool,
    stacklevel: int,
) -> list[str]:
    """Warns of what no error model describes, or the decoder cannot use."""
    names = []
    stacklevel += 1
    decides = first_decision(circuit.to_stim()) is not None
    if decides and is_switched(circuit.to_stim()):
        circuit.decision_points()  # says what to do instead
    compiled = (circuit.without_decisions() if decides else circuit).compile()
    if decoder in DECODERS_WITHOUT_HERALDS:
        heralds = [k for k in sorted(herald_detectors(circuit)) if not detectors[k]]
        if heralds:
            names.append(UNUSED_HERALDS)
            warnings.warn(
                f"Heralds tell the decoder {decoder} nothing: it explains each of the detectors"
                f" {_listed(heralds)} alone, and not the errors that they announce. Use the decoder"
                " pymatching, which reweights these. (docs/guides/decoding.md)",
                snc.InexactErrorModelWarning,
                stacklevel=stacklevel,
            )
    quantum = outcome_dependent(compiled)
    found = np.flatnonzero(quantum & ~detectors).tolist()
    if found:
        names.append(QUANTUM_DETECTORS)
        depend, verb = ("depends", "is") if len(found) == 1 else ("depend", "are")
        help_with = (
            "Postselect more detectors, or check that the logical error rate is what you expect"
            " (docs/guides/decoding.md)."
        )
        if compiled.program.has_non_pauli_channels:  # all detectors depend on it
            help_with = (
                "Shots are exact all the same, and the logical error rate is that of this decoder; one of"
                " your own may be told a better model."
            )
        warnings.warn(
            f"The circuit has {counted(len(found), 'detector')} that {depend} on quantum outcomes and {verb}"
            f" not postselected: {_listed(found)}. No error model describes this exactly, and decoding is"
            f" worse than it could be. {help_with} {twirl_advice(compiled, found)}".rstrip(),
            snc.InexactErrorModelWarning,
            stacklevel=stacklevel,
        )
    if counts_flips:
        postselected = np.flatnonzero(detectors).tolist()
        coins = np.flatnonzero(~quantum & ~detectors).tolist()
        if warn_of_random_outputs(compiled, postselected, coins, stacklevel=stacklevel):
            names.append(RANDOM_OUTPUTS)
        # With decisions, single errors may be corrected before the T gates that make them matter.
        if not decides and warn_of_observables_flipped_by_chance(
            compiled, postselected, stacklevel=stacklevel
        ):
            names.append(FLIPPED_BY_CHANCE)
    return names


def _listed(detectors: list[int]) -> str:
    return ", ".join(f"D{k}" for k in detectors[:5]) + (", ..." if len(detectors) > 5 else "")
