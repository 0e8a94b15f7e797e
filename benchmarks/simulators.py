"""One interface to all simulators, for measurements side by side.

A simulator compiles a circuit for one *mode* in each of its settings, such as batch sizes, and then runs
shots. The modes are:

* ``postselected``: counts discards and errors; a shot in which any detector fires is discarded;
* ``counts``: counts errors, and discards nothing;
* ``bits``: returns the bits of all detectors and observables (of all records, if a circuit has no detectors).
"""

from __future__ import annotations

import importlib
import importlib.metadata
import itertools
from collections.abc import Callable, Iterator
from typing import Any, Literal

import numpy as np

from benchmarks.timing import Run

__all__ = ["MODES", "SIMULATORS", "Mode", "version_of"]

Mode = Literal["postselected", "counts", "bits"]
MODES: tuple[Mode, ...] = ("postselected", "counts", "bits")


def calling(call: Callable[..., object], **arguments: object) -> Run:
    """A function of the number of shots that calls ``call`` with these arguments."""
    return lambda shots: call(shots=shots, **arguments)


def ours(text: str, mode: Mode) -> Iterator[tuple[str, Run]]:
    """This package; it has no settings to try."""
    import stim_nonclifford as snc

    circuit = snc.Circuit(text)
    if mode == "bits" and not circuit.num_detectors:
        records = circuit.compile_sampler(seed=1)
        yield "", records.sample_bit_packed
        return
    sampler = circuit.compile_detector_sampler(
        seed=1, postselection_mask="all" if mode == "postselected" else None
    )
    yield "", sampler.sample_bit_packed if mode == "bits" else sampler.sample_counts


def peer_width(text: str) -> int:
    """The approximate number of active qubits that simulators of this kind need."""
    import stim_nonclifford as snc

    return snc.Circuit(text).compile().quantum.peak_width


def clifft(text: str, mode: Mode) -> Iterator[tuple[str, Run]]:
    """Clifft, with and without its pass for narrow states, at several batch sizes."""
    peer: Any = importlib.import_module("clifft")
    num_detectors = peer.compile(text).num_detectors
    call = peer.sample if mode == "bits" else peer.sample_survivors
    # Clifft refuses batches of wide states, but only after it has collected enough shots to fill one.
    sizes = (1,) if peer_width(text) > 14 else (1, 64, 256, 1024, 2048)
    for schedule, size in itertools.product((False, True), sizes):
        passes = peer.default_hir_pass_manager()
        if schedule:
            passes.add(peer.ActiveWidthSchedulePass())
        program = peer.compile(
            text,
            hir_passes=passes,
            normalize_syndromes=num_detectors > 0,
            postselection_mask=[1] * num_detectors if mode == "postselected" else None,
        )
        name = f"batch {size}" + ", narrow" * schedule
        yield name, calling(call, program=program, seed=1, batch_size=size)


def symft(text: str, mode: Mode) -> Iterator[tuple[str, Run]]:
    """SymFT, the second version of SOFT, on the CPU. Its counts are of observable 0 alone."""
    peer: Any = importlib.import_module("symft")
    circuit = peer.Circuit(text)
    if mode == "bits":
        records = circuit.compile_sampler()
        call = records.sample_detectors if circuit.num_detectors else records.sample
        yield "", calling(call, seed=1, bit_packed=True)
        return
    for batch in (True, False):
        sampler = circuit.compile_counts_sampler(
            batch=batch, postselect_detectors=mode == "postselected", reference_sample=True, threads=1
        )
        yield "batch" if batch else "single", calling(sampler.sample)


def ticit(text: str, mode: Mode) -> Iterator[tuple[str, Run]]:
    """ticit, on the CPU."""
    peer: Any = importlib.import_module("ticit")
    num_detectors = peer.Circuit(text).num_detectors
    # If a batch of wide states does not fit into memory, ticit ends the process.
    wide = peer_width(text) > 14
    for size in (1,) if wide else (1, 0, 256, 2048):
        program = peer.compile(
            text,
            postselection_mask=[1] * num_detectors if mode == "postselected" else None,
            normalize_syndromes=num_detectors > 0,
            threads=1,
            batch_size=size,
        )
        name = f"batch {size}" if size else "default"
        if mode == "bits":
            yield name, calling(peer.sample, program=program, seed=1, bit_packed=True)
        else:
            yield name, calling(peer.sample_survivors, program=program, seed=1, keep_records=False)


def stim(text: str, mode: Mode) -> Iterator[tuple[str, Run]]:
    """Stim on the S-proxy of the circuit: S in place of T, and Clifford gates in place of rotations."""
    import stim_nonclifford as snc

    sampler = snc.Circuit(text).s_proxy().compile_detector_sampler(seed=1)
    if mode == "bits":
        yield "", calling(sampler.sample, bit_packed=True)
        return

    def counts(shots: int) -> tuple[int, int]:
        discards = errors = 0
        for start in range(0, shots, 1 << 16):
            dets, obs = sampler.sample(
                min(1 << 16, shots - start), separate_observables=True, bit_packed=True
            )
            discarded = dets.any(axis=1) if mode == "postselected" else np.zeros(len(dets), dtype=np.bool_)
            discards += int(discarded.sum())
            errors += int((obs.any(axis=1) & ~discarded).sum())
        return discards, errors

    yield "", counts


SIMULATORS: dict[str, Callable[[str, Mode], Iterator[tuple[str, Run]]]] = {
    "stim_nonclifford": ours,
    "clifft": clifft,
    "symft": symft,
    "ticit": ticit,
    "stim": stim,
}


def version_of(name: str) -> str | None:
    """The installed version of a simulator; None if it is not installed."""
    try:
        found: Any = importlib.metadata.version(name.replace("_", "-"))
    except importlib.metadata.PackageNotFoundError:
        return None
    return str(found)
