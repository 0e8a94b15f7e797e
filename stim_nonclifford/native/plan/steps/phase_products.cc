#include "plan/steps/phase_products.h"

#include <algorithm>
#include <utility>

#include "plan/steps/operation.h"

namespace snc {

namespace {

// A table has at most 2^8 rows, and at most 2^-4 as many as the vector has blocks.
constexpr int32_t max_parities = 8;
constexpr int32_t rows_margin = 4;

}  // namespace

PhaseProductBuilder::PhaseProductBuilder(int32_t width)
    : block_bits_(width - index_lane_bits), max_parities_(std::clamp(block_bits_ - rows_margin, 1, max_parities)) {}

bool PhaseProductBuilder::add(const Phase& phase) {
    const uint64_t mask = phase.z >> index_lane_bits;
    for (Group& group : groups_)
        if (const MaskSpan::Sum sum = group.masks.as_sum(mask); sum.rest == 0) {
            group.factors.push_back({phase.slot, sum.generators, false, phase.z});
            return true;
        }
    for (Group& group : groups_)
        if (std::cmp_less(group.masks.size(), max_parities_)) {
            add_with_parity(group, phase, mask);
            return true;
        }
    if (groups_.size() == PhaseProduct::max_groups) return false;
    groups_.emplace_back();
    if (mask == 0)
        groups_.back().factors.push_back({phase.slot, 0, false, phase.z});
    else
        add_with_parity(groups_.back(), phase, mask);
    return true;
}

PhaseProduct PhaseProductBuilder::product() {
    if (groups_.empty()) groups_.emplace_back();
    PhaseProduct product;
    product.columns.assign(static_cast<size_t>(block_bits_), 0);
    for (size_t g = 0; g < groups_.size(); ++g) {
        const std::vector<uint64_t>& masks = groups_[g].masks.generators();
        product.groups.push_back(groups_[g].factors);
        product.num_rows.push_back(uint32_t{1} << masks.size());
        product.total_rows += product.num_rows.back();
        for (size_t j = 0; j < masks.size(); ++j)
            for (size_t bit = 0; bit < product.columns.size(); ++bit)
                product.columns[bit] |= (masks[j] >> bit & 1) << (8 * g + j);
    }
    return product;
}

void PhaseProductBuilder::add_with_parity(Group& group, const Phase& phase, uint64_t mask) {
    group.factors.push_back({phase.slot, group.masks.as_sum(mask).generators, true, phase.z});
    group.masks.add(mask);
}

}  // namespace snc
