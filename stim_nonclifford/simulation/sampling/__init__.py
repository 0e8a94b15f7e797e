"""Samplers: draw shots with an engine, with Stim's methods, arguments, shapes and dtypes."""

from .detector_sampler import CompiledDetectorSampler
from .kept_batches import KeptBatch
from .measurement_sampler import CompiledMeasurementSampler
from .results import FailureSamples, KeptFailure, KeptSamples, SampleCounts
from .rows import OutputName
from .shot_files import ShotFormat

__all__ = [
    "CompiledDetectorSampler",
    "CompiledMeasurementSampler",
    "FailureSamples",
    "KeptBatch",
    "KeptFailure",
    "KeptSamples",
    "OutputName",
    "SampleCounts",
    "ShotFormat",
]
