// Groups the rotations of a long vector: one pass over the vector applies all rotations of a group.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace snc {

struct Operation;

// The number of low index bits, which number the coefficients of a block.
constexpr int index_lane_bits = 3;

// The number of parities of a block's number that the kernel tracks.
constexpr size_t max_group_size = 16;

// The blocks that differ by sums of this many masks are in registers together.
constexpr size_t max_group_masks = 3;

// Groups a run of rotations, given as operations. The block masks that the rotations of a group flip are sums of
// max_group_masks masks, so that the group mixes few blocks. Rotations change their order only if they commute.
std::vector<std::vector<uint32_t>> group_rotations(const std::vector<Operation>& operations, std::span<const uint32_t> run);

}  // namespace snc
