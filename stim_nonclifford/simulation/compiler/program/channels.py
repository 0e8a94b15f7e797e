"""Noise channels as independent error mechanisms, exactly.

A channel draws one *pattern*, an element of Z_2^m (bits: the X and Z parts on its qubits, herald bits),
with given probabilities. There are three equivalent forms:

* **patterns**: the probabilities themselves;
* **independent rates**: every pattern P occurs n_P times, n_P ~ Poisson(λ_P), and the effects are
  added mod 2. With the characters f_Q = Σ_P p_P (-1)^{P·Q} the rates are
  λ_P = 2^-m Σ_Q (-1)^{P·Q} ln f_Q. They exist if every f_Q > 0 and every λ_P >= 0;
* **site**: used if such rates do not exist. Events are drawn from a Poisson process with rate -ln(1 - Σ p).
  The first event in a shot chooses a pattern; further events have no effect.

The most likely pattern is first taken out as a constant. This covers probabilities up to 1.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache, reduce
from operator import xor

from ..algebra.gf2 import independent, ones, parities, relations
from ..algebra.paulis import X, Y, Z

_HERALD = 4  # the bit after the X and Z parts of one qubit
_ORDER_1 = (X, Y, Z)
# PAULI_CHANNEL_2 counts IX, IY, IZ, XI, ... : the last qubit runs fastest.
_ORDER_2 = tuple(a | b << 2 for a in (0, X, Y, Z) for b in (0, X, Y, Z))[1:]
_ORDER_3 = tuple(a | b << 2 | c << 4 for a in (0, X, Y, Z) for b in (0, X, Y, Z) for c in (0, X, Y, Z))[1:]
_HERALDED = tuple(_HERALD | pauli for pauli in (0, *_ORDER_1))

PAULI_CHANNELS = {
    "X_ERROR": (X,),
    "Y_ERROR": (Y,),
    "Z_ERROR": (Z,),
    "DEPOLARIZE1": _ORDER_1,
    "PAULI_CHANNEL_1": _ORDER_1,
    "DEPOLARIZE2": _ORDER_2,
    "PAULI_CHANNEL_2": _ORDER_2,
    "PAULI_CHANNEL_3": _ORDER_3,
    "HERALDED_ERASE": _HERALDED,
    "HERALDED_PAULI_CHANNEL_1": _HERALDED,
}
"""The patterns of Pauli channels, in the order of their arguments; one argument is shared equally."""

_NUM_QUBITS = {"DEPOLARIZE2": 2, "PAULI_CHANNEL_2": 2, "PAULI_CHANNEL_3": 3}
"""The number of qubits in a group of targets, if it is not 1."""

_MAX_TRANSFORM_BITS = 6
_VANISHING = 1e-12
"""A character smaller than this is a rounded zero."""


@dataclass(frozen=True)
class Channel:
    """A noise channel in a form from which error mechanisms can be constructed."""

    constant: int  # the pattern that occurs in every shot; 0 if there is none
    # (pattern, rate) of independent Poisson events, added to the constant
    rates: tuple[tuple[int, float], ...]
    # (pattern, probability) of mutually exclusive events, added to the constant. The probabilities sum
    # to less than 1. ``rates`` or ``site`` is empty
    site: tuple[tuple[int, float], ...]


def patterns_of(name: str, arguments: Sequence[float]) -> tuple[int, tuple[tuple[int, float], ...]]:
    """The number of qubits in a group of targets of a channel, and its patterns with their probabilities."""
    patterns = PAULI_CHANNELS[name]
    if len(arguments) < len(patterns):
        arguments = [arguments[0] / len(patterns)] * len(patterns)
    return _NUM_QUBITS.get(name, 1), tuple(zip(patterns, arguments, strict=True))


@lru_cache(maxsize=1024)
def channel_of_patterns(patterns: tuple[tuple[int, float], ...]) -> Channel:
    """Converts the probabilities of patterns, which may repeat, to rates or to a site.

    Pattern 0 has the rest.
    """
    total: dict[int, float] = {}
    for pattern, probability in patterns:
        if pattern and probability > 0:
            total[pattern] = total.get(pattern, 0.0) + probability
    nothing = max(0.0, 1 - math.fsum(total.values()))
    constant = max(total, key=lambda pattern: total[pattern], default=0)
    if constant and total[constant] > nothing:
        shifted = {pattern ^ constant: p for pattern, p in total.items() if pattern != constant}
        if nothing > 0:
            shifted[constant] = nothing
        total = shifted
    else:
        constant = 0
    rates = _independent_rates(total)
    if rates is not None:
        return Channel(constant, rates, ())
    return Channel(constant, (), tuple(sorted(total.items())))


@lru_cache(maxsize=1024)
def further_patterns(channel: Channel) -> tuple[tuple[int, tuple[int, ...]], ...]:
    """The patterns that occur in a channel only if several of its independent events do."""
    events = [pattern for pattern, _ in channel.rates]
    alone = {channel.constant, *(channel.constant ^ pattern for pattern in events)}
    found: dict[int, tuple[int, ...]] = {}
    reached: dict[int, tuple[int, ...]] = {0: ()}
    for event in events:
        reached |= {
            event ^ other: (*parts, event) for other, parts in reached.items() if event ^ other not in reached
        }
    for total, parts in reached.items():
        pattern = channel.constant ^ total
        if pattern and pattern not in alone:
            # A part is an error of its own together with the constant. An even number of constants vanishes.
            errors = [channel.constant ^ part for part in parts]
            if channel.constant and len(parts) % 2 == 0:
                errors.append(channel.constant)
            found[pattern] = tuple(error for error in errors if error)
    return tuple(found.items())


def independent_errors(patterns: Iterable[tuple[int, float]]) -> dict[int, float] | None:
    """Independent errors with the same distribution as a channel, by pattern, or None if there are none.

    Patterns may repeat. Pattern 0 has the remaining probability.
    """
    total: dict[int, float] = {}
    for pattern, probability in patterns:
        total[pattern] = total.get(pattern, 0.0) + probability
    rows = list(total)
    basis, dependent = relations(rows)
    if len(basis) > _MAX_TRANSFORM_BITS:
        return None
    place = {row: 1 << k for k, row in enumerate(basis)}
    for row, sources in dependent.items():
        place[row] = sum(place[source] for source in ones(sources))
    errors = _independent_errors(tuple((place[k], total[row]) for k, row in enumerate(rows)), len(basis))
    if errors is None:
        return None
    return {reduce(xor, (rows[basis[k]] for k in ones(bits)), 0): p for bits, p in errors.items()}


def _independent_errors(patterns: tuple[tuple[int, float], ...], num_bits: int) -> dict[int, float] | None:
    """As ``independent_errors``, for patterns of ``num_bits`` bits."""
    channel = channel_of_patterns(patterns)
    if not channel.site:
        errors = {pattern: -0.5 * math.expm1(-2 * rate) for pattern, rate in channel.rates}
        if channel.constant:
            errors[channel.constant] = 1 - errors.get(channel.constant, 0.0)
        return errors
    # A character vanishes if it anticommutes with an error of probability 1/2, a coin. The other characters
    # must form a group. Then the channel is a product of coins and of a channel without vanishing characters.
    characters = [
        q
        for q in range(1 << num_bits)
        if abs(1 - 2 * math.fsum(p for pattern, p in patterns if (pattern & q).bit_count() & 1)) > _VANISHING
    ]
    generators = independent(characters)
    if len(characters) != 1 << len(generators) or len(generators) == num_bits:
        return None
    everything = range(1 << num_bits)
    seen = parities(everything, [ones(generator) for generator in generators])
    rest = _independent_errors(tuple((seen[pattern], p) for pattern, p in patterns), len(generators))
    if rest is None:
        return None
    coins = independent(pattern for pattern in everything if not seen[pattern])
    return {coin: 0.5 for coin in coins} | {seen.index(bits): p for bits, p in rest.items()}


def _independent_rates(total: dict[int, float]) -> tuple[tuple[int, float], ...] | None:
    """The Poisson rates of patterns with the probabilities ``total``, or None if they do not exist."""
    if not total:
        return ()
    if len(total) == 1:
        ((pattern, probability),) = total.items()
        if probability < 0.5:
            return ((pattern, -0.5 * math.log1p(-2 * probability)),)
        return None
    num_bits = max(total).bit_length()
    if num_bits > _MAX_TRANSFORM_BITS:
        return None
    size = 1 << num_bits
    log_characters = []
    for q in range(size):
        # f_Q = 1 - 2 Σ p_P over the patterns with P·Q = 1; log1p keeps small probabilities accurate.
        seen = 2 * math.fsum(p for pattern, p in total.items() if (pattern & q).bit_count() & 1)
        if seen > 1 - _VANISHING:
            return None
        log_characters.append(math.log1p(-seen))
    rounding = 1e-13 * sum(total.values())
    rates = []
    for pattern in range(1, size):
        signed = (
            -value if (pattern & q).bit_count() & 1 else value for q, value in enumerate(log_characters)
        )
        rate = math.fsum(signed) / size
        if rate < -rounding:
            return None
        if rate > rounding:
            rates.append((pattern, rate))
    return tuple(rates)
