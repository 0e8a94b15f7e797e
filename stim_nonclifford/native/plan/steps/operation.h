// The operations of a plan on the coefficient vector.
#pragma once

#include <cstddef>
#include <cstdint>

namespace snc {

// The number of low index bits, which number the coefficients of a block.
constexpr int index_lane_bits = 3;

// The number of bytes of a wider vector is above 2^62, so that sizes could overflow.
constexpr int32_t max_addressed_width = 58;

// The number of doubles of a vector of this width.
inline size_t vector_size(int32_t width) { return size_t{2} << (width > index_lane_bits ? width : index_lane_bits); }

enum class Kind : int32_t { rotate = 0, activate = 1, measure = 2, expect = 3 };

// One record of OPERATION_DTYPE.
struct Operation {
    uint64_t x;       // bits of the coefficient index that the Pauli flips
    uint64_t z;       // bits of the coefficient index that give its sign; OperationList has those from 64 on, which no vector has
    Kind kind;
    int32_t width;    // active coordinates before the operation
    int32_t i_power;  // the Pauli is i^i_power (-1)^|index & z| |index ^ x><index|
    int32_t pivot;    // activate: the bit that joins the index; measurements: the bit that leaves it
    int32_t outcome;  // measurements: the number of the outcome; expect: that of the value; else -1
    int32_t segment;  // number of measurements before the operation
    int32_t first_term, end_term;  // the rotation is by the sum of the angles of these terms

    bool measures() const { return kind == Kind::measure; }
};
static_assert(sizeof(Operation) == 48, "must match OPERATION_DTYPE in plan.py");

// A mask of bits of the coefficient index, after a bit has left the index: those above it move down.
inline uint64_t without_bit(uint64_t mask, int32_t bit) {
    const uint64_t low = (uint64_t{1} << bit) - 1;
    return (mask & low) | (mask >> 1 & ~low);
}

// A rotation of the vector by a known angle, about the Pauli i^i_power (-1)^|index & z| |index ^ x><index|.
struct VectorRotation {
    uint64_t x, z;
    double cosine, sine;  // of half the angle
    int32_t width, i_power;
};

// The Pauli of an operation's rotation, without its angle.
inline VectorRotation pauli_of_rotation(const Operation& operation) {
    return {operation.x, operation.z, 1, 0, operation.width, operation.i_power};
}

}  // namespace snc
