"""The gates of each tick, as they are drawn."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import stim

from ...dialect import is_expectation, is_on_qubit
from ...simulation.compiler.program.loops import unrolled
from .drawn_gates import DrawnGate, drawn_gates_of

CONTROL, NOT, CROSS = ".", "+", "x"
"""Symbols that are drawn, and not written."""

_SKIPPED = frozenset(
    {"DETECTOR", "OBSERVABLE_INCLUDE", "QUBIT_COORDS", "SHIFT_COORDS", "TICK", "MPAD", "I", "II"}
)
_SYMBOLS = {
    "CX": (CONTROL, NOT),
    "CZ": (CONTROL, CONTROL),
    "CY": (CONTROL, "Y"),
    "XCZ": (NOT, CONTROL),
    "YCZ": ("Y", CONTROL),
    "SWAP": (CROSS, CROSS),
    "XCX": (NOT, NOT),
}


@dataclass(frozen=True)
class Glyph:
    """A gate, a measurement or a reset on one group of targets."""

    name: str  # its name, as circuit text has it
    qubits: tuple[int, ...]
    symbols: tuple[str, ...]  # what stands on each of them: a text, or one of the drawn symbols
    condition: str = ""  # the records that control it, or empty


def gates_by_tick(circuit: stim.Circuit) -> list[list[Glyph]]:
    r"""The gates between TICKs; noise is none of them.

    Examples:
        >>> first, second = gates_by_tick(stim.Circuit("S[T] 0\nTICK\nCX 0 1\nX_ERROR(0.1) 0"))
        >>> first[0].symbols, second[0].symbols
        (('T',), ('.', '+'))
    """
    found: list[list[Glyph]] = [[]]
    num_records = 0
    for part in unrolled(circuit):
        if part.name == "TICK":
            found.append([])
        else:
            found[-1] += glyphs_of(part, num_records)
        num_records += part.num_measurements
    return found


def glyphs_of(part: stim.CircuitInstruction, num_records: int) -> Iterator[Glyph]:
    """The gates of an instruction; none of noise and annotations."""
    data = stim.gate_data(part.name)
    is_noise = data.is_noisy_gate and not data.produces_measurements and not data.is_reset
    is_gate = bool(part.tag) and part.name in ("I", "II") and not is_expectation(part)
    if is_noise or part.name.startswith("HERALDED") or (part.name in _SKIPPED and not is_gate):
        return
    drawn = [_of_drawn(gate) for gate in drawn_gates_of(part, num_records)]
    if drawn:
        yield from drawn
        return
    for group in part.target_groups():
        factors = [target for target in group if not target.is_combiner]
        qubits = tuple(target.value for target in factors if is_on_qubit(target))
        bits = [
            f"rec[{num_records + target.value}]" for target in factors if target.is_measurement_record_target
        ]
        bits += [f"sweep[{target.value}]" for target in factors if target.is_sweep_bit_target]
        if qubits:
            yield Glyph(part.name, qubits, _symbols(part.name, factors), " and ".join(bits))


def _symbols(name: str, factors: Sequence[stim.GateTarget]) -> tuple[str, ...]:
    on_qubits = [target for target in factors if is_on_qubit(target)]
    if name in ("MPP", "SPP", "SPP_DAG"):
        return tuple(f"{name[0]}{target.pauli_type}" for target in on_qubits)
    if len(on_qubits) < len(factors):  # controlled by a record
        return (name.replace("C", "").replace("Z", "") or "Z",)
    return _SYMBOLS.get(name, (_short(name),) * len(on_qubits))


def _short(name: str) -> str:
    stem = name.removesuffix("_DAG")
    return stem.replace("SQRT_", "√").replace("_", "") + ("†" if stem != name else "")


def _of_drawn(gate: DrawnGate) -> Glyph:
    kinds = {"control": CONTROL, "not": NOT}
    symbols = tuple(
        kinds.get(symbol.kind, f"{_short(symbol.name.removeprefix('R_'))}{symbol.letter}")
        for symbol in gate.symbols
    )
    name = next((symbol.name for symbol in gate.symbols if symbol.name), "")
    angles = ", ".join(f"{angle:g}" for angle in gate.half_turns)
    return Glyph(f"{name}({angles})" if angles else name, gate.qubits, symbols, " and ".join(gate.conditions))
