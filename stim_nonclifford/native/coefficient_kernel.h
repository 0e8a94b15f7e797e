// What each operation does to the coefficient vector; the twin of `stim_nonclifford/coefficients.py`.
//
// Included by kernels_isa.cc, once per instruction set, inside its namespace. Sums are made in eight
// lanes and in a fixed order, so that every instruction set rounds alike.
#pragma once

#include <bit>
#include <cmath>

#include "kernels.h"

namespace snc::SNC_ISA {

inline bool odd(uint64_t bits) { return (std::popcount(bits) & 1) != 0; }

// a * i^power
inline Complex times_i(Complex a, int power) {
    switch (power & 3) {
        case 0: return a;
        case 1: return {-a.imag(), a.real()};
        case 2: return -a;
        default: return {a.imag(), -a.real()};
    }
}

// a * b by its definition: std::complex's product has branches for infinities.
inline Complex product(Complex a, Complex b) {
    return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}

inline double squared_norm(Complex a) { return a.real() * a.real() + a.imag() * a.imag(); }

// Index r with a 0 inserted at bit `pivot`.
inline uint64_t insert_zero(uint64_t r, int pivot) {
    const uint64_t low = r & ((uint64_t{1} << pivot) - 1);
    return ((r ^ low) << 1) | low;
}

inline void rotate(Complex* v, const Operation& operation, bool reverse) {
    const uint64_t size = uint64_t{1} << operation.width;
    const uint64_t x = operation.x, z = operation.z;
    const double cosine = operation.cosine;
    const double sine = reverse ? -operation.sine : operation.sine;
    if (x == 0) {
        // i_power is 0 or 2: multiply by cos -+ i sin.
        const double signed_sine = operation.i_power == 2 ? -sine : sine;
        for (uint64_t a = 0; a < size; ++a)
            v[a] = product(v[a], {cosine, odd(a & z) ? signed_sine : -signed_sine});
        return;
    }
    // (P v)[a] = i^i_power (-1)^|b & z| v[b] with b = a ^ x; pairs (a, b) are independent.
    const Complex factor = times_i({0, -sine}, operation.i_power);
    const int top = 63 - std::countl_zero(x);
    for (uint64_t r = 0; r < size / 2; ++r) {
        const uint64_t a = insert_zero(r, top), b = a ^ x;
        const Complex from_a = product(odd(a & z) ? -factor : factor, v[a]);
        const Complex from_b = product(odd(b & z) ? -factor : factor, v[b]);
        v[a] = cosine * v[a] + from_b;
        v[b] = cosine * v[b] + from_a;
    }
}

inline void activate(Complex* v, const Operation& operation) {
    const uint64_t size = uint64_t{1} << operation.width;
    for (uint64_t a = 0; a < size; ++a) {
        v[size + a] = Complex{operation.sine * v[a].imag(), -operation.sine * v[a].real()};
        v[a] = operation.cosine * v[a];
    }
}

struct Lanes {
    double sums[8] = {};

    void add(uint64_t index, double value) { sums[index & 7] += value; }
    double total() const {
        return ((sums[0] + sums[1]) + (sums[2] + sums[3])) + ((sums[4] + sums[5]) + (sums[6] + sums[7]));
    }
};

// Entry r of the projection on an outcome, times sqrt(2) if P flips the pivot.
inline Complex projected(const Complex* v, const Operation& operation, uint64_t r, bool outcome) {
    const uint64_t a = insert_zero(r, operation.pivot);
    if (operation.x != 0) {
        const uint64_t b = a ^ operation.x;
        const int power = operation.i_power + (odd(b & operation.z) ? 2 : 0) + (outcome ? 2 : 0);
        return v[a] + times_i(v[b], power);
    }
    const bool pivot_bit = odd(a & operation.z) ^ (operation.i_power == 2) ^ outcome;
    return v[a | (uint64_t{pivot_bit} << operation.pivot)];
}

inline OutcomeWeights outcome_weights(const Complex* v, const Operation& operation) {
    const uint64_t half = uint64_t{1} << (operation.width - 1);
    Lanes zero, one;
    for (uint64_t r = 0; r < half; ++r) {
        zero.add(r, squared_norm(projected(v, operation, r, false)));
        one.add(r, squared_norm(projected(v, operation, r, true)));
    }
    const double scale = operation.x != 0 ? 0.5 : 1.0;
    return {scale * zero.total(), scale * one.total()};
}

inline void project(Complex* v, const Operation& operation, bool outcome, double weight) {
    const uint64_t half = uint64_t{1} << (operation.width - 1);
    const double scale = operation.x != 0 ? std::sqrt(0.5 / weight) : std::sqrt(1.0 / weight);
    // Entry r is read before it is written: r <= insert_zero(r, pivot), and its partner b comes from an
    // index >= r too, because the pivot is the highest bit of x (or of z).
    for (uint64_t r = 0; r < half; ++r) v[r] = scale * projected(v, operation, r, outcome);
}

}  // namespace snc::SNC_ISA
