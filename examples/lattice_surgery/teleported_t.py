"""A T gate that is teleported into a surface code: how often a kept shot is wrong, for T and its S-proxy.

    python -m examples.lattice_surgery.teleported_t [--d 3 5] [--p 0.0005 0.001 0.002] [--shots 4_000_000]

The T state is injected at the corner of a patch and consumed by lattice surgery. Logical error rates are
computed from fault sets, and sampled as well. Prints them for the whole protocol, and for the same with noise
from the merge on alone, where the injection is perfect. A plot shows both, and how many shots are kept.
"""

from __future__ import annotations

import argparse
import itertools
import sys
from pathlib import Path
from typing import Any, NamedTuple

import matplotlib as mpl
import sinter
import stim

import stim_nonclifford as snc
from stim_nonclifford.generators.cultivation.builder import GateChoice
from stim_nonclifford.generators.teleportation import (
    AVAILABLE_DISTANCES,
    CorrectionChoice,
    teleportation_circuit,
)
from stim_nonclifford.generators.teleportation.protocol import build_teleportation
from stim_nonclifford.rates.results import LogicalErrorRate
from stim_nonclifford.simulation.sampling import SampleCounts

from ..cultivation.rates import interval, likelihood_region

LEADING: dict[GateChoice, float] = {"T": 101 / 30, "S": 24 / 5}
"""Logical error rate of the injection over p, for small p."""


FEWEST_ERRORS = 100
"""Sampled rates with fewer errors are not drawn."""


class Curve(NamedTuple):
    """Circuits that differ in the strength of the noise.

    Attributes:
        distance: Distance of the patches.
        gate: "T" or "S".
        correction: How the S correction is done.
        perfect_injection: Whether the noise begins with the merge.
    """

    distance: int
    gate: GateChoice
    correction: CorrectionChoice
    perfect_injection: bool

    def circuit(self, p: float) -> stim.Circuit:
        """The circuit for one strength of the noise."""
        circuit = teleportation_circuit(self.distance, p, self.gate, correction=self.correction)
        if not self.perfect_injection:
            return circuit
        stages = build_teleportation(self.distance).builder.stages
        return noise_from(circuit, next(stage.first_moment for stage in stages if stage.name == "merge"))

    def __str__(self) -> str:
        what = f"T, {self.correction}" if self.gate == "T" else "S-proxy"
        return f"d={self.distance}, {what}"


Rates = dict[tuple[Curve, float], LogicalErrorRate]
Counts = dict[tuple[Curve, float], SampleCounts]


def noise_from(circuit: stim.Circuit, moment: int) -> stim.Circuit:
    r"""The circuit without the noise of its first moments.

    Examples:
        >>> print(noise_from(stim.Circuit("R 0\nX_ERROR(0.1) 0\nTICK\nM(0.1) 0"), 1))
        R 0
        TICK
        M(0.1) 0
    """
    result = stim.Circuit()
    tick = 0
    for instruction in circuit.flattened():
        single = stim.Circuit()
        single.append(instruction)
        result += single if tick >= moment else single.without_noise()
        tick += instruction.name == "TICK"
    return result


def curves_of(distances: list[int], *, perfect_injection: bool) -> list[Curve]:
    """The curves of one half of the plot. For the S-proxy the corrections make no difference."""
    kinds: list[tuple[GateChoice, CorrectionChoice]] = [("T", "gate"), ("T", "software"), ("S", "software")]
    return [Curve(d, gate, correction, perfect_injection) for d in distances for gate, correction in kinds]


def compute(curves: list[Curve], strengths: list[float], arguments: argparse.Namespace) -> Rates:
    """Logical error rates from fault sets."""
    rates: Rates = {}
    for curve in curves:
        circuits = [snc.Circuit(curve.circuit(p)) for p in strengths]
        found = snc.logical_error_rates(
            circuits,
            relative_error=arguments.relative_error,
            seed=arguments.seed,
            threads=arguments.threads,
            postselection_mask="all",
        )
        rates |= {(curve, p): rate for p, rate in zip(strengths, found, strict=True)}
    return rates


def sample(curves: list[Curve], strengths: list[float], arguments: argparse.Namespace) -> Counts:
    """Counts of shots, with all detectors postselected."""
    counts: Counts = {}
    for curve, p in itertools.product(curves, strengths):
        circuit = curve.circuit(p)
        sampler = snc.Circuit(circuit).compile_detector_sampler(
            seed=arguments.seed,
            postselection_mask=sinter.post_selection_mask_from_4th_coord(circuit),
            threads=arguments.threads,
        )
        counts[curve, p] = sampler.sample_counts(arguments.shots)
    return counts


def print_rates(title: str, rates: Rates, counts: Counts) -> None:
    """A table of computed rates beside sampled ones."""
    print(f"\n{title}\n{'':18}{'p':>8}{'kept':>10}{'wrong, of those kept':>23}   sampled")
    for (curve, p), rate in rates.items():
        sampled = ""
        if (curve, p) in counts:
            count = counts[curve, p]
            sampled = interval(count.errors, count.shots - count.discards)
        print(f"{curve!s:18}{p:8}{rate.kept:10.4g}{rate.logical_error_rate:23.5g}   {sampled}".rstrip())


