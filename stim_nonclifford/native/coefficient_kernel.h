// What each operation does to the coefficient vector; the twin of `stim_nonclifford/coefficients.py`.
//
// Included by kernels_isa.cc, once per instruction set, inside its namespace. Real and imaginary parts lie
// apart, and vectors of at least eight coefficients go through in blocks of eight: the low three bits of an
// index are the lane. Every lane does the same arithmetic in every instruction set, and sums are made lane
// by lane and then in a fixed order: all instruction sets round alike.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <type_traits>
#include <utility>

#include "kernels.h"

namespace snc::SNC_ISA {

constexpr int lane_bits = 3;
constexpr uint64_t lanes = uint64_t{1} << lane_bits;
using Block = double __attribute__((vector_size(lanes * sizeof(double))));
using BlockIndex = int64_t __attribute__((vector_size(lanes * sizeof(int64_t))));

inline bool odd(uint64_t bits) { return (std::popcount(bits) & 1) != 0; }
inline double sign_of(uint64_t bits) { return odd(bits) ? -1.0 : 1.0; }

inline Block load(const double* from, uint64_t block) {
    Block value;
    __builtin_memcpy(&value, from + block * lanes, sizeof value);
    return value;
}
inline void store(double* to, uint64_t block, Block value) { __builtin_memcpy(to + block * lanes, &value, sizeof value); }

inline Block all(double value) { return Block{} + value; }

// (-1)^|(lane ^ x) & z| for each lane, with the low bits of x and z.
inline Block lane_signs(uint64_t x, uint64_t z) {
    Block signs{};
    for (uint64_t lane = 0; lane < lanes; ++lane) signs[lane] = sign_of((lane ^ x) & z & (lanes - 1));
    return signs;
}

// Lane k of the result is lane k ^ x of the block.
inline Block exchange_lanes(Block block, BlockIndex partner) { return __builtin_shuffle(block, partner); }

inline BlockIndex lane_partners(uint64_t x) {
    BlockIndex partner{};
    for (uint64_t lane = 0; lane < lanes; ++lane) partner[lane] = static_cast<int64_t>(lane ^ (x & (lanes - 1)));
    return partner;
}

inline double total(Block sums) {
    return ((sums[0] + sums[1]) + (sums[2] + sums[3])) + ((sums[4] + sums[5]) + (sums[6] + sums[7]));
}

// Index r with a 0 inserted at bit `bit`.
inline uint64_t insert_zero(uint64_t r, int bit) {
    const uint64_t low = r & ((uint64_t{1} << bit) - 1);
    return ((r ^ low) << 1) | low;
}

inline int highest_bit(uint64_t bits) { return 63 - std::countl_zero(bits); }

// A power of i times a real number: `real` says which part the number is.
struct Phase {
    double value;
    bool real;
};

// value * i^power
inline Phase phase(double value, int power) {
    return {(power & 2) != 0 ? -value : value, (power & 1) == 0};
}

// Calls use(std::true_type{}) or use(std::false_type{}).
template <typename Use>
inline void with_flag(bool flag, Use use) {
    if (flag)
        use(std::true_type{});
    else
        use(std::false_type{});
}

// Vectors with fewer coefficients than a block has lanes.
namespace scalar {

inline void rotate(double* re, double* im, const Operation& operation, double sine) {
    const uint64_t size = uint64_t{1} << operation.width;
    // -i sin P
    const Phase factor = phase(sine, operation.i_power + 3);
    double old_re[lanes], old_im[lanes];
    std::copy(re, re + size, old_re);
    std::copy(im, im + size, old_im);
    for (uint64_t a = 0; a < size; ++a) {
        const uint64_t b = a ^ operation.x;
        const double f = factor.value * sign_of(b & operation.z);
        re[a] = operation.cosine * old_re[a] + (factor.real ? f * old_re[b] : -(f * old_im[b]));
        im[a] = operation.cosine * old_im[a] + (factor.real ? f * old_im[b] : f * old_re[b]);
    }
}

}  // namespace scalar

// A rotation that exchanges blocks a and a ^ x: of two blocks, the new ones are cosine (which is 1 if `unit`)
// times themselves plus `signs`, times i unless `real`, times the other one, with an extra sign where a & z is
// odd if `has_signs`.
template <bool real, bool has_signs, bool exchanges, bool unit>
inline void rotate_pairs(double* re, double* im, uint64_t blocks, uint64_t x, uint64_t z, Block signs, Block cosine,
                         BlockIndex partner) {
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
        const Block r_a = load(re, a), i_a = load(im, a), r_b = load(re, b), i_b = load(im, b);
        Block to_r = r_a, to_i = i_a, from_r = r_b, from_i = i_b;
        if constexpr (exchanges) {
            to_r = exchange_lanes(r_a, partner);
            to_i = exchange_lanes(i_a, partner);
            from_r = exchange_lanes(r_b, partner);
            from_i = exchange_lanes(i_b, partner);
        }
        const auto scaled = [&](Block block) { return unit ? block : cosine * block; };
        if constexpr (real) {
            store(re, a, scaled(r_a) + f_a * from_r);
            store(im, a, scaled(i_a) + f_a * from_i);
            store(re, b, scaled(r_b) + f_b * to_r);
            store(im, b, scaled(i_b) + f_b * to_i);
        } else {
            store(re, a, scaled(r_a) - f_a * from_i);
            store(im, a, scaled(i_a) + f_a * from_r);
            store(re, b, scaled(r_b) - f_b * to_i);
            store(im, b, scaled(i_b) + f_b * to_r);
        }
    }
}

