// Rotations of the coefficient vector, one by one or two at a time.
//
// Included by kernels_isa.cc, once per instruction set, inside its namespace.
#pragma once

#include <algorithm>

#include "complex_block.h"
#include "kernels.h"

namespace snc::SNC_ISA {

// Vectors with fewer coefficients than a block has lanes.
namespace scalar {

inline void rotate(double* vector, const VectorRotation& rotation, double sine) {
    const uint64_t size = uint64_t{1} << rotation.width;
    // -i sin P
    const Phase factor = phase(sine, rotation.i_power + 3);
    double old_re[lanes], old_im[lanes];
    std::copy_n(vector, size, old_re);
    std::copy_n(vector + lanes, size, old_im);
    for (uint64_t a = 0; a < size; ++a) {
        const uint64_t b = a ^ rotation.x;
        const double f = factor.value * sign_of(b & rotation.z);
        put(vector, a, rotation.cosine * old_re[a] + (factor.real ? f * old_re[b] : -(f * old_im[b])),
            rotation.cosine * old_im[a] + (factor.real ? f * old_im[b] : f * old_re[b]));
    }
}

}  // namespace scalar

// A rotation that exchanges blocks a and a ^ x: of two blocks, the new ones are cosine (which is 1 if `unit`)
// times themselves plus `signs`, times i unless `real`, times the other one, with an extra sign where a & z is
// odd if `has_signs`.
template <bool real, bool has_signs, bool exchanges, bool unit>
inline void rotate_pairs(double* vector, uint64_t blocks, uint64_t x, uint64_t z, Block signs, Block cosine,
                         const LaneExchange& partner) {
    const int top = highest_bit(x);
    const Block signs_of_b = odd(x & z) ? -signs : signs;
    for (uint64_t r = 0; r < blocks / 2; ++r) {
        const uint64_t a = insert_zero(r, top), b = a ^ x;
        Block f_a = signs_of_b, f_b = signs;
        if constexpr (has_signs) {
            const double sign = sign_of(a & z);
            f_a *= sign;
            f_b *= sign;
        }
        const Block r_a = load_re(vector, a), i_a = load_im(vector, a), r_b = load_re(vector, b), i_b = load_im(vector, b);
        Block to_r = r_a, to_i = i_a, from_r = r_b, from_i = i_b;
        if constexpr (exchanges) {
            to_r = partner(r_a);
            to_i = partner(i_a);
            from_r = partner(r_b);
            from_i = partner(i_b);
        }
        const auto scaled = [&](Block block) { return unit ? block : cosine * block; };
        if constexpr (real) {
            store_re(vector, a, scaled(r_a) + f_a * from_r);
            store_im(vector, a, scaled(i_a) + f_a * from_i);
            store_re(vector, b, scaled(r_b) + f_b * to_r);
            store_im(vector, b, scaled(i_b) + f_b * to_i);
        } else {
            store_re(vector, a, scaled(r_a) - f_a * from_i);
            store_im(vector, a, scaled(i_a) + f_a * from_r);
            store_re(vector, b, scaled(r_b) - f_b * to_i);
            store_im(vector, b, scaled(i_b) + f_b * to_r);
        }
    }
}

inline void rotate(double* vector, const VectorRotation& rotation, bool reverse) {
    const double sine = reverse ? -rotation.sine : rotation.sine;
    if (rotation.width < lane_bits) return scalar::rotate(vector, rotation, sine);
    const uint64_t blocks = uint64_t{1} << (rotation.width - lane_bits);
    const uint64_t x = rotation.x >> lane_bits, z = rotation.z >> lane_bits;
    const Phase factor = phase(sine, rotation.i_power + 3);  // -i sin P
    const Block signs = lane_signs(rotation.x, rotation.z) * factor.value;
    const Block cosine = all(rotation.cosine);
    const LaneExchange partner(rotation.x);
    const bool exchanges = (rotation.x & (lanes - 1)) != 0;
    const auto turned = [&](Block block) { return exchanges ? partner(block) : block; };

    if (x == 0) {  // partners lie in the same block
        for (uint64_t a = 0; a < blocks; ++a) {
            const Block f = signs * sign_of(a & z);
            const Block r = load_re(vector, a), i = load_im(vector, a);
            const Block other_r = turned(r), other_i = turned(i);
            store_re(vector, a, cosine * r + (factor.real ? f * other_r : -(f * other_i)));
            store_im(vector, a, cosine * i + (factor.real ? f * other_i : f * other_r));
        }
        return;
    }
    // Whatever does not change from block to block is decided here.
    with_flag(factor.real, [&](auto real) {
        with_flag(z != 0, [&](auto has_signs) {
            with_flag(exchanges, [&](auto exchange) {
                with_flag(rotation.cosine == 1, [&](auto unit) {
                    rotate_pairs<real, has_signs, exchange, unit>(vector, blocks, x, z, signs, cosine, partner);
                });
            });
        });
    });
}

// What a block of a coset becomes that is turned with another one, which counts `factors`. The latter are for the parity
// of the coset's first block, and for the other one.
template <bool real, bool unit>
inline ComplexBlock turned(const ComplexBlock& own, const ComplexBlock& other, Block cosine, const LaneExchange& partner,
                           const Block& factor, const Block& minus_factor) {
    const ComplexBlock from = exchanged(other, partner);
    const ComplexBlock scaled = unit ? own : ComplexBlock{cosine * own.re, cosine * own.im};
    if constexpr (real)
        return {scaled.re + factor * from.re, scaled.im + factor * from.im};
    else
        return {scaled.re + minus_factor * from.im, scaled.im + factor * from.re};
}

// Two rotations that exchange blocks by different masks: the vector goes through the registers once for both.
template <bool first_real, bool second_real, bool unit>
inline void rotate_fours(double* vector, const VectorRotation& first, const VectorRotation& second) {
    // Of a coset's blocks from its first one: which, as the place in the vector, and whether they reverse a rotation.
    constexpr uint64_t first_odd = uint64_t{1} << 62, second_odd = uint64_t{1} << 63, places = first_odd - 1;
    const uint64_t z = first.z >> lane_bits, other_z = second.z >> lane_bits;
    const auto column = [&](uint64_t block) {
        return 2 * lanes * block | (odd(block & z) ? first_odd : 0) | (odd(block & other_z) ? second_odd : 0);
    };
    const uint64_t x = first.x >> lane_bits, other_x = second.x >> lane_bits;
    const uint64_t columns[4] = {0, column(x), column(other_x), column(x ^ other_x)};
    // For each parity of a coset's first block, what the other block counts.
    Block first_factors[2][4], second_factors[2][4];
    const Block plus = lane_signs(first.x, first.z) * phase(first.sine, first.i_power + 3).value;
    const Block other_plus = lane_signs(second.x, second.z) * phase(second.sine, second.i_power + 3).value;
    for (size_t j = 0; j < 4; ++j) {
        const bool minus = (columns[j ^ 1] & first_odd) != 0, other_minus = (columns[j ^ 2] & second_odd) != 0;
        first_factors[minus][j] = plus;
        first_factors[!minus][j] = -plus;
        second_factors[other_minus][j] = other_plus;
        second_factors[!other_minus][j] = -other_plus;
    }
    const LaneExchange partner(first.x), other_partner(second.x);
    const Block cosine = all(first.cosine), other_cosine = all(second.cosine);
    const int top = highest_bit(x);
    const int other_top = highest_bit((other_x >> top & 1) != 0 ? x ^ other_x : other_x);
    const int bits = first.width - lane_bits;
    BlockWalk walk(bits, uint64_t{1} << top | uint64_t{1} << other_top, [&](int bit) { return column(uint64_t{1} << bit); });
    for (uint64_t r = 0; r < uint64_t{1} << (bits - 2); ++r) {
        const uint64_t state = walk.now();
        const size_t p = (state & first_odd) != 0, q = (state & second_odd) != 0;
        double* blocks[4];
        ComplexBlock v[4], w[4];
#pragma GCC unroll 4
        for (int j = 0; j < 4; ++j) {
            blocks[j] = vector + ((state ^ columns[j]) & places);
            v[j] = complex_at(blocks[j], 0);
        }
#pragma GCC unroll 4
        for (int j = 0; j < 4; ++j)
            w[j] = turned<first_real, unit>(v[j], v[j ^ 1], cosine, partner, first_factors[p][j], first_factors[1 - p][j]);
#pragma GCC unroll 4
        for (int j = 0; j < 4; ++j)
            put_complex(blocks[j], 0, turned<second_real, unit>(w[j], w[j ^ 2], other_cosine, other_partner,
                                                                second_factors[q][j], second_factors[1 - q][j]));
        walk.advance(r);
    }
}

// Two rotations, one after the other.
inline void rotate_twice(double* vector, const VectorRotation& first, const VectorRotation& second) {
    const uint64_t x = first.x >> lane_bits, other_x = second.x >> lane_bits;
    if (x == 0 || other_x == 0 || x == other_x) {
        rotate(vector, first, false);
        rotate(vector, second, false);
        return;
    }
    const auto is_real = [](const VectorRotation& rotation) { return phase(1.0, rotation.i_power + 3).real; };
    with_flag(is_real(first), [&](auto first_real) {
        with_flag(is_real(second), [&](auto second_real) {
            with_flag(first.cosine == 1 && second.cosine == 1, [&](auto unit) {
                rotate_fours<first_real, second_real, unit>(vector, first, second);
            });
        });
    });
}

}  // namespace snc::SNC_ISA
