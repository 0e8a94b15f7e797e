"""T gates by lattice surgery whose S gates follow decoded outcomes: how often a chain of them is wrong.

    python -m examples.decoder_in_the_loop [--d 3 5] [--p 0.001] [--gates 1 2] [--shots 1_000_000]

The circuit is (H T)^gates on a patch that is half of a Bell pair: a state |+> would hide a wrong S, as S
T|+> is a Pauli times T|+>. Each T gate consumes a perfect T state. Its merge measures Z_L Z_L of both
patches, and if the outcome is 1, the patch needs S. The outcome is decoded as soon as it is there. At the
end the decoded frame of the patch is applied, and all gates are undone: the Bell pair must come back. Prints
1 - fidelity, for decoded and for raw outcomes, and for raw frames.
"""

from __future__ import annotations

import argparse
import itertools
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


def teleported_t_gate(distance: int = 3, p: float = 1e-3, gates: int = 1) -> snc.Circuit:
    """A circuit in which a patch gets T gates by lattice surgery, each followed by H.

    Merges and splits have noise. H and S are ideal gates.

    Args:
        distance: Distance of the patches: 3, 5, 7, ...
        p: Strength of the noise, which is depolarizing.
        gates: Number of T gates.

    Returns:
        The circuit. The gates have failed if one of its observables, those of the Bell pair, is 1.
    """
    return snc.Circuit(_Surgery(distance, p).written(gates))


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

    def written(self, gates: int) -> stim.Circuit:
        """The whole circuit."""
        builder, target = self.builder, self.patches.target
        z_logical, x_logical = target.column(target.first_column), target.x_logical
        # The target and the reference are a Bell pair.
        builder.reset(z=[*target.data, self.reference, self.bit])
        self.values |= values_after_reset(target.checks, z=target.data)
        self.measure_checks(target, "X")
        sign_of_pair = builder.measure_product("X", [*x_logical, self.reference])
        for _ in range(gates):
            self.append_t_gate()
            # An ideal H.
            self.measure_checks(target)
            z, x = self.product("Z", z_logical), self.product("X", x_logical)
            builder.circuit += stim.Circuit(f"SPP {z}\nSPP {x}\nSPP {z}")
        self.end_part(noisy=False)
        self.measure_checks(target)
        # The decoded frame is applied, all gates are undone, and the Bell pair is measured.
        builder.circuit += snc.Circuit(f"FRAME(decoder=frame) {z} {x}").to_stim()
        of_z, of_x = (builder.circuit.num_measurements - k for k in (2, 1))
        builder.feedback("X", of_z, x_logical)
        builder.feedback("Z", of_x, z_logical)
        for _ in range(gates):
            builder.circuit += stim.Circuit(f"SPP_DAG {z}\nSPP_DAG {x}\nSPP_DAG {z}")
            builder.logical_t_dag(z_logical)
        builder.measure_product("Z", [*z_logical, self.reference])
        builder.circuit.append("OBSERVABLE_INCLUDE", [stim.target_rec(-1)], 0)
        builder.measure_product("X", [*x_logical, self.reference])
        sign = stim.target_rec(sign_of_pair - builder.circuit.num_measurements)
        builder.circuit.append("OBSERVABLE_INCLUDE", [stim.target_rec(-1), sign], 1)
        self.end_part(noisy=False)
        return self.with_noise()

    def append_t_gate(self) -> None:
        """Consumes a perfect T state."""
        builder, patches = self.builder, self.patches
        magic, target = patches.magic, patches.target
        z_logical = target.column(target.first_column)
        for check in magic.checks:
            self.values.pop(check.ancilla, None)
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
        for record in sign:
            builder.feedback("Z", record, z_logical)

    def product(self, pauli: str, sites: Sequence[tuple[int, int]]) -> str:
        """The product of Paulis on sites, as text."""
        return "*".join(f"{pauli}{self.sites.index(site)}" for site in sites)

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
    parser.add_argument("--gates", type=int, nargs="+", default=[1])
    parser.add_argument("--shots", type=int, default=1_000_000)
    chosen = parser.parse_args(arguments)
    for distance, p, gates in itertools.product(chosen.d, chosen.p, chosen.gates):
        circuit = teleported_t_gate(distance, p, gates)
        for outcome, frame in (("pymatching", "pymatching"), ("raw", "pymatching"), ("raw", "raw")):
            decoders = {"outcome": outcome, "frame": frame}
            counts = circuit.compile_detector_sampler(seed=5, decoder=decoders).sample_counts(chosen.shots)
            rate = counts.errors / counts.shots
            error = (rate / counts.shots) ** 0.5
            what = f"d={distance} p={p} gates={gates} outcome {outcome}, frame {frame}"
            print(f"{what}: {rate:.3e} +- {error:.1e}")


if __name__ == "__main__":
    main()
