"""Small texts take little time: what took seconds, or grew as the square or cube of a number, is linear."""

import pytest

from ...support.processes.limited_process import run_limited

MANY = " ".join(map(str, range(1600)))


TEXTS_AND_SECONDS = [
    ("M 0\nOBSERVABLE_INCLUDE(100000) rec[-1]", 4),  # 13 s
    ("X_ERROR(0.1) 0\nM 0\nOBSERVABLE_INCLUDE(1000000) rec[-1]", 15),
    (f"RX {MANY}\nT {MANY}\nMX {MANY}", 8),  # more than a minute
    (f"RX {MANY}\nT {MANY}\nDEPOLARIZE1(0.01) {MANY}\nMX {MANY}\n" + "".join(f"DETECTOR rec[-{k}]\n" for k in range(1, 1601)), 12),
    ("REPEAT 1000000 {\n    X 0\n}\nM 0", 3),  # 11 s and more
    ("RX 1\nT 1\nREPEAT 1000000 {\n    H 0\n    S 0\n    TICK\n}\nMX 1", 3),
    ("REPEAT 1000000 {\n    X_ERROR(0.00001) 0\n}\nM 0", 15),
    ("RX 0\nREPEAT 20000 {\n    T 0\n}\nMX 0", 12),
    # A fair coin in each round: 3 GB.
    ("RX 9\nT 9\nMX 9\nREPEAT 50000 {\n    RX 0\n    MR 0\n    DETECTOR rec[-1]\n}", 12),
    ("REPEAT 1000 {\n    R_X(0.1) 0\n    M 0\n}\nDETECTOR rec[-1]", 8),
    ("REPEAT 20000 {\n    R 0\n    H 0\n    T 0\n    H 0\n    M 0\n}", 8),
    ("H 0 1\nCCX 2 0 1\nREPEAT 100000 {\n    M 0 1 2\n}", 8),  # 20 s
    # More than a minute.
    ("R 0 1 2\nH 0 1\nT 0\nMR 0 1\nSQRT_YY 0 1 2 0\nREPEAT 100000 {\n    R_X(0.3) 0\n}\nM" + 667 * " 0 1 2", 10),
    (
        "REPEAT 5000 {\n    H 0\n    T 0\n    M 0\n}",
        8,
    ),  # each error flips every second record after it: 10 s
    # Each outcome decides the signs of all later rotations: 18 s for records alone.
    ("R 0 1\nREPEAT 4095 {\n    H_NYZ 0 1\n    R_X(0.3) 0\n    M 0 1\n}\nDETECTOR rec[-1]", 14),
    # As many outcomes as records: more than 1 GiB.
    ("REPEAT 100000 {\n    RX 0\n    T 0\n    MX 0\n    DETECTOR rec[-1]\n}", 20),
]  # fmt: skip


@pytest.mark.slow
def test_time() -> None:
    """In seconds of the processor: several times what each takes."""
    output = run_limited(
        f"""
        import time
        for text, seconds in {TEXTS_AND_SECONDS!r}:
            start = time.process_time()
            circuit = snc.Circuit(text)
            circuit.compile_sampler(seed=1).sample(2, bit_packed=True)
            circuit.compile_detector_sampler(seed=1).sample(2, bit_packed=True)
            print(len(str(circuit.plan())) > 0 and time.process_time() - start < seconds or text[:80])
        """,
        seconds=sum(seconds for _, seconds in TEXTS_AND_SECONDS),
    )
    assert output == "True\n" * len(TEXTS_AND_SECONDS)


def test_too_many_observables() -> None:
    numbers = [1 << 21, 16_777_215, 1 << 31]
    output = run_limited(
        f"""
        for number in {numbers}:
            print(refusal(snc.Circuit(f"M 0\\nOBSERVABLE_INCLUDE({{number}}) rec[-1]").compile_sampler))
        """,
        seconds=4,
    )
    assert output.splitlines() == [
        f"ResourceLimitError: The circuit has {number + 1:,} observables; the limit is 2,097,152."
        for number in numbers
    ]


def test_errors_that_flip_too_many_records() -> None:
    """It is seen after a small part of the loop that the rest would take more than half a minute."""
    loop = "REPEAT 300000 {\n    H 0\n    T 0\n    M 0\n}\n"
    texts = [loop, "REPEAT 5000 {\n    MR 1\n}\n" + loop + "MR 1\nH 0\n"]
    output = run_limited(
        f"""
        for text in {texts!r}:
            print(refusal(snc.Circuit(text).compile_sampler))
        """,
        seconds=4,
    )
    lines = output.splitlines()
    assert len(lines) == len(texts)
    for line in lines:
        assert line.startswith("ResourceLimitError: Errors and outcomes flip too many of the circuit's 30")


@pytest.mark.parametrize(
    "text",
    [
        "REPEAT 8192 {\n    X_ERROR(0.001)" + " 0" * 1024 + "\n}\nM 0\nDETECTOR rec[-1]",
        "REPEAT 1000000 {\n    X_ERROR(0.001) 0\n    MR 0\n}\nDETECTOR rec[-1]",
    ],
    ids=["noise", "measurements"],
)
def test_many_targets(text: str) -> None:
    """2^23 targets of noise, and 10^6 measurements: some seconds and less than 1 GiB."""
    output = run_limited(
        f"""
        circuit = snc.Circuit({text!r})
        print(circuit.compile_detector_sampler(seed=1).sample(2).shape)
        """,
        seconds=20,
    )
    assert output == "(2, 1)\n"


@pytest.mark.slow
def test_memory_of_steps_without_a_loop() -> None:
    """Each of two million measurements is a step that is stored: less than 1 GiB, where there were 1.3 GB."""
    output = run_limited(
        """
        circuit = snc.Circuit("H 0\\nT 0\\nMR " + "0 1 " * 1_000_000 + "\\nDETECTOR rec[-1]")
        print(circuit.compile_detector_sampler(seed=1).sample(2).shape)
        """,
        seconds=60,
    )
    assert output == "(2, 1)\n"


def test_too_many_targets() -> None:
    """The limit is the time that they take at least."""
    least_seconds = {
        (10**9, "X_ERROR(0.1) 0"): 30, (10**8, "X_ERROR(0.1) 0\n    MR 0"): 34, (10**9, "M 0"): 110,
        (10**6, "R_X(0.1) 0"): 20, (10**6, "R_X(0.1) 0\n    M 0"): 20,
    }  # fmt: skip
    texts = [f"M 1\nREPEAT {times} {{\n    {body}\n}}\nDETECTOR rec[-1]" for times, body in least_seconds]
    output = run_limited(
        f"""
        for text in {texts}:
            print(refusal(snc.Circuit(text).compile_detector_sampler))
        """,
        seconds=5,
    )
    for line, seconds in zip(output.splitlines(), least_seconds.values(), strict=True):
        assert line.startswith("ResourceLimitError: The circuit has ")
        assert f"The compiler would follow them for {seconds} s or more; the limit is 10 s." in line
