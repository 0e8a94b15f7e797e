// Upper bounds on the total weight of all fault sets of each size: proven, without looking at the sets.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "rates/fault_sets/fault_sets.h"

namespace snc {

struct FaultSetBounds {
    std::vector<double> passing;  // [size]: on the weight of all sets of that many mechanisms that flip the checks of the target
    std::vector<double> most;     // [size]: on the weight of all sets of that many mechanisms that flip any one set of checks
};

// Bounds for the sizes 0 to max_weight.
//
// A set that flips some checks has a member that flips the first of them, and the other members flip what is left. So the weight
// of all sets of k mechanisms that flip the checks s is at most the sum, over the mechanisms m that flip the first check of s, of
// the weight of m times the weight of all sets of k - 1 mechanisms that flip s + m. Of s only the first two checks are known
// here; where more would be needed, the largest of all bounds that are possible is taken. Where nothing is left, every set of k
// mechanisms is counted once for each of its members: the sum over all m, divided by k.
//
// `closed`, [sizes]: the weights of all sets that flip no check, where that is known; beyond it, bounds are taken. From the first
// size on at which `most` falls below `negligible`, bounds become simpler and worse.
FaultSetBounds fault_set_bounds(const FaultSetTable& table, uint32_t max_weight, const std::vector<double>& closed, double negligible,
                                uint32_t num_threads, const std::function<void()>& interrupted);

}  // namespace snc
