"""Writes logical rotations and classical bits, in addition to what every circuit here needs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import stim

from ..cultivation.builder import CircuitBuilder, GateChoice
from ..cultivation.color_code import Coord


class TeleportationBuilder(CircuitBuilder):
    """Builds a `stim.Circuit`, as `CircuitBuilder` does.

    Rotations about a product of Z take no time. They stand for logical gates that the surface code does not
    have: perfect ones, which turn about the logical qubit and leave all checks alone.

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

    def parity(self, records: Iterable[int], bit: Coord) -> int:
        """Computes the parity of outcomes, and returns its index in the measurement record.

        A gate is controlled by one outcome. So the outcomes flip a qubit that stands for a classical bit, and
        this is measured.
        """
        self.reset(z=[bit])
        for record in records:
            self.feedback("X", record, [bit])
        [parity] = self.measure(z=[bit])
        return parity

    def logical_t_dag(self, sites: Sequence[Coord]) -> None:
        """Applies T_DAG about the product of Z over qubits, or S_DAG in the S-proxy."""
        factors = [stim.target_z(self._number[site]) for site in sites]
        self.circuit.append("SPP_DAG", stim.target_combined_paulis(factors), tag=self._tag)

    def logical_s_if(self, record: int, sites: Sequence[Coord]) -> None:
        """Applies S about the product of Z over qubits if an outcome is 1, or Z in the S-proxy.

        S is T twice. So its counterpart in the S-proxy is S twice, a Pauli.
        """
        if self._gate == "S":
            self.feedback("Z", record, sites)
            return
        [control] = self._lookbacks([record])
        targets = [target for site in sites for target in (control, self._number[site])]
        self.circuit.append("CZ", targets, tag=f"C_R_{'Z' * len(sites)}(theta=0.5*pi)")
