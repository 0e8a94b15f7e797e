"""Sinter's samplers of circuits in which a decoder decides: it decides in the loop, and decodes at the end."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pymatching
import pytest
import sinter
import stim

import sinter_plugin
import stim_nonclifford as snc
from examples.lattice_surgery.decoder_in_the_loop import teleported_t_gate
from sinter_plugin import SoftDecodingSampler, SoftPostselectSampler

from ...support.processes.range_cases import counts, whole_run, with_range

SHOTS = 20_000

ROUND = "DEPOLARIZE1(0.06) 0 1 2 3 4\nMPP(0.04) Z0*Z1 Z1*Z2 Z2*Z3 Z3*Z4\n"
FIRST = "".join(f"DETECTOR rec[{k}]\n" for k in range(-4, 0))
NEXT = "".join(f"DETECTOR rec[{k}] rec[{k - skipped}]\n" for skipped in (4,) for k in range(-4, 0))
PARITY = "Z0*Z1*Z2*Z3*Z4"
MEMORY = f"""
R 0 1 2 3 4 5 6
{ROUND}{FIRST}
TICK
MPP{{decided}}(0.03) {PARITY}
CX rec[-1] 5 rec[-1] 6
M 6
DETECTOR rec[-1]
{ROUND}{NEXT.replace("-8", "-10").replace("-7", "-9").replace("-6", "-8").replace("-5", "-7")}
TICK
MPP {PARITY}
OBSERVABLE_INCLUDE(0) rec[-1]
X_ERROR(0.01) 5
M 5
OBSERVABLE_INCLUDE(1) rec[-1]
"""
"""A repetition code. Whether qubits 5 and 6 are flipped depends on its decoded parity, which is 0.

