// Expectation values along given paths: all signs and outcomes are known, so nothing is drawn (compiler/expectations.py).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "cpu/kernels.h"
#include "plan/plan.h"

namespace snc {

class PathExpectations {
   public:
    // `operations` with expectation values among them. A path has a bit for each sign and for each outcome, in the order of the
    // operations; signs are numbered as these bits. Throws std::invalid_argument if these are no operations of paths of `num_bits`
    // bits.
    PathExpectations(OperationList operations, std::vector<RotationTerm> terms, uint32_t num_bits, const Kernels& kernels);

    uint32_t num_bits() const { return plan_.layout.num_signature_bits; }
    // For each path, a row of num_bits bytes, its row of expectation values. Paths are followed together as long as they agree.
    // `interrupted` is called from time to time, and may throw.
    std::vector<double> evaluate(std::span<const uint8_t> paths, const std::function<void()>& interrupted) const;

   private:
    // A path is a signature. The bit of a measurement is an outcome check, too, which keeps the outcome that the path has.
    Plan plan_;
    const Kernels& kernels_;
};

}  // namespace snc
