#include "simulation/path_expectations.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>
#include <stdexcept>
#include <string>

#include "base/not_a_number.h"
#include "kernels/shared/philox.h"
#include "plan/steps/rotation_groups.h"

namespace snc {

namespace {

constexpr size_t max_waiting_bytes = size_t{64} << 20;
constexpr size_t groups_per_check = 64;

}  // namespace

PathExpectations::PathExpectations(std::vector<Operation> operations, std::vector<RotationTerm> terms,
                                   std::vector<int32_t> bits, std::vector<PathExpectation> expectations,
                                   const Kernels& kernels)
    : kernels_(kernels.coefficients),
      operations_(std::move(operations)),
      terms_(std::move(terms)),
      bits_(std::move(bits)),
      expectations_(std::move(expectations)),
      num_bits_(static_cast<size_t>(std::ranges::count_if(bits_, [](int32_t bit) { return bit >= 0; }))) {}

std::vector<double> PathExpectations::evaluate(std::span<const uint8_t> paths, const std::function<void()>& check) const {
    const size_t num_paths = num_bits_ == 0 ? 1 : paths.size() / num_bits_;
    std::vector<double> values(num_paths * size());
    int32_t peak_width = 0;
    for (const Operation& operation : operations_)
        peak_width = std::max(peak_width, operation.width + (operation.kind == Kind::activate ? 1 : 0));
    Vector vector(vector_size(peak_width), 0.0);
    std::vector<Group> groups(num_paths > 0 ? 1 : 0);
    if (num_paths > 0) groups.front().paths.resize(num_paths);
    if (num_paths > 0) std::iota(groups.front().paths.begin(), groups.front().paths.end(), size_t{0});
    size_t bytes = 0;  // of the vectors of groups
    for (size_t done = 0; !groups.empty(); ++done) {
        if (done % groups_per_check == 0) check();
        Group group = std::move(groups.back());
        groups.pop_back();
        bytes -= group.vector.size() * sizeof(double);
        std::ranges::fill_n(vector.begin(), ptrdiff_t{2} << index_lane_bits, 0.0);
        vector[0] = 1;
        std::ranges::copy(group.vector, vector.begin());
        size_t next = 0;
        while (next < size() && expectations_[next].place < group.place) ++next;
        for (;; ++group.place) {
            for (; next < size() && expectations_[next].place == group.place; ++next) {
                const double found = value(expectations_[next], vector.data(), group.width);
                for (const size_t path : group.paths) values[path * size() + next] = found;
            }
            if (next == size()) break;
            const int32_t bit = bits_[group.place];
            const auto bit_of = [&](size_t path) { return bit >= 0 && paths[path * num_bits_ + static_cast<size_t>(bit)] != 0; };
            const auto other = std::ranges::partition(group.paths, bit_of);
            if (other.begin() != group.paths.begin() && !other.empty()) {
                // The smaller part goes on, so that few groups wait.
                const bool ones_wait = 2 * other.size() <= group.paths.size();
                Group waiting{ones_wait ? std::vector(group.paths.begin(), other.begin()) : std::vector(other.begin(), other.end())};
                ones_wait ? group.paths.erase(group.paths.begin(), other.begin()) : group.paths.erase(other.begin(), other.end());
                if (const size_t size = vector_size(group.width); bytes + size * sizeof(double) <= max_waiting_bytes) {
                    bytes += size * sizeof(double);
                    waiting.place = group.place;
                    waiting.width = group.width;
                    waiting.vector.assign(vector.begin(), vector.begin() + static_cast<ptrdiff_t>(size));
                }
                groups.push_back(std::move(waiting));
            }
            group.width = apply(group.place, vector.data(), bit_of(group.paths.front()));
        }
    }
    return values;
}

int32_t PathExpectations::apply(size_t number, double* vector, bool bit) const {
    const Operation& operation = operations_[number];
    if (operation.kind == Kind::measure) {
        const OutcomeWeights weights = kernels_.outcome_weights(vector, operation);
        const double weight = bit ? weights.one : weights.zero;
        if (!(weight > 0))
            throw std::invalid_argument("A path has an outcome of probability 0, of the measurement that bit " + std::to_string(bits_[number]) + " tells.");
        kernels_.project(vector, vector, operation, bit, weight);
        return operation.width - 1;
    }
    VectorRotation rotation = pauli_of_rotation(operation);
    const Angle angle = angle_of_term(terms_[static_cast<size_t>(operation.first_term)], [&](int32_t) { return bit; });
    rotation.cosine = angle.cosine;
    rotation.sine = angle.sine;
    if (operation.kind == Kind::rotate) {
        kernels_.rotate(vector, rotation);
        return operation.width;
    }
    kernels_.activate(vector, rotation);
    return operation.width + 1;
}

double PathExpectations::value(const PathExpectation& asked, const double* vector, int32_t width) const {
    const auto& [place, x, z, i_power, is_zero] = asked;
    if (is_zero) return 0;
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
