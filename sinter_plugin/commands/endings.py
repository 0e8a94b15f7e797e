"""How commands end that save statistics: by an interrupt, without workers, or if nothing can be saved."""

from __future__ import annotations

from collections.abc import Callable

from ..processes.executors import WorkersLostError
from ..processes.interrupts import interrupted_by_signals, say
from ..statistics.statistics_file import StatisticsFileError

__all__ = ["exit_code_of"]


def exit_code_of(work: Callable[[], int], goes_on: str) -> int:
    """The exit code of some work: its own; 130 after an interrupt; 1 if workers or the file were lost."""
    try:
        with interrupted_by_signals():
            return work()
    except KeyboardInterrupt:
        say(f"\nInterrupted. Run the same command again to {goes_on}.")
        return 130
    except WorkersLostError as error:
        say(f"\n{error} Run the same command again to {goes_on}.")
    except StatisticsFileError as error:
        say(f"\n{error}")
    return 1
