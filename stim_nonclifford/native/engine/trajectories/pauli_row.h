// Paulis as rows of a tableau. Included by trajectories_isa.cc, once per instruction set, inside its namespace.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace snc::SNC_ISA {

// i^i_power X^x Z^z on at most 64 W qubits.
template <size_t W>
struct PauliRow {
    std::array<uint64_t, W> x{}, z{};
    uint64_t i_power = 0;  // modulo 4
};

template <size_t W>
inline bool has_bit(const std::array<uint64_t, W>& words, uint32_t bit) {
    return (words[bit / 64] >> (bit % 64) & 1) != 0;
}

template <size_t W>
inline void flip_bit(std::array<uint64_t, W>& words, uint32_t bit) {
    words[bit / 64] ^= uint64_t{1} << (bit % 64);
}

template <size_t W>
inline bool is_zero(const std::array<uint64_t, W>& words) {
    uint64_t any = 0;
    for (const uint64_t word : words) any |= word;
    return any == 0;
}

// The lowest bit of words that are not all zero.
template <size_t W>
inline uint32_t lowest_bit(const std::array<uint64_t, W>& words) {
    uint32_t w = 0;
    while (words[w] == 0) ++w;
    return 64 * w + static_cast<uint32_t>(std::countr_zero(words[w]));
}

template <size_t W>
inline bool odd_overlap(const std::array<uint64_t, W>& a, const std::array<uint64_t, W>& b) {
    uint64_t common = 0;
    for (size_t w = 0; w < W; ++w) common ^= a[w] & b[w];
    return (std::popcount(common) & 1) != 0;
}

template <size_t W>
inline bool anticommute(const PauliRow<W>& a, const PauliRow<W>& b) {
    uint64_t common = 0;
    for (size_t w = 0; w < W; ++w) common ^= (a.x[w] & b.z[w]) ^ (a.z[w] & b.x[w]);
    return (std::popcount(common) & 1) != 0;
}

// a <- a b. Moving Zs of a past Xs of b gives a sign.
template <size_t W>
inline void multiply(PauliRow<W>& a, const PauliRow<W>& b) {
    a.i_power = (a.i_power + b.i_power + (odd_overlap(a.z, b.x) ? 2 : 0)) & 3;
    for (size_t w = 0; w < W; ++w) {
        a.x[w] ^= b.x[w];
        a.z[w] ^= b.z[w];
    }
}

}  // namespace snc::SNC_ISA
