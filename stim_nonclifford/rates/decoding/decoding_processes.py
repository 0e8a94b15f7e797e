"""Processes that decode parts of batches: most decoders hold Python's lock, so that threads would wait.

They are processes of their own, which import this package and get decoders by pickle: a script needs no
``if __name__ == "__main__"`` for them. Predictions must follow from the detection events alone, so that it
does not matter which process decodes.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...base.arrays import Bytes, Integers
from .classifying import Predict

Predictions = tuple[Bytes, Integers]

_SECONDS_ALONE = 1.0
"""Decoders that have taken less time get no processes: starting one takes as long. Doubled, slow decoders are
helped a second later."""

_LEAST_SECONDS = 1e-3
"""What a part of a batch must take, so that sending it to another process pays. Doubled, small batches are
decoded by half as many processes."""

_PROGRAM = f"from {__name__} import main; main()"


class DecodingProcesses(contextlib.AbstractContextManager["DecodingProcesses"]):
    """Decodes large batches together with other processes, as soon as that pays.

    Decoders that cannot be sent to another process, such as those that a script defines by itself, decode
    in this process only. ``count`` is the number of other processes.
    """

    def __init__(self, decoders: Sequence[Predict], count: int) -> None:
        self._decoders, self._count = decoders, count
        self._seconds = 0.0
        self._started: list[_Process] = []
        self._ready: list[_Process] = []
        self._beginning: threading.Thread | None = None
        self._is_closed = False

    def shared(self, number: int) -> Predict:
        """The decoder with a number, which other processes help."""
        predict = self._decoders[number]
        if not self._count:
            return predict
        seconds, rows = 0.0, 0

        def shared_predict(dets: Bytes, /) -> Predictions:
            nonlocal seconds, rows
            if self._seconds > _SECONDS_ALONE and self._beginning is None and not self._is_closed:
                self._beginning = threading.Thread(target=self._begin, daemon=True)
                self._beginning.start()
            processes, parts = self._ready, 1
            if processes and rows:
                parts = min(len(processes) + 1, int(len(dets) * seconds / rows / _LEAST_SECONDS))
            mine, *others = np.array_split(dets, max(1, parts))
            # This thread sends: another one would wait for Python's lock until `mine` is decoded.
            helpers = list(zip(processes, others, strict=False))
            for process, part in helpers:
                process.send((number, part))
            start = time.perf_counter()
            try:
                found = [predict(mine)]
            except Exception:
                for process, _ in helpers:
                    process.receive()
                raise
            taken = time.perf_counter() - start
            seconds, rows = seconds + taken, rows + len(mine)
            self._seconds += taken
            received = [process.receive() for process, _ in helpers]
            for (_, part), other in zip(helpers, received, strict=True):
                # An error is raised again here, as it would be without the other process.
                found.append(other or predict(part))
            if len(found) == 1:
                return found[0]
            predictions, gaps = zip(*found, strict=True)
            return np.concatenate(predictions), np.concatenate(gaps)

        return shared_predict

    def _begin(self) -> None:
        """Starts the processes, which are ready as soon as all have compiled the decoders."""
        try:
            message = pickle.dumps([*self._decoders])
            while len(self._started) < self._count and not self._is_closed:
                self._started.append(_Process())
            for process in self._started:
                process.send(message)
            if all([process.receive() for process in self._started]):
                self._ready = self._started
        except Exception:  # whatever the pickling of a decoder raises, or there is no room for a process
            pass

    def __exit__(self, *_: object) -> None:
        """Ends the processes. Decoders decode alone from now on."""
        self._is_closed = True
        for process in self._started:
            process.end()
        if self._beginning is not None:
            self._beginning.join()
        for process in self._started:  # the last one may have been started in between
            process.end()
        self._ready = []


class _Process:
    """A process that decodes."""

    def __init__(self) -> None:
        self._popen = subprocess.Popen(
            [sys.executable, "-c", _PROGRAM],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(path or os.getcwd() for path in sys.path)},
            start_new_session=True,  # Ctrl-C is for the process that started it
        )
        assert self._popen.stdin is not None
        assert self._popen.stdout is not None
        self._in, self._out = self._popen.stdin, self._popen.stdout

    def send(self, message: object) -> None:
        """Sends the decoders, or the number of one with detection events."""
        try:
            pickle.dump(message, self._in)
            self._in.flush()
        except (OSError, ValueError):
            raise self._has_ended() from None

    def receive(self) -> Any:
        """Whether the decoders were compiled; then the predictions for what was sent, None after an error."""
        try:
            return pickle.load(self._out)
        except (OSError, EOFError, ValueError, pickle.UnpicklingError):
            raise self._has_ended() from None

    def _has_ended(self) -> RuntimeError:
        return RuntimeError(
            f"A process that decodes has ended (exit code {self._popen.wait()}): somebody has ended it, there"
            " was not enough memory, or the decoder crashes. With threads=1, one process does everything."
        )

    def end(self) -> None:
        self._popen.kill()
        self._popen.wait()
        for pipe in (self._in, self._out):
            with contextlib.suppress(OSError):
                pipe.close()


def main() -> None:
    """What a process does: decodes what it reads from its standard input, until that ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    requests, replies = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what decoders print must not come between replies

    def say(reply: object) -> None:
        pickle.dump(reply, replies)
        replies.flush()

    with contextlib.suppress(BrokenPipeError):
        try:
            decoders = pickle.loads(pickle.load(requests))
        except Exception:  # they cannot be compiled here, whatever the reason is
            say(False)
            return
        say(True)
        while True:
            try:
                number, dets = pickle.load(requests)
            except EOFError:
                return
            try:
                found: Predictions | None = decoders[number](dets)
            except Exception:  # the other process finds out by itself
                found = None
            say(found)
