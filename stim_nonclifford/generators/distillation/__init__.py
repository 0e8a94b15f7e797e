"""Magic state distillation circuits whose T gates are teleported, as a machine would run them.

The circuits are plain `stim.Circuit` objects in which a T gate is a tagged Stim gate, `S[T] q`, and the
correction of a teleported T gate is a tagged CZ, `CZ[C_R_ZZ(theta=0.5*pi)] rec[-1] 0 rec[-1] 1`.

The modules, each of which uses those above it:

* `parities`: which sums of qubits the T gates of a protocol act on;
* `teleported_rotation`: a T gate about a sum of qubits, by teleportation;
* `five_to_one`: the protocol that has no T gates;
* `protocol`: the whole circuit.

Examples:
    >>> from stim_nonclifford.generators.distillation import distillation_circuit
    >>> circuit = distillation_circuit("15-to-1", t_error=0.01)
    >>> circuit.num_qubits, circuit.num_measurements, circuit.num_detectors
    (6, 20, 4)
"""

from .protocol import PROTOCOL_CHOICES, GateChoice, ProtocolChoice, distillation_circuit

__all__ = ["PROTOCOL_CHOICES", "GateChoice", "ProtocolChoice", "distillation_circuit"]
