// Checks of operations that come from Python.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/shared/rotation_term.h"
#include "plan/steps/operation.h"

namespace snc {

// What follows from a list of operations.
struct OperationCounts {
    int32_t width, peak_width;  // of the vector: after the last operation, and the largest one
    int32_t num_outcomes, num_expectations;
};

// Checks that each operation is one for the vector that those before it leave, and the terms of its angle, whose signs are numbers
// below num_signs. Throws std::invalid_argument, or std::bad_alloc if no memory can hold the vector.
OperationCounts check_operations(const std::vector<Operation>& operations, const std::vector<RotationTerm>& terms,
                                 uint32_t num_signs);

// Whether i^i_power (-1)^|index & z| |index ^ x><index| is a Hermitian operator on a vector of this width.
bool is_pauli(uint64_t x, uint64_t z, int64_t i_power, int32_t width);

}  // namespace snc
