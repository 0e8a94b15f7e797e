"""The circuit language: Stim's language with non-Clifford gates, which are tagged or bare.

``gates`` is the table of non-Clifford gates, ``conditional`` defines gates that a record controls, and
``names`` finds both. ``tags`` reads and writes the tags that stand for them, ``control_pairs`` the targets of
conditional gates, and ``expectation_values`` the tags of EXP_VAL. ``targets`` lists the targets that
``append`` is given. ``bare_gates`` translates a bare gate (``T 0``) to a tagged one, ``text`` translates
whole circuits, also back, and ``inverse`` inverts gates. Stim itself parses the translated text.
``exact_text`` writes it with all digits. ``channels`` has the noise that Stim does not have: relaxation,
quasi-static noise, Kraus operators, Pauli errors on three qubits, readout noise, leakage and loss, and what
is refused.
"""

from .bare_gates import tagged_instruction
from .channels.channel_tags import TaggedChannel
from .channels.kraus import Kraus, kraus_of, values_of_operators
from .channels.leakage import leakage_of
from .channels.quasistatic import Quasistatic, quasistatic_of
from .channels.readout import ReadoutNoise, readout_noise_of, without_noise
from .channels.relaxation import Relaxation, decay_parts, relaxation_of
from .channels.table import channel_of, has_tag_of_channel, num_qubits_of_channel
from .channels.three_qubit_errors import ThreeQubitErrors, three_qubit_errors_of
from .exact_text import exact_text
from .expectation_values import expectation_products, is_expectation, num_expectations
from .feed_forward.blocks import (
    NO_TRAJECTORY,
    Condition,
    check_static,
    check_unconditional,
    condition_of_block,
    first_conditional_block,
    has_condition,
    has_no_tags,
)
from .feed_forward.control_pairs import groups_of_pairs
from .feed_forward.decisions import (
    NO_DECODER,
    Decision,
    check_no_decisions,
    decision_of,
    first_decision,
    without_decisions,
)
from .gates import (
    CONDITIONAL_CARRIER,
    GATES,
    PRODUCT,
    CliffordPart,
    GateDefinition,
    Part,
    RotationPart,
)
from .inverse import inverse_of_tagged
from .names import gate_named
from .tags import NonCliffordGate, gate_from_tag, target_groups
from .targets import is_on_qubit, listed_targets
from .text import (
    TOO_DEEP,
    advice_on_name,
    bare_name,
    circuit_repr,
    extended_text,
    is_too_deep,
    parse,
    with_checked_tags,
)

__all__ = [
    "CONDITIONAL_CARRIER",
    "GATES",
    "NO_DECODER",
    "NO_TRAJECTORY",
    "PRODUCT",
    "TOO_DEEP",
    "CliffordPart",
    "Condition",
    "Decision",
    "GateDefinition",
    "Kraus",
    "NonCliffordGate",
    "Part",
    "Quasistatic",
    "ReadoutNoise",
    "Relaxation",
    "RotationPart",
    "TaggedChannel",
    "ThreeQubitErrors",
    "advice_on_name",
    "bare_name",
    "channel_of",
    "check_no_decisions",
    "check_static",
    "check_unconditional",
    "circuit_repr",
    "condition_of_block",
    "decay_parts",
    "decision_of",
    "exact_text",
    "expectation_products",
    "extended_text",
    "first_conditional_block",
    "first_decision",
    "gate_from_tag",
    "gate_named",
    "groups_of_pairs",
    "has_condition",
    "has_no_tags",
    "has_tag_of_channel",
    "inverse_of_tagged",
    "is_expectation",
    "is_on_qubit",
    "is_too_deep",
    "kraus_of",
    "leakage_of",
    "listed_targets",
    "num_expectations",
    "num_qubits_of_channel",
    "parse",
    "quasistatic_of",
    "readout_noise_of",
    "relaxation_of",
    "tagged_instruction",
    "target_groups",
    "three_qubit_errors_of",
    "values_of_operators",
    "with_checked_tags",
    "without_decisions",
    "without_noise",
]
