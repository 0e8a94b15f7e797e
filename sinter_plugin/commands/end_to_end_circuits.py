"""Circuits of cultivation end to end whose logical Y is checked, and the published results beside them."""

from __future__ import annotations

import dataclasses
import pathlib
import re
from collections.abc import Mapping
from typing import Any

import stim_nonclifford as snc
from stim_nonclifford.circuit.logical_states import LogicalStateCheck
from stim_nonclifford.generators.cultivation import (
    EscapeChoice,
    GateChoice,
    VariantChoice,
    end_to_end_circuit,
)

from ..samplers.soft_decoding import frame_circuit

_PUBLISHED_STRENGTH = 1e-3

_PUBLISHED = {
    3: {
        0: (0.53881, 3.089e-3),
        10: (0.53484, 9.748e-4),
        20: (0.52892, 4.148e-4),
        30: (0.50459, 9.931e-5),
        69: (0.22545, 3.12e-6),
    },
    5: {
        0: (0.051867, 5.354e-4),
        10: (0.051812, 2.144e-4),
        20: (0.051716, 1.049e-4),
        30: (0.051445, 4.942e-5),
        90: (0.02401, 3.75e-8),
        100: (0.01369, 1.24e-8),
        116: (0.005073, 1.18e-8),
    },
}
"""For each distance and least gap: kept fraction and logical error with T gates, from 10^9 and 10^11 shots.

For circuits that escape into a matchable code of distance 15. Sums over the counts of
github.com/cc89124/mdam, magic_state_cultivation/results/end2end/t_gate_*_p0.001.json.
"""

_Y = 1
"""The number of the expectation value of the logical Y."""

_NOISELESS_SHOTS = 100


@dataclasses.dataclass(frozen=True)
class CheckedCircuit:
    """A circuit with the check of its logical Y."""

    # the circuit; it asks for the expectation values of logical X and Y, the second of which is Y
    circuit: snc.Circuit
    # what is known of it; ``g`` is "T" or "S", ``d`` the distance that is cultivated
    metadata: dict[str, Any]
    # the check by Y alone, which logical X and Z errors flip, with T gates as in the S-proxy
    check: LogicalStateCheck


def published_points(metadata: Mapping[str, Any]) -> dict[int, tuple[float, float]]:
    """Published results at the distance and the strength of noise of a circuit."""
    return _PUBLISHED.get(metadata["d"], {}) if metadata["p"] == _PUBLISHED_STRENGTH else {}


def generated_circuit(
    distance: int,
    escape_distance: int,
    p: float,
    gate: GateChoice,
    *,
    escape: EscapeChoice = "color",
    variant: VariantChoice = "published",
    **rounds: int,
) -> CheckedCircuit:
    """A circuit of ``end_to_end_circuit``, whose arguments these are."""
    options: dict[str, Any] = {**rounds, "readout": "expectation_values", "variant": variant}
    circuit = end_to_end_circuit(distance, escape_distance, p, gate, escape=escape, **options)
    metadata: dict[str, Any] = {"d": distance, "d2": escape_distance, "p": p, "g": gate}
    if variant != "published":
        metadata["variant"] = variant
    if escape != "color":
        metadata["escape"] = escape
    metadata |= {"postselected": rounds["postselected_rounds"], "r": rounds["rounds"], "state_check": "Y"}
    value = 2**0.5 if gate == "T" else 1.0
    return CheckedCircuit(snc.Circuit(circuit), metadata, LogicalStateCheck((0, _Y), (0, 1), (0.0, value)))


def circuit_of_file(path: str | pathlib.Path, gate: GateChoice) -> CheckedCircuit:
    """A circuit of the Clifft paper (arXiv 2604.27058), or its S-proxy."""
    path = pathlib.Path(path)
    circuit = with_observable_of_y(path.read_text(encoding="utf-8"))
    if gate == "S":
        circuit = snc.Circuit(circuit.s_proxy())
    noiseless = frame_circuit(circuit.without_noise()).compile_detector_sampler(seed=1)
    _, flips, values = noiseless.sample_expectation_values(_NOISELESS_SHOTS)
    (value,) = set((values[:, _Y] * (1 - 2.0 * flips[:, 0])).round(12))
    distance = re.search(r"d(\d+)", path.stem)
    strength = re.search(r"p(\d[\d.]*(?:e-?\d+)?)", path.stem)
    metadata = {
        "d": int(distance[1]) if distance else None,
        "p": float(strength[1].rstrip(".")) if strength else None,
        "file": path.stem,
        "g": gate,
        "state_check": "Y",
    }
    return CheckedCircuit(circuit, metadata, LogicalStateCheck((_Y,), (0,), (1 / float(value),)))


def with_observable_of_y(text: str) -> snc.Circuit:
    r"""The circuit in which the observable includes the logical Y in place of its measurement."""
    products = re.findall(r"^EXP_VAL (.*)$", text, re.MULTILINE)
    before, last, after = text.rpartition("OBSERVABLE_INCLUDE(0)")
    if len(products) <= _Y or not last:
        raise ValueError(
            "The circuit must end in EXP_VAL of the logical X, Y and Z and in an observable 0, as"
            " e2e_t_d3_p1e-3.stim of github.com/unitaryfoundation/clifft-paper does. Leave out --circuits to"
            " generate circuits, or use collect with --state_check for other ones."
        )
    rest = after[after.index("\n") :] if "\n" in after else ""
    return snc.Circuit(f"{before}{last} {products[_Y].replace('*', ' ')}{rest}")