inline void rotate(double* re, double* im, const Operation& operation, bool reverse) {
    const double sine = reverse ? -operation.sine : operation.sine;
    if (operation.width < lane_bits) return scalar::rotate(re, im, operation, sine);
    const uint64_t blocks = uint64_t{1} << (operation.width - lane_bits);
    const uint64_t x = operation.x >> lane_bits, z = operation.z >> lane_bits;
    const Phase factor = phase(sine, operation.i_power + 3);  // -i sin P
    const Block signs = lane_signs(operation.x, operation.z) * factor.value;
    const Block cosine = all(operation.cosine);
    const BlockIndex partner = lane_partners(operation.x);
    const bool exchanges = (operation.x & (lanes - 1)) != 0;
    const auto turned = [&](Block block) { return exchanges ? exchange_lanes(block, partner) : block; };

    if (x == 0) {  // partners lie in the same block
        for (uint64_t a = 0; a < blocks; ++a) {
            const Block f = signs * sign_of(a & z);
            const Block r = load(re, a), i = load(im, a);
            const Block other_r = turned(r), other_i = turned(i);
            store(re, a, cosine * r + (factor.real ? f * other_r : -(f * other_i)));
            store(im, a, cosine * i + (factor.real ? f * other_i : f * other_r));
        }
        return;
    }
    // Whatever does not change from block to block is decided here.
    with_flag(factor.real, [&](auto real) {
        with_flag(z != 0, [&](auto has_signs) {
            with_flag(exchanges, [&](auto exchange) {
                with_flag(operation.cosine == 1, [&](auto unit) {
                    rotate_pairs<real, has_signs, exchange, unit>(re, im, blocks, x, z, signs, cosine, partner);
                });
            });
        });
    });
}

inline void activate(double* re, double* im, const Operation& operation) {
    const uint64_t size = uint64_t{1} << operation.width;
    const double c = operation.cosine * std::sqrt(0.5), s = operation.sine * std::sqrt(0.5);
    const auto one = [&](auto r, auto i, auto cosine, auto sine, auto use) {
        const auto cr = cosine * r, ci = cosine * i, sr = sine * r, si = sine * i;
        use(cr + si, ci - sr, cr - si, ci + sr);
    };
    if (size < lanes) {
        for (uint64_t a = 0; a < size; ++a)
            one(re[a], im[a], c, s, [&](double r_0, double i_0, double r_1, double i_1) {
                re[a] = r_0;
                im[a] = i_0;
                re[size + a] = r_1;
                im[size + a] = i_1;
            });
        return;
    }
    const uint64_t blocks = size / lanes;
    for (uint64_t a = 0; a < blocks; ++a)
        one(load(re, a), load(im, a), all(c), all(s), [&](Block r_0, Block i_0, Block r_1, Block i_1) {
            store(re, a, r_0);
            store(im, a, i_0);
            store(re, blocks + a, r_1);
            store(im, blocks + a, i_1);
        });
}

// Entry r of the projection on an outcome, times sqrt(2) if P flips the pivot.
struct Coefficient {
    double re, im;
};
inline Coefficient projected(const double* re, const double* im, const Operation& operation, uint64_t r,
                             bool outcome) {
    const uint64_t a = insert_zero(r, operation.pivot);
    if (operation.x == 0) {
        const bool pivot_bit = odd(a & operation.z) ^ (operation.i_power == 2) ^ outcome;
        const uint64_t kept = a | (uint64_t{pivot_bit} << operation.pivot);
        return {re[kept], im[kept]};
    }
    const uint64_t b = a ^ operation.x;
    const Phase factor = phase(outcome ? -1.0 : 1.0, operation.i_power);
    const double f = factor.value * sign_of(b & operation.z);
    return factor.real ? Coefficient{re[a] + f * re[b], im[a] + f * im[b]}
                       : Coefficient{re[a] - f * im[b], im[a] + f * re[b]};
}

