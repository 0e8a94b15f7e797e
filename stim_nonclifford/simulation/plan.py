"""The plan: a circuit compiled for one question, as plain arrays. Engines read nothing else.

A shot has three stages.

1. **Noise.** The number of events is drawn from a Poisson distribution. Each event is one *mechanism*, drawn
   with a probability proportional to its rate. The *row* of the shot is the XOR of ``constant``, the effects
   of its events, and each coin with probability 1/2. The bits of a row are, in this order: noise-only checks,
   signature, outputs. An event of leakage has a *script* in place of an effect: see ``LEAKAGE_ITEM_DTYPE``.
   A record that *decays* flips what its record flips, if it differs from the value that it decays to.
2. **Noise-only checks.** If a check is 1, the shot is discarded before any quantum work: whatever the quantum
   outcomes are, a postselected output is 1.
3. **Outcomes.** The *branch row* starts as ``branch_constant`` XOR the images of the signature bits that are
   1. Its bits are, in this order: signs of rotations, outcome checks, outputs. The operations are applied to
   the coefficient vector. A measurement with outcome 1 flips its bits of the branch row. If an outcome check
   is 1 when it becomes final, the shot is discarded. The outputs of the shot are those of its row XOR those
   of its branch row.

The distribution of the outcomes in stage 3 depends on the signature alone. It is the **outcome law** of the
signature.

Sparse rows are stored as in CSR: the bits of row r are ``bits[starts[r]:starts[r + 1]]``.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, fields
from itertools import chain
from types import SimpleNamespace
from typing import Literal

import numpy as np
import numpy.typing as npt

from .. import _native

ROTATE, ACTIVATE, MEASURE, EXPECT = (_native.ROTATE, _native.ACTIVATE, _native.MEASURE, _native.EXPECT)
"""Kinds of operation; ``compiler.sweeps.operations.OperationKind`` says what each does."""

LEAKAGE_CHANGE, LEAKAGE_FLIP, LEAKAGE_MIX, LEAKAGE_END, LEAKAGE_SPREAD, LEAKAGE_MOVE = (
    _native.LEAKAGE_CHANGE,
    _native.LEAKAGE_FLIP,
    _native.LEAKAGE_MIX,
    _native.LEAKAGE_END,
    _native.LEAKAGE_SPREAD,
    _native.LEAKAGE_MOVE,
)
"""Kinds of items of the scripts of leakage."""

BLOCK_SHOTS = _native.BLOCK_SHOTS
"""Shots that share one random stream of noise; part of the definition of what a seed gives."""

MAX_INDEX_BITS = _native.MAX_INDEX_BITS
"""Bits of a coefficient index, and of a mask in ``OPERATION_DTYPE``: no vector can have more coordinates."""

_MAX_REGISTER_WORDS = 8
"""Rows of so few words are kept in registers, and all tables consist of words."""

_ONES_PER_ENTRY = 4
"""Flipping up to this many bits takes as long as flipping one."""

_WORDS_PER_ONE = 4
"""XORing so many words takes about as long as flipping one bit: ``python -m benchmarks.compare lists``."""

_TABLES = ("effects", "coins", "signature_images", "outcome_effects", "readouts")

_FORM: Literal["words", "lists"] | None = None
"""The form of all tables of rows, in place of the faster one. Shots do not depend on it; tests set it."""

OPERATION_DTYPE = np.dtype(
    [
        ("x", np.uint64),  # bits of the coefficient index that the Pauli flips, below MAX_INDEX_BITS
        ("z", np.uint64),  # the same of bits whose parity is the sign in the Pauli
        ("kind", np.int32),  # ROTATE, ACTIVATE or MEASURE; EXPECT in no plan
        ("width", np.int32),  # active coordinates before the operation
        ("i_power", np.int32),  # the Pauli is i^i_power (-1)^|index & z| |index ^ x><index|
        ("pivot", np.int32),  # the index bit that ACTIVATE adds or a measurement removes; 0 for ROTATE
        ("outcome", np.int32),  # number of a measurement's outcome or of an EXPECT's value; else -1
        ("segment", np.int32),  # number of measurements before the operation
        ("first_term", np.int32),  # the angle of the rotation is the sum of those of its terms,
        ("end_term", np.int32),  # rotation_terms[first_term:end_term]
    ],
    align=True,
)

ROTATION_TERM_DTYPE = np.dtype(
    [
        ("cosine", np.float64),  # of half the rotation angle
        ("sine", np.float64),
        ("sign", np.int32),  # the bit of the branch row that reverses the angle; -1 if there is none
        ("is_reversed", np.int32),  # 1 if it is about minus the operation's Pauli; 0 for first terms
    ],
    align=True,
)


LEAKAGE_ITEM_DTYPE = np.dtype(
    [
        ("threshold", np.uint64),  # an item happens if a uniform 64-bit word is <= this; 2^64 - 1: always
        ("kind", np.int32),  # LEAKAGE_CHANGE, LEAKAGE_FLIP, and so on
        ("states", np.int32),  # mask of the states of the qubit in which the item is followed
        ("to", np.int32),  # of LEAKAGE_CHANGE: the new state; of LEAKAGE_FLIP: how many items it skips
        ("first_row", np.int32),  # of the others, the rows of leakage_rows
        ("end_row", np.int32),  # that they flip: leakage_rows[first_row:end_row]
        ("qubit", np.int32),  # the qubit of the script that the item is about
        ("partner", np.int32),  # of LEAKAGE_SPREAD and LEAKAGE_MOVE: another qubit of the script; else 0
    ],
    align=True,
)
"""The items of scripts. A script is about one qubit, or about several between which leakage spreads. Each is
computational (0), leaked (1) or lost (2).

