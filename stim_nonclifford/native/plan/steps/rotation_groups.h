// Groups rotations of the vector, so that few passes over it apply them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "plan/steps/operation_list.h"

namespace snc {

// The number of parities of a block's number that the kernel tracks.
constexpr size_t max_group_size = 16;

// The blocks that differ by sums of this many masks are in registers together.
constexpr size_t max_group_masks = 3;

// What the passes of an engine can do.
struct GroupRules {
    int lane_bits;               // low bits of the masks, which do not count
    size_t max_rotations;        // of a group
    size_t max_masks;            // the masks that the rotations of a group flip are sums of this many masks
};
constexpr GroupRules cpu_group_rules{
    .lane_bits = index_lane_bits,
    .max_rotations = max_group_size,
    .max_masks = max_group_masks,
};

// Distributes a run of rotations, given as operations, to groups, each of which takes a pass. Rotations change their order only if
// they commute. The first group flips `first_mask` too, if it is not 0.
std::vector<std::vector<uint32_t>> group_rotations(const OperationList& operations, std::span<const uint32_t> run,
                                                   const GroupRules& rules, uint64_t first_mask = 0);

}  // namespace snc
