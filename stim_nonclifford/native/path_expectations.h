// Expectation values along given paths: all signs and outcomes are known, so nothing is drawn (compiler/expectations.py).
#pragma once

#include <complex>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "plan.h"

namespace snc {

// The Pauli i^i_power (-1)^|index & z| |index ^ x><index|.
struct IndexPauli {
    uint64_t x, z;
    uint32_t i_power;
};

// An operation of the forward sweep. Its bit of the path reverses a rotation, or is the outcome of a measurement.
struct PathOperation {
    Kind kind;
    IndexPauli pauli;
    uint32_t pivot;
    double cosine, sine;  // of half the angle
    int32_t bit;          // -1: none, always 0
};

struct PathExpectation {
    size_t place;  // number of operations before it; ascending
    IndexPauli pauli;
    bool is_zero;
};

class PathExpectations {
   public:
    // The bits of the path are numbered in the order of the operations. Throws std::invalid_argument if they are not.
    PathExpectations(std::vector<PathOperation> operations, std::vector<PathExpectation> expectations, size_t num_bits);

    size_t num_bits() const { return num_bits_; }
    size_t size() const { return expectations_.size(); }
    // For each path, a row of num_bits bytes, its row of expectation values. Paths share what they have in common.
    // `check` is called from time to time, and may throw.
    std::vector<double> evaluate(std::span<const uint8_t> paths, const std::function<void()>& check) const;

   private:
    using Vector = std::vector<std::complex<double>>;
    using Checkpoints = std::vector<std::pair<size_t, Vector>>;  // number of operations, and the vector after them

    // Continues at the last checkpoint and fills in the values that come after it.
    void follow(const uint8_t* path, const std::vector<bool>& keeps, Checkpoints& checkpoints, double* values) const;
    Vector applied(const PathOperation& operation, Vector vector, bool bit) const;

    const std::vector<PathOperation> operations_;
    const std::vector<PathExpectation> expectations_;
    const size_t num_bits_;
    std::vector<size_t> operation_of_bit_;
};

}  // namespace snc
