// Fault sets: sets of error mechanisms, at most one from each site, whose effects together violate no noise-only check.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "algebra/alias_table.h"
#include "base/interruption.h"
#include "base/memory.h"

namespace snc {

// The mechanisms as Python passes them. A *key* holds the bits other than checks that a set flips: signature, outputs.
struct FaultSetMechanisms {
    uint32_t check_words = 0, key_words = 0;
    std::vector<uint64_t> checks;   // [mechanisms][check_words]
    std::vector<uint64_t> keys;     // [mechanisms][key_words]
    std::vector<uint64_t> target;   // [check_words]: the checks that a set must flip
    std::vector<uint64_t> base;     // [key_words]: the key of the empty set
    std::vector<double> weights;    // [mechanisms]: odds of the mechanism against nothing
    std::vector<int32_t> sites;     // [mechanisms]; -1: no site

    size_t size() const { return weights.size(); }
};

// Writes `base` plus the rows of some members, each of so many words.
inline void xor_of_rows(const uint64_t* base, const uint64_t* rows, uint32_t words, std::span<const uint32_t> members, uint64_t* sum) {
    for (uint32_t w = 0; w < words; ++w) {
        uint64_t word = base[w];
        for (const uint32_t m : members) word ^= rows[size_t{m} * words + w];
        sum[w] = word;
    }
}

// The mechanisms, ordered for the search of sets that flip given checks.
class FaultSetTable {
   public:
    static constexpr uint32_t none = ~uint32_t{0};

    // Throws ResourceLimit if the twins take more than max_bytes.
    FaultSetTable(FaultSetMechanisms mechanisms, uint64_t max_bytes, Interruption& interruption);

    uint32_t num_mechanisms() const { return static_cast<uint32_t>(mechanisms_.size()); }
    uint32_t check_words() const { return mechanisms_.check_words; }
    uint32_t num_checks() const { return num_checks_; }
    uint32_t key_words() const { return mechanisms_.key_words; }
    double weight(uint32_t mechanism) const { return mechanisms_.weights[mechanism]; }
    const std::vector<double>& weights() const { return mechanisms_.weights; }
    const uint64_t* checks(uint32_t mechanism) const { return mechanisms_.checks.data() + size_t{mechanism} * check_words(); }
    const uint64_t* target() const { return mechanisms_.target.data(); }
    bool flips(uint32_t mechanism, uint32_t check) const {
        return (checks(mechanism)[check / 64] >> (check % 64) & 1) != 0;
    }
    bool exclude_each_other(uint32_t a, uint32_t b) const {
        return mechanisms_.sites[a] >= 0 && mechanisms_.sites[a] == mechanisms_.sites[b];
    }
    const std::vector<int32_t>& sites() const { return mechanisms_.sites; }

    // A linear hash of the checks that a mechanism flips: the hash of a set is the XOR of the hashes of its members.
    uint64_t hash(uint32_t mechanism) const { return hashes_[mechanism]; }
    uint64_t target_hash() const { return target_hash_; }

    // The mechanisms that flip a check, ascending, and their hashes. Checks are numbered by how few mechanisms flip them.
    std::span<const uint32_t> flipping(uint32_t check) const {
        return {flipping_.data() + starts_[check], starts_[check + 1] - starts_[check]};
    }
    const uint64_t* flipping_hashes(uint32_t check) const { return flipping_hashes_.data() + starts_[check]; }
    // The first check that is set, or none.
    uint32_t first_check(const uint64_t* checks) const;

    // The mean number of mechanisms that flip the first check of a mechanism: each member multiplies the search by about this.
    double branching() const;

    // Whether any mechanism may have this hash; false is certain.
    bool may_exist(uint64_t hash) const {
        const uint64_t bit = hash >> filter_shift_;
        return (filter_[bit / 64] >> (bit % 64) & 1) != 0;
    }
    // The same for pairs.
    bool may_be_pair(uint64_t hash) const {
        if (pair_filter_.empty()) return true;
        const uint64_t bit = hash >> pair_filter_shift_;
        return (pair_filter_[bit / 64] >> (bit % 64) & 1) != 0;
    }
    void prefetch_pairs(uint64_t hash) const {
        if (!pair_filter_.empty()) __builtin_prefetch(&pair_filter_[(hash >> pair_filter_shift_) / 64]);
    }
    bool knows_pairs() const { return !pair_filter_.empty(); }
    // Builds the filter of pairs. Without it, searches take longer.
    void list_pairs(Interruption& interruption);
    void forget_pairs() { pair_filter_ = {}; }
    uint64_t bytes_for_pairs() const;

