"""Sinter tasks of circuits that Sinter cannot analyse by itself."""

from __future__ import annotations

import pathlib
from typing import Any

import numpy as np
import sinter
import stim
from numpy.typing import NDArray

import stim_nonclifford as snc

from .masks import packed_mask

__all__ = ["sinter_error_model", "task"]


def task(
    circuit: snc.Circuit | stim.Circuit | str | pathlib.Path,
    *,
    decoder: str | None = None,
    postselection_mask: NDArray[np.uint8] | NDArray[np.bool_] | None = None,
    postselected_observables_mask: NDArray[np.uint8] | NDArray[np.bool_] | None = None,
    json_metadata: Any = None,
    collection_options: sinter.CollectionOptions | None = None,
) -> sinter.Task:
    r"""Makes a Sinter task of any circuit.

    Sinter wants a detector error model of every task, whether or not the sampler uses it, and has Stim
    make it from the S-proxy: the circuit with S in place of T. Stim refuses where a detector or
    observable of the proxy is random. The task made here comes with its error model: Sinter's own where
    there is one, so that the task has the ``strong_id`` it would have without this function; else
    ``stim_nonclifford.Circuit.detector_error_model()``.

    Args:
        circuit: The circuit, or the path of a file with it, in either dialect (``T 0`` or ``S[T] 0``).
        decoder: Name of the decoder or sampler, for example ``"soft_postselect"``; None to give it to
            ``sinter.collect``.
        postselection_mask: Detectors that must not fire: bit-packed, dtype uint8, shape
            ``(ceil(num_detectors / 8),)``, bit k at ``(mask[k // 8] >> (k % 8)) & 1``; or bools, shape
            ``(num_detectors,)``. Without a mask ``soft_postselect`` discards on all detectors.
        postselected_observables_mask: Observables whose flip discards a shot, in the same forms.
        json_metadata: Anything that JSON can hold, for plotting.
        collection_options: Limits for this task alone. With ``max_errors`` in it, a batch of
            ``soft_postselect`` ends as soon as that number is reached.

    Returns:
        The task.

    Raises:
        ValueError: The circuit cannot be read, or a mask has the wrong size.
        NotImplementedError: The circuit needs the error model made here and has an instruction that is
            not supported.

    Examples:
        >>> import stim_nonclifford as snc
        >>> circuit = snc.Circuit('''
        ...     R 0
        ...     H 0
        ...     T 0
        ...     X_ERROR(0.01) 1
        ...     M 1
        ...     DETECTOR rec[-1]
        ...     MX 0
        ...     OBSERVABLE_INCLUDE(0) rec[-1]
        ... ''')
        >>> circuit.to_stim().detector_error_model()  # what Sinter would do
        Traceback (most recent call last):
        ...
        ValueError: The circuit contains non-deterministic observables...
        >>> t = task(circuit, decoder="soft_postselect", json_metadata={"p": 0.01})
        >>> t.detector_error_model.num_detectors, t.detector_error_model.num_observables
        (1, 1)
    """
    if isinstance(circuit, (str, pathlib.Path)):
        circuit = snc.Circuit.from_file(circuit)
    elif not isinstance(circuit, snc.Circuit):
        circuit = snc.Circuit(circuit)
    stim_circuit = circuit.to_stim()
    error_model = sinter_error_model(stim_circuit)
    return sinter.Task(
        circuit=stim_circuit,
        decoder=decoder,
        detector_error_model=circuit.detector_error_model() if error_model is None else error_model,
        postselection_mask=packed_mask(postselection_mask, circuit.num_detectors, "postselection_mask"),
        postselected_observables_mask=packed_mask(
            postselected_observables_mask, circuit.num_observables, "postselected_observables_mask"
        ),
        json_metadata=json_metadata,
        collection_options=collection_options or sinter.CollectionOptions(),
    )


def sinter_error_model(circuit: stim.Circuit) -> stim.DetectorErrorModel | None:
    r"""The error model that Sinter makes of a circuit, which is that of the S-proxy.

    The options and their order are those of Sinter 1.16 (``_fill_in_task``). The model's text is part of
    a task's ``strong_id``, so they must stay the same for files of statistics to fit together.

    Args:
        circuit: The circuit; tags are ignored.

    Returns:
        The error model, or None if Stim refuses to make one.

    Examples:
        >>> sinter_error_model(stim.Circuit("X_ERROR(0.1) 0\nM 0\nDETECTOR rec[-1]"))
        stim.DetectorErrorModel('''
            error(0.1) D0
        ''')
        >>> sinter_error_model(stim.Circuit("H 0\nM 0\nDETECTOR rec[-1]")) is None
        True
    """
    attempts: tuple[dict[str, bool], ...] = ({"decompose_errors": True}, {}, {"flatten_loops": True})
    for options in attempts:
        try:
            return circuit.detector_error_model(approximate_disjoint_errors=True, **options)
        except ValueError:
            continue
    return None
