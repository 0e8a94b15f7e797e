// Rows of bits over GF(2), each stored as the ascending positions of its ones.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/interruption.h"

namespace snc {

using SparseRow = std::vector<int32_t>;
using RowView = std::span<const int32_t>;

// Rows in one piece of memory, as `SparseRows` in plan.py.
struct SparseRows {
    std::vector<int64_t> starts{0};  // of each row in `bits`, and their number
    std::vector<int32_t> bits;

    size_t size() const { return starts.size() - 1; }
    RowView operator[](size_t row) const {
        return {bits.data() + starts[row], static_cast<size_t>(starts[row + 1] - starts[row])};
    }
    void append(RowView row);
};

// Bits of the sum of the images of a row's bits, for each row. Bits without an image have the image 0.
SparseRows image_of_rows(const SparseRows& rows, const SparseRows& images, Interruption& interruption);

// The numbers of the rows that are not sums of earlier rows.
std::vector<int64_t> independent_rows(const SparseRows& rows, Interruption& interruption);

// Sums of amounts by row, in the order in which the rows came first. The empty row is not stored.
class RowSums {
   public:
    void add(RowView row, double amount);
    const SparseRows& rows() const { return rows_; }
    const std::vector<double>& sums() const { return sums_; }
    uint64_t bytes() const;

   private:
    void grow();

    SparseRows rows_;
    std::vector<double> sums_;
    std::vector<uint64_t> hashes_;
    std::vector<uint32_t> slots_ = std::vector<uint32_t>(64);  // open addressing: number of the row + 1, or 0
};

}  // namespace snc
