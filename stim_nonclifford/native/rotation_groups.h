// Groups the rotations of a long vector, so that few passes over the vector apply them.
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

// The blocks that differ by sums of this many masks are in the nearest cache together: 32 KiB.
constexpr size_t max_pass_masks = 8;

// Rotations that are applied in one pass over the vector, in groups.
using RotationPass = std::vector<std::vector<uint32_t>>;

// Distributes a run of rotations, given as operations. The block masks that the rotations of a group flip are sums of
// max_group_masks masks, so that the group mixes few blocks; those of a pass are sums of max_pass_masks masks if the vector
// does not fit into the nearest caches. Rotations change their order only if they commute.
std::vector<RotationPass> group_rotations(const std::vector<Operation>& operations, std::span<const uint32_t> run);

}  // namespace snc
