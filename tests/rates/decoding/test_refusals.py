"""What decoders refuse: an error model that they have no answers for, and heralds that it does not have."""

from typing import Any

import pytest
import sinter
import stim

from sinter_plugin import (
    ChromobiusGapDecoder,
    DesaturatedGapDecoder,
    HeraldedMatchingDecoder,
    MatchingGapDecoder,
)

ERROR = "error(0.1) D0 L0"
COLORS = "detector(0, 0, 0, 0) D0 / detector(0, 0, 0, 1) D1 / detector(0, 0, 0, 2) D2"
KINDS = "detector(0, 0, 0, 1, 1) D0 / detector(0, 0, 0, 0, 6) D1"

GAP = [
    (f"{ERROR} / error(0.1) D0 L1", "defined for one observable, but the error model has 2"),
    ("error(0.1) D0 D1 / logical_observable L0", "no error of the other logical class"),
    (ERROR, "no error of the other logical class"),
]
CHROMOBIUS = [
    (f"{ERROR} L1 L2 / {COLORS}", "has one or two observables, but the error model has 3"),
    (ERROR, r"Detector D0 has the coordinates \(\), but Chromobius reads its color from"),
    (f"{ERROR} / detector(1, 2, 3, 6) D0", r"Detector D0 has the coordinates \(1, 2, 3, 6\)"),
    (
        f"{ERROR} / error(0.1) D0 D1 D2 / error(0.1) D0 D1 D2 L0 / {COLORS}",
        "closed loops of errors flip it, or errors of both bases do",
    ),
    (
        f"{ERROR} / error(0.1) D1 L1 / {COLORS}",
        "that of one logical qubit, but more than one logical operator is flipped by errors of the same basis",
    ),
]
DESATURATED = [
    ("detector(0, 0, 0) D0 / detector(0, 0, 0, -1, -9) D1", "No detector has coordinates that say what it checks"),
    ("detector(0, 0, 0, 0) D0", r"D0 has the coordinates \(0.0, 0.0, 0.0, 0.0\)"),
    ("detector(0, 0, 0, 0, 0) D0 / detector(0, 0, 0, 1, 2) D1", r"D1 has the coordinates .*1.0, 2.0\)\. Desaturation needs"),
    ("detector(0, 0, 0, 0, 7) D0", "D0 .*soft_pymatching_gap, which needs none"),
    ("detector(0, 0, 0, 3, 6) D0", "D0 .*soft_chromobius_gap, which needs the color alone"),
    ("detector(0, 0, 0, 0.5, 0.5) D0", "D0 "),
    ("detector(0, 0, 0, 2, 0) D0 / detector(0, 0, 0, -1, 0) D1", "has no color, but is not postselected"),
    ("detector(0, 0, 0, 2, 0) D0 / detector(0, 0, 0, 2, 3) D1", "D0 .*or 1 for detectors that postselect and 0 for others"),
    (f"error(0.1) D0 / logical_observable L0 / {KINDS}", "No error that the decoder knows flips an observable"),
    (f"{ERROR} / error(0.1) D1 L1 / {KINDS}", r"X detectors see flip different .*\(masks 1 and 10\)"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("decoder", "text", "message"),
    [
        *((MatchingGapDecoder(), *row) for row in GAP),
        *((ChromobiusGapDecoder(), *row) for row in CHROMOBIUS),
        *((DesaturatedGapDecoder(), *row) for row in DESATURATED),
    ],
)
def test_error_models(decoder: sinter.Decoder, text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        decoder.compile_decoder_for_dem(dem=stim.DetectorErrorModel(text.replace(" / ", "\n")))


@pytest.mark.parametrize("decoder", [HeraldedMatchingDecoder, MatchingGapDecoder])
@pytest.mark.parametrize(
    ("heralds", "error", "message"),
    [
        ("a", TypeError, "heralds must be a collection of detectors"),
        ([-1], ValueError, "Each of heralds must be an integer >= 0, but is -1"),
        ([True], TypeError, "Each of heralds must be an integer >= 0"),
        ([1, 0], ValueError, r"heralds has D1, but the error model has 1 detectors.*herald_detectors\("),
    ],
)
def test_heralds(decoder: type, heralds: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        decoder(heralds).compile_decoder_for_dem(dem=stim.DetectorErrorModel(f"{ERROR}\nerror(0.1) D0"))
