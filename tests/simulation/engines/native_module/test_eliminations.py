"""Plans whose outcomes need few coefficients or none: the elimination gives the laws and the shots of the vector."""

from collections.abc import Iterator
from typing import Literal

import numpy as np
import pytest
import stim

from stim_nonclifford import Circuit
from stim_nonclifford.generators.cultivation import cultivation_circuit
from stim_nonclifford.generators.distillation import distillation_circuit
from stim_nonclifford.simulation.engines import CpuEngine, ReferenceEngine
from stim_nonclifford.simulation.plan import SamplingPlan
from stim_nonclifford.simulation.reduction import Obstacle, reduction_of

from ....support.engines.engine_cases import assert_same_laws, law_of, plans_of
from ....support.laws.exact import largest_difference
from ....support.seeds import seeds

INVERSES = {"T": "T_DAG", "T_DAG": "T", "S": "S_DAG", "S_DAG": "S"}


def noise_on(rng: np.random.Generator, qubits: str) -> str:
    return f"DEPOLARIZE1(0.03) {qubits}" if rng.random() < 0.6 else ""


def diagonal_gates(rng: np.random.Generator, n: int, gates: int) -> list[str]:
    """CX, diagonal Cliffords, T and CCZ, which is seven T rotations."""
    lines = []
    for _ in range(gates):
        a, b, c = (int(q) for q in rng.permutation(n)[:3])
        name = rng.choice(["T", "T_DAG", "S", "CX", "CZ", "CCZ"], p=[0.3, 0.15, 0.1, 0.35, 0.05, 0.05])
        targets = {"CX": f"{a} {b}", "CZ": f"{a} {b}", "CCZ": f"{a} {b} {c}"}.get(name, f"{a}")
        lines.append(f"{name} {targets}")
    return lines


def undone(lines: list[str]) -> list[str]:
    return [
        " ".join([INVERSES.get(name, name), *targets]) for name, *targets in map(str.split, reversed(lines))
    ]


def code_circuit(rng: np.random.Generator, *, family: str) -> str:
    """Random circuits of diagonal gates, CX and measurements, in which many measurements need Cliffords only.

    Args:
        rng: Random numbers.
        family: ``"mirror"``: gates are undone before Xs are measured; ``"inside"``: some qubits are measured between; ``"feed"``:
            CS or CZ by earlier records; ``"self-dual"``: T on all qubits of an eight-qubit code, whose checks are measured.
    """
    n = int(rng.integers(3, 7))
    lines = ["RX " + " ".join(map(str, range(n)))]
    records = 0

    def measure(products: list[str]) -> None:
        nonlocal records
        for product in products:
            lines.append(f"MPP(0.02) {product}")
            records += 1

    def add(gates: list[str]) -> None:
        for gate in gates:
            lines.append(gate)
            lines.append(noise_on(rng, gate.split()[-1]))

    if family == "self-dual":
        n = 8
        lines = ["RX " + " ".join(map(str, range(n)))]
        faces = [[q for q in range(8) if q >> axis & 1 == value] for axis in range(3) for value in range(2)]
        measure(["*".join(f"Z{q}" for q in face) for face in (*faces[::2], faces[1])])
        signs = rng.random(8) < 0.5
        add([f"{'T' if sign else 'T_DAG'} {q}" for q, sign in enumerate(signs)])
        measure(["*".join(f"X{q}" for q in range(8))])
        add([f"{'T_DAG' if sign else 'T'} {q}" for q, sign in enumerate(signs)])
        measure(["*".join(f"X{q}" for q in faces[k]) for k in rng.permutation(6)[:4]])
        return "\n".join(filter(None, lines))
    for _ in range(2):
        gates = diagonal_gates(rng, n, int(rng.integers(4, 14)))
        add(gates)
        if family in ("inside", "feed") and rng.random() < 0.7:
            q = int(rng.integers(n))
            measure([f"Z{q}" if rng.random() < 0.4 else f"Z{q}*Z{(q + 1) % n}"])
            if family == "feed":
                a, b = (int(q) for q in rng.permutation(n)[:2])
                lines.append(
                    str(
                        rng.choice(
                            [f"CS rec[-1] {a}", f"CX rec[-1] {a}", f"CZ rec[-1] {b}", f"CS_DAG rec[-1] {b}"]
                        )
                    )
                )
        add(undone(gates))
        a, b = (int(q) for q in rng.permutation(n)[:2])
        measure([str(rng.choice([f"X{a}", f"X{a}*X{b}", f"Y{a}*X{b}"]))])
    measure([f"X{q}" for q in range(n)])
    return "\n".join(filter(None, lines))


