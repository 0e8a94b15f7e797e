"""Circuits of other languages: OpenQASM, Qiskit, Cirq; see ``docs/start/coming_from.md``.

``angles``            radians and half-turns
``steps``             unitaries as gates with exact phases; controls and inverses
``standard_gates``    the gates of OpenQASM's libraries and of Qiskit, by name
``builder``           writes a circuit gate by gate, with classical conditions
``packages``          imports packages that are extras
``qasm``              reads and writes OpenQASM 2 and 3
``qiskit_circuits``   reads circuits of Qiskit
``qiskit_noise``      reads channels, and the noise models of Aer
``cirq_circuits``     reads and writes circuits of Cirq

Modules of packages that are extras are imported when they are used.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import stim

from ...base.arguments import flag, integer, refuse_argument, text
from .angles import Delays
from .packages import needed

__all__ = ["cirq_of", "qasm_of", "read_cirq", "read_qasm", "read_qiskit"]


def read_qasm(program: str, relaxation_times: Any, dt: float | None) -> stim.Circuit:
    """The tagged circuit of a program in OpenQASM; see ``Circuit.from_qasm``."""
    program = text(program, "program")
    needed("openqasm3.parser", "from_qasm", "openqasm3[parser]", "qasm")
    from .qasm import reader

    return reader.read_qasm(program, Delays.of(relaxation_times, dt))


def qasm_of(
    circuit: stim.Circuit,
    open_qasm_version: Literal[2, 3],
    skip_dets_and_obs: bool,
    reference_sample: Callable[[], npt.NDArray[np.bool_]],
) -> str:
    """A tagged circuit as an OpenQASM program; see ``Circuit.to_qasm``."""
    version = integer(open_qasm_version, "open_qasm_version")
    if version not in (2, 3):
        refuse_argument("open_qasm_version", "2 or 3", version, kind=ValueError)
    skip = flag(skip_dets_and_obs, "skip_dets_and_obs")
    from .qasm import writer

    return writer.qasm_of(circuit, version, skip, reference_sample)


def read_qiskit(circuit: Any, relaxation_times: Any, dt: float | None, noise_model: Any) -> stim.Circuit:
    """The tagged circuit of a circuit of Qiskit; see ``Circuit.from_qiskit``."""
    needed("qiskit", "from_qiskit", "qiskit>=1.3", "qiskit")
    from . import qiskit_circuits

    return qiskit_circuits.read_qiskit(circuit, Delays.of(relaxation_times, dt), noise_model)


def read_cirq(circuit: Any, relaxation_times: Any) -> stim.Circuit:
    """The tagged circuit of a circuit of Cirq; see ``Circuit.from_cirq``."""
    needed("stimcirq", "from_cirq", "stimcirq>=1.16", "cirq")
    from . import cirq_circuits

    return cirq_circuits.read_cirq(circuit, Delays.of(relaxation_times, None))


def cirq_of(circuit: stim.Circuit) -> Any:
    """A tagged circuit as a circuit of Cirq; see ``Circuit.to_cirq``."""
    needed("stimcirq", "to_cirq", "stimcirq>=1.16", "cirq")
    from . import cirq_circuits

    return cirq_circuits.cirq_of(circuit)
