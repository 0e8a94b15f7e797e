"""The examples, in a reduced size, as a user runs them."""

import doctest
import json
import math
import os
import re
import runpy
import subprocess
import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pytest
import sinter

import examples.cultivation.rates
import examples.cultivation.the_table
import examples.lattice_surgery.teleported_t
import stim_nonclifford as snc
from examples.cultivation.closed_law import xor_at
from examples.cultivation.failures import examine
from examples.cultivation.importance_sampling import ImportanceSampler
from examples.cultivation.published import EXACT, FEWEST_FAULTS, TABLE_II
from examples.gallery import GALLERY, Replica, z_of
from stim_nonclifford.generators.cultivation import cultivation_circuit
from stim_nonclifford.simulation.row_fates import fates_of_rows

from ..support.seeds import slow

ROOT = Path(__file__).parents[2]
PNG = b"\x89PNG"


def run(*arguments: str) -> str:
    """What an interpreter prints when it runs in the repository."""
    command = [sys.executable, *arguments]
    environment = {**os.environ, "MPLBACKEND": "Agg"}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return done.stdout


def printed_by(
    module: str, *arguments: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> str:
    """What an example prints that runs in this process, which need not import the packages again."""
    monkeypatch.setattr(sys, "argv", [module, *arguments])
    monkeypatch.delitem(sys.modules, module, raising=False)
    with pytest.raises(SystemExit, match=r"^0$"):
        runpy.run_module(module, run_name="__main__")
    return capsys.readouterr().out


def check_kept(row: sinter.TaskStats) -> None:
    """Compares kept shots with the exact probability; 6 sigma is a false alarm in 10^9 runs."""
    kept = EXACT[row.json_metadata["d"], row.json_metadata["p"]].kept
    assert abs((row.shots - row.discards) / row.shots - kept) < 6 * (kept * (1 - kept) / row.shots) ** 0.5


@pytest.mark.slow
def test_demo_collects_computes_and_plots(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "examples.demo", "--max_shots", "20000", "--out", str(tmp_path)]
    command += ["--relative_error", "0.1"]  # with 30%, sets of ten and more faults are left out of P(kept)
    first = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True, timeout=300)
    assert "logical error per kept shot" in first.stdout
    stages = re.findall(r"^\[(\d)/4, after \d+ s\] (\w+)", first.stdout, re.MULTILINE)
    assert stages == [("1", "Writing"), ("2", "Sampling"), ("3", "Computing"), ("4", "Plotting")]
    assert re.search(r"error_rate\.png written; \d+ s in all\.$", first.stdout.strip())
    assert (tmp_path / "error_rate.png").read_bytes().startswith(PNG)
    rows = sinter.read_stats_from_csv_files(tmp_path / "stats.csv")
    at_p = {(row.json_metadata["p"], row.json_metadata["g"]): row for row in rows}
    assert at_p.keys() == {(p, gate) for p in (0.0005, 0.001, 0.002, 0.003, 0.005) for gate in "ST"}
    assert all(row.shots == 20000 for row in rows)
    check_kept(at_p[0.005, "T"])

    computed = sinter.read_stats_from_csv_files(tmp_path / "rates.csv")
    assert len(computed) == 2 * (7 + 6)
    for row in computed:
        found, exact = (
            row.json_metadata["estimate"],
            EXACT.get((row.json_metadata["d"], row.json_metadata["p"])),
        )
        if row.json_metadata["g"] == "T" and exact:
            # Six standard errors at d=3 and p = 0.005, where sets of many faults are sampled.
            assert found["kept"] == pytest.approx(exact.kept, rel=9e-6)
            # 6 sigma is a false alarm in 10^9 runs.
            allowed = 6 * found["standard_error"] + 1e-4 * exact.error
            assert abs(found["logical_error_rate"] - exact.error) < allowed
    again = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True, timeout=300)
    assert sinter.read_stats_from_csv_files(tmp_path / "rates.csv") == computed
    assert "Computed from fault sets" in again.stdout


