// What each operation does to the coefficient vector; the twin of `stim_nonclifford/coefficients.py`.
//
// Included by kernels_isa.cc, once per instruction set, inside its namespace. Vectors go through in blocks of
// eight coefficients, first their real, then their imaginary parts: the low three bits of an index are the lane. They
// are stored as doubles or floats (`Real`), and what is calculated from them is double. Every lane does the same
// arithmetic in every instruction set, and sums are made lane by lane and then in a fixed order: all instruction sets
// round alike.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <type_traits>
#include <utility>

#include "kernels.h"

#ifdef __AVX2__
#include <immintrin.h>
#endif

namespace snc::SNC_ISA {

constexpr int lane_bits = 3;
constexpr uint64_t lanes = uint64_t{1} << lane_bits;
using Block = double __attribute__((vector_size(lanes * sizeof(double))));
using BlockIndex = int64_t __attribute__((vector_size(lanes * sizeof(int64_t))));

inline bool odd(uint64_t bits) { return (std::popcount(bits) & 1) != 0; }
inline double sign_of(uint64_t bits) { return odd(bits) ? -1.0 : 1.0; }

inline Block load(const double* from) {
    Block value;
    __builtin_memcpy(&value, from, sizeof value);
    return value;
}
inline void store(double* to, Block value) { __builtin_memcpy(to, &value, sizeof value); }

using FloatBlock = float __attribute__((vector_size(lanes * sizeof(float))));
inline Block load(const float* from) {
    FloatBlock value;
    __builtin_memcpy(&value, from, sizeof value);
    return __builtin_convertvector(value, Block);
}
inline void store(float* to, Block value) {
    const FloatBlock rounded = __builtin_convertvector(value, FloatBlock);
    __builtin_memcpy(to, &rounded, sizeof rounded);
}

// Where the parts of a block, and of a coefficient, lie in the vector.
template <typename Real>
inline Block load_re(const Real* vector, uint64_t block) { return load(vector + 2 * lanes * block); }
template <typename Real>
inline Block load_im(const Real* vector, uint64_t block) { return load(vector + 2 * lanes * block + lanes); }
template <typename Real>
inline void store_re(Real* vector, uint64_t block, Block value) { store(vector + 2 * lanes * block, value); }
template <typename Real>
inline void store_im(Real* vector, uint64_t block, Block value) { store(vector + 2 * lanes * block + lanes, value); }
inline uint64_t re_at(uint64_t index) { return (index & ~(lanes - 1)) + index; }
inline uint64_t im_at(uint64_t index) { return re_at(index) + lanes; }
template <typename Real>
inline void put(Real* vector, uint64_t index, double re, double im) {
    vector[re_at(index)] = static_cast<Real>(re);
    vector[im_at(index)] = static_cast<Real>(im);
}

inline Block all(double value) { return Block{} + value; }

// a * b + c, rounded once: also where there is no such instruction, so that all instruction sets round alike.
inline double fused(double a, double b, double c) { return __builtin_fma(a, b, c); }
inline Block fused(Block a, Block b, Block c) {
#if defined(__AVX512F__)
    return (Block)_mm512_fmadd_pd((__m512d)a, (__m512d)b, (__m512d)c);
#elif defined(__FMA__)
    struct Halves {
        __m256d low, high;
    };
    const auto [a_low, a_high] = std::bit_cast<Halves>(a);
    const auto [b_low, b_high] = std::bit_cast<Halves>(b);
    const auto [c_low, c_high] = std::bit_cast<Halves>(c);
    return std::bit_cast<Block>(Halves{_mm256_fmadd_pd(a_low, b_low, c_low), _mm256_fmadd_pd(a_high, b_high, c_high)});
#else
    Block result;
    for (uint64_t lane = 0; lane < lanes; ++lane) result[lane] = fused(a[lane], b[lane], c[lane]);
    return result;
#endif
}

// (-1)^|(lane ^ x) & z| for each lane, with the low bits of x and z.
inline Block lane_signs(uint64_t x, uint64_t z) {
    // (-1)^|lane & z| for each z.
    static constexpr auto signs = [] {
        std::array<std::array<double, lanes>, lanes> found{};
        for (uint64_t bits = 0; bits < lanes; ++bits)
            for (uint64_t lane = 0; lane < lanes; ++lane) found[bits][lane] = std::popcount(lane & bits) % 2 == 0 ? 1 : -1;
        return found;
    }();
    const Block found = load(signs[z & (lanes - 1)].data());
    return odd(x & z & (lanes - 1)) ? -found : found;
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

template <typename Real>
inline void rotate(Real* vector, const Operation& operation, double sine) {
    const uint64_t size = uint64_t{1} << operation.width;
    // -i sin P
    const Phase factor = phase(sine, operation.i_power + 3);
    double old_re[lanes], old_im[lanes];
    std::copy_n(vector, size, old_re);
    std::copy_n(vector + lanes, size, old_im);
    for (uint64_t a = 0; a < size; ++a) {
        const uint64_t b = a ^ operation.x;
        const double f = factor.value * sign_of(b & operation.z);
        put(vector, a, operation.cosine * old_re[a] + (factor.real ? f * old_re[b] : -(f * old_im[b])),
            operation.cosine * old_im[a] + (factor.real ? f * old_im[b] : f * old_re[b]));
    }
}

}  // namespace scalar

// A rotation that exchanges blocks a and a ^ x: of two blocks, the new ones are cosine (which is 1 if `unit`)
// times themselves plus `signs`, times i unless `real`, times the other one, with an extra sign where a & z is
// odd if `has_signs`.
template <bool real, bool has_signs, bool exchanges, bool unit, typename Real>
inline void rotate_pairs(Real* vector, uint64_t blocks, uint64_t x, uint64_t z, Block signs, Block cosine,
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
        const Block r_a = load_re(vector, a), i_a = load_im(vector, a), r_b = load_re(vector, b), i_b = load_im(vector, b);
        Block to_r = r_a, to_i = i_a, from_r = r_b, from_i = i_b;
        if constexpr (exchanges) {
            to_r = exchange_lanes(r_a, partner);
            to_i = exchange_lanes(i_a, partner);
            from_r = exchange_lanes(r_b, partner);
            from_i = exchange_lanes(i_b, partner);
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

template <typename Real>
inline void rotate(Real* vector, const Operation& operation, bool reverse) {
    const double sine = reverse ? -operation.sine : operation.sine;
    if (operation.width < lane_bits) return scalar::rotate(vector, operation, sine);
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
                with_flag(operation.cosine == 1, [&](auto unit) {
                    rotate_pairs<real, has_signs, exchange, unit>(vector, blocks, x, z, signs, cosine, partner);
                });
            });
        });
    });
}

