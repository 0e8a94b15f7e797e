"""``python -m sinter_plugin collect``: ``sinter collect`` for circuits with T gates.

The command takes the arguments of ``sinter collect`` and calls ``sinter.collect``. The differences are:

* the samplers of this plugin are always registered;
* circuit files may have bare gates (``T 0``) as well as tags (``S[T] 0``);
* a circuit for which Sinter cannot compute an error model gets one from ``stim_nonclifford``;
* ``--count_observable_error_combos`` works for the samplers of this plugin too;
* observable 0 can be the only postselected observable, which Sinter 1.16 ignores;
* ``--postselect_detectors_with_non_zero_4th_coord`` skips detectors without a fourth coordinate, on which
  Sinter 1.16 fails;
* wrong input is reported in one line, if possible before workers start;
* before rows are appended, the file of statistics is locked and checked, and a last row that was cut off is
  dropped;
* SIGTERM and SIGHUP interrupt a run as Ctrl-C does, and a run ends when a worker dies;
* ``--max_seconds`` ends a run, and where nobody watches, progress is logged once per hour;
* ``--state_check`` counts the shots in which a logical state is not the wanted one;
* with ``--dask``, ``--shard`` or ``--seed``, workers take ranges of numbered shots (``range_command``).
"""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
import os
import pathlib
import sys
import warnings
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import sinter

import stim_nonclifford as snc

from .collection_progress import HourlyLog
from .decoders import decoder_named, known_decoders
from .postselection import metadata_of, postselected_detectors, postselected_observables
from .range_arguments import RangeArguments, parse_range_arguments
from .range_collection import WorkersLostError
from .range_command import check_range_arguments, collect_ranges
from .sinter_internals import parse_collect_arguments
from .soft_decoding import SoftDecodingSampler
from .soft_postselect import SoftPostselectSampler, check_soft_postselect
from .state_check_argument import with_state_check
from .statistics.file_lock import other_file_advice
from .statistics.row_warnings import S_PROXY, with_warning
from .statistics.rows import read_rows, shown
from .statistics.statistics_file import StatisticsFile, StatisticsFileError, sums_of
from .tasks import is_clifford, is_misread, sinter_error_model, task, with_error_model
from .worker_watch import TimeIsUpError, WorkerDiedError, stop_on_worker_death

__all__ = ["collect"]

_CUSTOM_DECODERS = "--custom_decoders_module_function"
_NEWLINE = b"\n"
_SHORTEST_PREFIX = "--custom_d"  # argparse accepts any unambiguous prefix of an argument


def collect(arguments: Sequence[str]) -> int:
    """Runs the command.

    Args:
        arguments: The arguments of ``sinter collect``.

    Returns:
        The exit code: 0 for success, 130 if the user interrupted the run, 1 if a worker died or statistics
        could no longer be saved.

    Raises:
        ValueError: An argument, a circuit or a mask is wrong.
        OSError: A file cannot be read or written.
        SystemExit: ``argparse`` ended the command, for example after ``--help``.
    """
    own, arguments = parse_range_arguments(arguments)
    for name in known_decoders():
        if f"soft_{name}" in arguments:
            decoder_named(name)  # says what to install, where Sinter would say that there is no such decoder
    args = parse_collect_arguments(_with_own_samplers(arguments))
    _check_custom_decoders(args)
    _set_state_check(args, own)
    _set_counts(args)
    _set_warnings(args)
    if own.takes_ranges:
        check_range_arguments(own, args)
    num_workers = _num_workers(args.processes)
    tasks = [_task_of_file(path, args) for path in args.circuits]
    _check_existing_data(args)
    try:
        with _opened_save_file(args, own.seed) as save_file:
            if own.takes_ranges:
                collect_ranges(tasks, num_workers, own, args, save_file, _RowPrinter(args).show)
            else:
                with stop_on_worker_death(num_workers, own.max_seconds):
                    _collect(tasks, num_workers, args, save_file)
    except KeyboardInterrupt:
        _say("\nInterrupted. Run the same command again to continue from the saved statistics.")
        return 130
    except TimeIsUpError:
        _say("The time is up. Run the same command again to continue from the saved statistics.")
        return 0
    except (WorkerDiedError, WorkersLostError) as error:
        _say(f"\n{error} Run the same command again to continue from the saved statistics.")
        return 1
    except StatisticsFileError as error:
        _say(f"\n{error}")
        return 1
    except (RuntimeError, ValueError) as error:
        reported = (ValueError, NotImplementedError, snc.ResourceLimitError, snc.EngineUnavailableError)
        if isinstance(error.__cause__, reported):
            raise ValueError(f"A worker could not sample a circuit: {error.__cause__}") from error
        raise
    return 0


