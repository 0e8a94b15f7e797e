// Walker's alias table, by the method of M. D. Vose (1991); see compiler/plans/sampling_tables.py.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace snc {

// A cell stands for itself with the probability `threshold`, else for another one.
struct AliasTable {
    std::vector<double> thresholds;
    std::vector<int32_t> indices;
};

// `scaled`: weights with mean 1.
AliasTable alias_table(std::vector<double> scaled);

}  // namespace snc
