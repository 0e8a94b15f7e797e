"""The page of a circuit."""

from __future__ import annotations

import pathlib
from typing import Any, TextIO, cast

import stim

from ...base.arguments import integer, path, text
from ...base.errors import ResourceLimitError
from ...base.masks import Mask, postselected_outputs
from ...rates.fault_sets.interface import search_arguments
from ...rates.fault_sets.search.limits import Limits
from ..logical_states import LogicalState, LogicalStateCheck
from ..pictures import page_of
from ..pictures.page import Findings
from ..plan_report import PlanReport
from .fault_set_methods import checked_circuit

__all__ = ["CircuitPictures"]


class CircuitPictures:
    """The method that writes a page."""

    _stim: stim.Circuit

    def page(
        self,
        file: TextIO | str | pathlib.Path,
        *,
        postselection_mask: Mask | None = None,
        postselected_observables_mask: Mask | None = None,
        state_check: LogicalStateCheck | LogicalState | None = None,
        title: str = "Circuit",
        most_sets: int = 100,
        relative_error: float = 0.05,
        max_seconds: float | None = 60.0,
        seed: int | None = None,
        threads: int = 1,
    ) -> None:
        r"""Writes a page to look at in a browser: one file, which needs no network.

        It shows the circuit tick by tick on its qubits' coordinates, how wide the vector is and what it
        costs, and, from fault sets, the logical error rate, what part of it and of the discards comes from
        each place of noise, and the malignant sets with what their faults become. Where the circuit has no
        such rate (no observable, or detectors that are not postselected), the page says why, and shows the
        rest.

        Args:
            file: A path, or a file opened for writing text.
            postselection_mask: The detectors that discard a shot, as in ``logical_error_rate``.
            postselected_observables_mask: The observables that do.
            state_check: As in ``logical_error_rate``.
            title: The title of the page.
            most_sets: How many malignant sets to show at most, those that contribute most.
            relative_error: As in ``logical_error_rate``.
            max_seconds: As in ``logical_error_rate``.
            seed: None for fresh entropy, or an integer in range(2**64): then the page is the same each time,
                unless ``max_seconds`` ends the search early.
            threads: Number of threads.

        Raises:
            NotImplementedError: An instruction is not supported.
            ResourceLimitError: The loops of the circuit are too long to be drawn.
            TypeError: A mask has the wrong dtype.
            ValueError: A mask has the wrong shape, or an argument is out of range.

        Examples:
            >>> import io, stim_nonclifford as snc
            >>> circuit = snc.Circuit("RX 0\nT 0\nZ_ERROR(0.01) 0\nT_DAG 0\nMX 0")
            >>> circuit += snc.Circuit("OBSERVABLE_INCLUDE(0) rec[-1]")
            >>> page = io.StringIO()
            >>> circuit.page(page, title="One T gate", seed=1)
            >>> page.getvalue().splitlines()[0], "One T gate" in page.getvalue()
            ('<!doctype html>', True)
        """
        title, most_sets = text(title, "title"), integer(most_sets, "most_sets")
        # Wrong arguments are errors, but what the circuit does not have is said in the page.
        Limits(relative_error, max_seconds)
        search_arguments(seed, threads, progress=False)
        if not hasattr(file, "write"):
            path(file, "file", "a path or an open file")
        circuit: Any = checked_circuit(cast("Any", self), state_check, postselected_observables_mask)
        found = circuit._stim
        postselected_outputs(
            postselection_mask, postselected_observables_mask, found.num_detectors, found.num_observables
        )
        masks = {
            "postselection_mask": postselection_mask,
            "postselected_observables_mask": postselected_observables_mask,
            "threads": threads,
        }
        table = circuit._fault_table()
        limits = {"relative_error": relative_error, "max_seconds": max_seconds, "seed": seed}
        findings = _findings(circuit, {**masks, **limits}, masks, most_sets)
        written = page_of(found, table, _plan(circuit, masks), findings, title)
        if hasattr(file, "write") and not isinstance(file, pathlib.Path):
            file.write(written)
        else:
            path(file, "file", "a path or an open file").write_text(written, encoding="utf-8")


def _findings(circuit: Any, asked: dict[str, Any], of_sets: dict[str, Any], most_sets: int) -> Findings:
    """The rate and the malignant sets, or why there are none."""
    if not circuit._stim.num_observables:
        return Findings(
            None, [], None, "The circuit has no observables, so that it has no logical error rate."
        )
    try:
        rate = circuit.logical_error_rate(**asked)
    except (ValueError, ResourceLimitError) as error:
        return Findings(None, [], None, f"No logical error rate: {error}")
    if not rate.kept_and_wrong:
        return Findings(None, [], None, "No fault set was found that makes a kept shot wrong.")
    try:
        sets = circuit.malignant_sets(**of_sets)
    except ResourceLimitError as error:
        return Findings(rate, [], None, f"No malignant sets are shown: {error}")
    return Findings(rate, sets[:most_sets], len(sets), "")


def _plan(circuit: Any, masks: dict[str, Any]) -> PlanReport | None:
    try:
        report: PlanReport = circuit.plan(**{name: mask for name, mask in masks.items() if name != "threads"})
        return report
    except ResourceLimitError:
        return None
