"""Samplers: Stim's methods, arguments, shapes and dtypes, on top of plans and engines."""

from .detector_sampler import CompiledDetectorSampler
from .measurement_sampler import CompiledMeasurementSampler
from .results import KeptSamples, SampleCounts

__all__ = ["CompiledDetectorSampler", "CompiledMeasurementSampler", "KeptSamples", "SampleCounts"]
