"""The page of a circuit: one file with data, styles and script, that needs no network."""

from __future__ import annotations

import html
import json
import pathlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import stim

from ...base.errors import ResourceLimitError
from ...rates.budget.layout import places_of_qubits
from ...rates.fault_sets import MalignantSet
from ...rates.results import LogicalErrorRate, NoisePlace
from ...simulation.faults import CircuitFault, FaultTable
from ..diagrams.moments import gates_by_tick
from ..plan_report import PlanReport
from .frames import Frame, frame_of

_HERE = pathlib.Path(__file__).parent
_MOST_LISTED = 12


@dataclass(frozen=True)
class Findings:
    """What is known about logical errors."""

    rate: LogicalErrorRate | None
    sets: Sequence[MalignantSet]  # the malignant sets to show, those that contribute most first
    num_sets: int | None  # how many there are of these weights; None if they were too many to list
    remark: str  # why something is not there, or empty


def findings_of(
    num_observables: int,
    rate_of: Callable[[], LogicalErrorRate],
    sets_of: Callable[[], list[MalignantSet]],
    most_sets: int,
) -> Findings:
    """The rate and the malignant sets, or why there are none."""
    if not num_observables:
        return Findings(
            None, [], None, "The circuit has no observables, so that it has no logical error rate."
        )
    try:
        rate = rate_of()
    except (ValueError, ResourceLimitError) as error:
        return Findings(None, [], None, f"No logical error rate: {error}")
    if not rate.kept_and_wrong:
        return Findings(None, [], None, "No fault set was found that makes a kept shot wrong.")
    try:
        sets = sets_of()
    except ResourceLimitError as error:
        return Findings(rate, [], None, f"No malignant sets are shown: {error}")
    return Findings(rate, sets[:most_sets], len(sets), "")


def page_of(
    circuit: stim.Circuit, table: FaultTable | None, report: PlanReport | None, findings: Findings, title: str
) -> str:
    """The text of the page; without malignant sets it needs no table of faults."""
    data = json.dumps(_data(circuit, table, report, findings), ensure_ascii=False, separators=(",", ":"))
    parts = {name: (_HERE / f"page.{name}").read_text(encoding="utf-8") for name in ("html", "css", "js")}
    page = parts["html"]
    for name, text in (
        ("title", html.escape(title)),
        ("css", parts["css"].strip()),
        ("js", parts["js"].strip()),
        # "</" would end the script in which the data is, and "<!--" would open a comment.
        ("data", data.replace("<", "\\u003c")),
    ):
        page = page.replace(f"{{{{{name}}}}}", text)
    return page


def _data(
    circuit: stim.Circuit, table: FaultTable | None, report: PlanReport | None, findings: Findings
) -> dict[str, Any]:
    ticks = gates_by_tick(circuit)
    places = places_of_qubits(circuit)
    widths, costs = _costs(report, len(ticks))
    return {
        "qubits": [[qubit, x, y] for qubit, (x, y) in places.items()],
        "ticks": [
            [[glyph.name, glyph.qubits, glyph.symbols, glyph.condition] for glyph in glyphs]
            for glyphs in ticks
        ],
        "widths": widths,
        "costs": costs,
        "places": _places(findings.rate),
        "rates": _rates(circuit, findings.rate, report),
        "remark": findings.remark,
        "sets": [
            _set(k, each, table, findings.rate) for k, each in enumerate(findings.sets) if table is not None
        ],
        "hint": _hint(findings),
    }


def _costs(report: PlanReport | None, num_ticks: int) -> tuple[list[int], list[int]]:
    """For each tick the largest width in it, and the coefficient operations."""
    widths, costs = [0] * num_ticks, [0] * num_ticks
    if report is None:
        return widths, costs
    last = 0
    operations = list(report.operations)
    for tick in range(num_ticks):
        widths[tick] = last
        while operations and operations[0].tick <= tick:
            operation = operations.pop(0)
            widths[tick] = max(widths[tick], operation.width)
            costs[tick] += operation.coefficients
            last = operation.width - (operation.kind == "measurement" and not operation.weak)
        widths[tick] = max(widths[tick], last)
    return widths, costs


