#include "steps/rotation_groups.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "algebra/mask_span.h"

namespace snc {

namespace {

// The number of last groups that are searched for a place.
constexpr size_t reach = 64;

constexpr size_t unlimited = SIZE_MAX;

bool commute(const Operation& a, const Operation& b) { return (std::popcount((a.x & b.z) ^ (a.z & b.x)) & 1) == 0; }

struct Group {
    std::vector<uint32_t> rotations;
    MaskSpan masks;
};

// Groups of at most `max_size` rotations, whose masks are sums of `max_masks` masks.
std::vector<std::vector<uint32_t>> grouped(const std::vector<Operation>& operations, std::span<const uint32_t> run, int lane_bits,
                                           size_t max_size, size_t max_masks, uint64_t first_mask) {
    std::vector<Group> groups(1);
    if (first_mask != 0) groups.front().masks.add(first_mask);
    for (const uint32_t rotation : run) {
        const Operation& operation = operations[rotation];
        const uint64_t mask = operation.x >> lane_bits;
        // Among the groups that the rotation can move back to: the last one that has its mask, else the first one with room
        // for it.
        size_t best = groups.size();
        for (size_t seen = 0, j = groups.size(); j-- > 0 && seen < reach; ++seen) {
            if (groups[j].rotations.size() < max_size && groups[j].masks.has_room_for(mask, max_masks)) {
                best = j;
                if (groups[j].masks.contains(mask)) break;
            }
            if (!std::ranges::all_of(groups[j].rotations, [&](uint32_t k) { return commute(operations[k], operation); })) break;
        }
        if (best == groups.size()) groups.emplace_back();
        groups[best].rotations.push_back(rotation);
        groups[best].masks.add(mask);
    }
    std::vector<std::vector<uint32_t>> found;
    for (Group& group : groups) found.push_back(std::move(group.rotations));
    return found;
}

}  // namespace

std::vector<RotationPass> group_rotations(const std::vector<Operation>& operations, std::span<const uint32_t> run,
                                          const GroupRules& rules, uint64_t first_mask) {
    const auto groups_of = [&](std::span<const uint32_t> rotations) {
        return grouped(operations, rotations, rules.lane_bits, rules.max_rotations, rules.max_masks, first_mask);
    };
    std::vector<RotationPass> passes;
    if (run.empty()) return passes;
    if (operations[run.front()].width < rules.min_width_of_long_passes) {
        for (std::vector<uint32_t>& group : groups_of(run)) passes.push_back({std::move(group)});
        return passes;
    }
    for (const std::vector<uint32_t>& pass : grouped(operations, run, rules.lane_bits, unlimited, rules.max_pass_masks, 0))
        passes.push_back(groups_of(pass));
    return passes;
}

}  // namespace snc
