// A simulation that gives no probability. Python sees a FloatingPointError.
#pragma once

#include <cmath>
#include <cstdint>
#include <stdexcept>
#include <string>

namespace snc {

class NotANumber : public std::runtime_error {
   public:
    using std::runtime_error::runtime_error;
};

// Probabilities of outcomes may be off by rounding, and are compared with `certain`. They are numbers for all plans with
// right angles; this is the last of the checks of it.
inline void check_probability(double probability, uint32_t operation) {
    if (std::abs(probability - 0.5) <= 1) [[likely]] return;
    throw NotANumber("The probability of an outcome is " + std::to_string(probability) + ", at operation " + std::to_string(operation) +
                     " of the plan. circuit.plan(...).operations[" + std::to_string(operation) + "] names its instruction.");
}

}  // namespace snc