def plot(whole: Rates, counts: Counts, consumption: Rates, path: Path) -> None:
    """Draws the errors of the whole protocol, those of the consumption, and the fraction of kept shots."""
    mpl.use("Agg")
    import matplotlib.pyplot as plt
    from matplotlib.lines import Line2D

    mpl.rcParams["font.size"] = 14
    strengths = sorted({p for _, p in whole})
    figure, ((left, middle), (right, names)) = plt.subplots(2, 2, figsize=(11, 9), layout="constrained")
    colors = {("T", "gate"): "#C44E00", ("T", "software"): "#00513B", ("S", "software"): "#3F9BD9"}
    shapes: dict[int, tuple[Any, str]] = dict(
        zip(AVAILABLE_DISTANCES, (("-", "o"), ("--", "s"), (":", "^")), strict=True)
    )
    for rates, axes in ((whole, left), (consumption, middle)):
        for curve in dict.fromkeys(curve for curve, _ in rates):
            points = [(p, rate) for (other, p), rate in rates.items() if other == curve and rate.kept > 0]
            axes.plot(
                [p for p, _ in points],
                [rate.logical_error_rate / (p if axes is left else 1.0) for p, rate in points],
                shapes[curve.distance][0],
                color=colors[curve.gate, curve.correction],
            )
    for (curve, p), count in counts.items():
        kept = count.shots - count.discards
        if count.errors >= FEWEST_ERRORS and curve.correction == (
            "gate" if curve.gate == "T" else "software"
        ):
            low, best, high = (value / p for value in likelihood_region(count.errors, kept))
            shift = 1 + 0.03 * (curve.distance - 4)  # so that error bars do not cover each other
            left.errorbar(
                p * shift, best, [[best - low], [high - best]], fmt=shapes[curve.distance][1], markersize=6,
                capsize=3, color=colors[curve.gate, curve.correction],
            )  # fmt: skip
    for gate, coefficient in LEADING.items():
        left.axhline(coefficient, color="gray", linewidth=1, linestyle=":")
        left.annotate(
            f"{gate}: single faults", (0.98, coefficient - 0.05), xycoords=("axes fraction", "data"),
            ha="right", va="top", fontsize=12, color="gray",
        )  # fmt: skip
    for distance in dict.fromkeys(curve.distance for curve, _ in whole):
        kept_at = {p: rate.kept for (curve, p), rate in whole.items() if curve.distance == distance}
        right.plot(list(kept_at), list(kept_at.values()), shapes[distance][0], color="black")
    left.set(xscale="log", ylim=(2.5, 6.5), title="whole protocol", ylabel="logical error per kept shot / p")
    middle.set(xscale="log", yscale="log", title="noise from the merge on alone, d=3")
    middle.set(ylabel="logical error per kept shot")
    right.set(xscale="log", yscale="log", title="whole protocol", ylabel="kept fraction")
    for axes in (left, middle, right):
        axes.set_xticks(strengths, [f"{p:g}" for p in strengths])
        axes.minorticks_off()
        axes.set_xlabel("strength p of the noise")
        axes.grid(alpha=0.3)
    kinds = {"T gate, S by a gate": "#C44E00", "T gate, S in software": "#00513B", "S-proxy": "#3F9BD9"}
    handles = [Line2D([], [], color=color, linewidth=2, label=name) for name, color in kinds.items()]
    for distance, (style, marker) in shapes.items():
        handles.append(
            Line2D(
                [],
                [],
                color="#444444",
                linestyle=style,
                marker=marker,
                label=f"d={distance}; points: counted",
            )
        )
    names.axis("off")
    names.legend(handles=handles, loc="center", fontsize=14, frameon=False)
    figure.savefig(path, dpi=90)


def main() -> int:
    """Computes, samples, prints and plots."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--d", type=int, nargs="+", choices=AVAILABLE_DISTANCES, default=[3, 5])
    parser.add_argument("--p", type=float, nargs="+", default=[0.0005, 0.001, 0.002])
    parser.add_argument(
        "--consumption_d",
        type=int,
        nargs="+",
        choices=AVAILABLE_DISTANCES,
        default=[3],
        help="distances for noise from the merge on alone; 5 takes minutes",
    )
    parser.add_argument("--shots", type=int, default=4_000_000, help="of each circuit")
    parser.add_argument("--relative_error", type=float, default=0.1, help="of the computed rates")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--out", type=Path, default=Path("out/teleported_t.png"), help="the plot")
    arguments = parser.parse_args()

    curves = curves_of(arguments.d, perfect_injection=False)
    whole = compute(curves, arguments.p, arguments)
    counts = sample(curves, arguments.p, arguments)
    print_rates("The whole protocol", whole, counts)
    consumption = compute(curves_of(arguments.consumption_d, perfect_injection=True), arguments.p, arguments)
    print_rates("With noise from the merge on alone", consumption, {})
    arguments.out.parent.mkdir(parents=True, exist_ok=True)
    plot(whole, counts, consumption, arguments.out)
    print(f"\n{arguments.out} written.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
