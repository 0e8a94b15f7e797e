"""Circuits written and read again."""

from pathlib import Path

import stim

import stim_nonclifford as snc


def read_again(text: str, folder: Path) -> snc.Circuit:
    """The circuit of a text, which text, Stim's circuits and files must keep."""
    circuit = snc.Circuit(text)
    assert str(circuit) == text
    assert snc.Circuit(stim.Circuit(str(circuit.to_stim()))) == circuit
    circuit.to_file(folder / "circuit.stim")
    assert snc.Circuit.from_file(folder / "circuit.stim") == circuit
    return circuit
