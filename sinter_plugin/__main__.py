"""Command line of the plugin: ``python -m sinter_plugin``."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Sequence

from stim_nonclifford.commands import SINTER_COMMANDS

_HELP = """\
usage: python -m sinter_plugin COMMAND ...

Sinter's commands, for circuits with T gates:

{commands}

`collect` takes the arguments of `sinter collect`. The sampler soft_postselect is registered, circuit files
may have bare gates (T 0) or tags (S[T] 0), and any circuit is accepted. `combine` refuses what would be
counted twice, and files cut off. `predict` knows decoders of your own and of this package, too. `python -m
sinter_plugin COMMAND --help` lists the arguments of a command.

Examples:

  A million shots of each circuit, in a file with which the same command continues; their rates to a standard
  error of 1%; and a picture of both:

    python -m sinter_plugin collect --circuits d=3,p=0.001.stim d=3,p=0.002.stim \\
        --decoders soft_postselect --metadata_func auto --processes 4 \\
        --max_shots 1_000_000 --save_resume_filepath stats.csv
    python -m sinter_plugin estimate --circuits d=3,p=0.001.stim d=3,p=0.002.stim \\
        --decoders soft_postselect --metadata_func auto --save_resume_filepath rates.csv
    python -m sinter_plugin plot-gap stats.csv rates.csv --group_func "f'{decoder} d={m.d}'" --out gap.png

  The 17th of 100 parts of the shots, as a job of an array takes it, and the sum of all parts:

    python -m sinter_plugin collect --circuits d=5,p=0.001.stim --decoders soft_postselect --seed 5 \\
        --max_shots 1_000_000_000_000 --shard 17/100 --save_resume_filepath part17.csv
    python -m sinter_plugin combine part*.csv > stats.csv
""".replace("{commands}", "\n".join(f"  {name:9} {does}" for name, does in SINTER_COMMANDS.items()))


def main(arguments: Sequence[str] | None = None, *, program: str = "python -m sinter_plugin") -> int:
    """Runs the command line.

    Args:
        arguments: The arguments; None stands for those of the process.
        program: What errors begin with.

    Returns:
        The exit code: 0 for success, 1 if a worker died, a circuit could not be estimated or statistics could
        no longer be saved, 2 for wrong input, 130 after an interrupt.

    Raises:
        SystemExit: ``argparse`` or Sinter ended the command, for example after ``--help``.
        BrokenPipeError: Nobody reads the output any more.
    """
    arguments = sys.argv[1:] if arguments is None else arguments
    if not arguments or arguments[0] in ("help", "-h", "--help"):
        print(_HELP, end="")
        return 0
    command, *rest = arguments
    if command == "plot":
        from .commands.sinter_internals import run_sinter_command

        run_sinter_command(arguments)
        return 0
    if command not in SINTER_COMMANDS:
        print(f"Not a command: {command}\n\n{_HELP}", end="", file=sys.stderr)
        return 2
    # Imported only here, because every spawned worker imports this module.
    name = command.replace("-", "_")
    run = getattr(importlib.import_module(f"sinter_plugin.commands.{name}"), name)
    try:
        return int(run(rest, program) if command == "estimate" else run(rest))
    except BrokenPipeError:  # nobody reads the output any more
        raise
    except (OSError, ValueError) as error:
        print(f"{program} {command}: error: {error}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    from stim_nonclifford.commands.streams import exit_code

    sys.exit(exit_code(main))
