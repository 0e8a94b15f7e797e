// The operations of a plan.
#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "algebra/sparse_rows.h"
#include "base/argument_checks.h"
#include "plan/steps/index_pauli.h"
#include "plan/steps/operation.h"

namespace snc {

class OperationList {
   public:
    OperationList() = default;
    // `high_x` and `high_z` have rows with the bits of x and z from 64 on, for each operation, or no rows if there are no such bits.
    // Throws std::invalid_argument if they have others.
    explicit OperationList(std::vector<Operation> operations, const SparseRows& high_x = {}, const SparseRows& high_z = {})
        : operations_(std::move(operations)) {
        const auto end = static_cast<int64_t>(size());  // there are no more coordinates than operations
        for (const SparseRows* rows : {&high_x, &high_z}) {
            require_rows(rows->starts, rows->bits, end, "high_x and high_z");
            require_range(rows->bits, 64, end, "The bits of high_x and high_z");
            require(rows->size() == 0 || rows->size() == size(), "high_x and high_z must have a row for each operation, or none.");
            for (const int32_t bit : rows->bits) high_words_ = std::max(high_words_, static_cast<size_t>(bit) / 64);
        }
        high_.resize(2 * high_words_ * size());
        add_high(high_x, 0);
        add_high(high_z, high_words_);
    }

    size_t size() const { return operations_.size(); }
    const Operation& operator[](size_t number) const { return operations_[number]; }
    auto begin() const { return operations_.begin(); }
    auto end() const { return operations_.end(); }

    IndexPauli pauli(size_t number) const {
        return {mask(operations_[number].x, high(number)), mask(operations_[number].z, high(number) + high_words_)};
    }
    // Whether its Pauli flips no bit of the index.
    bool is_diagonal(size_t number) const {
        return operations_[number].x == 0 && std::all_of(high(number), high(number) + high_words_, [](uint64_t word) { return word == 0; });
    }

    // Whether a vector for these operations could be addressed. If so, the Paulis have no bits but those of Operation.
    bool has_vector() const {
        return std::ranges::all_of(operations_, [](const Operation& operation) { return operation.width < max_addressed_width; });
    }
    // Whether an operation activates a coordinate by a rotation about Z, and the next one measures a Pauli with an X on it, so that it
    // leaves. Together they measure the rest of the Pauli weakly, for which the vector need not grow.
    bool measure_weakly(size_t number) const {
        if (number + 1 >= size()) return false;
        const Operation &activation = operations_[number], &next = operations_[number + 1];
        return activation.kind == Kind::activate && is_diagonal(number) && next.measures() && !is_diagonal(number + 1) &&
               next.pivot == activation.pivot;
    }

   private:
    const uint64_t* high(size_t number) const { return high_.data() + 2 * high_words_ * number; }
    Bits mask(uint64_t low, const uint64_t* high) const {
        Bits found{low};
        found.insert(found.end(), high, high + high_words_);
        return found;
    }
    void add_high(const SparseRows& rows, size_t first_word) {
        for (size_t number = 0; number < rows.size(); ++number)
            for (const int32_t bit : rows[number])
                high_[2 * high_words_ * number + first_word + static_cast<size_t>(bit) / 64 - 1] |= uint64_t{1} << (bit % 64);
    }

    std::vector<Operation> operations_;
    size_t high_words_ = 0;        // of a mask, without the one that Operation has
    std::vector<uint64_t> high_;  // [operations][2][high_words_]: those of x and z
};

}  // namespace snc
