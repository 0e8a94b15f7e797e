"""Sinter tasks for any circuit, including those that Sinter itself cannot analyse."""

from __future__ import annotations

import json
import pathlib
import warnings
from typing import Any

import numpy as np
import sinter
import stim

import stim_nonclifford as snc
from stim_nonclifford.base.arguments import check_types, text
from stim_nonclifford.base.arrays import Bools, Bytes
from stim_nonclifford.base.masks import Mask, bools_of_mask
from stim_nonclifford.dialect import without_decisions


def json_value(value: Any, name: str = "json_metadata") -> Any:
    """Metadata as they come back from a file of statistics, so that a run that is resumed finds its rows.

    Examples:
        >>> import numpy as np
        >>> json_value({3: np.int64(5), "p": (0.1, np.float32(0.5))})
        {'3': 5, 'p': [0.1, 0.5]}
        >>> json_value({"p": float("nan")})
        Traceback (most recent call last):
        ...
        ValueError: json_metadata has the value nan, which is not equal to itself, so that a run could not be
        resumed. Write None in its place.
    """
    if isinstance(value, dict):
        found = {}
        for key, each in value.items():
            plain = key.item() if isinstance(key, np.generic) else key
            if plain is not None and not isinstance(plain, str | int | float | bool):
                raise ValueError(
                    f"{name} has the key {key!r}, of type {type(key).__name__}, which JSON does not have. Use"
                    " a string."
                )
            written = plain if isinstance(plain, str) else json.dumps(plain)
            if written in found:
                raise ValueError(f"{name} has two keys that JSON writes as {written!r}. Rename one of them.")
            found[written] = json_value(each, name)
        return found
    if isinstance(value, list | tuple):
        return [json_value(each, name) for each in value]
    if isinstance(value, np.ndarray | np.generic):
        return json_value(value.tolist(), name)
    if isinstance(value, float) and value != value:
        raise ValueError(
            f"{name} has the value nan, which is not equal to itself, so that a run could not be resumed."
            " Write None in its place."
        )
    try:
        return json.loads(json.dumps(value))
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"{name} cannot be written as JSON: {error}. Use numbers, strings and lists."
        ) from None


def task(
    circuit: snc.Circuit | stim.Circuit | str | pathlib.Path,
    *,
    decoder: str | None = None,
    postselection_mask: Mask | None = None,
    postselected_observables_mask: Mask | None = None,
    json_metadata: Any = None,
    collection_options: sinter.CollectionOptions | None = None,
) -> sinter.Task:
    r"""A Sinter task for any circuit.

    Sinter needs a detector error model of every task, even if the sampler does not use it. Sinter lets Stim
    compute the model from the circuit without tags, which has S in place of T. Stim refuses if a detector or
    an observable of it is random. The task returned here always has an error model. It is the one that
    Sinter would compute, if there is one; the ``strong_id`` of the task is then the same as without this
    function. Otherwise it is ``stim_nonclifford.Circuit.detector_error_model(kind="noise_only")``.

    Args:
        circuit: The circuit, or the path of its file, with bare (``T 0``) or tagged gates (``S[T] 0``).
        decoder: Name of the decoder or sampler, for example ``"soft_postselect"``; None if it is passed to
            ``sinter.collect`` instead.
        postselection_mask: Detectors that must not fire: ``"all"``; bools, as a list or an array of shape
            ``(num_detectors,)``; or bit-packed, dtype uint8, shape ``(ceil(num_detectors / 8),)``, bit k at
            ``(mask[k // 8] >> (k % 8)) & 1``. Without a mask ``soft_postselect`` discards on all detectors,
            and all other samplers on none.
        postselected_observables_mask: Observables whose flip discards a shot, in the same forms.
        json_metadata: Metadata of the task, for plotting: any value that can be written as JSON. The task has
            it as JSON does: keys are strings, and numbers are those of Python.
        collection_options: Limits for this task alone. If they include ``max_errors``, a batch of
            ``soft_postselect`` ends when that number of errors is reached.

    Returns:
        The task.

    Raises:
        TypeError: A mask has the wrong type or dtype.
        ValueError: The circuit cannot be read, or a mask has the wrong size.
        NotImplementedError: Sinter has no error model of the circuit, and the circuit has an instruction that
            this package does not support.

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
        >>> circuit.to_stim().detector_error_model()  # as Sinter does
        Traceback (most recent call last):
        ...
        ValueError: The circuit contains non-deterministic observables...
        >>> t = task(circuit, decoder="soft_postselect", json_metadata={"p": 0.01})
        >>> t.detector_error_model.num_detectors, t.detector_error_model.num_observables
        (1, 1)
    """
    if decoder is not None:
        decoder = text(decoder, "decoder")
    if collection_options is not None:
        wanted = "a sinter.CollectionOptions or None"
        check_types(collection_options, "collection_options", wanted, sinter.CollectionOptions)
    if isinstance(circuit, (str, pathlib.Path)):
        circuit = snc.Circuit.from_file(circuit)
    elif not isinstance(circuit, snc.Circuit):
        circuit = snc.Circuit(circuit)
    given = sinter.Task(
        circuit=circuit.to_stim(),
        decoder=decoder,
        postselection_mask=_packed(postselection_mask, circuit.num_detectors, "postselection_mask"),
        postselected_observables_mask=_packed(
            postselected_observables_mask, circuit.num_observables, "postselected_observables_mask"
        ),
        json_metadata=json_metadata,
        collection_options=collection_options or sinter.CollectionOptions(),
    )
    return completed_task(given, decoder)


