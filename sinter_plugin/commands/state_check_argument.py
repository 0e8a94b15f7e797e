"""The argument ``--state_check``, which ``collect`` and ``estimate`` have in common."""

from __future__ import annotations

import argparse
from typing import get_args

from stim_nonclifford.circuit.logical_states import LogicalState

__all__ = ["add_state_check", "with_state_check"]


def add_state_check(parser: argparse._ArgumentGroup | argparse.ArgumentParser) -> None:
    """Adds the argument to those of a command."""
    parser.add_argument(
        "--state_check",
        metavar="STATE",
        help="The logical state, such as T, in place of the observables: a kept shot is an error with\n"
        "probability 1 - fidelity. The circuit asks for expectation values of logical Paulis (EXP_VAL). One\n"
        f"of {', '.join(get_args(LogicalState))}, or\n"
        "'LogicalStateCheck((0, 1), (0, 1), (0.5**0.5, 0.5**0.5))': numbers of expectation values and of\n"
        "observables, and the Bloch vector.",
    )


def with_state_check(metadata: object, text: str) -> dict[str, object]:
    """The metadata of a circuit with that of ``--state_check``: other states are other questions.

    Args:
        metadata: What ``--metadata_func`` yields.
        text: The state, as it was written.

    Raises:
        ValueError: The metadata has no place for the state.

    Examples:
        >>> with_state_check({"d": 3}, "T")
        {'d': 3, 'state_check': 'T'}
    """
    if not isinstance(metadata, dict) or "state_check" in metadata:
        raise ValueError(
            '--metadata_func must yield a dictionary without the key "state_check", under which the state is'
            f" stored, but it yields {metadata!r}."
        )
    return {**metadata, "state_check": text}