def _say(message: str) -> None:
    with contextlib.suppress(OSError):  # the terminal may have been closed
        print(message, file=sys.stderr)


def _with_own_samplers(arguments: Sequence[str]) -> list[str]:
    """Adds the samplers of this plugin to the custom decoders that the arguments name.

    Examples:
        >>> _with_own_samplers(["--custom_decoders", "my:decoders", "--quiet"])
        ['--quiet', '--custom_decoders_module_function', 'sinter_plugin:sinter_samplers',
        'sinter_plugin:sinter_decoders', 'my:decoders']
    """
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    lengths = range(len(_SHORTEST_PREFIX), len(_CUSTOM_DECODERS) + 1)
    names = [_CUSTOM_DECODERS[:length] for length in lengths]
    parser.add_argument(*names, nargs="+", default=[], dest="custom_decoders")
    found, others = parser.parse_known_args(list(arguments))
    # Sinter takes the last of several entries with the same name, so the user's entries have priority.
    own = ["sinter_plugin:sinter_samplers", "sinter_plugin:sinter_decoders"]
    return [*others, _CUSTOM_DECODERS, *own, *found.custom_decoders]


def _set_state_check(args: argparse.Namespace, own: RangeArguments) -> None:
    """Gives the samplers of this plugin the state that they check."""
    args.state_check, args.state_check_text = own.state_check, own.state_check_text
    if own.state_check is None:
        return
    for name in args.decoders:
        if not _is_own_sampler(name, args):
            raise ValueError(
                f"--state_check works for the samplers of this plugin, but not for {name}, which has no"
                f" expectation values. Use soft_postselect, or, to decode, soft_{name}."
            )
        sampler = args.custom_decoders[name]
        if sampler.state_check is not None:
            raise ValueError(f"The sampler {name} has a state check already. Leave out --state_check.")
        args.custom_decoders[name] = dataclasses.replace(sampler, state_check=own.state_check)


def _check_custom_decoders(args: argparse.Namespace) -> None:
    for name in args.decoders:
        found = args.custom_decoders.get(name)
        if isinstance(found, type):
            raise ValueError(
                f"--custom_decoders_module_function: {name!r} is the class {found.__name__}. The function"
                f" must return objects, such as {found.__name__}()."
            )


def _set_counts(args: argparse.Namespace) -> None:
    """Sets up counts that Sinter supports for decoders only, or refuses them."""
    samplers = [name for name in args.decoders if _is_sampler(name, args)]
    if args.count_detection_events and samplers:
        raise ValueError(
            f"--count_detection_events works for decoders only, not for the sampler {samplers[0]}, which"
            " stops sampling a shot once a detector has discarded it. Leave the argument out."
        )
    if args.count_observable_error_combos and samplers:
        others = [name for name in args.decoders if not _is_own_sampler(name, args)]
        if others:
            raise ValueError(
                "--count_observable_error_combos works for decoders and for the samplers of this plugin, but"
                f" not for both in one run. Collect {' '.join(others)} in a run of its own."
            )
        for name in samplers:
            args.custom_decoders[name] = dataclasses.replace(
                args.custom_decoders[name], count_observable_error_combos=True
            )
        args.count_observable_error_combos = False  # Sinter refuses it for all samplers


