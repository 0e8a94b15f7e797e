"""Steps of a program by lattice surgery, with a decoder that decides each outcome.

A gate consumes a magic patch: T|+> for T, and S|+> for S, in the basis of the product P. The patches are
merged for d rounds, which measures P times the Pauli of the magic patch. All qubits of the region and of the
magic patch are then measured in the other basis. Let m be the outcome of the merge, and f_k the parity of the
records along the path from patch k to the magic patch and through it. Then the patches have had the gate, up
to the Pauli of the basis on each patch k with f_k = 1, and, for m = 1, another rotation: S about P after T,
which is a gate on the patches, so that a decoder in the loop decides m; and P itself after S.

S about P is a fault-tolerant gate without noise: the checks of its basis are measured just before it, without
noise, but no decision before it sees them (see ``teleportation.gate_by_surgery``). Or a second patch makes
it, which is consumed in the same way: it is prepared in S|+> if m is 1, and in |+> otherwise.

Magic patches are injected at their corner with noise, while the others wait, and detectors of the injection
postselect; or they are prepared without noise.

At the end, a state is compared with the ideal one without noise: all checks are measured, a decoder says
which logical Paulis errors have flipped, the ideal gates are undone, and what was prepared is measured.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Literal

import stim

from ..cultivation.builder import GateChoice
from ..cultivation.color_code import Coord
from ..teleportation.builder import TeleportationBuilder
from ..teleportation.injection import append_injection_resets, corner_of
from ..teleportation.surface_code import Check
from ..teleportation.surgery import Basis, append_merge, append_split, other_basis
from ..teleportation.syndrome_round import (
    CheckValues,
    append_noiseless_checks,
    append_syndrome_round,
    values_after_reset,
)
from .layout import Layout
from .program import SurgeryStep

Ending = Literal["measurements", "state", "process"]


@dataclass(frozen=True)
class SurgeryOptions:
    """How the steps of a program are made.

    Attributes:
        gate: "T", or "S" for the S-proxy.
        magic_error: The probability that a T state has the error of its basis.
        inject_t: Whether T states are injected with noise.
        inject_y: Whether the states of S gates are injected with noise.
        rounds: Rounds of checks of an injection.
        s_by_patch: Whether S after T consumes a patch.
        ending: Whether the program ends with its measurements, or its state is compared with the ideal one,
            or that of half of Bell pairs.
    """

    gate: GateChoice = "T"
    magic_error: float = 0.0
    inject_t: bool = False
    inject_y: bool = False
    rounds: int = 2
    s_by_patch: bool = False
    ending: Ending = "measurements"


class LogicalBuilder:
    """A program on patches, as a circuit.

    Args:
        layout: The patches; the last one is the magic patch.
        steps: The program.
        options: How its steps are made.

    Attributes:
        builder: What is written.
        noiseless: A classical bit and the references of Bell pairs, which have no noise: the last qubits.
        waiting: The qubits that hold the state of the program.
    """

    def __init__(self, layout: Layout, steps: Sequence[SurgeryStep], options: SurgeryOptions) -> None:
        self._layout, self._options = layout, options
        self._magic = layout.num_patches - 1
        self._merged = cache(layout.merged)
        sites = {site for code in layout.patches[: self._magic] for site in code.sites}
        for step in steps:
            merged = self._merged(step.basis, self._patches_of(step))
            sites.update(merged.region, *((check.ancilla, *check.data) for check in merged.checks))
        right = 2 * layout.patches[self._magic].end_column + 4 * layout.distance
        num_references = self._magic if options.ending == "process" else 0
        self._bit: Coord = (right, 0)
        self._references: list[Coord] = [(right + 2 * k + 2, 0) for k in range(num_references)]
        self.noiseless = [self._bit, *self._references]
        self.waiting = [site for code in layout.patches[: self._magic] for site in code.data]
        self.builder = TeleportationBuilder([*sorted(sites), *self.noiseless], gate=options.gate)
        self.builder.postselected = ()
        self._values: CheckValues = {}
        self._num_measured = 0
        self._prepare()
        for step in steps:
            if step.gate == "M":
                self._measure(step)
            else:
                self._rotate(step)
        self.builder.end_part(noisy=True)
        if options.ending != "measurements":
            self._compare(steps)

    def _patches_of(self, step: SurgeryStep) -> tuple[int, ...]:
        """The patches that are merged, the magic patch at the end."""
        return step.qubits if step.gate == "M" else (*step.qubits, self._magic)

    def _checks_of(self, patches: Iterable[int]) -> list[Check]:
        return [check for k in patches for check in self._layout.patches[k].checks]

    def _prepare(self) -> None:
        """Prepares all patches but the magic one in logical |0> without noise, with all checks known.

        If X checks were random, a Z before the first round would flip X_L and no detector, and do nothing to
        |0>. Decoders could then answer either way, and not always in the same way.
        """
        codes = self._layout.patches[: self._magic]
        data = [site for code in codes for site in code.data]
        self.builder.begin_stage("encoded |0>")
        self.builder.reset(z=data)
        checks = self._checks_of(range(self._magic))
        self._values |= values_after_reset(checks, z=data)
        in_x = (check for check in checks if check.pauli == "X")
        append_noiseless_checks(self.builder, in_x, self._values)
        if self._references:
            self.builder.reset(z=self._references)
        for k, reference in enumerate(self._references):
            odd = self.builder.measure_product("X", [*self._layout.logical(k, "X"), reference])
            self.builder.feedback("Z", odd, [reference])
        self.builder.end_part(noisy=False)

    def _rotate(self, step: SurgeryStep) -> None:
        builder = self.builder
        outcome = self._consume(step)
        if step.gate == "S":
            raw = builder.parity(outcome, self._bit)
            self._apply(step, raw)
            return
        decided = builder.decode(outcome, self._bit)
        builder.end_part(noisy=True)
        if self._options.s_by_patch:
            self._s_by_patch_if(decided, step)
            return
        checks = (check for check in self._checks_of(step.qubits) if check.pauli == step.basis)
        append_noiseless_checks(builder, checks, self._values)
        sites = [site for k in step.qubits for site in self._layout.logical(k, step.basis)]
        builder.logical_s_if(decided, sites, step.basis, inverse=step.inverted)
        builder.end_part(noisy=False)

    def _s_by_patch_if(self, decided: int, step: SurgeryStep) -> None:
        """Consumes a patch that makes S if a record is 1, and does nothing otherwise."""
        builder = self.builder
        reversed_ = builder.decode(self._consume(replace(step, gate="S"), if_=decided), self._bit)
        if self._options.gate == "T":
            # The outcome 1 makes S_DAG of S, but nothing of the identity. S twice is a Pauli in the proxy.
            self._apply(step, builder.both([decided, reversed_], self._bit))
        builder.end_part(noisy=True)

    def _consume(self, step: SurgeryStep, if_: int | None = None) -> list[int]:
        """Prepares a magic patch and consumes it; returns the records whose parity is the outcome."""
        self.builder.begin_stage(f"{step.gate} state")
        self._prepare_magic(step, if_)
        outcome = self._merge(step)
        records = self._split(step)
        self.builder.begin_stage("correction")
        self._correct(step, records)
        return outcome

    def _apply(self, step: SurgeryStep, record: int) -> None:
        """Applies the product of a step if a record is 1."""
        for k in step.qubits:
            self.builder.feedback(step.basis, record, self._layout.logical(k, step.basis))

    def _measure(self, step: SurgeryStep) -> None:
        outcome = self._merge(step)
        records = self._split(step)
        self.builder.begin_stage("decision")
        self._correct(step, records)
        decided = self.builder.decode(outcome, self._bit, inverted=step.inverted)
        self._observe(decided)

    def _observe(self, *records: int) -> None:
        """Declares the parity of records as the next observable."""
        circuit = self.builder.circuit
        lookbacks = [stim.target_rec(record - circuit.num_measurements) for record in records]
        circuit.append("OBSERVABLE_INCLUDE", lookbacks, self._num_measured)
        self._num_measured += 1

    def _compare(self, steps: Sequence[SurgeryStep]) -> None:
        """Undoes the ideal gates without noise, and measures what was prepared: all observables are 0."""
        builder, layout, qubits = self.builder, self._layout, range(self._magic)
        builder.begin_stage("comparison")
        append_noiseless_checks(builder, self._checks_of(qubits), self._values)
        products: list[tuple[int, Basis]] = [(k, basis) for k in qubits for basis in ("Z", "X")]
        flipped = builder.frames(dict.fromkeys(layout.logical(k, basis), basis) for k, basis in products)
        for (k, basis), record in zip(products, flipped, strict=True):
            builder.feedback(other_basis(basis), record, layout.logical(k, other_basis(basis)))
        for step in reversed(steps):
            name = "SPP" if step.inverted else "SPP_DAG"
            tag = "[T]" if step.gate == self._options.gate == "T" else ""
            sites = [site for k in step.qubits for site in layout.logical(k, step.basis)]
            builder.circuit += stim.Circuit(
                f"{name}{tag} {builder.product(dict.fromkeys(sites, step.basis))}"
            )
        for k, basis in products if self._references else products[::2]:
            reference = self._references[k : k + 1]
            self._observe(builder.measure_product(basis, [*layout.logical(k, basis), *reference]))
        builder.end_part(noisy=False)

    def _prepare_magic(self, step: SurgeryStep, if_: int | None) -> None:
        """Prepares the magic patch in the state of a step, or, if the record ``if_`` is 0, of no gate."""
        builder, code, options = self.builder, self._layout.patches[self._magic], self._options
        injected = options.inject_t if step.gate == "T" else options.inject_y
        builder.end_part(noisy=True)
        self._values |= append_injection_resets(builder, code, other_basis(step.basis))
        if injected:
            builder.tick()
        self._turn_corner(step, if_)
        if injected:
            builder.postselected = [check.ancilla for check in code.checks]
            for _ in range(options.rounds):
                append_syndrome_round(builder, self._checks_of(range(self._magic + 1)), self._values)
            builder.postselected = ()
        else:
            append_noiseless_checks(builder, code.checks, self._values)
        builder.end_part(noisy=injected)

    def _turn_corner(self, step: SurgeryStep, if_: int | None) -> None:
        """Applies the gate of a step to the corner of the magic patch."""
        builder, corner = self.builder, corner_of(self._layout.patches[self._magic])
        if if_ is not None:
            builder.logical_s_if(if_, [corner], step.basis, inverse=step.inverted)
            return
        qubit = builder.product({corner: step.basis})[1:]
        is_t = step.gate == self._options.gate == "T"
        name = {"Z": "S[T]" if is_t else "S", "X": "I[R_X(theta=0.25*pi)]" if is_t else "SQRT_X"}[step.basis]
        if step.inverted:
            inverses = {"S[T]": "S_DAG[T]", "S": "S_DAG", "SQRT_X": "SQRT_X_DAG"}
            name = inverses.get(name, "I[R_X(theta=-0.25*pi)]")
        builder.circuit += stim.Circuit(f"{name} {qubit}")
        if self._options.magic_error and step.gate == "T":
            builder.circuit += stim.Circuit(f"{step.basis}_ERROR({self._options.magic_error!r}) {qubit}")

    def _merge(self, step: SurgeryStep) -> list[int]:
        """Merges the patches for d rounds; returns the records whose parity is the outcome."""
        patches = self._patches_of(step)
        merged = self._merged(step.basis, patches)
        self.builder.begin_stage(f"merge {step.basis}")
        return append_merge(
            self.builder,
            merged.checks,
            step.basis,
            region=merged.region,
            new=merged.new,
            values=self._values,
            rounds=self._layout.distance,
            idle=self._checks_of(k for k in range(self._magic) if k not in patches),
        )

    def _split(self, step: SurgeryStep) -> list[list[int]]:
        """Measures the region and the magic patch, and all checks once.

        Returns for each patch, but the magic one, or the last one of a measurement, the records whose parity
        is the sign that its logical operator of the other Pauli has got.
        """
        builder = self.builder
        builder.end_part(noisy=True)
        merged, other = self._merged(step.basis, self._patches_of(step)), other_basis(step.basis)
        builder.begin_stage("split")
        taken_out: Sequence[Coord] = ()
        through: Sequence[Coord] = ()
        if step.gate != "M":
            taken_out = self._layout.patches[self._magic].data
            through = self._layout.logical(self._magic, other)
        checks = self._checks_of(range(self._magic))
        record_of = append_split(
            builder,
            merged.checks,
            step.basis,
            measured=[*merged.region, *taken_out],
            kept={check.ancilla for check in checks},
            values=self._values,
        )
        append_syndrome_round(builder, checks, self._values)
        return [[record_of[site] for site in [*path, *through]] for path in merged.paths]

    def _correct(self, step: SurgeryStep, records: Iterable[Sequence[int]]) -> None:
        """Applies the Pauli of a step to each patch whose other logical operator has changed its sign."""
        for k, mine in zip(self._patches_of(step), records, strict=False):
            flipped = self.builder.parity(mine, self._bit)
            self.builder.feedback(step.basis, flipped, self._layout.logical(k, step.basis))