    const uint64_t* hashes() const { return hashes_.data(); }
    // The mechanisms that flip exactly these checks, ascending.
    std::span<const uint32_t> with_checks(uint64_t hash, const uint64_t* checks) const;
    // All pairs of mechanisms that flip the same checks and do not exclude each other, the smaller one first.
    const std::vector<std::pair<uint32_t, uint32_t>>& twins() const { return twins_; }

    // Writes the key of a set to `key`.
    void key_of(std::span<const uint32_t> members, uint64_t* key) const;

   private:
    size_t num_classes() const { return class_starts_.size() - 1; }
    uint64_t hash_of_class(size_t number) const { return hashes_[class_members_[class_starts_[number]]]; }
    void choose_sparse_checks(Looks& look);
    void list_flipping(Looks& look);
    void list_classes(Looks& look);
    void list_twins(uint64_t max_bytes, Looks& look);

    FaultSetMechanisms mechanisms_;
    uint32_t num_checks_ = 0;
    std::vector<uint64_t> hashes_;
    uint64_t target_hash_ = 0;
    std::vector<size_t> starts_;
    std::vector<uint32_t> flipping_;
    std::vector<uint64_t> flipping_hashes_;
    std::vector<uint64_t> filter_;
    std::vector<uint64_t, Aligned<uint64_t>> pair_filter_;
    uint32_t filter_shift_ = 0, pair_filter_shift_ = 0;
    // Classes: mechanisms that flip the same checks.
    std::vector<uint32_t> class_members_, class_starts_;
    std::vector<uint32_t> slots_;  // open addressing by hash: class + 1, or 0
    std::vector<std::pair<uint32_t, uint32_t>> twins_;
};

// Elementary symmetric polynomials of the weights of mechanisms, where a set has at most one mechanism from each site. Draws
// sets with probability proportional to their weight.
class FaultSetSampler {
   public:
    FaultSetSampler(const FaultSetTable& table, uint32_t max_weight);

    // The sum of the weights of all sets of this many mechanisms.
    double total(uint32_t weight) const { return tails_[weight][0]; }
    // Draws a set; `next` returns numbers uniform in [0, 1). A set must exist.
    template <typename Next>
    void draw(uint32_t weight, Next next, uint32_t* members) const {
        if (is_quick_[weight]) {
            // Draws independent mechanisms until they form a set.
            for (uint32_t k = 0; k < weight;) {
                members[k] = draw_one(next());
                k = joins(members, k) ? k + 1 : 0;
            }
            return;
        }
        size_t begin = 0;
        for (uint32_t left = weight; left > 0; --left) {
            const size_t group = find_group(left, begin, next());
            *members++ = find_choice(group, next());
            begin = group + 1;
        }
    }

   private:
    // Draws a mechanism with probability proportional to its weight, by an alias table.
    uint32_t draw_one(double number) const {
        const double at = number * static_cast<double>(cells_.indices.size());
        const auto cell = static_cast<uint32_t>(at);
        return at - cell < cells_.thresholds[cell] ? cell : static_cast<uint32_t>(cells_.indices[cell]);
    }
    bool joins(const uint32_t* members, uint32_t last) const {
        for (uint32_t k = 0; k < last; ++k)
            if (members[k] == members[last] || (sites_[members[k]] >= 0 && sites_[members[k]] == sites_[members[last]])) return false;
        return true;
    }

    // Draws the first group of a set whose groups are `begin` or later.
    size_t find_group(uint32_t weight, size_t begin, double number) const;
    uint32_t find_choice(size_t group, double number) const;

    AliasTable cells_;
    std::vector<bool> is_quick_;            // for each weight, whether independent draws often form a set
    std::vector<int32_t> sites_;
    std::vector<uint32_t> choices_;         // mechanisms, group after group
    std::vector<double> choice_sums_;       // cumulative weights within each group
    std::vector<size_t> group_starts_;
    std::vector<std::vector<double>> tails_;  // [weight][group]: sum over the sets with groups from this one on
};

}  // namespace snc
