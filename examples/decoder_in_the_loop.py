"""A T gate by lattice surgery whose S gate follows the decoded outcome: how often the gate is wrong.

    python -m examples.decoder_in_the_loop [--d 3 5] [--p 0.001] [--shots 1_000_000]

A perfect T state is consumed by a patch that is half of a Bell pair: a state |+> would hide a wrong S, as S
T|+> is a Pauli times T|+>. The merge measures Z_L Z_L of both patches, and if the outcome is 1, the patch
needs S. The outcome is decoded as soon as it is there. At the end the frame of the patch is decoded, too,
and the gate is undone: the Bell pair must come back. Prints 1 - fidelity, for decoded and for raw outcomes,
and for raw frames.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence

import stim

import stim_nonclifford as snc
from stim_nonclifford.generators.cultivation.noise import add_noise, noise_model
from stim_nonclifford.generators.teleportation.builder import TeleportationBuilder
from stim_nonclifford.generators.teleportation.injection import append_injection_resets, corner_of
from stim_nonclifford.generators.teleportation.surface_code import SurfaceCode
from stim_nonclifford.generators.teleportation.surgery import Patches, append_merge, append_split
from stim_nonclifford.generators.teleportation.syndrome_round import (
    CheckValues,
    append_comparison,
    append_syndrome_round,
    values_after_reset,
)


def teleported_t_gate(distance: int = 3, p: float = 1e-3) -> snc.Circuit:
    """A circuit in which a patch gets a T gate by lattice surgery, with noise from the merge on.

    Args:
        distance: Distance of the patches: 3, 5, 7, ...
        p: Strength of the noise, which is depolarizing.

    Returns:
        The circuit. Observables 0 and 1 are those of the Bell pair: if one of them is 1, the gate has failed.
    """
    return snc.Circuit(_Surgery(distance, p).written())


class _Surgery:
    """Writes the circuit, part by part: some parts have noise, and some have none."""

    def __init__(self, distance: int, p: float) -> None:
        self.distance = distance
        self.patches = Patches.of_distance(distance)
        right = 2 * self.patches.merged.end_column
        self.bit, self.reference = (right + 2, 0), (right + 4, 0)
        self.sites = [*self.patches.merged.sites, self.bit, self.reference]
        self.builder = TeleportationBuilder(self.sites)
        self.coordinates = self.builder.circuit.copy()
        self.noise = noise_model("uniform" if p else "none", p)
        self.parts = [(len(self.coordinates), False)]  # the end of each, and whether it has noise
        self.values: CheckValues = {}

    def end_part(self, *, noisy: bool) -> None:
        self.parts.append((len(self.builder.circuit), noisy))

    def decode(self, records: Sequence[int], decoder: str) -> int:
        """Decides the parity of records by one of the decoders."""
        decided = self.builder.parity(records, self.bit)
        measured = self.builder.circuit.pop()
        self.builder.circuit.append(measured.name, measured.targets_copy(), tag=f"DECODE(decoder={decoder})")
        return decided

    def measure_checks(self, patch: SurfaceCode, paulis: str = "XZ") -> None:
        """Measures checks without noise, and compares them with what is known."""
        for check in patch.checks:
            if check.pauli not in paulis:
                continue
            record = self.builder.measure_product(check.pauli, check.data)
            if check.ancilla in self.values:
                append_comparison(self.builder, check.ancilla, record, self.values)
            else:
                self.values[check.ancilla] = frozenset([record])

    def written(self) -> stim.Circuit:
        builder, patches = self.builder, self.patches
        magic, target = patches.magic, patches.target
        z_logical, x_logical = target.column(target.first_column), target.x_logical
        # The target and the reference are a Bell pair.
        builder.reset(z=[*target.data, self.reference, self.bit])
        self.values |= values_after_reset(target.checks, z=target.data)
        self.measure_checks(target, "X")
        sign_of_pair = builder.measure_product("X", [*x_logical, self.reference])
        # A perfect T state.
        self.values |= append_injection_resets(builder, magic)
        builder.t([corner_of(magic)])
        self.measure_checks(magic)
        self.end_part(noisy=False)
        outcome = append_merge(builder, patches, self.values, rounds=self.distance)
        self.end_part(noisy=True)
        decided = self.decode(outcome, "outcome")
        # An ideal fault-tolerant S: these checks are seen too late for the decision.
        self.measure_checks(target, "Z")
        builder.logical_s_if(decided, z_logical)
        self.end_part(noisy=False)
        sign = append_split(builder, patches, self.values)
        append_syndrome_round(builder, target.checks, self.values)
        self.end_part(noisy=True)
        self.measure_checks(target)
        # The decoded frame of X is applied, then the gate is undone, and the Bell pair is measured.
        flipped = builder.measure_product("Z", [*z_logical, self.reference])
        wrong_z = self.decode([flipped], "frame")
        builder.feedback("X", flipped, x_logical)
        builder.feedback("X", wrong_z, x_logical)
        builder.logical_t_dag(z_logical)
        x_of_pair = builder.measure_product("X", [*x_logical, self.reference])
        wrong_x = self.decode([x_of_pair, sign_of_pair, *sign], "frame")
        for k, record in enumerate([wrong_z, wrong_x]):
            [lookback] = builder._lookbacks([record])
            builder.circuit.append("OBSERVABLE_INCLUDE", [lookback], k)
        self.end_part(noisy=False)
        return self.with_noise()

    def with_noise(self) -> stim.Circuit:
        written, begin = self.coordinates.copy(), len(self.coordinates)
        bits = [self.sites.index(site) for site in (self.bit, self.reference)]
        for end, noisy in self.parts:
            part = self.builder.circuit[begin:end]
            if noisy:
                part = add_noise(self.coordinates + part, self.noise, bits=bits)[len(self.coordinates) :]
            written += part
            begin = end
        return written


def main(arguments: Sequence[str] | None = None) -> None:
    """Runs the example."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--d", type=int, nargs="+", default=[3, 5])
    parser.add_argument("--p", type=float, nargs="+", default=[1e-3])
    parser.add_argument("--shots", type=int, default=1_000_000)
    chosen = parser.parse_args(arguments)
    for distance in chosen.d:
        for p in chosen.p:
            circuit = teleported_t_gate(distance, p)
            for outcome, frame in (("pymatching", "pymatching"), ("raw", "pymatching"), ("raw", "raw")):
                decoders = {"outcome": outcome, "frame": frame}
                sampler = circuit.compile_detector_sampler(seed=5, decoder=decoders)
                counts = sampler.sample_counts(chosen.shots)
                rate = counts.errors / counts.shots
                error = (rate / counts.shots) ** 0.5
                print(f"d={distance} p={p} outcome {outcome}, frame {frame}: {rate:.3e} +- {error:.1e}")


if __name__ == "__main__":
    main()
