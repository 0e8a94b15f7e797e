"""Which stage of magic state cultivation costs the logical error, and which the discarded shots?

    python -m examples.cultivation.error_budget [--d 3 5] [--p 0.001]

Computes the logical error rate of each circuit from its fault sets, and divides it among the stages of the
protocol, by the noise in their moments: a set of k faults that makes a kept shot wrong counts 1/k for each of
its faults. The sensitivity of a stage is by how many percent the logical error rate falls if its noise is one
percent weaker. A plot shows the same moment by moment, and another one on the layout, stage by stage.
"""

from __future__ import annotations

import argparse
import sys
from bisect import bisect_right
from collections.abc import Callable
from pathlib import Path

import matplotlib as mpl

import stim_nonclifford as snc
from stim_nonclifford.generators.cultivation import AVAILABLE_DISTANCES, cultivation_circuit
from stim_nonclifford.generators.cultivation.protocol import build_noiseless
from stim_nonclifford.rates.results import ErrorBudget, LogicalErrorRate, NoisePlace

Estimates = dict[int, LogicalErrorRate]


def stages_of(distance: int) -> Callable[[NoisePlace], str]:
    """The function that says to which stage a place of noise belongs: its first moment and its name."""
    stages = build_noiseless(distance).stages
    first_moments = [stage.first_moment for stage in stages]

    def stage(place: NoisePlace) -> str:
        # TICKs separate the moments of the circuit.
        found = stages[bisect_right(first_moments, place.tick) - 1]
        return f"{found.first_moment:2} {found.name}"

    return stage


def print_budget(distance: int, p: float, budget: ErrorBudget) -> None:
    """Prints the budget of a circuit, and its answer."""
    print(f"\nd={distance}, p={p}\n{budget}")
    worst = max(budget.groups, key=lambda group: group.share)
    lost = max(budget.groups, key=lambda group: group.discarded)
    print(
        f"The logical error of d={distance} comes from: {str(worst.group)[3:]} ({worst.share:.0%});"
        f" most shots are lost to: {str(lost.group)[3:]} ({lost.discarded:.0%})."
    )


def plot(estimates: Estimates, path: Path) -> None:
    """Draws the shares of the moments, with the stages as bands."""
    mpl.use("Agg")
    import matplotlib.pyplot as plt

    figure, rows = plt.subplots(
        len(estimates), 1, figsize=(12, 4.5 * len(estimates)), squeeze=False, layout="constrained"
    )
    for axes, (distance, estimate) in zip(rows[:, 0], estimates.items(), strict=True):
        budget = estimate.error_budget("tick")
        budget.plot(axes)
        moments = [group.group for group in budget.groups]
        axes.set_xticks(range(0, len(moments), 10), [str(moment) for moment in moments[::10]], rotation=0)
        stages = build_noiseless(distance).stages
        for k, stage in enumerate(stages):
            if stage.first_moment >= len(moments):
                continue  # the final check has no noise
            end = stages[k + 1].first_moment if k + 1 < len(stages) else len(moments)
            if k % 2:
                axes.axvspan(stage.first_moment - 0.5, end - 0.5, color="tab:blue", alpha=0.06, zorder=0)
            axes.text(
                stage.first_moment, 0.97, f" {stage.name}", transform=axes.get_xaxis_transform(),
                rotation=90, va="top", fontsize="small",
            )  # fmt: skip
        axes.set(
            xlabel="moment",
            title=f"d={distance}: logical error rate {estimate.logical_error_rate:.3g},"
            f" {1 - estimate.kept:.1%} of the shots discarded",
        )
        axes.legend(loc="center left")
    figure.savefig(path)


def main() -> int:
    """Estimates, prints and plots."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--d", type=int, nargs="+", choices=AVAILABLE_DISTANCES, default=(3, 5))
    parser.add_argument("--p", type=float, default=1e-3, help="noise strength")
    parser.add_argument("--relative_error", type=float, default=0.01, help="of the logical error rates")
    parser.add_argument("--seed", type=int, default=None)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--out", type=Path, default=Path("out/error_budget.png"), help="the plot")
    arguments = parser.parse_args()
    estimates: Estimates = {}
    for distance in arguments.d:
        circuit = snc.Circuit(cultivation_circuit(distance=distance, p=arguments.p))
        estimate = circuit.logical_error_rate(
            relative_error=arguments.relative_error,
            seed=arguments.seed,
            threads=arguments.threads,
            postselection_mask="all",
        )
        estimates[distance] = estimate
        print_budget(distance, arguments.p, estimate.error_budget(stages_of(distance)))
    arguments.out.parent.mkdir(parents=True, exist_ok=True)
    plot(estimates, arguments.out)
    print(f"\n{arguments.out} written.")
    for distance, estimate in estimates.items():
        file = arguments.out.with_name(f"{arguments.out.stem}_layout_d={distance}.png")
        with mpl.rc_context({"font.size": 15}):  # titles that are read in a narrow column, too
            estimate.error_budget(stages_of(distance)).plot(by="layout").savefig(file, dpi=100)
        print(f"{file} written.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
