#include "simulation/path_expectations.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>
#include <stdexcept>
#include <string>

#include "base/not_a_number.h"
#include "kernels/philox.h"
#include "steps/rotation_groups.h"

namespace snc {

namespace {

constexpr size_t max_checkpoint_bytes = size_t{64} << 20;
constexpr size_t paths_per_check = 64;

// Doubles of a vector of that width.
size_t num_doubles(int32_t width) { return size_t{2} << std::max(width, int32_t{index_lane_bits}); }

}  // namespace

PathExpectations::PathExpectations(std::vector<PathOperation> operations, std::vector<PathExpectation> expectations,
                                   size_t num_bits, const Kernels& kernels)
    : kernels_(kernels.coefficients),
      operations_(std::move(operations)),
      expectations_(std::move(expectations)),
      num_bits_(num_bits) {
    for (size_t k = 0; k < operations_.size(); ++k) {
        if (operations_[k].bit < 0) continue;
        if (static_cast<size_t>(operations_[k].bit) != operation_of_bit_.size())
            throw std::invalid_argument("The bits of a path must be in the order of the operations.");
        operation_of_bit_.push_back(k);
    }
    if (operation_of_bit_.size() != num_bits_) throw std::invalid_argument("There must be an operation for each bit of a path.");
}

std::vector<double> PathExpectations::evaluate(std::span<const uint8_t> paths,
                                               const std::function<void()>& check) const {
    const size_t num_paths = num_bits_ == 0 ? 1 : paths.size() / num_bits_;
    const auto path = [&](size_t number) { return paths.begin() + static_cast<ptrdiff_t>(number * num_bits_); };
    std::vector<size_t> order(num_paths);
    std::iota(order.begin(), order.end(), size_t{0});
    const auto end = [&](size_t number) { return path(number) + static_cast<ptrdiff_t>(num_bits_); };
    std::ranges::sort(order, [&](size_t a, size_t b) {
        return std::lexicographical_compare(path(a), end(a), path(b), end(b));
    });
    // In this order, a path differs from the one before it from some operation on.
    std::vector<size_t> common(num_paths, 0);
    std::vector<bool> keeps(operations_.size() + 1, false);
    for (size_t k = 1; k < num_paths; ++k) {
        const auto bit = std::mismatch(path(order[k]), end(order[k]), path(order[k - 1])).first - path(order[k]);
        common[k] = static_cast<size_t>(bit) < num_bits_ ? operation_of_bit_[static_cast<size_t>(bit)] : operations_.size();
        keeps[common[k]] = true;
    }
    std::vector<double> values(num_paths * size());
    int32_t peak_width = 0;
    for (const PathOperation& step : operations_)
        peak_width = std::max(peak_width, step.operation.width + (step.operation.kind == Kind::activate ? 1 : 0));
    Vector vector(num_doubles(peak_width), 0.0);
    kernels_.start(vector.data());
    std::vector<Checkpoint> checkpoints{{0, 0, Vector(vector.begin(), vector.begin() + static_cast<ptrdiff_t>(num_doubles(0)))}};
    for (size_t k = 0; k < num_paths; ++k) {
        if (k % paths_per_check == 0) check();
        double* row = values.data() + order[k] * size();
        while (k > 0 && checkpoints.back().place > common[k]) checkpoints.pop_back();
        if (k > 0) std::copy_n(values.data() + order[k - 1] * size(), size(), row);
        follow(num_bits_ == 0 ? nullptr : &*path(order[k]), keeps, checkpoints, vector, row);
    }
    return values;
}

void PathExpectations::follow(const uint8_t* path, const std::vector<bool>& keeps, std::vector<Checkpoint>& checkpoints,
                              Vector& vector, double* values) const {
    size_t bytes = 0;
    for (const Checkpoint& checkpoint : checkpoints) bytes += checkpoint.vector.size() * sizeof(double);
    const size_t first = checkpoints.back().place;
    int32_t width = checkpoints.back().width;
    std::ranges::copy(checkpoints.back().vector, vector.begin());
    size_t next = 0;
    while (next < expectations_.size() && expectations_[next].place < first) ++next;
    for (size_t k = first;; ++k) {
        for (; next < expectations_.size() && expectations_[next].place == k; ++next)
            values[next] = value(expectations_[next], vector.data(), width);
        if (next == expectations_.size()) return;
        const size_t size = num_doubles(width);
        if (keeps[k] && k > first && bytes + size * sizeof(double) <= max_checkpoint_bytes) {
            checkpoints.push_back({k, width, Vector(vector.begin(), vector.begin() + static_cast<ptrdiff_t>(size))});
            bytes += size * sizeof(double);
        }
        const PathOperation& step = operations_[k];
        width = apply(step, vector.data(), step.bit >= 0 && path[step.bit] != 0);
    }
}

int32_t PathExpectations::apply(const PathOperation& step, double* vector, bool bit) const {
    const Operation& operation = step.operation;
    if (operation.kind == Kind::measure) {
        const OutcomeWeights weights = kernels_.outcome_weights(vector, operation);
        const double weight = bit ? weights.one : weights.zero;
        if (!(weight > 0))
            throw std::invalid_argument("A path has an outcome of probability 0, of the measurement that bit " + std::to_string(step.bit) + " tells.");
        kernels_.project(vector, vector, operation, bit, weight);
        return operation.width - 1;
    }
    VectorRotation rotation = pauli_of_rotation(operation);
    rotation.cosine = step.cosine;
    rotation.sine = bit ? -step.sine : step.sine;
    if (operation.kind == Kind::rotate) {
        kernels_.rotate(vector, rotation);
        return operation.width;
    }
    kernels_.activate(vector, rotation);
    return operation.width + 1;
}

double PathExpectations::value(const PathExpectation& asked, const double* vector, int32_t width) const {
    if (asked.is_zero) return 0;
    const auto& [x, z, i_power] = asked.pauli;
    const uint64_t support = x != 0 ? x : z;
    if (support == 0) return i_power == 0 ? 1 : -1;
    // The outcomes of a measurement of the Pauli, which is not carried out.
    const int32_t pivot = 63 - std::countl_zero(support);
    const auto [zero, one] = kernels_.outcome_weights(
        vector, {x, z, Kind::measure, width, static_cast<int32_t>(i_power), pivot, 0, 0, 0, 0});
    const double found = (zero - one) / (zero + one);
    if (!std::isfinite(found)) throw NotANumber("An expectation value is not a number.");
    // As for probabilities of outcomes, what rounding can have done is undone.
    if (std::abs(found) < certain) return 0;
    return std::abs(found) > 1 - certain ? std::copysign(1.0, found) : found;
}

}  // namespace snc