def _set_warnings(args: argparse.Namespace) -> None:
    """Warnings come from this process, and not from every worker."""
    args.warning_samplers = {}
    for name in args.decoders:
        sampler = args.custom_decoders.get(name)
        if isinstance(sampler, (SoftPostselectSampler, SoftDecodingSampler)):
            args.warning_samplers[name] = sampler
            args.custom_decoders[name] = dataclasses.replace(sampler, warn=False)


def _is_own_sampler(decoder: str, args: argparse.Namespace) -> bool:
    return isinstance(args.custom_decoders.get(decoder), (SoftPostselectSampler, SoftDecodingSampler))


def _is_sampler(decoder: str, args: argparse.Namespace) -> bool:
    return isinstance(args.custom_decoders.get(decoder), sinter.Sampler)


def _task_of_file(path: str, args: argparse.Namespace) -> sinter.Task:
    try:
        circuit = snc.Circuit.from_file(path)
        chosen = [args.custom_decoders.get(name) for name in args.decoders]
        if any(isinstance(sampler, SoftPostselectSampler) for sampler in chosen):
            # before Sinter's arguments are applied to it
            check_soft_postselect(circuit, args.state_check)
        stim_circuit = circuit.to_stim()
        _check_reading(circuit, args)
        _check_proxy(circuit, path, args)
        metadata = metadata_of(stim_circuit, path, args)
        if args.state_check is not None:
            metadata = with_state_check(metadata, args.state_check_text)
        discards_on_all = any(
            isinstance(sampler, sinter.Sampler) and not isinstance(sampler, SoftDecodingSampler)
            for sampler in chosen
        )
        detectors = postselected_detectors(
            stim_circuit, metadata, args, discards_on_all="soft_postselect" if discards_on_all else None
        )
        observables = postselected_observables(circuit.num_observables, metadata, args)
        _check_samplers(circuit, detectors, observables, path, args)
        return task(
            circuit,
            postselection_mask=detectors,
            postselected_observables_mask=observables,
            json_metadata=metadata,
            # With max_errors, the sampler can end a batch early. It does not enter the strong_id.
            collection_options=sinter.CollectionOptions(
                max_errors=args.max_errors if args.custom_error_count_key is None else None
            ),
        )
    except (ValueError, NotImplementedError, snc.ResourceLimitError) as error:
        raise ValueError(f"{path}: {error}") from error