template <typename Real>
inline void activate(Real* vector, const Operation& operation) {
    const uint64_t size = uint64_t{1} << operation.width;
    const bool is_diagonal = operation.x == 0;
    const double scale = is_diagonal ? std::sqrt(0.5) : 1;
    const double c = operation.cosine * scale, s = operation.sine * scale;
    const auto one = [&](auto r, auto i, auto cosine, auto sine, auto use) {
        const auto cr = cosine * r, ci = cosine * i, sr = sine * r, si = sine * i;
        if (is_diagonal)
            use(cr + si, ci - sr, cr - si, ci + sr);
        else
            use(cr, ci, si, -sr);
    };
    if (size < lanes) {
        for (uint64_t a = 0; a < size; ++a)
            one(vector[re_at(a)], vector[im_at(a)], c, s, [&](double r_0, double i_0, double r_1, double i_1) {
                put(vector, a, r_0, i_0);
                put(vector, size + a, r_1, i_1);
            });
        return;
    }
    const uint64_t blocks = size / lanes;
    for (uint64_t a = 0; a < blocks; ++a)
        one(load_re(vector, a), load_im(vector, a), all(c), all(s), [&](Block r_0, Block i_0, Block r_1, Block i_1) {
            store_re(vector, a, r_0);
            store_im(vector, a, i_0);
            store_re(vector, blocks + a, r_1);
            store_im(vector, blocks + a, i_1);
        });
}

// Entry r of the projection on an outcome, times sqrt(2) if P flips the pivot.
struct Coefficient {
    double re, im;
};
template <typename Real>
inline Coefficient projected(const Real* vector, const Operation& operation, uint64_t r,
                             bool outcome) {
    const uint64_t a = insert_zero(r, operation.pivot);
    if (operation.x == 0) {
        const bool pivot_bit = odd(a & operation.z) ^ (operation.i_power == 2) ^ outcome;
        const uint64_t kept = a | (uint64_t{pivot_bit} << operation.pivot);
        return {vector[re_at(kept)], vector[im_at(kept)]};
    }
    const uint64_t b = a ^ operation.x;
    const Phase factor = phase(outcome ? -1.0 : 1.0, operation.i_power);
    const double f = factor.value * sign_of(b & operation.z);
    return factor.real ? Coefficient{vector[re_at(a)] + f * vector[re_at(b)], vector[im_at(a)] + f * vector[im_at(b)]}
                       : Coefficient{vector[re_at(a)] - f * vector[im_at(b)], vector[im_at(a)] + f * vector[re_at(b)]};
}

