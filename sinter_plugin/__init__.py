"""Sinter plugin: collects statistics of circuits with T gates with Sinter's tools.

Sinter's own samplers pass the circuit to Stim, which reads the T gate ``S[T]`` as the Clifford gate S. The
sampler of this package, ``soft_postselect``, samples the T gate itself. It does not decode: it discards the
shots in which a detector fires. ``soft_postselect_gpu`` does the same on an NVIDIA GPU. ``soft_pymatching``
and its like, one for each decoder that is installed, decode the shots that are kept. There are four ways to
use the plugin:

* ``sinter collect --custom_decoders_module_function sinter_plugin:sinter_samplers
  --decoders soft_postselect ...``;
* ``sinter.collect(tasks=[sinter_plugin.task(...)], custom_decoders=sinter_plugin.sinter_samplers(), ...)``;
* ``python -m sinter_plugin collect ...``, with the arguments of ``sinter collect``, which also accepts
  circuits that Sinter refuses, has seeds, and samples on many machines;
* ``sinter_plugin.collect(tasks, ...)``, the same in Python.

``python -m sinter_plugin estimate`` writes logical error rates that are computed from fault sets to the same
kind of file, and ``error_rate`` draws both in one figure.

The rooms, each of which imports from earlier ones only: ``statistics`` (files of statistics and what their
rows mean), ``samplers`` (for Sinter), ``runs`` (tasks are counted by workers), ``commands`` and ``__main__``
(the command line). Decoders and complementary gaps are in ``stim_nonclifford.rates.decoding``.
"""

from __future__ import annotations

from stim_nonclifford.circuit.logical_states import LogicalStateCheck
from stim_nonclifford.rates.decoding.chromobius_gap import ChromobiusGapDecoder, CompiledChromobiusGap
from stim_nonclifford.rates.decoding.kept_shot_decoding import ConfidentDecoder
from stim_nonclifford.rates.decoding.matching.desaturated_gap import (
    CompiledDesaturatedGap,
    DesaturatedGapDecoder,
)
from stim_nonclifford.rates.decoding.matching.heralded_matching import (
    CompiledHeraldedMatching,
    HeraldedMatchingDecoder,
)
from stim_nonclifford.rates.decoding.matching.matching_gap import CompiledMatchingGap, MatchingGapDecoder

from .runs.collection import collect
from .samplers.by_name import sinter_samplers
from .samplers.decoding_warnings import herald_detectors
from .samplers.soft_decoding import CompiledSoftDecodingSampler, SoftDecodingSampler
from .samplers.soft_postselect import CompiledSoftPostselectSampler, SoftPostselectSampler
from .samplers.tasks import task
from .statistics.estimates import error_rate
from .statistics.gap_points import (
    CalibrationPoint,
    GapPoint,
    gap_calibration,
    gap_points,
    read_gap_stats,
    write_gap_points,
)

__all__ = [
    "CalibrationPoint",
    "ChromobiusGapDecoder",
    "CompiledChromobiusGap",
    "CompiledDesaturatedGap",
    "CompiledHeraldedMatching",
    "CompiledMatchingGap",
    "CompiledSoftDecodingSampler",
    "CompiledSoftPostselectSampler",
    "ConfidentDecoder",
    "DesaturatedGapDecoder",
    "GapPoint",
    "HeraldedMatchingDecoder",
    "LogicalStateCheck",
    "MatchingGapDecoder",
    "SoftDecodingSampler",
    "SoftPostselectSampler",
    "collect",
    "error_rate",
    "gap_calibration",
    "gap_points",
    "herald_detectors",
    "read_gap_stats",
    "sinter_samplers",
    "task",
    "write_gap_points",
]
