"""Where the mechanisms of a plan come from: the noise channels of the circuit, and their part in each rate.

A *place* is a noise channel on one group of targets, or a readout error of one measurement. Its *strength* s
multiplies the probabilities that it has in the circuit, the arguments of its instruction; s is 1. Faults with
the same effect are one mechanism, the rate of which is the sum of those of its places.

With s, a channel with the probabilities s p_P of its patterns has the characters f_Q = 1 - 2 s Σ p_P over
the P that anticommute with Q, so that its rates λ_P = 2^-m Σ_Q ± ln f_Q (``compiler.program.channels``)
change by dλ_P / d ln s = 2^-m Σ_Q ± (1 / f_Q) df_Q / d ln s. Of a site, the probabilities themselves are
proportional to s. Of a chain of correlated errors, the argument of each link is: it leaves less for the later
ones.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from ...base.arrays import Bools, Floats, Integers
from ...base.written_circuits import source_of
from ...dialect import bare_name, channel_of
from ...simulation.compiler import CompiledCircuit
from ...simulation.compiler.program.program import Program
from ...simulation.compiler.program.steps import CorrelatedError, Measure, Noise
from ...simulation.compiler.sweeps.effects import Fault
from ...simulation.noise_events import located, noise_events
from ...simulation.plan import SamplingPlan, choices_of_sites
from ..results.error_budget import NoisePlace
from .gate_names import GateNames


@dataclass(frozen=True)
class NoiseSources:
    """What each place does to the mechanisms: entry k is about one place and one mechanism."""

    num_mechanisms: int
    places: tuple[NoisePlace, ...]  # in the order of the circuit
    mechanisms: Integers  # the mechanism of each entry
    of_places: Integers  # its place
    fractions: Floats  # the part of the mechanism's events that come from the place
    # derivative by ln of the place's strength of the mechanism's rate or, of a mechanism at a site, of its
    # probability; NaN: the place also has a direction in which the plan has no mechanism
    derivatives: Floats

    def matrix(self, values: Floats) -> sparse.csr_array:
        """Values of the entries as a matrix, shape (num_mechanisms, places)."""
        known = self.mechanisms >= 0
        where = (self.mechanisms[known], self.of_places[known])
        return sparse.csr_array((values[known], where), shape=(self.num_mechanisms, len(self.places)))

    @property
    def is_unknown(self) -> Bools:
        """Whether each place also has a direction in which there is no mechanism."""
        unknown = (self.mechanisms < 0) & np.isnan(self.derivatives)
        return np.bincount(self.of_places[unknown], minlength=len(self.places)) > 0


def noise_sources(compiled: CompiledCircuit, plan: SamplingPlan) -> NoiseSources:
    """The sources of the mechanisms of a plan for detectors."""
    events = noise_events(compiled)
    entries: dict[tuple[int, int], list[float]] = {}
    for found in located(plan, events):
        entry = entries.setdefault((found.mechanism, found.event.place), [0.0, 0.0])
        entry[0] += found.amount
        entry[1] += found.derivative
    mechanisms = np.array([mechanism for mechanism, _ in entries], dtype=np.int64)
    amounts = np.array([amount for amount, _ in entries.values()], dtype=np.float64)
    known = mechanisms >= 0
    totals = np.zeros(plan.num_mechanisms)
    np.add.at(totals, mechanisms[known], amounts[known])
    # The parts of each mechanism make up its rate, or at a site its probability.
    expected = plan.rates.copy()
    for choices, total in choices_of_sites(plan):
        expected[choices] *= -math.expm1(-total) / total
    if not np.allclose(totals, expected, rtol=1e-9, atol=0):
        raise AssertionError("the parts of a mechanism do not add up to it")
    fractions = np.zeros(len(amounts))
    fractions[known] = amounts[known] / totals[mechanisms[known]]
    gates = GateNames(compiled.circuit)
    return NoiseSources(
        num_mechanisms=plan.num_mechanisms,
        places=tuple(_place_of(compiled.program, fault, gates) for fault in events.places),
        mechanisms=mechanisms,
        of_places=np.array([place for _, place in entries], dtype=np.int64),
        fractions=fractions,
        derivatives=np.array([derivative for _, derivative in entries.values()], dtype=np.float64),
    )


def _place_of(program: Program, fault: Fault, gates: GateNames) -> NoisePlace:
    place = program.places[fault.step]
    match program.steps[fault.step]:
        case Noise(_, groups, _):
            qubits: Iterator[int] = iter(groups[fault.group])
        case Measure(factors) | CorrelatedError(_, _, factors):
            qubits = (qubit for qubit, _ in factors)
        case _:
            raise AssertionError("a fault stands at noise or at a measurement")
    targets = tuple(program.labels[qubit] for qubit in qubits)
    name, channel = bare_name(place.source), channel_of(place.source)
    source, source_qubits = source_of(place.source)
    return NoisePlace(
        line=place.line,
        tick=place.tick,
        instruction=name,
        arguments=tuple(place.source.gate_args_copy()) if channel is None else channel.values,
        targets=targets,
        gate=gates.of(name, place.number, place.tick, targets),
        source=source,
        source_qubits=source_qubits,
    )
