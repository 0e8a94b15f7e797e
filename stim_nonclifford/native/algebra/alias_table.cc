#include "algebra/alias_table.h"

#include <cstddef>
#include <numeric>

namespace snc {

using std::size_t;

AliasTable alias_table(std::vector<double> scaled) {
    const size_t size = scaled.size();
    AliasTable table{std::vector<double>(size, 1.0), std::vector<int32_t>(size)};
    std::iota(table.indices.begin(), table.indices.end(), 0);
    std::vector<size_t> small, large;
    for (size_t k = 0; k < size; ++k) (scaled[k] < 1 ? small : large).push_back(k);
    while (!small.empty() && !large.empty()) {
        const size_t low = small.back(), high = large.back();
        small.pop_back();
        table.thresholds[low] = scaled[low];
        table.indices[low] = static_cast<int32_t>(high);
        scaled[high] -= 1 - scaled[low];
        if (scaled[high] < 1) {
            small.push_back(high);
            large.pop_back();
        }
    }
    return table;
}

}  // namespace snc
