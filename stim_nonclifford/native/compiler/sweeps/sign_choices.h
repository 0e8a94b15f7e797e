// The rows that remove free signs from other rows.
#pragma once

#include <array>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "algebra/bits.h"
#include "algebra/sparse_rows.h"

namespace snc {

// For each free sign the row that is added wherever the sign is set. Rows here have descending positions.
//
// A circuit in which every outcome decides about all later ones has n rows of n ones, whose sums take n^3 steps one by one.
// So long rows are stored as words, too, and a sum of many rows is made from that of a row before it: what follows in
// the circuit has mostly the same free signs.
class SignChoices {
   public:
    bool contains(int32_t sign) const { return choices_.contains(sign); }
    void add_sign(int32_t sign) {
        const auto [place, is_new] = choices_.try_emplace(sign);
        if (!is_new) return;
        place->second.number = by_number_.size();
        by_number_.push_back(&place->second);
    }
    // The choice of a sign, once. Until then, its row counts as empty.
    void set(int32_t sign, SparseRow row);
    // The row plus the rows of all free signs that are set in it.
    SparseRow fixed(RowView row);

   private:
    struct Choice {
        size_t number = 0;
        SparseRow row;
        Bits words;  // the same; empty for a short row
    };
    // The sum of some choices.
    struct Sum {
        Bits numbers;
        Bits words;
    };

    Bits sum_of_found();
    void add(Bits& words, const Choice& choice) const;

    std::unordered_map<int32_t, Choice> choices_;
    std::vector<const Choice*> by_number_;
    std::array<Sum, 8> last_{};  // the last sums of many choices
    size_t next_ = 0;            // the oldest of them

    std::vector<const Choice*> found_;  // scratch
};

}  // namespace snc
