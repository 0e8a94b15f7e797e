"""15-to-1 distillation on six patches of surface code, with decoded lattice surgery.

    python -m examples.lattice_surgery.fifteen_to_one [--d 3] [--p 0 0.0001] [--t_error 0 0.05 0.1]
        [--decoder pymatching] [--gate T] [--shots 100_000] [--minutes 10] [--out out/fifteen_to_one.csv]

Each of the 15 T states is perfect up to an error of its basis with the probability --t_error, and all surgery
is noisy. At the end the five patches are compared with the ideal state, without noise: a shot is kept if the
four checks are 0, and wrong if the output is not T|0>, in the basis of X. Beside it stands what 15-to-1 does
without noise of the patches (S. Bravyi and A. Kitaev, quant-ph/0403025). With p = 0, outcomes are raw.

Each case is a row of the file, and those that it has are not computed again.
"""

from __future__ import annotations

import argparse
import itertools
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import stim_nonclifford as snc
from stim_nonclifford.generators.cultivation.builder import GATE_CHOICES, GateChoice
from stim_nonclifford.generators.logical import logical_circuit

from .csv_rows import append_row, read_rows, with_error
from .programs import fifteen_to_one

_CHUNK_SHOTS = 1024


@dataclass(frozen=True)
class Distilled:
    """A row of the file.

    Attributes:
        d: The distance.
        p: The strength of the noise.
        t_error: The error of a T state.
        decoder: What decides.
        gate: "T", or "S" for the S-proxy.
        qubits: Physical qubits.
        decisions: Decisions of the decoder.
        width: The width of the vector.
        shots: The number of shots.
        kept: Those whose checks are 0.
        wrong: Kept ones with a wrong output.
        build_seconds: Processor seconds before the first shot.
        shot_seconds: Processor seconds of all shots.
    """

    d: int
    p: float
    t_error: float
    decoder: str
    gate: str
    qubits: int
    decisions: int
    width: int
    shots: int
    kept: int
    wrong: int
    build_seconds: float
    shot_seconds: float

    @property
    def key(self) -> tuple[object, ...]:
        """What a file has once."""
        return self.d, self.p, self.t_error, self.decoder, self.gate

    def line(self) -> str:
        """The row as one of a printed table."""
        kept, wrong = self.kept / self.shots, self.wrong / max(self.kept, 1)
        kept_error = (max(kept * (1 - kept), 1 / self.shots) / self.shots) ** 0.5
        wrong_error = max(self.wrong, 1) ** 0.5 / max(self.kept, 1)
        cells = [self.d, f"{self.p:g}", f"{self.t_error:g}", self.decoder, self.gate, self.shots]
        cells += [with_error(kept, kept_error), f"{ideal(self.t_error)[0]:.4f}"]
        cells += [with_error(wrong, wrong_error), f"{ideal(self.t_error)[1]:.2e}"]
        cells += [f"{self.build_seconds:.0f}", f"{self.shots / self.shot_seconds:.2g}"]
        return " | ".join(map(str, cells))


_EMPTY = Distilled(0, 0.0, 0.0, "", "", 0, 0, 0, 0, 0, 0, 0.0, 0.0)


def ideal(t_error: float) -> tuple[float, float]:
    """The probability that a shot is kept and the error of a kept output, without noise of the patches."""
    a, b, c = ((1 - 2 * t_error) ** power for power in (7, 8, 15))
    kept = (1 + 15 * b) / 16
    return kept, (1 - 15 * a + 15 * b - c) / (32 * kept)


def distilled(
    distance: int, p: float, t_error: float, decoder: str, gate: GateChoice, shots: int
) -> Distilled:
    """A case, sampled."""
    begin = time.process_time()
    circuit = snc.Circuit(
        logical_circuit(
            fifteen_to_one(),
            distance=distance,
            p=p,
            noise="uniform" if p else "none",
            gate=gate,
            magic="cultivated",
            magic_error=t_error,
            ending="state",
        )
    )
    sampler = circuit.compile_detector_sampler(seed=11, decoder=decoder)
    sampler.sample(1)
    built = time.process_time()
    kept = wrong = 0
    for first in range(0, shots, _CHUNK_SHOTS):
        _, flipped = sampler.sample(min(_CHUNK_SHOTS, shots - first), separate_observables=True)
        is_kept = ~flipped[:, :-1].any(axis=1)
        kept += int(is_kept.sum())
        wrong += int((is_kept & flipped[:, -1]).sum())
    return Distilled(
        distance,
        p,
        t_error,
        decoder,
        gate,
        circuit.num_qubits,
        len(circuit.decision_points()),
        circuit.without_decisions().plan().peak_width,
        shots,
        kept,
        wrong,
        built - begin,
        time.process_time() - built,
    )


def main(arguments: Sequence[str] | None = None) -> None:
    """Runs the example."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--d", type=int, nargs="+", default=[3])
    parser.add_argument("--p", type=float, nargs="+", default=[0.0, 1e-4])
    parser.add_argument("--t_error", type=float, nargs="+", default=[0.0, 0.05, 0.1])
    parser.add_argument("--decoder", default="pymatching", help="pymatching or raw")
    parser.add_argument("--gate", choices=GATE_CHOICES, default="T")
    parser.add_argument("--shots", type=int, default=100_000)
    parser.add_argument("--minutes", type=float, default=10.0, help="processor time")
    parser.add_argument("--out", type=Path, default=Path("out/fifteen_to_one.csv"), help="the file of rows")
    chosen = parser.parse_args(arguments)
    rows = read_rows(chosen.out, _EMPTY)
    print("d | p | T error | decoder | gate | shots | kept | ideal", end=" | ")
    print("output error | ideal | s to build | shots/s")
    for row in rows:
        print(row.line(), flush=True)
    known = {row.key for row in rows}
    for distance, p, t_error in itertools.product(chosen.d, chosen.p, chosen.t_error):
        decoder = chosen.decoder if p else "raw"
        if (distance, p, t_error, decoder, chosen.gate) in known:
            continue
        if time.process_time() > 60 * chosen.minutes:
            print(f"{chosen.minutes:g} minutes are over: the same command continues.")
            break
        row = distilled(distance, p, t_error, decoder, chosen.gate, chosen.shots)
        append_row(chosen.out, row)
        print(row.line(), flush=True)


if __name__ == "__main__":
    main()