def bools_of(mask: Mask, num_bits: int, name: str) -> Bools:
    """The bits of a mask in any form; further bits of the last byte mean nothing, as for Sinter.

    Examples:
        >>> bools_of(np.array([5], dtype=np.uint8), 2, "postselection_mask")
        array([ True, False])
    """
    if isinstance(mask, np.ndarray) and mask.dtype == np.uint8 and mask.shape == (-(-num_bits // 8),):
        return np.unpackbits(mask, count=num_bits, bitorder="little").astype(np.bool_)
    return bools_of_mask(mask, num_bits, name, "observables" if "observables" in name else "detectors")


def _packed(mask: Mask | None, num_bits: int, name: str) -> Bytes | None:
    """A mask as ``sinter.Task`` takes it."""
    return None if mask is None else np.packbits(bools_of(mask, num_bits, name), bitorder="little")


def completed_task(given: sinter.Task, decoder: str | None) -> sinter.Task:
    """A task with a decoder, its circuit and an error model, as Sinter's workers complete it."""
    circuit = snc.Circuit.from_file(given.circuit_path).to_stim() if given.circuit is None else given.circuit
    error_model = given.detector_error_model
    if error_model is None:
        error_model = sinter_error_model(circuit)
    if error_model is None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", snc.InexactErrorModelWarning)  # the sampler does not use it
            error_model = snc.Circuit(without_decisions(circuit)).detector_error_model(
                kind="noise_only", approximate_disjoint_errors=True
            )
    return sinter.Task(
        circuit=circuit,
        decoder=decoder,
        detector_error_model=error_model,
        postselection_mask=given.postselection_mask,
        postselected_observables_mask=given.postselected_observables_mask,
        json_metadata=json_value(given.json_metadata),
        collection_options=given.collection_options,
    )


def sinter_error_model(circuit: stim.Circuit) -> stim.DetectorErrorModel | None:
    r"""The error model that Sinter computes for a circuit: that of the circuit without tags.

    The options and their order are those of Sinter 1.16 (``_fill_in_task``). The text of the model enters
    the ``strong_id`` of a task. With other options, files of statistics would no longer match their tasks.
    """
    attempts: tuple[dict[str, bool], ...] = ({"decompose_errors": True}, {}, {"flatten_loops": True})
    for options in attempts:
        try:
            return circuit.detector_error_model(approximate_disjoint_errors=True, **options)
        except ValueError:
            continue
    return None
