// The rows that remove free signs from other rows.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "algebra/bits.h"
#include "algebra/sparse_rows.h"

namespace snc {

// For each free sign the row that is added wherever the sign is set. Rows here have descending positions.
//
// Long rows are stored as words, too: a circuit in which every outcome decides about all later ones has n rows of n ones,
// whose sums take n^3 steps one by one.
class SignChoices {
   public:
    bool contains(int32_t sign) const { return choices_.contains(sign); }
    void add_sign(int32_t sign) { choices_.try_emplace(sign); }
    void set(int32_t sign, SparseRow row);
    // The row plus the rows of all free signs that are set in it.
    SparseRow fixed(RowView row);

   private:
    struct Choice {
        SparseRow row;
        Bits words;  // the same; empty for a short row
    };

    std::unordered_map<int32_t, Choice> choices_;

    // Scratch; `words_` is zero between calls.
    std::vector<const Choice*> found_;
    Bits words_;
};

}  // namespace snc