// Calls use(r, re_0, im_0, re_1, im_1) with block r of the projections on outcome 0 and 1 (as above). The
// pivot must be above the lanes.
template <typename Use>
inline void for_each_projected_block(const double* re, const double* im, const Operation& operation, Use use) {
    const uint64_t half = uint64_t{1} << (operation.width - 1 - lane_bits);
    const int pivot = operation.pivot - lane_bits;
    const uint64_t x = operation.x >> lane_bits, z = operation.z >> lane_bits;
    if (operation.x == 0) {
        // A lane takes the entry with the pivot bit that its parity asks for.
        const Block odd_lanes = lane_signs(0, operation.z);
        for (uint64_t r = 0; r < half; ++r) {
            const uint64_t a = insert_zero(r, pivot);
            const bool flipped = odd(a & z) ^ (operation.i_power == 2);
            const uint64_t b = a | (uint64_t{1} << pivot);
            const Block r_a = load(re, a), i_a = load(im, a), r_b = load(re, b), i_b = load(im, b);
            const BlockIndex takes_a = (odd_lanes > 0) == (flipped ? BlockIndex{} : ~BlockIndex{});
            use(r, takes_a ? r_a : r_b, takes_a ? i_a : i_b, takes_a ? r_b : r_a, takes_a ? i_b : i_a);
        }
        return;
    }
    const Phase factor = phase(1.0, operation.i_power);
    const Block signs = lane_signs(operation.x, operation.z) * factor.value;
    const BlockIndex partner = lane_partners(operation.x);
    const bool exchanges = (operation.x & (lanes - 1)) != 0;
    for (uint64_t r = 0; r < half; ++r) {
        const uint64_t a = insert_zero(r, pivot), b = a ^ x;
        const Block f = signs * sign_of(b & z);
        const Block r_a = load(re, a), i_a = load(im, a);
        Block r_b = load(re, b), i_b = load(im, b);
        if (exchanges) {
            r_b = exchange_lanes(r_b, partner);
            i_b = exchange_lanes(i_b, partner);
        }
        const Block p_r = factor.real ? f * r_b : -(f * i_b);
        const Block p_i = factor.real ? f * i_b : f * r_b;
        use(r, r_a + p_r, i_a + p_i, r_a - p_r, i_a - p_i);
    }
}

inline bool goes_in_blocks(const Operation& operation) {
    return operation.width > lane_bits && operation.pivot >= lane_bits;
}

inline OutcomeWeights outcome_weights(const double* re, const double* im, const Operation& operation) {
    Block zero{}, one{};
    if (goes_in_blocks(operation)) {
        for_each_projected_block(re, im, operation, [&](uint64_t, Block r_0, Block i_0, Block r_1, Block i_1) {
            zero += r_0 * r_0 + i_0 * i_0;
            one += r_1 * r_1 + i_1 * i_1;
        });
    } else {
        const uint64_t half = uint64_t{1} << (operation.width - 1);
        for (uint64_t r = 0; r < half; ++r) {
            const Coefficient c_0 = projected(re, im, operation, r, false);
            const Coefficient c_1 = projected(re, im, operation, r, true);
            zero[r % lanes] += c_0.re * c_0.re + c_0.im * c_0.im;
            one[r % lanes] += c_1.re * c_1.re + c_1.im * c_1.im;
        }
    }
    const double scale = operation.x != 0 ? 0.5 : 1.0;
    return {scale * total(zero), scale * total(one)};
}

inline void project(double* re, double* im, const Operation& operation, bool outcome, double weight) {
    const double scale = operation.x != 0 ? std::sqrt(0.5 / weight) : std::sqrt(1.0 / weight);
    // Entry r is read before it is written: r <= insert_zero(r, pivot), and its partner b comes from an
    // index >= r too, because the pivot is the highest bit of x (or of z).
    if (goes_in_blocks(operation)) {
        for_each_projected_block(re, im, operation, [&](uint64_t r, Block r_0, Block i_0, Block r_1, Block i_1) {
            store(re, r, all(scale) * (outcome ? r_1 : r_0));
            store(im, r, all(scale) * (outcome ? i_1 : i_0));
        });
        return;
    }
    const uint64_t half = uint64_t{1} << (operation.width - 1);
    for (uint64_t r = 0; r < half; ++r) {
        const Coefficient c = projected(re, im, operation, r, outcome);
        re[r] = scale * c.re;
        im[r] = scale * c.im;
    }
}

