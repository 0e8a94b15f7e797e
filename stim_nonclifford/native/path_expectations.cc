#include "path_expectations.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>
#include <stdexcept>

#include "philox.h"

namespace snc {

namespace {

using Entry = std::complex<double>;
using Entries = std::vector<Entry>;

constexpr size_t max_checkpoint_bytes = size_t{64} << 20;
constexpr size_t paths_per_check = 64;

bool is_odd(uint64_t bits) { return (std::popcount(bits) & 1) != 0; }

// i^power times an entry.
Entry turned(Entry entry, uint32_t power) {
    switch (power % 4) {
        case 0:
            return entry;
        case 1:
            return {-entry.imag(), entry.real()};
        case 2:
            return -entry;
        default:
            return {entry.imag(), -entry.real()};
    }
}

// Entry a of P v.
Entry entry_of_image(const Entries& vector, const IndexPauli& pauli, uint64_t a) {
    const uint64_t source = a ^ pauli.x;
    return turned(vector[source], pauli.i_power + (is_odd(source & pauli.z) ? 2 : 0));
}

// exp(-i phi P) v
Entries rotated(const Entries& vector, const IndexPauli& pauli, double cosine, double sine) {
    Entries result(vector.size());
    for (uint64_t a = 0; a < vector.size(); ++a)
        result[a] = cosine * vector[a] + sine * turned(entry_of_image(vector, pauli, a), 3);
    return result;
}

// A new coordinate in exp(-i phi X)|0> or exp(-i phi Z)|+>.
Entries activated(const Entries& vector, bool about_x, double cosine, double sine) {
    const uint64_t size = vector.size();
    Entries result(2 * size);
    const double scale = about_x ? 1 : std::sqrt(0.5);
    for (uint64_t a = 0; a < size; ++a) {
        const Entry c = scale * cosine * vector[a], s = scale * sine * turned(vector[a], 3);
        result[a] = about_x ? c : c + s;
        result[size + a] = about_x ? s : c - s;
    }
    return result;
}

// The normalized vector after an outcome, without the pivot's coordinate; see coefficients.py.
Entries projected(const Entries& vector, const IndexPauli& pauli, uint32_t pivot, bool outcome) {
    Entries result(vector.size() / 2);
    const uint64_t low_bits = (uint64_t{1} << pivot) - 1;
    double norm = 0;
    for (uint64_t r = 0; r < result.size(); ++r) {
        const uint64_t low = r & low_bits, a = (r ^ low) << 1 | low;
        if (pauli.x != 0) {
            const Entry image = entry_of_image(vector, pauli, a);
            result[r] = outcome ? vector[a] - image : vector[a] + image;
        } else {
            const bool pivot_bit = is_odd(a & pauli.z) ^ (pauli.i_power == 2) ^ outcome;
            result[r] = vector[a | uint64_t{pivot_bit} << pivot];
        }
        norm += std::norm(result[r]);
    }
    const double scale = 1 / std::sqrt(norm);
    for (Entry& entry : result) entry *= scale;
    return result;
}

double expectation(const Entries& vector, const IndexPauli& pauli) {
    double sum = 0;
    for (uint64_t a = 0; a < vector.size(); ++a) {
        const Entry image = entry_of_image(vector, pauli, a);
        sum += vector[a].real() * image.real() + vector[a].imag() * image.imag();
    }
    // As for probabilities of outcomes, what rounding can have done is undone.
    if (std::abs(sum) < certain) return 0;
    return std::abs(sum) > 1 - certain ? std::copysign(1.0, sum) : sum;
}

}  // namespace

PathExpectations::PathExpectations(std::vector<PathOperation> operations, std::vector<PathExpectation> expectations,
                                   size_t num_bits)
    : operations_(std::move(operations)), expectations_(std::move(expectations)), num_bits_(num_bits) {
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
    Checkpoints checkpoints;
    checkpoints.emplace_back(0, Vector{1.0});
    for (size_t k = 0; k < num_paths; ++k) {
        if (k % paths_per_check == 0) check();
        double* row = values.data() + order[k] * size();
        while (k > 0 && checkpoints.back().first > common[k]) checkpoints.pop_back();
        if (k > 0) std::copy_n(values.data() + order[k - 1] * size(), size(), row);
        follow(num_bits_ == 0 ? nullptr : &*path(order[k]), keeps, checkpoints, row);
    }
    return values;
}

void PathExpectations::follow(const uint8_t* path, const std::vector<bool>& keeps, Checkpoints& checkpoints,
                              double* values) const {
    size_t bytes = 0;
    for (const auto& [place, vector] : checkpoints) bytes += vector.size() * sizeof(Entry);
    const size_t first = checkpoints.back().first;
    Vector vector = checkpoints.back().second;
    size_t next = 0;
    while (next < expectations_.size() && expectations_[next].place < first) ++next;
    for (size_t k = first; next < expectations_.size(); ++k) {
        for (; next < expectations_.size() && expectations_[next].place == k; ++next)
            values[next] = expectations_[next].is_zero ? 0 : expectation(vector, expectations_[next].pauli);
        if (next == expectations_.size()) break;
        if (keeps[k] && k > first && bytes + vector.size() * sizeof(Entry) <= max_checkpoint_bytes) {
            checkpoints.emplace_back(k, vector);
            bytes += vector.size() * sizeof(Entry);
        }
        const PathOperation& operation = operations_[k];
        vector = applied(operation, std::move(vector), operation.bit >= 0 && path[operation.bit] != 0);
    }
}

PathExpectations::Vector PathExpectations::applied(const PathOperation& operation, Vector vector, bool bit) const {
    switch (operation.kind) {
        case Kind::rotate:
            return rotated(vector, operation.pauli, operation.cosine, bit ? -operation.sine : operation.sine);
        case Kind::activate:
            return activated(vector, operation.pauli.x != 0, operation.cosine, operation.sine);
        default:
            return projected(vector, operation.pauli, operation.pivot, bit);
    }
}

}  // namespace snc
