"""The calibration table of a device."""

from __future__ import annotations

import csv
import json
import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

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
        T2_star: The time after which 1/e of a coherence is left by slow noise alone, in seconds; None: for
            ever. The shift of the frequency is the same for all of a shot, and an echo undoes it. T2 is that
            of an echo.
        t_error: The average error of T and T_DAG; None: that of the other one-qubit gates.
        over_rotation: By how many half-turns a one-qubit gate turns too far, about its axis (that of H is Y).
        excited_population: The share of qubits in |1> in thermal equilibrium, 1/(1 + exp(h f/(k T))).
        gate_leakage: The probability that the qubit leaks in a one-qubit gate.
        gate_seepage: The probability that it returns in one, if it is leaked.
        gate_loss: The probability that it is lost in one.
        readout_leakage: The probability that it leaks in a measurement.
        check_miss: The probability that a herald of leakage or loss reports 0 for a qubit that is away.
        check_false_positive: The probability that a herald of leakage reports 1 for a qubit that is there.

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
    T2_star: float | None = None
    t_error: float | None = None
    over_rotation: float = 0.0
    excited_population: float = 0.0
    gate_leakage: float = 0.0
    gate_seepage: float = 0.0
    gate_loss: float = 0.0
    readout_leakage: float = 0.0
    check_miss: float = 0.0
    check_false_positive: float = 0.0

    def __post_init__(self) -> None:
        for name in ("T1", "T2", "T2_star"):
            if getattr(self, name) is not None:
                positive(getattr(self, name), name)
        if self.T1 is not None and self.T2 is not None and self.T2 > 2 * self.T1 * (1 + 1e-12):
            raise ValueError(f"T2 must be at most 2 T1, but T1 is {self.T1!r} and T2 is {self.T2!r}.")
        for name in (*_PROBABILITIES, "p01", "p10", "reset_error", "readout_leakage", "check_miss",
                     "check_false_positive"):  # fmt: skip
            probability(getattr(self, name), name)
        if self.t_error is not None:
            probability(self.t_error, "t_error")
        number(self.excited_population, "excited_population", 0, 0.5)
        number(self.over_rotation, "over_rotation")
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
        over_t1 = 0.0 if self.T1 is None else rounded(seconds / self.T1)
        over_t2 = 0.0 if self.T2 is None else rounded(seconds / self.T2)
        return over_t1, max(over_t1 / 2, over_t2)

    def slow_turn(self, seconds: float) -> float:
        """The argument of QUASISTATIC for a time, in half-turns.

        A shift of Gaussian distribution with the standard deviation 1/(sqrt(2) pi T2_star) leaves
        exp(-(t/T2_star)^2) of a coherence.

        Args:
            seconds: The time, in seconds.

        Examples:
            >>> angle = QubitCalibration(T2_star=1e-5).slow_turn(1e-6)
            >>> round(math.exp(-((math.pi * angle) ** 2) / 2), 5), round(math.exp(-0.01), 5)
            (0.99005, 0.99005)
        """
        seconds = number(seconds, "seconds", 0)
        if self.T2_star is None:
            return 0.0
        return rounded(math.sqrt(2) * seconds / (math.pi * self.T2_star))

    def relaxing(self, seconds: float) -> tuple[float, float, float]:
        """The noise of waiting: the arguments of THERMAL_RELAXATION, and the probability of a flip after it.

        With a flip X or Y, each with half of this probability, the qubit relaxes towards
        ``excited_population``, with its T1 and T2.

        Args:
            seconds: The time, in seconds.

        Examples:
            >>> over_t1, over_t2, flip = QubitCalibration(T1=1e-4, excited_population=0.02).relaxing(1e-6)
            >>> round(flip / (1 - math.exp(-0.01)), 12)
            0.02
        """
        over_t1, over_t2 = self.relaxation(seconds)
        if not self.excited_population or not over_t1:
            return over_t1, over_t2, 0.0
        flip = -math.expm1(-over_t1) * self.excited_population
        colder = rounded(over_t1 + math.log1p(-2 * flip))
        return colder, max(colder / 2, rounded(over_t2 + math.log1p(-flip))), rounded(flip)


