"""Outcome laws of plans with amplitudes of 113 bits, on the way of all engines: ``quad_vector.cc`` is a Vector of ``driver.h``."""

from __future__ import annotations

import ctypes
import platform
import shutil
import subprocess
import tempfile
from functools import cache
from pathlib import Path

import numpy as np
import numpy.typing as npt

import stim_nonclifford
from stim_nonclifford.simulation.plan import SamplingPlan

from .exact import Distribution, bools, mask_of

_FLAGS = ("-std=c++20", "-O1", "-Wall", "-Wextra", "-Werror", "-fPIC", "-shared")
_NEGLIGIBLE = 1e-25
"""Rounding makes outcomes as probable as 1e-34; angles are doubles, and a certain outcome may be 1e-32 uncertain."""

_Found = ctypes.CFUNCTYPE(None, ctypes.c_double, ctypes.POINTER(ctypes.c_uint8))


class _Plan(ctypes.Structure):
    """As in ``quad_vector.cc``."""

    _fields_ = (
        *(
            (name, ctypes.c_void_p)
            for name in ("operations", "terms", "constant", "images", "effects", "checks")
        ),
        *((name, ctypes.c_uint32) for name in ("num_operations", "num_bits")),
    )


def missing() -> str | None:
    """What this machine lacks to compile the Vector, or None."""
    if platform.system() != "Linux" or platform.machine() != "x86_64" or shutil.which("g++") is None:
        return "needs g++ with __float128, on Linux on x86-64"
    return None


@cache
def _library() -> ctypes.CDLL:
    native = Path(stim_nonclifford.__file__).parent / "native"
    source = Path(__file__).with_suffix(".cc")
    with tempfile.TemporaryDirectory() as folder:
        library = Path(folder) / "quad_vector.so"
        subprocess.run(["g++", *_FLAGS, f"-I{native}", str(source), "-o", str(library)], check=True)
        return ctypes.CDLL(str(library))


def quad_law(plan: SamplingPlan, signature: int) -> tuple[Distribution, float]:
    """The outputs that the outcomes flip, with their probabilities, and the probability of a discard."""
    bits, first_check = plan.num_branch_bits, plan.num_signs
    first_output = first_check + plan.num_outcome_checks
    constant = np.zeros(bits, dtype=np.uint8)
    constant[plan.branch_constant] = 1
    checks = np.zeros((plan.num_outcomes, bits), dtype=np.uint8)
    for check, outcome in enumerate(plan.outcome_check_deadlines.tolist()):
        checks[outcome, first_check + check] = outcome >= 0
    tables = [rows.dense(bits).astype(np.uint8) for rows in (plan.signature_images, plan.outcome_effects)]
    arrays: list[npt.NDArray[np.generic]] = [plan.operations, plan.rotation_terms, constant, *tables, checks]
    held = [np.ascontiguousarray(array) for array in arrays]
    words = np.packbits(bools(signature, -(-plan.num_signature_bits // 64) * 64), bitorder="little")
    kept: Distribution = {}
    discarded = 0.0

    def found(probability: float, row: ctypes._Pointer[ctypes.c_uint8]) -> None:
        nonlocal discarded
        if row:
            outputs = mask_of(row[first_output:bits])
            kept[outputs] = kept.get(outputs, 0.0) + probability
        else:
            discarded += probability

    native = _Plan(*(array.ctypes.data for array in held), len(plan.operations), bits)
    _library().quad_law(
        ctypes.byref(native),
        ctypes.c_void_p(words.ctypes.data),
        ctypes.c_uint32(len(words) // 8),
        ctypes.c_double(_NEGLIGIBLE),
        _Found(found),
    )
    return kept, discarded
