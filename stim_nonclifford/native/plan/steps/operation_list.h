// The operations of a plan.
#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "plan/steps/index_pauli.h"
#include "plan/steps/operation.h"

namespace snc {

class OperationList {
   public:
    OperationList() = default;
    explicit OperationList(std::vector<Operation> operations) : operations_(std::move(operations)) {}

    size_t size() const { return operations_.size(); }
    const Operation& operator[](size_t number) const { return operations_[number]; }
    auto begin() const { return operations_.begin(); }
    auto end() const { return operations_.end(); }

    IndexPauli pauli(size_t number) const { return {{operations_[number].x}, {operations_[number].z}}; }
    // Whether its Pauli flips no bit of the index.
    bool is_diagonal(size_t number) const { return operations_[number].x == 0; }

    // Whether a vector for these operations could be addressed.
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
    std::vector<Operation> operations_;
};

}  // namespace snc
