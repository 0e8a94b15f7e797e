"""The calibration table of a device."""

from __future__ import annotations

import csv
from dataclasses import dataclass, fields
from pathlib import Path

from ...base.arguments import number, positive, probability


@dataclass(frozen=True, kw_only=True)
class QubitCalibration:
    """The calibration of one qubit. What is left out is free of errors, or takes no time.

    Attributes:
        T1: The time after which 1/e of the excited state is left, in seconds; None: for ever.
        T2: The time after which 1/e of a coherence is left, in seconds, at most 2 T1; None: 2 T1.
        p01: The probability that the outcome 0 is read as 1.
        p10: The probability that the outcome 1 is read as 0.
        reset_error: The probability that a reset prepares the orthogonal state.
        gate_error: The average error of a one-qubit gate, as randomized benchmarking reports it.
        gate_time: How long a one-qubit gate takes, in seconds.
        readout_time: How long a measurement takes, in seconds.
        reset_time: How long a reset takes, in seconds.

    Raises:
        TypeError: An argument is no number.
        ValueError: An argument is out of range.
    """

    T1: float | None = None
    T2: float | None = None
    p01: float = 0.0
    p10: float = 0.0
    reset_error: float = 0.0
    gate_error: float = 0.0
    gate_time: float = 0.0
    readout_time: float = 0.0
    reset_time: float = 0.0

    def __post_init__(self) -> None:
        for name in ("T1", "T2"):
            if getattr(self, name) is not None:
                positive(getattr(self, name), name)
        if self.T1 is not None and self.T2 is not None and self.T2 > 2 * self.T1 * (1 + 1e-12):
            raise ValueError(f"T2 must be at most 2 T1, but T1 is {self.T1!r} and T2 is {self.T2!r}.")
        for name in ("p01", "p10", "reset_error", "gate_error"):
            probability(getattr(self, name), name)
        for name in ("gate_time", "readout_time", "reset_time"):
            number(getattr(self, name), name, 0)

    def relaxation(self, seconds: float) -> tuple[float, float]:
        """The arguments of THERMAL_RELAXATION for a time.

        Args:
            seconds: The time, in seconds.

        Examples:
            >>> QubitCalibration(T1=100e-6).relaxation(1e-6)
            (0.01, 0.005)
        """
        seconds = number(seconds, "seconds", 0)
        over_t1 = 0.0 if self.T1 is None else _rounded(seconds / self.T1)
        over_t2 = 0.0 if self.T2 is None else _rounded(seconds / self.T2)
        return over_t1, max(over_t1 / 2, over_t2)


@dataclass(frozen=True, kw_only=True)
class PairCalibration:
    """The calibration of the two-qubit gates of a pair of qubits.

    Attributes:
        gate_error: The average error of a gate, as randomized benchmarking reports it.
        gate_time: How long a gate takes, in seconds.

    Raises:
        TypeError: An argument is no number.
        ValueError: An argument is out of range.
    """

    gate_error: float = 0.0
    gate_time: float = 0.0

    def __post_init__(self) -> None:
        probability(self.gate_error, "gate_error")
        number(self.gate_time, "gate_time", 0)


def read_table(
    path: Path,
) -> tuple[dict[int, QubitCalibration], dict[tuple[int, int], PairCalibration]]:
    """Reads a file; ``DeviceNoise.from_csv`` describes it."""
    qubits: dict[int, QubitCalibration] = {}
    pairs: dict[tuple[int, int], PairCalibration] = {}
    with path.open(newline="", encoding="utf-8-sig") as file:
        rows = csv.DictReader(file, skipinitialspace=True)
        known = {"qubits", *(field.name for field in fields(QubitCalibration))}
        unknown = [name for name in rows.fieldnames or [] if name not in known]
        if unknown or "qubits" not in (rows.fieldnames or []):
            raise ValueError(
                f"Line 1 of {path}: the columns must be qubits and some of"
                f" {', '.join(sorted(known - {'qubits'}))}"
                + (f", but there is {unknown[0]!r}." if unknown else ".")
            )
        for row in rows:
            try:
                numbers = [int(part) for part in str(row.pop("qubits")).split("-")]
                cells = {name: float(cell) for name, cell in row.items() if cell and cell.strip()}
                if len(numbers) == 1 and numbers[0] not in qubits:
                    qubits[numbers[0]] = QubitCalibration(**cells)
                elif len(set(numbers)) == 2 and (numbers[0], numbers[1]) not in pairs:
                    pairs[numbers[0], numbers[1]] = PairCalibration(**cells)
                else:
                    raise ValueError("qubits must be a new qubit, such as 3, or a new pair, such as 3-4")
            except (TypeError, ValueError) as error:
                raise ValueError(f"Line {rows.line_num} of {path}: {error}") from None
    return qubits, pairs


def _rounded(value: float) -> float:
    """A number with as many digits as are easy to read."""
    return float(f"{value:.12g}")
