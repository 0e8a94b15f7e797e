"""What the code on some pages takes for granted: the reader's own circuits, files and decoders."""

_FILES = r"""
import pathlib
import re

import numpy as np
import pymatching
import sinter
import stim

import sinter_plugin


def with_fourth_coordinate(match):
    x, y, t = match.groups()
    return f"DETECTOR({x}, {y}, {t}, {int(t == '0')})"


def memory(p):
    text = str(
        stim.Circuit.generated(
            "surface_code:rotated_memory_x",
            distance=3,
            rounds=2,
            after_clifford_depolarization=p,
            before_measure_flip_probability=p,
        ).flattened()
    )
    return stim.Circuit(re.sub(r"DETECTOR\((\d+), (\d+), (\d+)\)", with_fourth_coordinate, text))


"""

CONTEXT = {
    # Files of circuits, and of statistics with gaps; a circuit, a mask, a decoder.
    "docs/guides/decoding.md": _FILES
    + r"""
pathlib.Path("circuits").mkdir()
for p in (0.01, 0.02):
    memory(p).to_file(f"circuits/d=3,p={p}.stim")
sinter.collect(
    num_workers=1,
    tasks=[sinter.Task(circuit=memory(0.03), json_metadata={"d": 3, "p": 0.03})],
    decoders=["soft_pymatching_gap"],
    custom_decoders=sinter_plugin.sinter_samplers(),
    max_shots=20_000,
    save_resume_filepath="stats.csv",
)
circuit = snc.Circuit(memory(0.01))
mask = np.arange(circuit.num_detectors) < 4
matching = pymatching.Matching(circuit.detector_error_model(decompose_errors=True))
MyDecoder = sinter_plugin.MatchingGapDecoder
dets = circuit.compile_detector_sampler(seed=1).sample(100, bit_packed=True)
""",
    # The folder DIR, which the command line has filled.
    "circuits/cultivation/README.md": r"""
import pathlib

from stim_nonclifford.generators.cultivation import circuit_file_name, cultivation_circuit

pathlib.Path("DIR").mkdir()
name = circuit_file_name(distance=3, p=0.001, gate="S", noise="uniform")
cultivation_circuit(distance=3, p=0.001, gate="S").to_file(f"DIR/{name}")
""",
    # Two files of circuits.
    "docs/guides/sinter.md": _FILES
    + r"""
for name in ("a", "b"):
    memory(0.01).to_file(f"{name}.stim")
""",
    # Tasks with a T state, of which observables follow the frame.
    "docs/guides/expectation_values.md": r"""
import sinter

t_state = snc.Circuit('''
    RX 1
    T 1
    E(0.2) Z1 X2
    M 2
    DETECTOR rec[-1]
    EXP_VAL X1 Y1
    OBSERVABLE_INCLUDE(0) X1
    OBSERVABLE_INCLUDE(1) Y1
''')
tasks = [
    sinter.Task(
        circuit=t_state.to_stim(), detector_error_model=t_state.detector_error_model(kind="noise_only"), json_metadata={}
    )
]
""",
}
