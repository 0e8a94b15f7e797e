// The effects of noise that the backward sweep has found so far. Rows here have descending positions.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "algebra/sparse_rows.h"
#include "compiler/sweeps/sign_choices.h"

namespace snc {

class NoiseSums {
   public:
    // Effects that exclude each other at a site, with their probabilities.
    struct Sites {
        SparseRows rows;
        std::vector<double> probabilities;
        std::vector<int32_t> numbers;  // of the sites, ascending
        int32_t count = 0;
    };

    void add(RowView effect, double rate) { rates_.add(effect, rate); }
    void add_site(const std::vector<std::pair<SparseRow, double>>& choices);
    // The same without free signs.
    NoiseSums fixed(SignChoices& signs) const;

    const RowSums& rates() const { return rates_; }  // of independent effects
    const Sites& sites() const { return sites_; }
    uint64_t bytes() const { return rates_.bytes() + sites_.rows.bits.size() * sizeof(int32_t); }

   private:
    RowSums rates_;
    Sites sites_;
};

}  // namespace snc
