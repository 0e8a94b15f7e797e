// Examines the fault sets of a plan: all sets of a weight, or those that a join of random halves finds.
//
// Draws depend on the seed alone, and sums are taken in a fixed order, so that results do not depend on the number of
// threads.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "base/numbered_rows.h"
#include "base/parallel_parts.h"
#include "base/turns.h"
#include "cpu/kernels.h"
#include "plan/plan.h"
#include "rates/fault_sets/fault_set_bounds.h"
#include "rates/fault_sets/fault_set_search.h"
#include "rates/fault_sets/fault_sets.h"
#include "rates/fault_sets/search_steps.h"
#include "rates/set_laws/coin_tosses.h"
#include "rates/set_laws/fault_set_laws.h"
#include "rates/set_laws/kept_spans.h"

namespace snc {

// Calls from several threads are executed one after another. The calling thread calls `interrupted` several times a second, while
// it waits and while it works; it may throw to stop the call. A call that ends with an exception stores nothing but keys.
class FaultSetStudy {
   public:
    struct Options {
        uint32_t max_weight, num_threads;
        uint64_t max_pair_bytes;  // for tables that make searches faster
        uint64_t max_bytes;       // for lists that searches need; throws ResourceLimit if that does not suffice
    };
    // `coins`, [coins][key_words]: each is added to the key of a shot or not, with probability 1/2.
    FaultSetStudy(Plan plan, const Kernels& kernels, FaultSetMechanisms mechanisms, std::vector<uint64_t> coins,
                  const Options& options, std::function<void()> interrupted);

    uint32_t max_weight() const { return options_.max_weight; }
    const Plan& plan() const { return plan_; }
    const FaultSetTable& table() const { return table_; }
    const FaultSetSampler& sampler() const { return sampler_; }
    uint64_t num_keys() const;
    // The keys whose laws were evaluated, and the laws of signatures that this took: one for each toss of the coins that matter.
    struct Evaluated {
        uint64_t keys = 0, laws = 0;
    };
    Evaluated evaluated() const;
    // Whether most sets with which no shot is kept are told from the others without their laws.
    bool tells_kept() const { return spans_.has_value(); }

    // Only keys with which a shot can be kept are stored: most sets are never kept.
    struct Enumeration {
        bool is_complete = false;        // false: the search would have exceeded its limits
        uint64_t steps = 0, sets = 0;
        uint64_t candidates = 0;         // sets that may be kept, as far as that is known without their laws
        uint64_t num_keys = 0;           // distinct keys of the candidates, stored or not
        std::vector<uint32_t> keys;
        std::vector<double> masses;      // [keys]: sum of the weights of the sets with this key
        double left_out = 0;             // the same for all keys that are not stored
    };
    // All sets of a weight.
    struct EnumerationLimits {
        uint64_t max_steps, max_keys, max_laws;
        double max_seconds;
    };
    Enumeration enumerate(uint32_t weight, const EnumerationLimits& limits);

    // Upper bounds for all sizes up to the largest; see fault_set_bounds.
    FaultSetBounds bounds(const std::vector<double>& closed, double negligible) const {
        const Turns::Turn turn = this->turn();
        return fault_set_bounds(table_, options_.max_weight, closed, negligible, options_.num_threads, interrupted_);
    }

    struct Join {
        bool is_complete = true;         // false: there would have been more than max_sets to store, or far more in all
        uint32_t most_of_draw = 0;       // the largest number of sets that a draw is part of, stored or not
        uint64_t sets = 0, candidates = 0;
        std::vector<uint32_t> members;   // [stored][largest weight], those of the left draw first; then the number of mechanisms
        std::vector<uint32_t> left, right;
        std::vector<uint32_t> keys;
        double left_out = 0;             // the sum of what the sets that are not stored count
    };
    // Draws left[k] parts of k mechanisms and as many others as `right` says, and joins left and right parts to sets. `counts` says for
    // each weight what a set counts; where it is 0, sets are not looked for.
    Join join(const std::vector<uint32_t>& left, const std::vector<uint32_t>& right, const std::vector<double>& counts, uint64_t seed,
              uint64_t round, uint64_t max_sets);

    // The number of the key of each set, [sets][weight]; NumberedRows::none if it is not stored.
    std::vector<uint32_t> number_keys(const std::vector<uint32_t>& members, uint32_t weight);

    // The laws of the keys that are new since the last call: entries of key first + k.
    struct Laws {
        uint32_t first = 0;
        KeptBranches branches;
    };
    Laws evaluate();

    // For each mechanism, sums over the sets of a weight that contain it, [mechanisms][columns]: the product of the odds of the
    // members times the values of their key, [keys][columns].
    std::vector<double> member_sums(uint32_t weight, const std::vector<double>& values, uint32_t columns);
    // The sets of a weight with a key of positive value, [sets][weight].
    std::vector<uint32_t> sets_with(uint32_t weight, const std::vector<double>& values);

    // Gives back the memory that only makes searches faster.
    void release();