def test_sizes_are_those_of_table_ii(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ("examples.cultivation.the_table", "--sizes", "--d", "3", "5")
    lines = printed_by(*arguments, monkeypatch=monkeypatch, capsys=capsys).splitlines()[1 : 1 + len(TABLE_II)]
    cells = [[int(cell) for cell in line.split()[-4:]] for line in lines]
    assert cells == [[row[3], row[3], row[5], row[5]] for row in TABLE_II.values()]


@pytest.mark.slow
def test_tables_iii_and_iv_are_counted_and_resumed(tmp_path: Path) -> None:
    arguments = ("-m", "examples.cultivation.the_table", "--out", str(tmp_path / "new"), "--p", "0.001")
    run(*arguments, "--shots", "20000", "--d", "5")
    printed = run(*arguments, "--shots", "30000", "--d", "3", "5")
    assert (tmp_path / "new" / "the_table.png").read_bytes().startswith(PNG)
    rows = sinter.read_stats_from_csv_files(tmp_path / "new" / "counts.csv")
    assert sorted((row.json_metadata["d"], row.json_metadata["g"], row.shots) for row in rows) == [
        (d, gate, 30000) for d in (3, 5) for gate in "ST"
    ]
    for row in rows:
        if row.json_metadata["g"] == "T":
            check_kept(row)
    for published in (
        "3.328425e-09 (a)",
        "8.982791e-07 (a)",
        "4.59e-09, 49 errors (b)",
        "85.60444%",
        "85.60%",
    ):
        assert published in printed


@pytest.mark.slow
def test_the_table_is_computed_and_resumed(tmp_path: Path) -> None:
    # Seconds that suffice, so that the results depend on the seed alone.
    arguments = ("--p", "0.0001", "--relative_error", "0.5", "--seconds", "1000", "--out", str(tmp_path))
    run("-m", "examples.cultivation.the_table", "--d", "5", *arguments)
    rows = sinter.read_stats_from_csv_files(tmp_path / "the_table.csv")
    printed = run("-m", "examples.cultivation.the_table", "--d", "3", "5", *arguments)
    assert (tmp_path / "the_table.png").read_bytes().startswith(PNG)
    more = sinter.read_stats_from_csv_files(tmp_path / "the_table.csv")
    assert len(rows) == 4
    assert len(more) == 6
    assert {row.strong_id: row for row in more}.items() >= {row.strong_id: row for row in rows}.items()

    lines = [line for line in printed.splitlines() if line.startswith("d=")]
    assert [line.split("  ")[0].strip() for line in lines] == ["d=3", "d=5", "d=5, flagged"]
    assert "2.59(84)e-13 (c)" in lines[1]
    at = {(row.json_metadata.get("variant"), row.json_metadata["g"]): row for row in rows}
    found = {key: row.json_metadata["estimate"]["logical_error_rate"] for key, row in at.items()}
    # arXiv 2609.18922 has 1.657e-12; half of the error is far more than the sampled part of it.
    assert found[None, "T"] == pytest.approx(1.657e-12, rel=0.02)
    assert found["flagged", "T"] < 0.05 * found[None, "T"]
    assert found["flagged", "S"] < found["flagged", "T"]


@pytest.mark.slow
def test_failures_are_found_confirmed_and_written(tmp_path: Path) -> None:
    distance = ("--d", "3", "--p", "0.002", "--seed", "3")
    printed = run("-m", "examples.cultivation.failures", *distance, "--count", "3", "--out", str(tmp_path))
    assert printed.count("reference engine:") == 3
    files = sorted(tmp_path.glob("*.stim"))
    assert len(files) == 3
    for file in files:
        circuit = snc.Circuit.from_file(file)
        assert circuit == circuit.without_noise()
        sampler = circuit.compile_detector_sampler(seed=1, skip_reference_sample=True)
        dets, obs = sampler.sample(2000, separate_observables=True)
        stated = float(file.read_text().split("with probability ")[1].split(".\n")[0])
        wrong = float((obs[:, 0] & ~dets.any(axis=1)).mean())
        assert abs(wrong - stated) <= 6 * (stated * (1 - stated) / 2000) ** 0.5


def test_error_budget_names_the_stage(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "budget.png"
    arguments = ("--d", "3", "--p", "0.002", "--seed", "1", "--relative_error", "0.05", "--out", str(out))
    module = "examples.cultivation.error_budget"
    printed = printed_by(module, *arguments, monkeypatch=monkeypatch, capsys=capsys)
    plt.close("all")
    assert "The logical error of d=3 comes from: cat check d=3" in printed
    stages = [
        line.split("%")[0].rsplit(" ", 1) for line in printed.splitlines() if line[:2].strip().isdigit()
    ]
    assert [name.strip() for name, _ in stages] == [
        "0 unitary injection",
        "15 syndrome cycle d=3",
        "25 cat check d=3",
    ]
    assert sum(float(share) for _, share in stages) == pytest.approx(100, abs=0.1)
    assert out.read_bytes().startswith(PNG)


@pytest.mark.slow
def test_distillation_counts_and_plots(tmp_path: Path) -> None:
    printed = run("-m", "examples.distillation", "--shots", "20000", "--out", str(tmp_path / "plot.png"))
    assert "15-to-1: 35 sets of 3 faults make a kept output wrong" in printed
    assert "8T-to-CCZ: 28 sets of 2 faults make a kept output wrong" in printed
    assert "    3e-05   9.4500e-13   9.4509e-13" in printed
    assert (tmp_path / "plot.png").read_bytes().startswith(PNG)


@pytest.mark.slow
def test_decoder_in_the_loop_draws_rounds_that_are_seen(tmp_path: Path) -> None:
    out = tmp_path / "new" / "rounds.png"
    printed = run(
        "-m",
        "examples.lattice_surgery.decoder_in_the_loop",
        "--d",
        "3",
        "--shots",
        "50000",
        "--rounds",
        str(out),
    )
    assert out.read_bytes().startswith(PNG)
    rates = [float(rate) for rate in re.findall(r"rounds \d: (\S+)", printed)]
    # 6 sigma is a false alarm in 10^9 runs.
    for rate, expected in zip(rates, (1.96e-2, 1.92e-2, 6.87e-3), strict=True):
        assert abs(rate - expected) < 6 * (expected / 50_000) ** 0.5


@pytest.mark.slow
def test_decoder_in_the_loop_tries_injections_again() -> None:
    printed = run(
        "-m",
        "examples.lattice_surgery.decoder_in_the_loop",
        *("--d", "3", "--shots", "50000", "--retries", "3"),
    )
    found = re.findall(r"attempts (\d), (.*): kept (\S+), (\S+) \+- \S+; computed (\S+) \+-", printed)
    assert [each[:2] for each in found] == [
        ("1", "silent"),
        *(("3", name) for name in ("silent", "gap of 20 dB", "gap of 15 dB", "gap of 10 dB")),
    ]
    # 6 sigma is a false alarm in 10^9 runs. What was computed has an error of 3%.
    for (_, _, kept, rate, computed), expected in zip(
        found, ((0.881, 1.33e-2), (0.999, 1.363e-2), (1, 1.374e-2), (1, 1.40e-2), (1, 1.434e-2)), strict=True
    ):
        assert abs(float(kept) - expected[0]) < 0.01
        assert abs(float(rate) - expected[1]) < 6 * (expected[1] / 45_000) ** 0.5
        assert abs(float(computed) - expected[1]) < 0.2 * expected[1]


@pytest.mark.slow
def test_logical_programs(tmp_path: Path) -> None:
    picture, rows = tmp_path / "chsh.png", tmp_path / "rows.csv"
    arguments = (
        "--p",
        "0.0005",
        "--shots",
        "4000",
        "--programs",
        "H T H",
        "--chsh",
        "--picture",
        str(picture),
    )
    columns = ("--columns", "decoded", "raw", "process", "proxy", "proxy_success")
    printed = run("-m", "examples.lattice_surgery.logical_programs", *arguments, *columns, "--out", str(rows))
    assert picture.read_bytes().startswith(PNG)
    lines = [line.strip("| ").split(" | ") for line in printed.splitlines()]
    sums = {line[1]: (float(line[2]), float(line[3])) for line in lines if line[0] == "CHSH"}
    # 6 sigma is a false alarm in 10^9 runs.
    assert sums["ideal"] == (2.8284, 0)
    decoded, error = sums["decoded, d=3"]
    assert 2 + 6 * error < decoded < 8**0.5 + 6 * error
    for series in ("raw outcomes, d=3", "S-proxy, decoded, d=3"):
        assert sums[series][0] < 2 + 6 * sums[series][1]
    [row] = [line for line in lines if line[0] == "H T H"]
    assert row[1:9] == ["1", "1", "3", "0.0005", "212", "8", "2", "0"]
    assert row[11] == "0.8536"
    found = dict(zip(("decoded", "raw", "process", "predicted", "proxy"), row[12:], strict=True))
    assert float(found["decoded"].split("(")[0]) > 0.8 > float(found["raw"].split("(")[0])
    assert all(0 < float(found[column].split("(")[0]) < 0.02 for column in ("process", "proxy"))
    assert found["predicted"] == ""


@pytest.mark.slow
def test_teleported_t_shows_what_the_proxy_hides(tmp_path: Path) -> None:
    out = tmp_path / "new" / "teleported.png"
    arguments = ("--d", "3", "--p", "0.0005", "0.001", "--shots", "100000", "--out", str(out))
    printed = run("-m", "examples.lattice_surgery.teleported_t", *arguments)
    assert out.read_bytes().startswith(PNG)
    rows = re.findall(r"^(d=3, \S+(?: \w+)?) +([\d.]+) +([\d.]+) +([\d.e-]+)(.*)$", printed, re.MULTILINE)
    assert len(rows) == 2 * 3 * 2
    rates = {(k < 6, name, float(p)): float(rate) for k, (name, p, _, rate, _) in enumerate(rows)}
    assert rates[True, "d=3, T, gate", 0.001] == pytest.approx(3.3853e-3, rel=1e-4)
    assert rates[True, "d=3, S-proxy", 0.001] == pytest.approx(4.8184e-3, rel=1e-4)
    for name, power in (("T, gate", 2), ("T, software", 3), ("S-proxy", 3)):
        growth = rates[False, f"d=3, {name}", 0.001] / rates[False, f"d=3, {name}", 0.0005]
        assert 2**power * 0.95 < growth < 2**power * 1.2
    for _, _, kept, rate, sampled in rows[:6]:
        # 6 sigma is a false alarm in 10^9 runs.
        found = float(sampled.split()[0])
        assert abs(found - float(rate)) < 6 * (float(rate) / (100_000 * float(kept))) ** 0.5


def test_three_faults_can_make_a_kept_shot_of_distance_5_wrong() -> None:
    circuit = snc.Circuit(cultivation_circuit(distance=5, p=2e-3))
    places = [
        "tick 77: DEPOLARIZE2 14 15: X14",
        "tick 77: DEPOLARIZE2 3 1: X3",
        "tick 91: DEPOLARIZE2 30 23: Y23",
    ]
    faults = tuple(fault for fault in circuit.faults() if any(str(fault).endswith(place) for place in places))
    verdict = examine(circuit, faults, shots=200)
    assert verdict.exact.kept_and_wrong == pytest.approx(1 / 16, abs=1e-9)
    assert verdict.exact.discarded == pytest.approx(15 / 16, abs=1e-9)
    assert len(faults) == len(verdict.needed) == FEWEST_FAULTS[5]
    assert 0 < verdict.wrong < 50
    assert verdict.wrong + verdict.discarded == 200


def test_replacing_one_line_leaves_the_logical_error_rate(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ("examples.replace_one_line", "--shots", "20000")
    printed = printed_by(*arguments, monkeypatch=monkeypatch, capsys=capsys)
    p_values = [float(line.rsplit(" ", 1)[1]) for line in printed.splitlines() if "p-value" in line]
    assert len(p_values) == 2
    assert min(p_values) > 1e-9


@pytest.mark.slow
def test_gap_calibration(tmp_path: Path) -> None:
    run("-m", "examples.gap_calibration", "--shots", "3000", "--processes", "1", "--out", str(tmp_path))
    assert (tmp_path / "gap_calibration.png").stat().st_size > 10_000
    assert len((tmp_path / "gap_points.csv").read_text().splitlines()) > 20


@pytest.mark.slow
def test_notebook_runs_and_holds_no_outputs() -> None:
    notebook = json.loads((ROOT / "examples" / "tour.ipynb").read_text(encoding="utf-8"))
    cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    assert not any(cell["outputs"] or cell["execution_count"] for cell in cells)
    printed = run("-c", "\n".join("".join(cell["source"]) for cell in cells))
    assert "OutcomeProbabilities" in printed


def test_examples_in_docstrings() -> None:
    assert doctest.testmod(examples.cultivation.rates).failed == 0
    assert doctest.testmod(examples.lattice_surgery.teleported_t).failed == 0


def test_readme_names_every_example() -> None:
    readme = (ROOT / "examples" / "README.md").read_text(encoding="utf-8")
    for file in (ROOT / "examples").rglob("*.py"):
        assert file.name == "__init__.py" or f"`{file.name}`" in readme


def test_the_closed_law_is_that_of_the_engines() -> None:
    sampler = ImportanceSampler(snc.Circuit(cultivation_circuit(distance=3, p=1e-3)), [3], seed=1)
    noise, plan = sampler.noise, sampler.noise.law.plan
    sets = np.random.default_rng(2).integers(0, len(noise.odds), (3000, 3))
    rows = np.bitwise_xor.reduce(plan.effects.dense(plan.num_row_bits)[sets], axis=1)
    rows[:, : plan.num_checks] = False  # laws do not depend on the noise-only checks
    expected = fates_of_rows(plan, rows)[1]
    found = noise.law.kept_and_wrong(xor_at(noise.reversed_gates, sets), xor_at(noise.flipped, sets)[:, 0])
    np.testing.assert_allclose(found, expected, atol=1e-14)
    assert np.count_nonzero(found) > 300


@pytest.mark.parametrize(("distance", "weights", "draws"), [(3, [2, 3], 6000), slow(5, [3, 4], 40_000)])
def test_importance_sampling_agrees_with_the_search(distance: int, weights: list[int], draws: int) -> None:
    circuit = snc.Circuit(cultivation_circuit(distance=distance, p=1e-3))
    listed = circuit.malignant_sets(max_weight=max(weights), postselection_mask="all")
    sampler = ImportanceSampler(circuit, weights, seed=1)
    for number in (draws // 6, draws):
        sampler.aim()
        for weight in weights:
            sampler.sample(weight, number)
    for weight, found in sampler.estimates.items():
        expected = sum(s.probability * s.kept_and_wrong for s in listed if s.weight == weight)
        if weight == 2:
            assert found.value == pytest.approx(expected, rel=1e-9)
            continue
        # Of right estimates, one in about 10^6 is farther than five standard errors.
        error = math.sqrt(found.variance)
        assert abs(found.value - expected) < 5 * error < 0.75 * expected, (weight, found)


@pytest.mark.slow
@pytest.mark.parametrize("one", GALLERY, ids=lambda one: one.name)
def test_published_numbers_are_found_again(one: Replica) -> None:
    """Seed 1 throughout: five standard errors are a false alarm in 10^6."""
    assert abs(z_of(one.published, one.again())) < 5


def test_gallery_sees_a_wrong_number() -> None:
    assert z_of((28, 0), (28, 0)) == 0
    assert z_of((28, 0), (28 * (1 + 1e-9), 0)) == 0
    assert z_of((28, 0), (29, 0)) == math.inf
    assert z_of((1.0, 0.3), (2.0, 0.4)) == pytest.approx(2)
