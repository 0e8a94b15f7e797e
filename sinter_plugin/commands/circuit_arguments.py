"""What the arguments of Sinter's command line say about a circuit: its metadata, and what is postselected."""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np
import stim
from numpy.typing import NDArray

from ..samplers.tasks import json_value

__all__ = ["metadata_of", "postselected_detectors", "postselected_observables", "with_state_check"]


def metadata_of(circuit: stim.Circuit, path: str, args: argparse.Namespace) -> Any:
    """The metadata that the arguments give to a circuit."""
    try:
        found = args.metadata_func(path=path, circuit=circuit)
    except Exception as error:  # the user's expression may raise anything
        raise ValueError(f"--metadata_func failed with {error!r}.") from error
    return json_value(found, "What --metadata_func yields")


def postselected_detectors(
    circuit: stim.Circuit, metadata: object, args: argparse.Namespace, *, discards_on_all: str | None
) -> NDArray[np.bool_] | None:
    """The detectors that the arguments postselect; None if no argument postselects detectors."""
    if args.postselected_detectors_predicate is None:
        return None
    selected = np.zeros(circuit.num_detectors, dtype=np.bool_)
    for index, coordinates in circuit.get_detector_coordinates().items():
        if args.postselect_detectors_with_non_zero_4th_coord:
            selected[index] = len(coordinates) > 3 and coordinates[3] != 0
            continue
        try:
            selected[index] = bool(args.postselected_detectors_predicate(index, metadata, coordinates))
        except Exception as error:  # the user's expression may raise anything
            raise ValueError(
                f"--postselected_detectors_predicate failed with {error!r} on detector {index} with the"
                f" coordinates {coordinates}."
            ) from error
    if selected.any():
        return selected
    if discards_on_all is not None:
        raise ValueError(
            "The arguments postselect none of the circuit's detectors. Sinter treats this as no mask, and"
            f" without a mask {discards_on_all} discards on all detectors. If that is wanted, leave the"
            " argument out."
        )
    return None


def postselected_observables(
    num_observables: int, metadata: object, args: argparse.Namespace
) -> NDArray[np.bool_] | None:
    """The observables that the arguments postselect; None if they postselect none."""
    selected = []
    for index in range(num_observables):
        try:
            selected.append(bool(args.postselected_observables_predicate(index, metadata)))
        except Exception as error:  # the user's expression may raise anything
            raise ValueError(
                f"--postselected_observables_predicate failed with {error!r} on observable {index}."
            ) from error
    return np.array(selected, dtype=np.bool_) if any(selected) else None


def with_state_check(metadata: object, text: str) -> dict[str, object]:
    """The metadata of a circuit with that of ``--state_check``: other states are other questions.

    Examples:
        >>> with_state_check({"d": 3}, "T")
        {'d': 3, 'state_check': 'T'}
    """
    if not isinstance(metadata, dict) or "state_check" in metadata:
        raise ValueError(
            '--metadata_func must yield a dictionary without the key "state_check", under which the state is'
            f" stored, but it yields {metadata!r}."
        )
    return {**metadata, "state_check": text}
