"""A T gate by lattice surgery, stage by stage, on a patch that may be half of a Bell pair.

With a decoder in the loop, the outcome of each merge is decoded as soon as it is there, and before the final
check the decoded frame is applied to the patch. An ideal S in between stands for a fault-tolerant gate: the Z
checks of the patch are measured just before it, without noise, but the decision does not see them. Without
them, an X before S and one after it look alike, and a physical S has this fault of second order.

A patch in |Y> makes the S, too: it is consumed as the T state is. The outcome of its merge says whether a Z
follows.
"""

from __future__ import annotations

from collections.abc import Sequence

import stim

from ..cultivation.builder import GateChoice, Pauli
from ..cultivation.color_code import Coord
from .builder import TeleportationBuilder
from .injection import append_injection_resets, append_plus_resets, corner_of
from .surface_code import SurfaceCode
from .surgery import Patches, append_merge, append_split
from .syndrome_round import CheckValues, append_noiseless_checks, append_syndrome_round, values_after_reset


class GateBySurgery:
    """Writes the stages of teleported T gates on one patch.

    Attributes:
        builder: What is written.
        patches: The magic patch and the target.
        bit: A classical bit, the qubit after those of the patches.
        reference: The other half of a Bell pair, the qubit after the bit; there is none without the pair.
        values: What is known of the checks.
    """

    def __init__(
        self,
        distance: int,
        gate: GateChoice = "T",
        *,
        bell: bool,
        outcome_decoder: str = "",
        frame_decoder: str = "",
    ) -> None:
        self.patches = Patches.of_distance(distance)
        right = 2 * self.patches.merged.end_column
        self.bit, self.reference = (right + 2, 0), (right + 4, 0)
        self.noiseless = [self.bit, self.reference] if bell else [self.bit]
        self.builder = TeleportationBuilder([*self.patches.merged.sites, *self.noiseless], gate=gate)
        self.values: CheckValues = {}
        self._distance, self._gate, self._bell = distance, gate, bell
        self._decoders = outcome_decoder, frame_decoder
        self._signs: list[int] = []  # records whose parity is the sign of X_L, or X_L X of the Bell pair

    @property
    def z_logical(self) -> tuple[Coord, ...]:
        """The Z_L of the target that the gates turn about."""
        return self.patches.target.column(self.patches.target.first_column)

    @property
    def x_logical(self) -> tuple[Coord, ...]:
        """The X_L of the target."""
        return self.patches.target.x_logical

    def frame_products(self) -> list[dict[Coord, Pauli]]:
        """Z_L and X_L of the target, as products of Paulis."""
        return _products(self.z_logical, self.x_logical)

    def measure_checks(self, patch: SurfaceCode, paulis: str = "XZ") -> None:
        """Measures checks without noise, and compares them with what is known."""
        checks = (check for check in patch.checks if check.pauli in paulis)
        append_noiseless_checks(self.builder, checks, self.values)

    def prepare_bell_pair(self) -> None:
        """Makes the target half of a Bell pair, without noise."""
        target = self.patches.target
        self.builder.reset(z=[*target.data, *self.noiseless])
        self.values |= values_after_reset(target.checks, z=target.data)
        self.measure_checks(target, "X")
        self._signs = [self.builder.measure_product("X", [*self.x_logical, self.reference])]
        self.builder.end_part(noisy=False)

    def prepare_encoded_plus(self) -> None:
        """Prepares the target in logical |+> without noise, with all checks known.

        If Z checks were random, an X before the first round would flip Z_L and no detector, and do nothing to
        |+>. Decoders could then answer either way, and not always in the same way.
        """
        self.builder.reset(x=self.patches.target.data)
        self.values |= values_after_reset(self.patches.target.checks, x=self.patches.target.data)
        self.measure_checks(self.patches.target, "Z")
        self.builder.end_part(noisy=False)

    def prepare_plus(self) -> None:
        """Resets the target to logical |+>, in the current moment."""
        self.values |= append_plus_resets(self.builder, self.patches.target)

    def inject(self, *, rounds: int, into_plus: bool) -> None:
        """Injects a T state with noise, and meanwhile measures the checks of the target."""
        builder, magic = self.builder, self.patches.magic
        self.values |= append_injection_resets(builder, magic)
        if into_plus:
            self.prepare_plus()
        builder.tick()
        builder.t([corner_of(magic)])
        for _ in range(rounds):
            append_syndrome_round(builder, [*magic.checks, *self.patches.target.checks], self.values)

    def inject_until_accepted(self, *, rounds: int, attempts: int, gap: float | None) -> None:
        """Injects a T state again until it is accepted; the last attempt postselects.

        It is accepted if no detector of the magic patch fires, or if the decoder is sure of both logical
        operators of the patch by a gap in decibels. The first round of an attempt is compared with the
        records before it: those of the attempt before, or of a noiseless round with the same places.
        """
        builder, patches, magic = self.builder, self.patches, self.patches.magic
        asked = [] if gap is None else _products(magic.column(magic.end_column - 1), magic.x_logical)
        # In a round, Z checks of both patches have their records before X checks.
        checks = [*patches.magic.checks, *patches.target.checks]
        for check in sorted(checks, key=lambda check: check.pauli != "Z"):
            if check in patches.target.checks:
                append_noiseless_checks(builder, [check], self.values)
            else:
                builder.zeros(1)
        if asked:
            builder.zeros(len(asked))
        builder.end_part(noisy=False)
        first = builder.circuit.num_measurements
        builder.begin_attempt([check.ancilla for check in patches.magic.checks] if gap is None else ())
        self.inject(rounds=rounds, into_plus=False)
        if gap is not None:
            builder.sure(asked, gap)
        moved = builder.end_attempt(attempts)
        for site, known in self.values.items():
            self.values[site] = frozenset(record + moved * (record >= first) for record in known)
        for site, records in builder.conditions:
            builder.detector(site, records)
        if asked:
            builder.postselect_if_unsure([next(iter(each)) for each in asked])

    def prepare_magic(self, *, y_if: int | None = None, error: float = 0.0) -> None:
        """Prepares a T state; or |Y> if the record ``y_if`` is 1, and |+> if it is 0.

        There is no noise, but for a logical Z with the probability ``error``: Z_L is Z of the corner here.
        """
        builder, magic = self.builder, self.patches.magic
        for check in magic.checks:
            self.values.pop(check.ancilla, None)
        self.values |= append_injection_resets(builder, magic)
        if y_if is None:
            builder.t([corner_of(magic)])
        else:
            builder.logical_s_if(y_if, [corner_of(magic)])
        if error:
            builder.z_error([corner_of(magic)], error)
        self.measure_checks(magic)
        builder.end_part(noisy=False)

    def merge(self) -> list[int]:
        """Merges the patches; returns the records whose parity is the outcome."""
        patches = self.patches
        return append_merge(
            self.builder,
            patches.merged.checks,
            "Z",
            region=patches.seam,
            new=patches.new,
            values=self.values,
            rounds=self._distance,
        )

    def decide(self, outcome: Sequence[int]) -> int:
        """Decodes the outcome of a merge."""
        return self.builder.decode(outcome, self.bit, self._decoders[0])

    def ideal_s_if(self, record: int) -> None:
        """Applies a fault-tolerant S without noise if a record is 1."""
        self.builder.end_part(noisy=True)
        self.measure_checks(self.patches.target, "Z")
        self.builder.logical_s_if(record, self.z_logical)
        self.builder.end_part(noisy=False)

    def split(self) -> list[int]:
        """Splits the patches, and measures the checks of the target once."""
        patches = self.patches
        record_of = append_split(
            self.builder,
            patches.merged.checks,
            "Z",
            measured=[*patches.magic.data, *patches.seam],
            kept={check.ancilla for check in patches.target.checks},
            values=self.values,
        )
        sign = [record_of[site] for site in patches.merged.x_logical if site in record_of]
        append_syndrome_round(self.builder, self.patches.target.checks, self.values)
        return sign

    def flip_frame(self, records: Sequence[int]) -> None:
        """Applies Z_L to the target for each record that is 1."""
        for record in records:
            self.builder.feedback("Z", record, self.z_logical)

    def s_by_patch_if(self, record: int) -> None:
        """Consumes a patch that is in |Y> if a record is 1, and in |+> otherwise."""
        builder = self.builder
        builder.end_part(noisy=True)
        self.prepare_magic(y_if=record)
        builder.begin_stage("second merge")
        decided = self.decide(self.merge())
        builder.begin_stage("second split")
        self.flip_frame(self.split())
        if self._gate == "T":
            # The outcome 1 makes S_DAG of S, but nothing of the identity. S twice is a Pauli in the proxy.
            self.flip_frame([builder.both([record, decided], self.bit)])

    def apply_decoded_frame(self) -> None:
        """Ends the noise, measures the checks of the target, and undoes the errors that a decoder finds."""
        builder = self.builder
        builder.end_part(noisy=True)
        self.measure_checks(self.patches.target)
        of_z, of_x = builder.frames(self.frame_products(), self._decoders[1])
        builder.feedback("X", of_z, self.x_logical)
        builder.feedback("Z", of_x, self.z_logical)

    def measure_input(self, sign: Sequence[int] = ()) -> None:
        """Measures whether the input is back: X_L is +1, or the Bell pair is there. These are observables.

        The sign of X_L has changed if the parity of ``sign`` is odd.
        """
        builder, signs = self.builder, [*sign, *self._signs]
        if not self._bell:
            builder.observable([*signs, builder.measure_product("X", self.x_logical)])
            return
        products: list[tuple[Pauli, tuple[Coord, ...], list[int]]]
        products = [("Z", self.z_logical, []), ("X", self.x_logical, signs)]
        for k, (pauli, sites, records) in enumerate(products):
            records = [*records, builder.measure_product(pauli, [*sites, self.reference])]
            end = builder.circuit.num_measurements
            lookbacks = [stim.target_rec(record - end) for record in records]
            builder.circuit.append("OBSERVABLE_INCLUDE", lookbacks, k)


def _products(z_logical: Sequence[Coord], x_logical: Sequence[Coord]) -> list[dict[Coord, Pauli]]:
    """Z_L and X_L on the qubits at some sites, as products of Paulis."""
    return [dict.fromkeys(z_logical, "Z"), dict.fromkeys(x_logical, "X")]
