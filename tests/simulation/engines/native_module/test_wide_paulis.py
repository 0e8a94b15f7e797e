"""Plans with more active coordinates than a word has bits, whose outcomes need few coefficients or none.

Fifteen rotations by the angle of T, each one way or the other, about all products of four Z strings are Clifford: S on each qubit and CZ
on pairs. So Stim has the laws of circuits of such blocks, however many coordinates their T rotations activate, and with a few T gates
more, the package has them on few coordinates.
"""

import dataclasses
from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import pytest
import stim

from stim_nonclifford import Circuit, ResourceLimitError
from stim_nonclifford.simulation.engines import CpuEngine
from stim_nonclifford.simulation.plan import SamplingPlan, SparseRows
from stim_nonclifford.simulation.reduction import reduction_of

from ....support.engines.engine_cases import law_of
from ....support.laws.exact import largest_difference, row_distribution
from ....support.seeds import seeds

Strings = npt.NDArray[np.int64]
"""Shape (strings, qubits): the qubits that a product of Zs acts on."""


def product_of(string: npt.NDArray[np.generic], letter: str = "Z") -> str:
    return "*".join(f"{letter}{q}" for q in np.flatnonzero(string))


def blocks_on(rng: np.random.Generator, n: int, count: int) -> tuple[Strings, Strings]:
    """The strings of some blocks in random order, and for each the sign of its rotation."""
    bases = rng.random((count, 4, n)) < 6 / n
    members = np.array([[v >> k & 1 for k in range(4)] for v in range(1, 16)])
    strings = np.concatenate([members @ basis % 2 for basis in bases.astype(int)])
    # Four strings that depend on each other give less than fifteen products; each still comes an even number of times.
    strings = strings[strings.any(axis=1)]
    return strings[rng.permutation(len(strings))], rng.choice([1, -1], len(strings))


def undone_on(rng: np.random.Generator, n: int) -> tuple[Strings, Strings]:
    """Rotations and, in another order, their inverses; and two blocks."""
    strings = (rng.random((n, n)) < 3 / n).astype(int)
    strings = strings[strings.any(axis=1)]
    more, signs = blocks_on(rng, n, 2)
    ones = np.ones(len(strings), dtype=int)
    return np.concatenate([strings, strings[rng.permutation(len(strings))], more]), np.concatenate(
        [ones, -ones, signs]
    )


def rotations(strings: Strings, signs: Strings) -> list[str]:
    return [
        f"TPP{'' if sign > 0 else '_DAG'} {product_of(string)}"
        for string, sign in zip(strings, signs, strict=True)
    ]


