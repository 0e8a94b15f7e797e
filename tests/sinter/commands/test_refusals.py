"""What the commands refuse: exit code 2, a message that has these words, and nothing on standard output."""

from __future__ import annotations

import pytest

from ...support.processes.sinter_runs import OURS, T_CIRCUIT, Folder
from ...support.rates.decoded_rate_cases import repetition_code
from ..samplers.test_state_check import CIRCUIT as STATE

CIRCUITS = {
    "T": T_CIRCUIT,
    "state": STATE,
    "repetition": str(repetition_code(0.01)),
    "wrong": "H 0\nTT 0",
    "unobserved": "T 0\nM 0\nDETECTOR rec[-1]",
}

COLLECT = r"""
wrong      |                                                   | a.stim: Line 2
unobserved |                                                   | a.stim: The circuit has no observables, so
none       |                                                   | No such file
T          | --decoders soft_postselect pymatching             | reads T gates as S gates. Use soft_pymatching, which samples the circuit as it is
T          | --decoders perfectionist                          | or use `sinter collect`, which takes other samplers
T          | --decoders soft_postselct                         | numbered shots. Did you mean soft_postselect? Use one of
T          | --decoders soft_pymatchng                         | numbered shots. Did you mean soft_pymatching? Use one of
T          | --decoders zzz                                    | zzz is no sampler of this package
T          | --decoders soft_pymatching --postselected_detectors_predicate 'index < 3' | All detectors are postselected, so there is nothing left to decode. To count
T          | --processes 0                                     | --processes must be
T          | --custom_decoders_module_function nomod:f         | No module named 'nomod'
T          | --custom_decoders_module_function math:f          | cannot import name 'f' from 'math'
T          | --custom_decoders_module_function os:getpid       | custom_decoders_module_function failed
T          | --custom_decoders_module_function math            | didn't have exactly one colon
T          | --metadata_func 'path +'                          | --metadata_func is not an expression of Python
T          | --metadata_func nix                               | a.stim: --metadata_func failed with NameError
T          | --postselected_detectors_predicate '1 +'          | _detectors_predicate is not an expression
T          | --postselected_detectors_predicate 'coords[4]'    | on detector 0
T          | --postselected_detectors_predicate 'index > 9'    | none of the circuit's detectors
T          | --postselected_observables_predicate nix          | predicate failed with NameError
T          | --shard 1/2                                       | --shard needs --seed
T          | --shard 6/5                                       | is not K/N
T          | --shard 3                                         | is not K/N
T          | --seed -1                                         | is not between 0 and
T          | --seed 1e3                                        | is not a whole number
T          | --max_seconds 0                                   | is not a positive number
state      | --decoders pymatching --state_check T             | Use soft_pymatching, which samples the circuit
state      | --decoders soft_pymatching --state_check X        | a.stim: Without noise the fidelity
state      | --state_check t                                   | 't' is neither one of T, T_DAG, X
state      | --state_check T --metadata_func path              | a.stim: --metadata_func must yield a dictionary
"""

ESTIMATE = r"""
wrong      |                                                   | a.stim, line 2
none       |                                                   | No such file
T          | --metadata_func '3'                               | must yield a dictionary
T          | --metadata_func "{'estimate': 1}"                 | must yield a dictionary
T          | --postselected_detectors_predicate 'index > 9'    | none of the circuit's detectors
T          | --postselected_detectors_predicate 'coords[4]'    | on detector 0
T          | --postselect_detectors_with_non_zero_4th_coord    | 1 of 3 detectors is neither postselected nor decoded (the first is D1)
T          | --relative_error 0                                | argument --relative_error: '0' is not a positive number
T          | --relative_error x                                | 'x' is not a positive number
T          | --threads 0                                       | 0 is not between 1 and 1024
T          | --seed -1                                         | -1 is not between 0 and
T          | --max_shots 10                                    | unrecognized arguments: --max_shots
repetition | --decoders pymatchng                              | There is no decoder 'pymatchng'
repetition | --decoders pymatching --metadata_func "{'decoder':1}" | the key "decoder"
repetition | --decoders pymatching --confidence --metadata_func "{'gap':1}" | the key "gap"
state      | --state_check Z                                   | a.stim: The check of the state Z needs the expectation value of the logical Z
state      | --state_check s                                   | 's' is neither one of
state      | --state_check T --metadata_func "{'state_check': 1}" | without the key "state_check"
"""


def rows_of(table: str) -> list[list[str]]:
    return [[part.strip() for part in line.split("|")] for line in table.strip().splitlines()]


def assert_refused(folder: Folder, circuit: str, command: str, message: str) -> None:
    if circuit in CIRCUITS:
        (folder.path / "a.stim").write_text(CIRCUITS[circuit])
    done = folder.call(OURS[:-1], command, code=2)
    assert message in done.stderr
    assert done.stderr.count("\n") == 1 or "usage: " in done.stderr
    assert not done.stdout


@pytest.mark.parametrize(("circuit", "arguments", "message"), rows_of(COLLECT))
def test_collect(circuit: str, arguments: str, message: str, folder: Folder) -> None:
    decoders = "" if "--decoders" in arguments else "--decoders soft_postselect"
    command = f"collect --circuits a.stim --processes 1 --max_shots 10 {decoders} {arguments}"
    assert_refused(folder, circuit, command, message)


@pytest.mark.parametrize(("circuit", "arguments", "message"), rows_of(ESTIMATE))
def test_estimate(circuit: str, arguments: str, message: str, folder: Folder) -> None:
    decoders = "" if "--decoders" in arguments else "--decoders soft_postselect"
    assert_refused(folder, circuit, f"estimate --circuits a.stim {decoders} {arguments}", message)


def test_limits_that_are_missing(folder: Folder) -> None:
    common = "collect --circuits a.stim --decoders soft_postselect --processes 1"
    assert_refused(folder, "T", common, "The run would never end")
    assert_refused(folder, "T", f"{common} --seed 1", "The run would never end")
    assert_refused(folder, "T", f"{common} --shard 1/2 --seed 1", "--shard needs --max_shots")
    for more in ("", "--quiet --seed 1"):
        message = "or pass --postselect all to discard every shot"
        assert_refused(folder, "repetition", f"estimate --circuits a.stim {more}", message)
