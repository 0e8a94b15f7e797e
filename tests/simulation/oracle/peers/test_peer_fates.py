"""A second opinion on fault sets: exact probabilities of sets of faults, by clifft.

clifft is an independent simulator (extra ``peers``; it needs Python 3.12). Its ``record_probabilities`` are the exact
joint probabilities of measurement records. It knows no resets there, so every reset takes a fresh qubit.
"""

import itertools
import re
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pytest

import stim_nonclifford as snc
from stim_nonclifford.generators.cultivation import cultivation_circuit
from stim_nonclifford.simulation.faults import CircuitFault

from .test_peers import peer


class Records:
    """A circuit without noise whose resets are fresh qubits."""

    def __init__(self, circuit: snc.Circuit) -> None:
        self._names: dict[str, int] = {}
        self._number = itertools.count()
        lines: list[str] = []
        self.checked: list[int] = []  # records that are detectors
        self.observable = -1  # the record that is the observable
        records = 0
        text = re.sub(r"\bS\[T\]", "T", re.sub(r"\bS_DAG\[T\]", "T_DAG", str(circuit)))
        for line in text.splitlines():
            name, *targets = re.sub(r"\(.*?\)", "", line).split()
            if name in ("QUBIT_COORDS", "TICK"):
                continue
            if name in ("DETECTOR", "OBSERVABLE_INCLUDE"):
                [record] = targets
                self._add(name, records + int(record[4:-1]))
            elif name in ("R", "RX"):
                self._names |= {qubit: next(self._number) for qubit in targets}
                if name == "RX":
                    lines.append(f"H {self._renamed(targets)}")
            else:
                lines.append(f"{name} {self._renamed(targets)}")
                records += len(targets) if name in ("M", "MX", "MPP") else 0
        self.text = "\n".join(lines)
        self.free = sorted({*range(records)} - {*self.checked, self.observable})
        self._records = records

    def _add(self, name: str, record: int) -> None:
        if name == "DETECTOR":
            self.checked.append(record)
        else:
            self.observable = record

    def _renamed(self, targets: Sequence[str]) -> str:
        return " ".join(
            target if target.startswith("rec") else re.sub(r"\d+", self._fresh, target) for target in targets
        )

    def _fresh(self, qubit: re.Match[str]) -> str:
        if qubit[0] not in self._names:
            self._names[qubit[0]] = next(self._number)
        return str(self._names[qubit[0]])

    def kept(self, coins: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
        """Records of kept shots: for each row of the free ones, the observable 0, and then again 1."""
        rows = np.zeros((2, len(coins), self._records), dtype=np.bool_)
        rows[:, :, self.free] = coins
        rows[1, :, self.observable] = True
        return rows.reshape(-1, self._records)


def assert_same_fates(circuit: snc.Circuit, sets: Sequence[Sequence[CircuitFault]]) -> None:
    """The probabilities of being kept and right, and kept and wrong, for up to eight rows of the free records."""
    clifft = peer("clifft")
    for faults, ours in zip(sets, circuit.outcome_probabilities(sets, postselection_mask="all"), strict=True):
        records = Records(circuit.with_faults(faults))
        count = len(records.free)
        numbers = np.random.default_rng(1).permutation(1 << count)[:8]
        coins = (numbers[:, None] >> np.arange(count) & 1).astype(np.bool_)
        found = clifft.record_probabilities(clifft.compile(records.text), records.kept(coins)) * 2**count
        right, wrong = np.asarray(found).reshape(2, -1)
        assert ours.kept_and_wrong > 0
        np.testing.assert_allclose(right, ours.kept_and_right, rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(wrong, ours.kept_and_wrong, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("distance", [3, 5])
def test_all_smallest_malignant_sets(distance: int) -> None:
    circuit = snc.Circuit(cultivation_circuit(distance, 1e-3))
    malignant = circuit.malignant_sets(postselection_mask="all")
    assert len(malignant) == 9
    assert_same_fates(circuit, [each.faults for each in malignant])


def test_a_change_of_one_fault_is_seen() -> None:
    """The comparison fails if the simulated circuit lacks one of the faults."""
    circuit = snc.Circuit(cultivation_circuit(5, 1e-3))
    faults = circuit.malignant_sets(postselection_mask="all")[0].faults
    clifft = peer("clifft")
    coins = np.zeros((1, 4), dtype=np.bool_)
    fates = []
    for some in (faults, faults[1:]):
        records = Records(circuit.with_faults(some))
        fates.append(clifft.record_probabilities(clifft.compile(records.text), records.kept(coins)))
    assert not np.allclose(fates[0], fates[1], atol=1e-6)
