// Applies the steps of a simulation to the vectors of several shots at once; the counterpart of coefficient_kernel.h and
// phase_kernel.h for narrow vectors.
//
// Included by kernels_isa.cc, once per instruction set, inside its namespace. Block k of a vector has the coefficients
// with index k, one shot in each of its lanes; angles, too, are a block of cosines and a block of sines.
#pragma once

#include <algorithm>
#include <cmath>

#include "cpu/coefficient_kernel.h"
#include "cpu/kernels.h"

namespace snc::SNC_ISA {

static_assert(lanes == batch_shots);

inline void batch_sum_angles(double* angle, const RotationTerm* terms, size_t count, const uint8_t* flipped) {
    const auto sine = [&](const RotationTerm& term) {
        const uint64_t mask = term.sign >= 0 ? flipped[term.sign] : 0;
        return chosen(term.is_reversed != 0 ? ~mask : mask, all(term.sine), all(-term.sine));
    };
    ComplexBlock sum{all(terms[0].cosine), sine(terms[0])};
    for (size_t k = 1; k < count; ++k) sum = sum * ComplexBlock{all(terms[k].cosine), sine(terms[k])};
    put_complex(angle, 0, sum);
}

inline void batch_add_angle(double* to, const double* angle, bool is_new, bool reverse) {
    ComplexBlock added = complex_at(angle, 0);
    if (reverse) added = conjugate(added);
    put_complex(to, 0, is_new ? added : complex_at(to, 0) * added);
}

// table[i] = product of cos - i sin (-1)^|i & z|, or of the squares of the inverses.
inline void batch_phases(double* table, int32_t width, const PhaseProduct& product, const double* angles,
                         bool inverse_squares) {
    put_complex(table, 0, ComplexBlock{all(1), all(0)});
    for (int32_t bit = 0; bit < width; ++bit) {
        const uint64_t size = uint64_t{1} << bit;
        std::copy_n(table, 2 * lanes * size, table + 2 * lanes * size);
        for (const auto& group : product.groups)
            for (const PhaseProduct::Factor& factor : group) {
                if (factor.z >> bit != 1) continue;
                const ComplexBlock angle = complex_at(angles, factor.slot);
                const ComplexBlock odd_factor = inverse_squares ? conjugate(angle * angle) : angle;
                const ComplexBlock even_factor = conjugate(odd_factor);
                for (uint64_t i = 0; i < 2 * size; ++i)
                    put_complex(table, i, complex_at(table, i) * (odd(i & factor.z) ? odd_factor : even_factor));
            }
    }
}

inline void batch_apply_phases(double* vector, const double* table, int32_t width_before, int32_t width_after) {
    const uint64_t mask = (uint64_t{1} << width_before) - 1;
    for (uint64_t i = uint64_t{1} << width_after; i-- > 0;)
        put_complex(vector, i, complex_at(vector, i & mask) * complex_at(table, i));
}

inline void batch_rotate(double* vector, const Operation& operation, const double* angle) {
    const auto [cosine, sine] = complex_at(angle, 0);
    const PowerOfI factor = power_of_i(1.0, operation.i_power + 3);  // -i P
    const auto turned = [&](uint64_t from, const ComplexBlock& own, const ComplexBlock& other) {
        return cosine * own + sine * times(factor.real, all(factor.value * sign_of(from & operation.z)), other);
    };
    for (uint64_t a = 0; a < uint64_t{1} << operation.width; ++a) {
        const uint64_t b = a ^ operation.x;
        if (b < a) continue;
        const ComplexBlock v_a = complex_at(vector, a), v_b = complex_at(vector, b);
        put_complex(vector, a, turned(b, v_a, v_b));
        if (b != a) put_complex(vector, b, turned(a, v_b, v_a));
    }
}

inline void batch_activate(double* vector, const VectorRotation& rotation, const double* angle) {
    const uint64_t size = uint64_t{1} << rotation.width;
    const ComplexBlock turn = all(rotation.x == 0 ? std::sqrt(0.5) : 1) * complex_at(angle, 0);
    for (uint64_t a = 0; a < size; ++a) {
        const ComplexBlock v = complex_at(vector, a);
        if (rotation.x == 0) {
            put_complex(vector, a, conjugate(turn) * v);
            put_complex(vector, size + a, turn * v);
        } else {
            put_complex(vector, a, turn.re * v);
            put_complex(vector, size + a, ComplexBlock{turn.im * v.im, -(turn.im * v.re)});
        }
    }
}

// Stores entry r of the projections on outcome 0 and 1 at 2 r and 2 r + 1, up to a common factor, their squared norms in
// `weights`, and the probability of outcome 1. `at(r)` returns both entries.
template <typename At>
inline void batch_project(double* branches, double* weights, uint64_t size, At at) {
    Block zero{}, one{};
    for (uint64_t r = 0; r < size; ++r) {
        const auto [c_0, c_1] = at(r);
        put_complex(branches, 2 * r, c_0);
        put_complex(branches, 2 * r + 1, c_1);
        zero += square(c_0);
        one += square(c_1);
    }
    store(weights, zero);
    store(weights + lanes, one);
    store(weights + 2 * lanes, one / (zero + one));
}

inline void batch_measure(const double* vector, const Operation& operation, double* branches, double* weights) {
    batch_project(branches, weights, uint64_t{1} << (operation.width - 1),
                  [&](uint64_t r) { return projected<Block>(vector, operation, r); });
}

inline void batch_measure_through(const double* vector, const double* table, int32_t width_before, int32_t width_after,
                                  const Operation& measurement, double* branches, double* weights) {
    const PowerOfI factor = power_of_i(1.0, measurement.i_power);
    const uint64_t mask = (uint64_t{1} << width_before) - 1;
    batch_project(branches, weights, uint64_t{1} << (width_after - 1), [&](uint64_t r) -> Branches<Block> {
        const uint64_t a = insert_zero(r, measurement.pivot), b = a ^ measurement.x;
        const ComplexBlock v = complex_at(vector, a & mask);
        const ComplexBlock p = complex_at(table, a) * times(factor.real, all(factor.value * sign_of(b & measurement.z)), complex_at(vector, b & mask));
        return {v + p, v - p};
    });
}

inline void batch_take(double* vector, const double* branches, uint64_t size, uint64_t ones, const double* weights) {
    const Block weight = chosen(ones, load(weights), load(weights + lanes));
    const Block scale = all(1) / square_roots(weight);
    for (uint64_t r = 0; r < size; ++r) {
        put_complex(vector, r, scale * chosen(ones, complex_at(branches, 2 * r), complex_at(branches, 2 * r + 1)));
    }
}

}  // namespace snc::SNC_ISA
