"""Sinter plugin: collects statistics of circuits with T gates with Sinter's tools.

Sinter's own samplers pass the circuit to Stim, which reads the T gate ``S[T]`` as the Clifford gate S. The
sampler of this package, ``soft_postselect``, samples the T gate itself. It does not decode: it discards the
shots in which a detector fires. ``soft_postselect_gpu`` does the same on an NVIDIA GPU. ``soft_pymatching``
and its like, one for each decoder that is installed, decode the shots that are kept. There are four ways to
use the plugin:

* ``sinter collect --custom_decoders_module_function sinter_plugin:sinter_samplers
  --decoders soft_postselect ...``;
* the same with ``sinter_plugin:sinter_decoders`` and ``--decoders soft_pymatching``;
* ``sinter.collect(tasks=[sinter_plugin.task(...)], custom_decoders=sinter_plugin.sinter_samplers(), ...)``;
* ``python -m sinter_plugin collect ...``, with the arguments of ``sinter collect``, which also accepts
  circuits that Sinter refuses, and samples on many machines, as ``collect_on_dask`` does.

``python -m sinter_plugin estimate`` writes logical error rates that are computed from fault sets to the same
kind of file, and ``error_rate`` draws both in one figure.

The modules, each of which uses only earlier ones: ``masks`` (checks and unpacks Sinter's bit masks),
``batch_size`` (chooses the number of shots per call), ``parent_watch`` (ends workers whose parent has ended),
``soft_postselect`` (the sampler that does not decode), ``decoders`` (decoders by name), ``distinct_rows``
(decodes equal rows once), ``file_decoder`` (decoders that read files), ``kept_shot_decoding`` (predictions
and confidences), ``gap_decoder``, ``matching_graph``, ``matching_gap``, ``boundary_tile`` and
``chromobius_gap`` (the complementary gap), ``heralds`` and ``heralded_matching`` (matching that knows
erasures), ``state_check`` (a logical state after decoding), ``tasks`` (Sinter tasks for any circuit),
``row_warnings`` (warnings that stand in rows), ``decoding_warnings``, ``soft_decoding`` (the sampler that
decodes), ``sinter_internals`` (the private parts of Sinter that are used), ``rows``, ``file_lock``,
``rescue`` and ``save_file`` (the file of statistics), ``error_rates`` (rates with intervals), ``interrupts``
(signals), ``worker_watch`` (ends a run when a worker dies), ``postselection`` (masks and metadata out of
arguments). Runs over ranges of numbered shots: ``shot_ranges`` (which shots a row counts), ``range_jobs``
(what workers do), ``ordered_ranges`` (hands out the shots of a task and accepts them in order),
``range_start`` (where a run begins and ends), ``range_collection`` (the loop), ``collection_progress``,
``range_run``, ``local_workers`` and ``dask_workers``, ``dask_collection``, ``state_check_argument``,
``range_arguments`` and ``range_command``. Then ``collect_command``, ``numbered_rows``, ``counted_once`` and
``combine_command`` (adds files up), ``gap_points`` (curves from counts by gap), ``estimate_arguments``,
``estimate_groups`` and ``estimate_command`` (logical error rates from fault sets), and ``__main__`` (the
command line).
"""

from __future__ import annotations

from .chromobius_gap import ChromobiusGapDecoder, CompiledChromobiusGap
from .dask_collection import collect_on_dask
from .gap_decoder import CompiledGapDecoder
from .heralded_matching import CompiledHeraldedMatching, HeraldedMatchingDecoder
from .heralds import herald_detectors
from .kept_shot_decoding import ConfidentDecoder
from .matching_gap import CompiledMatchingGap, MatchingGapDecoder
from .soft_decoding import CompiledSoftDecodingSampler, SoftDecodingSampler, decoding_samplers
from .soft_postselect import CompiledSoftPostselectSampler, SoftPostselectSampler
from .state_check import LogicalStateCheck
from .statistics.error_rates import error_rate
from .statistics.gap_points import (
    CalibrationPoint,
    GapPoint,
    gap_calibration,
    gap_points,
    read_gap_stats,
    write_gap_points,
)
from .tasks import task

__all__ = [
    "CalibrationPoint",
    "ChromobiusGapDecoder",
    "CompiledChromobiusGap",
    "CompiledGapDecoder",
    "CompiledHeraldedMatching",
    "CompiledMatchingGap",
    "CompiledSoftDecodingSampler",
    "CompiledSoftPostselectSampler",
    "ConfidentDecoder",
    "GapPoint",
    "HeraldedMatchingDecoder",
    "LogicalStateCheck",
    "MatchingGapDecoder",
    "SoftDecodingSampler",
    "SoftPostselectSampler",
    "collect_on_dask",
    "error_rate",
    "gap_calibration",
    "gap_points",
    "herald_detectors",
    "read_gap_stats",
    "sinter_decoders",
    "sinter_samplers",
    "task",
    "write_gap_points",
]


def sinter_decoders() -> dict[str, SoftDecodingSampler]:
    """The samplers that decode, one for each decoder that is installed and that Sinter or its plugin knows.

    Returns:
        A dictionary for the argument ``custom_decoders`` of ``sinter.collect``, and for the command line
        argument ``--custom_decoders_module_function sinter_plugin:sinter_decoders``. The sampler of the
        decoder ``pymatching`` has the name ``soft_pymatching``; ``soft_pymatching_gap`` and
        ``soft_chromobius_gap`` have the complementary gap.

    Examples:
        >>> sinter_decoders()["soft_pymatching"].decoder
        'pymatching'
    """
    return decoding_samplers()


def sinter_samplers() -> dict[str, SoftPostselectSampler]:
    """The samplers of this plugin, by the names under which Sinter registers them.

    Returns:
        A dictionary for the argument ``custom_decoders`` of ``sinter.collect``, and for the command
        line argument ``--custom_decoders_module_function sinter_plugin:sinter_samplers``.

    Examples:
        >>> sorted(sinter_samplers())
        ['soft_postselect', 'soft_postselect_gpu']
    """
    return {
        "soft_postselect": SoftPostselectSampler(),
        "soft_postselect_gpu": SoftPostselectSampler(engine="gpu"),
    }