def clifford_of(strings: Strings, signs: Strings) -> list[str]:
    """The same by S and CZ: sum_j s_j (z_j.a) = sum_i L_i a_i - 2 sum_(i<k) Q_ik a_i a_k + 4 (...) modulo 8, with even L, Q and (...)."""
    form = strings.T @ (signs[:, None] * strings)
    assert not (form % 2).any()
    lines = [
        f"{('', 'S', 'Z', 'S_DAG')[power]} {q}" for q, power in enumerate(np.diag(form) // 2 % 4) if power
    ]
    pairs = np.argwhere(np.triu(form // 2 % 2, k=1))
    return lines + [f"CZ {a} {b}" for a, b in pairs.tolist()]


def random_paulis(rng: np.random.Generator, n: int, count: int) -> list[str]:
    """Products of Zs and products of Xs."""
    return [
        product_of(rng.random(n) < 4 / n, rng.choice(["X", "Z"], p=[0.7, 0.3])) or "X0" for _ in range(count)
    ]


class HeraldedFlips:
    """Rotations of n qubits, with recorded bit flips between their rotations, and measurements after every few blocks.

    The records are those of flags, qubits n, ..., 2n - 1: some fair coins, and others that noise sets. Both are in signatures.
    """

    def __init__(self, rng: np.random.Generator, n: int, *, coins: int = 0, noise: float = 0.0) -> None:
        self.n = n
        flags = [str(n + q) for q in range(n)]
        self.lines = [
            f"RX {' '.join(map(str, range(n)))}",
            f"RX {' '.join(flags[:coins])}",
            f"X_ERROR({noise}) {' '.join(flags)}",
            f"M {' '.join(flags)}",
        ]
        self.stages = []
        records = n
        for _ in range(3):
            strings, signs = undone_on(rng, n)
            flipped_before = rng.integers(0, len(strings), n)
            for j, line in enumerate(rotations(strings, signs)):
                self.lines += [
                    f"CX rec[{q - records}] {q}" for q in np.flatnonzero(flipped_before == j).tolist()
                ]
                self.lines.append(line)
            paulis = random_paulis(rng, n, n // 2)
            self.lines += [f"MPP {pauli}" for pauli in paulis]
            records += len(paulis)
            self.stages.append((strings, signs, flipped_before, paulis))

    @property
    def circuit(self) -> Circuit:
        return Circuit("\n".join(self.lines))

    def coins_of(self, shot: npt.NDArray[np.bool_]) -> list[bool] | None:
        """The outcomes of a shot that are fair by Stim; None if one of the others is not what Stim says."""
        n, simulator = self.n, stim.TableauSimulator()
        simulator.do(stim.Circuit(self.lines[0]))
        flags, outcomes = shot[:n], iter(shot[n:])
        coins: list[bool] = []
        for strings, signs, flipped_before, paulis in self.stages:
            turned = signs.copy()
            for q in np.flatnonzero(flags):
                turned[flipped_before[q] :] *= 1 - 2 * strings[flipped_before[q] :, q]
            flipped = [f"X {q}" for q in np.flatnonzero(flags)]
            simulator.do(stim.Circuit("\n".join([*clifford_of(strings, turned), *flipped])))
            for pauli in paulis:
                observable = stim.PauliString(pauli)
                expected = simulator.peek_observable_expectation(observable)
                outcome = bool(next(outcomes))
                if expected == 0:
                    coins.append(outcome)
                elif outcome != (expected < 0):
                    return None
                simulator.postselect_observable(observable, desired_value=outcome)
        return coins


@pytest.mark.parametrize(("coins", "noise"), [(0, 0.0), (0, 0.03), (3, 0.01)])
@pytest.mark.parametrize("seed", seeds(12, quick=1))
def test_shots_are_those_of_stabilizer_states(seed: int, coins: int, noise: float) -> None:
    """Certain outcomes are Stim's, and the others are fair coins. Seeds [seed, 5]; five standard deviations: fail < 1e-6."""
    rng = np.random.default_rng([seed, 5])
    case = HeraldedFlips(rng, int(rng.integers(80, 131)), coins=coins, noise=noise)
    plan = case.circuit.compile().record_plan()
    assert plan.peak_width > 64
    assert len(plan.high_z) == len(plan.operations)
    assert reduction_of(plan).dense_width == 0
    shots = case.circuit.compile_sampler(seed=seed).sample(30)
    fair: list[bool] = []
    for shot in shots:
        found = case.coins_of(shot)
        assert found is not None
        fair += found
    assert 500 < len(fair) < shots[:, case.n :].size - 500
    assert abs(np.mean(fair) - 0.5) < 5 * 0.5 * len(fair) ** -0.5


def changed(plan: SamplingPlan, rng: np.random.Generator) -> SamplingPlan:
    """The plan with another Z string of a measurement, by a bit from 64 on that its Pauli does not flip."""
    kinds = plan.operations["kind"]
    while True:
        k = int(rng.integers(len(kinds)))
        flips, width = plan.high_x.row(k).tolist(), int(plan.operations["width"][k])
        if kinds[k] != 2 or not plan.flips_index[k] or width <= 65:
            continue
        bit = int(rng.integers(64, width))
        if bit not in flips:
            rows = [plan.high_z.row(j).tolist() for j in range(len(kinds))]
            rows[k] = sorted(set(rows[k]) ^ {bit})
            return dataclasses.replace(plan, high_z=SparseRows.of(rows))


def records_of(plan: SamplingPlan) -> npt.NDArray[np.bool_]:
    rows = np.unpackbits(CpuEngine(plan).sample(1, 0, 10), axis=1, bitorder="little")
    return rows[:, : plan.num_outputs].astype(np.bool_)


def test_wrong_high_bits_are_seen() -> None:
    """The test above has power: seed 7."""
    rng = np.random.default_rng(7)
    case = HeraldedFlips(rng, 100, noise=0.03)
    plan = case.circuit.compile().record_plan()
    assert None not in [case.coins_of(shot) for shot in records_of(plan)]
    wrong = 0
    for _ in range(6):
        wrong += None in [case.coins_of(shot) for shot in records_of(changed(plan, rng))]
    assert wrong >= 5


def distribution_of(plan: SamplingPlan) -> dict[int, float]:
    """That of the outputs, coins included."""
    found: dict[int, float] = {}
    engine, places = CpuEngine(plan), plan.num_checks + plan.num_signature_bits
    for row, weight in row_distribution(plan).items():
        law, _ = law_of(engine, row >> plan.num_checks & (1 << plan.num_signature_bits) - 1)
        for outputs, probability in law.items():
            total = row >> places ^ outputs
            found[total] = found.get(total, 0.0) + weight * probability
    return found


@pytest.mark.parametrize("seed", seeds(12, quick=2))
def test_laws_are_those_of_a_narrow_plan(seed: int) -> None:
    """With three more T rotations, flips that are part of the circuit, and eight measurements. Seeds [seed, 6]."""
    rng = np.random.default_rng([seed, 6])
    n = 110
    strings, signs = blocks_on(rng, n, n // 4)
    extra = [f"TPP {product_of(string)}" for string in rng.random((3, n)) < 6 / n]
    flips = [f"X {q}" for q in rng.permutation(n)[:5]]
    ends = [f"MPP {product_of(string, 'X')}" for string in rng.random((8, n)) < 0.3]
    begin = f"RX {' '.join(map(str, range(n)))}"
    half = len(strings) // 2
    turned = signs.copy()
    for flip in flips:
        turned[half:] *= 1 - 2 * strings[half:, int(flip.split()[1])]
    lines = rotations(strings, signs)
    wide = Circuit("\n".join([begin, *lines[:half], *flips, *lines[half:], *extra, *ends]))
    narrow = Circuit("\n".join([begin, *clifford_of(strings, turned), *flips, *extra, *ends]))
    plans = [circuit.compile().record_plan() for circuit in (wide, narrow)]
    assert plans[0].peak_width > 64
    assert plans[1].peak_width <= 3
    laws = [distribution_of(plan) for plan in plans]
    assert len(laws[0]) > 8
    assert largest_difference(*laws) < 1e-12


def test_a_core_of_more_coordinates_than_a_word_has_bits() -> None:
    """The product of 100 T states has no form on fewer coordinates than 99; the report of the plan is refused, too."""
    qubits, product = " ".join(map(str, range(100))), "*".join(f"X{k}" for k in range(100))
    circuit = Circuit(f"RX {qubits}\nT {qubits}\nMPP {product}")
    asks: list[Callable[[], object]] = [circuit.plan, circuit.compile_sampler]
    for ask in asks:
        with pytest.raises(ResourceLimitError, match=r"needs 99 active coordinates"):
            ask()


def test_high_rows_are_checked() -> None:
    rng = np.random.default_rng(8)
    plan = HeraldedFlips(rng, 80).circuit.compile().record_plan()
    rows = [plan.high_z.row(k).tolist() for k in range(len(plan.high_z))]
    last = max(k for k, row in enumerate(rows) if row)
    wrong = {
        "have a row for each operation, or none": rows[:-1],
        "must be from 64 to": [*rows[:last], [3, *rows[last]], *rows[last + 1 :]],
        "no Hermitian Pauli": [*rows[:last], [*rows[last], 200], *rows[last + 1 :]],
    }
    for message, high_z in wrong.items():
        with pytest.raises(ValueError, match=message):
            CpuEngine(dataclasses.replace(plan, high_z=SparseRows.of(high_z)))
