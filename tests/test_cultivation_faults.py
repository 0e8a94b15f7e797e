"""The generated d=3 circuit against the published one, fault by fault and exactly."""

from __future__ import annotations

from pathlib import Path

import pytest
import sinter
import stim

import stim_nonclifford as snc
from circuits.cultivation import cultivation_circuit
from stim_nonclifford.compiler.mechanisms import Fault
from stim_nonclifford.compiler.steps import Measure, Noise, Program
from stim_nonclifford.engines.reference import fate_of_row

ROOT = Path(__file__).parents[1]
PUBLISHED = ROOT.parent / "shared" / "reference_circuits" / "msc_d3_inject_cultivate_p1e-3.stim"

Fate = tuple[float, float, float]
Place = tuple[int, tuple[int, ...], tuple[int, ...]]


def place_of(fault: Fault, program: Program, ticks: list[int]) -> Place:
    """(moment, qubits of the channel or measurement, Pauli as sorted factors), whatever their order."""
    step = program.steps[fault.step]
    moment = ticks[program.lines[fault.step] - 1]
    if isinstance(step, Noise):
        qubits = tuple(sorted(step.groups[fault.group]))
        return moment, qubits, tuple(x for factor in sorted(fault.factors) for x in factor)
    assert isinstance(step, Measure)
    return moment, tuple(sorted(qubit for qubit, _ in step.factors)), (-1,)


def fates(circuit: snc.Circuit) -> dict[Place, Fate]:
    """For every fault the exact probabilities of (discarded, kept and right, kept and wrong)."""
    compiled = circuit.compile()
    detectors = circuit.num_detectors
    plan = compiled.detector_plan(reported=[detectors], postselected=range(detectors))
    ticks, moment = [], 0
    for instruction in circuit:
        assert isinstance(instruction, stim.CircuitInstruction)
        ticks.append(moment)
        moment += instruction.name == "TICK"
    known: dict[bytes, Fate] = {}
    found: dict[Place, Fate] = {}
    for fault in compiled.faults():
        row = plan.row_of(fault.effect)
        if row.tobytes() not in known:
            discarded, kept = fate_of_row(plan, row)
            known[row.tobytes()] = (discarded, kept.get(0, 0.0), kept.get(1, 0.0))
        place = place_of(fault, compiled.program, ticks)
        assert place not in found
        found[place] = known[row.tobytes()]
    return found


@pytest.mark.skipif(not PUBLISHED.exists(), reason="needs ../shared/reference_circuits")
def test_every_single_fault_has_the_fate_that_it_has_in_the_published_circuit() -> None:
    ours = fates(snc.Circuit(cultivation_circuit(distance=3, p=1e-3)))
    theirs = fates(snc.Circuit.from_file(PUBLISHED))
    assert ours.keys() == theirs.keys()
    assert len(ours) == 2444
    for place, fate in ours.items():
        assert fate == pytest.approx(theirs[place], abs=1e-12)


def test_no_single_fault_is_kept_and_wrong() -> None:
    found = fates(snc.Circuit(cultivation_circuit(distance=3, p=1e-3)))
    assert max(wrong for _, _, wrong in found.values()) < 1e-12
    assert sum(right > 0.999 for _, right, _ in found.values()) > 100


def test_checked_in_files_are_what_the_generator_writes() -> None:
    files = sorted((ROOT / "circuits" / "cultivation").glob("*.stim"))
    assert len(files) >= 10
    for file in files:
        values = sinter.comma_separated_key_values(str(file))
        circuit = cultivation_circuit(
            distance=values["d"], p=values["p"], gate=values["g"], noise=values["noise"]
        )
        assert stim.Circuit.from_file(file) == circuit, f"{file.name} is out of date"
