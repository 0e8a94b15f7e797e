"""Arguments that several commands share."""

from __future__ import annotations

import argparse
import os
import re
from collections.abc import Callable
from typing import Any, get_args

import numpy as np
import numpy.typing as npt

from ..circuit import Circuit
from ..circuit.logical_states import LogicalState, parsed_state
from ..simulation.compiler import DEFAULT_MAX_ACTIVE_COORDINATES
from ..simulation.engines import EngineName
from ..simulation.sampling import ShotFormat

_MOST_SHOTS = 10**18
_OUTPUT = re.compile(r"([DL])(\d+)")


def whole_number(low: int, high: int) -> Callable[[str], int]:
    """A type of arguments for ``argparse``: integers from low to high, such as ``1000`` or ``1_000``.

    Examples:
        >>> whole_number(0, 10)("7")
        7
    """

    def parse(text: str) -> int:
        try:
            number = int(text)
        except ValueError:
            raise argparse.ArgumentTypeError(f"{text!r} is not a whole number") from None
        if not low <= number <= high:
            raise argparse.ArgumentTypeError(f"{text} is not between {low} and {high}")
        return number

    return parse


_SHARED: dict[str, dict[str, Any]] = {
    "--in": {"dest": "circuit", "metavar": "FILE", "help": "circuit to read (default: standard input)"},
    "--out": {"metavar": "FILE", "help": "file to write to (default: standard output)"},
    "--out_format": {
        "choices": get_args(ShotFormat),
        "default": "01",
        "help": "format of the output; see `stim help formats` (default: 01)",
    },
    "--shots": {
        "type": whole_number(0, _MOST_SHOTS),
        "default": 1,
        "metavar": "N",
        "help": "how many shots (default: 1)",
    },
    "--seed": {
        "type": whole_number(0, 2**64 - 1),
        "metavar": "N",
        "help": "makes the result the same each time, with any number of threads (default: a fresh one)",
    },
    "--engine": {
        "choices": get_args(EngineName),
        "default": "auto",
        "help": "what draws the shots (default: auto)",
    },
    "--max_active_coordinates": {
        "type": whole_number(0, 2**63 - 1),
        "default": DEFAULT_MAX_ACTIVE_COORDINATES,
        "metavar": "N",
        "help": f"circuits that need more are refused (default: {DEFAULT_MAX_ACTIVE_COORDINATES})",
    },
}
_SHARED["--obs_out_format"] = {
    **_SHARED["--out_format"],
    "help": "format of the file for the observable flips; see `stim help formats` (default: 01)",
}


def add_shared(parser: argparse.ArgumentParser, *flags: str) -> None:
    """Adds arguments that have the same meaning in each command, by their flags."""
    for flag in flags:
        parser.add_argument(flag, **_SHARED[flag])


def add_threads(parser: argparse.ArgumentParser, default: str) -> None:
    """Adds ``--threads``."""
    parser.add_argument(
        "--threads",
        type=_threads,
        default=default,
        metavar="N",
        help=f'number of threads, or "auto" for all cores (default: {default})',
    )


