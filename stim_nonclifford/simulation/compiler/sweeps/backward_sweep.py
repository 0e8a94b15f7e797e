"""The backward sweep: what every fault, random outcome and free sign changes.

Walking backwards, the sweep keeps the effect (``effects``) of an X and of a Z on every qubit at the current
place, as lists of bits in native code (``native/compiler/sweeps/effect_sweep.h``). Gates mix them by their
tableau, measurements add what depends on their record, resets clear them, and reading them at a noise
instruction gives the effects of its Paulis.

A measurement has an *outcome*, which the state follows, and a *record* (outcome ⊕ readout flip), which
detectors, observables and feedback use: readout noise flips the record only.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from functools import reduce
from itertools import groupby
from operator import xor

import numpy as np

from ...._native import MAX_EFFECT_WORK, EffectSweep
from ....base.errors import ResourceLimitError
from ...plan import SparseRows
from ..algebra.gf2 import mask_of, masks_of
from ..algebra.paulis import Factors
from ..algebra.sparse_rows import independent_rows
from ..leakage.scripts import InsertedBit, Scripts, scripts_of
from ..program.channels import further_patterns
from ..program.program import Program
from ..program.steps import CorrelatedError, Noise
from .effects import EffectTable, Fault, LeakageEffects, NoiseEffects, Outputs
from .forward_sweep import Insertion, QuantumProgram
from .operations import OperationKind
from .progress import progress_of

__all__ = ["backward_sweep", "list_faults", "outcome_effects"]

MAX_EFFECT_BYTES = 2 << 30
"""Limit for the memory of the effects of noise and records."""


def list_faults(program: Program, quantum: QuantumProgram, outputs: Outputs = "detectors") -> list[Fault]:
    r"""Every fault that the circuit's noise can cause, in the order of the circuit.

    Args:
        program: The circuit's steps.
        quantum: What the forward sweep found.
        outputs: Which outputs the effects are about, as in ``backward_sweep``.

    Returns:
        The faults: each pattern of each channel at each place that has a non-zero probability.

    Examples:
        >>> import stim
        >>> from stim_nonclifford.simulation.compiler.program.flattening import program_of
        >>> from stim_nonclifford.simulation.compiler.sweeps.forward_sweep import QuantumProgram
        >>> program = program_of(stim.Circuit("DEPOLARIZE1(0.1) 3\nM(0.1) 3\nDETECTOR rec[-1]"))
        >>> faults = list_faults(program, QuantumProgram(base_records=[0]))
        >>> [(fault.factors, fault.records, fault.effect) for fault in faults]
        [(((0, 1),), (), 1), (((0, 2),), (), 0), (((0, 3),), (), 1), ((), (0,), 1)]
    """
    return _BackwardSweep(program, quantum, outputs, with_faults=True).faults()


def backward_sweep(program: Program, quantum: QuantumProgram, outputs: Outputs = "detectors") -> EffectTable:
    r"""Finds the effects of noise, outcomes and coins.

    Args:
        program: The circuit's steps.
        quantum: What the forward sweep found.
        outputs: ``"detectors"``: outputs are detectors, then observables; ``"records"``: the records. Then
            come the signs of the expectation values, if the program has any.

    Returns:
        The effects, in which signs of ACTIVATE operations do not occur any more.

    Examples:
        >>> import stim
        >>> from stim_nonclifford.simulation.compiler.program.flattening import program_of
        >>> from stim_nonclifford.simulation.compiler.sweeps.forward_sweep import QuantumProgram
        >>> program = program_of(stim.Circuit("X_ERROR(0.125) 0\nM 0\nDETECTOR rec[-1]"))
        >>> backward_sweep(program, QuantumProgram(base_records=[0])).noise.independent()
        {1: 0.143841036225890...}
    """
    return _BackwardSweep(program, quantum, outputs).table()


def outcome_effects(program: Program, quantum: QuantumProgram) -> EffectTable:
    r"""Finds the effects of outcomes and coins of the forward sweep on the records, without those of noise.

    Args:
        program: The circuit's steps.
        quantum: What the forward sweep found.

    Returns:
        The effects; ``noise``, ``constant`` and ``coins`` are empty.

    Examples:
        >>> import stim
        >>> from stim_nonclifford.simulation.compiler.program.flattening import program_of
        >>> from stim_nonclifford.simulation.compiler.sweeps.forward_sweep import forward_sweep
        >>> program = program_of(stim.Circuit("RX 0\nS[T] 0\nZ_ERROR(0.1) 0\nMX 0 0"))
        >>> outcome_effects(program, forward_sweep(program)).outcomes  # one outcome, two records
        [3]
    """
    return _BackwardSweep(program, quantum, "records", with_noise=False).table()


class _BackwardSweep:
    def __init__(
        self,
        program: Program,
        quantum: QuantumProgram,
        outputs: Outputs,
        *,
        with_noise: bool = True,
        with_faults: bool = False,
    ) -> None:
        self.program = program
        self.quantum = quantum
        self.by_records = outputs == "records"
        self.num_outputs = (
            program.num_records if self.by_records else program.num_detectors + program.num_observables
        ) + program.native.num_expectations
        sign_of_step = {
            term.step: self.num_outputs + term.sign
            for operation in quantum.operations
            for term in operation.terms
        }
        insertions = [
            *quantum.activations,
            *quantum.outcomes,
            *(insertion for _, _, insertion in quantum.coins),
        ]
        self.leakage = scripts_of(program) if with_noise else Scripts()
        self.first_leakage = len(insertions)
        inserted = [_inserted(insertion, sign_of_step) for insertion in insertions]
        inserted += map(_inserted_bit, self.leakage.bits)
        # The last step comes first, as the sweep meets it; those of the same step may have any order.
        order = sorted(range(len(inserted)), key=lambda k: inserted[k][0], reverse=True)
        what = "measurement records" if self.by_records else "detectors and observables"
        try:
            with progress_of("backward sweep", len(program.steps), backward=True) as progress:
                self.effects = EffectSweep(
                    program.native,
                    self.by_records,
                    with_noise,
                    with_faults,
                    list(sign_of_step.items()),
                    [inserted[k] for k in order],
                    MAX_EFFECT_BYTES,
                    progress,
                )
            self.kept = dict(zip(order, self.effects.kept_insertions(), strict=True))
            self.add_correlated_errors()
            self.fix_signs()
        except MemoryError:
            raise ResourceLimitError(
                f"The effects of the circuit's noise on {self.num_outputs:,} {what} need more than"
                f" {MAX_EFFECT_BYTES:,} bytes, the limit, or more memory than there is. Lower the repeat"
                " counts, or sample the circuit in parts."
            ) from None
        except OverflowError:
            raise ResourceLimitError(
                f"Errors and outcomes flip too many of the circuit's {self.num_outputs:,} {what}: to find"
                f" which takes more than {MAX_EFFECT_WORK:,} bits, the limit. Reset qubits after"
                " measurements, lower the repeat counts, or sample the circuit in parts."
            ) from None

    def add_correlated_errors(self) -> None:
        """Adds chains of mutually exclusive errors; the most likely choice becomes a constant."""
        chains: dict[int, list[tuple[int, float]]] = {}
        for chain, number, probability in zip(*self.effects.links(), strict=True):
            chains.setdefault(chain, []).append((number, probability))
        for links in chains.values():
            nothing = 1 - math.fsum(probability for _, probability in links)
            choices = [(-1, nothing), *links]
            constant, _ = max(choices, key=lambda choice: choice[1])
            self.effects.add_choices(constant, [choice for choice in choices if choice[1] > 0])

    def fix_signs(self) -> None:
        """Removes the signs of ACTIVATE operations from all effects.

        The coordinate that a rotation activates is |0> before, so Z on it does nothing: adding the effect of
        that Z to any effect is free, and we do so whenever it makes the rotation's sign +.
        """
        activations = [op for op in self.quantum.operations if op.kind == OperationKind.ACTIVATE]
        signs = [self.num_outputs + activation.terms[0].sign for activation in activations]
        wrong = self.effects.fix_signs([(sign, self.kept[k]) for k, sign in enumerate(signs)])
        if wrong >= 0:
            raise AssertionError(f"{activations[wrong]}: its stabilizer does not flip its sign first")

    def table(self) -> EffectTable:
        """The effects that the sweep has found."""
        kept = SparseRows(*self.effects.kept())
        # The insertions are those of the activations, of the outcomes, of the coins, and of leakage.
        num_activations, num_outcomes = len(self.quantum.activations), len(self.quantum.outcomes)
        effects = [kept.row(self.kept[k]).tolist() for k in range(num_activations, self.first_leakage)]
        leaked = (kept.row(self.kept[k]).tolist() for k in range(self.first_leakage, len(self.kept)))
        records = np.array(self.quantum.base_records, dtype=np.uint8)
        ones = np.flatnonzero(records) if self.by_records else self.program.native.odd_outputs(records)
        starts, bits, rates, sites = self.effects.noise()
        return EffectTable(
            self.num_outputs,
            self.quantum.num_signs,
            constant=mask_of(self.effects.constant().tolist()),
            noise=NoiseEffects(SparseRows(starts, bits), rates, sites),
            coins=independent_rows(SparseRows(*self.effects.stabilizers())),
            outcomes=[mask_of(bits) for bits in effects[:num_outcomes]],
            tosses=SparseRows.of(effects[num_outcomes:]),
            base_outputs=mask_of(ones.tolist()),
            leakage=LeakageEffects(self.leakage.scripts, SparseRows.of(leaked)),
        )

    def faults(self) -> list[Fault]:
        """The faults with their effects, in the order of the circuit."""
        kept = masks_of(SparseRows(*self.effects.kept()))
        found: list[tuple[int, Fault]] = []
        for step, group, pattern, record, number in zip(*self.effects.faults(), strict=True):
            records = () if record < 0 else (record,)
            fault = Fault(step, group, self._factors(step, group, pattern), records, kept[number])
            found.append((pattern, fault))
        found.sort(key=lambda item: (item[1].step, item[1].group, item[0]))
        result: list[Fault] = []
        for (step, group), items in groupby(found, lambda item: (item[1].step, item[1].group)):
            result += self._with_sums(step, group, dict(items))
        return result

    def _with_sums(self, step: int, group: int, faults: dict[int, Fault]) -> Iterable[Fault]:
        """The faults of a group of targets, by their patterns, and those that the native sweep leaves out.

        It lists an error for each independent event, but several events can happen at once.
        """
        noise = self.program.steps[step]
        sums = further_patterns(noise.channel) if isinstance(noise, Noise) else ()
        if not sums:
            return faults.values()
        assert isinstance(noise, Noise)
        herald = 2 * len(noise.groups[group])
        every = dict(faults)
        for pattern, parts in sums:
            effect = reduce(xor, (faults[part].effect for part in parts))
            records: tuple[int, ...] = ()
            if noise.first_herald is not None and pattern >> herald & 1:
                records = (noise.first_herald + group,)
            every[pattern] = Fault(step, group, self._factors(step, group, pattern), records, effect)
        return [every[pattern] for pattern in sorted(every)]

    def _factors(self, step: int, group: int, pattern: int) -> Factors:
        """The Pauli of a fault."""
        match self.program.steps[step]:
            case Noise(_, groups, _):
                codes = ((qubit, pattern >> 2 * k & 3) for k, qubit in enumerate(groups[group]))
                return tuple((qubit, code) for qubit, code in codes if code)
            case CorrelatedError(_, _, factors):
                return factors
        return ()  # a readout error


def _inserted(
    insertion: Insertion, sign_of_step: dict[int, int]
) -> tuple[int, Factors, list[int], list[int]]:
    signs = [sign_of_step[step] for step in insertion.deferred if step in sign_of_step]
    return insertion.step, insertion.factors, signs, list(insertion.reordered)


def _inserted_bit(bit: InsertedBit) -> tuple[int, Factors, list[int], list[int]]:
    if bit.qubit < 0:
        return bit.step, (), [], [bit.number]
    return bit.step, ((bit.qubit, bit.number),), [], []
