"""The speed of circuits whose qubits relax or are misread: the trajectory engine beside the plan.

python -m benchmarks.relaxation [--time 0.001] [--seconds 3]
"""

from __future__ import annotations

import argparse
import re
import time
from typing import Literal

import stim

import stim_nonclifford as snc
from stim_nonclifford.generators.cultivation import cultivation_circuit
from stim_nonclifford.generators.device_noise import DeviceNoise, PairCalibration, QubitCalibration
from stim_nonclifford.simulation.engines import EngineName

from .measuring import description, machine, rate_of

_WIDEST = 16
"""Wider plans take a second per shot and more."""


def with_relaxation(circuit: stim.Circuit, t: float) -> snc.Circuit:
    """A circuit in which all qubits relax at each TICK, and which has no other noise.

    Args:
        circuit: A circuit.
        t: The time from TICK to TICK over T1, which is T2.
    """
    result = stim.Circuit()
    ideal = circuit.without_noise().flattened()
    qubits = sorted({t.value for part in ideal for t in part.targets_copy() if t.is_qubit_target})
    for part in ideal:
        result.append(part)
        if part.name == "TICK":
            result.append("I_ERROR", qubits, tag=f"THERMAL_RELAXATION(t_over_T1={t!r}, t_over_T2={t!r})")
    return snc.Circuit(result)


def with_readout(distance: int, probabilities: str) -> snc.Circuit:
    """A depolarized surface code whose measurements have these probabilities in parentheses."""
    circuit = stim.Circuit.generated(
        "surface_code:rotated_memory_z",
        distance=distance,
        rounds=distance,
        after_clifford_depolarization=1e-3,
        before_round_data_depolarization=1e-3,
    )
    return snc.Circuit(re.sub(r"(?m)^( *MR?) ", rf"\1({probabilities}) ", str(circuit)))


def with_device(distance: int) -> snc.Circuit:
    """A surface code with the noise of a table: relaxation, readout, gates, resets and leakage."""
    ideal = stim.Circuit.generated("surface_code:rotated_memory_z", distance=distance, rounds=distance)
    qubit = QubitCalibration(
        T1=100e-6, T2=80e-6, p01=0.004, p10=0.01, reset_error=0.002, gate_error=3e-4, gate_time=25e-9,
        readout_time=500e-9, reset_time=300e-9, gate_leakage=1e-5,
    )  # fmt: skip
    pair = PairCalibration(gate_error=3e-3, gate_time=45e-9, gate_leakage=1e-4)
    qubits = sorted(ideal.get_final_qubit_coordinates())
    pairs: dict[tuple[int, ...], PairCalibration] = {(a, b): pair for a in qubits for b in qubits if a < b}
    return DeviceNoise(dict.fromkeys(qubits, qubit), pairs).apply(ideal)


def _circuits(t: float) -> dict[str, tuple[snc.Circuit, bool]]:
    """The circuits by name, and whether their detectors are postselected."""
    codes = {
        f"surface code, d={d}": stim.Circuit.generated("surface_code:rotated_memory_z", distance=d, rounds=d)
        for d in (3, 5, 7)
    }
    cultivations = {
        f"cultivation, d={d}, all detectors postselected": cultivation_circuit(distance=d, p=1e-3)
        for d in (3, 5)
    }
    relaxing = {
        name: (with_relaxation(circuit, t), circuit in cultivations.values())
        for name, circuit in (codes | cultivations).items()
    }
    misread = {
        f"surface code, d={d}, depolarized, M({probabilities})": (with_readout(d, probabilities), False)
        for d in (3, 5)
        for probabilities in ("0.01, 0.01", "0.005, 0.015")
    }
    devices = {f"surface code, d={d}, a device's table": (with_device(d), False) for d in (3, 5)}
    return relaxing | devices | misread


def main() -> None:
    """Prints a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--time", type=float, default=1e-3, help="from TICK to TICK, over T1 = T2")
    parser.add_argument("--seconds", type=float, default=3)
    arguments = parser.parse_args()
    print(description(machine()))
    print('| circuit | plan, shots/s | `engine="trajectory"`, shots/s | plan, all detectors |')
    print("|---|---|---|---|")
    for name, (circuit, postselects) in _circuits(arguments.time).items():
        mask: Literal["all"] | None = "all" if postselects else None
        width = circuit.plan("sample_counts", postselection_mask=mask).peak_width
        cells, of_all = [name], ""
        engines: tuple[EngineName, ...] = ("cpu", "trajectory")
        for engine in engines:
            if engine == "cpu" and width > _WIDEST:
                cells.append(f"2^{width} coefficients")
                continue
            sampler = circuit.compile_detector_sampler(seed=1, postselection_mask=mask, engine=engine)
            sampler.sample_counts(1 << 10)  # outcome laws are stored
            cells.append(f"{rate_of(sampler.sample_counts, arguments.seconds, clock=time.process_time):.2g}")
            if engine == "cpu" and not postselects:
                of_all = (
                    f"{rate_of(sampler.sample, arguments.seconds, most=1 << 18, clock=time.process_time):.2g}"
                )
        cells.append(of_all)
        print("|", " | ".join(cells), "|", flush=True)


if __name__ == "__main__":
    main()
