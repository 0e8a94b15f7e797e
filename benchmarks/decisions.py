"""The speed of T gates by lattice surgery with a decoder in the loop, decoding included.

python -m benchmarks.decisions [--seconds 5]

The time until the first shot is that of the plan, the decoders and their models. Shots per second are those
of one thread, after the answers of the decoders to the commonest detectors are stored.
"""

from __future__ import annotations

import argparse
import time

from examples.lattice_surgery.decoder_in_the_loop import teleported_t_gate

from .measuring import description, machine, rate_of

CIRCUITS = ((3, 1), (3, 4), (3, 16), (5, 1), (5, 8))
"""Distances and numbers of T gates."""

_DECODERS = dict.fromkeys(("outcome", "frame"), "pymatching")
_MOST_SHOTS = 1 << 18


def main() -> None:
    """Prints a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--seconds", type=float, default=5)
    parser.add_argument("--p", type=float, default=1e-3, help="strength of the depolarizing noise")
    arguments = parser.parse_args()
    clock = time.process_time
    print(description(machine()))
    print("| d | T gates | decisions | width | s until the first shot | shots/s |")
    print("|---|---|---|---|---|---|")
    for distance, gates in CIRCUITS:
        circuit = teleported_t_gate(distance, arguments.p, gates)
        begin = clock()
        sampler = circuit.compile_detector_sampler(seed=1, decoder=_DECODERS, threads=1)
        sampler.sample_counts(1)
        first = clock() - begin
        sampler.sample_counts(_MOST_SHOTS // 4)
        speed = rate_of(sampler.sample_counts, arguments.seconds, most=_MOST_SHOTS, clock=clock)
        width = circuit.without_decisions().plan("sample_counts").peak_width
        decisions = len(circuit.decision_points())
        print(f"| {distance} | {gates} | {decisions} | {width} | {first:.1f} | {speed:.2g} |", flush=True)


if __name__ == "__main__":
    main()
