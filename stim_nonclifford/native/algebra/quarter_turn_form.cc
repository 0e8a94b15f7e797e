#include "algebra/quarter_turn_form.h"

#include <bit>

namespace snc {

WideBits& WideBits::operator^=(const WideBits& other) {
    for (size_t w = 0; w < num_words; ++w) words[w] ^= other.words[w];
    return *this;
}

WideBits WideBits::operator&(const WideBits& other) const {
    WideBits both;
    for (size_t w = 0; w < num_words; ++w) both.words[w] = words[w] & other.words[w];
    return both;
}

uint32_t WideBits::count() const {
    int count = 0;
    for (const uint64_t word : words) count += std::popcount(word);
    return static_cast<uint32_t>(count);
}

std::optional<uint32_t> QuarterTurnForm::log2_of_square() const {
    std::vector<uint32_t> turns = turns_;
    std::vector<WideBits> pairs = pairs_;
    WideBits left;
    for (size_t k = 0; k < turns.size(); ++k) left.flip(k);
    // Adds factor * (the parity of these variables, as 0 or 1) = factor * (sum x_k - 2 sum_(k<l) x_k x_l + ...), modulo 4.
    const auto add_parity = [&](const WideBits& of, uint32_t factor) {
        of.for_each_one([&](size_t k) {
            turns[k] += factor;
            if (factor % 2 == 0) return;
            pairs[k] ^= of;
            pairs[k].flip(k);
        });
    };
    uint32_t result = 0;
    for (size_t k = 0; k < turns.size(); ++k) {
        if (!left.has(k)) continue;
        left.flip(k);
        // The sum over x_k of i^(turns_k x_k) (-1)^(x_k * parity), with the parity of the variables paired with it.
        WideBits paired = pairs[k] & left;
        if (turns[k] % 2 == 1) {
            // 1 + i (-1)^parity = (1 + i) (-i)^parity, and 1 - i (-1)^parity = (1 - i) i^parity.
            ++result;
            add_parity(paired, turns[k] % 4 == 1 ? 3 : 1);
            continue;
        }
        // 2 if the parity has this value, else 0.
        result += 2;
        const uint32_t value = turns[k] / 2 % 2;
        size_t other = turns.size();
        paired.for_each_one([&](size_t l) { other = l; });
        if (other == turns.size()) {
            if (value == 1) return std::nullopt;
            continue;
        }
        // So x_other = value + the parity of the rest.
        left.flip(other);
        paired.flip(other);
        const WideBits with_other = pairs[other] & left;
        add_parity(paired, value == 0 ? turns[other] : 4 - turns[other] % 4);
        with_other.for_each_one([&](size_t l) {
            turns[l] += 2 * value;
            pairs[l] ^= paired;
        });
        paired.for_each_one([&](size_t l) { pairs[l] ^= with_other; });
        (paired & with_other).for_each_one([&](size_t l) { turns[l] += 2; });
    }
    return result;
}

}  // namespace snc
