// Checks of what Python passes. Every array and number is checked once, where it enters; inside, all values are trusted.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <ranges>
#include <stdexcept>
#include <string>
#include <type_traits>

namespace snc {

// The largest number of threads of an object.
constexpr size_t max_threads = 1024;

// A text or a number as part of a message.
template <typename Part>
std::string text_of(const Part& part) {
    if constexpr (std::is_arithmetic_v<Part>) return std::to_string(part);
    else return part;
}

// Python sees a ValueError. The parts of its message are joined only if it is needed, as many checks are in loops.
template <typename... Parts>
void require(bool is_right, const Parts&... parts) {
    if (!is_right) throw std::invalid_argument((text_of(parts) + ...));
}
inline void require(bool is_right, const char* otherwise) {
    if (!is_right) throw std::invalid_argument(otherwise);
}

template <typename Numbers>
void require_not_negative(const Numbers& numbers, const char* name) {
    for (const double number : numbers)
        require(number >= 0 && std::isfinite(number), name, " must be finite and not negative, but has ", number, ".");
}

inline bool is_probability(double number) { return number >= 0 && number <= 1; }

// Numbers from `least` to below `end`. `name` may have several parts.
template <typename Numbers, typename... Parts>
void require_range(const Numbers& numbers, int64_t least, int64_t end, const Parts&... name) {
    for (const auto number : numbers)
        require(static_cast<int64_t>(number) >= least && static_cast<int64_t>(number) < end, name..., " must be from ", least, " to ",
                end - 1, ", but has ", number, ".");
}

// Rows of bits as they are stored in CSR: row r has the bits [starts[r], starts[r + 1]), each from 0 to below `end`. They may be the
// last ones of more rows.
template <typename Starts, typename Bits>
void require_rows(const Starts& starts, const Bits& bits, int64_t end, const char* name) {
    require(!starts.empty() && starts.front() >= 0 && starts.back() == static_cast<int64_t>(bits.size()) &&
                std::ranges::is_sorted(starts),
            "The starts of ", name, " must ascend from 0 or more to the number of its bits.");
    require_range(bits, 0, end, "The bits of ", name);
}

// Words of which only the first `num_bits` bits may be set.
inline bool has_bits_beyond(const uint64_t* words, uint32_t num_words, uint32_t num_bits) {
    return num_bits < 64 * num_words && (words[num_bits / 64] >> (num_bits % 64)) != 0;
}

}  // namespace snc
