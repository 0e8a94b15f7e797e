// Rotations of a long vector, in groups: one pass over the vector applies all rotations of a group.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace snc {

struct Operation;

// The low bits of an index, which tell the coefficients of a block apart.
constexpr int index_lane_bits = 3;

// Parities of a block's number that the kernel keeps beside it.
constexpr size_t max_group_size = 16;

// Blocks of all sums of so many masks go through the registers together.
constexpr size_t max_group_masks = 3;

// A run of rotations, which are given as their operations, in groups. The masks of blocks that the rotations of a group flip
// are sums of max_group_masks masks, so that they mix few blocks. Rotations change places only with others that they commute
// with.
std::vector<std::vector<uint32_t>> group_rotations(const std::vector<Operation>& operations, std::span<const uint32_t> run);

}  // namespace snc
