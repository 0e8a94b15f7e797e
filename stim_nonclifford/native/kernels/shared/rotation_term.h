// Angles of rotations, as all engines sum them.
#pragma once

#include "kernels/shared/platform.h"

namespace snc {

// Half a rotation angle.
struct Angle {
    double cosine, sine;
};

SNC_HOST_DEVICE Angle operator+(const Angle& a, const Angle& b) {
    return {a.cosine * b.cosine - a.sine * b.sine, a.sine * b.cosine + a.cosine * b.sine};
}

// A rotation of the circuit, as a part of an operation of the plan: one record of ROTATION_TERM_DTYPE.
struct RotationTerm {
    double cosine;        // of half the rotation angle
    double sine;
    int32_t sign;         // bit of the branch row that reverses the angle, or -1
    int32_t is_reversed;  // whether the rotation is about minus the operation's Pauli; not in the first term of an operation
};
static_assert(sizeof(RotationTerm) == 24, "must match ROTATION_TERM_DTYPE in plan.py");

// The angle of a term, about the Pauli of its operation. is_set(bit) tells the signs.
template <typename IsSet>
SNC_HOST_DEVICE Angle angle_of_term(const RotationTerm& term, IsSet is_set) {
    return {term.cosine, signed_by(is_set(term.sign) != (term.is_reversed != 0), 0, term.sine)};
}

// The sum of the angles of an operation's terms, of which there is at least one.
template <typename IsSet>
SNC_HOST_DEVICE Angle sum_of_angles(const RotationTerm* terms, uint32_t count, IsSet is_set) {
    Angle sum = angle_of_term(terms[0], is_set);
    for (uint32_t t = 1; t < count; ++t) sum = sum + angle_of_term(terms[t], is_set);
    return sum;
}

}  // namespace snc
