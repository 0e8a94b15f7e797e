"""Budgets by gate, and their heat maps over the qubits' places."""

import matplotlib as mpl
import pytest
import stim

import stim_nonclifford as snc
from stim_nonclifford.rates.budget.gate_names import GateNames
from stim_nonclifford.rates.results import ErrorBudget, LogicalErrorRate

CIRCUIT = """
    QUBIT_COORDS(0, 3) 0
    QUBIT_COORDS(1, 4) 1
    QUBIT_COORDS(2, 3) 2
    R 0 1 2
    X_ERROR(0.01) 0 1 2
    TICK
    CX 0 1
    DEPOLARIZE2(0.02) 0 1
    DEPOLARIZE1(0.005) 2
    TICK
    MPP Z0*Z1
    X_ERROR(0.03) 1
    TICK
    M(0.01) 0 1 2
    DETECTOR rec[-1] rec[-2]
    DETECTOR rec[-4]
    OBSERVABLE_INCLUDE(0) rec[-3]
    OBSERVABLE_INCLUDE(1) rec[-1]
"""


def rate() -> LogicalErrorRate:
    return snc.Circuit(CIRCUIT).logical_error_rate(postselection_mask="all")


def stage(place: object) -> str:
    return "early" if place.tick < 2 else "late"  # type: ignore[attr-defined]


def test_groups_name_gate_tick_and_qubits() -> None:
    budget = rate().error_budget("place")
    assert [group.group for group in budget.groups] == [
        "R 0, tick 0",
        "R 1, tick 0",
        "R 2, tick 0",
        "CX 0-1, tick 1",
        "idle 2, tick 1",
        "MPP at 1, tick 2",
        "M 0, tick 3",
        "M 1, tick 3",
        "M 2, tick 3",
    ]
    assert sum(group.share for group in budget.groups) == pytest.approx(1)


@pytest.mark.parametrize("by", ["place", "tick", "qubit", "noise", "instruction", stage])
def test_shares_of_qubits_add_up_to_those_of_the_group(by: object) -> None:
    budget = rate().error_budget(by)  # type: ignore[arg-type]
    for group in budget.groups:
        assert sum(budget.qubit_shares[group.group].values()) == pytest.approx(group.share)
    of_qubit = {group.group: group.share for group in rate().error_budget("qubit").groups}
    for qubit, share in of_qubit.items():
        found = sum(shares.get(qubit, 0.0) for shares in budget.qubit_shares.values())  # type: ignore[call-overload]
        assert found == pytest.approx(share)


@pytest.mark.parametrize(("by", "panels"), [("tick", 4), ("qubit", 1), (stage, 2), ("place", 8)])
def test_heat_maps(by: object, panels: int) -> None:
    mpl.use("agg")
    from matplotlib import pyplot

    budget = rate().error_budget(by)  # type: ignore[arg-type]
    figure = budget.plot(by="layout")
    maps = [ax for ax in figure.axes if ax.get_title()]
    assert len(maps) == panels
    for ax in maps:
        [points] = ax.collections
        assert points.get_offsets().tolist() == [[0, 3], [1, 4], [2, 3]]
    if by == "qubit":
        shares = [100 * budget.qubit_shares[qubit][qubit] for qubit in range(3)]
        assert maps[0].collections[0].get_array().tolist() == pytest.approx(shares)
    pyplot.close(figure)


def test_decoded_budgets_have_layouts() -> None:
    code = stim.Circuit.generated(
        "repetition_code:memory", distance=3, rounds=2, after_clifford_depolarization=3e-3
    )
    found = snc.Circuit(code).logical_error_rate(decoder="pymatching", relative_error=0.05, seed=1)
    own = {group.group: group.share for group in found.error_budget("qubit").groups}
    assert sum(own.values()) == pytest.approx(1)
    for by in ("qubit", "tick", "noise"):
        budget = found.error_budget(by)
        for group in budget.groups:
            assert sum(budget.qubit_shares[group.group].values()) == pytest.approx(group.share)
        for qubit, share in own.items():
            parts = [shares.get(qubit, 0.0) for shares in budget.qubit_shares.values()]  # type: ignore[call-overload]
            assert sum(parts) == pytest.approx(share)
    assert set(budget.qubit_places) == set(range(5))


def test_number_of_heat_maps() -> None:
    mpl.use("agg")
    from matplotlib import pyplot

    figure = rate().error_budget("place").plot(by="layout", panels=3)
    assert len([ax for ax in figure.axes if ax.get_title()]) == 3
    pyplot.close(figure)


def test_no_layout() -> None:
    budget = ErrorBudget("tick", 1.0, 1e-3, (), 0.0, (1e-3, 1e-3))
    with pytest.raises(ValueError, match="acts on no qubit"):
        budget.plot(by="layout")


@pytest.mark.parametrize(
    ("text", "noise", "name"),
    [
        ("S[T] 3\nDEPOLARIZE1(0.1) 3", ("DEPOLARIZE1", 1, 0, (3,)), "T 3"),
        ("CX 0 1 2 3\nCZ 0 1", ("DEPOLARIZE2", 2, 0, (0, 1)), "CZ 0-1"),
        ("CX 0 1\nDEPOLARIZE1(0.1) 0\nM 0", ("DEPOLARIZE1", 1, 0, (0,)), "CX at 0"),
        ("X_ERROR(0.1) 0\nM 0", ("X_ERROR", 0, 0, (0,)), "M 0"),
        ("MPP X0*X1*X2", ("DEPOLARIZE1", 1, 0, (1,)), "MPP at 1"),
        ("REPEAT 3 {\nH 0\nTICK\nX 0\nTICK\n}", ("X_ERROR", 11, 5, (0,)), "X 0"),
        ("H 1", ("DEPOLARIZE2", 1, 0, (1, 2)), "DEPOLARIZE2 1-2"),
        ("M 0\nCX rec[-1] 1", ("X_ERROR", 2, 0, (1,)), "CX 1"),
        ("MPAD(0.1) 0", ("MPAD", 0, 0, ()), "MPAD"),
    ],
)
def test_names_of_gates(text: str, noise: tuple[str, int, int, tuple[int, ...]], name: str) -> None:
    assert GateNames(stim.Circuit(text)).of(*noise) == name


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("CX 0 4\nX_ERROR(0.1) 4\nM 4", "M 4"),
        ("CX 0 4\nZ_ERROR(0.1) 4\nMX 4 0", "MX 4"),
        ("CX 0 4\nX_ERROR(0.1) 4\nMR 4", "MR 4"),
        # Noise that follows a gate, or precedes another one.
        ("CX 0 4\nX_ERROR(0.1) 4\nTICK\nM 4", "CX at 4"),
        ("CX 0 4\nX_ERROR(0.1) 4\nH 4\nM 4", "CX at 4"),
        ("CX 0 4\nDEPOLARIZE1(0.1) 4\nM 4", "CX at 4"),
        ("R 4\nX_ERROR(0.1) 4\nM 4", "R 4"),
        ("CX 0 4\nX_ERROR(0.1) 4\nMZZ 4 0", "CX at 4"),
    ],
)
def test_names_of_flips_before_a_measurement(text: str, expected: str) -> None:
    circuit = stim.Circuit(text)
    assert GateNames(circuit).of(circuit[1].name, 1, 0, (4,)) == expected
