// One path of outcomes through the plan: the coefficient vector and the rest of the simulation's state.
//
// The caller chooses where to start, and decides every outcome that is not certain.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "base/memory.h"
#include "cpu/kernels.h"
#include "plan/plan.h"
#include "simulation/branch_row.h"
#include "simulation/elimination_vector.h"
#include "simulation/simulation_work.h"

namespace snc {

class PathSimulation {
   private:
    // The position of a simulation in the steps, and its state there.
    struct State {
        PathProgress<bool> progress{};
        BranchRow row;
        std::vector<Angle> angles{};       // of the phases
        double norm = 0;                // squared norm that the stored vector should have after the steps so far
        std::vector<double> values{};      // of the expectation values so far
        OutcomeWeights weights{};       // at a MEASURE, if they have been calculated
        double probability_of_one = 0;        // there
        EliminationState elimination{};  // in place of the vector
    };

   public:
    // Where a simulation stopped: at a MEASURE that is not certain, or at the end.
    struct Stop {
        double probability_of_one;
        int32_t outcome;  // number of the MEASURE, or kept or discarded
    };
    static constexpr int32_t kept = kept_leaf, discarded = discarded_leaf;

    // A state from which a simulation can continue, with the stored vector.
    struct Checkpoint {
        State state;
        AlignedDoubles vector;
    };

    // `interrupted` is called from time to time, and throws to stop the simulation. With `has_vector`, coefficients are simulated even if
    // outcomes do not need them.
    PathSimulation(const Plan& plan, const Kernels& kernels, std::function<void()> interrupted, bool has_vector = false);
    // Another simulation of the same plan. What does not change is stored once.
    PathSimulation(const PathSimulation& other, std::function<void()> interrupted);

    void ask_for_interruption() const { interrupted_(); }

    // Starts on the path of signature 0, and goes to its first MEASURE that is not certain.
    Stop start_at_zero_signature();

    // Chooses the signature. Call `start`, `go_to` or `resume` next.
    void choose(std::span<const uint64_t> signature);
    void start();
    // Runs up to the next MEASURE that is not certain, or to the end. The weights of a MEASURE that is `known` are not
    // computed.
    Stop advance(const Stop* known = nullptr);
    // Applies an outcome of the MEASURE at which `advance` stopped.
    void take(bool outcome);
    // Goes from a stop to the end, where decide(stop) chooses the outcomes.
    template <typename Decide>
    Stop finish(Stop stop, Decide decide) {
        for (; stop.outcome >= 0; stop = advance()) take(decide(stop));
        return stop;
    }

    // Whether an outcome check would fire with this outcome of the MEASURE at which `advance` stopped.
    bool would_discard(bool outcome) const {
        BranchRow row = state_.row;
        return !take_outcome(row, static_cast<uint32_t>(next_outcome()), outcome);
    }
    // The number of operations that were applied, or whose angles were absorbed, before the next step.
    size_t operations_made() const { return begin_of_step(state_.progress.step); }

    // The outputs that outcomes have flipped.
    const uint64_t* outputs() const { return state_.row.outputs(); }
    // The expectation values so far.
    const std::vector<double>& values() const { return state_.values; }
    Checkpoint here() const;
    size_t checkpoint_bytes() const;
    // Continues from a checkpoint on a path of the same signature.
    void go_to(const Checkpoint& checkpoint);

    // A signature shares the paths of signature 0 as long as their signs agree. Whether all signs before the outcome of a
    // MEASURE agree.
    bool agrees_at(int32_t outcome) const { return operations_up_to(outcome) <= agreeing_; }
    // The number of operations up to the MEASURE of an outcome; and, for each sign and check, the first operation that reads it.
    size_t operations_up_to(int32_t outcome) const { return shared_->operations_up_to[static_cast<size_t>(outcome)]; }
    const std::vector<uint32_t>& first_with() const { return shared_->first_with; }
    // Continues from a checkpoint on a shared path of signature 0. Returns false, and cannot continue, if a check has fired for
    // the chosen signature.
    bool resume(const Checkpoint& zero_checkpoint);
    // The checkpoint of signature 0 on a path that is shared so far.
    Checkpoint shared_checkpoint() const;
    const SimulationWork& work() const { return work_; }

