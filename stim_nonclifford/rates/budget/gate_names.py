"""Which gate a place of noise belongs to, as people name it: ``CX 3-7``."""

from __future__ import annotations

import stim

from ...dialect import bare_name, is_expectation, is_on_qubit, target_groups
from ...simulation.compiler.program.loops import unrolled

_NO_GATE = frozenset({"DETECTOR", "OBSERVABLE_INCLUDE", "QUBIT_COORDS", "SHIFT_COORDS", "TICK", "MPAD"})
_FLIPS = ("X_ERROR", "Y_ERROR", "Z_ERROR")
_MEASURING = frozenset(name for name, data in stim.gate_data().items() if data.produces_measurements)
_MEASUREMENTS = ("M", "MX", "MY", "MR", "MRX", "MRY")


class GateNames:
    r"""The gates of a circuit with tagged gates, by tick.

    Examples:
        >>> names = GateNames(stim.Circuit("CX 0 1\nDEPOLARIZE2(0.1) 0 1\nDEPOLARIZE1(0.1) 2\nTICK\nM 1"))
        >>> names.of("DEPOLARIZE2", 1, 0, (0, 1)), names.of("DEPOLARIZE1", 2, 0, (2,))
        ('CX 0-1', 'idle 2')
        >>> names.of("M", 4, 1, (1,))
        'M 1'
        >>> GateNames(stim.Circuit("CX 0 4\nX_ERROR(0.1) 4\nM 4")).of("X_ERROR", 1, 0, (4,))
        'M 4'
    """

    def __init__(self, circuit: stim.Circuit) -> None:
        self._gates: list[list[tuple[int, str, tuple[int, ...]]]] = [[]]
        for number, part in enumerate(unrolled(circuit)):
            if part.name == "TICK":
                self._gates.append([])
            elif _is_gate(part):
                name = bare_name(part)
                for group in target_groups(part):
                    qubits = tuple(target.value for target in group if is_on_qubit(target))
                    if qubits:
                        self._gates[-1].append((number, name, qubits))

    def of(self, instruction: str, number: int, tick: int, targets: tuple[int, ...]) -> str:
        """The gate to which noise belongs: one of its tick, on its qubits (targets), or on more than these.

        ``instruction`` is the name of the noise, or of the measurement whose readout it is; ``number`` counts
        instructions of the unrolled circuit.
        """
        where = "-".join(map(str, targets))
        if instruction in _MEASURING and not instruction.startswith("HERALDED"):
            return f"{instruction} {where}".strip()
        around = [gate for gate in self._gates[tick] if set(gate[2]) >= set(targets)]
        if not around or not targets:
            return f"{'idle' if len(targets) == 1 else instruction} {where}".strip()
        # The last one before it, as noise follows its gate; if there is none, the next one, as a measurement.
        before = [gate for gate in around if gate[0] < number]
        after = [gate for gate in around if gate[0] > number]
        _, name, qubits = before[-1] if before else around[0]
        if before and len(qubits) > len(targets) and after and instruction in _FLIPS:
            _, following, measured = after[0]
            if following in _MEASUREMENTS and measured == targets:  # the flip is one of its outcome
                return f"{following} {where}"
        if len(qubits) > len(targets):
            return f"{name} at {where}"
        return f"{name} {'-'.join(map(str, qubits))}"


def _is_gate(part: stim.CircuitInstruction) -> bool:
    data = stim.gate_data(part.name)
    if part.name in _NO_GATE or is_expectation(part):
        return False
    if part.name.startswith("HERALDED") or (data.is_noisy_gate and not data.produces_measurements):
        return bool(data.is_reset)
    return not (part.name in ("I", "II") and not part.tag)
