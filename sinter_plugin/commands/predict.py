"""``python -m sinter_plugin predict``: ``sinter predict``, also with decoders of your own.

The names are those of ``collect`` and ``estimate``: ``pymatching`` or ``soft_pymatching``, and the names that
``--custom_decoders_module_function`` registers. Wrong input is reported in one line.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence

import sinter

from stim_nonclifford.rates.decoding.decoders import decoder_named

from ..samplers.by_name import chosen_decoder
from .sinter_internals import add_custom_decoders, parse_predict_arguments, parse_shared_arguments


def predict(arguments: Sequence[str]) -> int:
    """Runs the command."""
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    add_custom_decoders(parser)
    if "--help" in arguments or "-h" in arguments:
        print(parser.format_help().partition("\n\n")[2])
    own, others = parser.parse_known_args(list(arguments))
    args = parse_predict_arguments(others)
    custom = parse_shared_arguments([], own.custom_decoders_module_function).custom_decoders
    try:
        decoder = chosen_decoder(args.decoder, custom)
    except ValueError as error:  # its remedy is for another command
        raise ValueError(str(error).replace("estimate --circuits FILE --decoders NAME ", "")) from None
    try:
        sinter.predict_on_disk(
            decoder=args.decoder,
            dem_path=args.dem,
            dets_path=args.dets,
            dets_format=args.dets_format,
            obs_out_path=args.obs_out,
            obs_out_format=args.obs_out_format,
            postselect_detectors_with_non_zero_4th_coord=args.postselect_detectors_with_non_zero_4th_coord,
            discards_out_path=args.discards_out,
            discards_out_format=args.discards_out_format,
            custom_decoders={args.decoder: decoder_named(decoder) if isinstance(decoder, str) else decoder},
        )
    except (OSError, ValueError):
        raise
    except (Exception, SystemExit) as error:  # the decoder may raise anything
        raise ValueError(
            f"The decoder {args.decoder} failed with {type(error).__name__}: {error}."
        ) from error
    return 0
