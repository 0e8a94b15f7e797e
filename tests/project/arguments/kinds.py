"""Kinds of parameters of public functions, and for each kind the values that must be refused."""

from __future__ import annotations

from typing import Any

import numpy as np

NAN, INF = float("nan"), float("inf")
ARRAY = np.array([1, 2])
NO_SCALARS = ("2", b"2", None, 2j, ARRAY, np.array(2), [2], {}, object(), len)
NO_INTEGERS = (*NO_SCALARS, True, np.True_, 1.0, np.float64(2), NAN, INF)
NO_NUMBERS = (*NO_SCALARS, True, np.True_, NAN, INF, -INF, 10**400)
NOT_NONE = {
    "integer": (*NO_INTEGERS, -1),
    "positive integer": (*NO_INTEGERS, 0, -1),
    "shots": (*NO_INTEGERS, -1, np.int8(-1), 1 << 62, 10**5000),
    "threads": (*NO_INTEGERS, 0, -1, 1025, 10**30),
    "bytes": (*NO_INTEGERS, -1, 1 << 63),
    "distance": (*NO_INTEGERS, -3, 0, 4, 10**9),
    "index": (*NO_INTEGERS, 10**30),
    "seed": (*(value for value in NO_INTEGERS), -1, 1 << 64),
    "probability": (*NO_NUMBERS, -0.1, 1.1, -1e-300, np.float32(1.5)),
    "share": (*NO_NUMBERS, -0.1, 0, 1, 1.1),
    "not negative": (*NO_NUMBERS, -0.1),
    "positive": (*NO_NUMBERS, 0, -1.0, 0.0),
    "angle": (*NO_NUMBERS, -0.1, 0.3),
    "tolerance": (*NO_NUMBERS, -0.1),
    "flag": ("yes", "", 0, 1, 0.0, None, ARRAY, np.array(True), [], object()),
    "choice": ("picture", "", b"T", 3, None, True, ARRAY, ["T"], object()),
    "version": ("3", 1, 4, 3.0, None, True, ARRAY, object()),
    "text": (b"H 0", 3, None, ARRAY, ["H 0"], object()),
    "path": (3, None, ARRAY, ["a"], object(), 1.5, b"file"),
    "mask": ("1", b"1", 3, True, np.zeros(1000, dtype=bool), np.zeros((1, 1, 1)), {}, object()),
    "array": ("1", b"1", 3, np.zeros(1000, dtype=bool), np.zeros((1, 1, 1)), object()),
    "circuit": (3, b"H 0", None, ARRAY, ["H 0"], object()),
    "circuits": (3, None, "H 0", [3], ["H 0"], object()),
    "faults": (3, None, "X 0", [3], [[3]], ["X 0"], object()),
    "callable": (3, None, "place", object()),
    "object": (3, "x", ARRAY, object()),
    "part": (3, "x", None, ARRAY, (1,), (0, 2), (3, 2), (1, 0), (1, "2"), object()),
    "json": (object(), {1, 2}, b"x", 2j, ARRAY),
    "grouping": (3, None, "places", b"tick", object()),
    "state": (3, None, "S", b"T", ARRAY, object()),
    "decoder": (3, None, ARRAY, object()),
    "times": (3, "x", (1.0,), (1.0, 3.0), (0, 1.0), (NAN, 1.0), (1.0, "2"), {0: 1.0}, object()),
    "integers": (3, None, "0", ("0",), (0.5,), (None,), (True,), (-1,), (ARRAY,), object()),
    "weights": (3, None, "0", ("0",), (NAN,), (INF,), (None,), (ARRAY,), object()),
    "names": (3, [3], object()),
    "paths": (3, None, [3], object()),
    "numbers": ("x", object(), ["x"], 2j),
    "qubits": (3, None, ["x"], [-1], [0.5], [True], object()),
    "population": (*NO_NUMBERS, -0.1, 0.6),
    "number": NO_NUMBERS,
    "indices": ("x", object(), ["x"], 1.5),
    "probability or flag": ("x", b"x", None, 2j, ARRAY, NAN, -0.1, 1.5, object()),
}
"""Wrong values for parameters of a kind. ``... or None`` is the same without None."""

_NAMES = {
    "angle": "below",
    "array or None": "dets_out obs_out reference_sample",
    "bytes": "cache_bytes max_bytes store_bytes",
    "callable or None": "progress_callback",
    "choice": (
        "correction endian engine error_model escape format gate injection input kind magic noise obs_out_format "
        "output protocol readout s_gate type variant of ending y_state"
    ),
    "choice or None": "method",
    "circuit": "circuit operation",
    "circuits": "circuits tasks",
    "decoder or None": "loop_decoder",
    "distance": "distance escape_distance",
    "faults": "faults",
    "flag": (
        "dont_turn_measurements_into_resets ignore_measurement ignore_noise ignore_reset noiseless_products transposed unsigned"
        " allow_gauge_detectors append_observables bit_packed "
        "block_decomposition_from_introducing_remnant_edges condition_on_postselection confidence "
        "correlations count_detection_events count_observable_error_combos decompose_errors expectation_values flatten_loops "
        "ignore_decomposition_failures prepend_observables print_progress progress separate_observables "
        "skip_detectors skip_dets_and_obs skip_reference_sample state_aware unknown_input warn"
    ),
    "flag or None": "fold",
    "grouping": "by",
    "index": "index",
    "indices or None": "only",
    "integer": "count first_shot max_active_coordinates max_rows max_weight most_sets shot",
    "integer or None": "device max_kept postselected_rounds rows tick",
    "integers": "heralds observables",
    "json": "json_metadata",
    "mask or None": "postselected_observables_mask postselection_mask",
    "names": "virtual_gates",
    "qubits": "noiseless_qubits",
    "population": "excited_population",
    "number": "crosstalk over_rotation",
    "names or None": "decoders",
    "not negative": "gate_time readout_time reset_time seconds",
    "not negative or None": "gap",
    "numbers or None": "arg",
    "object": "dem stats task",
    "object or None": "collection_options custom_decoders executor noise_model",
    "part": "shard",
    "path": "file filepath folder path paths",
    "path or None": "obs_out_filepath save_resume_filepath",
    "paths": "existing_data_filepaths",
    "positive": "max_likelihood_factor relative_error",
    "positive integer": "attempts quantization rounds",
    "positive integer or None": "batch_shots max_errors num_workers",
    "positive or None": "T1 T2 T2_star dt max_batch_seconds max_seconds",
    "probability": (
        "check_false_positive check_miss gate_error gate_leakage gate_loss gate_seepage magic_error p p01 p10 readout_leakage reset_error t_error"
        " transport"
    ),
    "probability or flag": "approximate_disjoint_errors",
    "seed or None": "seed",
    "share": "coverage",
    "shots": "shots suggested_shots",
    "shots or None": "max_shots",
    "state": "state",
    "state or None": "state_check",
    "text": "code_task program stim_program_text tag title",
    "text or None": "custom_error_count_key decoder",
    "threads": "threads",
    "times or None": "relaxation_times",
    "tolerance": "atol",
    "version": "open_qasm_version",
    "weights": "weights",
}
KINDS = {name: kind for kind, names in _NAMES.items() for name in names.split()}
"""Of what kind a parameter is, by its name."""


def wrong_values(kind: str) -> tuple[Any, ...]:
    stem = kind.removesuffix(" or None")
    return tuple(value for value in NOT_NONE[stem] if value is not None or stem == kind)