def _check_samplers(
    circuit: snc.Circuit,
    detectors: npt.NDArray[np.bool_] | None,
    observables: npt.NDArray[np.bool_] | None,
    path: str,
    args: argparse.Namespace,
) -> None:
    """Checks that there is something to sample, and says once what the workers would all warn of."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for sampler in args.warning_samplers.values():
            if isinstance(sampler, SoftPostselectSampler):
                sampler.check(circuit, detectors, observables)
            else:
                sampler.check(circuit, detectors)
    for message in dict.fromkeys(str(each.message) for each in caught):
        _say(f"{path}: {message}")


def _check_reading(circuit: snc.Circuit, args: argparse.Namespace) -> None:
    """Refuses decoders that get samples of a circuit in which Stim misreads gates."""
    decoders = [name for name in args.decoders if not _is_sampler(name, args)]
    if decoders and is_misread(circuit):
        raise ValueError(
            f"The decoder {decoders[0]} samples with Stim, which ignores tags: it reads rotations such as"
            " R_X(0.5) as the identity or as SPP, and gates that a record controls as CZ. Use"
            f" soft_{decoders[0]}, which samples the circuit as it is, or collect the circuit that s_proxy()"
            " returns."
        )


def _check_proxy(circuit: snc.Circuit, path: str, args: argparse.Namespace) -> None:
    """Warns that decoders get samples of the S-proxy, or refuses if these are not deterministic."""
    decoders = [name for name in args.decoders if not _is_sampler(name, args)]
    if not decoders or is_clifford(circuit):
        return
    if sinter_error_model(circuit.to_stim()) is None:
        raise ValueError(
            f"The decoder {decoders[0]} samples with Stim, which replaces T by S; detectors or observables of"
            " this circuit are then random. Use the sampler soft_postselect, or, to decode,"
            f" soft_{decoders[0]}."
        )
    _say(
        f"{path}: {decoders[0]} samples with Stim, which replaces T by S: its statistics are those of the"
        " S-proxy."
    )


def _rows_of_proxies(tasks: Sequence[sinter.Task], args: argparse.Namespace) -> set[str]:
    """The ``strong_id`` of every task of which Stim samples the S-proxy."""
    return {
        with_error_model(task, name).strong_id()
        for task in tasks
        for name in args.decoders
        if not _is_sampler(name, args) and not is_clifford(snc.Circuit(task.circuit))
    }


def _check_existing_data(args: argparse.Namespace) -> None:
    for path in args.existing_data_filepaths:
        save_path = pathlib.Path(args.save_resume_filepath or "")
        if save_path.is_file() and save_path.samefile(path):
            raise ValueError(
                f"--existing_data_filepaths {path} is also the file of --save_resume_filepath: its rows would"
                " be counted twice. Leave it out of --existing_data_filepaths."
            )
        content = pathlib.Path(path).read_bytes()
        _, cut = read_rows(content, path)
        if cut is not None:
            raise ValueError(
                f"{path}, line {content.count(_NEWLINE) + 1}: the line was cut off: {shown(cut)}. Delete it;"
                " its shots are then not counted."
            )


def _opened_save_file(
    args: argparse.Namespace, seed: int | None
) -> contextlib.AbstractContextManager[StatisticsFile | None]:
    if args.save_resume_filepath is None:
        return contextlib.nullcontext()
    return StatisticsFile(
        pathlib.Path(args.save_resume_filepath),
        say=_say,
        advice=other_file_advice(seed),
    )


class _RowPrinter:
    """Prints new rows, if the arguments ask for it, below Sinter's header."""

    def __init__(self, args: argparse.Namespace) -> None:
        self._prints = args.also_print_results_to_stdout or args.save_resume_filepath is None
        self._header_printed = False

    def show(self, progress: sinter.Progress) -> None:
        lines = [stats.to_csv_line() for stats in progress.new_stats]
        if not self._prints:
            return
        if lines and not self._header_printed:
            lines.insert(0, sinter.CSV_HEADER)
            self._header_printed = True
        try:
            for line in lines:
                print(line, flush=True)
        except OSError as error:
            error.filename = "standard output"
            raise


def _collect(
    tasks: list[sinter.Task], num_workers: int, args: argparse.Namespace, save_file: StatisticsFile | None
) -> None:
    printer = _RowPrinter(args)
    log = None if args.quiet or sys.stderr.isatty() else HourlyLog()

    proxies = _rows_of_proxies(tasks, args)
    counted: list[sinter.TaskStats] = []

    def on_progress(progress: sinter.Progress) -> None:
        rows = [with_warning(row, S_PROXY) if row.strong_id in proxies else row for row in progress.new_stats]
        if save_file is not None:
            counted[:] = sums_of([*counted, *rows]).values()
            save_file.save(counted)
        printer.show(dataclasses.replace(progress, new_stats=tuple(rows)))
        if log is not None:
            log.show(progress.status_message)

    sinter.collect(
        num_workers=num_workers,
        tasks=tasks,
        print_progress=not args.quiet and log is None,
        progress_callback=on_progress,
        existing_data_filepaths=[
            *args.existing_data_filepaths,
            *([] if save_file is None else [args.save_resume_filepath]),
        ],
        **{
            name: getattr(args, name)
            for name in (
                "max_errors",
                "max_shots",
                "count_detection_events",
                "count_observable_error_combos",
                "decoders",
                "max_batch_seconds",
                "max_batch_size",
                "start_batch_size",
                "custom_decoders",
                "custom_error_count_key",
                "allowed_cpu_affinity_ids",
            )
        },
    )


def _num_workers(processes: str) -> int:
    if processes == "auto":
        return os.cpu_count() or 1
    if not processes.isdigit() or int(processes) < 1:
        raise ValueError(f'--processes must be a positive integer or "auto", not {processes!r}.')
    return int(processes)
