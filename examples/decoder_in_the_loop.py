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
from stim_nonclifford.generators.cultivation.noise import noise_model
from stim_nonclifford.generators.teleportation.gate_by_surgery import GateBySurgery


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
    surgery = GateBySurgery(distance, bell=True, outcome_decoder="outcome", frame_decoder="frame")
    builder = surgery.builder
    surgery.prepare_bell_pair()
    z, x = map(builder.product, surgery.frame_products())
    for _ in range(gates):
        surgery.prepare_magic()
        surgery.ideal_s_if(surgery.decide(surgery.merge()))
        sign = surgery.split()
        builder.end_part(noisy=True)
        surgery.flip_frame(sign)
        # An ideal H.
        surgery.measure_checks(surgery.patches.target)
        builder.circuit += stim.Circuit(f"SPP {z}\nSPP {x}\nSPP {z}")
        builder.end_part(noisy=False)
    surgery.apply_decoded_frame()
    for _ in range(gates):
        builder.circuit += stim.Circuit(f"SPP_DAG {z}\nSPP_DAG {x}\nSPP_DAG {z}")
        builder.logical_t_dag(surgery.z_logical)
    surgery.measure_input()
    return snc.Circuit(builder.with_noise(noise_model("uniform" if p else "none", p), surgery.noiseless))


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
