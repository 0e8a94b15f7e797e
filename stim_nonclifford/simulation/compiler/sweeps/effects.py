"""Effects: the bits that a fault, a random outcome or a coin flips.

Pauli noise, feedback and random outcomes never change which operations a circuit performs. They change only
signs and records. An *effect* is the set of bits that one cause flips: a row of a ``SparseRows``, because an
int has room for all bits, and a circuit has as many causes as bits. It has one bit per **output** (detectors
and then observables, or records), followed by one bit per **sign** of a rotation, and one per record whose
readout noise depends on it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
import numpy.typing as npt

from ...plan import SparseRows
from ..algebra.gf2 import masks_of, ones
from ..algebra.paulis import Factors
from ..algebra.sparse_rows import joined
from ..leakage import Script

Outputs = Literal["detectors", "records"]


@dataclass(frozen=True)
class NoiseEffects:
    """The effects of noise: first those of independent causes, then those at sites."""

    effects: SparseRows  # for each cause, the bits that it flips
    # float64, shape (num_causes,). For an independent cause, the rate of its Poisson events. For a
    # cause at a site, its probability
    rates: npt.NDArray[np.float64]
    # int32, shape (num_causes,): -1 for independent causes, else the number of the site, ascending.
    # Causes at the same site exclude each other
    sites: npt.NDArray[np.int32]

    @staticmethod
    def of(rates: Mapping[int, float], sites: Iterable[Mapping[int, float]] = ()) -> NoiseEffects:
        """Noise effects from effects as ints: their rates, and for each site their probabilities."""
        exclusive = [(effect, p, k) for k, site in enumerate(sites) for effect, p in site.items()]
        return NoiseEffects(
            SparseRows.of(ones(effect) for effect in (*rates, *(effect for effect, _, _ in exclusive))),
            np.array([*rates.values(), *(p for _, p, _ in exclusive)], dtype=np.float64),
            np.array([-1] * len(rates) + [k for _, _, k in exclusive], dtype=np.int32),
        )

    def independent(self) -> dict[int, float]:
        """Effect -> rate of the independent causes."""
        count = int(np.count_nonzero(self.sites < 0))
        return dict(zip(masks_of(self.effects)[:count], self.rates[:count].tolist(), strict=True))

    def exclusive(self) -> list[dict[int, float]]:
        """For each site, effect -> probability."""
        found: list[dict[int, float]] = [{} for _ in range(int(self.sites.max(initial=-1)) + 1)]
        causes = zip(masks_of(self.effects), self.rates.tolist(), self.sites.tolist(), strict=True)
        for effect, probability, site in causes:
            if site >= 0:
                found[site][effect] = probability
        return found


@dataclass(frozen=True)
class LeakageEffects:
    """What qubits change that may be leaked."""

    scripts: list[Script] = field(default_factory=list)  # their scripts
    # for each inserted bit of the scripts, its effect
    effects: SparseRows = field(default_factory=lambda: SparseRows.of([]))


@dataclass(frozen=True)
class ReadoutEffects:
    """Readout noise that depends on the record: records that decay to a value with some probability.

    Whether a decay flips anything depends on whether the record *differs* from that value. For each decay, an
    effect has another bit behind those of signs: the sum of this and of the same for the previous decay of
    its chain. No outcome flips it, so that it is known from noise and coins.
    """

    probabilities: Sequence[float] = ()
    predecessors: Sequence[int] = ()  # for each decay, the previous one of its chain, or -1
    # for each decay, the effect of a flip of the record just before it, its own bit included
    effects: SparseRows = field(default_factory=lambda: SparseRows.of([]))


@dataclass
class EffectTable:
    """The effects of all random causes."""

    num_outputs: int  # bits [0, num_outputs) of an effect are outputs
    # bits [num_outputs, num_outputs + num_signs) are signs. The signs of ACTIVATE operations are chosen
    # as +, and occur in no effect. Then come the bits of records that may decay
    num_signs: int
    constant: int = 0  # the effect that is present in every shot
    noise: NoiseEffects = field(default_factory=lambda: NoiseEffects.of({}))  # the effects of noise
    # independent effects, each present with probability 1/2
    coins: SparseRows = field(default_factory=lambda: SparseRows.of([]))
    # for each MEASURE of the forward sweep, the effect if its outcome is 1
    outcomes: SparseRows = field(default_factory=lambda: SparseRows.of([]))
    # for each coin of the forward sweep, the effect if its outcome is 1
    tosses: SparseRows = field(default_factory=lambda: SparseRows.of([]))
    base_outputs: int = 0  # the outputs on the base path (no noise, all random outcomes 0)
    leakage: LeakageEffects = field(default_factory=LeakageEffects)  # the effects of leakage
    # for each bit that a decoder decides, the effect of its flip
    decisions: SparseRows = field(default_factory=lambda: SparseRows.of([]))
    readouts: ReadoutEffects = field(default_factory=lambda: ReadoutEffects())

    @property
    def causes(self) -> SparseRows:
        """The effects of all that no outcome decides: noise, coins, leakage, decisions, readout decays."""
        random = joined(joined(self.noise.effects, self.coins), self.leakage.effects)
        return joined(joined(random, self.decisions), self.readouts.effects)

    @property
    def num_bits(self) -> int:
        """Number of bits of an effect."""
        return self.num_outputs + self.num_signs + len(self.readouts.probabilities)


@dataclass(frozen=True)
class Fault:
    """One error at one place of the circuit."""

    step: int  # the index of the step in the program
    group: int  # the index of the group of targets in the step
    factors: Factors  # the Pauli of the fault, on the qubits of the program; empty if it flips only records
    records: tuple[int, ...]  # the records that the fault flips directly: readout errors and heralds
    effect: int
