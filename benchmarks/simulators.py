"""One interface to all simulators, and the process in which one of them is measured.

A simulator compiles a circuit for one *mode* in each of its settings, such as batch sizes, and then runs
shots. The modes are:

* ``postselected``: counts discards and errors; a shot in which any detector fires is discarded;
* ``bits``: returns the bits of all detectors and observables (of all records, if a circuit has no detectors);
* ``records``: returns all records;
* ``decoded``: counts logical errors of a matching decoder, as `sinter collect` does;
* ``estimate``: computes the logical error rate, postselected on all detectors, to 1%. It has no shots.

``python -m benchmarks.simulators`` is run by ``benchmarks.compare``.
"""

from __future__ import annotations

import importlib
import importlib.metadata
import itertools
import json
import os
import re
import resource
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, Literal

from benchmarks.measuring import Run, peak_bytes, rate_of

# Modules of simulators are imported in the processes that need them, whose time and memory are measured.
Mode = Literal["postselected", "bits", "records", "decoded", "estimate"]
Settings = Iterator[tuple[str, Run]]

WIDE = False
"""Whether the states of simulators of this kind have more than 14 active qubits: ``serve`` sets it."""


def calling(call: Callable[..., object], **arguments: object) -> Run:
    """A function of the number of shots that calls ``call`` with these arguments."""
    return lambda shots: call(shots=shots, **arguments)


def ours(text: str, mode: Mode, threads: int = 1, cache_bytes: int | None = None) -> Settings:
    """This package; it has no settings to try."""
    import stim_nonclifford as snc

    circuit = snc.Circuit(text)
    options: dict[str, Any] = {"seed": 1, "threads": threads}
    if cache_bytes is not None:
        options["cache_bytes"] = cache_bytes
    sampler: Any
    if mode == "records" or (mode == "bits" and not circuit.num_detectors):
        sampler = circuit.compile_sampler(**options)
    else:
        options["postselection_mask"] = "all" if mode == "postselected" else None
        sampler = circuit.compile_detector_sampler(**options)
    yield "", sampler.sample_counts if mode == "postselected" else sampler.sample_bit_packed


