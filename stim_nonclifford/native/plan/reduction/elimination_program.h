// The measured Paulis of a plan, pulled back to the beginning, and what of its rotations is not Clifford.
//
// T^(1-2b) = T S^(-b): what is not Clifford about a diagonal rotation does not depend on the signature. With A_i the rotations that the
// measurement M_i needs (diagonal_block.h), the state after the measurements M_1, ..., M_t is
//     C Π(N_t) A_t ... Π(N_1) A_1 |+>^n,  N_i = C_i^† M_i C_i = i^(p_i + sum_j d_j b_j) X^(x_i) Z^(z_i + sum_j b_j z_j),
// where C_i has the diagonal Cliffords before M_i, and the sums go over sign bits b_j of rotations about Z^(z_j) before it with
// z_j.x_i = 1. A signature only chooses Z strings and signs of measured Paulis, and signs of the A_i whose angles are no multiples of π/8.
//
// After a measurement of a Z string w, Z^w is a sign e that outcomes decide, and Z^z = (1 - 2 e) Z^(z+w): a rotation about Z^z is one about
// Z^(z+w) and a Clifford where e is set. So what waits is about strings modulo those that were measured, if that leaves less of it.
//
// An elimination (stabilizer_rows.h) tells whether an outcome is a fair coin, certain, or depends on coefficients, of which there are 2^a for
// a independent strings of rotations A_i. Without such rotations all probabilities are 0, 1/2 or 1.
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
    uint64_t coins = 0;     // fair outcomes
    EliminationWork& operator+=(const EliminationWork& other) {
        strings += other.strings;
        products += other.products;
        coins += other.coins;
        return *this;
    }
};

struct EliminationProgram {
    struct Measurement {
        int32_t outcome;
        uint32_t i_power;
    };
    // A rotation by an angle whose half has this cosine and sine, reversed where a bit of the branch row is set; the bit is -1 if none is.
    struct Rotation {
        double cosine, sine;
        int32_t sign;
    };
    // A step of the simulation, as driver.h takes it: a measurement; or rotations, and then outcome is -1.
    struct Step {
        uint32_t first, end;     // numbers of rotations, or the number of the measurement
        int32_t outcome;
        uint32_t end_operation;  // the signs of no later operations were read before the end of the step

        bool measures() const { return outcome >= 0; }
    };

    uint32_t num_qubits = 0, num_words = 0;
    uint32_t sign_words = 0;    // of the branch row
    uint32_t string_words = 0;  // of the signs of measured Z strings
    std::vector<uint64_t> string_signs;  // [string_words]: these signs if all outcomes are 0
    std::vector<uint64_t> string_flips;  // [measurements][string_words]: those that an outcome flips
    std::vector<Step> steps;
    std::vector<Rotation> rotations;
    std::vector<uint64_t> axes;           // [rotations][num_words]: the Z strings that they are about
    std::vector<Measurement> measurements;
    std::vector<uint64_t> paulis;         // [measurements][words of x, words of z]: without sign bits
    std::vector<uint64_t> masks;          // [measurements][all_sign_words]: the sign bits that change the Pauli
    std::vector<uint32_t> first_entries;  // [measurements][all_sign_words]: the entry of the lowest of them
    std::vector<uint64_t> strings;        // [entries][num_words]: Z strings
    std::vector<uint8_t> quarter_turns;   // [entries]: powers of i

    const uint64_t* pauli(size_t k) const { return paulis.data() + k * 2 * num_words; }
    size_t num_entries() const { return quarter_turns.size(); }
    uint32_t all_sign_words() const { return sign_words + string_words; }
    bool needs_coefficients() const { return !rotations.empty(); }
    // The number of words of a Pauli in stabilizer_rows.h.
    size_t pauli_words() const { return (needs_coefficients() ? 3 : 2) * size_t{num_words}; }

    // Writes the Pauli of a rotation. Returns its power of i.
    uint32_t write_axis(size_t k, uint64_t* to) const {
        for (uint32_t w = 0; w < num_words; ++w) {
            to[w] = 0;
            to[num_words + w] = axes[k * num_words + w];
        }
        return 0;
    }

    void flip_string_signs(size_t measurement, uint64_t* signs) const {
        for (uint32_t w = 0; w < string_words; ++w) signs[w] ^= string_flips[measurement * string_words + w];
    }
    // Writes the Pauli of a measurement where the sign bits of the branch row, and those of measured strings, are these. Returns its power
    // of i.
    uint32_t write_pauli(size_t k, const uint64_t* signs, const uint64_t* of_strings, uint64_t* to, uint64_t& strings_used) const {
        const uint64_t* const from = pauli(k);
        for (uint32_t w = 0; w < 2 * num_words; ++w) to[w] = from[w];
        uint64_t* const z = to + num_words;
        uint32_t i_power = measurements[k].i_power;
        for (uint32_t s = 0; s < all_sign_words(); ++s) {
            const uint64_t mask = masks[k * all_sign_words() + s];
            for (uint64_t bits = mask & (s < sign_words ? signs[s] : of_strings[s - sign_words]); bits != 0; bits &= bits - 1) {
                const uint64_t lower = mask & ((bits & -bits) - 1);
                const size_t entry = first_entries[k * all_sign_words() + s] + static_cast<size_t>(std::popcount(lower));
                for (uint32_t w = 0; w < num_words; ++w) z[w] ^= strings[entry * num_words + w];
                i_power += quarter_turns[entry];
                ++strings_used;
            }
        }
        return i_power;
    }
};

}  // namespace snc
