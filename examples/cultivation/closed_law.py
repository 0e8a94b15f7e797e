r"""The outcome law of Clifford circuits with T gates about diagonal Paulis, in closed form.

A fault before a T gate reverses it: exp(-i π/8 P) becomes exp(i π/8 P), which is the same gate followed by
the Clifford gate exp(i π/4 P). Let R be the set of reversed gates, and F_t the outcomes that P_t would flip,
inserted after gate t. In the Heisenberg picture, a product of outcomes u becomes itself times the Paulis P_t
of all t in R with which it anticommutes (F_t · u = 1). Its mean is 0 unless these cancel,

    sum over t in R of (F_t · u) F_t = 0,

and otherwise ±1, a power of i. So the outcomes m are uniform over the solutions of u · m = φ(u) for all such
u: each has the probability 2^-(number of outcomes - number of independent u).

Nothing here is from the simulations of the engines, which know angles of any size. It reads the plan only.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from stim_nonclifford.simulation.plan import MEASURE, SamplingPlan

Bits = npt.NDArray[np.bool_]
Words = npt.NDArray[np.uint64]
Floats = npt.NDArray[np.float64]

ONE = np.uint64(1)
_ONES_OF_OCTETS = np.array([octet.bit_count() for octet in range(256)])


@dataclass(frozen=True)
class _Classes:
    """The laws of several sets of reversed gates.

    Attributes:
        parities: uint64, shape (num_bits, n): the products u of outcomes that are certain; 0 for none.
        values: bool, shape (num_bits, n): their values.
        chances: float64, shape (n,): the probability of each possible row of outcomes.
    """

    parities: Words
    values: Bits
    chances: Floats


class ClosedLaw:
    """Probabilities that shots with given faults are kept and wrong.

    Args:
        plan: A plan whose rotations are T gates about diagonal Paulis, with a single output.

    Raises:
        ValueError: The plan has other operations.
    """

    def __init__(self, plan: SamplingPlan) -> None:
        signs = plan.num_signs
        outcomes = plan.outcome_effects.dense(plan.num_branch_bits)
        if outcomes[:, :signs].any() or len(plan.branch_constant) or len(plan.coins) or plan.num_outputs != 1:
            raise ValueError("The closed form has no coins, no feedback on T gates, and one output.")
        self.plan, self.num_bits = plan, plan.num_branch_bits - signs
        self.turns = np.zeros(signs, dtype=np.int64)
        flips = np.zeros((signs, self.num_bits), dtype=np.bool_)
        inserted: dict[int, int] = {}
        for operation in plan.operations:
            x, z, pivot = (int(operation[name]) for name in ("x", "z", "pivot"))
            if operation["kind"] == MEASURE:
                for sign, pauli in inserted.items():
                    if (pauli & x).bit_count() % 2:
                        flips[sign] ^= outcomes[operation["outcome"], signs:]
                    below = pauli & ((1 << pivot) - 1)
                    inserted[sign] = below | pauli >> pivot + 1 << pivot
                continue
            for term in plan.rotation_terms[operation["first_term"] : operation["end_term"]]:
                is_eighth = math.isclose(abs(term["sine"]), math.sin(math.pi / 8), rel_tol=1e-9)
                if x or not is_eighth:
                    raise ValueError("The closed form has T gates about diagonal Paulis only.")
                if term["sign"] >= 0:
                    inserted[int(term["sign"])] = z
                    self.turns[term["sign"]] = np.sign(term["sine"]) * (1 - 2 * term["is_reversed"])
        left = max(pauli.bit_length() for pauli in inserted.values())
        rest = np.array(
            [[inserted[t] >> bit & 1 for bit in range(left)] for t in range(signs)], dtype=np.bool_
        )
        self.flips, self.num_rest = flips, left
        self.inserted, self.all_inserted = packed(flips)[:, 0], packed(np.hstack([flips, rest]))[:, 0]
        # For each eight gates and each of their subsets: all bits that these gates flip.
        self.touched = np.zeros((-(-signs // 8), 256), dtype=np.uint64)
        for gate, bits in enumerate(self.inserted):
            self.touched[gate // 8, np.arange(256) >> gate % 8 & 1 == 1] |= bits

    def branch_rows(self, rows: Bits) -> tuple[Bits, Words]:
        """What rows of the plan mean.

        Args:
            rows: bool, shape (n, num_row_bits).

        Returns:
            bool, shape (n, num_signs): the reversed gates; and uint64, shape (n,): the outcome checks that
            must be flipped, followed by the output.
        """
        plan = self.plan
        images = plan.signature_images.dense(plan.num_branch_bits).astype(np.float32)
        signature = rows[:, plan.num_checks : plan.num_checks + plan.num_signature_bits]
        branch = (signature.astype(np.float32) @ images).astype(np.int64) % 2 == 1
        branch[:, -1] ^= rows[:, -1]
        return branch[:, : plan.num_signs], packed(branch[:, plan.num_signs :])[:, 0]

    def kept_and_wrong(self, reversed_gates: Words, flipped: Words) -> Floats:
        """The probability that a shot is kept and wrong.

        Args:
            reversed_gates: uint64, shape (n, words): packed reversed gates.
            flipped: uint64, shape (n,): the outcome checks, and the output, that faults flip.
        """
        wanted, fails = flipped ^ ONE << np.uint64(self.num_bits - 1), np.zeros(len(flipped))
        # Most are told from this alone: a bit that no reversed gate flips is 0.
        octets = np.ascontiguousarray(reversed_gates.astype("<u8")).view(np.uint8)
        free = np.zeros(len(flipped), dtype=np.uint64)
        for table, column in zip(self.touched, octets.T, strict=False):
            free |= table[column]
        left = np.flatnonzero(wanted & ~free == 0)
        keys = np.ascontiguousarray(reversed_gates[left]).view(
            np.dtype((np.void, 8 * reversed_gates.shape[1]))
        )
        _, first, which = np.unique(keys.ravel(), return_index=True, return_inverse=True)
        laws = self._classes(reversed_gates[left[first]])
        for parities, values in zip(laws.parities, laws.values, strict=True):
            possible = _is_odd(parities[which] & wanted[left]) == values[which]
            left, which = left[possible], which[possible]
        fails[left] = laws.chances[which]
        return fails

    def _classes(self, reversed_gates: Words) -> _Classes:
        count, bits = len(reversed_gates), self.num_bits
        is_reversed = np.unpackbits(
            reversed_gates.astype("<u8").view(np.uint8), axis=1, count=len(self.turns), bitorder="little"
        ).astype(np.bool_)
        images = np.zeros((bits, count), dtype=np.uint64)
        for bit, gate in zip(*np.nonzero(self.flips.T), strict=True):
            images[bit] ^= np.where(is_reversed[:, gate], self.all_inserted[gate], np.uint64(0))
        kernel = np.repeat(ONE << np.arange(bits, dtype=np.uint64)[:, np.newaxis], count, axis=1)
        for bit in range(bits + self.num_rest):
            has = (images >> np.uint64(bit) & ONE).astype(np.bool_)
            at = np.flatnonzero(has.any(axis=0))
            pivot = has[:, at].argmax(axis=0)
            for words in (images, kernel):
                words[:, at] ^= np.where(has[:, at], words[pivot, at], np.uint64(0))
            kernel[pivot, at] = 0
        powers = np.zeros((bits, count), dtype=np.int64)
        for gate, turn in enumerate(self.turns):
            powers += turn * (_is_odd(kernel & self.inserted[gate]) & is_reversed[:, gate])
        return _Classes(kernel, powers % 4 == 2, 0.5 ** (bits - np.count_nonzero(kernel, axis=0)))


def packed(bits: Bits) -> Words:
    """Rows of bits in words, least significant bit first: uint64, shape (n, at least 1)."""
    words = np.zeros((len(bits), max(1, -(-bits.shape[1] // 64)) * 8), dtype=np.uint8)
    words[:, : -(-bits.shape[1] // 8)] = np.packbits(bits, axis=1, bitorder="little")
    result: Words = words.view("<u8").astype(np.uint64)
    return result


def xor_at(words: Words, members: npt.NDArray[np.int64]) -> Words:
    """The XOR of the words of the members of each set."""
    result: Words = np.bitwise_xor.reduce(words[members], axis=1)
    return result


def ones(words: Words) -> npt.NDArray[np.int64]:
    """The number of bits that are 1, for each word."""
    if hasattr(np, "bitwise_count"):
        return np.bitwise_count(words).astype(np.int64)
    octets = np.ascontiguousarray(words)[..., np.newaxis].view(np.uint8)
    result: npt.NDArray[np.int64] = _ONES_OF_OCTETS[octets].sum(axis=-1)
    return result


def _is_odd(words: Words) -> Bits:
    result: Bits = ones(words) % 2 == 1
    return result
