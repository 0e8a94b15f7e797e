"""What the page of the teleported T gate shows is what the generator makes."""

import re
from pathlib import Path
from typing import Any

import pytest
import sinter
import stim

import stim_nonclifford as snc
from stim_nonclifford.commands import main
from stim_nonclifford.generators.teleportation import injection_circuit, teleportation_circuit
from stim_nonclifford.generators.teleportation.protocol import build_teleportation

FOLDER = Path(__file__).parents[2] / "circuits" / "teleportation"
README = (FOLDER / "README.md").read_text(encoding="utf-8")
ROWS = re.findall(r"^\| (\w+), d = (\d)(?:, (\w+))? \|(.*)\|$", README, re.MULTILINE)


def circuit_of(name: str, distance: int, correction: Any, gate: Any) -> stim.Circuit:
    if name == "injection":
        return injection_circuit(distance, 1e-3, gate)
    return teleportation_circuit(distance, 1e-3, gate, correction=correction)


def test_table_has_a_row_for_every_circuit() -> None:
    assert [(name, int(d), correction) for name, d, correction, _ in ROWS] == [
        ("injection", 3, ""),
        ("injection", 5, ""),
        *(("teleported", d, correction) for d in (3, 5) for correction in ("gate", "software")),
    ]


@pytest.mark.parametrize(
    "row",
    [
        pytest.param(row, id="-".join(row[:3]), marks=pytest.mark.slow if row[1] == "5" else ())
        for row in ROWS
    ],
)
def test_table_of_numbers(row: tuple[str, ...]) -> None:
    name, d, correction, cells = row
    qubits, moments, detectors, width, *rates = (cell.strip() for cell in cells.split("|"))
    kept, *wrong = (float(text.replace("·10⁻³", "e-3")) for text in rates)
    for gate, error in zip("TS", wrong, strict=True):
        circuit = circuit_of(name, int(d), correction, gate)
        bits = int(name == "teleported")
        assert qubits == f"{circuit.num_qubits - bits}" + " + 1 bit" * bits
        assert (int(moments), int(detectors)) == (circuit.num_ticks, circuit.num_detectors)
        assert snc.Circuit(circuit).plan().peak_width == int(width)
        if d == "3":
            rate = snc.Circuit(circuit).logical_error_rate(
                seed=1, threads=2, postselection_mask="all", relative_error=1e-5
            )
            assert f"{rate.kept:.4g}" == f"{kept:.4g}"
            assert f"{rate.logical_error_rate:.5g}" == f"{error:.5g}"
        else:
            sampler = snc.Circuit(circuit).compile_detector_sampler(
                seed=1, postselection_mask=sinter.post_selection_mask_from_4th_coord(circuit)
            )
            counts = sampler.sample_counts(1_000_000)
            num_kept = counts.shots - counts.discards
            # 6 sigma, a false alarm in 10^9 runs; the rounding of the page is far below.
            assert abs(num_kept / counts.shots - kept) < 6 * (kept / counts.shots) ** 0.5
            assert abs(counts.errors / num_kept - error) < 6 * (error / num_kept) ** 0.5


def test_instructions_of_the_page_are_those_of_the_circuit() -> None:
    [shown] = re.findall(r"^```\n(R 41\n.*?)^```", README, re.DOTALL | re.MULTILINE)
    assert shown in str(snc.Circuit(build_teleportation(3).builder.circuit))


def test_stages_are_those_of_the_page() -> None:
    circuit = snc.Circuit(teleportation_circuit(3, 1e-3))
    assert "sum is a single weak measurement" in README
    assert "1 weak measurement" in str(circuit.plan())


def test_command_of_the_page_writes_these_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command, *paths = re.findall(r"^(?:\$ stim-nonclifford (.*)|DIR/(.*))$", README, re.MULTILINE)
    assert main(command[0].replace("DIR", str(tmp_path)).split()) == 0
    printed = [Path(line).name for line in capsys.readouterr().out.splitlines()]
    assert printed == [name for _, name in paths]


def test_code_of_the_page_runs(capsys: pytest.CaptureFixture[str]) -> None:
    [code] = re.findall(r"^```python\n(.*?)^```", README, re.DOTALL | re.MULTILINE)
    exec(compile(code, "README.md", "exec"), {})
    assert "logical error rate (any observable, per kept shot): 0.003385" in capsys.readouterr().out
