"""What commands read from and write to: files, standard input and standard output."""

from __future__ import annotations

import contextlib
import io
import os
import re
import sys
from collections.abc import Callable, Iterator
from typing import BinaryIO, TextIO

from ..base.errors import ResourceLimitError
from ..circuit import Circuit

_FLAGS = {"postselection_mask": "postselect"}
_METHOD = 'logical_error_rate(decoder="pymatching")'
_COMMAND = "`stim-nonclifford estimate --in FILE --decoder pymatching`"
_AS_AN_OBJECT = "Pass a decoder of your own as an object: decoder=MyDecoder()."
_AS_A_FUNCTION = (
    "A decoder of your own: estimate --circuits FILE --decoders NAME --custom_decoders_module_function"
    " MODULE:FUNCTION."
)
_KEYWORD = re.compile(r"\b(kind|postselection_mask|state_check)=[\"'](\w+)[\"']")

BROKEN_PIPE = 128 + 13
INTERRUPTED = 128 + 2
"""What a shell reports for a program that the signal SIGPIPE or SIGINT has ended."""


def read_circuit(path: str | None) -> Circuit:
    """A circuit from a file, or from standard input; messages name the file and the line."""
    with naming(path):
        if path is not None:
            return Circuit.from_file(path)
        data = sys.stdin.buffer.read()
        try:
            return Circuit(data.decode("utf-8"))
        except UnicodeDecodeError as error:
            raise ValueError(f"standard input is not in UTF-8: {error}.") from None


@contextlib.contextmanager
def naming(path: str | None) -> Iterator[None]:
    r"""A context in which messages about the circuit name its file, or standard input.

    Examples:
        >>> with naming("a.stim"):
        ...     Circuit("H 0\nFOO 1")
        Traceback (most recent call last):
        ...
        ValueError: a.stim, line 2: `FOO 1`: Gate not found: 'FOO'.
    """
    name = "standard input" if path is None else path
    try:
        yield
    except (ValueError, NotImplementedError, ResourceLimitError) as error:
        text = as_flags(str(error))
        if text.startswith("Line "):
            raise ValueError(f"{name}, l{text[1:]}") from error
        raise ValueError(text if text.startswith(name) else f"{name}: {text}") from error


def as_flags(message: str) -> str:
    """A message in which remedies are flags, and not keywords of Python.

    Examples:
        >>> as_flags('Pass postselection_mask="all".')
        'Pass --postselect all.'
    """
    message = message.replace(_METHOD, _COMMAND).replace(_AS_AN_OBJECT, _AS_A_FUNCTION)
    return _KEYWORD.sub(lambda found: f"--{_FLAGS.get(found[1], found[1])} {found[2]}", message)


@contextlib.contextmanager
def output(path: str | None) -> Iterator[BinaryIO]:
    """A file for bytes, which is replaced if it exists; None stands for standard output."""
    if path is not None:
        with open(path, "wb") as file:
            yield file
        return
    sys.stdout.flush()
    if not isinstance(sys.stdout.buffer, io.RawIOBase):
        yield sys.stdout.buffer
        return
    with open(sys.stdout.fileno(), "wb", closefd=False) as file:  # PYTHONUNBUFFERED: may write a part only
        yield file


def write_text(path: str | None, text: str) -> None:
    """Writes text and a line break to a file, or to standard output."""
    with output(path) as file:
        file.write(f"{text}\n".encode())


def exit_code(work: Callable[[], int]) -> int:
    """The exit code of the work of a command line, or the one with which other commands end in its place."""
    code = _exit_code(work)
    try:
        sys.stderr.flush()
    except OSError:  # of a closed terminal: Python would try again at its end, and end with 120
        _forget(sys.stderr)
    return code


def _exit_code(work: Callable[[], int]) -> int:
    """The exit code, where standard output is all that may fail."""
    _open_closed_streams()
    try:
        try:
            code = work()
        except SystemExit as end:  # argparse has written help or an error
            code = end.code if isinstance(end.code, int) else int(end.code is not None)
        sys.stdout.flush()  # here, where an error can still be handled
    except BrokenPipeError:
        _forget(sys.stdout)
        return BROKEN_PIPE
    except KeyboardInterrupt:
        _forget(sys.stdout)
        return INTERRUPTED
    except OSError as error:
        _forget(sys.stdout)
        print(f"error: standard output: {error}", file=sys.stderr)
        return 2
    return code


def _open_closed_streams() -> None:
    """Opens the standard streams that were closed when the process began, as some services start it."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            # In this order, they get the descriptors 0 to 2 again, and no file is taken for one of them.
            nowhere = os.open(os.devnull, os.O_RDWR)
            os.set_inheritable(nowhere, True)
            setattr(sys, name, os.fdopen(nowhere, mode, encoding="utf-8", closefd=False))


def _forget(stream: TextIO) -> None:
    """Lets nothing more be written to a stream. At its end, Python would try, and complain."""
    with contextlib.suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)