FAMILIES = ("mirror", "inside", "feed", "self-dual")


def reducible_plans(seed: int, family: str) -> Iterator[tuple[str, np.random.Generator, SamplingPlan]]:
    """The plans of circuits of the seeds [seed, 0], ..., [seed, 7] whose outcomes need no coefficients."""
    for k in range(8):
        rng = np.random.default_rng([seed, k])
        text = code_circuit(rng, family=family)
        for _, plan in plans_of(text):
            reduction = reduction_of(plan)
            if plan.num_outcomes and reduction.obstacle is Obstacle.NONE:
                assert reduction.qubits >= plan.peak_width
                yield text, rng, plan


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("seed", seeds(12, quick=2))
def test_laws_are_exact(seed: int, family: str) -> None:
    count = 0
    for text, rng, plan in reducible_plans(seed, family):
        engine = CpuEngine(plan, path_method="elimination")
        assert_same_laws(engine, rng, 4, text)
        for signature in rng.random((4, plan.num_signature_bits)) < 0.3:
            for probability, discarded, _ in engine.outcome_law(signature):
                assert discarded or np.frexp(probability)[0] == 0.5, "a power of 1/2, without rounding"
        count += 1
    assert count >= 2


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("seed", seeds(12, quick=2))
def test_shots_are_those_of_the_vector(seed: int, family: str) -> None:
    """With laws that are stored, and without; and a few against the reference engine."""
    coins = 0
    for text, _, plan in reducible_plans(seed + 100, family):
        expected = CpuEngine(plan, path_method="vector").sample_kept_numbered(5, 17, 3000)
        for cache_bytes in (0, 1 << 24):
            engine = CpuEngine(plan, path_method="elimination", cache_bytes=cache_bytes)
            for found, wanted in zip(engine.sample_kept_numbered(5, 17, 3000), expected, strict=True):
                np.testing.assert_array_equal(found, wanted, err_msg=text)
            coins += engine.statistics()["coins"]
            assert engine.statistics()["coefficients_read"] == 0
        few = ReferenceEngine(plan).sample_kept(5, 17, 20)
        np.testing.assert_array_equal(engine.sample_kept(5, 17, 20), few, err_msg=text)
    assert coins > 100


def test_signs_matter() -> None:
    """The tests above would see a lost Clifford: a T in place of its inverse changes the law of this code."""
    lines = code_circuit(np.random.default_rng(3), family="self-dual").split("\n")
    first = next(k for k, line in enumerate(lines) if line.startswith("T"))
    turned = [*lines[:first], undone(lines[first : first + 1])[0], *lines[first + 1 :]]
    laws = []
    for text in (lines, turned):
        plan = Circuit("\n".join(text)).compile().record_plan()
        laws.append(law_of(CpuEngine(plan), 0))
    assert largest_difference(laws[0][0], laws[1][0]) > 1e-3


# Qubits, measurements, conditional Clifford gates, T rotations, and the most fair outcomes of a signature.
SIZES = {
    "15-to-1": (5, 5, 41, 46, 3),
    "8T-to-CCZ": (4, 4, 27, 31, 1),
    "cultivation d=3": (6, 5, 23, 29, 3),
    "cultivation d=5": (16, 15, 75, 91, 7),
}


def protocol(name: str) -> str:
    if name.startswith("cultivation"):
        return str(cultivation_circuit(int(name[-1]), p=1e-3))
    protocols: tuple[Literal["15-to-1"], Literal["8T-to-CCZ"]] = ("15-to-1", "8T-to-CCZ")
    return str(distillation_circuit(protocols[name == protocols[1]], t_error=1e-3, p=1e-3))


