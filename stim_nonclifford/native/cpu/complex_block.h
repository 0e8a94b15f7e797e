// Blocks of complex numbers.
//
// Included by kernels_isa.cc, once per instruction set, inside its namespace.
#pragma once

#include "cpu/block.h"

namespace snc::SNC_ISA {

struct ComplexBlock {
    Block re, im;
};

inline ComplexBlock operator*(const ComplexBlock& a, const ComplexBlock& b) {
    return {fused(a.re, b.re, -(a.im * b.im)), fused(a.re, b.im, a.im * b.re)};
}

// a * b + c
inline ComplexBlock fused(const ComplexBlock& a, const ComplexBlock& b, const ComplexBlock& c) {
    return {fused(a.re, b.re, fused(-a.im, b.im, c.re)), fused(a.re, b.im, fused(a.im, b.re, c.im))};
}

inline ComplexBlock complex_at(const double* vector, uint64_t block) {
    return {load_re(vector, block), load_im(vector, block)};
}

inline void put_complex(double* vector, uint64_t block, const ComplexBlock& value) {
    store_re(vector, block, value.re);
    store_im(vector, block, value.im);
}

inline ComplexBlock exchanged(const ComplexBlock& block, const LaneExchange& partner) {
    return {partner(block.re), partner(block.im)};
}

}  // namespace snc::SNC_ISA
