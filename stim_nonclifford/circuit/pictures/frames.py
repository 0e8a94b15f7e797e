"""What faults become, tick by tick.

A fault is a Pauli, or the flip of a record. Clifford gates turn a Pauli into another one. A rotation stays
as it is for a Pauli that commutes with its axis; for another one, its angle changes sign, and the Pauli stays
the same. So Stim's simulator of flips, run without the rotations, has the Paulis after each tick and the
detectors that they flip. What the reversed angles do besides, is in the probabilities of the set.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

import stim

from ...dialect import gate_from_tag
from ...simulation.compiler.program.loops import unrolled
from ...simulation.faults import CircuitFault, FaultTable


@dataclass(frozen=True)
class Frame:
    """What a set of faults does."""

    # For each tick in which there is one, the Pauli at its end: letters and qubits.
    paulis: dict[int, list[tuple[str, int]]]
    detectors: tuple[int, ...]  # the detectors that the Paulis and the flipped records flip
    observables: tuple[int, ...]


def frame_of(table: FaultTable, faults: Iterable[CircuitFault]) -> Frame:
    r"""What a set of faults does.

    Examples:
        >>> import stim_nonclifford as snc
        >>> circuit = snc.Circuit("X_ERROR(0.1) 0\nTICK\nCX 0 1\nTICK\nM 0 1\nDETECTOR rec[-1]")
        >>> frame_of(circuit._fault_table(), circuit.faults())
        Frame(paulis={0: [('X', 0)], 1: [('X', 0), ('X', 1)], 2: [('X', 0), ('X', 1)]}, detectors=(0,), ...)
    """
    of_instruction: dict[int, list[CircuitFault]] = defaultdict(list)
    for fault in faults:
        of_instruction[table.number_of(fault)].append(fault)
    simulator = stim.FlipSimulator(
        batch_size=1, num_qubits=table.circuit.num_qubits, disable_stabilizer_randomization=True
    )
    paulis: dict[int, list[tuple[str, int]]] = {}
    tick = 0
    for number, part in enumerate(unrolled(table.circuit)):
        own = of_instruction.get(number, [])
        if part.name == "TICK":
            _keep(simulator, paulis, tick)
            tick += 1
        elif not own or not stim.gate_data(part.name).produces_measurements:
            simulator.do(_without_noise(part))
        else:
            flipped = {table.group_of(fault) for fault in own if fault.records}
            for k, group in enumerate(part.target_groups()):
                simulator.do(_without_noise(part, group, flips=k in flipped))
        for fault in own:
            for factor in filter(None, fault.pauli.split("*")):
                simulator.do(stim.CircuitInstruction(f"{factor[0]}_ERROR", [int(factor[1:])], [1]))
    _keep(simulator, paulis, tick)
    return Frame(
        paulis,
        tuple(int(k) for k in simulator.get_detector_flips()[:, 0].nonzero()[0]),
        tuple(int(k) for k in simulator.get_observable_flips()[:, 0].nonzero()[0]),
    )


def _keep(simulator: stim.FlipSimulator, paulis: dict[int, list[tuple[str, int]]], tick: int) -> None:
    [found] = simulator.peek_pauli_flips()
    factors = [("_XYZ"[found[qubit]], qubit) for qubit in found.pauli_indices()]
    if factors:
        paulis[tick] = factors


def _without_noise(
    part: stim.CircuitInstruction,
    group: Iterable[stim.GateTarget] | None = None,
    *,
    flips: bool = False,
) -> stim.Circuit:
    """An instruction, or one group of its targets, without noise; rotations are left out."""
    result = stim.Circuit()
    data = stim.gate_data(part.name)
    if gate_from_tag(part) is not None:
        return result
    if part.name.startswith("HERALDED"):
        # A herald is a record that is 0 without the fault.
        count = part.num_measurements if group is None else 1
        result.append("MPAD", [0] * count, [1.0] if flips else [])
    elif data.produces_measurements:
        targets = part.targets_copy() if group is None else list(group)
        if group is not None and part.name == "MPP":
            targets = stim.target_combined_paulis([each for each in targets if not each.is_combiner])
        result.append(part.name, targets, [1.0] if flips else [])
    elif data.is_reset or not data.is_noisy_gate:
        result.append(part)
    return result