@pytest.mark.parametrize("name", SIZES)
def test_sizes_of_protocols(name: str) -> None:
    report = Circuit(protocol(name)).plan()
    found = reduction_of(report.sampling_plan)
    assert found.obstacle is Obstacle.NONE
    sizes = found.qubits, found.measurements, found.conditional_cliffords, found.t_rotations, found.coins
    assert sizes[:4] == SIZES[name][:4]
    assert sizes[4] >= SIZES[name][4]
    assert report.dense_width <= report.peak_width


def test_protocols_give_the_same_shots() -> None:
    circuit = Circuit(protocol("cultivation d=5"))
    for postselected in (None, "all"):
        plan = circuit.plan(postselection_mask=postselected).sampling_plan
        found = [
            CpuEngine(plan, path_method=method).sample_kept(3, 0, 4000)
            for method in ("vector", "elimination")
        ]
        np.testing.assert_array_equal(found[0], found[1])


def dense_circuit(rng: np.random.Generator, *, family: str) -> str:
    """Random circuits of commuting rotations, some outcomes of which need coefficients.

    Args:
        rng: Random numbers.
        family: ``"direct"``: Xs are measured after diagonal gates; ``"inside"``: also between them; ``"feed"``: and gates are
            controlled by their records; ``"coherent"``: some angles are no multiples of that of T; ``"checks"``: products of
            gates are measured.
    """
    n = int(rng.integers(3, 8))
    lines = ["RX " + " ".join(map(str, range(n)))]
    for _ in range(int(rng.integers(1, 4))):
        for gate in diagonal_gates(rng, n, int(rng.integers(6, 20))):
            lines += [gate, noise_on(rng, gate.split()[-1])]
        a, b = (int(q) for q in rng.permutation(n)[:2])
        if family == "coherent":
            lines.append(f"R_Z({rng.normal() * 0.2:.4f}) {a}")
        if family == "checks":
            lines.append(f"CX {a} {b}\nMPP {rng.choice([f'X{a}*X{b}', f'Y{a}*X{b}', f'X{a}*Z{b}'])}")
        elif family != "direct" and rng.random() < 0.8:
            lines.append(f"MPP(0.02) {rng.choice([f'X{a}', f'X{a}*X{b}', f'Z{a}*Z{b}', f'Y{b}'])}")
            if family == "feed":
                lines.append(str(rng.choice([f"CS rec[-1] {a}", f"CX rec[-1] {a}", f"CZ rec[-1] {b}"])))
    lines.append("MX " + " ".join(map(str, range(n))))
    return "\n".join(filter(None, lines))


DENSE_FAMILIES = ("direct", "inside", "feed", "coherent", "checks")


def dense_plans(seed: int, family: str) -> Iterator[tuple[str, np.random.Generator, SamplingPlan]]:
    """The plans of circuits of the seeds [seed, 0], ..., [seed, 15] for which there is an elimination with coefficients."""
    for k in range(16):
        rng = np.random.default_rng([seed, k])
        text = dense_circuit(rng, family=family)
        plan = Circuit(text).compile().record_plan()
        found = reduction_of(plan)
        if found.is_possible and found.dense_width:
            widths = plan.operations["width"] + (plan.operations["kind"] == 1)
            assert found.dense_width <= widths.max(), "never wider"
            yield text, rng, plan


@pytest.mark.parametrize("family", DENSE_FAMILIES)
@pytest.mark.parametrize("seed", seeds(12, quick=1))
def test_laws_with_coefficients_are_exact(seed: int, family: str) -> None:
    count = 0
    for text, rng, plan in dense_plans(seed, family):
        assert_same_laws(CpuEngine(plan, path_method="elimination"), rng, 4, text)
        count += 1
    assert count >= 3


