"""Circuits of other languages: OpenQASM, Qiskit, Cirq.

``angles``            radians and half-turns
``steps``             unitaries as gates with exact phases; controls and inverses
``standard_gates``    the gates of OpenQASM's libraries and of Qiskit, by name
``builder``           writes a circuit gate by gate, with classical conditions
``packages``          imports packages that are extras
``qasm``              reads and writes OpenQASM 2 and 3
``qiskit_circuits``   reads circuits of Qiskit
``cirq_circuits``     reads and writes circuits of Cirq
``circuit_methods``   the methods of ``Circuit``

Modules of packages that are extras are imported when they are used.
"""

from .circuit_methods import CircuitInterchange

__all__ = ["CircuitInterchange"]
