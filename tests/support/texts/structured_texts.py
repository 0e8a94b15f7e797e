"""Circuit texts that are large in structure: huge numbers of qubits, repetitions, targets, lines and levels."""

import random
import re
import signal
import sys
import warnings
from collections.abc import Callable
from typing import TypeVar

import stim_nonclifford as snc

from .mutated_texts import CORPUS, mutated_text

_T = TypeVar("_T")

SECONDS = 10
"""Time of the processor that a call may take: to parse, to compile, or to compile once more and sample."""

INDICES = [7, 99, 1000, 4095, 10_203, 65_535, 100_000, 999_999, 1 << 20, 16_777_214, 16_777_215, 16_777_216]
BEYOND = [1 << 31, 1 << 32, 1 << 63, 1 << 64, 10**30]
# Most texts are short, so that there can be many; a few are as long as texts get.
REPETITIONS = [
    *[1, 2, 3, 10, 64, 300, 1000, 1001] * 12,
    *(4096, 10**4, 10**5, 10**6, 4_194_304, 10**7, 10**9),
    *(10**12, 10**18, (1 << 62) - 1, (1 << 63) - 1, 1 << 63, (1 << 64) - 1, 1 << 64, 10**30, 0),
]
DEPTHS = [1, 2, 3, 10, 50, 98, 99, 100, 101, 102, 1000, 10_000, 100_000, 300_000]
COUNTS = [*[10, 64, 65, 100, 255, 1000] * 12, *[2048, 4097, 10_000] * 2, 30_000, 65_536, 100_000, 1_000_000]
LINE_COUNTS = [*[10, 33, 100] * 16, *[1000] * 4, *[10_000], 100_000]
MAX_CHARACTERS = 10_000_000
RECORDS = [1, 2, 3, 100, 65_536, (1 << 24) - 1, 1 << 24, 1 << 31, 1 << 32, 10**20]
OBSERVABLES = [
    *(0, 1, 31, 32, 63, 64, 65, 1000, 65_536, 100_000, 1_000_000, (1 << 20) - 1, 1 << 20, (1 << 24) - 1),
    *(1 << 24, (1 << 31) - 1, 1 << 31, (1 << 32) - 1, 1 << 32, 10**18, 10**30),
]
FRACTIONS = [
    "0", "1e-300", "5e-324", "1e-16", "0.49999999999999994", "0.5", "0.5000000000000001", "0.75", "1",
]  # fmt: skip
ANGLES = [
    "0", "0.5", "1e-300", "0.25", "1e15", "1e16", "1e300", "-1.7976931348623157e308", "0.4999999999999999",
]  # fmt: skip

NUMBER = re.compile(r"(?<![\w.\[(=-])\d+(?![\w.)\]])")


def structured_text(rng: random.Random) -> str:
    """A text after one to three changes of its structure, and now and then of its tokens, too."""
    text = mutated_text(rng) if rng.random() < 0.15 else rng.choice(CORPUS)
    if rng.random() < 0.2:
        text += "\n" + rng.choice(CORPUS)
    changes = [relabelled, repeated, nested, with_many_targets, with_many_lines, with_large_numbers]
    for _ in range(rng.choice([1, 1, 2, 2, 3])):
        changed = rng.choice(changes)(rng, text)
        if len(changed) <= MAX_CHARACTERS:
            text = changed
    return text


def relabelled(rng: random.Random, text: str) -> str:
    """Some qubits with large numbers."""
    numbers = sorted(set(NUMBER.findall(text)))
    chosen = {
        number: str(rng.choice(INDICES if rng.random() < 0.95 else BEYOND))
        for number in numbers
        if rng.random() < 0.5
    }
    return NUMBER.sub(lambda match: chosen.get(match[0], match[0]), text)


def repeated(rng: random.Random, text: str) -> str:
    """Some lines in a block."""
    lines = text.split("\n")
    begin = rng.randrange(len(lines))
    end = rng.randrange(begin, len(lines)) + 1
    body = [f"REPEAT {rng.choice(REPETITIONS)} {{", *lines[begin:end], "}"]
    return "\n".join([*lines[:begin], *body, *lines[end:]])


def nested(rng: random.Random, text: str) -> str:
    """Some lines in blocks in blocks."""
    lines = text.split("\n")
    begin = rng.randrange(len(lines))
    end = min(len(lines), begin + rng.choice([1, 1, 2, 5]))
    depth = rng.choice(DEPTHS)
    times = rng.choice([1, 1, 1, 2, 3, 10**6, 10**18])
    separator = rng.choice(["\n", "\n", " "])
    opening = f"REPEAT {times} {{{separator}" * depth
    closing = "\n}" * (depth + rng.choice([0, 0, 0, 0, -1, 1]))
    return "\n".join([*lines[:begin], opening, *lines[begin:end], closing, *lines[end:]])


def with_many_targets(rng: random.Random, text: str) -> str:
    """A line with its targets many times, on the same qubits or on ever new ones."""
    lines = text.split("\n")
    places = [
        k for k, line in enumerate(lines) if re.match(r"\s*[A-Za-z_0-9]+(\[[^\]]*\])?(\([^)]*\))? ", line)
    ]
    if not places:
        return text
    place = rng.choice(places)
    head, targets = re.match(r"(\s*\w+(?:\[[^\]]*\])?(?:\([^)]*\))? )(.*)", lines[place]).groups()  # type: ignore[union-attr]
    count = rng.choice(COUNTS) // max(1, targets.count(" ") + 1) + 1
    if rng.random() < 0.5:
        lines[place] = head + " ".join([targets] * count)
    else:
        stride = 1 + max((int(number) for number in NUMBER.findall(targets) if len(number) < 9), default=0)
        if stride * count > 20_000_000:
            stride = 1
        lines[place] = head + " ".join(
            NUMBER.sub(lambda match, k=k: str(int(match[0]) + k * stride), targets) for k in range(count)
        )
    return "\n".join(lines)


