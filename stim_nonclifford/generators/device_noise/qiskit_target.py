"""The calibration table of a Qiskit ``Target``."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from .calibration import PairCalibration, QubitCalibration, Table

_ONE_QUBIT = ("sx", "x", "h", "u", "u3", "r", "rx", "ry")
"""The gates whose error and duration are those of the one-qubit gates: the first of these that there is."""

_NO_GATES = ("measure", "reset", "delay", "barrier")


def table_of_target(target: Any, two_qubit_gate: str | None) -> Table:
    """The calibrations in a ``qiskit.transpiler.Target``; see ``DeviceNoise.from_qiskit``."""
    names = list(target.operation_names)
    one_qubit = next((name for name in _ONE_QUBIT if name in names), None)
    two_qubit = [
        name
        for name in names
        if name not in _NO_GATES and any(qubits is not None and len(qubits) == 2 for qubits in target[name])
    ]
    if two_qubit_gate is None and len(two_qubit) > 1:
        raise ValueError(
            f"The target has several gates on two qubits, {', '.join(sorted(two_qubit))}, and the table has"
            ' one for each pair. Choose one: two_qubit_gate="' + sorted(two_qubit)[0] + '".'
        )
    if two_qubit_gate is not None and two_qubit_gate not in two_qubit:
        raise ValueError(
            f"two_qubit_gate must be one of {', '.join(sorted(two_qubit))}; got {two_qubit_gate!r}."
        )
    qubits = {
        qubit: QubitCalibration(
            **_relaxation(target.qubit_properties, qubit),
            **_properties(target, one_qubit, (qubit,), {"error": "gate_error", "duration": "gate_time"}),
            **_properties(target, "reset", (qubit,), {"error": "reset_error", "duration": "reset_time"}),
            **_readout(_properties(target, "measure", (qubit,), {"error": "p", "duration": "readout_time"})),
        )
        for qubit in range(target.num_qubits)
    }
    pairs: dict[tuple[int, ...], PairCalibration] = {}
    for name in two_qubit if two_qubit_gate is None else [two_qubit_gate]:
        for places in target[name]:
            found = _properties(target, name, places, {"error": "gate_error", "duration": "gate_time"})
            pairs[tuple(places)] = PairCalibration(**found)
    return qubits, pairs


def _relaxation(properties: Any, qubit: int) -> dict[str, float]:
    """T1, and T2, which calibrations may say is a little more than 2 T1."""
    if properties is None or properties[qubit] is None:
        return {}
    t1, t2 = (getattr(properties[qubit], name, None) for name in ("t1", "t2"))
    found = {} if t1 is None else {"T1": float(t1)}
    if t2 is not None:
        found["T2"] = float(t2) if t1 is None else min(float(t2), 2 * float(t1))
    return found


def _properties(
    target: Any, name: str | None, qubits: Iterable[int], renamed: dict[str, str]
) -> dict[str, float]:
    if name is None or name not in target.operation_names:
        return {}
    found = target[name].get(tuple(qubits))
    values = {new: getattr(found, old, None) for old, new in renamed.items()}
    return {new: float(value) for new, value in values.items() if value is not None}


def _readout(found: dict[str, float]) -> dict[str, float]:
    """With the error of a readout for both outcomes, as a target has no other."""
    if "p" not in found:
        return found
    error = found.pop("p")
    return {**found, "p01": error, "p10": error}
