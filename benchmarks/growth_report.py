"""The results of ``benchmarks.growth`` in nanoseconds: a section of ``docs/performance.md``."""

from __future__ import annotations

from typing import Any

from benchmarks.machine import BYTES_PER_COEFFICIENT, description

__all__ = ["summary"]


def summary(results: dict[str, Any]) -> str:
    """The figures as a table in Markdown.

    Args:
        results: The contents of the file that ``benchmarks.growth`` writes.

    Returns:
        A description of the machine, and a table of the parts that were measured.
    """
    rows = [
        *_noise_rows(results),
        *_vector_rows(results),
        *_cultivation_rows(results),
        *_thread_rows(results),
    ]
    lines = [
        f"Medians of {results['repeats']} alternating runs of {results['seconds']:g} s, after a warm-up.",
        f"{description(results['machine'])}.",
        "",
        "| what | measured |",
        "|---|---|",
        *(f"| {what} | {measured} |" for what, measured in rows),
    ]
    return "\n".join(lines)


def _points(results: dict[str, Any], part: str, series: str = "") -> dict[float, dict[str, Any]]:
    """The points of a plot whose series starts with the given name, by their x."""
    return {p["x"]: p for p in results["points"] if p["part"] == part and p["series"].startswith(series)}


def _noise_rows(results: dict[str, Any]) -> list[tuple[str, str]]:
    points = list(_points(results, "mechanisms", "probability").values())
    if not points:
        return []
    rows = []
    quietest = points[0]
    base = 1e9 / quietest["rate"]
    rows.append(
        (f"a shot with a mean of {quietest['facts']['mean_events']:.2g} noise events", f"{base:.1f} ns")
    )
    for point in points:
        if point["x"] in (1000, 10_000, 100_000):
            more = point["facts"]["mean_events"] - quietest["facts"]["mean_events"]
            each = (1e9 / point["rate"] - base) / more
            rows.append(
                (f"each further event, with {point['facts']['mechanisms']:,} mechanisms", f"{each:.1f} ns")
            )
    return rows


def _vector_rows(results: dict[str, Any]) -> list[tuple[str, str]]:
    points = _points(results, "width", "every")
    rows = []
    for width in (4, 8):
        if width in points:
            rows.append((f"a coefficient operation, width {width}", _nanoseconds(points[width])))
    lower = 1 << 9
    for name, size in {**results["machine"]["cache_bytes"], "memory": 1 << 62}.items():
        fitting = [
            point for width, point in points.items() if lower < BYTES_PER_COEFFICIENT << int(width) <= size
        ]
        if fitting:
            widths = [int(point["x"]) for point in fitting]
            values = sorted(fitting, key=lambda point: point["rate"] * point["facts"]["coefficients"])
            span = _span(_nanoseconds(values[-1]), _nanoseconds(values[0]))
            spanned = f"width{'s' * (len(widths) > 1)} {_span(min(widths), max(widths))}"
            rows.append((f"a coefficient operation, vector in {name} ({spanned})", span))
        lower = size
    return rows


def _span(first: object, last: object) -> str:
    return f"{first}" if first == last else f"{first} to {last}"


def _nanoseconds(point: dict[str, Any]) -> str:
    return f"{1e9 / (point['rate'] * point['facts']['coefficients']):.2f} ns"


def _speed(point: dict[str, Any]) -> str:
    nanoseconds = 1e9 / point["rate"]
    time = f"{nanoseconds:,.0f}" if nanoseconds >= 100 else f"{nanoseconds:.3g}"
    return f"{point['rate'] / 1e6:.3g} million shots/s, {time} ns per shot"


def _cultivation_rows(results: dict[str, Any]) -> list[tuple[str, str]]:
    rows = []
    for distance in (3, 5):
        point = _points(results, "noise", f"d={distance}, postselected").get(1e-3)
        if point is not None:
            events = point["facts"]["mean_events"]
            what = f"cultivation d={distance}, p=0.001, postselected: {events:.3g} events per shot"
            rows.append((what, _speed(point)))
        point = _points(results, "noise", f"d={distance}, all").get(1e-3)
        if point is not None:
            what = f"the same, all bits of all shots: {point['facts']['signature_bits']} signature bits"
            rows.append((what, _speed(point)))
    return rows


def _thread_rows(results: dict[str, Any]) -> list[tuple[str, str]]:
    rows = []
    threads = [point for point in results["points"] if point["part"] == "threads"]
    for one in threads:
        for two in threads:
            if one["series"] == two["series"] and (one["x"], two["x"]) == (1, 2):
                ratio, apart = (rate / one["rate"] for rate in (two["rate"], two["facts"]["apart"]))
                measured = (
                    f"{ratio:.2f} times the speed of one thread;"
                    f" two samplers that share nothing: {apart:.2f} times"
                )
                rows.append((f"two threads: {one['series']}", measured))
    return rows
