// Checks of operations that come from Python.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "steps/operation.h"

namespace snc {

// Follows the width of the vector through operations, and checks that each of them is one for a vector of that width.
class OperationChecks {
   public:
    // Throws std::invalid_argument, or std::bad_alloc if no memory can hold the vector.
    void check(const Operation& operation);

    int32_t width() const { return width_; }
    int32_t peak_width() const { return peak_width_; }
    int32_t num_outcomes() const { return num_outcomes_; }
    uint64_t num_operations() const { return num_operations_; }

   private:
    int32_t width_ = 0, peak_width_ = 0, num_outcomes_ = 0;
    uint64_t num_operations_ = 0;
};

// Whether i^i_power (-1)^|index & z| |index ^ x><index| is a Hermitian operator on a vector of this width.
bool is_pauli(uint64_t x, uint64_t z, int64_t i_power, int32_t width);

// Throws std::invalid_argument unless an angle is given by a cosine and a sine. `what` it is, for the message.
void check_angle(double cosine, double sine, const std::string& what);

}  // namespace snc