// Calls use(r, entry r of the projection on outcome 0 times 2, the same for outcome 1) for a coordinate
// that is woken with this phase and measured at once: entry r of either half is (cos -+ i sin) v[r].
template <typename Use>
inline void for_each_weakly_projected(const double* re, const double* im, const Operation& measurement,
                                      double cosine, double sine, Use use) {
    const uint64_t pivot = uint64_t{1} << measurement.pivot;
    const uint64_t size = pivot;
    const uint64_t x = measurement.x ^ pivot;
    const Phase factor = phase(1.0, measurement.i_power);
    const auto projections = [&](auto c, auto s, auto f, auto r_a, auto i_a, auto r_b, auto i_b, auto give) {
        const auto own_r = c * r_a + s * i_a, own_i = c * i_a - s * r_a;
        const auto other_r = c * r_b - s * i_b, other_i = c * i_b + s * r_b;
        const auto p_r = factor.real ? f * other_r : -(f * other_i);
        const auto p_i = factor.real ? f * other_i : f * other_r;
        give(own_r + p_r, own_i + p_i, own_r - p_r, own_i - p_i);
    };
    if (size < lanes) {
        // Both of a pair are read before either is written.
        for (uint64_t r = 0; r < size; ++r) {
            const uint64_t q = r ^ x;
            if (q < r) continue;
            const auto sign = [&](uint64_t other) { return factor.value * sign_of((other | pivot) & measurement.z); };
            const double r_r = re[r], i_r = im[r], r_q = re[q], i_q = im[q];
            projections(cosine, sine, sign(q), r_r, i_r, r_q, i_q, [&](auto... parts) { use(r, parts...); });
            if (q != r)
                projections(cosine, sine, sign(r), r_q, i_q, r_r, i_r, [&](auto... parts) { use(q, parts...); });
        }
        return;
    }
    const Block c = all(cosine), s = all(sine);
    const uint64_t block_x = x >> lane_bits, block_z = measurement.z >> lane_bits, block_pivot = pivot >> lane_bits;
    const Block signs = lane_signs(measurement.x, measurement.z) * factor.value;
    const BlockIndex partner = lane_partners(measurement.x);
    for (uint64_t r = 0; r < size / lanes; ++r) {
        const uint64_t q = r ^ block_x;
        if (q < r) continue;
        const auto sign = [&](uint64_t other) { return signs * sign_of((other | block_pivot) & block_z); };
        const Block r_r = load(re, r), i_r = load(im, r), r_q = load(re, q), i_q = load(im, q);
        projections(c, s, sign(q), r_r, i_r, exchange_lanes(r_q, partner), exchange_lanes(i_q, partner),
                    [&](auto... parts) { use(r, parts...); });
        if (q != r)
            projections(c, s, sign(r), r_q, i_q, exchange_lanes(r_r, partner), exchange_lanes(i_r, partner),
                        [&](auto... parts) { use(q, parts...); });
    }
}

inline OutcomeWeights weak_weights(const double* re, const double* im, const Operation& measurement,
                                   double cosine, double sine) {
    Block zero{}, one{};
    const auto add = [&](uint64_t r, auto r_0, auto i_0, auto r_1, auto i_1) {
        if constexpr (std::is_same_v<decltype(r_0), double>) {
            zero[r] += r_0 * r_0 + i_0 * i_0;
            one[r] += r_1 * r_1 + i_1 * i_1;
        } else {
            zero += r_0 * r_0 + i_0 * i_0;
            one += r_1 * r_1 + i_1 * i_1;
        }
    };
    for_each_weakly_projected(re, im, measurement, cosine, sine, add);
    return {0.25 * total(zero), 0.25 * total(one)};
}

inline void weak_project(double* re, double* im, const Operation& measurement, double cosine, double sine,
                         bool outcome, double weight) {
    const double scale = 0.5 / std::sqrt(weight);
    const auto write = [&](uint64_t r, auto r_0, auto i_0, auto r_1, auto i_1) {
        if constexpr (std::is_same_v<decltype(r_0), double>) {
            re[r] = scale * (outcome ? r_1 : r_0);
            im[r] = scale * (outcome ? i_1 : i_0);
        } else {
            store(re, r, all(scale) * (outcome ? r_1 : r_0));
            store(im, r, all(scale) * (outcome ? i_1 : i_0));
        }
    };
    for_each_weakly_projected(re, im, measurement, cosine, sine, write);
}

}  // namespace snc::SNC_ISA
