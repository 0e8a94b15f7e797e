"""The backward sweep: what every fault, random outcome and free sign changes.

Walking backwards, the sweep keeps the effect (``effects``) of an X and of a Z on every qubit at the current
place, as lists of bits in native code (``native/compiler/sweeps/backward_sweep.h``). Gates mix them by their
tableau, measurements add what depends on their record, resets clear them, and reading them at a noise
instruction gives the effects of its Paulis.

A measurement has an *outcome*, which the state follows, and a *record* (outcome ⊕ readout flip), which
detectors, observables and feedback use: readout noise flips the record only.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import reduce
from itertools import groupby
from operator import itemgetter, xor
from typing import Any

import numpy as np
import numpy.typing as npt

from ...._native import MAX_EFFECT_WORK
from ...._native import backward_sweep as native_backward_sweep
from ....base.errors import ResourceLimitError
from ...plan import SparseRows
from ..algebra.gf2 import mask_of, masks_of
from ..algebra.paulis import Factors
from ..algebra.sparse_rows import taken
from ..leakage import InsertedBit, Scripts, scripts_of
from ..program.channels import further_patterns
from ..program.program import Program, ReadoutDecay
from ..program.steps import CorrelatedError, Noise, Step
from .effects import EffectTable, Fault, LeakageEffects, NoiseEffects, Outputs, ReadoutEffects
from .forward_sweep import QuantumProgram
from .progress import progress_of

MAX_EFFECT_BYTES = 2 << 30
"""Limit for the memory of the effects of noise and records."""


def list_faults(program: Program, quantum: QuantumProgram, outputs: Outputs = "detectors") -> list[Fault]:
    """The faults that the circuit's noise can cause, in the order of the circuit.

    These are each pattern of each channel at each place that has a non-zero probability.
    """
    swept = _swept(program, quantum, outputs, with_faults=True)
    order = _order_of_faults(swept)
    effects = masks_of(taken(SparseRows(*swept["faults"]), order))
    columns = (swept[f"fault_{name}"][order].tolist() for name in ("steps", "groups", "patterns", "records"))
    result: list[Fault] = []
    for number, of_step in groupby(zip(*columns, effects, strict=True), itemgetter(0)):
        step = program.steps[number]
        for group, items in groupby(of_step, itemgetter(1)):
            faults = {
                pattern: Fault(
                    number,
                    group,
                    _factors(step, group, pattern),
                    () if record < 0 else (record,),
                    effect,
                )
                for _, _, pattern, record, effect in items
            }
            result += _with_sums(step, number, group, faults)
    return result


def _order_of_faults(swept: dict[str, Any]) -> npt.NDArray[np.intp]:
    """The numbers of the faults of a sweep in the order of the circuit."""
    return np.lexsort([swept[f"fault_{name}"] for name in ("patterns", "groups", "steps")])


def fault_effects(program: Program, quantum: QuantumProgram) -> Iterator[tuple[int, ...]]:
    """The detectors and observables that each fault flips, in the order of ``list_faults``.

    This is far less than the list of faults. Faults that are several independent events are left out.
    """
    swept = _swept(program, quantum, "detectors", with_faults=True)
    rows = SparseRows(*swept["faults"])
    starts, bits = rows.starts.tolist(), rows.bits
    return (tuple(bits[starts[k] : starts[k + 1]].tolist()) for k in _order_of_faults(swept).tolist())


def backward_sweep(program: Program, quantum: QuantumProgram, outputs: Outputs = "detectors") -> EffectTable:
    """Finds the effects of noise, outcomes and coins.

    Outputs are detectors, then observables; or, for ``"records"``, the records. Then come the signs of the
    expectation values, if the program has any.
    """
    leakage = scripts_of(program)
    decided = [InsertedBit(step, -1, record) for step, record in program.decisions]
    decays = [InsertedBit(decay.step, -1, decay.record) for decay in program.readout_decays]
    swept = _swept(program, quantum, outputs, inserted=[*leakage.bits, *decided, *decays])
    return _table(quantum, leakage, swept, program.readout_decays)


def outcome_effects(program: Program, quantum: QuantumProgram) -> EffectTable:
    """Finds the effects of outcomes, coins and decisions on the records, without those of noise."""
    decided = [InsertedBit(step, -1, record) for step, record in program.decisions]
    swept = _swept(program, quantum, "records", with_noise=False, inserted=decided)
    return _table(quantum, Scripts(), swept)


def _swept(
    program: Program,
    quantum: QuantumProgram,
    outputs: Outputs,
    *,
    with_noise: bool = True,
    with_faults: bool = False,
    inserted: Sequence[InsertedBit] = (),
) -> dict[str, Any]:
    """The arrays of the sweep."""
    bits = np.array([(bit.step, bit.qubit, bit.number) for bit in inserted], dtype=np.int64).ravel()
    try:
        with progress_of("backward sweep", len(program.steps), backward=True) as progress:
            return native_backward_sweep(
                program.native,
                quantum.native,
                outputs == "records",
                with_noise,
                with_faults,
                bits,
                MAX_EFFECT_BYTES,
                progress,
            )
    except MemoryError:
        raise ResourceLimitError(
            f"The effects of the circuit's noise on {_outputs(program, outputs)} need more than"
            f" {MAX_EFFECT_BYTES:,} bytes, the limit, or more memory than there is. Lower the repeat"
            " counts, or sample the circuit in parts."
        ) from None
    except OverflowError:
        raise ResourceLimitError(
            f"Errors and outcomes flip too many of the circuit's {_outputs(program, outputs)}: to find"
            f" which takes more than {MAX_EFFECT_WORK:,} bits, the limit. Reset qubits after"
            " measurements, lower the repeat counts, or sample the circuit in parts."
        ) from None


def _outputs(program: Program, outputs: Outputs) -> str:
    """How messages name the outputs."""
    if outputs == "records":
        return f"{program.num_records:,} measurement records"
    return f"{program.num_detectors + program.num_observables:,} detectors and observables"


def _table(
    quantum: QuantumProgram, leakage: Scripts, swept: dict[str, Any], decays: Sequence[ReadoutDecay] = ()
) -> EffectTable:
    """The effects that the sweep has found."""
    leaked, others = SparseRows(*swept["leakage"]).split(len(leakage.bits))
    decided, decayed = others.split(len(others) - len(decays))
    first_decay = swept["num_outputs"] + quantum.num_signs
    differs = [bool(quantum.base_records[decay.record]) != decay.value for decay in decays]
    last: dict[int, int] = {}
    predecessors = []
    for k, decay in enumerate(decays):
        predecessors.append(last.get(decay.chain, -1))
        last[decay.chain] = k
    changes = [first_decay + k for k, j in enumerate(predecessors) if differs[k] != (j >= 0 and differs[j])]
    return EffectTable(
        swept["num_outputs"],
        quantum.num_signs,
        constant=mask_of(swept["constant"].tolist()) ^ mask_of(changes),
        noise=NoiseEffects(SparseRows(*swept["noise"]), swept["rates"], swept["sites"]),
        coins=SparseRows(*swept["coins"]),
        outcomes=SparseRows(*swept["outcomes"]),
        tosses=SparseRows(*swept["tosses"]),
        base_outputs=mask_of(swept["base_outputs"].tolist()),
        leakage=LeakageEffects(leakage.scripts, leaked),
        decisions=decided,
        readouts=ReadoutEffects([decay.probability for decay in decays], predecessors, decayed),
    )


def _with_sums(step: Step, number: int, group: int, faults: dict[int, Fault]) -> Iterable[Fault]:
    """The faults of a group of targets, by their patterns, and those that the native sweep leaves out.

    It lists an error for each independent event, but several events can happen at once.
    """
    sums = further_patterns(step.channel) if isinstance(step, Noise) else ()
    if not sums:
        return faults.values()
    assert isinstance(step, Noise)
    herald = 2 * len(step.groups[group])
    every = dict(faults)
    for pattern, parts in sums:
        effect = reduce(xor, (faults[part].effect for part in parts))
        records: tuple[int, ...] = ()
        if step.first_herald is not None and pattern >> herald & 1:
            records = (step.first_herald + group,)
        every[pattern] = Fault(number, group, _factors(step, group, pattern), records, effect)
    return [every[pattern] for pattern in sorted(every)]


def _factors(step: Step, group: int, pattern: int) -> Factors:
    """The Pauli of a fault."""
    match step:
        case Noise(_, groups, _):
            codes = ((qubit, pattern >> 2 * k & 3) for k, qubit in enumerate(groups[group]))
            return tuple((qubit, code) for qubit, code in codes if code)
        case CorrelatedError(_, _, factors):
            return factors
    return ()  # a readout error
