// Sums of powers of i over all bit strings, with an exponent that is a quadratic form.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace snc {

// Bits of up to max_size variables or members of a set.
struct WideBits {
    static constexpr size_t max_size = 256, num_words = max_size / 64;
    std::array<uint64_t, num_words> words{};

    bool has(size_t k) const { return (words[k / 64] >> (k % 64) & 1) != 0; }
    void flip(size_t k) { words[k / 64] ^= uint64_t{1} << (k % 64); }
    WideBits& operator^=(const WideBits& other);
    WideBits operator&(const WideBits& other) const;
    uint32_t count() const;
    // Calls use(number) for each one.
    template <typename Use>
    void for_each_one(Use use) const {
        for (size_t w = 0; w < num_words; ++w)
            for (uint64_t word = words[w]; word != 0; word &= word - 1) use(64 * w + static_cast<size_t>(__builtin_ctzll(word)));
    }
};

// The exponent q(x) = sum_k turns_k x_k + 2 sum_(k<l) pairs_kl x_k x_l, modulo 4, of n <= 256 variables in {0, 1}.
class QuarterTurnForm {
   public:
    explicit QuarterTurnForm(size_t num_variables) : turns_(num_variables), pairs_(num_variables) {}

    void add_turns(size_t k, uint32_t turns) { turns_[k] += turns; }
    void flip_pair(size_t k, size_t l) {
        pairs_[k].flip(l);
        pairs_[l].flip(k);
    }
    // The logarithm to base 2 of |sum over x of i^q(x)|^2; nothing if the sum is 0. The variables are summed over one by one, in
    // time O(n^2) words, as for the amplitudes of stabilizer states (S. Bravyi, D. Gosset, arXiv 1601.07601, Appendix C).
    std::optional<uint32_t> log2_of_square() const;

   private:
    std::vector<uint32_t> turns_;  // modulo 4
    std::vector<WideBits> pairs_;
};

}  // namespace snc
