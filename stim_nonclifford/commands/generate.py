"""Writes circuits of magic state cultivation, of distillation, of teleported T gates, or of logical programs.

One circuit is written to standard output or to --out FILE. Several circuits, one for each combination of the
arguments that take lists, are written to a folder, --out_dir DIR. Their paths are printed. `sinter collect
--metadata_func auto` reads the parameters from their names.

  stim-nonclifford generate cultivation --distance 3 --p 0.001 | stim-nonclifford detect --shots 10
  stim-nonclifford generate cultivation --distance 3 5 --p 0.001 0.002 --gate T S --out_dir circuits
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import get_args

import stim

from ..dialect import exact_text
from ..generators import cultivation, distillation, logical, teleportation
from ..generators.cultivation.end_to_end import DEFAULT_ROUNDS
from ..generators.cultivation.files import end_to_end_file_name
from ..generators.teleportation.files import PROTOCOL_CHOICES
from .options import whole_number
from .streams import write_text

NamedCircuits = Iterator[tuple[str, stim.Circuit]]
"""Circuits with the names of their files."""

_DISTANCES = ", ".join(map(str, cultivation.AVAILABLE_DISTANCES))
_ANY = whole_number(0, 2**31 - 1)
_WITH_K = "3k+8-to-k"
"""The protocol of distillation with any even number of outputs."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the arguments."""
    families = parser.add_subparsers(metavar="FAMILY", required=True)
    for name, (what, add_family, circuits) in _FAMILIES.items():
        summary = f"Writes circuits of {what}."
        family = families.add_parser(name, help=summary, description=summary, allow_abbrev=False)
        add_family(family)
        family.add_argument("--out", metavar="FILE", help="file for one circuit (default: standard output)")
        family.add_argument(
            "--out_dir", type=Path, metavar="DIR", help="folder for any number of circuits, created if needed"
        )
        family.set_defaults(circuits=circuits)


def run(args: argparse.Namespace) -> None:
    """Runs the command."""
    if args.out is not None and args.out_dir is not None:
        raise ValueError(
            "--out is for one circuit, and --out_dir for a folder of circuits. Leave one of them out."
        )
    circuits: list[tuple[str, stim.Circuit]] = list(args.circuits(args))
    if args.out_dir is not None:
        args.out_dir.mkdir(parents=True, exist_ok=True)
        for name, circuit in circuits:
            write_text(str(args.out_dir / name), exact_text(circuit))
        # Printed when all are written, as who reads the names may not read them to the end.
        write_text(None, "\n".join(str(args.out_dir / name) for name, _ in circuits))
        return
    if len(circuits) > 1:
        raise ValueError(f"These are {len(circuits)} circuits. Name a folder for their files: --out_dir DIR.")
    write_text(args.out, exact_text(circuits[0][1]))


def _add_gate_and_noise(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--gate",
        choices=get_args(cultivation.GateChoice),
        nargs="+",
        default=["T"],
        help="T: T gates, written as S[T]; S: the S-proxy, with S gates in their place (default: T)",
    )
    parser.add_argument("--p", type=float, nargs="+", help="noise strengths, 0 to 1")
    parser.add_argument(
        "--noise",
        choices=cultivation.NOISE_CHOICES,
        default="uniform",
        help="noise model (default: uniform)",
    )


def _strengths_of(args: argparse.Namespace) -> list[float]:
    if args.noise == "none":
        if args.p is not None:
            raise ValueError("--noise none takes no strength; leave out --p")
        return [0.0]
    if args.p is None:
        raise ValueError(f"--noise {args.noise} needs a strength; add for example --p 0.001")
    return list(args.p)


def _add_cultivation(parser: argparse.ArgumentParser) -> None:
    _add_gate_and_noise(parser)
    add = parser.add_argument
    add(
        "--distance",
        "--d",
        type=_ANY,
        nargs="+",
        default=[3],
        help=f"distances of the color code: {_DISTANCES} (default: 3)",
    )
    add(
        "--injection",
        choices=cultivation.INJECTION_CHOICES,
        default="unitary",
        help="how the T state is injected into the code (default: unitary)",
    )
    add(
        "--variant",
        choices=cultivation.VARIANT_CHOICES,
        default="published",
        help="flagged: distance 5 with flags that see hook errors (default: published)",
    )
    add(
        "--escape_distance",
        "--d2",
        type=_ANY,
        metavar="D2",
        help="go on to the escape into a code of this distance, odd and larger than the first",
    )
    add(
        "--postselected_rounds",
        type=_ANY,
        metavar="N",
        help="with --escape_distance: rounds after the escape that postselect (default: the first distance)",
    )
    add(
        "--rounds",
        type=_ANY,
        metavar="N",
        help=f"with --escape_distance: rounds for the decoder after these (default: {DEFAULT_ROUNDS})",
    )
    add(
        "--readout",
        choices=cultivation.READOUT_CHOICES,
        help="with --escape_distance: T: a noiseless readout of the T state, for circuits in which all"
        " detectors postselect; expectation_values: those of logical X and Y, for a decoder and a state check"
        " (default: T)",
    )
    add(
        "--escape",
        choices=cultivation.ESCAPE_CHOICES,
        help="with --escape_distance: into a color code, or into a surface code (default: color)",
    )