@pytest.mark.parametrize("family", DENSE_FAMILIES)
def test_shots_with_coefficients_are_those_of_the_vector(family: str) -> None:
    """With laws that are stored, and without."""
    coefficients = coins = 0
    for text, _, plan in dense_plans(200, family):
        expected = CpuEngine(plan, path_method="vector").sample(5, 17, 3000)
        for cache_bytes in (0, 1 << 24):
            engine = CpuEngine(plan, path_method="elimination", cache_bytes=cache_bytes)
            np.testing.assert_array_equal(engine.sample(5, 17, 3000), expected, err_msg=text)
            work = engine.statistics()
            coefficients += work["coefficients_read"]
            coins += work["coins"]
    assert coefficients > 1000
    assert coins > 10


OBSTACLES = {
    "RX 0\nT 0\nMX 0": (Obstacle.CORE, "T in line 2", 1),
    "RX 0 1\nT 0 1\nCZ 0 1\nR_X(0.1) 0\nMX 0 1": (Obstacle.NOT_DIAGONAL, "T in line 2", None),
    "RX 0 1\nR_Z(0.1) 0\nMPP X0*X1\nMX 0": (Obstacle.ANGLE, "R_Z in line 2", 1),
}


@pytest.mark.parametrize("text", OBSTACLES)
def test_what_needs_coefficients(text: str) -> None:
    obstacle, gate, width = OBSTACLES[text]
    report = Circuit(text).plan()
    found = reduction_of(report.sampling_plan)
    assert found.obstacle is obstacle
    assert f"{gate}, tick 0" in " ".join(str(report).split())
    assert report.dense_width == report.peak_width
    if width is not None:
        assert found.dense_width == width
        return
    with pytest.raises(ValueError, match="need all coefficients"):
        CpuEngine(report.sampling_plan, path_method="elimination")


def reduced_rows(rows: np.ndarray) -> list[int]:
    """A basis of the span of rows over GF(2), as masks."""
    basis: list[int] = []
    for row in rows:
        rest = int("".join(map(str, row.astype(int))), 2)
        for member in basis:
            rest = min(rest, rest ^ member)
        if rest:
            basis.append(rest)
    return basis


def test_a_plan_that_no_vector_could_hold() -> None:
    """T rotations about random Z strings, undone after flips: T X T_DAG = X S_DAG is Clifford, and each shot is one of Stim's.

    The flips are recorded. For given flips, the outcomes are uniform on an affine space, which 300 of Stim's samples span but with a
    probability of 2^-250. A wrong shot would lie in it with a probability of 2^-k, where k is its number of dimensions below 40.
    Seed 3.
    """
    n = 40
    matrix = (np.random.default_rng(3).random((n, 60)) < 0.2).astype(int)
    products = ["*".join(f"Z{q}" for q in np.flatnonzero(column)) for column in matrix.T]
    qubits, flags = " ".join(map(str, range(n))), " ".join(map(str, range(n, 2 * n)))
    lines = [f"RX {qubits}", f"R {flags}", f"X_ERROR(0.02) {flags}", f"M {flags}"]
    lines += [f"TPP_DAG {product}" for product in products]
    lines += [f"CX rec[{q - n}] {q}" for q in range(n)]
    lines += [*(f"TPP {product}" for product in products), f"MX {qubits}"]
    circuit = Circuit("\n".join(lines))
    report = circuit.plan()
    assert report.peak_width >= 30
    assert report.dense_width == 0
    unlikely = turned = 0
    for shot in circuit.compile_sampler(seed=3).sample(60):
        flips, outcomes = shot[:n], shot[n:]
        hit = matrix[flips].sum(axis=0) % 2
        turns = [f"SPP_DAG {products[j]}" for j in np.flatnonzero(hit)]
        clifford = stim.Circuit("\n".join([f"RX {qubits}", *turns, f"MX {qubits}"]))
        expected = clifford.compile_sampler(seed=3).sample(300)
        space = reduced_rows(expected ^ expected[0])
        assert len(reduced_rows(np.vstack([expected, outcomes]) ^ expected[0])) == len(space)
        unlikely += n - len(space)
        turned += len(turns) > 0
    assert unlikely > 100
    assert turned > 20


