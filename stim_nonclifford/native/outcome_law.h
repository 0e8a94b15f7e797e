// The outcome laws: for each signature a tree of the outcomes of its measurements, grown as shots need it.
//
// A node stands for the MEASUREs so far and their outcomes. Measurements whose outcome is certain make no
// node. A shot walks from its signature's root to a leaf with the numbers that its seed and index give;
// where the tree ends, the coefficient vector is simulated and the tree grows: from the start, or from a vector that
// was stored on the same path, or on the same path of signature 0, if the signs do not differ before. Past the
// memory limit, trees stop growing and shots are simulated: the results are the same.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "path_simulation.h"
#include "philox.h"
#include "plan.h"

namespace snc {

// Sizes of the store, and the work that was done; counts add up over stores.
struct LawStatistics {
    uint64_t signatures = 0;    // signatures with a tree
    uint64_t nodes = 0;         // nodes of all trees
    uint64_t stations = 0;      // stored vectors
    uint64_t bytes = 0;         // memory of the trees and the vectors
    uint64_t lookups = 0;       // shots whose outcomes were asked for
    uint64_t simulations = 0;   // of them those for which the coefficient vector was run
    SimulationWork work;        // of these simulations

    LawStatistics& operator+=(const LawStatistics& other);
};

class OutcomeLaws {
   public:
    // `interrupted` is asked now and then during long simulations and throws to stop them.
    OutcomeLaws(const Plan& plan, const Kernels& kernels, Precision precision, size_t max_bytes,
                std::function<void()> interrupted);

    // Threads for the rotations of wide vectors; null: none.
    void set_team(Team* team) { simulation_.set_team(team); }

    struct Result {
        bool kept;                // no outcome check fires
        const uint64_t* outputs;  // that the outcomes flip, [output_words]; valid until the next call
    };
    // Draws the outcomes of a shot.
    Result sample(std::span<const uint64_t> signature, uint64_t seed, uint64_t shot);

    // What happens to shots with signature 0: `fixed` if it is the same for all.
    struct QuietLaw {
        bool fixed;
        bool kept;
        std::vector<uint64_t> outputs;
    };
    QuietLaw quiet_law();

    // What becomes of a shot with signature 0, if that follows from the leading bits of its first random number.
    enum class Fate : uint8_t { open, discarded, kept_without_flips, kept };
    static constexpr size_t num_cells = 4096;
    const std::array<Fate, num_cells>& quiet_fates() const { return quiet_fates_; }
    // The outputs that the outcomes of a kept one flip.
    const uint64_t* quiet_outputs(size_t cell) const { return outputs_of(quiet_leaves_[cell]); }

    // All branches of a signature: probability, whether discarded, and flipped outputs.
    struct Branch {
        double probability;
        bool discarded;
        std::vector<uint64_t> outputs;
    };
    std::vector<Branch> branches(std::span<const uint64_t> signature);

    LawStatistics statistics() const;

   private:
    using NodeIndex = uint32_t;
    static constexpr NodeIndex no_node = 0;

    struct Node {
        double probability_of_one;  // of MEASURE `outcome`
        NodeIndex children[2];
        int32_t outcome;            // leaf: kept or discarded
        int32_t station = 0;        // minus how many simulations have passed; or the number of its station
    };
    static constexpr int32_t kept = PathSimulation::kept, discarded = PathSimulation::discarded;

    // What is known of a signature: the root of its tree, and its most likely leaf that follows from a first
    // random number in [low, high).
    struct Root {
        NodeIndex node = no_node;
        NodeIndex leaf = no_node;
        double low = 0, high = 0;
    };

    struct Decision {
        NodeIndex node;
        bool outcome;
    };

    // The place of a signature's root in the table; null if it has none and there is no room for one.
    Root* root_slot(std::span<const uint64_t> signature);
    bool grow_table();
    bool reserve_node();
    // With the outputs of `outputs_`; no node if there is no room for one.
    NodeIndex add_node(const PathSimulation::Stop& stop);
    size_t bytes() const;

    // Runs along `decisions_`, then draws outcomes; grows the tree if `root` is given (its place in the table) or if
    // decisions were made.
    Result simulate(std::span<const uint64_t> signature, Root* root, OutcomeDecisions& decisions);
    // Finds `shared_`: the nodes of signature 0 at which the shot under way makes the same decisions, those of
    // `decisions_` and then those that are drawn.
    void find_shared(OutcomeDecisions decisions);
    // Goes to the last station on the way; returns how many decisions have been made there.
    size_t go_to_last_station();
    // Counts a simulation that passes a node, and makes a station there if there have been many.
    void pass(Node& node, bool is_shared);
    // Whether to store more, from how many lookups of late found their outcomes stored.
    void review();
    // Notes a leaf that was reached.
    void note(Root& root, bool quiet, NodeIndex leaf, const OutcomeDecisions& decisions);

    const uint64_t* outputs_of(NodeIndex node) const { return node_outputs_.data() + size_t{node} * output_words_; }

    const Plan& plan_;
    const size_t max_bytes_;
    PathSimulation simulation_;
    const uint32_t signature_words_, output_words_;

    std::vector<Node> nodes_;
    std::vector<uint64_t> node_outputs_;        // [nodes][output_words]: outputs flipped so far
    std::vector<uint64_t> keys_;                // [slots][signature_words]
    std::vector<Root> roots_;                   // [slots]; no node: free
    size_t num_signatures_ = 0;
    // Signature 0 comes most often: the leaf that follows from a first random number in [k, k + 1) / size, if
    // it is known and the same in all of that.
    std::vector<NodeIndex> quiet_leaves_;
    std::array<Fate, num_cells> quiet_fates_{};
    uint64_t lookups_ = 0, simulations_ = 0;
    bool stores_ = true;
    uint64_t reviews_ = 0, simulations_at_review_ = 0;
    std::vector<PathSimulation::Station> stations_;  // at nodes, numbered from 1 on
    size_t bytes_of_stations_ = 0;
    std::vector<Decision> decisions_;           // of the shot under way
    std::vector<NodeIndex> shared_;             // nodes of signature 0 on its way
    NodeIndex quiet_root_ = no_node;            // of signature 0
    std::vector<uint64_t> outputs_;             // [output_words]: outputs flipped so far
};

}  // namespace snc
