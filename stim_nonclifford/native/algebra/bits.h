// Sets of small numbers as words of bits. A set may have fewer words than another one: what is missing is 0.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

namespace snc {

using Bits = std::vector<uint64_t>;

inline bool has_bit(const Bits& bits, size_t k) { return k / 64 < bits.size() && (bits[k / 64] >> (k % 64) & 1) != 0; }

inline void flip_bit(Bits& bits, size_t k) {
    if (k / 64 >= bits.size()) bits.resize(k / 64 + 1);
    bits[k / 64] ^= uint64_t{1} << (k % 64);
}

inline void add_bits(Bits& to, const Bits& from) {
    if (to.size() < from.size()) to.resize(from.size());
    for (size_t w = 0; w < from.size(); ++w) to[w] ^= from[w];
}

inline Bits common_bits(const Bits& a, const Bits& b) {
    Bits both(std::min(a.size(), b.size()));
    for (size_t w = 0; w < both.size(); ++w) both[w] = a[w] & b[w];
    return both;
}

inline Bits without_bits(Bits bits, const Bits& removed) {
    for (size_t w = 0; w < std::min(bits.size(), removed.size()); ++w) bits[w] &= ~removed[w];
    return bits;
}

inline bool is_empty(const Bits& bits) {
    return std::ranges::all_of(bits, [](uint64_t word) { return word == 0; });
}

inline bool have_common(const Bits& a, const Bits& b) {
    for (size_t w = 0; w < std::min(a.size(), b.size()); ++w)
        if ((a[w] & b[w]) != 0) return true;
    return false;
}

inline size_t count_bits(const Bits& bits) {
    size_t count = 0;
    for (const uint64_t word : bits) count += static_cast<size_t>(std::popcount(word));
    return count;
}

template <typename Use>
void for_each_bit(const Bits& bits, Use&& use) {
    for (size_t w = 0; w < bits.size(); ++w)
        for (uint64_t word = bits[w]; word != 0; word &= word - 1) use(64 * w + static_cast<size_t>(std::countr_zero(word)));
}

// The lowest number of a set that is not empty.
inline size_t lowest_bit(const Bits& bits) {
    size_t w = 0;
    while (bits[w] == 0) ++w;
    return 64 * w + static_cast<size_t>(std::countr_zero(bits[w]));
}

// The highest one.
inline size_t highest_bit(const Bits& bits) {
    size_t w = bits.size() - 1;
    while (bits[w] == 0) --w;
    return 64 * w + 63 - static_cast<size_t>(std::countl_zero(bits[w]));
}

// Whether two sets have an odd number of common members.
inline bool is_odd_overlap(const Bits& a, const Bits& b) {
    uint64_t common = 0;
    for (size_t w = 0; w < std::min(a.size(), b.size()); ++w) common ^= a[w] & b[w];
    return std::popcount(common) % 2 != 0;
}

// Takes a number out: those above it become smaller by one.
inline void close_gap(Bits& bits, size_t k) {
    if (k / 64 >= bits.size()) return;
    const uint64_t low = (uint64_t{1} << (k % 64)) - 1;
    uint64_t* word = &bits[k / 64];
    *word = (*word & low) | (*word >> 1 & ~low);
    for (; word != &bits.back(); ++word) {
        word[0] |= word[1] << 63;
        word[1] >>= 1;
    }
}

// Finds how many rows are independent over GF(2).
class Rank {
   public:
    explicit Rank(size_t num_bits) : with_highest_(num_bits, -1) {}

    size_t rank() const { return rows_.size(); }
    // Whether the row is not a sum of earlier ones.
    bool add(Bits row);

   private:
    std::vector<int32_t> with_highest_;  // by bit, the row whose highest bit it is, or -1
    std::vector<Bits> rows_;
};

inline bool Rank::add(Bits row) {
    while (true) {
        while (!row.empty() && row.back() == 0) row.pop_back();
        if (row.empty()) return false;
        const size_t highest = 64 * row.size() - 1 - static_cast<size_t>(std::countl_zero(row.back()));
        int32_t& known = with_highest_[highest];
        if (known < 0) {
            known = static_cast<int32_t>(rows_.size());
            rows_.push_back(std::move(row));
            return true;
        }
        add_bits(row, rows_[static_cast<size_t>(known)]);
    }
}

}  // namespace snc
