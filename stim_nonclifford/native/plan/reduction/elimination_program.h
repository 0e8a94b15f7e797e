// Plans whose outcomes need no coefficient vector: the measured Paulis, pulled back to the beginning.
//
// T^(1-2b) = T S^(-b): what is not Clifford about a diagonal rotation does not depend on the signature. If no measurement needs any of it
// (diagonal_block.h), the state after the measurements M_1, ..., M_t is
//     C Π(N_t) ... Π(N_1) |+>^n,  N_i = C_i^† M_i C_i = i^(p_i + sum_j d_j b_j) X^(x_i) Z^(z_i + sum_j b_j z_j),
// where C_i has the diagonal Cliffords before M_i, and the sums go over sign bits b_j of rotations about Z^(z_j) before it with
// z_j.x_i = 1. A signature only chooses Z strings and signs of measured Paulis.
//
// All N_i commute. A row of the elimination is a stabilizer (-1)^outcome N_i. If rows do not remove the Z string of N_i, its outcome is a
// fair coin; if they do, what remains is ±X^x, which |+>^n has with its sign as the outcome. All probabilities are 0, 1/2 or 1.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace snc {

// What an elimination does for a signature.
struct EliminationWork {
    uint64_t strings = 0;   // Z strings of sign bits that are set
    uint64_t products = 0;  // of a measured Pauli and a row
    uint64_t coins = 0;     // outcomes that are not certain

    EliminationWork& operator+=(const EliminationWork& other) {
        strings += other.strings;
        products += other.products;
        coins += other.coins;
        return *this;
    }
};

struct EliminationProgram {
    // A step of the simulation, as driver.h takes it.
    struct Measurement {
        uint32_t operation;
        int32_t outcome;
        uint32_t i_power;

        static constexpr bool measures() { return true; }
    };

    uint32_t num_qubits = 0, num_words = 0;
    uint32_t sign_words = 0;
    std::vector<Measurement> measurements;
    std::vector<uint64_t> paulis;         // [measurements][words of x, words of z]: without sign bits
    std::vector<uint64_t> masks;          // [measurements][sign_words]: the sign bits that change the Pauli
    std::vector<uint32_t> first_entries;  // [measurements][sign_words]: the entry of the lowest of them
    std::vector<uint64_t> strings;        // [entries][num_words]: Z strings
    std::vector<uint8_t> quarter_turns;   // [entries]: powers of i

    const uint64_t* pauli(size_t k) const { return paulis.data() + k * 2 * num_words; }
    size_t num_entries() const { return quarter_turns.size(); }

    // Writes the Pauli of a measurement where the sign bits are these. Returns its power of i.
    uint32_t write_pauli(size_t k, const uint64_t* signs, uint64_t* pauli_words, uint64_t& strings_used) const {
        const uint64_t* const from = pauli(k);
        for (uint32_t w = 0; w < 2 * num_words; ++w) pauli_words[w] = from[w];
        uint64_t* const z = pauli_words + num_words;
        uint32_t i_power = measurements[k].i_power;
        for (uint32_t s = 0; s < sign_words; ++s) {
            const uint64_t mask = masks[k * sign_words + s];
            for (uint64_t bits = mask & signs[s]; bits != 0; bits &= bits - 1) {
                const uint64_t lower = mask & ((bits & -bits) - 1);
                const size_t entry = first_entries[k * sign_words + s] + static_cast<size_t>(std::popcount(lower));
                for (uint32_t w = 0; w < num_words; ++w) z[w] ^= strings[entry * num_words + w];
                i_power += quarter_turns[entry];
                ++strings_used;
            }
        }
        return i_power;
    }
};

}  // namespace snc
