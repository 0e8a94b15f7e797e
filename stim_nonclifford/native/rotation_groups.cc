#include "rotation_groups.h"

#include <algorithm>
#include <bit>

#include "plan.h"

namespace snc {

namespace {

// The number of last groups that are searched for a place.
constexpr size_t reach = 64;

// A narrower vector fits into the second cache, from which passes with one group each are as fast.
constexpr int32_t min_width_for_long_passes = 17;

constexpr size_t unlimited = SIZE_MAX;

bool commute(const Operation& a, const Operation& b) { return (std::popcount((a.x & b.z) ^ (a.z & b.x)) & 1) == 0; }

struct Group {
    std::vector<uint32_t> rotations;
    std::vector<uint64_t> masks;  // with different highest bits

    // The rest of the mask, or 0 if it is a sum of masks of the group.
    uint64_t reduced(uint64_t mask) const {
        for (const uint64_t other : masks) mask = std::min(mask, mask ^ other);
        return mask;
    }
    void add(uint32_t rotation, uint64_t mask) {
        rotations.push_back(rotation);
        if (const uint64_t rest = reduced(mask); rest != 0) masks.push_back(rest);
    }
};

// Groups of at most `max_size` rotations, whose masks are sums of `max_masks` masks.
std::vector<std::vector<uint32_t>> grouped(const std::vector<Operation>& operations, std::span<const uint32_t> run, size_t max_size,
                                           size_t max_masks) {
    const auto has_room_for = [=](const Group& group, uint64_t mask) {
        return group.rotations.size() < max_size && (group.masks.size() < max_masks || group.reduced(mask) == 0);
    };
    std::vector<Group> groups;
    for (const uint32_t rotation : run) {
        const Operation& operation = operations[rotation];
        const uint64_t mask = operation.x >> index_lane_bits;
        // Among the groups that the rotation can move back to: the last one that has its mask, else the first one with room
        // for it.
        size_t best = groups.size();
        for (size_t seen = 0, j = groups.size(); j-- > 0 && seen < reach; ++seen) {
            if (has_room_for(groups[j], mask)) {
                best = j;
                if (groups[j].reduced(mask) == 0) break;
            }
            if (!std::ranges::all_of(groups[j].rotations, [&](uint32_t k) { return commute(operations[k], operation); })) break;
        }
        if (best == groups.size()) groups.emplace_back();
        groups[best].add(rotation, mask);
    }
    std::vector<std::vector<uint32_t>> found;
    for (Group& group : groups) found.push_back(std::move(group.rotations));
    return found;
}

}  // namespace

std::vector<RotationPass> group_rotations(const std::vector<Operation>& operations, std::span<const uint32_t> run) {
    std::vector<RotationPass> passes;
    if (run.empty()) return passes;
    if (operations[run.front()].width < min_width_for_long_passes) {
        for (std::vector<uint32_t>& group : grouped(operations, run, max_group_size, max_group_masks))
            passes.push_back({std::move(group)});
        return passes;
    }
    for (const std::vector<uint32_t>& pass : grouped(operations, run, unlimited, max_pass_masks))
        passes.push_back(grouped(operations, pass, max_group_size, max_group_masks));
    return passes;
}

}  // namespace snc
