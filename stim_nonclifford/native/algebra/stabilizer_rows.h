// Stabilizers of a state of qubits that all began in |+>, as rows of an elimination over GF(2).
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace snc {

// Commuting Paulis i^p X^x Z^z, of which each has the lowest bit of its z alone among those that follow it in an elimination. A
// Pauli is an array of words: those of x, then those of z.
class StabilizerRows {
   public:
    StabilizerRows() = default;
    explicit StabilizerRows(uint32_t num_qubits) : num_words_((num_qubits + 63) / 64), row_with_(num_qubits, no_row) {}

    void clear() {
        rows_.clear();
        std::fill(row_with_.begin(), row_with_.end(), no_row);
    }
    size_t size() const { return rows_.size() / stride(); }
    size_t bytes() const { return rows_.size() * sizeof(uint64_t) + row_with_.size() * sizeof(uint16_t); }

    // Multiplies a Pauli by the rows that remove bits of its z, until none is left, or until no row has its lowest bit. Returns that
    // bit, or -1: then the Pauli is i^i_power X^x times stabilizers. `products` counts.
    int32_t reduce(uint64_t* pauli, uint32_t& i_power, uint64_t& products) const {
        uint64_t* const z = pauli + num_words_;
        for (uint32_t w = 0; w < num_words_; ++w)
            while (z[w] != 0) {
                const uint32_t bit = 64 * w + static_cast<uint32_t>(std::countr_zero(z[w]));
                if (row_with_[bit] == no_row) return static_cast<int32_t>(bit);
                const uint64_t* const row = rows_.data() + row_with_[bit] * stride();
                uint64_t crossed = 0;  // Zs that move past an X
                for (uint32_t k = 0; k < num_words_; ++k) crossed ^= z[k] & row[k];
                i_power += static_cast<uint32_t>(row[2 * num_words_]) + 2 * static_cast<uint32_t>(__builtin_parityll(crossed));
                for (uint32_t k = 0; k < 2 * num_words_; ++k) pauli[k] ^= row[k];
                ++products;
            }
        return -1;
    }

    // Adds a Pauli that `reduce` has left with this lowest bit of z.
    void add(const uint64_t* pauli, uint32_t i_power, int32_t lowest_bit) {
        row_with_[static_cast<size_t>(lowest_bit)] = static_cast<uint16_t>(size());
        rows_.insert(rows_.end(), pauli, pauli + 2 * num_words_);
        rows_.push_back(i_power % 4);
    }

   private:
    static constexpr uint16_t no_row = UINT16_MAX;
    size_t stride() const { return 2 * size_t{num_words_} + 1; }

    uint32_t num_words_ = 0;
    std::vector<uint64_t> rows_;      // [rows][words of x, words of z, power of i]
    std::vector<uint16_t> row_with_;  // for each bit of z, the row whose lowest one it is
};

}  // namespace snc
