#include "rates/set_laws/path_expectations.h"

#include <numeric>
#include <stdexcept>
#include <string>
#include <utility>

#include "base/argument_checks.h"
#include "plan/steps/operation_checks.h"
#include "rates/set_laws/fault_set_laws.h"

namespace snc {

namespace {

// Row k has a one at bits[k].
SparseRows rows_of(const std::vector<int32_t>& bits) {
    SparseRows rows{std::vector<int64_t>(bits.size() + 1), bits};
    std::iota(rows.starts.begin(), rows.starts.end(), int64_t{0});
    return rows;
}

}  // namespace

PathExpectations::PathExpectations(OperationList operations, std::vector<RotationTerm> terms, uint32_t num_bits,
                                   const Kernels& kernels)
    : kernels_(kernels) {
    const OperationCounts counts = check_operations(operations, terms, num_bits);
    const auto num_outcomes = static_cast<size_t>(counts.num_outcomes);
    std::vector<int32_t> images, checks(num_outcomes), deadlines(num_outcomes);
    std::iota(checks.begin(), checks.end(), static_cast<int32_t>(num_bits));
    std::iota(deadlines.begin(), deadlines.end(), 0);
    for (const Operation& operation : operations) {
        for (int32_t t = operation.first_term; t < operation.end_term; ++t) {
            const int32_t sign = terms[static_cast<size_t>(t)].sign;
            require(sign < 0 || std::cmp_equal(sign, images.size()), "The bits of a path must be in the order of the operations.");
            if (sign >= 0) images.push_back(sign);
        }
        if (operation.measures()) images.push_back(checks[static_cast<size_t>(operation.outcome)]);
    }
    require(images.size() == num_bits, "There must be an operation for each bit of a path.");
    PlanArrays arrays{};
    arrays.num_signature_bits = arrays.num_signs = num_bits;
    arrays.num_outcome_checks = static_cast<uint32_t>(num_outcomes);
    arrays.peak_width = static_cast<uint32_t>(counts.peak_width);
    arrays.signature_images = rows_of(images);
    arrays.outcome_effects = rows_of(checks);
    arrays.signature_images_are_lists = arrays.outcome_effects_are_lists = true;
    arrays.outcome_check_deadlines = std::move(deadlines);
    arrays.operations = std::move(operations);
    arrays.terms = std::move(terms);
    plan_ = pack_plan(arrays);
}

std::vector<double> PathExpectations::evaluate(std::span<const uint8_t> paths, const std::function<void()>& interrupted) const {
    const size_t num_paths = num_bits() == 0 ? 1 : paths.size() / num_bits(), words = plan_.layout.signature_words;
    std::vector<uint64_t> signatures(num_paths * words);
    for (size_t path = 0; path < num_paths; ++path)
        for (size_t bit = 0; bit < num_bits(); ++bit)
            signatures[path * words + bit / 64] |= uint64_t{paths[path * num_bits() + bit] != 0} << (bit % 64);
    KeptBranches found = kept_branches(plan_, kernels_, signatures, num_paths, 1, interrupted);
    for (size_t path = 0; path < num_paths; ++path)
        if (found.starts[path + 1] != path + 1)
            throw std::invalid_argument("A path has an outcome of probability 0: path " + std::to_string(path) + ".");
    return std::move(found.values);
}

}  // namespace snc
