"""Which samplers follow each shot by itself, and what they need of the circuit."""

from __future__ import annotations

from ..compiler import CompiledCircuit
from ..engines import EngineOptions, TrajectoryEngine

__all__ = ["follows_shots", "reference_detectors", "reference_records"]


def follows_shots(compiled: CompiledCircuit, options: EngineOptions) -> bool:
    """Whether the shots of a circuit are followed one by one, and have no plan."""
    return options.engine == "trajectory" or (options.engine == "auto" and compiled.program.is_switched)


def reference_detectors(compiled: CompiledCircuit, max_active_coordinates: int) -> int:
    """The detectors and observables of the reference sample, as a mask; records may switch blocks."""
    if not compiled.program.is_switched:
        return compiled.reference_detectors(max_active_coordinates)
    return _likely(compiled, max_active_coordinates, by_records=False)


def reference_records(compiled: CompiledCircuit, max_active_coordinates: int) -> int:
    """The records of the reference sample, as a mask; records may switch blocks."""
    if not compiled.program.is_switched:
        return compiled.reference_records(max_active_coordinates)
    return _likely(compiled, max_active_coordinates, by_records=True)


def _likely(compiled: CompiledCircuit, max_active_coordinates: int, *, by_records: bool) -> int:
    limit = max_active_coordinates
    engine = TrajectoryEngine(compiled.circuit, by_records=by_records, max_active_coordinates=limit)
    return engine.likely_outputs()
