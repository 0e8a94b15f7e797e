// Many rotations in one pass through a vector that is larger than the cache.
//
// Rotations about Paulis that flip combinations of a few bits of the index mix coefficients of the same coset
// only. So a coset is copied into a small vector, which stays in the first-level cache while all of these
// rotations are made in it, and back. Every coefficient sees the same arithmetic as in rotations one by one.
#pragma once

#include "coefficient_kernel.h"

namespace snc::SNC_ISA {

// The compiler orders rotations for these two (gathering.py).
constexpr int chunk_bits = 6;   // coefficients that are copied together: low bits of the index
constexpr int max_span = 5;     // dimension of the combinations of the other bits

class RotationPass {
   public:
    // Adds a rotation; false if it does not fit in.
    bool add(const Operation& rotation) {
        if (count_ == max_rotations) return false;
        uint64_t rest = rotation.x >> chunk_bits, flips = 0;
        while (rest != 0) {
            const int top = highest_bit(rest);
            int j = 0;
            while (j < span_ && pivots_[j] != top) ++j;
            if (j == span_) {
                if (span_ == max_span) return false;
                pivots_[span_] = top;
                generators_[span_++] = rest;
            }
            rest ^= generators_[j];
            flips |= uint64_t{1} << j;
        }
        rotations_[count_] = rotation;
        rotations_[count_++].x = flips << chunk_bits | (rotation.x & low);
        return true;
    }

    size_t count() const { return count_; }

    // Makes them in part `number` of `parts` parts of the vector; they do not share coefficients.
    void run(double* vector, int width, uint32_t number, uint32_t parts) {
        uint64_t high_signs[max_rotations];
        for (size_t k = 0; k < count_; ++k) {
            Operation& rotation = rotations_[k];
            high_signs[k] = rotation.z >> chunk_bits;
            uint64_t z = rotation.z & low;
            for (int j = 0; j < span_; ++j)
                z |= uint64_t{odd(generators_[j] & high_signs[k])} << (chunk_bits + j);
            rotation.z = z;
            rotation.width = chunk_bits + span_;
        }
        uint64_t offsets[size_t{1} << max_span] = {0};
        for (int j = 0; j < span_; ++j)
            for (size_t c = 0; c < size_t{1} << j; ++c)
                offsets[(size_t{1} << j) + c] = offsets[c] ^ generators_[j];
        uint64_t pivots = 0;
        for (int j = 0; j < span_; ++j) pivots |= uint64_t{1} << pivots_[j];

        constexpr size_t chunk = size_t{1} << chunk_bits;
        alignas(64) double part[2 * chunk << max_span];
        const uint64_t cosets = uint64_t{1} << (width - chunk_bits - span_);
        for (uint64_t r = cosets * number / parts; r < cosets * (number + 1) / parts; ++r) {
            uint64_t first = r;
            for (uint64_t left = pivots; left != 0; left &= left - 1) first = insert_zero(first, std::countr_zero(left));
            for (size_t c = 0; c < size_t{1} << span_; ++c) {
                const size_t from = (first ^ offsets[c]) << chunk_bits;
                std::copy_n(vector + 2 * from, 2 * chunk, part + c * 2 * chunk);
            }
            for (size_t k = 0; k < count_; ++k) rotate(part, rotations_[k], odd(first & high_signs[k]));
            for (size_t c = 0; c < size_t{1} << span_; ++c) {
                const size_t to = (first ^ offsets[c]) << chunk_bits;
                std::copy_n(part + c * 2 * chunk, 2 * chunk, vector + 2 * to);
            }
        }
    }

   private:
    static constexpr uint64_t low = (uint64_t{1} << chunk_bits) - 1;
    size_t count_ = 0;
    Operation rotations_[max_rotations];
    int span_ = 0;
    int pivots_[max_span];              // the highest bits of the generators, all different
    uint64_t generators_[max_span];
};

// Makes the first of these rotations, as many as go together; returns how many. Of several parts, each makes
// its part of the vector, and all make the same rotations.
inline size_t rotate_many(double* vector, const Operation* rotations, size_t count, uint32_t part, uint32_t parts) {
    const size_t worth_it = parts > 1 ? 1 : 3;
    const int width = rotations[0].width;
    RotationPass pass;
    if (count >= worth_it && width >= chunk_bits + max_span)
        while (pass.count() < count && pass.add(rotations[pass.count()])) continue;
    if (pass.count() >= worth_it) {
        pass.run(vector, width, part, parts);
        return pass.count();
    }
    rotate(vector, rotations[0], false);
    return 1;
}

}  // namespace snc::SNC_ISA
