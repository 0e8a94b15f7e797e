"""The picture of a CHSH test of a Bell pair of logical qubits, of which one had a T gate about Y."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import matplotlib as mpl

from .programs import chsh_settings

_SERIES = (
    ("decoded", "decoded", "o"),
    ("raw", "raw outcomes", "x"),
    ("proxy_success", "S-proxy, decoded", "s"),
)


def draw_chsh(
    values: Mapping[tuple[str, str, int], tuple[float, float]], p: float, path: Path
) -> Iterator[str]:
    """Draws the four correlations, beside the ideal ones; yields a line with the sum of each series.

    Args:
        values: By program, column and distance, the probability of an answer and its standard error.
        p: The strength of the noise, for the title.
        path: The picture.
    """
    mpl.use("Agg")
    import matplotlib.pyplot as plt

    settings = dict(chsh_settings())
    ideal = [2 * program.ideal_success() - 1 for program in settings.values()]
    figure, axes = plt.subplots(figsize=(8, 4), layout="constrained")
    for place, value in enumerate(ideal):
        label = f"ideal: {sum(ideal):.3f}" if place == 0 else None
        axes.plot([place - 0.4, place + 0.4], [value, value], "k-", label=label)
    yield f"CHSH | ideal | {sum(ideal):.4f} | 0"
    series = [
        (f"{label}, d={d}", found, marker)
        for column, label, marker in _SERIES
        for d in sorted({d for _, c, d in values if c == column})
        if None not in (found := [values.get((f"CHSH {name}", column, d)) for name in settings])
    ]
    for k, (label, found, marker) in enumerate(series):
        correlations = [(2 * cell[0] - 1, 2 * cell[1]) for cell in found if cell is not None]
        total = sum(value for value, _ in correlations)
        error = sum(error**2 for _, error in correlations) ** 0.5
        yield f"CHSH | {label} | {total:.4f} | {error:.4f}"
        axes.errorbar(
            [place + 0.09 * (k - (len(series) - 1) / 2) for place in range(4)],
            [value for value, _ in correlations],
            [error for _, error in correlations],
            fmt=marker,
            label=f"{label}: {total:.3f} ± {error:.3f}",
        )
    axes.axhline(0.5, color="gray", linewidth=0.8, linestyle=":")
    bound = "mean of the four without entanglement, at most"
    axes.text(0.99, 0.49, bound, transform=axes.get_yaxis_transform(), ha="right", va="top", color="gray")
    axes.set_xticks(range(4), [*settings])
    axes.set(ylabel="correlation", title=f"A Bell pair of patches, and T about Y on one; p = {p:g}")
    axes.legend(title="sum of the four", fontsize="small", loc="center left", bbox_to_anchor=(1, 0.5))
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=90)
    plt.close(figure)
