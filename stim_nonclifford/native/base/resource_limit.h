// Work that would exceed a limit. Python sees a ResourceLimitError.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>

namespace snc {

class ResourceLimit : public std::runtime_error {
   public:
    using std::runtime_error::runtime_error;
};

// A number with commas, as in 1,234,567.
inline std::string with_commas(uint64_t number) {
    std::string digits = std::to_string(number);
    for (size_t place = digits.size(); place > 3;) digits.insert(place -= 3, 1, ',');
    return digits;
}

}  // namespace snc
