// Draws outcomes from the outcome laws, for one thread.
//
// A shot walks from the root of its signature to a leaf; its seed and its number give the random numbers. Where the tree
// ends, the coefficient vector is simulated, and the tree grows. A simulation starts at the beginning, or at a vector stored
// on the same path, or at a vector stored on the same path of signature 0 if no sign differs before. Beyond the memory limit,
// trees stop growing and shots are simulated; the results are the same.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "engine/laws/law_store.h"
#include "engine/laws/law_walks.h"
#include "kernels/shared/philox.h"
#include "plan/plan.h"
#include "simulation/batch_simulation.h"
#include "simulation/path_simulation.h"

namespace snc {

class OutcomeLaws {
   public:
    // With a simulation of the plan. `interrupted` is called from time to time during long simulations in batches, and throws to
    // stop them.
    OutcomeLaws(const Plan& plan, PathSimulation simulation, const Kernels& kernels, LawStore& store,
                std::function<void()> interrupted);

    using Shot = LawWalks::Shot;
    struct Result {
        bool kept;                // no outcome check fires
        const uint64_t* outputs;  // the outputs that the outcomes flip, [output_words]; valid during the call
    };
    // Draws the outcomes of shots. Calls use(index of the shot, its result), in any order.
    template <typename Use>
    void sample(std::span<const Shot> shots, uint64_t seed, Use use) {
        open_.clear();
        for (size_t begin = 0; begin < shots.size(); begin += LawWalks::max_shots) {
            const auto group = shots.subspan(begin, std::min(LawWalks::max_shots, shots.size() - begin));
            std::array<Ref, LawWalks::max_shots> leaves;
            review();
            lookups_ += group.size();
            walks_.find(group, seed, leaves);
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

    // The outputs that the outcomes of signature 0 flip, if each outcome is the likelier one, or 0 if both are equally likely.
    std::vector<uint64_t> likely_outputs();

    // A path of a signature: every outcome that is not certain is 0 or 1 with probability 1/2 each, however likely it is, but if
    // one of both would fire an outcome check that is final with it, it is the other one.
    struct PossiblePath {
        bool kept;
        std::vector<uint64_t> outputs;  // the outputs that the outcomes flip
    };
    PossiblePath possible_path(std::span<const uint64_t> signature, uint64_t seed, uint64_t number);

    // A batch of shots that is simulated in passes, which `batch` goes on with; if batches suit the plan.
    BatchSimulation::Suspended begun(std::vector<BatchSimulation::Shot> shots) {
        begun_ += shots.size();
        return batch_->begun(std::move(shots));
    }
    BatchSimulation& batch() { return *batch_; }

    // The work of this thread, without the sizes of the store.
    LawStatistics statistics() const;

   private:
    using Ref = LawStore::Ref;
    struct Decision {
        Ref node;
        bool outcome;
    };

    Result result_of(Ref leaf) const { return {LawStore::is_kept(leaf), store_.outputs_of(leaf)}; }
    // Walks through the known part of the tree, then simulates the rest, which is added to the tree.
    Result simulate(const Shot& shot, uint64_t seed);
    // Simulates a shot whose signature is chosen, without what is stored.
    Result simulate_alone(const Shot& shot, uint64_t seed);
    // Walks from the root of a signature to a leaf, or to the end of the known tree. `decisions_` are the decisions on the way.
    Ref walk(std::span<const uint64_t> signature, OutcomeDecisions& decisions);
    // Simulates the shots with these indices.
    void simulate_batch(std::span<const Shot> shots, std::span<const uint32_t> numbers, uint64_t seed);
    // Adds a place to the tree of a signature, after a decision, or as the root if there is no decision. If another thread has
    // added one there, returns that one; if there is no room, no reference.
    Ref add_place(std::span<const uint64_t> signature, const Decision& last, const PathSimulation::Stop& stop,
                  const uint64_t* outputs);
    // Adds the path of a shot of the last batch to the tree of its signature.
    void add_path(std::span<const uint64_t> signature, uint32_t shot);
    // Finds `shared_`: the nodes of signature 0 with the same decisions as the current shot: first `decisions_`, then the
    // drawn ones.
    void find_shared(OutcomeDecisions decisions);
    // Restores the last checkpoint on the path. Returns the number of decisions before it.
    size_t go_to_last_checkpoint();
    // Decides once in a while from the recent rate of successful lookups whether to store more, and whether to simulate in batches.
    void review();

    const Plan& plan_;
    LawStore& store_;
    PathSimulation simulation_;
    std::optional<BatchSimulation> batch_;      // if it suits the plan
    LawWalks walks_;
    std::vector<uint32_t> open_;  // shots of a call whose outcomes are not stored
    std::vector<BatchSimulation::Shot> batch_shots_;
    uint64_t lookups_ = 0, simulations_ = 0;
    uint64_t begun_ = 0;  // simulations in passes, which no lookup asks for
    bool stores_ = true, batches_ = false;
    uint64_t reviews_ = 0, lookups_at_review_ = 0, simulations_at_review_ = 0;
    std::vector<Decision> decisions_;           // of the current shot
    std::vector<Ref> shared_;                   // nodes of signature 0 on its path
};

}  // namespace snc