def with_many_lines(rng: random.Random, text: str) -> str:
    """Some lines many times."""
    lines = text.split("\n")
    begin = rng.randrange(len(lines))
    end = min(len(lines), begin + rng.choice([1, 2, 3]))
    count = rng.choice(LINE_COUNTS) // (end - begin)
    if count * sum(map(len, lines[begin:end])) > MAX_CHARACTERS:
        return text
    return "\n".join([*lines[:begin], *lines[begin:end] * count, *lines[end:]])


def with_large_numbers(rng: random.Random, text: str) -> str:
    """A line with numbers at the limits."""
    lines = text.split("\n")
    added = rng.choice(
        [
            lambda: f"OBSERVABLE_INCLUDE({rng.choice(OBSERVABLES)}) rec[-1]",
            lambda: f"OBSERVABLE_INCLUDE({rng.choice(OBSERVABLES)}) X{rng.choice(INDICES)}",
            lambda: f"DETECTOR rec[-{rng.choice(RECORDS)}]",
            lambda: f"CX rec[-{rng.choice(RECORDS)}] {rng.choice(INDICES)}",
            lambda: f"CZ sweep[{rng.choice(RECORDS)}] 0",
            lambda: "DETECTOR(" + ", ".join(["1e300"] * rng.choice([16, 17, 1000, 100_000])) + ") rec[-1]",
            lambda: f"X_ERROR({rng.choice(FRACTIONS)}) {rng.choice(INDICES)} 0",
            lambda: f"DEPOLARIZE2({rng.choice(FRACTIONS)}) 0 {rng.choice(INDICES)}",
            lambda: f"M({rng.choice(FRACTIONS)}) {rng.choice(INDICES)}",
            lambda: f"R_X({rng.choice(ANGLES)}) {rng.choice(INDICES)}",
            lambda: f"U3({rng.choice(ANGLES)}, {rng.choice(ANGLES)}, {rng.choice(ANGLES)}) 0",
            lambda: "MPP " + "*".join(f"Z{k}" for k in range(rng.choice(COUNTS))),
            lambda: "TPP " + "*".join(f"X{k}" for k in range(rng.choice(COUNTS))),
            lambda: "E(0.1) " + " ".join(f"X{k}" for k in range(rng.choice(COUNTS))),
            lambda: "H " + " ".join(map(str, range(rng.choice(COUNTS)))),
            lambda: "T " + " ".join(map(str, range(rng.choice(COUNTS)))),
            lambda: "MX " + " ".join(map(str, range(rng.choice(COUNTS)))),
            lambda: "MR " + " ".join(map(str, range(rng.choice(COUNTS)))),
            lambda: f"SHIFT_COORDS({rng.choice(ANGLES)})",
            lambda: f"QUBIT_COORDS({rng.choice(ANGLES)}) {rng.choice(INDICES + BEYOND)}",
            lambda: f"MPAD {rng.choice([0, 1, 2, 10**9])}",
            lambda: "TICK[" + "x" * rng.choice([1000, 1_000_000]) + "]",
        ]
    )()
    lines.insert(rng.randrange(len(lines) + 1), added)
    return "\n".join(lines)


def outcome_of(text: str) -> str:
    """Compiles and samples a text in all ways; other exceptions than the documented ones are not caught."""
    try:
        circuit = within_limit(lambda: snc.Circuit(text))
    except (ValueError, snc.ResourceLimitError):
        return "refused by the parser"
    try:
        within_limit(circuit.compile)
    except (ValueError, NotImplementedError, snc.ResourceLimitError):
        return "refused by the compiler"
    calls = (
        lambda: circuit.compile_sampler(seed=1, max_active_coordinates=12).sample(2, bit_packed=True),
        lambda: circuit.compile_detector_sampler(seed=1, max_active_coordinates=12).sample(
            2, bit_packed=True, append_observables=True
        ),
        lambda: circuit.compile_detector_sampler(seed=1, max_active_coordinates=12).sample_counts(2),
        lambda: str(circuit.plan()),
        lambda: circuit.detector_error_model(kind="noise_only", approximate_disjoint_errors=True),
    )
    refusals = 0
    for call in calls:
        try:
            within_limit(call)
        except (ValueError, NotImplementedError, snc.ResourceLimitError):
            refusals += 1
        except MemoryError as error:
            if "too little memory for the engine" not in str(error):  # documented for engines
                raise
            refusals += 1
    return (
        "refused by all samplers" if refusals == len(calls) else "refused in part" if refusals else "sampled"
    )


def within_limit(call: Callable[[], _T]) -> _T:
    """The result of a call, which a signal ends when it takes too long."""
    signal.setitimer(signal.ITIMER_PROF, SECONDS)
    return call()


def print_outcomes(first: int, end: int) -> None:
    """Prints what becomes of the cases first, ..., end - 1, and their numbers, for failures, on stderr."""
    warnings.simplefilter("ignore", snc.InexactErrorModelWarning)

    def stop(number: int, frame: object) -> None:
        raise SystemExit(f"more than {SECONDS} s of the processor")

    signal.signal(signal.SIGPROF, stop)
    for number in range(first, end):
        print(f"case {number}", file=sys.stderr, flush=True)
        print(outcome_of(structured_text(random.Random(f"suite {number}"))), flush=True)
        signal.setitimer(signal.ITIMER_PROF, 0)