def apart(text: str, mode: Mode, cache_bytes: int | None = None) -> Settings:
    """Two samplers of this package that share nothing, in two threads."""
    both = [next(ours(text, mode, cache_bytes=cache_bytes))[1] for _ in range(2)]
    pool = ThreadPoolExecutor(2)
    yield "", lambda shots: list(pool.map(lambda run: run(-(-shots // 2)), both))


def in_form(form: str, text: str, mode: Mode) -> Settings:
    """This package, with all tables of rows in one form."""
    from stim_nonclifford.simulation import plan

    setattr(plan, "_FORM", form)  # noqa: B010
    yield from ours(text, mode)


def with_all_coefficients(text: str, mode: Mode) -> Settings:
    """This package, where outcomes are simulated with the vector of the plan even if they do not need it."""
    from stim_nonclifford.simulation import engines
    from stim_nonclifford.simulation.engines import cost, cpu

    def engine(plan: Any, **options: Any) -> Any:
        cost.check_memory(plan.peak_width, 1)
        return cpu.CpuEngine(plan, path_method="vector", **options)

    setattr(engines, "CpuEngine", engine)  # noqa: B010
    yield from ours(text, mode)


def estimating(max_bytes: int, text: str, mode: Mode) -> Settings:
    """Logical error rates from fault sets, with so much memory."""
    import stim_nonclifford as snc

    def estimate(shots: int) -> object:
        return snc.Circuit(text).logical_error_rate(
            relative_error=0.01, seed=1, threads=2, max_bytes=max_bytes, postselection_mask="all"
        )

    yield "", estimate


def decoding(store_bytes: int, text: str, mode: Mode) -> Settings:
    """Sinter's sampler `soft_pymatching`."""
    import sinter
    import stim

    from sinter_plugin import SoftDecodingSampler

    task = sinter.Task(circuit=stim.Circuit(text), detector_error_model=decomposed(text))
    sampler = SoftDecodingSampler(store_bytes=store_bytes)
    compiled = sampler.compiled_range_sampler_for_task(task, seed=1)
    first = 0

    def errors(shots: int) -> int:  # all of them: `sample` takes as many as it likes
        nonlocal first
        first += shots
        return int(compiled.sample_range(first - shots, shots).errors)

    yield "", errors


def deciding(text: str, mode: Mode) -> Settings:
    """This package, with PyMatching as each decoder that a line of the circuit names."""
    import stim_nonclifford as snc

    decoders = dict.fromkeys(re.findall(r"decoder=(\w+)", text), "pymatching")
    sampler = snc.Circuit(text).compile_detector_sampler(seed=1, threads=1, decoder=decoders)
    yield "", lambda shots: sampler.sample_counts(shots).errors


def pymatching(text: str, mode: Mode) -> Settings:
    """What Sinter does for its decoder `pymatching`: Stim samples, and every shot is decoded."""
    import numpy as np
    import sinter
    import stim

    sampler = stim.Circuit(text).compile_detector_sampler(seed=1)
    decoder = sinter.BUILT_IN_DECODERS["pymatching"].compile_decoder_for_dem(dem=decomposed(text))

    def errors(shots: int) -> int:
        dets, obs = sampler.sample(shots, separate_observables=True, bit_packed=True)
        predicted = decoder.decode_shots_bit_packed(bit_packed_detection_event_data=dets)
        return int(np.any(predicted != obs, axis=1).sum())

    yield "", errors


def decomposed(text: str) -> Any:
    """The error model of a decoder of matching."""
    import stim

    return stim.Circuit(text).detector_error_model(decompose_errors=True)


def clifft(text: str, mode: Mode) -> Settings:
    """Clifft, with and without its pass for narrow states, at several batch sizes."""
    peer: Any = importlib.import_module("clifft")
    num_detectors = peer.compile(text).num_detectors
    call = peer.sample if mode == "bits" else peer.sample_survivors
    # Clifft refuses batches of wide states, but only after it has collected enough shots to fill one.
    sizes = (1,) if WIDE else (1, 64, 256, 1024, 2048)
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


def symft(text: str, mode: Mode) -> Settings:
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


def ticit(text: str, mode: Mode) -> Settings:
    """ticit, on the CPU."""
    peer: Any = importlib.import_module("ticit")
    num_detectors = peer.Circuit(text).num_detectors
    # If a batch of wide states does not fit into memory, ticit ends the process.
    for size in (1,) if WIDE else (1, 0, 256, 2048):
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


def merlin(text: str, mode: Mode) -> Settings:
    """Merlin, whose time is polynomial in the number of T gates, on one core."""
    peer: Any = importlib.import_module("merlin_sim")
    detectors = range(peer.CircuitSampler(text, seed=1).num_detectors) if mode == "postselected" else None
    yield "", calling(peer.CircuitSampler(text, seed=1, postselect=detectors).sample, bit_packed=True)


def stim(text: str, mode: Mode) -> Settings:
    """Stim, on a circuit that it can read."""
    import numpy as np
    import stim

    circuit = stim.Circuit(text)
    if mode == "records" or not circuit.num_detectors:
        yield "", calling(circuit.compile_sampler(seed=1).sample, bit_packed=True)
        return
    sampler = circuit.compile_detector_sampler(seed=1)
    if mode == "bits":
        yield "", calling(sampler.sample, bit_packed=True)
        return

    def counts(shots: int) -> tuple[int, int]:
        discards = errors = 0
        for start in range(0, shots, 1 << 16):
            dets, obs = sampler.sample(
                min(1 << 16, shots - start), separate_observables=True, bit_packed=True
            )
            discarded = dets.any(axis=1)
            discards += int(discarded.sum())
            errors += int(np.sum(obs.any(axis=1) & ~discarded))
        return discards, errors

    yield "", counts


SIMULATORS: dict[str, Callable[[str, Mode], Settings]] = {
    "stim_nonclifford": ours,
    "clifft": clifft,
    "symft": symft,
    "ticit": ticit,
    "merlin-sim": merlin,
    "stim": stim,
    "two threads": partial(ours, threads=2),
    "two samplers": apart,
    "without store": partial(ours, cache_bytes=0),
    "without store, two threads": partial(ours, threads=2, cache_bytes=0),
    "without store, two samplers": partial(apart, cache_bytes=0),
    "with all coefficients": with_all_coefficients,
    "words": partial(in_form, "words"),
    "lists": partial(in_form, "lists"),
    "fault sets, 64 MiB": partial(estimating, 64 << 20),
    "fault sets, 2 GiB": partial(estimating, 2 << 30),
    "soft_pymatching": partial(decoding, 32 << 20),
    "soft_pymatching without store": partial(decoding, 0),
    "pymatching in the loop": deciding,
    "pymatching": pymatching,
}
"""Simulators, and variants of this package."""

OTHERS = ("clifft", "symft", "ticit", "merlin-sim", "stim", "pymatching")
"""Simulators that are no variants of this package."""


def version_of(name: str) -> str | None:
    """The installed version of a simulator, or of this package for its variants; None if not installed."""
    if name not in OTHERS:
        name = "stim_nonclifford"
    try:
        found: Any = importlib.metadata.version(name.replace("_", "-"))
    except importlib.metadata.PackageNotFoundError:
        return None
    return str(found)


def serve(
    name: str,
    text: str,
    mode: Mode,
    limit: int,
    seconds: float,
    wall: bool,
    wide: bool,
    answer: Callable[[Any], None],
) -> None:
    """Finds the best setting of a simulator, then measures at each line of the standard input.

    Answers with the facts of the first shot, or with ``problem``, and then with shots per second.
    """
    global WIDE
    WIDE = wide
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    two = name.endswith(("two threads", "two samplers")) or mode == "estimate"
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[: 2 if two else 1])
    # Other processes on the machine change the processor time of a thread little.
    clock = time.perf_counter if wall else time.process_time
    most = 1 << 40 if mode == "postselected" else 1 << 16 if mode != "decoded" else 1 << 22
    best: tuple[float, str, Run] | None = None
    facts: dict[str, Any] = {}
    try:
        if mode in ("bits", "records"):
            # Imports what is imported when it is first needed.
            next(SIMULATORS[name]("X_ERROR(0.1) 0\nM 0\nDETECTOR rec[-1]", mode))[1](1)
        before, start, processor = peak_bytes(), time.perf_counter(), time.process_time()
        for setting, run in SIMULATORS[name](text, mode):
            if not facts:
                run(1)
                facts = {
                    "first_seconds": time.perf_counter() - start,
                    "first_cpu_seconds": time.process_time() - processor,
                    "first_bytes": peak_bytes(),
                    "more_bytes": peak_bytes() - before,
                }
            answer({"setting": setting})  # the parent's timeout starts anew
            rate = rate_of(run, seconds, most=most, clock=clock) if seconds else 0.0
            if best is None or rate > best[0]:
                best = rate, setting, run
            if not seconds:
                break
    except (Exception, MemoryError) as error:
        if best is None:
            answer({"problem": f"{type(error).__name__}: {error}"[:200]})
            return
    assert best is not None
    _, setting, run = best
    answer({**facts, "best": setting, "version": version_of(name)})
    for line in sys.stdin:
        statistics: Any = getattr(getattr(run, "__self__", None), "statistics", dict)
        try:
            work = {key: value for key, value in statistics().items() if key != "engine"}
            begin = clock()
            rate = rate_of(run, float(line), most=most, clock=clock)
            elapsed = clock() - begin
        except (Exception, MemoryError) as error:
            answer({"problem": f"{type(error).__name__}: {error}"[:200]})
            return
        after = statistics()
        work = {key: (after[key] - value) / elapsed for key, value in work.items()}
        answer({"rate": rate, "peak_bytes": peak_bytes(), "work": work})


if __name__ == "__main__":
    # Simulators may print: their output goes nowhere.
    pipe = os.fdopen(os.dup(1), "w", buffering=1)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.dup2(nowhere, 2)
    wanted = json.loads(sys.stdin.readline())
    serve(**wanted, answer=lambda found: print(json.dumps(found), file=pipe))