    // The steps of the vector, as driver.h calls them.
    size_t num_steps() const { return plan_.steps.steps.size(); }
    const SimulationStep& step(size_t number) const { return plan_.steps.steps[number]; }
    void begin(const SimulationStep& step);
    void apply(const SimulationStep& step);
    void weigh(const SimulationStep& step);
    void project(const SimulationStep& step, bool outcome);

   private:
    const SimulationStep& next_step() const { return step(state_.progress.step); }
    // Calls use(vector) with what the steps of the path act on, a Vector of driver.h.
    template <typename Use>
    auto with_vector(Use use) {
        if (elimination_ == nullptr) return use(*this);
        EliminationVector vector(*elimination_, kernels_, state_.row, state_.elimination, state_.probability_of_one, work_);
        return use(vector);
    }
    size_t num_path_steps() const { return elimination_ == nullptr ? num_steps() : elimination_->steps.size(); }
    // The number of the outcome of the next step, if it measures.
    int32_t next_outcome() const { return outcome_of_step(state_.progress.step); }
    int32_t outcome_of_step(size_t number) const {
        return elimination_ == nullptr ? step(number).outcome : elimination_->steps[number].outcome;
    }
    // The number of doubles of the vector before a step.
    size_t vector_size_before(size_t number) const {
        if (elimination_ != nullptr) return 0;
        return vector_size(number < num_steps() ? step(number).width_before : 0);
    }
    // What rounding can do to the probability of a MEASURE.
    static double rounding_of(const SimulationStep& step) { return certain_at(static_cast<uint32_t>(std::max(step.width_before, step.width_after))); }
    bool is_certain() const {
        if (elimination_ != nullptr) return state_.elimination.is_certain();
        const double rounding = rounding_of(next_step());
        return state_.probability_of_one < rounding || state_.probability_of_one > 1 - rounding;
    }
    bool likely_outcome() const { return state_.probability_of_one > 0.5; }
    // The rotation of an operation, by the sum of its angles with their current signs.
    VectorRotation rotation_of(const Operation& operation) const;
    // The same up to the norm of the vector: a cosine of 1 saves a multiplication.
    VectorRotation scaled_rotation_of(const Operation& operation);
    void rotate(const SimulationStep& step);
    void absorb(const SimulationStep& step);
    // The tables of phases of a step, or of the squares of their inverses; valid until the next call.
    const Phases& phases_of(const SimulationStep& step, bool inverse_squares);
    // Brings the norm of the stored vector back to 1.
    void normalize(int32_t width);
    // The number of operations that were applied or absorbed before a step.
    size_t begin_of_step(size_t step) const;
    // The bytes of a checkpoint with a vector of this many numbers.
    static size_t bytes_of(const State& state, size_t vector_size);
    // For each step, whether signs may differ from those of signature 0 for the first time there.
    std::vector<bool> steps_that_may_differ() const;
    void save_prefix();
    // The coefficients, for writing.
    double* own_vector();

    const Plan& plan_;
    const Kernels& kernels_;
    const std::function<void()> interrupted_;
    const EliminationProgram* const elimination_;  // in place of the vector

    AlignedDoubles vector_;  // the coefficients, once one of them has changed since the last checkpoint
    const double* lies_in_ = vector_.data();  // the memory that holds them: vector_, or still the checkpoint
    State state_;
    SimulationWork work_;
    uint64_t next_poll_ = 0;  // of steps and coefficients read
    // What all simulations of the plan share.
    struct Shared {
        std::vector<size_t> operations_up_to;  // for each outcome, the number of operations up to its MEASURE
        std::vector<uint32_t> checking;    // the outcomes with which an outcome check is final
        std::vector<uint32_t> first_with;  // for each bit of the branch row the first operation with that sign
        // Checkpoints on the path of signature 0 up to its first uncertain MEASURE, from which simulations start.
        std::vector<Checkpoint> prefix;
    };
    std::shared_ptr<Shared> shared_;            // changes in the first constructor only
    BranchRow difference_;                      // between the branch rows of the chosen signature and of signature 0
    size_t agreeing_ = 0;                       // the number of first operations with equal signs in both
    std::vector<VectorRotation> rotations_;     // scratch of rotate
    std::vector<double, Aligned<double>> rows_;  // scratch of phases_of
    Phases phases_{};
    const Stop* known_ = nullptr;  // of `advance`
};

}  // namespace snc