An event enters the script behind the LEAKAGE_CHANGE that happens, and follows it to its LEAKAGE_END. All
other qubits of the script are computational then. An item that is not for the state of its qubit is skipped.
LEAKAGE_CHANGE changes the state, and LEAKAGE_FLIP flips its rows, if the item happens. A LEAKAGE_FLIP that
happens skips some of the next items, which are others of its kind. LEAKAGE_MIX flips each of its rows with
probability 1/2. LEAKAGE_SPREAD and LEAKAGE_MOVE are skipped, too, if the partner is not computational. If
they happen, it comes into the state of the qubit, which LEAKAGE_MOVE makes computational.

A shot takes the words of its stream LEAKAGE one after the other, from word 1 on: each item that may happen or
not takes the next one. LEAKAGE_MIX takes bits for its rows from the last one to the first, for at most 64
rows at a time: as many of the lowest bits that are left of the last word taken for this, or, if fewer are
left, those of the next word; the lowest bit is for the last row.

The first event of a shot is followed after all others, and after the coins. If nothing but LEAKAGE_FLIP lies
between its change and a LEAKAGE_MIX that is the last item, word 0 decides about the rows with final checks,
in place of the bits taken for them: its lowest bit is the value that the final check of the last such row has
after it, and the row is flipped if the check has the other value before. So a shot is discarded if any of
these bits is 1.
"""


@dataclass(frozen=True)
class SparseRows:
    """Rows of bits, stored as the positions of their ones."""

    starts: npt.NDArray[np.int64]  # int64, shape (num_rows + 1,)
    # int32, shape (starts[-1],); row r has ones at ``bits[starts[r]:starts[r + 1]]``
    bits: npt.NDArray[np.int32]

    def __len__(self) -> int:
        return len(self.starts) - 1

    @staticmethod
    def of(rows: Iterable[Sequence[int]]) -> SparseRows:
        """The rows with ones at these positions."""
        rows = list(rows)
        starts = np.zeros(len(rows) + 1, dtype=np.int64)
        np.cumsum([len(row) for row in rows], out=starts[1:])
        return SparseRows(starts, np.fromiter(chain.from_iterable(rows), dtype=np.int32, count=starts[-1]))

    def row(self, index: int) -> npt.NDArray[np.int32]:
        """The positions of the ones in a row."""
        return self.bits[self.starts[index] : self.starts[index + 1]]

    def split(self, count: int) -> tuple[SparseRows, SparseRows]:
        """The first rows, and the others.

        Examples:
            >>> first, others = SparseRows.of([[0], [1, 2], []]).split(1)
            >>> first.row(0).tolist(), others.row(0).tolist()
            ([0], [1, 2])
        """
        place = self.starts[count]
        first = SparseRows(self.starts[: count + 1], self.bits[:place])
        return first, SparseRows(self.starts[count:] - place, self.bits[place:])

    def dense(self, num_bits: int) -> npt.NDArray[np.bool_]:
        """The rows as booleans, shape (num_rows, num_bits)."""
        result = np.zeros((len(self), num_bits), dtype=np.bool_)
        result[np.repeat(np.arange(len(self)), np.diff(self.starts)), self.bits] = True
        return result


@dataclass(frozen=True)
class SamplingPlan:
    """A plan; see the description of the module. All arrays are C-contiguous, and must not be written to.

    Attributes:
        num_checks: Number of noise-only checks, the first bits of a row.
        num_signature_bits: Number of signature bits, the next bits of a row.
        num_outputs: Number of outputs, the last bits of a row and of a branch row.
        never_kept: Whether the checks contradict each other, so that every shot is discarded.
        row_sources: For each bit of a row, the bits of an effect (``compiler.sweeps.effects``) whose
            parity it is. Engines do not need it.
        constant: The bits of a row that are 1 before noise, int32. No signature bit is among them.
        effects: For each mechanism, the bits of the row that it flips.
        rates: float64, shape (num_mechanisms,): mean number of events per shot.
        sites: int32, shape (num_mechanisms,): the site of each mechanism, or -1. Mechanisms at the same site
            exclude each other: after the first event at a site, further ones in the same shot have no effect.
        count_thresholds: uint64: the number of events is the number of thresholds <= a uniform 64-bit word.
        alias_thresholds: uint64, shape (num_mechanisms,): alias table (A. J. Walker, 1977).
        alias_indices: int32, shape (num_mechanisms,): alias table.
        coins: For each coin, the bits of the row that it flips with probability 1/2.
        operations: The operations, of dtype ``OPERATION_DTYPE``.
        operation_steps: int32, shape (num_operations,): the step of the compiler's program that has the
            measurement; -1 for rotations. Engines do not need it.
        rotation_terms: The rotation terms of all operations, of dtype ``ROTATION_TERM_DTYPE``, in the order
            of the operations.
        rotation_term_steps: int32, shape (num_terms,): the step of the compiler's program that has the
            rotation. Engines do not need it.
        num_signs: Number of signs, the first bits of a branch row.
        num_outcome_checks: Number of outcome checks, the next bits of a branch row.
        branch_constant: The bits of the branch row that are 1 for signature 0, int32.
        signature_images: For each signature bit, the bits of the branch row that it flips.
        outcome_effects: For each outcome, the bits of the branch row that it flips.
        outcome_check_deadlines: int32, shape (num_outcome_checks,): the number of the outcome after which the
            check is final.
        peak_width: Largest number of active coordinates. One that is activated and measured at once does not
            count (``compiler.sweeps.operations.measure_weakly``).
        leakage_items: The scripts of leakage one after the other, of dtype ``LEAKAGE_ITEM_DTYPE``.
        leakage_rows: The rows that they flip.
        leakage_final_checks: int32, shape (len(leakage_rows),): for a row of a LEAKAGE_MIX a check that is in
            no earlier row of the item, or -1. An item has at most 64 of them.
        leakage_entries: int32: the last mechanisms are events of leakage, one for each entry: the item that
            happens. They have sites, and effects without bits.
        leakage_always: int32: the first items of scripts that each shot follows from a computational qubit
            on, before its events.
        decisions: For each bit that a decoder decides, the bits of the row that its flip flips. If there are
            any, each outcome has a random number of its own, whatever the others are.
        num_readout_decays: Number of records that may decay to a value. The last mechanisms before those of
            leakage are their events, in the order of the circuit. Their effect is that of a flip of the
            record. It counts if the record differs from that value, after all else and earlier decays. There
            is a *bit of a readout* for each decay; the sum of these along its chain, up to the decay itself,
            says whether the record differs.
        readout_constant: The bits of readouts that are 1 before noise, int32.
        readout_predecessors: int32, shape (num_readout_decays,): the previous decay of the chain, or -1.
        event_readouts: For each mechanism, the bits of readouts that it flips.
        coin_readouts: For each coin, the bits of readouts that it flips.
        leakage_readouts: For each of ``leakage_rows``, the bits of readouts that it flips.
        hidden_coins: For each coin that flips no bit of a row, the bits of readouts that it flips.
        high_x: For each operation, the bits of its ``x`` from ``MAX_INDEX_BITS`` on; no rows if there are no
            such bits. Only an elimination simulates plans with so many coordinates.
        high_z: For each operation, those of its ``z``.
    """

    num_checks: int
    num_signature_bits: int
    num_outputs: int
    never_kept: bool
    row_sources: SparseRows
    constant: npt.NDArray[np.int32]
    effects: SparseRows
    rates: npt.NDArray[np.float64]
    sites: npt.NDArray[np.int32]
    count_thresholds: npt.NDArray[np.uint64]
    alias_thresholds: npt.NDArray[np.uint64]
    alias_indices: npt.NDArray[np.int32]
    coins: SparseRows
    operations: npt.NDArray[np.void]
    operation_steps: npt.NDArray[np.int32]
    rotation_terms: npt.NDArray[np.void]
    rotation_term_steps: npt.NDArray[np.int32]
    num_signs: int
    num_outcome_checks: int
    branch_constant: npt.NDArray[np.int32]
    signature_images: SparseRows
    outcome_effects: SparseRows
    outcome_check_deadlines: npt.NDArray[np.int32]
    peak_width: int
    leakage_items: npt.NDArray[np.void] = field(default_factory=lambda: np.zeros(0, LEAKAGE_ITEM_DTYPE))
    leakage_rows: SparseRows = field(default_factory=lambda: SparseRows.of([]))
    leakage_final_checks: npt.NDArray[np.int32] = field(default_factory=lambda: np.zeros(0, np.int32))
    leakage_entries: npt.NDArray[np.int32] = field(default_factory=lambda: np.zeros(0, np.int32))
    leakage_always: npt.NDArray[np.int32] = field(default_factory=lambda: np.zeros(0, np.int32))
    decisions: SparseRows = field(default_factory=lambda: SparseRows.of([]))
    num_readout_decays: int = 0
    readout_constant: npt.NDArray[np.int32] = field(default_factory=lambda: np.zeros(0, np.int32))
    readout_predecessors: npt.NDArray[np.int32] = field(default_factory=lambda: np.zeros(0, np.int32))
    event_readouts: SparseRows = field(default_factory=lambda: SparseRows.of([]))
    coin_readouts: SparseRows = field(default_factory=lambda: SparseRows.of([]))
    leakage_readouts: SparseRows = field(default_factory=lambda: SparseRows.of([]))
    hidden_coins: SparseRows = field(default_factory=lambda: SparseRows.of([]))
    high_x: SparseRows = field(default_factory=lambda: SparseRows.of([]))
    high_z: SparseRows = field(default_factory=lambda: SparseRows.of([]))

    @property
    def has_leakage(self) -> bool:
        """Whether any qubit can be leaked or lost, and change a shot."""
        return len(self.leakage_items) > 0

    @property
    def separate_draws(self) -> bool:
        """Whether each outcome has a random number of its own, as a plan with decisions needs it.

        Shots are drawn several times, with more and more bits decided. What was drawn before a decision must
        not depend on it, in whatever order the outcomes are drawn.
        """
        return len(self.decisions) > 0

    @property
    def num_mechanisms(self) -> int:
        """Number of error mechanisms with distinct effects."""
        return len(self.rates)

    @property
    def num_outcomes(self) -> int:
        """Number of measurements of the coefficient vector."""
        return len(self.outcome_effects)

    @property
    def mean_events(self) -> float:
        """Mean number of noise events per shot."""
        return float(self.rates.sum())

    @property
    def total_coefficients(self) -> int:
        """The coefficients of all operations: a measure of the work to simulate a shot from the start.

        Diagonal rotations need no pass through the vector of their own, and do not count.
        """
        kinds, weak = self.operations["kind"], self.in_weak_measurements
        passes = np.where(weak, kinds == ACTIVATE, (kinds != ROTATE) | self.flips_index)
        widths = (self.operations["width"] + np.where(weak, 0, kinds == ACTIVATE))[passes]
        return sum(count << width for width, count in enumerate(np.bincount(widths).tolist()))

    @property
    def flips_index(self) -> npt.NDArray[np.bool_]:
        """The operations whose Paulis flip bits of the coefficient index."""
        found = self.operations["x"] != 0
        return found | (np.diff(self.high_x.starts) > 0) if len(self.high_x) else found

    @property
    def in_weak_measurements(self) -> npt.NDArray[np.bool_]:
        """The operations that activate a coordinate about Z, and those that measure an X on it at once.

        Both together count as one pass, through the vector as it is before and after them.
        """
        first, then = self.operations[:-1], self.operations[1:]
        flips = self.flips_index
        activates = (first["kind"] == ACTIVATE) & ~flips[:-1]
        measures = (then["kind"] == MEASURE) & flips[1:] & (then["pivot"] == first["pivot"])
        found = np.zeros(len(self.operations), dtype=np.bool_)
        found[:-1] = activates & measures
        found[1:] |= activates & measures
        return found

    @property
    def num_row_bits(self) -> int:
        """Length of a row."""
        return self.num_checks + self.num_signature_bits + self.num_outputs

    @property
    def num_branch_bits(self) -> int:
        """Length of a branch row."""
        return self.num_signs + self.num_outcome_checks + self.num_outputs

    @property
    def num_row_words(self) -> int:
        """Words of a packed row; checks, signature and outputs start at words of their own."""
        return sum(-(-bits // 64) for bits in (self.num_checks, self.num_signature_bits, self.num_outputs))

    @property
    def effects_are_lists(self) -> bool:
        """Whether engines keep the effects of mechanisms as lists of bits; otherwise as packed words."""
        return _are_lists(self.effects, self.rates, self.num_row_words)

    @property
    def readouts_are_lists(self) -> bool:
        """Whether engines keep the records that events, coins and leakage flip as lists of bits."""
        return _are_lists(self.event_readouts, self.rates, -(-self.num_readout_decays // 64))

    @property
    def coins_are_lists(self) -> bool:
        """Whether engines keep the effects of coins as lists of bits."""
        return _are_lists(self.coins, np.ones(len(self.coins)), self.num_row_words)

    @property
    def num_branch_words(self) -> int:
        """Words of a packed branch row; signs and outcome checks share words, outputs have their own."""
        return sum(-(-bits // 64) for bits in (self.num_signs + self.num_outcome_checks, self.num_outputs))

    @property
    def signature_images_are_lists(self) -> bool:
        """Whether engines keep the images of signature bits as lists of bits."""
        rows = self.signature_images
        return _are_lists(rows, np.ones(len(rows)), self.num_branch_words)

    @property
    def outcome_effects_are_lists(self) -> bool:
        """Whether engines keep effects of outcomes, and checks final after them, as lists of bits."""
        rows = self.outcome_effects
        return _are_lists(rows, np.ones(len(rows)), self.num_branch_words)

    def row_of(self, effect: int) -> npt.NDArray[np.bool_]:
        """The bits of the row that an effect flips.

        Args:
            effect: An effect (``compiler.sweeps.effects``), for example that of a fault.

        Returns:
            bool, shape (num_row_bits,).
        """
        packed = np.frombuffer(effect.to_bytes(effect.bit_length() // 8 + 1, "little"), dtype=np.uint8)
        bits = np.unpackbits(packed, bitorder="little")
        sources = self.row_sources
        flips = np.zeros(len(sources.bits), dtype=np.int64)
        inside = sources.bits < len(bits)
        flips[inside] = bits[sources.bits[inside]]
        sums = np.concatenate(([0], np.cumsum(flips)))[sources.starts]
        return np.diff(sums) % 2 == 1

    def __str__(self) -> str:
        activations = int((self.operations["kind"] == ACTIVATE).sum())
        counts = (
            f"{len(self.rotation_terms) - activations} rotations, {activations} activations,"
            f" {self.num_outcomes} measurements"
        )
        leakage = f", {len(self.leakage_entries)} of them leakage" if self.has_leakage else ""
        if self.num_readout_decays:
            leakage = f", {self.num_readout_decays} of them decays of a record{leakage}"
        return (
            f"Plan: {self.num_mechanisms} mechanisms ({self.mean_events:.4g} events per shot){leakage},"
            f" {len(self.coins)} coins;"
            f" {self.num_checks} noise-only checks, {self.num_signature_bits} signature bits,"
            f" {self.num_outputs} outputs; {counts}, {self.num_outcome_checks} outcome checks;"
            f" peak width {self.peak_width} (2^{self.peak_width} coefficients)"
        )

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, SamplingPlan):
            return NotImplemented
        return all(_same(getattr(self, f.name), getattr(other, f.name)) for f in dataclasses.fields(self))

    __hash__ = None  # type: ignore[assignment]


def choices_of_sites(plan: SamplingPlan) -> Iterator[tuple[npt.NDArray[np.intp], float]]:
    """For each site of a plan, the mechanisms that exclude each other there, and the sum of their rates."""
    for site in np.unique(plan.sites[plan.sites >= 0]):
        choices = np.flatnonzero(plan.sites == site)
        yield choices, float(plan.rates[choices].sum())


def plain_attributes(plan: SamplingPlan) -> SimpleNamespace:
    r"""All that the native module reads of a plan, computed.

    The native module may not run Python code, such as a property: when a program ends, Python ends daemon
    threads in the middle of such code, and there may be no C++ function on the stack then.

    Examples:
        >>> import stim_nonclifford as snc
        >>> attributes = plain_attributes(snc.Circuit("X_ERROR(0.1) 0\nM 0").compile().record_plan())
        >>> attributes.num_outputs, attributes.effects_are_lists
        (1, False)
    """
    names = [field.name for field in fields(plan)]
    names += ["separate_draws"]
    names += [f"{rows}_are_lists" for rows in _TABLES]
    try:
        return SimpleNamespace(**{name: getattr(plan, name) for name in names})
    except AttributeError as error:
        raise ValueError(
            f"The plan is not complete ({error}). If another version of stim_nonclifford made and pickled it,"
            " compile the circuit anew."
        ) from None


def _are_lists(rows: SparseRows, rates: npt.NDArray[np.float64], num_words: int) -> bool:
    """Whether lists are the faster form of rows that are used at these rates."""
    if _FORM is not None:
        return _FORM == "lists"
    ones = float(np.diff(rows.starts) @ rates)
    most = max(_ONES_PER_ENTRY, num_words / _WORDS_PER_ONE)
    return num_words > _MAX_REGISTER_WORDS and ones <= most * float(rates.sum())


def _same(a: object, b: object) -> bool:
    if isinstance(a, SparseRows) and isinstance(b, SparseRows):
        return np.array_equal(a.starts, b.starts) and np.array_equal(a.bits, b.bits)
    if isinstance(a, np.ndarray) and isinstance(b, np.ndarray):
        return np.array_equal(a, b)
    return a == b
