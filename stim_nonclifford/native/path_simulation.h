// One path of outcomes through the plan: the coefficient vector and all that goes with it.
//
// Who runs it says where to start, and decides every outcome that is not certain.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "kernels.h"
#include "memory.h"
#include "plan.h"

namespace snc {

// What simulations have done.
struct SimulationWork {
    uint64_t steps = 0;
    uint64_t coefficients_read = 0, coefficients_written = 0;
    uint64_t flops = 0;  // real multiplications and additions

    SimulationWork& operator+=(const SimulationWork& other);
};

class PathSimulation {
   private:
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
        double norm;                   // squared norm of the stored vector, as the steps should have made it
        bool check_fired;
        OutcomeWeights weights;        // at a MEASURE, if they have been calculated
        double probability_of_one;     // there
        Angle woken;                   // with this phase, if it is a weak one
    };

   public:
    // Where it has come: a MEASURE that is not certain, or an end.
    struct Stop {
        double probability_of_one;
        int32_t outcome;  // number of the MEASURE, or kept or discarded
    };
    static constexpr int32_t kept = -1, discarded = -2;

    // A state to which it can go back, with the stored vector.
    struct Checkpoint {
        State state;
        AlignedDoubles vector;
    };

    // `interrupted` is asked now and then and throws to stop.
    PathSimulation(const Plan& plan, const Kernels& kernels, std::function<void()> interrupted);

    void ask_for_interruption() const { interrupted_(); }

    // What happens to shots with signature 0: `fixed` if it is the same for all.
    struct ZeroSignatureLaw {
        bool fixed;
        bool kept;
        std::vector<uint64_t> outputs;
    };
    ZeroSignatureLaw zero_signature_law();
    // Starts on the path of signature 0, and goes to its first MEASURE that is not certain.
    Stop start_at_zero_signature();

    // Whose path it is from now on; `start`, `go_to` or `resume` comes next.
    void choose(std::span<const uint64_t> signature);
    void start();
    // Runs up to the next MEASURE that is not certain, or to the end. If that is known, and the MEASURE is `known`,
    // its weights need not be calculated.
    Stop advance(const Stop* known = nullptr);
    // Finishes the MEASURE at which `advance` stopped.
    void take(bool outcome);

    // Whether an outcome check would fire with this outcome of the MEASURE at which `advance` stopped.
    bool would_discard(bool outcome) const {
        const Operation& measurement = plan_.operations[plan_.steps.steps[state_.step].operation];
        const uint64_t* const flipped = &plan_.outcome_effects[size_t(measurement.outcome) * plan_.branch_words];
        const uint64_t* const checks = final_checks_of(measurement);
        for (uint32_t w = 0; w < plan_.sign_words; ++w)
            if (((state_.row[w] ^ (outcome ? flipped[w] : 0)) & checks[w]) != 0) return true;
        return false;
    }
    // Operations that have been made, or whose angles have been taken up, before the step that comes next.
    size_t operations_made() const { return begin_of_step(state_.step); }

    // The outputs that outcomes have flipped.
    const uint64_t* outputs() const { return state_.row.data() + plan_.sign_words; }
    Checkpoint here() const;
    size_t checkpoint_bytes() const;
    // Goes on from a checkpoint on a path of the same signature.
    void go_to(const Checkpoint& checkpoint);

    // Up to where its signs agree with those of signature 0, a signature shares that one's paths: whether they agree
    // in all that comes before the outcome of a MEASURE.
    bool agrees_at(int32_t outcome) const { return operations_up_to_[static_cast<size_t>(outcome)] <= agreeing_; }
    // Goes on from a checkpoint on a path of signature 0, which is shared so far; false, and there is no way on from there, if
    // a check has fired for the signature that is chosen.
    bool resume(const Checkpoint& zero_checkpoint);
    // The checkpoint of signature 0 on a path that is shared so far.
    Checkpoint shared_checkpoint() const;
    const SimulationWork& work() const { return work_; }

   private:
    // Makes one step; false if it comes to a MEASURE that is not certain, which is then left to `take`.
    bool make_step(const Stop* known);
    // The rotation of an operation, by the sum of its angles as the signs are now.
    VectorRotation rotation_of(const Operation& operation) const;
    // The same up to the norm of the vector: a cosine of 1 saves a multiplication.
    VectorRotation scaled_rotation_of(const Operation& operation);
    void rotate_group(const SimulationStep& step);
    void absorb(const SimulationStep& step);
    // The tables of phases of a step, or of the squares of their inverses; valid until the next call.
    const Phases& phases_of(const SimulationStep& step, bool inverse_squares);
    // Brings the norm of the stored vector back to 1.
    void normalize(int32_t width);
    // Adds to the work a pass over that many coefficients.
    void note_pass(uint64_t read, uint64_t written, uint64_t flops_per_read);
    // Whether an outcome check that is final with this MEASURE is set.
    bool fires(const Operation& measurement, const State& state) const;
    bool has_final_checks(const Operation& measurement) const;
    const uint64_t* final_checks_of(const Operation& measurement) const;
    // Operations that steps before it have made or absorbed.
    size_t begin_of_step(size_t step) const;
    // Of a checkpoint with a vector of that many numbers.
    static size_t bytes_of(const State& state, size_t vector_size);
    // How many numbers a vector of this width takes.
    static size_t vector_size(int32_t width);
    // For each step whether signs of a signature may differ from those of signature 0 there for the first time.
    std::vector<bool> steps_that_may_differ() const;
    void save_prefix();
    // Calls use(sign) for the bits of the branch row that reverse an angle of the operation.
    template <typename Use>
    void for_each_sign(const Operation& operation, Use use) const {
        for (int32_t k = operation.first_term; k < operation.end_term; ++k)
            if (const int32_t sign = plan_.terms[size_t(k)].sign; sign >= 0) use(static_cast<size_t>(sign));
    }
    // The coefficients for a checkpoint that is made now: without copying them, if all of the memory that they have is used.
    AlignedDoubles leave_vector();
    // The coefficients, to be changed.
    double* own_vector();
    int32_t stored_width() const;
    void flip_difference(State& state) const;

    const Plan& plan_;
    const Kernels& kernels_;
    const std::function<void()> interrupted_;

    AlignedDoubles vector_;  // the coefficients, once one of them has changed since a checkpoint
    const double* lies_in_ = vector_.data();  // where they are: there, or still in the checkpoint
    State state_{};
    SimulationWork work_;
    // Along the path of signature 0, up to its first uncertain MEASURE: simulations start there.
    std::vector<Checkpoint> prefix_;
    std::vector<uint64_t> difference_;          // of the chosen signature's branch row from that of signature 0
    size_t agreeing_ = 0;                       // so many operations have equal signs in both
    std::vector<size_t> operations_up_to_;      // for each outcome, those that it depends on and its MEASURE
    // For each step, and for the end, how many outcomes come before it. The angle of a weak measurement's rotation may be
    // taken up by an earlier step than the one that has its outcome.
    std::vector<int32_t> outcomes_before_;
    std::vector<uint32_t> checking_;            // the MEASUREs with which an outcome check is final
    std::vector<uint32_t> first_with_;          // for each bit of the branch row the first operation with that sign
    std::vector<VectorRotation> rotations_;     // scratch of rotate_group
    std::vector<double, Aligned<double>> rows_;  // scratch of phases_of
    Phases phases_{};
};

}  // namespace snc
