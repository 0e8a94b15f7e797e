"""Command line: writes distillation circuits to files and prints their paths.

Usage: `python -m stim_nonclifford.distillation --protocol 15-to-1 --t_error 0.001 0.01 --out DIR`.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from ..dialect import exact_text
from .parities import PROTOCOL_CHOICES
from .protocol import distillation_circuit


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the command line.

    Args:
        argv: The arguments; None stands for those of the process.

    Returns:
        The exit code 0.

    Raises:
        SystemExit: With code 2, after a message on standard error, if the arguments are wrong or a
            file cannot be written.
    """
    parser = argparse.ArgumentParser(
        prog="python -m stim_nonclifford.distillation",
        description="Writes magic state distillation circuits with teleported T gates, one file for each"
        " combination of protocol, t_error and gate, and prints the paths. The names are those from which"
        " `sinter collect --metadata_func auto` reads the parameters.",
    )
    parser.add_argument("--protocol", nargs="+", choices=PROTOCOL_CHOICES, default=["15-to-1"])
    parser.add_argument("--t_error", nargs="+", type=float, required=True, help="Z errors of T states")
    parser.add_argument("--p", type=float, default=0.0, help="strength of the other noise (default: 0)")
    parser.add_argument("--gate", nargs="+", choices=("T", "S"), default=["T"])
    parser.add_argument("--out", type=Path, default=Path("."), help="folder (default: the current one)")
    arguments = parser.parse_args(argv)
    for protocol in arguments.protocol:
        for t_error in arguments.t_error:
            for gate in arguments.gate:
                try:
                    circuit = distillation_circuit(protocol, t_error=t_error, p=arguments.p, gate=gate)
                    arguments.out.mkdir(parents=True, exist_ok=True)
                    name = f"c={protocol},g={gate},e={t_error:g},p={arguments.p:g}.stim"
                    (arguments.out / name).write_text(f"{exact_text(circuit)}\n", encoding="utf-8")
                except (ValueError, OSError) as error:
                    parser.error(str(error))
                print(arguments.out / name)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
