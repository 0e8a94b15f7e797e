// The outcome laws: for each signature a tree of the outcomes of its measurements, grown as shots need it.
//
// A node stands for the MEASUREs so far and their outcomes. Measurements whose outcome is certain make no
// node. A shot walks from its signature's root to a leaf with the numbers that its seed and index give;
// where the tree ends, the coefficient vector is simulated from the start and the tree grows. Past the
// memory limit, trees stop growing and shots are simulated: the results are the same.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <new>
#include <span>
#include <vector>

#include "kernels.h"
#include "philox.h"
#include "plan.h"
#include "team.h"

namespace snc {

// Memory that begins with a cache line, so that no block of coefficients lies in two of them.
template <typename T>
struct CacheAligned {
    using value_type = T;
    static constexpr std::align_val_t line{64};

    CacheAligned() = default;
    template <typename Other>
    CacheAligned(const CacheAligned<Other>&) {}

    static T* allocate(size_t count) { return static_cast<T*>(::operator new(count * sizeof(T), line)); }
    static void deallocate(T* memory, size_t) { ::operator delete(memory, line); }
    bool operator==(const CacheAligned&) const = default;
};

// Sizes of the store, and the work that was done; counts add up over stores.
struct LawStatistics {
    uint64_t signatures = 0;    // signatures with a tree
    uint64_t nodes = 0;         // nodes of all trees
    uint64_t stations = 0;      // stored vectors
    uint64_t bytes = 0;         // memory of the trees and the vectors
    uint64_t lookups = 0;       // shots whose outcomes were asked for
    uint64_t simulations = 0;   // of them those for which the coefficient vector was run
    uint64_t steps = 0;         // steps of these simulations
    uint64_t coefficients_read = 0, coefficients_written = 0;
    uint64_t flops = 0;         // real multiplications and additions

    LawStatistics& operator+=(const LawStatistics& other);
};

class OutcomeLaws {
   public:
    // `interrupted` is asked now and then during long simulations and throws to stop them.
    OutcomeLaws(const Plan& plan, const Kernels& kernels, size_t max_bytes, std::function<void()> interrupted);

    // Threads for the rotations of wide vectors; null: none.
    void set_team(Team* team) { team_ = team; }

    // Draws the outcomes of a shot. Returns the outputs that they flip ([words_for(num_outputs)]; valid until
    // the next call), or null if an outcome check fires.
    const uint64_t* sample(std::span<const uint64_t> signature, uint64_t seed, uint64_t shot);

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
    static constexpr int32_t kept = -1, discarded = -2;

    // A phase's angle.
    struct Angle {
        double cosine, sine;

        Angle operator+(const Angle& other) const {
            return {cosine * other.cosine - sine * other.sine, sine * other.cosine + cosine * other.sine};
        }
    };

    // Where a simulation is on its way through the steps.
    struct State {
        size_t step;
        std::vector<uint64_t> row;     // the branch row
        std::vector<Angle> angles;     // of the phases
        double norm;                   // squared norm of the stored vector
        bool norm_is_exact;            // not the product of what each step should have done to it
        bool check_fired;
        OutcomeWeights weights;        // at an uncertain MEASURE
        bool is_known;                 // whether they come from a node, and are those for a norm of 1
        Angle woken;                   // with this phase, if it is a weak one
    };

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
    NodeIndex add_node(const Node& node);
    size_t bytes() const;

    // Runs from the start along `decisions_`, then draws outcomes; grows the tree if `root` is given (its
    // place in the table) or if decisions were made.
    const uint64_t* simulate(std::span<const uint64_t> signature, Root* root,
                             OutcomeDecisions& decisions);
    // Runs along `decisions_`, from the last station on the way.
    void follow(std::span<const uint64_t> signature);
    // Counts a simulation that passes a node, and makes a station there if there have been many.
    void pass(Node& node);
    // Notes a leaf that was reached.
    void note(Root& root, bool quiet, NodeIndex leaf, const OutcomeDecisions& decisions);
    void start(std::span<const uint64_t> signature);
    // Runs up to the next MEASURE that is not certain, or to the end. Returns it as a node without children.
    // If that is MEASURE `known`, its weights need not be calculated.
    Node advance(const Node* known = nullptr);
    // Makes one step; false if it comes to a MEASURE that is not certain, which is then left to `take`.
    bool make_step(const Node* known = nullptr);
    // Finishes the MEASURE at which the state stands.
    void take(bool outcome);
    // The operation with the sum of the angles of its run, as the signs are now.
    Operation sum_of_run(size_t first) const;
    // The same for a rotation, up to the norm of the vector: a cosine of 1 saves a multiplication.
    Operation rotation_at(size_t first);
    // Makes the rotation at which the state stands, and those after it that go in the same pass.
    void rotate_long();
    void absorb(const SimulationStep& step);
    // The tables of phases of a step, or of the squares of their inverses; valid until the next call.
    const Phases& phases_of(const SimulationStep& step, bool inverse_squares);
    // Brings the norm of the stored vector back to 1.
    void normalize(int32_t width);
    // Adds to the statistics a pass over that many coefficients.
    void note_pass(uint64_t read, uint64_t written, uint64_t flops_per_read);
    // Whether an outcome check that is final with this MEASURE is set.
    bool fires(const Operation& measurement) const;
    const Operation& measured_by(const SimulationStep& step) const;
    // Operations that steps before it have made or absorbed.
    size_t begin_of_step(size_t step) const;
    void save_prefix();

    const uint64_t* outputs_of(NodeIndex node) const { return &node_outputs_[size_t{node} * output_words_]; }
    const uint64_t* state_outputs() const { return state_.row.data() + plan_.sign_words; }

    const Plan& plan_;
    const Kernels& kernels_;
    const size_t max_bytes_;
    const std::function<void()> interrupted_;
    const uint32_t signature_words_, output_words_;
    Team* team_ = nullptr;

    std::vector<Node> nodes_;
    std::vector<uint64_t> node_outputs_;        // [nodes][output_words]: outputs flipped so far
    std::vector<uint64_t> keys_;                // [slots][signature_words]
    std::vector<Root> roots_;                   // [slots]; no node: free
    size_t num_signatures_ = 0;
    // Signature 0 comes most often: the leaf that follows from a first random number in [k, k + 1) / size, if
    // it is known and the same in all of that.
    std::vector<NodeIndex> quiet_leaves_;
    std::array<Fate, num_cells> quiet_fates_{};
    LawStatistics work_;

    // The state of the simulation under way.
    std::vector<double, CacheAligned<double>> vector_;  // the coefficients
    State state_;
    std::vector<Decision> decisions_;
    std::vector<Operation> rotations_;          // scratch of rotate_long, and the norm after each of them
    std::vector<double> norms_;
    std::vector<double, CacheAligned<double>> rows_;  // scratch of phases_of
    Phases phases_{};
    std::vector<uint64_t> result_;              // [output_words]

    struct Station {
        State state;
        std::vector<double> vector;
    };
    Station here() const;
    int32_t stored_width() const;
    size_t station_bytes() const;
    void go_to(const Station& station);
    // Along the path of signature 0, up to its first uncertain MEASURE: simulations start there.
    std::vector<Station> prefix_;
    // At nodes; number 0 is none.
    std::vector<Station> stations_;
    size_t bytes_of_stations_ = 0;
    std::vector<uint64_t> prefix_signs_;        // the branch row of signature 0 before the operations
};

}  // namespace snc
