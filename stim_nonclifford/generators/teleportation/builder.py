"""Writes logical rotations and classical bits, in addition to what every circuit here needs."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

import stim

from ..cultivation.builder import CircuitBuilder, GateChoice, Pauli
from ..cultivation.color_code import Coord
from ..cultivation.noise import NoiseModel, add_noise


class TeleportationBuilder(CircuitBuilder):
    """Builds a `stim.Circuit`, as `CircuitBuilder` does.

    Rotations about a product of Z take no time. They stand for logical gates that the surface code does not
    have: perfect ones, which turn about the logical qubit and leave all checks alone.

    A circuit has parts with and without noise, which end between two moments.

    Attributes:
        postselected: Sites whose detectors postselect; None for all.
        conditions: During an attempt, the records of detectors that are not declared, because they must not
            fire: by their sites, in order.

    Examples:
        >>> builder = TeleportationBuilder([(0, 0), (1, 0), (2, 0)])
        >>> records = builder.measure(z=[(0, 0), (1, 0)])
        >>> outcome = builder.parity(records, (2, 0))
        >>> builder.logical_s_if(outcome, [(0, 0), (1, 0)])
        >>> builder.logical_t_dag([(0, 0), (1, 0)])
        >>> print(builder.circuit)
        QUBIT_COORDS(0, 0) 0
        QUBIT_COORDS(1, 0) 1
        QUBIT_COORDS(2, 0) 2
        M 0 1
        R 2
        CX rec[-2] 2 rec[-1] 2
        M 2
        CZ[C_R_ZZ(theta=0.5*pi)] rec[-1] 0 rec[-1] 1
        SPP_DAG[T] Z0*Z1
    """

    def __init__(self, sites: Sequence[Coord], *, gate: GateChoice = "T") -> None:
        super().__init__(sites, gate=gate)
        self._gate = gate
        self._coordinates = self.circuit.copy()
        self._parts: list[tuple[int, bool]] = []  # the end of each, and whether it has noise
        self.postselected: Collection[Coord] | None = None
        self.conditions: list[tuple[Coord, list[int]]] = []
        self._conditional: Collection[Coord] = ()
        self._begin = 0  # of the attempt, in moments
        self._sure: list[int] = []  # the records of the last question whether a decoder is sure

    def begin_attempt(self, conditional: Collection[Coord]) -> None:
        """Begins, at the end of a part, what is repeated until no detector at some sites would fire.

        If a decoder is asked whether it is `sure`, it is repeated until it is.
        """
        self.conditions, self._conditional, self._begin = [], conditional, self._num_moments

    def end_attempt(self, attempts: int) -> int:
        """Makes a block of what was written since `begin_attempt`: so many attempts at most, with noise.

        One attempt needs no block. The last attempt has the last places in the measurement record, so that
        records of this one move. Returns by how many places.
        """
        begin, end = self._parts[-1][0], self.circuit.num_measurements
        self.circuit.append("SHIFT_COORDS", [], (0, 0, self._num_moments - self._begin))
        before, body = self.circuit[:begin], self.circuit[begin:]
        terms = (
            "!" + "^".join(f"rec[{record - end}]" for record in records) for _, records in self.conditions
        )
        sure = (f"rec[{record - end}]" for record in self._sure)
        if attempts > 1:
            before.append(stim.CircuitRepeatBlock(attempts, body, tag=f"UNTIL {' '.join([*terms, *sure])}"))
        else:
            before += body
        moved = (attempts - 1) * body.num_measurements
        self.circuit, self._num_moments, self._conditional = before, self._begin, ()
        self.conditions = [
            (site, [record + moved for record in records]) for site, records in self.conditions
        ]
        self._sure = [record + moved for record in self._sure]
        self.end_part(noisy=True)
        return moved

    def end_part(self, *, noisy: bool) -> None:
        """Ends a part of the circuit: what was written since the last end has noise, or has none."""
        self._parts.append((len(self.circuit), noisy))

    def with_noise(
        self, model: NoiseModel, bits: Collection[Coord], *, waiting: Collection[Coord] | None = None
    ) -> stim.Circuit:
        """The circuit with noise in the parts that have some. Sites in ``bits`` have none.

        Qubits that a part leaves alone have noise if they are in ``waiting``. By default, all are.
        """
        quiet = {self._number[site] for site in bits}
        begin = len(self._coordinates)
        written = self._coordinates.copy()
        for end, noisy in self._parts:
            part = self.circuit[begin:end]
            if noisy:
                alone = set()
                if waiting is not None:
                    alone = set(self._number.values()) - {self._number[site] for site in waiting}
                    alone -= {t.value for each in part for t in each.targets_copy() if t.is_qubit_target}
                written += self._noisy(part, model, quiet | alone)
            else:
                written += part
            begin = end
        return written + self.circuit[begin:]

    def _noisy(self, part: stim.Circuit, model: NoiseModel, quiet: set[int]) -> stim.Circuit:
        """A part with noise; attempts are a part of their own."""
        if len(part) == 1 and isinstance(block := part[0], stim.CircuitRepeatBlock):
            written = stim.Circuit()
            body = self._noisy(block.body_copy(), model, quiet)
            written.append(stim.CircuitRepeatBlock(block.repeat_count, body, tag=block.tag))
            return written
        return add_noise(self._coordinates + part, model, bits=quiet)[len(self._coordinates) :]

    def detector(self, site: Coord, records: Iterable[int], **options: Any) -> None:
        """Declares a detector, as ``CircuitBuilder.detector`` does; see ``postselected``, ``conditions``."""
        if site in self._conditional:
            self.conditions.append((site, list(records)))
            return
        postselect = self.postselected is None or site in self.postselected
        super().detector(site, records, **{"postselect": postselect, **options})

    def zeros(self, count: int) -> None:
        """Records that are 0."""
        self.circuit.append("MPAD", [0] * count)

    def z_error(self, sites: Sequence[Coord], probability: float) -> None:
        """Z happens to each of some qubits with a probability."""
        self.circuit.append("Z_ERROR", [self._number[site] for site in sites], probability)

    def product(self, paulis: Mapping[Coord, Pauli]) -> str:
        """A product of Paulis on sites, as text."""
        return "*".join(f"{pauli}{self._number[site]}" for site, pauli in paulis.items())

    def parity(self, records: Iterable[int], bit: Coord) -> int:
        """Computes the parity of outcomes, and returns its index in the measurement record.

        A gate is controlled by one outcome. So the outcomes flip a qubit that stands for a classical bit, and
        this is measured.
        """
        self.reset(z=[bit])
        now = self.circuit.num_measurements
        if flips := [f"rec[{record - now}] {self._number[bit]}" for record in records]:
            self._write("CX", flips)
        [parity] = self.measure(z=[bit])
        return parity

    def decode(self, records: Iterable[int], bit: Coord, decoder: str = "", *, inverted: bool = False) -> int:
        """Decides the parity of outcomes by a decoder, which can have a name; returns the record."""
        decided = self.parity(records, bit)
        measured = self.circuit.pop()
        tag = f"DECODE(decoder={decoder})" if decoder else "DECODE"
        [target] = measured.targets_copy()
        self.circuit.append(measured.name, stim.target_inv(target) if inverted else target, tag=tag)
        return decided

    def frames(self, products: Iterable[Mapping[Coord, Pauli]], decoder: str = "") -> list[int]:
        """Asks a decoder whether errors have flipped products of Paulis; returns the records."""
        options = [*map(self.product, products)]
        first, count = self.circuit.num_measurements, len(options)
        if decoder:
            options.append(f"decoder={decoder}")
        self.circuit.append("MPAD", [0] * count, tag=f"FRAME({', '.join(options)})")
        return list(range(first, first + count))

    def sure(self, products: Sequence[Mapping[Coord, Pauli]], gap: float) -> None:
        """Asks a decoder whether it is sure of products of Paulis, by a gap in decibels."""
        first, options = self.circuit.num_measurements, [f"{gap:g}", *map(self.product, products)]
        self.circuit.append("MPAD", [1] * len(products), tag=f"SURE({', '.join(options)})")
        self._sure = [first + k for k in range(len(products))]

    def postselect_if_unsure(self, sites: Sequence[Coord]) -> None:
        """Declares detectors, at some sites, that fire if the decoder that was asked last is not sure."""
        self.postselected = sites
        for site, record in zip(sites, self._sure, strict=True):
            self.detector(site, [record])

    def both(self, records: Sequence[int], bit: Coord) -> int:
        """Computes whether two outcomes are both 1, and returns its index in the measurement record."""
        self.reset(z=[bit])
        targets = [target for control in self._lookbacks(records) for target in (control, self._number[bit])]
        self.circuit.append("CZ", targets, tag="CCX")
        [found] = self.measure(z=[bit])
        return found

    def logical_t_dag(self, sites: Sequence[Coord]) -> None:
        """Applies T_DAG about the product of Z over qubits, or S_DAG in the S-proxy."""
        factors = [stim.target_z(self._number[site]) for site in sites]
        self.circuit.append("SPP_DAG", stim.target_combined_paulis(factors), tag=self._tag)

    def logical_s_if(
        self, record: int, sites: Sequence[Coord], pauli: Pauli = "Z", *, inverse: bool = False
    ) -> None:
        """Applies S about a product of one Pauli if an outcome is 1, or the product in the S-proxy.

        S is T twice. So its counterpart in the S-proxy is S twice, a Pauli.
        """
        if self._gate == "S":
            self.feedback(pauli, record, sites)
            return
        [control] = self._lookbacks([record])
        targets = [target for site in sites for target in (control, self._number[site])]
        angle = -0.5 if inverse else 0.5
        self.circuit.append("CZ", targets, tag=f"C_R_{pauli * len(sites)}(theta={angle}*pi)")
