"""Steps of a program by lattice surgery, with a decoder that decides each outcome.

A gate consumes a magic patch: T|+> for T, and S|+> for S, in the basis of the product P. The patches are
merged for d rounds, which measures P times the Pauli of the magic patch. All qubits of the region and of the
magic patch are then measured in the other basis. Let m be the outcome of the merge, and f_k the parity of the
records along the path from patch k to the magic patch and through it. Then the patches have had the gate, up
to the Pauli of the basis on each patch k with f_k = 1, and, for m = 1, another rotation: S about P after T,
which is a gate on the patches, so that a decoder in the loop decides m; and P itself after S.

S about P is a fault-tolerant gate without noise: the checks of its basis are measured just before it, without
noise, but no decision before it sees them (see ``teleportation.gate_by_surgery``).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache

import stim

from ..cultivation.builder import GateChoice
from ..cultivation.color_code import Coord
from ..teleportation.builder import TeleportationBuilder
from ..teleportation.injection import append_injection_resets, corner_of
from ..teleportation.surface_code import Check
from ..teleportation.surgery import append_merge, append_split, other_basis
from ..teleportation.syndrome_round import (
    CheckValues,
    append_noiseless_checks,
    append_syndrome_round,
    values_after_reset,
)
from .layout import Layout
from .program import SurgeryStep


class LogicalBuilder:
    """A program on patches, as a circuit.

    Args:
        layout: The patches; the last one is the magic patch.
        steps: The program.
        gate: "T", or "S" for the S-proxy.
        magic_error: The probability that a T state has the error of its basis.

    Attributes:
        builder: What is written.
        bit: A classical bit, the last qubit.
    """

    def __init__(
        self, layout: Layout, steps: Sequence[SurgeryStep], gate: GateChoice, magic_error: float
    ) -> None:
        self._layout, self._gate, self._magic_error = layout, gate, magic_error
        self._magic = layout.num_patches - 1
        self._merged = cache(layout.merged)
        sites = {site for code in layout.patches[: self._magic] for site in code.sites}
        for step in steps:
            merged = self._merged(step.basis, self._patches_of(step))
            sites.update(merged.region, *((check.ancilla, *check.data) for check in merged.checks))
        self.bit: Coord = (2 * layout.patches[self._magic].end_column + 4 * layout.distance, 0)
        self.builder = TeleportationBuilder([*sorted(sites), self.bit], gate=gate)
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
        self.builder.end_part(noisy=False)

    def _rotate(self, step: SurgeryStep) -> None:
        builder = self.builder
        builder.begin_stage(f"{step.gate} state")
        self._prepare_magic(step)
        outcome = self._merge(step)
        records = self._split(step)
        builder.begin_stage("correction")
        self._correct(step, records)
        if step.gate == "S":
            raw = builder.parity(outcome, self.bit)
            for k in step.qubits:
                builder.feedback(step.basis, raw, self._layout.logical(k, step.basis))
            return
        decided = builder.decode(outcome, self.bit)
        builder.end_part(noisy=True)
        checks = (check for check in self._checks_of(step.qubits) if check.pauli == step.basis)
        append_noiseless_checks(builder, checks, self._values)
        sites = [site for k in step.qubits for site in self._layout.logical(k, step.basis)]
        builder.logical_s_if(decided, sites, step.basis, inverse=step.inverted)
        builder.end_part(noisy=False)

    def _measure(self, step: SurgeryStep) -> None:
        outcome = self._merge(step)
        records = self._split(step)
        self.builder.begin_stage("decision")
        self._correct(step, records)
        decided = self.builder.decode(outcome, self.bit, inverted=step.inverted)
        lookback = stim.target_rec(decided - self.builder.circuit.num_measurements)
        self.builder.circuit.append("OBSERVABLE_INCLUDE", [lookback], self._num_measured)
        self._num_measured += 1

    def _prepare_magic(self, step: SurgeryStep) -> None:
        """Prepares the magic patch without noise."""
        builder, code = self.builder, self._layout.patches[self._magic]
        builder.end_part(noisy=True)
        self._values |= append_injection_resets(builder, code, other_basis(step.basis))
        corner = builder.product({corner_of(code): step.basis})
        name = "SPP_DAG" if step.inverted else "SPP"
        tag = f"[{self._gate}]" if step.gate == self._gate == "T" else ""
        builder.circuit += stim.Circuit(f"{name}{tag} {corner}")
        if self._magic_error and step.gate == "T":
            builder.circuit += stim.Circuit(f"{step.basis}_ERROR({self._magic_error!r}) {corner[1:]}")
        append_noiseless_checks(builder, code.checks, self._values)
        builder.end_part(noisy=False)

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
            flipped = self.builder.parity(mine, self.bit)
            self.builder.feedback(step.basis, flipped, self._layout.logical(k, step.basis))
