// Expectation values along given paths: all signs and outcomes are known, so nothing is drawn (compiler/expectations.py).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "base/memory.h"
#include "cpu/kernels.h"
#include "plan/plan.h"

namespace snc {

// Of the Pauli i^i_power (-1)^|index & z| |index ^ x><index|.
struct PathExpectation {
    size_t place;  // number of operations before it; ascending
    uint64_t x, z;
    uint32_t i_power;
    bool is_zero;
};

class PathExpectations {
   public:
    // A rotation has one term, whose sign is a bit of the path. `bits`: for each operation its bit, which reverses the rotation, or
    // is the outcome of the measurement; -1: none.
    PathExpectations(std::vector<Operation> operations, std::vector<RotationTerm> terms, std::vector<int32_t> bits,
                     std::vector<PathExpectation> expectations, const Kernels& kernels);

    size_t num_bits() const { return num_bits_; }
    size_t size() const { return expectations_.size(); }
    // For each path, a row of num_bits bytes, its row of expectation values. Paths are followed together as long as they agree.
    // `check` is called from time to time, and may throw.
    std::vector<double> evaluate(std::span<const uint8_t> paths, const std::function<void()>& check) const;

   private:
    using Vector = std::vector<double, Aligned<double>>;  // as in CoefficientKernels
    // Paths that agree up to some place. If there is no room for the vector there, they start anew.
    struct Group {
        std::vector<size_t> paths;
        size_t place = 0;  // number of operations
        int32_t width = 0;
        Vector vector = {};  // after them
    };

    // Applies an operation. Returns the width afterwards.
    int32_t apply(size_t number, double* vector, bool bit) const;
    double value(const PathExpectation& asked, const double* vector, int32_t width) const;

    const CoefficientKernels& kernels_;
    const std::vector<Operation> operations_;
    const std::vector<RotationTerm> terms_;
    const std::vector<int32_t> bits_;
    const std::vector<PathExpectation> expectations_;
    const size_t num_bits_;
};

}  // namespace snc
