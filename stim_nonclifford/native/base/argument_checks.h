// Checks of what Python passes. Every array and number is checked once, where it enters; inside, all values are trusted.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <ranges>
#include <stdexcept>
#include <string>

namespace snc {

// The largest number of threads of an object.
constexpr size_t max_threads = 1024;

// Python sees a ValueError.
inline void require(bool is_right, const std::string& otherwise) {
    if (!is_right) throw std::invalid_argument(otherwise);
}
inline void require(bool is_right, const char* otherwise) {
    if (!is_right) throw std::invalid_argument(otherwise);
}

template <typename Numbers>
void require_not_negative(const Numbers& numbers, const char* name) {
    for (const double number : numbers)
        if (!(number >= 0 && std::isfinite(number)))
            throw std::invalid_argument(std::string(name) + " must be finite and not negative, but has " + std::to_string(number) + ".");
}

inline bool is_probability(double number) { return number >= 0 && number <= 1; }

// Numbers from `least` to below `end`.
template <typename Numbers>
void require_range(const Numbers& numbers, int64_t least, int64_t end, const std::string& name) {
    for (const auto number : numbers)
        if (static_cast<int64_t>(number) < least || static_cast<int64_t>(number) >= end)
            throw std::invalid_argument(name + " must be from " + std::to_string(least) + " to " + std::to_string(end - 1) +
                                        ", but has " + std::to_string(number) + ".");
}

// Rows of bits as they are stored in CSR: row r has the bits [starts[r], starts[r + 1]), each from 0 to below `end`. They may be the
// last ones of more rows.
template <typename Starts, typename Bits>
void require_rows(const Starts& starts, const Bits& bits, int64_t end, const std::string& name) {
    if (starts.empty() || starts.front() < 0 || starts.back() != static_cast<int64_t>(bits.size()) ||
        !std::ranges::is_sorted(starts))
        throw std::invalid_argument("The starts of " + name + " must ascend from 0 or more to the number of its bits.");
    require_range(bits, 0, end, "The bits of " + name);
}

// Words of which only the first `num_bits` bits may be set.
inline bool has_bits_beyond(const uint64_t* words, uint32_t num_words, uint32_t num_bits) {
    return num_bits < 64 * num_words && (words[num_bits / 64] >> (num_bits % 64)) != 0;
}

}  // namespace snc
