// Activations and measurements of the coefficient vector. With rotation_kernel.h, the counterpart of
// `stim_nonclifford/simulation/engines/coefficients.py`.
//
// Included by kernels_isa.cc, once per instruction set, inside its namespace. A vector with fewer coefficients than a block has
// lanes is worked on coefficient by coefficient, others block by block.
#pragma once

#include <cmath>

#include "cpu/complex_block.h"
#include "cpu/kernels.h"

namespace snc::SNC_ISA {

template <typename Real>
inline void activate(double* vector, uint64_t size, bool is_diagonal, const Real& cosine, const Real& sine) {
    const Real minus = -sine;
    for (uint64_t a = 0; a < size; ++a) {
        const Complex<Real> v = complex_at<Real>(vector, a);
        put_complex(vector, a, is_diagonal ? turned(v, cosine, sine, minus) : cosine * v);
        put_complex(vector, size + a, is_diagonal ? turned(v, cosine, minus, sine) : Complex<Real>{sine * v.im, minus * v.re});
    }
}

inline void activate(double* vector, const VectorRotation& rotation) {
    const uint64_t size = uint64_t{1} << rotation.width;
    const bool is_diagonal = rotation.x == 0;
    const double scale = is_diagonal ? std::sqrt(0.5) : 1, c = rotation.cosine * scale, s = rotation.sine * scale;
    if (size < lanes) return activate(vector, size, is_diagonal, c, s);
    activate(vector, size / lanes, is_diagonal, all(c), all(s));
}

// Entries, or blocks, of the projections on outcome 0 and 1, up to a common factor.
template <typename Real>
struct Branches {
    Complex<Real> zero, one;
};

// Entry r of both projections; times sqrt(2) if P flips the pivot. `Real` is Block for a batch of vectors.
template <typename Real>
inline Branches<Real> projected(const double* vector, const Operation& operation, uint64_t r) {
    const uint64_t a = insert_zero(r, operation.pivot);
    const Complex<Real> v = complex_at<Real>(vector, a);
    if (operation.x == 0) {
        const Complex<Real> high = complex_at<Real>(vector, a | uint64_t{1} << operation.pivot);
        const bool flipped = odd(a & operation.z) ^ (operation.i_power == 2);
        return flipped ? Branches<Real>{high, v} : Branches<Real>{v, high};
    }
    const uint64_t b = a ^ operation.x;
    const PowerOfI factor = power_of_i(sign_of(b & operation.z), operation.i_power);
    const Complex<Real> p = times(factor.real, spread<Real>(factor.value), complex_at<Real>(vector, b));
    return {v + p, v - p};
}

// Calls use(r, block r of the projections on outcome 0 and 1). The pivot must be above the lanes.
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
            const ComplexBlock low = complex_at(vector, a), high = complex_at(vector, a | (uint64_t{1} << pivot));
            const uint64_t takes_high = flipped ? ~odd_lanes : odd_lanes;
            use(r, Branches<Block>{chosen(takes_high, low, high), chosen(takes_high, high, low)});
        }
        return;
    }
    const PowerOfI factor = power_of_i(1.0, operation.i_power);
    const Block signs = lane_signs(operation.x, operation.z) * factor.value;
    const LaneExchange partner(operation.x);
    const bool exchanges = (operation.x & (lanes - 1)) != 0;
    for (uint64_t r = 0; r < half; ++r) {
        const uint64_t a = insert_zero(r, pivot), b = a ^ x;
        const ComplexBlock v = complex_at(vector, a);
        ComplexBlock other = complex_at(vector, b);
        if (exchanges) other = exchanged(other, partner);
        const ComplexBlock p = times(factor.real, signs * sign_of(b & z), other);
        use(r, Branches<Block>{v + p, v - p});
    }
}

// The same by blocks or by entries.
template <typename Use>
inline void for_each_projected(const double* vector, const Operation& operation, Use use) {
    if (operation.width > lane_bits && operation.pivot >= lane_bits) return for_each_projected_block(vector, operation, use);
    for (uint64_t r = 0; r < uint64_t{1} << (operation.width - 1); ++r) use(r, projected<double>(vector, operation, r));
}

inline OutcomeWeights outcome_weights(const double* vector, const Operation& operation) {
    Block zero{}, one{};
    double lane_zero[lanes] = {}, lane_one[lanes] = {};
    for_each_projected(vector, operation, [&]<typename Real>(uint64_t r, const Branches<Real>& branches) {
        if constexpr (std::is_same_v<Real, double>) {
            lane_zero[r % lanes] += square(branches.zero);
            lane_one[r % lanes] += square(branches.one);
        } else {
            zero += square(branches.zero);
            one += square(branches.one);
        }
    });
    const double scale = operation.x != 0 ? 0.5 : 1.0;
    return {scale * total(zero + load(lane_zero)), scale * total(one + load(lane_one))};
}

// Entry r is read before it is written: r <= insert_zero(r, pivot), and its partner b comes from an index >= r too, because the
// pivot is the highest bit of x (or of z).
inline void project(const double* from, double* to, const Operation& operation, bool outcome, double weight) {
    const double scale = std::sqrt((operation.x != 0 ? 0.5 : 1.0) / weight);
    for_each_projected(from, operation, [=]<typename Real>(uint64_t r, const Branches<Real>& branches) {
        put_complex(to, r, spread<Real>(scale) * (outcome ? branches.one : branches.zero));
    });
}

}  // namespace snc::SNC_ISA
