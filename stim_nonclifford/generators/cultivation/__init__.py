"""Magic state cultivation circuits: a logical T state grown inside a color code.

The circuits are plain `stim.Circuit` objects in which a T gate is a *tagged* Stim gate: `S[T] q` is
T and `S_DAG[T] q` is T_DAG. Stim itself ignores tags. Whatever Stim (or Sinter) computes from such a
circuit therefore holds for its *S-proxy*, the Clifford circuit with S in place of T.

The modules, each of which uses those above it:

* `color_code`: positions of the qubits, and the checks (for any distance);
* `builder`: writes a noiseless circuit moment by moment, with qubits named by their coordinates;
* `stages`, `injections`: the stages of the protocol, and the ways to begin it;
* `noise`: adds noise to any noiseless circuit;
* `protocol`: combines the stages and the noise;
* `end_to_end`: the whole protocol with growth to a large code;
* `matchable`: the escape into a surface code;
* `counts`, `files`: counts, file names.

Examples:
    >>> from stim_nonclifford.generators.cultivation import cultivation_circuit
    >>> circuit = cultivation_circuit(distance=3, p=1e-3, gate="T", noise="uniform")
    >>> circuit.num_qubits, circuit.num_measurements, circuit.num_detectors
    (15, 21, 20)
"""

from .builder import GateChoice
from .counts import CircuitStatistics, circuit_statistics
from .end_to_end import (
    ESCAPE_CHOICES,
    READOUT_CHOICES,
    EscapeChoice,
    ReadoutChoice,
    end_to_end_circuit,
)
from .files import circuit_file_name
from .injections.injection import InjectionChoice
from .noise import NOISE_CHOICES, NoiseChoice
from .protocol import AVAILABLE_DISTANCES, INJECTION_CHOICES, cultivation_circuit
from .stages.cat_trees import VARIANT_CHOICES, VariantChoice

__all__ = [
    "AVAILABLE_DISTANCES",
    "ESCAPE_CHOICES",
    "INJECTION_CHOICES",
    "NOISE_CHOICES",
    "READOUT_CHOICES",
    "VARIANT_CHOICES",
    "CircuitStatistics",
    "EscapeChoice",
    "GateChoice",
    "InjectionChoice",
    "NoiseChoice",
    "ReadoutChoice",
    "VariantChoice",
    "circuit_file_name",
    "circuit_statistics",
    "cultivation_circuit",
    "end_to_end_circuit",
]
