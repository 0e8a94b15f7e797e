// Draws outcomes from the outcome laws, for one thread.
//
// A shot walks from its signature's root to a leaf with the numbers that its seed and index give; where the tree ends,
// the coefficient vector is simulated and the tree grows: from the start, or from a vector that was stored on the same
// path, or on the same path of signature 0, if the signs do not differ before. Past the memory limit, trees stop growing
// and shots are simulated: the results are the same.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "batch_simulation.h"
#include "law_store.h"
#include "law_walks.h"
#include "path_simulation.h"
#include "philox.h"
#include "plan.h"

namespace snc {

class OutcomeLaws {
   public:
    // `interrupted` is asked now and then during long simulations and throws to stop them.
    OutcomeLaws(const Plan& plan, const Kernels& kernels, LawStore& store, std::function<void()> interrupted);

    // Threads for the rotations of wide vectors; null: none.

    using Shot = LawWalks::Shot;
    struct Result {
        bool kept;                // no outcome check fires
        const uint64_t* outputs;  // that the outcomes flip, [output_words]; valid during the call
    };
    // Draws the outcomes of shots. Calls use(number of the shot among these, its result), in any order.
    template <typename Use>
    void sample(std::span<const Shot> shots, uint64_t seed, Use use) {
        open_.clear();
        for (size_t begin = 0; begin < shots.size(); begin += LawWalks::max_shots) {
            const auto group = shots.subspan(begin, std::min(LawWalks::max_shots, shots.size() - begin));
            std::array<Ref, LawWalks::max_shots> leaves;
            find(group, seed, leaves);
            for (size_t k = 0; k < group.size(); ++k) {
                if (leaves[k] == Ref::none)
                    open_.push_back(static_cast<uint32_t>(begin + k));
                else
                    use(begin + k, result_of(leaves[k]));
            }
        }
        for (size_t begin = 0; begin < open_.size();) {
            const size_t count = batches_ ? std::min<size_t>(batch_shots, open_.size() - begin) : 1;
            const auto numbers = std::span(open_).subspan(begin, count);
            if (batches_) {
                simulate_batch(shots, numbers, seed);
                for (uint32_t k = 0; k < count; ++k) use(numbers[k], Result{batch_->kept(k), batch_->outputs(k)});
            } else {
                use(numbers[0], simulate(shots[numbers[0]], seed));
            }
            begin += count;
        }
    }

    PathSimulation::ZeroSignatureLaw zero_signature_law() { return simulation_.zero_signature_law(); }

    // What the outcomes of signature 0 flip if every one is the more likely one, and 0 if both are equally likely.
    std::vector<uint64_t> likely_outputs();

    // All branches of a signature: probability, whether discarded, and flipped outputs.
    struct Branch {
        double probability;
        bool discarded;
        std::vector<uint64_t> outputs;
    };
    std::vector<Branch> branches(std::span<const uint64_t> signature);

    // Of the work of this thread, without the sizes of the store.
    LawStatistics statistics() const;

   private:
    using Ref = LawStore::Ref;
    struct Decision {
        Ref node;
        bool outcome;
    };

    Result result_of(Ref leaf) const { return {LawStore::is_kept(leaf), store_.outputs_of(leaf)}; }
    // What is known.
    void find(std::span<const Shot> shots, uint64_t seed, std::span<Ref> leaves);
    // Walks through the part of the tree that is known, and then simulates; the tree grows.
    Result simulate(const Shot& shot, uint64_t seed);
    // Goes from the root of a signature to a leaf, or as far as the tree is known: `decisions_` are those on the way.
    Ref walk(std::span<const uint64_t> signature, OutcomeDecisions& decisions);
    // Simulates those of the shots with these numbers.
    void simulate_batch(std::span<const Shot> shots, std::span<const uint32_t> numbers, uint64_t seed);
    // Puts a place into the tree of a signature, after a decision, or, if that has no node, as its root. No reference if
    // there is no room, or if another thread has put one there.
    Ref add_place(std::span<const uint64_t> signature, const Decision& last, const PathSimulation::Stop& stop,
                  const uint64_t* outputs);
    // Puts the path of a shot of the last batch into the tree of its signature.
    void add_path(std::span<const uint64_t> signature, uint32_t shot);
    // Finds `shared_`: the nodes of signature 0 at which the shot under way makes the same decisions, those of
    // `decisions_` and then those that are drawn.
    void find_shared(OutcomeDecisions decisions);
    // Goes to the last checkpoint on the way; returns how many decisions have been made there.
    size_t go_to_last_checkpoint();
    // Whether to store more, and to simulate in batches, from how many lookups of late found their outcomes stored.
    void review();

    const Plan& plan_;
    LawStore& store_;
    PathSimulation simulation_;
    std::optional<BatchSimulation> batch_;      // if it suits the plan
    LawWalks walks_;
    std::vector<uint32_t> open_;  // shots of a call that the store does not know
    std::vector<BatchSimulation::Shot> batch_shots_;
    uint64_t lookups_ = 0, simulations_ = 0;
    bool stores_ = true, batches_ = false;
    uint64_t reviews_ = 0, lookups_at_review_ = 0, simulations_at_review_ = 0;
    std::vector<Decision> decisions_;           // of the shot under way
    std::vector<Ref> shared_;                   // nodes of signature 0 on its way
};

}  // namespace snc
