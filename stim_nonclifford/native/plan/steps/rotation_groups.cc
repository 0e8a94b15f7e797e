#include "plan/steps/rotation_groups.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "algebra/mask_span.h"

namespace snc {

namespace {

// The number of last groups that are searched for a place.
constexpr size_t reach = 64;

bool commute(const Operation& a, const Operation& b) { return (std::popcount((a.x & b.z) ^ (a.z & b.x)) & 1) == 0; }

struct Group {
    std::vector<uint32_t> rotations;
    MaskSpan masks;
};

}  // namespace

std::vector<std::vector<uint32_t>> group_rotations(const OperationList& operations, std::span<const uint32_t> run,
                                                   const GroupRules& rules, uint64_t first_mask) {
    if (run.empty()) return {};
    std::vector<Group> groups(1);
    if (first_mask != 0) groups.front().masks.add(first_mask);
    for (const uint32_t rotation : run) {
        const Operation& operation = operations[rotation];
        const uint64_t mask = operation.x >> rules.lane_bits;
        // Among the groups that the rotation can move back to: the last one that has its mask, else the first one with room
        // for it.
        size_t best = groups.size();
        for (size_t seen = 0, j = groups.size(); j-- > 0 && seen < reach; ++seen) {
            if (groups[j].rotations.size() < rules.max_rotations && groups[j].masks.has_room_for(mask, rules.max_masks)) {
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

}  // namespace snc
