"""Remedies that no row of the table follows, each with the reason."""

from __future__ import annotations

FOLDERS = {
    "stim_nonclifford/circuit/interchange/cirq_circuits/": "needs Cirq, imported in seconds: tests/circuit/interchange",
    "stim_nonclifford/circuit/interchange/qiskit_circuits.py": "needs Qiskit, imported in seconds: tests/circuit/interchange",
    "stim_nonclifford/simulation/engines/gpu/": "needs a GPU",
    "stim_nonclifford/rates/decoded_rates/": "is said of long searches: the tests of tests/rates/decoded_rates provoke them",
}
"""Folders whose remedies have no rows."""

ELSEWHERE = {
    "needs a circuit that is larger, or a machine that is smaller, than a test may have": [
        ("stim_nonclifford/base/memory.py", "What compiling needs grows wit"),
        ("stim_nonclifford/circuit/interchange/qasm/gates.py", "Write some of them out."),
        ("stim_nonclifford/dialect/text.py", "Write the targets in several l"),
        ("stim_nonclifford/circuit/rates.py", "Raise max_seconds."),
        ("stim_nonclifford/circuit/rates.py", "Rates that are computed have no"),
        ("stim_nonclifford/rates/samplers/fault_numbers.py", "Count errors with SoftDecoding"),
        ("stim_nonclifford/rates/fault_sets/wrong_tool.py", "Where counts take too long, to"),
        ("stim_nonclifford/simulation/compiler/leakage.py", "Lower the repeat counts, or sa"),
        ("stim_nonclifford/simulation/compiler/sweeps/backward_sweep.py", "Lower the repeat counts, or sa"),
        ("stim_nonclifford/simulation/compiler/sweeps/backward_sweep.py", "Reset qubits after measurement"),
        ("stim_nonclifford/simulation/compiler/sweeps/patches.py", "They grow as the square of the"),
        ("stim_nonclifford/simulation/engines/cost.py", "Choose at most threads={}."),
        ("stim_nonclifford/simulation/engines/cpu.py", "Take fewer shots per call, or "),
        ("stim_nonclifford/simulation/engines/cpu.py", "Choose fewer threads or a smal"),
        ("stim_nonclifford/simulation/sampling/expectation_values.py", "Take the shots in several call"),
    ],
    "needs an environment without a package, or with another version of it": [
        ("stim_nonclifford/base/unbuilt.py", "For own code use {} in another"),
        ("stim_nonclifford/base/unbuilt.py", "{} Run 'pip install .' in its "),
        ("stim_nonclifford/base/unbuilt.py", "'python -P', or start Python"),
        ("stim_nonclifford/circuit/interchange/packages.py", "Install it: pip install '{}' o"),
        ("stim_nonclifford/rates/decoding/decoders.py", "Install it: pip install {}{}."),
        ("stim_nonclifford/rates/decoding/matching/heralded_matching.py", "Update it: pip install --upgra"),
        ("stim_nonclifford/simulation/plan.py", "If another version of stim_non"),
        ("sinter_plugin/commands/sinter_internals.py", "Install sinter==1.16, or use `"),
        ("sinter_plugin/runs/executors.py", "Install it: pip install dask d"),
    ],
    "needs an operation of Cirq or a value of a type that has no counterpart: tests/circuit/interchange": [
        ("stim_nonclifford/circuit/interchange/builder.py", "Remove the tag, or put it"),
        ("stim_nonclifford/circuit/interchange/builder.py", "Split it into conditions"),
        ("stim_nonclifford/circuit/interchange/qasm/values.py", "Write numbers in its place."),
    ],
    "is no advice, but a text with such a word": [
        ("stim_nonclifford/circuit/interchange/qasm/execution.py", "{} is no bit or register of bi"),
        ("stim_nonclifford/circuit/interchange/qasm/writer.py", "measure q[{}] -> {};"),
        ("stim_nonclifford/dialect/text.py", "REPEAT blocks are nested more "),
    ],
    "needs circuits of codes: tests of tests/simulation/logical_errors and tests/circuit": [
        ("stim_nonclifford/circuit/logical_states/readout.py", "Move EXP_VAL and OBSERVABLE_IN"),
        ("stim_nonclifford/circuit/logical_states/readout.py", "Check the state by two of them"),
        ("stim_nonclifford/circuit/logical_states/state_check.py", "Check all components of the st"),
        ("stim_nonclifford/rates/decoding_problems.py", "Measure the logical qubit so t"),
        ("stim_nonclifford/simulation/logical_errors/refusals.py", "Postselect such a detector (po"),
    ],
    "needs the circuits and minutes of cultivation: tests of tests/rates/decoded_rates and tests/generators": [
        ("stim_nonclifford/rates/decoding_problems.py", "Leave out the mask, or add wha"),
        ("stim_nonclifford/circuit/rates.py", "To check by several, count err"),
        ("stim_nonclifford/rates/decoding_problems.py", "Count errors with the sampler "),
        ("stim_nonclifford/rates/samplers/accepted_sets.py", "Check a state with a noiseless"),
        ("stim_nonclifford/generators/cultivation/end_to_end.py", "Choose one of these or escape="),
        ("stim_nonclifford/generators/cultivation/end_to_end.py", "Choose a larger one or escape="),
        ("sinter_plugin/commands/end_to_end_circuits.py", "Leave out --circuits to genera"),
        ("sinter_plugin/commands/figure.py", "Choose --decoder desaturated o"),
    ],
    "needs calibration tables: tests/generators/test_device_noise.py": [
        ("stim_nonclifford/generators/device_noise/moment.py", "Apply the table to a circuit w"),
        ("stim_nonclifford/generators/device_noise/moment.py", "Put a TICK in between."),
        ("stim_nonclifford/generators/device_noise/moment.py", "Write it with gates on one or "),
    ],
    "needs error models of codes: tests of tests/rates/decoding and tests/sinter": [
        ("stim_nonclifford/rates/decoding/chromobius_gap.py", "If errors before the code is c"),
        ("stim_nonclifford/rates/decoding/chromobius_gap.py", "For logical Y, add logical X a"),
        ("stim_nonclifford/rates/decoding/matching/desaturated_gap.py", "Postselect what DesaturatedGap"),
        ("stim_nonclifford/rates/decoding/matching/pair_graph.py", "The gap is defined for one log"),
        ("stim_nonclifford/rates/decoding/matching/matching_gap.py", "Decode without confidence, for"),
        ("sinter_plugin/samplers/soft_decoding.py", "Leave out the mask, so that th"),
    ],
    "needs a decoder that answers wrongly: tests of tests/rates and tests/sinter": [
        ("stim_nonclifford/rates/decoding/decoders.py", "The rate of the shots that suc"),
        ("stim_nonclifford/rates/decoding/classifying.py", "Or count errors with SoftDecod"),
        ("stim_nonclifford/rates/decoding/kept_shot_decoding.py", "Return finite numbers up to 2^"),
        ("stim_nonclifford/rates/decoding/kept_shot_decoding.py", "In the second case, pack them:"),
        ("stim_nonclifford/rates/decoding/kept_shot_decoding.py", "In the first case, discard wit"),
        ("stim_nonclifford/rates/decoding/kept_shot_decoding.py", "Implement compile_decoder_for_"),
        ("stim_nonclifford/rates/decoding/kept_shot_decoding.py", "Errors that flip more than two"),
        ("stim_nonclifford/rates/decoding/kept_shot_decoding.py", "Or some detectors depend on qu"),
        ("sinter_plugin/runs/jobs.py", "Define your decoder at the top"),
    ],
    "needs a thread or process that fails while a run goes on: tests of tests/sinter": [
        ("stim_nonclifford/simulation/engines/turns.py", "Use another {} here."),
        ("stim_nonclifford/simulation/engines/turns.py", "Compile the circuit again in t"),
    ],
    "needs a code with a logical gate: tests of tests/simulation/decisions": [
        ("stim_nonclifford/simulation/decisions/points.py", "Apply the gate about a logical"),
        ("stim_nonclifford/simulation/decisions/points.py", "Write it as several such gates"),
        ("stim_nonclifford/circuit/circuit.py", "Measure the check at the end o"),
    ],
    "needs a GPU": [
        ("stim_nonclifford/simulation/sampling/kept_batches.py", "Leave output out, or call with")
    ],
    "cannot be reached from public classes": [
        ("stim_nonclifford/simulation/sampling/shot_numbers.py", "Compile it with Circuit.compil"),
    ],
    "needs a file, a process or a cluster that fails while a run goes on: tests of tests/sinter": [
        ("sinter_plugin/commands/collect.py", "Run the same command again to "),
        ("sinter_plugin/commands/endings.py", "Run the same command again to "),
        ("sinter_plugin/runs/executors.py", "Save the program to a file; or"),
        ("sinter_plugin/runs/executors.py", "Start one with `dask scheduler"),
        ("sinter_plugin/runs/schedule.py", "Save to another file, and add "),
        ("sinter_plugin/commands/combine.py", "Correct the metadata, or leave"),
        ("sinter_plugin/commands/combine.py", "Correct the row, or delete it "),
        ("sinter_plugin/statistics/csv_rows.py", "Delete such lines, and compute"),
        ("sinter_plugin/statistics/statistics_file.py", "Wait until that process has en"),
        ("sinter_plugin/statistics/statistics_file.py", "Or save to another file with an"),
        ("sinter_plugin/statistics/statistics_file.py", "To count these shots, add the "),
        ("sinter_plugin/statistics/statistics_file.py", "Make sure that no other run sa"),
        ("sinter_plugin/statistics/statistics_file.py", "Free some space, and run the s"),
    ],
}
"""By the reason: files, and how the sentence begins."""
