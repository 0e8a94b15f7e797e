"""T gates by lattice surgery whose S gates follow decoded outcomes: how often a chain of them is wrong.

    python -m examples.lattice_surgery.decoder_in_the_loop [--d 3 5] [--p 0.001] [--gates 1 2]
        [--shots 1_000_000] [--rounds FILE] [--retries 3]

The circuit is (H T)^gates on a patch that is half of a Bell pair: a state |+> would hide a wrong S, as S
T|+> is a Pauli times T|+>. Each T gate consumes a perfect T state. Its merge measures Z_L Z_L of both
patches, and if the outcome is 1, the patch needs S. The outcome is decoded as soon as it is there. At the
end the decoded frame of the patch is applied, and all gates are undone: the Bell pair must come back. Prints
1 - fidelity, for decoded and for raw outcomes, and for raw frames. With --rounds, draws 1 - fidelity of one
gate against the number of rounds of the merge that the decoder sees. With --retries, T states are injected
with noise, at most so many times while the patch waits, until no detector fires or until the decoder is sure
by a gap: prints the kept part of the shots and 1 - fidelity, counted and computed.
"""

from __future__ import annotations

import argparse
import itertools
from collections.abc import Sequence
from pathlib import Path

import matplotlib as mpl
import sinter
import stim

import stim_nonclifford as snc
from stim_nonclifford.generators.cultivation.noise import noise_model
from stim_nonclifford.generators.teleportation import teleportation_circuit
from stim_nonclifford.generators.teleportation.gate_by_surgery import GateBySurgery

MOMENTS_OF_ROUND = 6


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


def seeing(circuit: snc.Circuit, distance: int, rounds: int) -> snc.Circuit:
    """A circuit of gates in which the decoder of outcomes sees only the first rounds of each merge."""
    latency = MOMENTS_OF_ROUND * (distance - rounds)
    text = str(circuit).replace("DECODE(decoder=outcome)", f"DECODE(latency={latency}, decoder=outcome)")
    return snc.Circuit(text)


def measured(circuit: snc.Circuit, decoders: dict[str, str], shots: int) -> tuple[float, float]:
    """1 - fidelity, and its standard error."""
    counts = circuit.compile_detector_sampler(seed=5, decoder=decoders).sample_counts(shots)
    rate = counts.errors / counts.shots
    return rate, (rate / counts.shots) ** 0.5


def draw_rounds(distances: Sequence[int], p: float, shots: int, path: Path) -> None:
    """Draws the rate of one gate against the number of rounds that the decoder sees."""
    mpl.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(6, 4))
    for distance in distances:
        rounds = range(1, distance + 1)
        circuit = teleported_t_gate(distance, p)
        decoders = dict.fromkeys(("outcome", "frame"), "pymatching")
        found = [measured(seeing(circuit, distance, k), decoders, shots) for k in rounds]
        for k, (rate, error) in zip(rounds, found, strict=True):
            print(f"d={distance} p={p} rounds {k}: {rate:.3e} +- {error:.1e}")
        axes.errorbar(
            rounds, [rate for rate, _ in found], [error for _, error in found], label=f"d = {distance}"
        )
    axes.set(yscale="log", xlabel="rounds of the merge that the decoder sees", ylabel="1 - process fidelity")
    axes.set_xticks(range(1, max(distances) + 1))
    axes.legend()
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.tight_layout()
    figure.savefig(path, dpi=100)
    plt.close(figure)


def print_retries(distance: int, p: float, attempts: int, shots: int) -> None:
    """Prints the kept part and 1 - fidelity of a gate whose injection is tried several times."""
    for most, gap in ((1, None), (attempts, None), (attempts, 20), (attempts, 15), (attempts, 10)):
        tagged = teleportation_circuit(
            distance, p, correction="decoded", input="bell", attempts=most, gap=gap
        )
        circuit, mask = snc.Circuit(tagged), sinter.post_selection_mask_from_4th_coord(tagged)
        sampler = circuit.compile_detector_sampler(seed=5, decoder="pymatching", postselection_mask=mask)
        counts = sampler.sample_counts(shots)
        accepted = "silent" if gap is None else f"gap of {gap} dB"
        if not counts.kept:
            print(f"d={distance} p={p} attempts {most}, {accepted}: kept none")
            continue
        computed = circuit.logical_error_rate(
            decoder="pymatching", postselection_mask=mask, relative_error=0.03, seed=5
        )
        print(
            f"d={distance} p={p} attempts {most}, {accepted}: kept {counts.kept / shots:.5f},"
            f" {counts.rate:.3e} +- {counts.errors**0.5 / counts.kept:.1e};"
            f" computed {computed.logical_error_rate:.3e} +- {computed.standard_error:.1e};"
            f" {counts.errors} errors were counted"
        )


def main(arguments: Sequence[str] | None = None) -> None:
    """Runs the example."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--d", type=int, nargs="+", default=[3, 5])
    parser.add_argument("--p", type=float, nargs="+", default=[1e-3])
    parser.add_argument("--gates", type=int, nargs="+", default=[1])
    parser.add_argument("--shots", type=int, default=1_000_000)
    parser.add_argument(
        "--rounds", type=Path, metavar="FILE", help="draw the rate against rounds that are seen"
    )
    parser.add_argument("--retries", type=int, metavar="ATTEMPTS", help="try injections so often at most")
    chosen = parser.parse_args(arguments)
    if chosen.retries is not None:
        for distance, p in itertools.product(chosen.d, chosen.p):
            print_retries(distance, p, chosen.retries, chosen.shots)
        return
    if chosen.rounds is not None:
        draw_rounds(chosen.d, chosen.p[0], chosen.shots, chosen.rounds)
        return
    for distance, p, gates in itertools.product(chosen.d, chosen.p, chosen.gates):
        circuit = teleported_t_gate(distance, p, gates)
        for outcome, frame in (("pymatching", "pymatching"), ("raw", "pymatching"), ("raw", "raw")):
            decoders = {"outcome": outcome, "frame": frame}
            rate, error = measured(circuit, decoders, chosen.shots)
            what = f"d={distance} p={p} gates={gates} outcome {outcome}, frame {frame}"
            print(f"{what}: {rate:.3e} +- {error:.1e}")


if __name__ == "__main__":
    main()
