"""Samples detection events and observable flips, as `stim detect` does, of circuits with T gates.

With --postselect, only the shots that postselection keeps are written, and --shots counts the attempted ones.

  stim-nonclifford detect --in circuit.stim --shots 1000 --out_format b8 --out dets.b8 --obs_out obs.txt
  stim-nonclifford detect --in circuit.stim --shots 1000 --postselect all --append_observables
"""

from __future__ import annotations

import argparse
import contextlib
from typing import Any

from ..simulation.sampling import CompiledDetectorSampler
from ..simulation.sampling.shot_files import DetectionFiles
from .options import add_decoder, add_engine, add_postselection, add_shared, engine_of, masks_of
from .streams import naming, output, read_circuit


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the arguments."""
    add_shared(parser, "--in", "--out", "--out_format", "--obs_out_format", "--shots", "--seed")
    parser.add_argument("--obs_out", metavar="FILE", help="file for the observable flips (default: none)")
    parser.add_argument(
        "--append_observables",
        action="store_true",
        help="write observable flips after the detection events of each shot (always so in the format dets)",
    )
    add_postselection(parser, "none")
    parser.add_argument(
        "--skip_reference_sample",
        action="store_true",
        help="write raw parities of measurements instead of flips against the noiseless reference sample",
    )
    add_decoder(parser)
    add_engine(parser)


def run(args: argparse.Namespace) -> None:
    """Runs the command."""
    # As Stim: the format dets has the observables in any case, in front if nobody says where.
    prepends = args.out_format == "dets" and not args.append_observables
    if (prepends or args.append_observables) and args.obs_out is not None:
        flag = "--out_format dets, which has the observables" if prepends else "--append_observables"
        raise ValueError(f"{flag} and --obs_out do not go together. Leave one of them out.")
    circuit = read_circuit(args.circuit)
    detectors, observables = masks_of(args, circuit)
    if detectors is not None and "ptb64" in (args.out_format, args.obs_out_format):
        raise ValueError(
            "The format ptb64 needs a multiple of 64 shots, and --postselect keeps any number. Use the format"
            " b8."
        )
    with naming(args.circuit):
        sampler = circuit.compile_detector_sampler(
            seed=args.seed,
            postselection_mask=detectors,
            postselected_observables_mask=observables,
            skip_reference_sample=args.skip_reference_sample,
            decoder=args.decoder,
            **engine_of(args),
        )
    with output(args.out) as file, contextlib.ExitStack() as files:
        obs_file = None if args.obs_out is None else files.enter_context(output(args.obs_out))
        if detectors is None:
            sampler.sample_write(
                args.shots,
                filepath=file,
                format=args.out_format,
                obs_out_filepath=obs_file,
                obs_out_format=args.obs_out_format,
                prepend_observables=prepends,
                append_observables=args.append_observables,
            )
        else:
            _write_kept(sampler, args, file, obs_file, prepends)


def _write_kept(
    sampler: CompiledDetectorSampler, args: argparse.Namespace, file: Any, obs_file: Any, prepends: bool
) -> None:
    with DetectionFiles(
        file,
        args.out_format,
        args.shots,
        num_detectors=sampler.num_detectors,
        num_observables=sampler.num_observables,
        observables=obs_file,
        observables_format=args.obs_out_format,
        prepend_observables=prepends,
        append_observables=args.append_observables,
    ) as files:
        for batch in sampler.iter_kept(max_shots=args.shots):
            files.write(batch.dets, batch.obs)
