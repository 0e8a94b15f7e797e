"""Runs the rows of the table: a call that is refused, and the call that follows its remedy."""

import contextlib
import io
import shlex
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import sinter
import stim

import sinter_plugin
import stim_nonclifford as snc
from sinter_plugin.__main__ import main as plugin_main
from stim_nonclifford.commands import main


class Row(NamedTuple):
    """A refusal and its remedy."""

    refused: str  # an expression that raises an error or a warning
    named: str  # what its message must say
    works: str  # an expression that follows the remedy, and raises nothing


def names_for(folder: Path) -> dict[str, Any]:
    """The names that rows may use; files are made in the folder."""

    def circuit(text: str) -> snc.Circuit:
        return snc.Circuit(text.replace(" / ", "\n"))

    def file(name: str, text: str | bytes) -> str:
        path = folder / name
        path.write_bytes(text if isinstance(text, bytes) else text.replace(" / ", "\n").encode())
        return str(path)

    def command(line: str, *values: str, run: Callable[..., int] = main) -> str:
        """Runs a command line, in which {} stands for values and DIR for the folder."""
        out, err = io.TextIOWrapper(io.BytesIO()), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            try:
                code: Any = run(shlex.split(line.format(*values).replace("DIR", str(folder))))
            except SystemExit as end:
                code = end.code
        if code:
            raise ValueError(err.getvalue())
        out.flush()
        return out.buffer.getvalue().decode()

    def plugin(line: str, *values: str) -> str:
        return command(line, *values, run=plugin_main)

    def task(text: str, **arguments: Any) -> sinter.Task:
        return sinter.Task(circuit=circuit(text).to_stim(), **{"json_metadata": {"d": 3}, **arguments})

    def shots(sampler: sinter.Sampler, text: str, **arguments: Any) -> sinter.AnonTaskStats:
        return sampler.compiled_sampler_for_task(task(text, **arguments)).sample(64)

    def memory(**arguments: float) -> str:
        found = stim.Circuit.generated("repetition_code:memory", distance=3, rounds=2, **arguments)
        return str(found)

    return {"c": circuit, "Circuit": snc.Circuit, "snc": snc, "sp": sinter_plugin, "np": np, "stim": stim,
            "sinter": sinter, "file": file, "command": command, "plugin": plugin, "task": task, "shots": shots,
            "memory": memory, "folder": folder}  # fmt: skip


def message_of(row: Row, names: dict[str, Any]) -> str:
    """What the refused call says; the empty text if it is not refused."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            eval(row.refused, dict(names))
        except (Exception, UserWarning) as error:
            return str(error)
    return ""


def result_of(row: Row, names: dict[str, Any]) -> None:
    """Makes the call that follows the remedy."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        eval(row.works, dict(names))