// Calls use(r, re_0, im_0, re_1, im_1) with block r of the projections on outcome 0 and 1 (as above). The
// pivot must be above the lanes.
template <typename Real, typename Use>
inline void for_each_projected_block(const Real* vector, const Operation& operation, Use use) {
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
            const Block r_a = load_re(vector, a), i_a = load_im(vector, a), r_b = load_re(vector, b), i_b = load_im(vector, b);
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
        const Block r_a = load_re(vector, a), i_a = load_im(vector, a);
        Block r_b = load_re(vector, b), i_b = load_im(vector, b);
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

template <typename Real>
inline OutcomeWeights outcome_weights(const Real* vector, const Operation& operation) {
    Block zero{}, one{};
    if (goes_in_blocks(operation)) {
        for_each_projected_block(vector, operation, [&](uint64_t, Block r_0, Block i_0, Block r_1, Block i_1) {
            zero += r_0 * r_0 + i_0 * i_0;
            one += r_1 * r_1 + i_1 * i_1;
        });
    } else {
        const uint64_t half = uint64_t{1} << (operation.width - 1);
        for (uint64_t r = 0; r < half; ++r) {
            const Coefficient c_0 = projected(vector, operation, r, false);
            const Coefficient c_1 = projected(vector, operation, r, true);
            zero[r % lanes] += c_0.re * c_0.re + c_0.im * c_0.im;
            one[r % lanes] += c_1.re * c_1.re + c_1.im * c_1.im;
        }
    }
    const double scale = operation.x != 0 ? 0.5 : 1.0;
    return {scale * total(zero), scale * total(one)};
}

template <typename Real>
inline void project(const Real* from, Real* to, const Operation& operation, bool outcome, double weight) {
    const double scale = operation.x != 0 ? std::sqrt(0.5 / weight) : std::sqrt(1.0 / weight);
    // Entry r is read before it is written: r <= insert_zero(r, pivot), and its partner b comes from an
    // index >= r too, because the pivot is the highest bit of x (or of z).
    if (goes_in_blocks(operation)) {
        for_each_projected_block(from, operation, [&](uint64_t r, Block r_0, Block i_0, Block r_1, Block i_1) {
            store_re(to, r, all(scale) * (outcome ? r_1 : r_0));
            store_im(to, r, all(scale) * (outcome ? i_1 : i_0));
        });
        return;
    }
    const uint64_t half = uint64_t{1} << (operation.width - 1);
    for (uint64_t r = 0; r < half; ++r) {
        const Coefficient c = projected(from, operation, r, outcome);
        put(to, r, scale * c.re, scale * c.im);
    }
}

// Calls use(r, entry r of the projection on outcome 0 times 2, the same for outcome 1) for a coordinate
// that is woken with this phase and measured at once: entry r of either half is (cos -+ i sin) v[r].
template <typename Real, typename Use>
inline void for_each_weakly_projected(const Real* vector, const Operation& measurement,
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
            const double r_r = vector[re_at(r)], i_r = vector[im_at(r)], r_q = vector[re_at(q)], i_q = vector[im_at(q)];
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
        const Block r_r = load_re(vector, r), i_r = load_im(vector, r), r_q = load_re(vector, q), i_q = load_im(vector, q);
        projections(c, s, sign(q), r_r, i_r, exchange_lanes(r_q, partner), exchange_lanes(i_q, partner),
                    [&](auto... parts) { use(r, parts...); });
        if (q != r)
            projections(c, s, sign(r), r_q, i_q, exchange_lanes(r_r, partner), exchange_lanes(i_r, partner),
                        [&](auto... parts) { use(q, parts...); });
    }
}

template <typename Real>
inline OutcomeWeights weak_weights(const Real* vector, const Operation& measurement,
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
    for_each_weakly_projected(vector, measurement, cosine, sine, add);
    return {0.25 * total(zero), 0.25 * total(one)};
}

template <typename Real>
inline void weak_project(const Real* from, Real* to, const Operation& measurement, double cosine, double sine,
                         bool outcome, double weight) {
    const double scale = 0.5 / std::sqrt(weight);
    const auto write = [&](uint64_t r, auto r_0, auto i_0, auto r_1, auto i_1) {
        if constexpr (std::is_same_v<decltype(r_0), double>) {
            put(to, r, scale * (outcome ? r_1 : r_0), scale * (outcome ? i_1 : i_0));
        } else {
            store_re(to, r, all(scale) * (outcome ? r_1 : r_0));
            store_im(to, r, all(scale) * (outcome ? i_1 : i_0));
        }
    };
    for_each_weakly_projected(from, measurement, cosine, sine, write);
}

}  // namespace snc::SNC_ISA
