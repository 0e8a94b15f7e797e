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
except ImportError as error:
    raise ImportError(
        "python -m sinter_plugin reuses the command line of Sinter 1.16, which Sinter"
        f" {sinter.__version__} does not have in the same place. Install sinter==1.16, or use `sinter collect"
        " --custom_decoders_module_function sinter_plugin:sinter_samplers`, which does not need it."
    ) from error

__all__ = ["parse_collect_arguments", "run_sinter_command"]


def parse_collect_arguments(arguments: Sequence[str]) -> argparse.Namespace:
    """Parses the arguments of ``sinter collect``.

    Args:
        arguments: The arguments, without the program's name and ``collect``.

    Returns:
        Sinter's namespace: predicates and ``metadata_func`` are callables, ``custom_decoders`` is a
        dictionary or None.

    Raises:
        SystemExit: The arguments are wrong (after a message on standard error), or include ``--help``.
        ValueError: The name of a decoder is unknown, or arguments contradict each other.
    """
    namespace: argparse.Namespace = _parse_collect_args(list(arguments))
    return namespace


def run_sinter_command(arguments: Sequence[str]) -> None:
    """Runs ``sinter`` with arguments such as ``["plot", "--in", "stats.csv", ...]``."""
    _sinter_main(command_line_args=list(arguments))