def test_few_coefficients_of_a_plan_that_no_vector_could_hold() -> None:
    """T rotations about 60 random Z strings and their inverses, and three more about strings of their own.

    Without flips, X on each string's first qubit is measured as 1 with probability (1 - cos(pi/4))/2, as is the X of its second one,
    which is always equal to it. Seed 4.
    """
    n = 40
    matrix = (np.random.default_rng(4).random((n, 60)) < 0.2).astype(int)
    products = ["*".join(f"Z{q}" for q in np.flatnonzero(column)) for column in matrix.T]
    qubits = " ".join(map(str, range(n)))
    lines = [f"RX {qubits}", *(f"TPP_DAG {product}" for product in products), f"X_ERROR(0.02) {qubits}"]
    lines += [*(f"TPP {product}" for product in products), "TPP Z0*Z1 Z2*Z3 Z4*Z5", f"MX {qubits}"]
    circuit = Circuit("\n".join(lines))
    report = circuit.plan()
    assert report.peak_width >= 30
    assert 1 <= report.dense_width <= 3
    engine = CpuEngine(report.sampling_plan)
    law = engine.outcome_law(np.zeros(report.num_signature_bits, dtype=np.bool_))
    one = (1 - np.cos(np.pi / 4)) / 2
    expected = sorted(np.prod([one if bits >> k & 1 else 1 - one for k in range(3)]) for bits in range(8))
    np.testing.assert_allclose(sorted(probability for probability, _, _ in law), expected, rtol=0, atol=1e-12)
    for _, _, flipped in law:
        np.testing.assert_array_equal(flipped[0:6:2], flipped[1:6:2])
        assert not flipped[6:].any()
    assert 0 < circuit.compile_sampler(seed=4).sample(200)[:, 6:].mean() < 0.5


def two_levels(rng: np.random.Generator) -> str:
    """T gates by teleportation of outputs of 15-to-1, whose checks are measured before, undone in the other order."""
    lines = ["RX 0 1 2"]
    sums = [[int(q) for q in np.flatnonzero(rng.random(3) < 0.6)] or [0] for _ in range(2)]
    for qubits, sign in [(sums[0], 1), (sums[1], 1), (sums[1], -1), (sums[0], -1)]:
        lines.append("RX 3 4 5 6 7")
        for v in range(1, 16):
            product = "*".join(["Z3", *(f"Z{4 + k}" for k in range(4) if v >> k & 1)])
            lines.append(f"TPP{'_DAG' if sign > 0 else ''} {product}")
            if rng.random() < 0.15:
                lines.append(f"{rng.choice(['X_ERROR', 'Z_ERROR'])}(0.01) {rng.integers(3, 8)}")
        lines += ["MX 4 5 6 7", *(f"CX {q} 3" for q in qubits), "M(0.01) 3"]
        lines.append(f"C_R_PAULI({0.5 * sign}) rec[-1] {'*'.join(f'Z{q}' for q in qubits)}")
        if rng.random() < 0.5:
            lines.append(f"X_ERROR(0.01) {rng.integers(3)}")
    return "\n".join([*lines, "MX 0 1 2"])


@pytest.mark.parametrize("seed", seeds(12, quick=2))
def test_strings_are_followed_that_were_measured(seed: int) -> None:
    """A T state of the second level is about the sum of qubits with which its teleportation compares it."""
    rng = np.random.default_rng(seed + 300)
    text = two_levels(rng)
    for _, plan in plans_of(text):
        reduction = reduction_of(plan)
        assert reduction.is_possible
        assert reduction.dense_rotations == 0
        assert_same_laws(CpuEngine(plan, path_method="elimination"), rng, 6, text)
        expected = CpuEngine(plan, path_method="vector").sample_kept_numbered(5, 17, 2000)
        found = CpuEngine(plan, path_method="elimination", cache_bytes=0).sample_kept_numbered(5, 17, 2000)
        for a, b in zip(expected, found, strict=True):
            np.testing.assert_array_equal(a, b)