def _places(rate: LogicalErrorRate | None) -> list[list[Any]]:
    """Each place of noise: tick, qubits, shares of the logical error and of the discards, text."""
    if rate is None:
        return []
    found = []
    for share in rate.error_budget(lambda place: place).groups:
        place = share.group
        if isinstance(place, NoisePlace):
            text = f"{place.gate}, {place.instruction} in line {place.line}"
            shares = [float(f"{each:.4g}") for each in (share.share, share.discarded)]
            found.append([place.tick, list(place.targets), *shares, text])
    return found


def _rates(
    circuit: stim.Circuit, rate: LogicalErrorRate | None, report: PlanReport | None
) -> list[tuple[str, str]]:
    found = []
    if rate is not None:
        low, high = rate.interval
        # There is a rate only if all detectors are postselected.
        kept = "kept, as no detector fires" if circuit.num_detectors else "kept"
        found += [
            ("logical error rate per kept shot", f"{rate.logical_error_rate:.4g}"),
            (f"{rate.coverage:.0%} interval", f"{low:.4g} to {high:.4g}"),
            (kept, f"{rate.kept:.4%}"),
            ("attempts per kept shot", f"{1 / rate.kept:.4g}" if rate.kept else "none is kept"),
        ]
    counts = (circuit.num_qubits, circuit.num_ticks + 1, circuit.num_detectors, circuit.num_observables)
    names = ("qubits", "ticks", "detectors", "observables")
    counted = [f"{n} {name if n != 1 else name[:-1]}" for n, name in zip(counts, names, strict=True)]
    found.append(("circuit", ", ".join(counted)))
    if report is not None:
        peak = report.peak_width
        found += [
            ("peak width", f"{peak} ({2**peak:,} coefficients)"),
            ("to simulate a shot", f"{report.total_coefficients:,} coefficient operations"),
            ("noise events per shot", f"{report.mean_events:.4g}"),
        ]
    return found


def _hint(findings: Findings) -> str:
    if not findings.sets or findings.rate is None:
        return ""
    total = sum(each.probability * each.kept_and_wrong for each in findings.sets)
    share = total / findings.rate.kept_and_wrong
    count = len(findings.sets)
    of_all = "" if findings.num_sets in (None, count) else f" of {findings.num_sets:,}"
    return (
        f"{count}{of_all} smallest sets, {share:.1%} of the logical error in all. A click draws the faults of"
        " a set (dashed) and the Paulis that they become."
    )


def _set(
    number: int, found: MalignantSet, table: FaultTable, rate: LogicalErrorRate | None
) -> dict[str, Any]:
    probability = found.probability * found.kept_and_wrong
    share = f", {probability / rate.kept_and_wrong:.2%}" if rate is not None and rate.kept_and_wrong else ""
    frame = frame_of(table, found.faults)
    return {
        "label": f"{number + 1}. {found.weight} faults, {probability:.2g}{share}",
        "summary": (
            f"These faults and no others: probability {found.probability:.3g}. Then the shot is kept with"
            f" probability {found.kept:.3g}, and kept and wrong with {found.kept_and_wrong:.3g}."
        ),
        "faults": [_fault(fault, found) for fault in found.faults],
        "flips": _flips(frame),
        "paulis": {str(tick): factors for tick, factors in frame.paulis.items()},
    }


def _fault(fault: CircuitFault, found: MalignantSet) -> dict[str, Any]:
    others = next((len(causes) - 1 for causes in found.causes if fault in causes), 0)
    text = str(fault) + (f" (or {others} other{'s' * (others > 1)} with the same effect)" if others else "")
    return {"tick": fault.tick, "targets": fault.targets, "text": text}


def _flips(frame: Frame) -> str:
    names = [f"D{k}" for k in frame.detectors] + [f"L{k}" for k in frame.observables]
    listed = ", ".join(names[:_MOST_LISTED]) + (" and others" if len(names) > _MOST_LISTED else "")
    flipped = f"The Paulis flip {listed}" if names else "The Paulis flip no detector and no observable"
    return (
        f"{flipped}. On their way they reverse the angles of rotations with which they anticommute, which"
        " makes further outcomes random: the probabilities above have both."
    )
