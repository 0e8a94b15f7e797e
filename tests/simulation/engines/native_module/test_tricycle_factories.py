"""Factories that no vector holds: kept and wrong shots against Clifford circuits in Stim."""

import math

import numpy as np
import numpy.typing as npt
import pytest
import stim

from benchmarks.tricycles import tricycle_factory
from stim_nonclifford import Circuit

from ....support.seeds import slow

Bits = npt.NDArray[np.bool_]


def counts_of_clifford_circuits(text: str, mask: Bits, shots: int, seed: int) -> tuple[int, int, int]:
    """How many shots are kept, and how many of these are wrong, by a Clifford circuit for each pattern of faults.

    The third number is that of shots that would be kept if faults did nothing to T gates.

    A fault E moves through a T gate: T E = E T^(1 - 2 b), where b tells whether E has an X there. T^(1 - 2 b) is T S_DAG^b. Without
    faults each outcome is 0, so that the T gates together change none of them, and can be left out. What is left is S_DAG^b in the place
    of each T gate, S^b in that of T_DAG, and E at the end, which flips outcomes.
    """
    frames = stim.FlipSimulator(batch_size=shots, disable_stabilizer_randomization=True, seed=seed)
    pieces: list[str | tuple[str, int, Bits]] = []
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
    certain = mask & z_detectors(stim.Circuit("\n".join(piece for piece in pieces if isinstance(piece, str))))
    kept = errors = 0
    for shot in np.flatnonzero(~flips[certain].any(axis=0)):
        gates = [
            piece if isinstance(piece, str) else f"{piece[0]} {piece[1]}" * bool(piece[2][shot])
            for piece in pieces
        ]
        clifford = stim.Circuit("\n".join(gates))
        records = clifford.compile_sampler(seed=int(shot)).sample(1)
        detectors, observables = clifford.compile_m2d_converter(skip_reference_sample=True).convert(
            measurements=records, separate_observables=True
        )
        if (detectors[0] ^ flips[:, shot])[mask].any():
            continue
        kept += 1
        errors += bool((observables[0] ^ observable_flips[:, shot]).any())
    return kept, errors, int(np.count_nonzero(~flips[mask].any(axis=0)))


def z_detectors(circuit: stim.Circuit) -> Bits:
    """Which detectors, of one record each, are those of Z measurements."""
    bases: list[str] = []
    found = []
    for part in circuit:
        if part.name in ("M", "MX"):
            bases += [part.name] * len(part.targets_copy())
        if part.name == "DETECTOR":
            found.append(bases[part.targets_copy()[0].value] == "M")
    return np.array(found, dtype=np.bool_)


@pytest.mark.parametrize(
    ("block", "p", "all_checks", "shots", "cliffords"),
    [
        (27, 1e-3, True, 400_000, 4000),
        (27, 1e-3, False, 100_000, 1500),
        slow(81, 1e-4, True, 100_000, 2000),
        slow(81, 1e-4, False, 20_000, 1000),
    ],
)
def test_kept_and_wrong_shots(block: int, p: float, all_checks: bool, shots: int, cliffords: int) -> None:
    """Seed 7; within five standard deviations, which right counts exceed once in 10^6 seeds.

    Z checks discard most shots in which T gates are turned, so that these are seen where only X checks postselect.
    """
    text = tricycle_factory(block, p)
    circuit = Circuit(text)
    is_z = z_detectors(circuit.s_proxy())
    mask = np.ones_like(is_z) if all_checks else ~is_z
    assert circuit.plan(postselection_mask=mask).dense_width == 0
    found = circuit.compile_detector_sampler(seed=7, postselection_mask=mask).sample_counts(shots)
    kept, wrong, by_faults_alone = counts_of_clifford_circuits(text, mask, cliffords, seed=7)
    for ours, theirs in ((found.shots - found.discards, kept), (found.errors, wrong)):
        spread = math.sqrt(ours / shots**2 + theirs / cliffords**2)
        assert abs(ours / shots - theirs / cliffords) < 5 * spread, (ours / shots, theirs / cliffords)
    if not all_checks:
        assert by_faults_alone - kept > 5 * math.sqrt(by_faults_alone)


def test_fault_sets_give_the_rate_that_is_counted() -> None:
    """Single errors after gates are 93% of it. Seeds 1 and 3; within 5.5 standard errors."""
    circuit = Circuit(tricycle_factory(27, 1e-3))
    rate = circuit.logical_error_rate(postselection_mask="all", relative_error=0.05, seed=1)
    counts = circuit.compile_detector_sampler(seed=3, postselection_mask="all").sample_counts(10**6)
    kept = counts.shots - counts.discards
    assert abs(rate.kept - kept / counts.shots) < 5.5 * math.sqrt(kept) / counts.shots + 3 * rate.kept_error
    counted = counts.errors / kept
    assert abs(rate.logical_error_rate - counted) < 5.5 * math.sqrt(counted / kept) + 3 * rate.standard_error