def _cultivation(args: argparse.Namespace) -> NamedCircuits:
    if args.escape_distance is None:
        for name in ("postselected_rounds", "rounds", "readout", "escape"):
            if getattr(args, name) is not None:
                raise ValueError(
                    f"--{name} is for circuits with an escape. Leave it out, or add --escape_distance."
                )
    for distance, p, gate in product(args.distance, _strengths_of(args), args.gate):
        parameters = {name: getattr(args, name) for name in ("noise", "injection", "variant")}
        parameters |= {"distance": distance, "p": p, "gate": gate}
        if args.escape_distance is None:
            yield cultivation.circuit_file_name(**parameters), cultivation.cultivation_circuit(**parameters)
            continue
        parameters |= {
            "escape_distance": args.escape_distance,
            "postselected_rounds": args.postselected_rounds,
            "rounds": DEFAULT_ROUNDS if args.rounds is None else args.rounds,
            "readout": args.readout or "T",
            "escape": args.escape or "color",
        }
        yield end_to_end_file_name(**parameters), cultivation.end_to_end_circuit(**parameters)


def _add_distillation(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add(
        "--protocol",
        nargs="+",
        choices=distillation.PROTOCOL_CHOICES,
        default=["15-to-1"],
        help="protocols (default: 15-to-1)",
    )
    add("--t_error", nargs="+", type=float, required=True, help="probabilities of Z errors of the T states")
    add("--p", type=float, default=0.0, help="strength of the other noise (default: 0)")
    add(
        "--gate",
        nargs="+",
        choices=get_args(distillation.GateChoice),
        default=["T"],
        help="T: T gates, written as S[T]; S: the S-proxy, where there is one (default: T)",
    )
    add("--direct", action="store_true", help="apply each T gate as one gate, not by teleportation")
    add("--k", nargs="+", type=int, help="even numbers of outputs of 3k+8-to-k")


def _distillation(args: argparse.Namespace) -> NamedCircuits:
    if bool(args.k) != (_WITH_K in args.protocol):
        raise ValueError(
            f"--k is the number of outputs of {_WITH_K}: write --protocol {_WITH_K} --k 2, or leave out both."
        )
    for protocol in args.protocol:
        sizes = args.k if protocol == _WITH_K else [None]
        for k, t_error, gate in product(sizes, args.t_error, args.gate):
            circuit = distillation.distillation_circuit(
                protocol, t_error=t_error, p=args.p, gate=gate, k=k, teleported=not args.direct
            )
            size = "" if k is None else f"k={k},"
            direct = "direct=1," if args.direct else ""
            yield f"c={protocol},{size}{direct}g={gate},e={t_error:g},p={args.p:g}.stim", circuit


def _add_teleportation(parser: argparse.ArgumentParser) -> None:
    _add_gate_and_noise(parser)
    add = parser.add_argument
    add(
        "--protocol",
        choices=PROTOCOL_CHOICES,
        default="teleportation",
        help="injection of the T state alone, or the teleported gate (default: teleportation)",
    )
    add(
        "--distance",
        "--d",
        type=int,
        nargs="+",
        choices=teleportation.AVAILABLE_DISTANCES,
        default=[3],
        help="distances of the patches (default: 3)",
    )
    add(
        "--correction",
        choices=teleportation.CORRECTION_CHOICES,
        default="gate",
        help="the S correction: a conditional logical gate, in software, or decided by a decoder in the loop"
        " (default: gate)",
    )
    add(
        "--input",
        choices=teleportation.INPUT_CHOICES,
        default="plus",
        help="what T is applied to: logical |+>, or half of a Bell pair (default: plus)",
    )
    add(
        "--s_gate",
        choices=teleportation.S_GATE_CHOICES,
        default="ideal",
        help="with --correction decoded: S is a gate without noise, or a patch in |Y> (default: ideal)",
    )
    add(
        "--magic",
        choices=teleportation.MAGIC_CHOICES,
        default="injected",
        help="the T state: injected with noise, cultivated with an error, or perfect (default: injected)",
    )
    add("--magic_error", type=float, help="with --magic cultivated: probability of Z on the T state")
    add(
        "--attempts",
        type=int,
        default=1,
        help="with --correction decoded: how often the injection is tried at most, until it is accepted"
        " (default: 1)",
    )
    add(
        "--gap",
        type=float,
        help="with --correction decoded: the complementary gap in decibels from which on an injection is"
        " accepted (default: it is accepted if no detector fires)",
    )


def _teleportation(args: argparse.Namespace) -> NamedCircuits:
    choices = {
        "correction": args.correction,
        "input": args.input,
        "s_gate": args.s_gate,
        "magic": args.magic,
        "magic_error": args.magic_error,
        "attempts": args.attempts,
        "gap": args.gap,
    }
    for distance, p, gate in product(args.distance, _strengths_of(args), args.gate):
        if args.protocol == "injection":
            circuit = teleportation.injection_circuit(distance, p, gate, args.noise)
        else:
            circuit = teleportation.teleportation_circuit(distance, p, gate, args.noise, **choices)
        yield (
            teleportation.circuit_file_name(
                protocol=args.protocol,
                distance=distance,
                p=p,
                gate=gate,
                noise=args.noise,
                **choices,
            ),
            circuit,
        )


def _add_logical(parser: argparse.ArgumentParser) -> None:
    _add_gate_and_noise(parser)
    add = parser.add_argument
    add(
        "--program",
        type=Path,
        required=True,
        metavar="FILE",
        help="a Clifford+T circuit (.stim); or rotations and measurements (.json):"
        ' {"rotations": [[0.125, "ZX"], [0.25, "IY"]], "measurements": ["ZI"]}, with angles in half-turns',
    )
    add(
        "--distance",
        "--d",
        type=_ANY,
        nargs="+",
        default=[3],
        help="distances of the patches, odd (default: 3)",
    )
    add(
        "--magic",
        choices=logical.MAGIC_CHOICES,
        default="perfect",
        help="the T states: injected with noise, cultivated with an error, or perfect (default: perfect)",
    )
    add("--magic_error", type=float, help="with --magic cultivated: probability that a T state has an error")
    add(
        "--y_state",
        choices=logical.Y_STATE_CHOICES,
        default="perfect",
        help="the |Y> states of other products: injected with noise, or perfect (default: perfect)",
    )
    add(
        "--s_gate",
        choices=logical.S_GATE_CHOICES,
        default="ideal",
        help="S after T is a gate without noise, or a patch in |Y> (default: ideal)",
    )
    add(
        "--ending",
        choices=logical.ENDING_CHOICES,
        default="measurements",
        help="the program's measurements; or in their place the state, or the process with Bell pairs, is\n"
        "compared with the ideal one (default: measurements)",
    )


def _logical(args: argparse.Namespace) -> NamedCircuits:
    rotations, measurements = _program_in(args.program)
    if args.ending != "measurements":
        measurements = []
    choices = {
        "magic": args.magic,
        "magic_error": args.magic_error,
        "y_state": args.y_state,
        "s_gate": args.s_gate,
        "ending": args.ending,
    }
    for distance, p, gate in product(args.distance, _strengths_of(args), args.gate):
        parameters = {"distance": distance, "p": p, "gate": gate, "noise": args.noise, **choices}
        yield (
            logical.circuit_file_name(name=args.program.stem, **parameters),
            logical.logical_circuit(rotations, measurements, **parameters),
        )


def _program_in(path: Path) -> logical.Program:
    """The rotations and measurements of a file."""
    if path.suffix != ".json":
        return logical.program_of(path.read_text(encoding="utf-8"))
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except json.JSONDecodeError as error:
        raise ValueError(f"{path} is no JSON: {error}") from None
    try:
        rotations = [(theta, text) for theta, text in found.pop("rotations", [])]
        measurements = list(found.pop("measurements", []))
    except (AttributeError, TypeError, ValueError):
        found = None
    if found != {}:
        raise ValueError(
            f"{path} must have rotations and measurements alone, such as"
            ' {"rotations": [[0.125, "ZX"]], "measurements": ["ZI"]}.'
        )
    return rotations, measurements


_FAMILIES = {
    "cultivation": (
        "magic state cultivation: injection, cultivation, and the escape into a larger code",
        _add_cultivation,
        _cultivation,
    ),
    "distillation": ("magic state distillation with teleported T gates", _add_distillation, _distillation),
    "logical": (
        "Pauli-product rotations on patches of surface code, by lattice surgery with a decoder in the loop",
        _add_logical,
        _logical,
    ),
    "teleportation": (
        "a T gate that is applied to a surface code by teleportation",
        _add_teleportation,
        _teleportation,
    ),
}
