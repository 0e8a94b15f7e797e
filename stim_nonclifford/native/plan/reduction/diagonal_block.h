// A block of diagonal T rotations as a symmetric trilinear form over GF(2): what of it a measurement needs.
//
// On a basis state a, rotations exp(-i c_j π/8 Z^(z_j)) are, but for a global phase, exp(i π/4 f(a)) with
//     f(a) = sum_j c_j (z_j.a) mod 8,  z.a a parity.
// They are a Clifford if and only if the trilinear form S(u, v, w) = sum_(odd c_j) (z_j.u)(z_j.v)(z_j.w) over GF(2) vanishes (M. Amy,
// M. Mosca, arXiv 1601.07363; L. Heyfron, E. Campbell, arXiv 1712.01557).
//
// A measurement of a Pauli with the X part x anticommutes with the rotations with z_j.x = 1. It needs B = S(x, ., .), the sum of z_j z_j^T
// over them. Choose l with l.x = 1, in the span U of the rows of B if that has one, or else one of their z_j; and let y = l.a. Then
//     f = f' + y (...),  f' = f with w_j = z_j + l in place of each of their z_j.
// All rotations of f' commute with the measurement and can wait. With basis vectors v_k of the w_j, those of U first, and w_j = sum_k m_jk v_k,
//     sum_j (z_j.a) - (w_j.a) = L y - 2 y sum_j (w_j.a),
//     sum_j (w_j.a) = sum_k q_k (v_k.a) - 2 sum_(k<l) r_kl (v_k.a)(v_l.a) mod 4,  q_k = sum_j m_jk,  r_kl = sum_j m_jk m_jl,
// where r_kl is even unless both are in U, and q_k is even unless v_k is. So what is not Clifford is about sums of l and vectors of U. If
// B = 0, there is nothing.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "algebra/bits.h"

namespace snc {

// Rotations exp(-i c π/8 Z^z) with even c, which are Cliffords: c modulo 8 for each z.
using DiagonalCliffords = std::map<Bits, uint32_t>;

class DiagonalBlock {
   public:
    // Adds the rotation exp(-i eighths π/8 Z^z). What is Clifford about it joins `cliffords`.
    void add(const Bits& z, uint32_t eighths, DiagonalCliffords& cliffords);

    // Removes all with a bit, and returns their z.
    std::vector<Bits> take_with(size_t bit);

    // What a measurement with the X part x needs: Cliffords, and rotations exp(-i π/8 Z^z), which are returned. What is left of the block
    // commutes with the measurement.
    std::vector<Bits> split(const Bits& x, DiagonalCliffords& cliffords);

   private:
    std::set<Bits> odd_;  // all with c = 1
};

}  // namespace snc
