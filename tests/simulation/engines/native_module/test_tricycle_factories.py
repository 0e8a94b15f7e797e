"""Factories that no vector holds: kept and wrong shots against Clifford circuits in Stim."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
import pytest
import stim

from benchmarks.tricycles import tricycle_factory
from stim_nonclifford import Circuit

from ....support.seeds import slow


def counts_of_clifford_circuits(text: str, shots: int, seed: int) -> tuple[int, int]:
    """How many shots are kept, and how many of these are wrong, by a Clifford circuit for each pattern of faults.

    A fault E moves through a T gate: T E = E T^(1 - 2 b), where b tells whether E has an X there. T^(1 - 2 b) is T S_DAG^b. Without
    faults each outcome is 0, so that the T gates together change none of them, and can be left out. What is left is S_DAG^b in the place
    of each T gate, S^b in that of T_DAG, and E at the end, which flips outcomes.
    """
    frames = stim.FlipSimulator(batch_size=shots, disable_stabilizer_randomization=True, seed=seed)
    pieces: list[str | tuple[str, int, npt.NDArray[np.bool_]]] = []
    for line in text.splitlines():
        name, _, targets = line.partition(" ")
        if name in ("T", "T_DAG"):
            xs = frames.to_numpy(output_xs=True)[0]
            assert xs is not None
            pieces += [
                ("S" if name == "T_DAG" else "S_DAG", int(q), xs[int(q)].copy()) for q in targets.split()
            ]
        else:
            frames.do(stim.Circuit(line))
            if "ERROR" not in name and "DEPOLARIZE" not in name:
                pieces.append(line)
    flips = frames.get_detector_flips()
    observable_flips = frames.get_observable_flips()
    # Detectors of Z measurements are certain, whatever S gates are there.
    plain = stim.Circuit("\n".join(piece for piece in pieces if isinstance(piece, str)))
    is_z = np.array([record_is_z(plain, k) for k in range(plain.num_detectors)])
    kept = errors = 0
    for shot in np.flatnonzero(~flips[is_z].any(axis=0)):
        gates = [
            piece if isinstance(piece, str) else f"{piece[0]} {piece[1]}" * bool(piece[2][shot])
            for piece in pieces
        ]
        clifford = stim.Circuit("\n".join(gates))
        records = clifford.compile_sampler(seed=int(shot)).sample(1)
        detectors, observables = clifford.compile_m2d_converter(skip_reference_sample=True).convert(
            measurements=records, separate_observables=True
        )
        if (detectors[0] ^ flips[:, shot]).any():
            continue
        kept += 1
        errors += bool((observables[0] ^ observable_flips[:, shot]).any())
    return kept, errors


def record_is_z(circuit: stim.Circuit, detector: int) -> bool:
    """Whether the only record of a detector is that of a Z measurement."""
    bases = [part.name for part in circuit if part.name in ("M", "MX") for _ in part.targets_copy()]
    records = [part.targets_copy() for part in circuit if part.name == "DETECTOR"][detector]
    tail = [part.name for part in circuit].index("DETECTOR")
    before = sum(len(part.targets_copy()) for part in circuit[:tail] if part.name in ("M", "MX"))
    return bases[before + records[0].value] == "M"


@pytest.mark.parametrize(
    ("block", "p", "shots", "cliffords"), [(27, 1e-3, 400_000, 8_000), slow(81, 1e-4, 100_000, 2_000)]
)
def test_kept_and_wrong_shots(block: int, p: float, shots: int, cliffords: int) -> None:
    """Seed 7; within five standard deviations, which right counts exceed once in 10^6 seeds."""
    text = tricycle_factory(block, p)
    circuit = Circuit(text)
    assert circuit.plan(postselection_mask="all").dense_width == 0
    found = circuit.compile_detector_sampler(seed=7, postselection_mask="all").sample_counts(shots)
    kept, wrong = counts_of_clifford_circuits(text, cliffords, seed=7)
    for ours, theirs in ((found.shots - found.discards, kept), (found.errors, wrong)):
        spread = math.sqrt(ours / shots**2 + theirs / cliffords**2)
        assert abs(ours / shots - theirs / cliffords) < 5 * spread, (ours / shots, theirs / cliffords)
        assert theirs > 20
