// Complex numbers whose parts are blocks or single numbers, and their places in a coefficient vector.
//
// Included by kernels_isa.cc, once per instruction set, inside its namespace.
#pragma once

#include "cpu/block.h"

namespace snc::SNC_ISA {

template <typename Real>
struct Complex {
    Real re, im;

    friend Complex operator+(const Complex& a, const Complex& b) { return {a.re + b.re, a.im + b.im}; }
    friend Complex operator-(const Complex& a, const Complex& b) { return {a.re - b.re, a.im - b.im}; }
    friend Complex operator*(const Real& a, const Complex& b) { return {a * b.re, a * b.im}; }
    friend Complex operator*(const Complex& a, const Complex& b) {
        return {fused(a.re, b.re, -(a.im * b.im)), fused(a.re, b.im, a.im * b.re)};
    }
};
using ComplexBlock = Complex<Block>;

template <typename Real>
inline Complex<Real> conjugate(const Complex<Real>& a) {
    return {a.re, -a.im};
}
template <typename Real>
inline Real square(const Complex<Real>& a) {
    return a.re * a.re + a.im * a.im;
}
// f v, or i f v.
template <typename Real>
inline Complex<Real> times(bool is_real, const Real& f, const Complex<Real>& v) {
    return is_real ? Complex<Real>{f * v.re, f * v.im} : Complex<Real>{-(f * v.im), f * v.re};
}
// (cosine - i sine) v, with minus = -sine; with both exchanged, (cosine + i sine) v. It has sums only: of a sum and a difference side
// by side, GCC 12 makes one instruction that rounds products and sums at once, whatever -ffp-contract says.
template <typename Real>
inline Complex<Real> turned(const Complex<Real>& v, const Real& cosine, const Real& sine, const Real& minus) {
    return {cosine * v.re + sine * v.im, cosine * v.im + minus * v.re};
}

// Of a vector, a block by its number, or a coefficient by its index.
template <typename Real = Block>
inline Complex<Real> complex_at(const double* vector, uint64_t place) {
    if constexpr (std::is_same_v<Real, double>)
        return {vector[re_at(place)], vector[im_at(place)]};
    else
        return {load(vector + 2 * lanes * place), load(vector + 2 * lanes * place + lanes)};
}
inline void put_complex(double* vector, uint64_t block, const ComplexBlock& value) {
    store(vector + 2 * lanes * block, value.re);
    store(vector + 2 * lanes * block + lanes, value.im);
}
inline void put_complex(double* vector, uint64_t index, const Complex<double>& value) {
    vector[re_at(index)] = value.re;
    vector[im_at(index)] = value.im;
}

inline ComplexBlock exchanged(const ComplexBlock& block, const LaneExchange& partner) {
    return {partner(block.re), partner(block.im)};
}
inline ComplexBlock chosen(uint64_t mask, const ComplexBlock& a, const ComplexBlock& b) {
    return {chosen(mask, a.re, b.re), chosen(mask, a.im, b.im)};
}

// A number in all lanes, or itself.
template <typename Real>
inline Real spread(double value) {
    if constexpr (std::is_same_v<Real, double>)
        return value;
    else
        return all(value);
}

}  // namespace snc::SNC_ISA
