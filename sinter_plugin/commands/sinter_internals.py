"""The parts of Sinter's command line that this package uses although Sinter does not export them.

No other module of this package imports a private name of Sinter.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence

import sinter

try:
    from sinter._command._main import main as _sinter_main
    from sinter._command._main_collect import parse_args as _parse_collect_args
    from sinter._command._main_predict import parse_args as _parse_predict_args
except ImportError as error:
    raise ImportError(
        "python -m sinter_plugin reuses the command line of Sinter 1.16, which Sinter"
        f" {sinter.__version__} does not have in the same place. Install sinter==1.16, or use `sinter collect"
        " --custom_decoders_module_function sinter_plugin:sinter_samplers`, which does not need it."
    ) from error


def parse_collect_arguments(arguments: Sequence[str]) -> argparse.Namespace:
    """Parses the arguments of ``sinter collect``."""
    try:
        namespace: argparse.Namespace = _parse_collect_args(list(arguments))
    except ValueError as error:
        message = " ".join(str(error).split())  # some messages of Sinter have several lines
        raise ValueError(message) from None
    except SyntaxError as error:
        name, _, is_argument = (error.filename or "").partition(":")
        if is_argument:
            raise ValueError(f"--{name} is not an expression of Python: {error.msg}.") from None
        raise _custom_decoders_failed(error) from error
    except Exception as error:  # the user's module may raise anything
        raise _custom_decoders_failed(error) from error
    return namespace


def parse_predict_arguments(arguments: Sequence[str]) -> argparse.Namespace:
    """Parses the arguments of ``sinter predict``."""
    namespace: argparse.Namespace = _parse_predict_args(list(arguments))
    return namespace


def add_custom_decoders(parser: argparse.ArgumentParser) -> None:
    """Adds ``--custom_decoders_module_function``."""
    parser.add_argument(
        "--custom_decoders_module_function",
        nargs="+",
        default=[],
        metavar="MODULE:FUNCTION",
        help="functions that return a dictionary of decoders of yours by name, as for `sinter collect`",
    )


def parse_shared_arguments(arguments: Sequence[str], functions: Sequence[str]) -> argparse.Namespace:
    """Parses arguments of ``sinter collect`` that others have, too, with functions that return decoders."""
    custom = ["--custom_decoders_module_function", *functions] if functions else []
    # Sinter requires a decoder and a number of processes.
    needed = ["--circuits", "", "--decoders", "vacuous", "--processes", "1"]
    namespace = parse_collect_arguments([*arguments, *custom, *needed])
    namespace.custom_decoders = namespace.custom_decoders or {}
    return namespace


def _custom_decoders_failed(error: Exception) -> ValueError:
    return ValueError(f"--custom_decoders_module_function failed: {type(error).__name__}: {error}.")


def run_sinter_command(arguments: Sequence[str]) -> None:
    """Runs ``sinter`` with arguments such as ``["plot", "--in", "stats.csv", ...]``."""
    _sinter_main(command_line_args=list(arguments))
