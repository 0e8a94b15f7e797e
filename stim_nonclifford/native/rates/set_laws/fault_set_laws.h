// Outcome laws of many signatures at once.
//
// Signatures are sorted by the parities that the simulation reads, in its order: signs of rotations, then outcome checks.
// Signatures that agree up to some point share the simulation up to that point.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "cpu/kernels.h"
#include "plan/plan.h"

namespace snc {

// The ways in which shots are kept: the entries of signature s are [starts[s], starts[s + 1]).
struct KeptBranches {
    std::vector<uint64_t> starts;
    std::vector<uint64_t> outputs;       // [entries][output_words]: that outcomes and the signature flip
    std::vector<double> probabilities;
    std::vector<double> values{};        // [entries][values]: expectation values, if the operations of the plan have any

    // Appends the entries [begin, end) of others as those of one more signature.
    void append(const KeptBranches& other, ptrdiff_t begin, ptrdiff_t end, uint32_t output_words) {
        probabilities.insert(probabilities.end(), other.probabilities.begin() + begin, other.probabilities.begin() + end);
        outputs.insert(outputs.end(), other.outputs.begin() + begin * output_words, other.outputs.begin() + end * output_words);
        starts.push_back(probabilities.size());
    }
    // Adds to the entry at a place, which is at most the next one.
    void add(const std::vector<uint64_t>& flipped, double probability, size_t place) {
        if (place < probabilities.size()) {
            probabilities[place] += probability;
            return;
        }
        probabilities.push_back(probability);
        outputs.insert(outputs.end(), flipped.begin(), flipped.end());
    }
    // Memory for so many further ones that appending cannot fail.
    void reserve_more(const KeptBranches& other) {
        starts.reserve(starts.size() + other.starts.size());
        outputs.reserve(outputs.size() + other.outputs.size());
        probabilities.reserve(probabilities.size() + other.probabilities.size());
    }
};

// The laws of signatures, [count][signature_words]. The result does not depend on the number of threads.
KeptBranches kept_branches(const Plan& plan, const Kernels& kernels, const std::vector<uint64_t>& signatures, size_t count,
                           uint32_t num_threads, const std::function<void()>& interrupted);

}  // namespace snc