   private:
    // Parts of the search are combined into groups. Sums are taken within each group, then over the groups in order.
    static constexpr size_t max_groups = 64;

    // Whether shots with a set may be kept, as far as that is known without its law; one for each thread.
    class KeptTest {
       public:
        explicit KeptTest(const FaultSetStudy& study) : study_(study.spans_ ? &study : nullptr) {
            if (study_ == nullptr) return;
            memory_.emplace(*study_->spans_);
            image_.resize(study_->spans_->image_words());
        }
        bool operator()(std::span<const uint32_t> members) {
            if (study_ == nullptr) return true;
            study_->write_image(members, image_.data());
            return study_->spans_->can_be_kept(image_.data(), *memory_);
        }
        // The same for the XOR of the images of two halves.
        bool of_halves(const uint64_t* left, const uint64_t* right) {
            if (study_ == nullptr) return true;
            for (size_t w = 0; w < image_.size(); ++w) image_[w] = left[w] ^ right[w];
            return study_->spans_->can_be_kept(image_.data(), *memory_);
        }

       private:
        const FaultSetStudy* study_;
        std::optional<KeptSpans::Memory> memory_;
        std::vector<uint64_t> image_;
    };
    uint32_t image_words() const { return spans_ ? spans_->image_words() : 0; }
    // Writes the image of a set.
    void write_image(std::span<const uint32_t> members, uint64_t* image) const {
        xor_of_rows(base_image_.data(), images_.data(), image_words(), members, image);
    }
    void find_spans();

    Turns::Turn turn() const { return Turns::Turn(turns_, interrupted_); }
    void list_pairs(Interruption& interruption);
    std::vector<uint32_t> number(std::span<const uint32_t> members, uint32_t weight);
    // The laws of keys. Throws SearchSteps::Ended after the time of a search.
    KeptBranches laws_of(const NumberedRows& keys, SearchSteps* steps);
    // Whether the tosses for keys, as far as these are not stored yet, are at most so many.
    bool has_at_most(const NumberedRows& keys, uint64_t max_laws) const;
    // Stores keys and their laws. Returns their numbers; NumberedRows::none for those that are not stored. Stores nothing if the time of
    // a search ends, and throws SearchSteps::Ended.
    std::vector<uint32_t> store(const NumberedRows& keys, SearchSteps* steps = nullptr);
    // Numbers the keys of the sets of a join that have no number yet, and leaves out sets that are not stored.
    void number_joined(Join& join, const std::vector<double>& counts);
    // Without what fills up the members of sets that are smaller than others.
    std::span<const uint32_t> without_padding(std::span<const uint32_t> members) const;

    // Searches on all threads. make_visitor(group, interruption) returns the visitor for the sets of a group; start(part) tells
    // the visitor that a part begins. Calls finish(group, interruption) after all sets of a group were visited.
    using Finish = std::function<void(size_t, Interruption&)>;
    template <typename MakeVisitor>
    void search(uint32_t weight, SearchSteps& steps, MakeVisitor make_visitor, const Finish& finish) const;
    // Visits every set: make_visit(group) returns a function of a set's members and weight.
    template <typename MakeVisit>
    void visit_all(uint32_t weight, SearchSteps& steps, MakeVisit make_visit,
                   const Finish& finish = [](size_t, Interruption&) {}) const {
        search(weight, steps, [&](size_t group, Interruption&) { return EverySet{make_visit(group)}; }, finish);
    }

    mutable Turns turns_{"study"};
    const Plan plan_;
    const CoinTosses coins_;
    const Kernels& kernels_;
    FaultSetTable table_;
    const FaultSetSampler sampler_;
    const Options options_;
    const std::function<void()> interrupted_;
    std::optional<KeptSpans> spans_;
    std::vector<uint64_t> images_, base_image_;  // [mechanisms][image_words], and that of the empty set
    NumberedRows keys_, never_kept_;
    Evaluated all_evaluated_;
    KeptBranches new_laws_{{0}, {}, {}};  // of the keys that are new
};

template <typename MakeVisitor>
void FaultSetStudy::search(uint32_t weight, SearchSteps& steps, MakeVisitor make_visitor, const Finish& finish) const {
    const size_t num_parts = num_search_parts(table_, weight);
    const size_t num_groups = std::min(num_parts, max_groups);
    run_parts(num_groups, options_.num_threads, interrupted_, [&](Interruption& interruption) {
        return [&](size_t group) {
            if (steps.has_ended()) return;
            auto visitor = make_visitor(group, interruption);
            FaultSetSearch<decltype(visitor)> search(table_, weight, visitor, [&](uint64_t more) {
                interruption.look();
                return steps.add(more);
            });
            try {
                for (size_t part = group; part < num_parts; part += num_groups) {
                    visitor.start(part);
                    search.run_part(static_cast<uint32_t>(part));
                }
                search.finish();
                finish(group, interruption);
            } catch (const SearchSteps::Ended&) {
            }
        };
    });
}

}  // namespace snc
