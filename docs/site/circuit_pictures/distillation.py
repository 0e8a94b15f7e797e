"""Draws the sums of the protocols: one column per T gate, one row per qubit.

`python docs/site/make_pictures.py` writes them.
"""

from __future__ import annotations

from collections.abc import Mapping

from stim_nonclifford.generators.distillation.parities import Parities, parities_of

# Pixels.
_COLUMN = 40  # between T gates
_ROW = 34  # between qubits
_LEFT = 70  # of the first T gate
_TOP = 44  # of the first qubit
_DOT = 7  # radius

_OUTPUT, _CHECK, _T, _T_DAG = "#222222", "#2f6fb7", "#ffd84d", "#ffffff"


def all_pictures() -> Mapping[str, str]:
    """Draws all pictures: the text of each SVG file, by file name."""
    drawn = {name: parities_of(name) for name in ("15-to-1", "8T-to-CCZ", "49-to-1")}
    drawn["20-to-4"] = parities_of("3k+8-to-k", 4)
    return {f"{name}.svg": picture_of(name, parities) for name, parities in drawn.items()}


def picture_of(name: str, parities: Parities) -> str:
    """The picture of one protocol, as SVG.

    A box above a column says whether it is T or T_DAG. The dots below are the qubits of its sum.
    """
    num_qubits = parities.num_outputs + parities.num_checks
    width = _LEFT + _COLUMN * len(parities.sums)
    height = _TOP + _ROW * num_qubits
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}"'
        ' font-family="sans-serif" font-size="13">',
        f"<title>{name}</title>",
        f'<rect width="{width}" height="{height}" fill="#ffffff"/>',
    ]
    for qubit in range(num_qubits):
        y = _TOP + _ROW * qubit
        is_output = qubit < parities.num_outputs
        color = _OUTPUT if is_output else _CHECK
        name = f"output {qubit}" if is_output else f"check {qubit - parities.num_outputs}"
        lines.append(f'<text x="6" y="{y + 4}" fill="{color}">{name}</text>')
        lines.append(f'<path d="M{_LEFT - 10} {y}H{width - 8}" stroke="{color}"/>')
    for k, (qubits, sign) in enumerate(zip(parities.sums, parities.signs, strict=True)):
        x = _LEFT + _COLUMN // 2 + _COLUMN * k
        lines.append(f'<path d="M{x} 26V{_TOP + _ROW * max(qubits)}" stroke="{_OUTPUT}"/>')
        fill, letter = (_T, "T") if sign > 0 else (_T_DAG, "T†")
        lines.append(f'<rect x="{x - 11}" y="4" width="22" height="22" fill="{fill}" stroke="{_OUTPUT}"/>')
        lines.append(f'<text x="{x}" y="20" text-anchor="middle" fill="{_OUTPUT}">{letter}</text>')
        for qubit in qubits:
            color = _OUTPUT if qubit < parities.num_outputs else _CHECK
            lines.append(f'<circle cx="{x}" cy="{_TOP + _ROW * qubit}" r="{_DOT}" fill="{color}"/>')
    return "\n".join([*lines, "</svg>"]) + "\n"
