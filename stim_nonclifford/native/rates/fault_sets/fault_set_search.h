// Finds every fault set of a given weight that flips the target's checks, once.
//
// The search is depth-first. Some further member must flip the first check that is still wrong, so only the mechanisms that
// flip it are tried. If several members flip it, the smallest one is chosen first, and smaller mechanisms are excluded from
// then on. If no check is wrong, the smallest remaining member is chosen next. The last member is found in a hash table.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "rates/fault_sets/fault_sets.h"

namespace snc {

constexpr uint32_t max_fault_set_weight = 64;

// The sets that the groups of a search have found, in order. Frees each group as soon as it is copied.
inline std::vector<uint32_t> joined(std::vector<std::vector<uint32_t>> groups) {
    size_t size = 0;
    for (const auto& group : groups) size += group.size();
    std::vector<uint32_t> all;
    all.reserve(size);
    for (auto& group : groups) {
        all.insert(all.end(), group.begin(), group.end());
        group = {};
    }
    return all;
}

// A search splits into independent parts, by the first member.
inline uint32_t num_search_parts(const FaultSetTable& table, uint32_t weight) {
    if (weight <= 2) return 1;
    const uint32_t first_check = table.first_check(table.target());
    return first_check == FaultSetTable::none ? table.num_mechanisms() : static_cast<uint32_t>(table.flipping(first_check).size());
}

// A visitor that gets every set.
template <typename Visit>
struct EverySet {
    Visit visit;

    void start(size_t) {}
    void operator()(const uint32_t* members, double weight) { visit(members, weight); }
};

// Calls visit(members, weight of the set) for each set. The members are in no particular order.
//
// `pause` is called once in a while, with the number of look-ups and similar steps since the last call. It returns the number of
// steps until the next call, and throws to end the search.
template <typename Visit>
class FaultSetSearch {
   public:
    using Pause = std::function<uint64_t(uint64_t steps)>;

    FaultSetSearch(const FaultSetTable& table, uint32_t weight, Visit& visit, Pause pause)
        : table_(table), weight_(weight), visit_(visit), pause_(std::move(pause)), residues_((size_t{weight} + 1) * table.check_words()) {
        std::copy_n(table.target(), table.check_words(), residues_.begin());
        first_check_ = table.first_check(residues_.data());
    }

    // Finds the sets of a part; see num_search_parts.
    void run_part(uint32_t part) {
        if (weight_ == 0) {
            if (first_check_ == FaultSetTable::none) visit_(members_.data(), 1.0);
        } else if (weight_ <= 2) {
            extend(0, 1, table_.target_hash());
        } else {
            const bool is_right = first_check_ == FaultSetTable::none;
            push(0, 1, table_.target_hash(), is_right ? part : table_.flipping(first_check_)[part], first_check_);
        }
    }
    // Reports the steps since the last pause.
    void finish() { make_pause(); }

   private:
    void count(uint64_t steps) {
        if ((steps_ += steps) >= steps_until_pause_) [[unlikely]] make_pause();
    }
    [[gnu::noinline]] void make_pause() { steps_until_pause_ = pause_(std::exchange(steps_, 0)); }

    struct Exclusion {
        // Excludes the mechanisms below `bound` that flip `check`, or all mechanisms below it if `check` is none.
        uint32_t check;
        uint32_t bound;
    };

    bool may_join(uint32_t depth, uint32_t mechanism) const {
        for (uint32_t k = 0; k < depth; ++k)
            if (members_[k] == mechanism || table_.exclude_each_other(members_[k], mechanism)) return false;
        for (uint32_t k = 0; k < depth; ++k)
            if (mechanism < exclusions_[k].bound &&
                (exclusions_[k].check == FaultSetTable::none || table_.flips(mechanism, exclusions_[k].check)))
                return false;
        return true;
    }

    void push(uint32_t depth, double product, uint64_t hash, uint32_t mechanism, uint32_t check) {
        if (!may_join(depth, mechanism)) return;
        members_[depth] = mechanism;
        exclusions_[depth] = {check, mechanism};
        const uint32_t words = table_.check_words();
        const uint64_t* residue = residues_.data() + size_t{depth} * words;
        for (uint32_t w = 0; w < words; ++w) residues_[size_t{depth + 1} * words + w] = residue[w] ^ table_.checks(mechanism)[w];
        extend(depth + 1, product * table_.weight(mechanism), hash ^ table_.hash(mechanism));
    }

    // Finds the sets that have the first `depth` members; `hash` is the hash of the checks that are still wrong.
    void extend(uint32_t depth, double product, uint64_t hash) {
        const uint32_t left = weight_ - depth;
        if (left == 1) return complete(depth, product, hash);
        const uint32_t check = table_.first_check(residues_.data() + size_t{depth} * table_.check_words());
        if (check == FaultSetTable::none) {
            if (left == 2) return complete_with_twins(depth, product);
            const uint32_t size = table_.num_mechanisms();
            count(size);
            for (uint32_t m = 0; m < size; ++m) {
                if (left == 3 && m + pairs_ahead < size) prefetch_pairs(hash ^ table_.hash(m + pairs_ahead));
                if (left != 3 || table_.may_be_pair(hash ^ table_.hash(m))) push(depth, product, hash, m, check);
            }
            return;
        }
        const auto candidates = table_.flipping(check);
        const uint64_t* hashes = table_.flipping_hashes(check);
        count(candidates.size());
        for (size_t k = 0; k < candidates.size(); ++k) {
            if (left == 2 && !table_.may_exist(hash ^ hashes[k])) continue;
            if (left == 3) {
                if (k + pairs_ahead < candidates.size()) prefetch_pairs(hash ^ hashes[k + pairs_ahead]);
                if (!table_.may_be_pair(hash ^ hashes[k])) continue;
            }
            push(depth, product, hash, candidates[k], check);
        }
    }

    // The filter of pairs is larger than any cache.
    static constexpr size_t pairs_ahead = 12;
    void prefetch_pairs(uint64_t hash) const { table_.prefetch_pairs(hash); }

    void complete(uint32_t depth, double product, uint64_t hash) {
        const auto last = table_.with_checks(hash, residues_.data() + size_t{depth} * table_.check_words());
        for (uint32_t m : last) {
            count(1);
            if (!may_join(depth, m)) continue;
            members_[depth] = m;
            visit_(members_.data(), product * table_.weight(m));
        }
    }

    void complete_with_twins(uint32_t depth, double product) {
        constexpr size_t twins_at_a_time = size_t{1} << 12;
        const size_t num_twins = table_.twins().size();
        for (size_t k = 0; k < num_twins; ++k) {
            if (k % twins_at_a_time == 0) count(std::min(twins_at_a_time, num_twins - k));
            const auto [a, b] = table_.twins()[k];
            if (!may_join(depth, a) || !may_join(depth, b)) continue;
            const double weight = product * table_.weight(a) * table_.weight(b);
            members_[depth] = a;
            members_[depth + 1] = b;
            visit_(members_.data(), weight);
        }
    }

    const FaultSetTable& table_;
    const uint32_t weight_;
    Visit& visit_;
    const Pause pause_;
    std::vector<uint64_t> residues_;  // [depth][check_words]: checks that are still wrong
    uint32_t first_check_;
    std::array<uint32_t, max_fault_set_weight> members_{};
    std::array<Exclusion, max_fault_set_weight> exclusions_{};
    uint64_t steps_ = 0, steps_until_pause_ = 0;  // since the last pause
};

}  // namespace snc
