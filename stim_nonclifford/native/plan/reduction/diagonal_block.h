// A block of diagonal T rotations as a symmetric trilinear form over GF(2): what of it a measurement needs.
//
// On a basis state a, rotations exp(-i c_j π/8 Z^(z_j)) are, but for a global phase, exp(i π/4 f(a)) with
//     f(a) = sum_j c_j (z_j.a) mod 8,  z.a a parity.
// They are a Clifford if and only if the trilinear form S(u, v, w) = sum_(odd c_j) (z_j.u)(z_j.v)(z_j.w) over GF(2) vanishes (M. Amy,
// M. Mosca, arXiv 1601.07363; L. Heyfron, E. Campbell, arXiv 1712.01557).
//
// A measurement of a Pauli with the X part x anticommutes with the rotations with z_j.x = 1. It needs B = S(x, ., .), the sum of z_j z_j^T
// over them: let l be one of their z_j, and y = l.a. Then
//     f = f' + y (...),  f' = f with l added to each of their z_j,
// all rotations of f' commute with the measurement and can wait, and what is multiplied by y acts on as many coordinates as B has
// independent rows, or on one more. If B = 0, it is a Clifford: with w_j = z_j + l, basis vectors v_k of the w_j, and q_k the number of
// w_j that have v_k,
//     sum_j (z_j.a) - (w_j.a) = L y - 2 y sum_j (w_j.a) = L y - 2 y sum_k q_k (v_k.a)  mod 8,
// as the terms y v_k v_l come in even numbers. L and the q_k are even; where w is the sum of the v_k with q_k = 2 mod 4, this is
// L y + 4 y (w.a).
#pragma once

#include <cstdint>
#include <map>
#include <set>

#include "algebra/bits.h"

namespace snc {

// Rotations exp(-i c π/8 Z^z) with even c, which are Cliffords: c modulo 8 for each z.
using DiagonalCliffords = std::map<Bits, uint32_t>;

class DiagonalBlock {
   public:
    // Adds the rotation exp(-i eighths π/8 Z^z). What is Clifford about it joins `cliffords`.
    void add(const Bits& z, uint32_t eighths, DiagonalCliffords& cliffords);

    // The rank of B for a measurement with the X part x. If it is 0, the rotations that anticommute with it become Cliffords and rotations
    // that commute. Otherwise the block does not change.
    size_t split(const Bits& x, DiagonalCliffords& cliffords);

   private:
    std::set<Bits> odd_;  // all with c = 1
};

// Whether two sets have an odd number of common members.
inline bool is_odd_overlap(const Bits& a, const Bits& b) {
    uint64_t common = 0;
    for (size_t w = 0; w < std::min(a.size(), b.size()); ++w) common ^= a[w] & b[w];
    return std::popcount(common) % 2 != 0;
}

}  // namespace snc
