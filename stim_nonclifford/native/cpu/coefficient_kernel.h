// Activations and measurements of the coefficient vector. With rotation_kernel.h, the counterpart of
// `stim_nonclifford/simulation/engines/coefficients.py`.
//
// Included by kernels_isa.cc, once per instruction set, inside its namespace.
#pragma once

#include <cmath>

#include "cpu/block.h"
#include "cpu/kernels.h"

namespace snc::SNC_ISA {

inline void activate(double* vector, const VectorRotation& rotation) {
    const uint64_t size = uint64_t{1} << rotation.width;
    const bool is_diagonal = rotation.x == 0;
    const double scale = is_diagonal ? std::sqrt(0.5) : 1;
    const double c = rotation.cosine * scale, s = rotation.sine * scale;
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
inline Coefficient projected(const double* vector, const Operation& operation, uint64_t r,
                             bool outcome) {
    const uint64_t a = insert_zero(r, operation.pivot);
    if (operation.x == 0) {
        const bool pivot_bit = odd(a & operation.z) ^ (operation.i_power == 2) ^ outcome;
        const uint64_t kept = a | (uint64_t{pivot_bit} << operation.pivot);
        return {vector[re_at(kept)], vector[im_at(kept)]};
    }
    const uint64_t b = a ^ operation.x;
    const PowerOfI factor = power_of_i(outcome ? -1.0 : 1.0, operation.i_power);
    const double f = factor.value * sign_of(b & operation.z);
    return factor.real ? Coefficient{vector[re_at(a)] + f * vector[re_at(b)], vector[im_at(a)] + f * vector[im_at(b)]}
                       : Coefficient{vector[re_at(a)] - f * vector[im_at(b)], vector[im_at(a)] + f * vector[re_at(b)]};
}

// Calls use(r, re_0, im_0, re_1, im_1) with block r of the projections on outcome 0 and 1 (as above). The
// pivot must be above the lanes.
template <typename Use>
inline void for_each_projected_block(const double* vector, const Operation& operation, Use use) {
    const uint64_t half = uint64_t{1} << (operation.width - 1 - lane_bits);
    const int pivot = operation.pivot - lane_bits;
    const uint64_t x = operation.x >> lane_bits, z = operation.z >> lane_bits;
    if (operation.x == 0) {
        // Each lane takes the entry whose pivot bit equals the lane's parity.
        uint64_t odd_lanes = 0;
        for (uint64_t lane = 0; lane < lanes; ++lane) odd_lanes |= uint64_t{odd(lane & operation.z)} << lane;
        for (uint64_t r = 0; r < half; ++r) {
            const uint64_t a = insert_zero(r, pivot);
            const bool flipped = odd(a & z) ^ (operation.i_power == 2);
            const uint64_t b = a | (uint64_t{1} << pivot);
            const Block r_a = load_re(vector, a), i_a = load_im(vector, a), r_b = load_re(vector, b), i_b = load_im(vector, b);
            const uint64_t takes_b = flipped ? ~odd_lanes : odd_lanes;
            use(r, chosen(takes_b, r_a, r_b), chosen(takes_b, i_a, i_b), chosen(takes_b, r_b, r_a), chosen(takes_b, i_b, i_a));
        }
        return;
    }
    const PowerOfI factor = power_of_i(1.0, operation.i_power);
    const Block signs = lane_signs(operation.x, operation.z) * factor.value;
    const LaneExchange partner(operation.x);
    const bool exchanges = (operation.x & (lanes - 1)) != 0;
    for (uint64_t r = 0; r < half; ++r) {
        const uint64_t a = insert_zero(r, pivot), b = a ^ x;
        const Block f = signs * sign_of(b & z);
        const Block r_a = load_re(vector, a), i_a = load_im(vector, a);
        Block r_b = load_re(vector, b), i_b = load_im(vector, b);
        if (exchanges) {
            r_b = partner(r_b);
            i_b = partner(i_b);
        }
        const Block p_r = factor.real ? f * r_b : -(f * i_b);
        const Block p_i = factor.real ? f * i_b : f * r_b;
        use(r, r_a + p_r, i_a + p_i, r_a - p_r, i_a - p_i);
    }
}

inline bool goes_in_blocks(const Operation& operation) {
    return operation.width > lane_bits && operation.pivot >= lane_bits;
}

inline OutcomeWeights outcome_weights(const double* vector, const Operation& operation) {
    Block zero{}, one{};
    if (goes_in_blocks(operation)) {
        for_each_projected_block(vector, operation, [&](uint64_t, Block r_0, Block i_0, Block r_1, Block i_1) {
            zero += r_0 * r_0 + i_0 * i_0;
            one += r_1 * r_1 + i_1 * i_1;
        });
    } else {
        const uint64_t half = uint64_t{1} << (operation.width - 1);
        double of_zero[lanes] = {}, of_one[lanes] = {};
        for (uint64_t r = 0; r < half; ++r) {
            const Coefficient c_0 = projected(vector, operation, r, false);
            const Coefficient c_1 = projected(vector, operation, r, true);
            of_zero[r % lanes] += c_0.re * c_0.re + c_0.im * c_0.im;
            of_one[r % lanes] += c_1.re * c_1.re + c_1.im * c_1.im;
        }
        zero = load(of_zero);
        one = load(of_one);
    }
    const double scale = operation.x != 0 ? 0.5 : 1.0;
    return {scale * total(zero), scale * total(one)};
}

inline void project(const double* from, double* to, const Operation& operation, bool outcome, double weight) {
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
// that is activated with this phase and measured at once: entry r of either half is (cos -+ i sin) v[r].
template <typename Use>
inline void for_each_weakly_projected(const double* vector, const Operation& measurement,
                                      double cosine, double sine, Use use) {
    const uint64_t pivot = uint64_t{1} << measurement.pivot;
    const uint64_t size = pivot;
    const uint64_t x = measurement.x ^ pivot;
    const PowerOfI factor = power_of_i(1.0, measurement.i_power);
    const auto projections = [&](auto c, auto s, auto f, auto r_a, auto i_a, auto r_b, auto i_b, auto give) {
        const auto own_r = c * r_a + s * i_a, own_i = c * i_a - s * r_a;
        const auto other_r = c * r_b - s * i_b, other_i = c * i_b + s * r_b;
        const auto p_r = factor.real ? f * other_r : -(f * other_i);
        const auto p_i = factor.real ? f * other_i : f * other_r;
        give(own_r + p_r, own_i + p_i, own_r - p_r, own_i - p_i);
    };
    if (size < lanes) {
        // Both entries of a pair are read before either is written.
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
    const LaneExchange partner(measurement.x);
    for (uint64_t r = 0; r < size / lanes; ++r) {
        const uint64_t q = r ^ block_x;
        if (q < r) continue;
        const auto sign = [&](uint64_t other) { return signs * sign_of((other | block_pivot) & block_z); };
        const Block r_r = load_re(vector, r), i_r = load_im(vector, r), r_q = load_re(vector, q), i_q = load_im(vector, q);
        projections(c, s, sign(q), r_r, i_r, partner(r_q), partner(i_q),
                    [&](auto... parts) { use(r, parts...); });
        if (q != r)
            projections(c, s, sign(r), r_q, i_q, partner(r_r), partner(i_r),
                        [&](auto... parts) { use(q, parts...); });
    }
}

inline OutcomeWeights weak_weights(const double* vector, const Operation& measurement,
                                   double cosine, double sine) {
    Block zero{}, one{};
    double of_zero[lanes] = {}, of_one[lanes] = {};  // of a vector that is part of a block
    const auto add = [&](uint64_t r, auto r_0, auto i_0, auto r_1, auto i_1) {
        if constexpr (std::is_same_v<decltype(r_0), double>) {
            of_zero[r] += r_0 * r_0 + i_0 * i_0;
            of_one[r] += r_1 * r_1 + i_1 * i_1;
        } else {
            zero += r_0 * r_0 + i_0 * i_0;
            one += r_1 * r_1 + i_1 * i_1;
        }
    };
    for_each_weakly_projected(vector, measurement, cosine, sine, add);
    return {0.25 * total(zero + load(of_zero)), 0.25 * total(one + load(of_one))};
}

inline void weak_project(const double* from, double* to, const Operation& measurement, double cosine, double sine,
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
