// Examines the fault sets of a plan: all sets of a weight, or a random sample of them.
//
// Draws depend on the seed alone, and sums are taken in a fixed order, so that results do not depend on the number of
// threads.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <vector>

#include "fault_set_keys.h"
#include "fault_set_laws.h"
#include "fault_set_search.h"
#include "fault_sets.h"
#include "kernels.h"
#include "plan.h"

namespace snc {

class FaultSetStudy {
   public:
    // `coins`, [coins][key_words]: each is added to the key of a shot or not, with probability 1/2.
    FaultSetStudy(Plan plan, const Kernels& kernels, FaultSetMechanisms mechanisms, std::vector<uint64_t> coins,
                  uint32_t max_weight, uint32_t num_threads, uint64_t max_pair_bytes, std::function<void()> interrupted);

    const FaultSetTable& table() const { return table_; }
    const FaultSetSampler& sampler() const { return sampler_; }
    const FaultSetKeys& keys() const { return keys_; }

    // The weights of the mechanisms in several circuits, [circuits][mechanisms]. There is a mass for each circuit.
    using Weights = std::vector<double>;

    // What is stored of the sets that a search finds: all of them, or only those with which a shot can be kept. Where laws are
    // long, most sets are never kept, and those that are take little room.
    enum class Storage : uint8_t { all, can_be_kept };

    struct Enumeration {
        bool is_complete = false;        // false: the search would have exceeded its limits
        uint64_t steps = 0, sets = 0;
        uint64_t num_keys = 0;           // distinct keys, stored or not
        std::vector<uint32_t> keys;
        std::vector<double> masses;      // [keys][circuits]: sum of the weights of the sets with this key
        std::vector<double> left_out;    // [circuits]: the same for all keys that are not stored
    };
    // All sets of a weight.
    Enumeration enumerate(uint32_t weight, const Weights& circuits, size_t num_circuits, uint64_t max_steps, uint64_t max_keys,
                          Storage storage);

    struct Draws {
        bool is_complete = false;
        uint64_t steps = 0;
        std::vector<uint32_t> members;   // [draws][weight]
    };
    // Draws sets of a weight as a Poisson process: one for each `spacing` of their mass, on average.
    // The result is incomplete if there would be many more than max_draws draws.
    Draws draw(uint32_t weight, double spacing, uint64_t seed, uint64_t max_draws);

    struct Join {
        bool is_complete = true;         // false: there would have been more than max_sets sets
        double left_squares = 0, right_squares = 0;  // sums of the squares of how many sets each draw is part of
        uint32_t most_of_draw = 0;       // the largest number of sets that a draw is part of, stored or not
        uint64_t sets = 0;
        std::vector<uint32_t> members;   // [selected][weight], those of the left draw first
        std::vector<uint32_t> left, right;
        std::vector<uint32_t> keys;
        std::vector<double> left_out;    // [circuits]: sum of the ratios of selected sets that are not stored
    };
    // Draws parts of `left` mechanisms and parts of `right` mechanisms, and joins pairs of parts to sets. Each set that is
    // found is selected with probability 1 / stride. The ratio of a set is the product of `ratios`, [circuits][mechanisms].
    Join join(uint32_t left, uint32_t right, uint32_t draws, double stride, uint64_t seed, uint64_t round, uint64_t max_sets,
              const Weights& ratios, size_t num_circuits, Storage storage);

    // The number of the key of each set, [sets][weight]; FaultSetKeys::none if it is not stored.
    std::vector<uint32_t> number_keys(const std::vector<uint32_t>& members, uint32_t weight, Storage storage);

    // The laws of the keys that are new since the last call: entries of key first + k.
    struct Laws {
        uint32_t first = 0;
        KeptBranches branches;
    };
    Laws evaluate();

    // For each mechanism, sums over the sets of a weight that contain it, [mechanisms][columns]: the product of the odds of the
    // members times the values of their key, [keys][columns].
    std::vector<double> member_sums(uint32_t weight, const Weights& odds, const std::vector<double>& values, uint32_t columns);
    // The sets of a weight with a key of positive value, [sets][weight].
    std::vector<uint32_t> sets_with(uint32_t weight, const std::vector<double>& values);

    // Gives back the memory that only makes searches faster.
    void release();

   private:
    void list_pairs();
    // Appends the laws of the keys from `begin` on, so many signatures at a time.
    void append_laws(const FaultSetKeys& keys, uint32_t begin, size_t max_expanded, KeptBranches& laws) const;
    // Evaluates the stored keys that have no laws yet.
    void evaluate_stored();
    // Stores keys. Returns their numbers; FaultSetKeys::none for those that are not stored.
    std::vector<uint32_t> store(const FaultSetKeys& keys, Storage storage);
    // Numbers the keys of the sets of a join that have no number yet, and leaves out sets that are not stored.
    void number_joined(Join& join, uint32_t weight, const Weights& ratios, Storage storage);

    template <typename MakeVisitor>
    bool search(uint32_t weight, FaultSetGoal goal, uint64_t max_steps, uint64_t& steps, MakeVisitor make_visitor) const;

    const ClosedSets& closed_sets(uint32_t weight);

    const Plan plan_;
    const Kernels& kernels_;
    FaultSetTable table_;
    const FaultSetSampler sampler_;
    const std::vector<uint64_t> coins_;
    const uint32_t num_threads_;
    const uint64_t max_pair_bytes_;
    const std::function<void()> interrupted_;
    FaultSetKeys keys_;
    uint32_t evaluated_ = 0;  // keys with laws
    KeptBranches new_laws_{{0}, {}, {}};  // of the last keys that are evaluated
    std::array<ClosedSets, 4> closed_;
};

}  // namespace snc
