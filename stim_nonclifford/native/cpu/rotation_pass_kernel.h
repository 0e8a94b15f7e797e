// Many rotations of a long vector in one pass over it.
//
// Included by kernels_isa.cc, once per instruction set, inside its namespace.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <span>
#include <vector>

#include "cpu/rotation_kernel.h"

namespace snc::SNC_ISA {

// The groups of a pass (rotation_groups.h), one after the other. Blocks that differ by sums of the pass's masks are copied to
// the nearest cache, which is a small vector there: bit j of the number of a block says whether the sum has mask j. Its lanes
// are permuted such that most rotations exchange none.
class PassKernel {
   public:
    PassKernel(std::span<const VectorRotation> rotations, std::span<const uint32_t> group_sizes)
        : bits_(rotations.front().width - lane_bits) {
        for (const VectorRotation& rotation : rotations) add_mask(rotation.x, lanes, masks_, count_);
        for (uint64_t bit = lanes; count_ < max_group_masks; bit *= 2) add_mask(bit, lanes, masks_, count_);
        std::sort(masks_.data(), masks_.data() + count_);
        for (uint64_t block = 1; block < uint64_t{1} << count_; ++block) {
            const uint64_t mask = masks_[static_cast<size_t>(std::countr_zero(block))];
            sums_[block] = sums_[block & (block - 1)] ^ mask;
        }
        for (uint64_t low = 0; low < lanes; ++low) lane_partners_[low] = LaneExchange(low);
        groups_.reserve(group_sizes.size());
        std::vector<VectorRotation> group;
        for (size_t begin = 0; const uint32_t size : group_sizes) {
            group.clear();
            for (const VectorRotation& rotation : rotations.subspan(begin, size)) {
                group.push_back(within_sums(rotation));
                outside_.push_back(rotation.z >> lane_bits);
            }
            groups_.emplace_back(group);
            begin += size;
        }
    }

    void apply(double* vector) const {
        alignas(64) double near[2 * lanes << max_pass_masks];
        const uint64_t size = uint64_t{1} << count_;
        for (uint64_t r = 0; r < uint64_t{1} << (static_cast<size_t>(bits_) - count_); ++r) {
            uint64_t first = r;
            for (size_t j = 0; j < count_; ++j) first = insert_zero(first, highest_bit(masks_[j]) - lane_bits);
            const auto place = [&](uint64_t block) { return vector + 2 * lanes * (first ^ sums_[block] >> lane_bits); };
            const auto in_order = [&](uint64_t block, const ComplexBlock& value) {
                return exchanged(value, lane_partners_[sums_[block] & (lanes - 1)]);
            };
            for (uint64_t block = 0; block < size; ++block) put_complex(near, block, in_order(block, complex_at(place(block), 0)));
            const uint64_t* z = outside_.data();
            for (const GroupKernel& group : groups_) {
                uint64_t reversed = 0;
                for (size_t k = 0; k < group.size(); ++k) reversed |= uint64_t{odd(*z++ & first)} << k;
                group.apply(near, reversed);
            }
            for (uint64_t block = 0; block < size; ++block) put_complex(place(block), 0, in_order(block, complex_at(near, block)));
        }
    }

   private:
    // The rotation in the small vector, where the number of the first block is 0.
    VectorRotation within_sums(VectorRotation rotation) const {
        uint64_t x = 0, z = rotation.z & (lanes - 1), rest = rotation.x;
        for (size_t j = 0; j < count_; ++j) {
            const uint64_t mask = masks_[j];
            if ((rest & std::bit_floor(mask)) != 0) {
                rest ^= mask;
                x |= lanes << j;
            }
            z |= uint64_t{odd(mask & rotation.z)} * lanes << j;
        }
        rotation.x = x | rest;
        rotation.z = z;
        rotation.width = static_cast<int32_t>(count_) + lane_bits;
        return rotation;
    }

    int bits_;
    size_t count_ = 0;
    std::array<uint64_t, max_pass_masks> masks_{};  // of the index, in the order of their highest bits
    std::array<uint64_t, size_t{1} << max_pass_masks> sums_{};  // of the masks
    std::array<LaneExchange, lanes> lane_partners_;
    std::vector<uint64_t> outside_;  // for each rotation, the blocks by which its sign is reversed
    std::vector<GroupKernel> groups_;
};

// The groups of a pass (rotation_groups.h), given by their sizes.
inline void rotate_in_groups(double* vector, std::span<const VectorRotation> rotations, std::span<const uint32_t> group_sizes) {
    if (group_sizes.size() == 1)
        GroupKernel(rotations).apply(vector, 0);
    else
        PassKernel(rotations, group_sizes).apply(vector);
}

}  // namespace snc::SNC_ISA
