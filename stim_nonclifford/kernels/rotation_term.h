// A rotation of the circuit, as a part of an operation of the plan: one record of ROTATION_TERM_DTYPE.
#pragma once

#include "platform.h"

namespace snc {

struct RotationTerm {
    double cosine;        // of half the rotation angle
    double sine;
    int32_t sign;         // bit of the branch row that reverses the angle, or -1
    int32_t is_reversed;  // whether the rotation is about minus the operation's Pauli
};
static_assert(sizeof(RotationTerm) == 24, "must match ROTATION_TERM_DTYPE in plan.py");

}  // namespace snc
