// Checks of operations that come from Python.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/shared/rotation_term.h"
#include "plan/steps/operation_list.h"

namespace snc {

// What follows from a list of operations.
struct OperationCounts {
    int32_t width, peak_width;  // of the vector: after the last operation, and the largest one
    int32_t num_outcomes, num_expectations;
};

// Checks that each operation is one for the vector that those before it leave, and the terms of its angle, whose signs are numbers
// below num_signs. Throws std::invalid_argument.
OperationCounts check_operations(const OperationList& operations, const std::vector<RotationTerm>& terms,
                                 uint32_t num_signs);

}  // namespace snc