def add_engine(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments for the engine, which change the time but not the shots."""
    add_threads(parser, "1")
    add_shared(parser, "--engine", "--max_active_coordinates")


def add_decoder(parser: argparse.ArgumentParser) -> None:
    """Adds the argument for the decoder in the loop."""
    parser.add_argument(
        "--decoder",
        metavar="NAME",
        help="the decoder that decides at each DECODE of the circuit, such as pymatching; raw: no decoder",
    )


def engine_of(args: argparse.Namespace) -> dict[str, Any]:
    """The arguments of ``add_engine`` as keywords of ``compile_sampler`` and ``compile_detector_sampler``."""
    return {name: getattr(args, name) for name in ("threads", "engine", "max_active_coordinates")}


def add_postselection(parser: argparse.ArgumentParser, default: str) -> None:
    """Adds ``--postselect``."""
    parser.add_argument(
        "--postselect",
        nargs="+",
        metavar="WHICH",
        help="what discards a shot if it fires or flips: all (detectors), none, non_zero_4th_coord (the"
        " detectors with such a coordinate), or detectors and observables by name, such as D0 D3 L1 (default:"
        f" {default})",
    )


def add_state_check(parser: argparse._ArgumentGroup | argparse.ArgumentParser) -> None:
    """Adds ``--state_check``, whose text ``parsed_state`` reads."""
    parser.add_argument(
        "--state_check",
        metavar="STATE",
        help="the logical state, such as T, in place of the observables: a kept shot is wrong with\n"
        "probability 1 - fidelity; the circuit asks for expectation values of logical Paulis (EXP_VAL); one\n"
        f"of {', '.join(get_args(LogicalState))}, or\n"
        "'LogicalStateCheck((0, 1), (0, 1), (0.5**0.5, 0.5**0.5))': numbers of expectation values and of\n"
        "observables, and the Bloch vector",
    )


def add_fault_sets(parser: argparse.ArgumentParser) -> None:
    """Adds ``--postselect``, ``--state_check`` and ``--threads``."""
    add_postselection(parser, "none; required if the circuit has detectors")
    add_state_check(parser)
    add_threads(parser, "auto")


def masks_of(
    args: argparse.Namespace, circuit: Circuit
) -> tuple[npt.NDArray[np.bool_] | None, npt.NDArray[np.bool_] | None]:
    r"""The masks of detectors and observables that ``--postselect`` stands for, or None.

    Examples:
        >>> circuit = Circuit("M 0\nDETECTOR(0, 0, 0, 1) rec[-1]\nDETECTOR\nOBSERVABLE_INCLUDE(0) rec[-1]")
        >>> masks_of(argparse.Namespace(postselect=["D1"]), circuit)
        (array([False,  True]), None)
        >>> masks_of(argparse.Namespace(postselect=["non_zero_4th_coord"]), circuit)
        (array([ True, False]), None)
    """
    which: list[str] | None = args.postselect
    if which is None:
        return None, None
    detectors = np.zeros(circuit.num_detectors, dtype=np.bool_)
    observables = np.zeros(circuit.num_observables, dtype=np.bool_)
    if which == ["all"]:
        detectors[:] = True
    elif which == ["non_zero_4th_coord"]:
        for index, coordinates in circuit.get_detector_coordinates().items():
            detectors[index] = len(coordinates) > 3 and coordinates[3] != 0
        if not detectors.any():
            raise ValueError(
                "--postselect non_zero_4th_coord: no detector has a non-zero fourth coordinate. Use"
                " --postselect all, or names such as D0."
            )
    elif which != ["none"]:
        for name in which:
            _select(name, detectors, observables)
    return detectors, observables if observables.any() else None


def fault_set_arguments(args: argparse.Namespace, circuit: Circuit) -> dict[str, Any]:
    """The arguments of ``add_fault_sets`` as keywords of ``Circuit.logical_error_rate`` and its like."""
    detectors, observables = masks_of(args, circuit)
    return {
        "postselection_mask": detectors,
        "postselected_observables_mask": observables,
        "state_check": None if args.state_check is None else parsed_state(args.state_check),
        "threads": args.threads,
    }


def _select(name: str, detectors: npt.NDArray[np.bool_], observables: npt.NDArray[np.bool_]) -> None:
    found = _OUTPUT.fullmatch(name)
    if found is None:
        raise ValueError(
            f"--postselect: {name!r} is none of all, none and non_zero_4th_coord, each of which stands alone,"
            " nor a detector or an observable such as D0 or L0."
        )
    mask, kind = (detectors, "detectors") if found[1] == "D" else (observables, "observables")
    if int(found[2]) >= len(mask):
        raise ValueError(f"--postselect: there is no {name}; the circuit has {len(mask)} {kind}.")
    mask[int(found[2])] = True


def _threads(text: str) -> int:
    if text == "auto":
        return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return whole_number(1, 1024)(text)