A detector and observable 1 see it. Detectors of the second round are too late for the decision.
"""
DECIDED = snc.Circuit(MEMORY.format(decided="[DECODE]"))


def task(circuit: snc.Circuit = DECIDED, **arguments: Any) -> sinter.Task:
    return sinter_plugin.task(circuit, decoder="soft_pymatching", **arguments)


def counted(sampler: SoftDecodingSampler, of: sinter.Task, seed: int = 5) -> sinter.AnonTaskStats:
    return sampler.compiled_range_sampler_for_task(of, seed=seed).sample_range(0, SHOTS)


class ByHand:
    """The same decisions and predictions, from raw shots and two models of Stim's."""

    def __init__(self, seed: int) -> None:
        sampler = DECIDED.compile_detector_sampler(seed=seed, decoder={"name": "raw"})
        dets, obs = sampler.sample(SHOTS, separate_observables=True)
        text = MEMORY.format(decided="")
        parity = f"MPP(0.03) {PARITY}\n"
        begin = text[: text.index(parity)] + parity + "OBSERVABLE_INCLUDE(0) rec[-1]"
        whole = text.replace(parity, parity + "OBSERVABLE_INCLUDE(2) rec[-1]\n")
        self.early = self.decoded(begin, dets[:, :4])[:, 0]
        # What the flip of the record changes, it changes in the shot and in the frame.
        self.predicted = self.decoded(whole, dets)
        self.wrong = self.predicted[:, :2] ^ obs
        self.corrected = int(self.early.sum())
        self.revised = int((self.predicted[:, 2] ^ self.early).sum())

    @staticmethod
    def decoded(text: str, dets: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
        model = stim.Circuit(text).detector_error_model(decompose_errors=True)
        return pymatching.Matching(model).decode_batch(dets).astype(np.bool_)


def test_decides_and_decodes_as_by_hand() -> None:
    expected = ByHand(5)
    sampler = SoftDecodingSampler(count_observable_error_combos=True)
    found = counted(sampler, task())
    assert (found.shots, found.discards) == (SHOTS, 0)
    assert found.errors == expected.wrong.any(axis=1).sum() > 1000
    counts = found.custom_counts
    assert counts["corrected_0"] == expected.corrected > 1000
    assert counts["revised_0"] == expected.revised > 100
    assert counts["obs_mistake_mask=_E"] == (~expected.wrong[:, 0] & expected.wrong[:, 1]).sum() > 100
    # A raw decision is revised where it should have been corrected, and the last decoder knows what it did.
    raw = counted(SoftDecodingSampler(loop_decoder={"name": "raw"}), task())
    assert raw.errors == found.errors
    assert "corrected_0" not in raw.custom_counts
    assert raw.custom_counts["revised_0"] == expected.predicted[:, 2].sum()


def test_sure_is_not_revised() -> None:
    """Hindsight says whether Paulis are flipped, and not whether the decoder was sure of it."""
    question = f"SURE(12) {PARITY}\nMPP {PARITY}"
    text = question.join(MEMORY.format(decided="[DECODE]").rsplit(f"MPP {PARITY}", 1))
    found = counted(SoftDecodingSampler(), task(snc.Circuit(text)))
    expected = ByHand(5)
    assert found.errors == expected.wrong.any(axis=1).sum()
    counts = found.custom_counts
    assert (counts["corrected_0"], counts["revised_0"]) == (expected.corrected, expected.revised)
    assert 1000 < counts["corrected_1"] < SHOTS - 1000  # not sure
    assert "revised_1" not in counts


def test_masks_discard() -> None:
    expected = ByHand(5)
    mask = np.zeros(DECIDED.num_detectors, dtype=np.bool_)
    mask[[4, 6]] = True
    sampler = DECIDED.compile_detector_sampler(seed=5, decoder="pymatching", postselection_mask=mask)
    kept = sampler.iter_kept(max_shots=SHOTS, batch_shots=SHOTS)
    places = next(iter(kept)).shot_numbers
    found = counted(SoftDecodingSampler(), task(postselection_mask=mask))
    assert found.discards == SHOTS - len(places) > 1000
    # The fifth detector is the decided record itself: kept shots were decided 0.
    assert found.errors == expected.wrong[places].any(axis=1).sum() > 300
    observables = counted(SoftDecodingSampler(), task(postselected_observables_mask=[True, False]))
    assert observables.discards == expected.wrong[:, 0].sum()
    assert observables.errors == (expected.wrong[:, 1] & ~expected.wrong[:, 0]).sum()


def test_a_frame_that_was_decoded_in_the_circuit_is_not_decoded_again() -> None:
    circuit = teleported_t_gate(3, 4e-3)
    loop = {"outcome": "pymatching", "frame": "pymatching"}
    found = counted(SoftDecodingSampler(loop_decoder=loop), task(circuit))
    sampler = circuit.compile_detector_sampler(seed=5, decoder=loop)
    assert found.errors == sampler.sample_counts(SHOTS).errors > 1000
    assert found.custom_counts["corrected_1"] > 1000
    assert "revised_1" not in found.custom_counts  # the frame knows all detectors
    assert found.custom_counts["corrected_0"] > 10 * found.custom_counts["revised_0"] > 0


def test_states_are_checked_in_the_decoded_frame() -> None:
    circuit = snc.Circuit(
        """
        RX 0
        T 0
        R 1
        X_ERROR(0.2) 1
        Z_ERROR(0.1) 0
        M 1
        DETECTOR rec[-1]
        DECODE 1
        X_ERROR(0.3) 0
        CX rec[-1] 0
        C_S rec[-1] 0
        EXP_VAL X0 Y0 Z0
        OBSERVABLE_INCLUDE(0) X0
        OBSERVABLE_INCLUDE(1) Y0
        OBSERVABLE_INCLUDE(2) Z0
        """
    )
    rates = {}
    for loop in ("pymatching", {"name": "raw"}):
        sampler = SoftDecodingSampler(state_check="T", warn=False, loop_decoder=loop)
        rates[str(loop)] = counted(sampler, task(circuit)).errors / SHOTS
    # The decided record is 0, so that neither X nor S is applied. X on |T> has fidelity 1/2, and Z 0.
    right = 0.9 * 0.3 / 2 + 0.1 * (0.7 + 0.3 / 2)
    assert rates["pymatching"] == pytest.approx(right, abs=0.02)
    # A raw record is 1 in one shot of five. The last decoder finds the frame, but not that S was wrong: its
    # fidelity is 1/2, and S X |T> is |T>, but for Z.
    assert rates["{'name': 'raw'}"] == pytest.approx(0.8 * right + 0.2 * (0.7 / 2 + 0.3 * 0.1), abs=0.02)


def test_collections_are_resumed(tmp_path: Path) -> None:
    arguments: dict[str, Any] = {"num_workers": 2, "save_resume_filepath": tmp_path / "a.csv", "seed": 7}
    [half] = sinter_plugin.collect([task()], max_shots=30_000, **arguments)
    [whole] = sinter_plugin.collect([task()], max_shots=70_000, **arguments)
    for found, shots in ((half, 30_000), (whole, 70_000)):
        expected = whole_run(task(), SoftDecodingSampler(), 7, shots)
        assert counts(found) == with_range(expected, 7)
        assert found.custom_counts["revised_0"] > 1000


@pytest.mark.parametrize(
    ("sampler", "message"),
    [
        (SoftPostselectSampler(), r"Line \d+: `MPP\[DECODE\].*soft_postselect has none.*without_decisions"),
        (SoftDecodingSampler(decoder="desaturated"), "desaturated does not decide"),
        (SoftDecodingSampler(error_model="noise_only"), "error_model is not for circuits with DECODE"),
        (SoftDecodingSampler(condition_on_postselection=True), "Leave condition_on_postselection out"),
        (SoftDecodingSampler(loop_decoder="pymatchng"), "Did you mean pymatching"),
        (SoftDecodingSampler(engine="trajectory"), "engine='cpu'"),
    ],
)
def test_refusals(sampler: Any, message: str) -> None:
    with pytest.raises((ValueError, NotImplementedError), match=message):
        sampler.compiled_sampler_for_task(task())


def test_names_of_decoders_are_given_to_the_sampler() -> None:
    named = snc.Circuit(MEMORY.format(decided="[DECODE(decoder=fast)]"))
    with pytest.raises(ValueError, match=r"SoftDecodingSampler\(loop_decoder=\{'fast': \.\.\.\}\)"):
        SoftDecodingSampler().compiled_sampler_for_task(task(named))
    found = counted(SoftDecodingSampler(loop_decoder={"fast": "pymatching"}), task(named))
    assert found.errors == counted(SoftDecodingSampler(), task()).errors


def test_a_gap_where_no_gate_depends_on_errors() -> None:
    found = counted(SoftDecodingSampler(confidence=True), task(snc.Circuit(ONE_OBSERVABLE)))
    plain = counted(SoftDecodingSampler(), task(snc.Circuit(ONE_OBSERVABLE)))
    by_gap = {
        key: count for key, count in found.custom_counts.items() if key[0] in "CE" and key[1:].isdigit()
    }
    assert sum(by_gap.values()) == SHOTS
    assert sum(count for key, count in by_gap.items() if key[0] == "E") == found.errors
    # Two errors that differ in the observable alone are two edges with a gap, and one without.
    assert 0.9 * plain.errors < found.errors <= plain.errors
    assert found.custom_counts["corrected_0"] == plain.custom_counts["corrected_0"]
    assert "revised_0" not in found.custom_counts


ONE_OBSERVABLE = MEMORY.format(decided="[DECODE]").replace("OBSERVABLE_INCLUDE(1)", "OBSERVABLE_INCLUDE(0)")


def test_switched_blocks_are_refused_with_a_remedy() -> None:
    text = str(DECIDED).replace("CX rec[-1] 5 rec[-1] 6", "REPEAT[IF rec[-1]] 1 {\n    X 5 6\n}")
    with pytest.raises(
        NotImplementedError, match=r"each choice of blocks has decisions.*write a circuit for"
    ):
        sinter_plugin.collect([task(snc.Circuit(text))], num_workers=1, max_shots=1000, seed=1)
