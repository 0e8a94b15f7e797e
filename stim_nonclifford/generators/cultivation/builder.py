"""Writes a noiseless circuit moment by moment, with qubits named by their coordinates."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import stim

from ...base.arguments import choice
from .color_code import Coord

GateChoice = Literal["T", "S"]
GATE_CHOICES: tuple[GateChoice, ...] = get_args(GateChoice)
Pauli = Literal["X", "Y", "Z"]

CxMoment = tuple[tuple[Coord, Coord], ...]
"""Simultaneous CX gates, as (control, target) pairs."""

# Last coordinate of a detector that discards the shot when it fires; it is 0 for other detectors. As the
# fourth coordinate, Sinter reads it with --postselect_detectors_with_non_zero_4th_coord.
POSTSELECT = 1

# Fourth coordinate of a detector that Chromobius ignores, as it is no check of the color code.
_UNCOLORED = -1

# Fifth coordinate in circuits that end in a surface code, as in those of arXiv 2409.17595: of detectors that
# postselect, and of X and Z checks of the surface code.
_CULTIVATION = -9
_OUTSIDE = (6, 7)
_NUM_COLORS = 3


@dataclass(frozen=True)
class Stage:
    """A named part of a circuit."""

    name: str
    first_moment: int  # the number of its first moment, counted from 0


class CircuitBuilder:
    """Builds a `stim.Circuit` from operations on coordinates.

    A *moment* is the set of operations between two TICKs. Detectors get coordinates `(x, y, t, flag)`: the
    site and the moment (counted from 0) of the measurement that they check, and `POSTSELECT`. In circuits for
    decoders, they get `(x, y, t, color, flag)`, with the color of Chromobius, and a flag of 0 if they are for
    the decoder. In circuits that end in a surface code, the flag is -9 for detectors that postselect, the
    color for checks of the color code that the decoder knows, and 6 and 7 for X and Z checks of the surface
    code.

    Examples:
        >>> builder = CircuitBuilder([(0, 0), (1, 0)])
        >>> builder.reset(z=[(0, 0)], x=[(1, 0)])
        >>> builder.tick()
        >>> builder.t([(1, 0)])
        >>> builder.tick()
        >>> [record] = builder.measure(z=[(0, 0)])
        >>> builder.detector((0, 0), [record])
        >>> print(builder.circuit)
        QUBIT_COORDS(0, 0) 0
        QUBIT_COORDS(1, 0) 1
        R 0
        RX 1
        TICK
        S[T] 1
        TICK
        M 0
        DETECTOR(0, 0, 2, 1) rec[-1]
    """

    def __init__(
        self,
        sites: Sequence[Coord],  # coordinates of the qubits, in the order of their numbers
        *,
        # "T" if `t` and `t_dag` write tagged gates, "S" if they write plain S and S_DAG
        gate: GateChoice = "T",
        colored: bool = False,  # whether detectors get the fourth coordinate that Chromobius reads
        # whether detectors get the five coordinates of circuits that end in a surface code
        grafted: bool = False,
    ) -> None:
        """Declares the qubits."""
        gate = choice(gate, "gate", GATE_CHOICES)
        self.circuit = stim.Circuit()  # the circuit written so far
        self.stages: list[Stage] = []  # the stages that have begun so far, in order
        self._tag = "T" if gate == "T" else ""
        self._colored = colored or grafted
        self._grafted = grafted
        self._number = {site: k for k, site in enumerate(sites)}
        self._num_moments = 0
        for site, k in self._number.items():
            self.circuit.append("QUBIT_COORDS", [k], site)

    def begin_stage(self, name: str) -> None:
        """Begins a stage at the current moment."""
        self.stages.append(Stage(name, self._num_moments))

    def tick(self) -> None:
        """Ends the current moment."""
        self.circuit.append("TICK")
        self._num_moments += 1

    def reset(self, *, x: Iterable[Coord] = (), z: Iterable[Coord] = ()) -> None:
        """Resets qubits to |+> (`x`) or |0> (`z`)."""
        self._append("R", z)
        self._append("RX", x)

    def t(self, sites: Iterable[Coord]) -> None:
        """Applies T = diag(1, exp(i pi/4)), or S in the S-proxy."""
        self._append("S", sites, tag=self._tag)

    def t_dag(self, sites: Iterable[Coord]) -> None:
        """Applies the inverse of `t`."""
        self._append("S_DAG", sites, tag=self._tag)

    def cx(self, pairs: Iterable[tuple[Coord, Coord]]) -> None:
        """Applies controlled X to (control, target) pairs."""
        self._append("CX", [site for pair in pairs for site in pair])

    def cx_moments(self, moments: Iterable[Iterable[tuple[Coord, Coord]]]) -> None:
        """Applies CX gates moment by moment, with a TICK after each."""
        for pairs in moments:
            self.cx(pairs)
            self.tick()

    def feedback(self, pauli: Pauli, record: int, sites: Iterable[Coord]) -> None:
        """Applies a Pauli to qubits if an outcome is 1.

        Feedback takes no time, as the control system can track the Pauli instead of applying it. A moment
        may therefore have operations on the same qubits after the feedback.
        """
        control = f"rec[{record - self.circuit.num_measurements}]"
        self._write({"X": "CX", "Z": "CZ"}[pauli], (f"{control} {self._number[site]}" for site in sites))

    def measure(self, *, x: Iterable[Coord] = (), z: Iterable[Coord] = ()) -> list[int]:
        """Measures qubits: first those of `z`, then those of `x`.

        Returns their indices in the measurement record.
        """
        first = self.circuit.num_measurements
        self._append("M", z)
        self._append("MX", x)
        return list(range(first, self.circuit.num_measurements))

    def measure_product(self, pauli: Pauli, sites: Iterable[Coord]) -> int:
        """Measures the product of one Pauli over several qubits, perfectly.

        Returns its index in the measurement record.
        """
        factors = [stim.target_pauli(self._number[site], pauli) for site in sites]
        self.circuit.append("MPP", stim.target_combined_paulis(factors))
        record: int = self.circuit.num_measurements - 1
        return record

    def t_of_product(self, pauli: Pauli, sites: Iterable[Coord]) -> None:
        """Applies exp(-i pi/8 P) for the product P of one Pauli over several qubits; SPP in the S-proxy."""
        factors = [stim.target_pauli(self._number[site], pauli) for site in sites]
        self.circuit.append("SPP", stim.target_combined_paulis(factors), tag=self._tag)

    def expectation_value(self, paulis: Mapping[Coord, Pauli], *, inverted: bool = False) -> None:
        """Asks for the expectation value of a product of Paulis.

        The product is also the next observable, so that error models know which errors flip its sign.
        """
        qubits = [self._number[site] for site in paulis]
        sign = "!" if inverted else ""
        self.circuit.append("I", qubits, tag=f"EXP_VAL({sign}{''.join(paulis.values())})")
        factors = [stim.target_pauli(self._number[site], pauli) for site, pauli in paulis.items()]
        self.circuit.append("OBSERVABLE_INCLUDE", factors, self.circuit.num_observables)

    def detector(
        self,
        site: Coord,
        records: Iterable[int],
        *,
        color: int | None = None,
        postselect: bool = True,
        is_face: bool = False,
    ) -> None:
        """Declares a detector at a site and the current moment.

        The parity of records is even unless there is an error.

        `color` is what Chromobius reads: 0 to 2 for an X check of the color code and 3 to 5 for a Z check, by
        the color of the tile; None for anything else. `is_face` marks checks of a surface code beside a color
        code.
        """
        colors = ([_UNCOLORED if color is None else color]) if self._colored else []
        flag = POSTSELECT if postselect else 0
        if self._grafted:
            known = color if color is None or not is_face else _OUTSIDE[color // _NUM_COLORS]
            flag = _CULTIVATION if postselect or known is None else known
        coordinates = (*site, self._num_moments, *colors, flag)
        now = self.circuit.num_measurements
        self._write(f"DETECTOR{coordinates}", (f"rec[{record - now}]" for record in records))

    def observable(self, records: Iterable[int]) -> None:
        """Declares the parity of `records` as observable 0: it is odd if the logical state is wrong."""
        self.circuit.append("OBSERVABLE_INCLUDE", self._lookbacks(records), 0)

    def _append(self, name: str, sites: Iterable[Coord], *, tag: str = "") -> None:
        targets = [self._number[site] for site in sites]
        if targets:
            self._write(f"{name}[{tag}]" if tag else name, targets)

    def _write(self, name: str, targets: Iterable[object]) -> None:
        """Appends an instruction as text, which Stim reads several times as fast as it takes targets."""
        self.circuit.append_from_stim_program_text(f"{name} {' '.join(map(str, targets))}")

    def _lookbacks(self, records: Iterable[int]) -> list[stim.GateTarget]:
        now = self.circuit.num_measurements
        return [stim.target_rec(record - now) for record in records]
