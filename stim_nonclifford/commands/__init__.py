"""The command line: ``stim-nonclifford COMMAND ...``, or ``python -m stim_nonclifford COMMAND ...``.

Names, flags and formats are those of the command ``stim`` where it has the thing. Each command is a module of
the same name with two functions: ``add_arguments`` declares the arguments, ``run`` does the work.

``streams``   what commands read from and write to
``options``   arguments that several commands share

The commands for files of statistics are those of ``sinter_plugin``.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.metadata
import sys
import warnings
from collections.abc import Sequence

from ..base.errors import EngineUnavailableError, ResourceLimitError
from .streams import as_flags, exit_code

__all__ = ["main"]

PROGRAM = "stim-nonclifford"

COMMANDS = {
    "sample": "samples measurements",
    "detect": "samples detection events and observable flips; can postselect",
    "analyze_errors": "writes the detector error model, for decoders",
    "diagram": "draws the circuit, with every gate as what it is",
    "page": "writes a page for a browser: ticks, places of noise, malignant sets",
    "plan": "says what a shot costs, and which instructions cause it",
    "faults": "lists the smallest sets of faults that make a kept shot wrong",
    "generate": "writes circuits of cultivation, distillation or teleported T gates",
}
"""One module each."""

SINTER_COMMANDS = {
    "estimate": "computes logical error rates from fault sets, however small they are",
    "collect": "samples many circuits on many cores or machines, and saves the statistics",
    "combine": "adds up files of statistics",
    "plot": "plots statistics",
    "plot-gap": "plots logical error against attempts per kept shot",
    "figure": "samples, decodes and draws cultivation end to end",
    "predict": "decodes files of detection events",
}
"""The commands of ``sinter_plugin``."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command line.

    Args:
        arguments: The arguments; None stands for those of the process.

    Returns:
        The exit code: 0 for success, 2 for wrong input, 130 after Ctrl-C, and 141 if nobody reads the output
        any more. Commands of the Sinter plugin also return 1, see there.
    """
    found = list(sys.argv[1:] if arguments is None else arguments)
    return exit_code(lambda: _dispatched(found))


def _dispatched(arguments: list[str]) -> int:
    name, rest = (arguments[0], arguments[1:]) if arguments else ("", [])
    if name == "help" and rest:
        name, rest = rest[0], ["--help"]
    if name in ("help", "-h", "--help"):
        print(_help(), end="")
        return 0
    if name == "--version":
        print(importlib.metadata.version(PROGRAM))
        return 0
    if name in SINTER_COMMANDS:
        return _sinter_command(name, rest)
    if name not in COMMANDS:
        print(f"{PROGRAM}: error: {_problem(name)}\n\n{_help()}", end="", file=sys.stderr)
        return 2
    return _command(name, rest)


def _command(name: str, arguments: list[str]) -> int:
    program = f"{PROGRAM} {name}"
    module = importlib.import_module(f".{name}", __name__)
    parser = argparse.ArgumentParser(
        prog=program,
        description=module.__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    module.add_arguments(parser)
    args = parser.parse_args(arguments)
    with warnings.catch_warnings():
        warnings.simplefilter("always", UserWarning)
        warnings.showwarning = lambda message, *_: print(
            f"{program}: warning: {as_flags(str(message))}", file=sys.stderr
        )
        try:
            module.run(args)
        except BrokenPipeError:
            raise
        except (
            OSError,
            ValueError,
            NotImplementedError,
            ResourceLimitError,
            EngineUnavailableError,
        ) as error:
            print(f"{program}: error: {error}", file=sys.stderr)
            return 2
    return 0


def _sinter_command(name: str, arguments: list[str]) -> int:
    # Imported only here: the plugin uses this package, which must not need it.
    plugin = importlib.import_module("sinter_plugin.__main__")
    return int(plugin.main([name, *arguments], program=PROGRAM))


def _problem(name: str) -> str:
    if not name:
        return "which command?"
    if name.startswith("-"):
        return f"the command comes first, but the first argument is {name}"
    return f"there is no command {name}"


def _help() -> str:
    width = max(map(len, {**COMMANDS, **SINTER_COMMANDS}))
    lines = [
        f"usage: {PROGRAM} COMMAND ...",
        "",
        "Circuits, as `stim`; they are read from standard input or --in:",
        "",
    ]
    lines += [f"  {name:{width}}  {does}" for name, does in COMMANDS.items()]
    lines += ["", "Statistics of many circuits, as `sinter`:", ""]
    lines += [f"  {name:{width}}  {does}" for name, does in SINTER_COMMANDS.items()]
    lines += ["", f"`{PROGRAM} COMMAND --help` lists the arguments of a command.", ""]
    return "\n".join(lines)
