"""Samples measurements, as `stim sample` does, of circuits with T gates.

stim-nonclifford sample --in circuit.stim --shots 1000 --out_format b8 --out records.b8
"""

from __future__ import annotations

import argparse

from .options import add_decoder, add_engine, add_shared, engine_of
from .streams import naming, output, read_circuit


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the arguments."""
    add_shared(parser, "--in", "--out", "--out_format", "--shots", "--seed")
    parser.add_argument(
        "--skip_reference_sample",
        action="store_true",
        help="write flips against the noiseless reference sample instead of measurements",
    )
    parser.add_argument(
        "--skip_loop_folding",
        action="store_true",
        help="of `stim sample`, for its speed; changes nothing here",
    )
    add_decoder(parser)
    add_engine(parser)


def run(args: argparse.Namespace) -> None:
    """Runs the command."""
    circuit = read_circuit(args.circuit)
    with naming(args.circuit):
        sampler = circuit.compile_sampler(
            seed=args.seed,
            skip_reference_sample=args.skip_reference_sample,
            decoder=args.decoder,
            **engine_of(args),
        )
    with output(args.out) as file:
        sampler.sample_write(args.shots, filepath=file, format=args.out_format)
