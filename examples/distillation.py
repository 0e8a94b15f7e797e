"""How good are distilled magic states? 15-to-1 and 8T-to-CCZ with teleported T gates.

    python -m examples.distillation [--shots 20000000] [--out out/distillation.png]

Each circuit is sampled, with every teleported T gate and its conditional S correction, and its output error
is also computed from its fault sets, down to 1e-12. The plot shows both beside the leading terms 35 p^3 and
28 p^2, whose factors are counted: they are the numbers of the smallest undetected sets of faults. Points with
fewer than ten errors are printed, but not drawn.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import matplotlib as mpl

import stim_nonclifford as snc
from stim_nonclifford.generators.distillation import ProtocolChoice, distillation_circuit

COMPUTED = (3e-5, 1e-4, 3e-4, 1e-3, 3e-3, 1e-2, 3e-2, 1e-1)
SAMPLED = (3e-3, 1e-2, 3e-2, 1e-1)
FEWEST_ERRORS = 10
COLORS: dict[ProtocolChoice, str] = {"15-to-1": "#1f5fa8", "8T-to-CCZ": "#c0501f"}
"""The protocols that are compared, and their colors. Others have too many coins for fault sets."""


@dataclass(frozen=True)
class Point:
    """A sampled output error.

    Attributes:
        t_error: The error of the T states.
        kept: Kept shots.
        errors: Kept shots with a wrong output.
    """

    t_error: float
    kept: int
    errors: int

    @property
    def rate(self) -> float:
        """Output error per kept shot."""
        return self.errors / self.kept


def circuit_of(protocol: ProtocolChoice, t_error: float) -> snc.Circuit:
    """The circuit. All its detectors postselect."""
    return snc.Circuit(distillation_circuit(protocol, t_error=t_error))


def leading_term(protocol: ProtocolChoice) -> tuple[int, int]:
    """The number of the smallest sets of faults that make a kept output wrong, and the faults of each."""
    circuit = circuit_of(protocol, 0.01)
    sets = circuit.malignant_sets(postselection_mask="all")
    smallest = min(found.weight for found in sets)
    return sum(found.weight == smallest for found in sets), smallest


def sampled(protocol: ProtocolChoice, t_error: float, shots: int, seed: int, threads: int) -> Point:
    """The output error from shots."""
    circuit = circuit_of(protocol, t_error)
    sampler = circuit.compile_detector_sampler(postselection_mask="all", seed=seed, threads=threads)
    counts = sampler.sample_counts(shots)
    return Point(t_error, counts.kept, counts.errors)


def computed(protocol: ProtocolChoice, t_error: float) -> float:
    """The output error from fault sets."""
    circuit = circuit_of(protocol, t_error)
    return circuit.logical_error_rate(postselection_mask="all").logical_error_rate


def main(argv: Sequence[str] | None = None) -> None:
    """Runs the example."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--shots", type=int, default=20_000_000, help="shots of each circuit")
    parser.add_argument("--seed", type=int, default=1, help="seed of the shots")
    parser.add_argument("--threads", type=int, default=2, help="threads of the sampler")
    parser.add_argument("--out", type=Path, default=Path("out/distillation.png"), help="the plot")
    arguments = parser.parse_args(argv)
    mpl.use("Agg")
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(figsize=(6.4, 4.8))
    for protocol, color in COLORS.items():
        factor, power = leading_term(protocol)
        print(f"{protocol}: {factor} sets of {power} faults make a kept output wrong")
        print(f"{'t_error':>9}{f'{factor} p^{power}':>13}{'fault sets':>13}{'shots':>13}{'errors':>9}")
        start = time.monotonic()
        points = {
            t: sampled(protocol, t, arguments.shots, arguments.seed, arguments.threads) for t in SAMPLED
        }
        seconds = time.monotonic() - start
        rates = {t: computed(protocol, t) for t in COMPUTED}
        for t, rate in rates.items():
            point = points.get(t)
            shown = f"{point.rate:13.4e}{point.errors:9}" if point else ""
            print(f"{t:9}{factor * t**power:13.4e}{rate:13.4e}{shown}")
        print(f"{len(SAMPLED) * arguments.shots / seconds:.2g} shots/s on {arguments.threads} threads\n")
        axes.plot(list(rates), list(rates.values()), color=color, label=f"{protocol}, fault sets")
        axes.plot(
            list(rates),
            [factor * t**power for t in rates],
            "--",
            color=color,
            label=f"{factor} p^{power}",
            lw=1,
        )
        shown_points = [point for point in points.values() if point.errors >= FEWEST_ERRORS]
        axes.errorbar(
            [point.t_error for point in shown_points],
            [point.rate for point in shown_points],
            [1.96 * point.rate / point.errors**0.5 for point in shown_points],
            fmt="o",
            ms=4,
            color=color,
            label=f"{protocol}, sampled",
        )
    axes.set(xscale="log", yscale="log", xlabel="error of a T state", ylabel="error of a kept output")
    axes.grid(alpha=0.3)
    axes.legend()
    figure.tight_layout()
    arguments.out.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(arguments.out, dpi=150)
    print(arguments.out)


if __name__ == "__main__":
    main()
