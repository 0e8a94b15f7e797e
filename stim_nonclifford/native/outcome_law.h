// Draws outcomes from the outcome laws, for one thread.
//
// A shot walks from its signature's root to a leaf with the numbers that its seed and index give; where the tree ends,
// the coefficient vector is simulated and the tree grows: from the start, or from a vector that was stored on the same
// path, or on the same path of signature 0, if the signs do not differ before. Past the memory limit, trees stop growing
// and shots are simulated: the results are the same.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "batch_simulation.h"
#include "law_store.h"
#include "path_simulation.h"
#include "philox.h"
#include "plan.h"

namespace snc {

class OutcomeLaws {
   public:
    // `interrupted` is asked now and then during long simulations and throws to stop them.
    OutcomeLaws(const Plan& plan, const Kernels& kernels, Precision precision, LawStore& store,
                std::function<void()> interrupted);

    // Threads for the rotations of wide vectors; null: none.
    void set_team(Team* team) { simulation_.set_team(team); }

    struct Result {
        bool kept;                // no outcome check fires
        const uint64_t* outputs;  // that the outcomes flip, [output_words]; valid until the next call
    };
    // Draws the outcomes of a shot.
    Result sample(std::span<const uint64_t> signature, uint64_t seed, uint64_t shot);

    // Whether so many shots need a simulation that they should be simulated together: those that `find` does not know.
    bool simulates_batches() const { return batches_; }
    // Draws the outcomes of a shot, if they are known.
    std::optional<Result> find(std::span<const uint64_t> signature, uint64_t seed, uint64_t shot);
    // Draws those of any number of others. Calls use(number of the shot among these, its result).
    template <typename Use>
    void simulate(std::span<BatchSimulation::Shot> shots, Use use) {
        for (size_t begin = 0; begin < shots.size(); begin += batch_shots) {
            const auto batch = shots.subspan(begin, std::min<size_t>(batch_shots, shots.size() - begin));
            simulate_batch(batch);
            for (uint32_t k = 0; k < batch.size(); ++k) use(begin + k, Result{batch_->kept(k), batch_->outputs(k)});
        }
    }

    // What happens to shots with signature 0: `fixed` if it is the same for all.
    struct QuietLaw {
        bool fixed;
        bool kept;
        std::vector<uint64_t> outputs;
    };
    QuietLaw quiet_law();

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

    // The same as `find`. If they are not known, `decisions_` are those along the part of the tree that is, and `decisions`
    // makes the next one.
    std::optional<Result> look_up(std::span<const uint64_t> signature, uint64_t seed, uint64_t shot,
                                  std::optional<OutcomeDecisions>& decisions);
    Result result_of(Ref leaf) const { return {LawStore::is_kept(leaf), store_.outputs_of(leaf)}; }
    // Runs along `decisions_`, then draws outcomes; the tree grows.
    Result simulate(std::span<const uint64_t> signature, OutcomeDecisions& decisions);
    void simulate_batch(std::span<BatchSimulation::Shot> shots);
    // Puts a place into the tree of a signature, after a decision, or, if that has no node, as its root. No reference if
    // there is no room, or if another thread has put one there.
    Ref add_place(std::span<const uint64_t> signature, const Decision& last, const PathSimulation::Stop& stop,
                  const uint64_t* outputs);
    // Puts the path of a shot of the last batch into the tree of its signature.
    void add_path(std::span<const uint64_t> signature, uint32_t shot);
    // Finds `shared_`: the nodes of signature 0 at which the shot under way makes the same decisions, those of
    // `decisions_` and then those that are drawn.
    void find_shared(OutcomeDecisions decisions);
    // Goes to the last station on the way; returns how many decisions have been made there.
    size_t go_to_last_station();
    // Starts on the path of signature 0, and goes to its first MEASURE that is not certain.
    PathSimulation::Stop start_quiet();
    // Whether to store more, and to simulate in batches, from how many lookups of late found their outcomes stored.
    void review();
    // Notes a leaf that was reached.
    void note(LawStore::Entry entry, bool quiet, Ref leaf, const OutcomeDecisions& decisions);

    const Plan& plan_;
    LawStore& store_;
    PathSimulation simulation_;
    std::optional<BatchSimulation> batch_;      // if it suits the plan
    uint64_t lookups_ = 0, simulations_ = 0;
    bool stores_ = true, batches_ = false;
    uint64_t reviews_ = 0, simulations_at_review_ = 0;
    std::vector<Decision> decisions_;           // of the shot under way
    std::vector<Ref> shared_;                   // nodes of signature 0 on its way
};

}  // namespace snc