@dataclass(frozen=True, kw_only=True)
class PairCalibration:
    """The calibration of the gates on a pair of qubits, or on three, such as CCZ.

    Attributes:
        gate_error: The average error of a gate, as randomized benchmarking reports it.
        gate_time: How long a gate takes, in seconds.
        over_rotation: By how many half-turns a gate turns too far, about its axis (ZZ for CZ, ZX for CX).
        crosstalk: The shift of one qubit's frequency by the other one's |1>, in hertz. It turns the pair
            about ZZ in each moment in which no gate acts on both.
        gate_leakage: The probability, for each of the qubits, that it leaks in a gate.
        gate_seepage: The probability that it returns in one, if it is leaked.
        gate_loss: The probability that it is lost in one.
        transport: The probability that leakage moves from one of two qubits to the other in a gate.

    Raises:
        TypeError: An argument is no number.
        ValueError: An argument is out of range.
    """

    gate_error: float = 0.0
    gate_time: float = 0.0
    over_rotation: float = 0.0
    crosstalk: float = 0.0
    gate_leakage: float = 0.0
    gate_seepage: float = 0.0
    gate_loss: float = 0.0
    transport: float = 0.0

    def __post_init__(self) -> None:
        for name in (*_PROBABILITIES, "transport"):
            probability(getattr(self, name), name)
        number(self.gate_time, "gate_time", 0)
        for name in ("over_rotation", "crosstalk"):
            number(getattr(self, name), name)


_PROBABILITIES = ("gate_error", "gate_leakage", "gate_seepage", "gate_loss")
_MOST_QUBITS = 3

Table = tuple[dict[int, QubitCalibration], dict[tuple[int, ...], PairCalibration]]


def read_table(path: Path) -> Table:
    """Reads a file of comma-separated values; ``DeviceNoise.from_csv`` describes it."""
    with path.open(newline="", encoding="utf-8-sig") as file:
        rows = csv.DictReader(file, skipinitialspace=True)
        known = {"qubits", *_columns()}
        unknown = [name for name in rows.fieldnames or [] if name not in known]
        if unknown or "qubits" not in (rows.fieldnames or []):
            raise ValueError(
                f"Line 1 of {path}: the columns must be qubits and some of"
                f" {', '.join(sorted(known - {'qubits'}))}"
                + (f", but there is {unknown[0]!r}." if unknown else ".")
            )
        return _table((f"Line {rows.line_num} of {path}", str(row.pop("qubits")), row) for row in rows)


def read_json(path: Path) -> Table:
    """Reads a JSON file; ``DeviceNoise.from_json`` describes it."""
    try:
        entries = json.loads(path.read_text(encoding="utf-8"))
    except json.JSONDecodeError as error:
        raise ValueError(f"{path} is no JSON: {error}.") from None
    if not isinstance(entries, dict) or not all(isinstance(each, dict) for each in entries.values()):
        raise ValueError(
            f"{path} must be an object of objects, such as"
            ' {"3": {"T1": 8e-5}, "3-4": {"gate_error": 0.006}}.'
        )

    def rows() -> Iterator[tuple[str, str, Mapping[str, Any]]]:
        for qubits, cells in entries.items():
            yield f"Entry {qubits!r} of {path}", qubits, cells

    return _table(rows())


def _columns() -> dict[str, None]:
    """The names of all attributes."""
    return {each.name: None for kind in (QubitCalibration, PairCalibration) for each in fields(kind)}


def _table(rows: Iterable[tuple[str, str, Mapping[str, Any]]]) -> Table:
    """A table from rows: where each stands, its qubits, and its cells."""
    qubits: dict[int, QubitCalibration] = {}
    pairs: dict[tuple[int, ...], PairCalibration] = {}
    for place, label, row in rows:
        try:
            numbers = tuple(int(part) for part in label.split("-"))
            cells = {
                name: float(cell)
                for name, cell in row.items()
                if cell is not None and (not isinstance(cell, str) or cell.strip())
            }
            for name in cells:
                if name not in _columns():
                    raise ValueError(f"{name!r} is none of {', '.join(sorted(_columns()))}")
            if len(numbers) == 1 and numbers[0] not in qubits:
                qubits[numbers[0]] = QubitCalibration(**cells)
            elif 2 <= len(set(numbers)) == len(numbers) <= _MOST_QUBITS and numbers not in pairs:
                pairs[numbers] = PairCalibration(**cells)
            else:
                raise ValueError(
                    "qubits must be a new qubit, such as 3, a new pair, such as 3-4, or three, such as 3-4-5"
                )
        except (TypeError, ValueError) as error:
            raise ValueError(f"{place}: {error}") from None
    return qubits, pairs


def rounded(value: float) -> float:
    """A number with as many digits as are easy to read."""
    return float(f"{value:.12g}")
