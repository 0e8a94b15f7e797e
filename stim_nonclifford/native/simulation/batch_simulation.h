// Simulates several shots with narrow vectors together: each step is applied to all of them at once.
//
// A narrow vector has too few coefficients to fill a SIMD register, and dispatching a step takes longer than executing it.
// The steps are the same for all shots; only signs and outcomes differ.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "base/memory.h"
#include "cpu/kernels.h"
#include "kernels/shared/driver.h"
#include "kernels/shared/philox.h"
#include "plan/plan.h"
#include "simulation/path_simulation.h"

namespace snc {

class BatchSimulation {
   public:
    // `interrupted` is called from time to time, and throws to stop the simulation.
    BatchSimulation(const Plan& plan, const Kernels& kernels, std::function<void()> interrupted);

    // Whether batches simulate the shots of this plan faster than single simulations.
    static bool suits(const Plan& plan);

    struct Shot {
        std::span<const uint64_t> signature;
        OutcomeDecisions decisions;
    };
    // The decision at a MEASURE whose outcome is not certain.
    struct Decision {
        PathSimulation::Stop stop;
        bool outcome;
    };
    using Blocks = std::vector<double, Aligned<double>>;
    // A batch between two steps.
    struct Suspended {
        std::vector<Shot> shots;
        PathProgress<uint64_t> progress;
        std::vector<uint8_t> rows;  // for each bit of the branch rows, the shots in which it is set
        Blocks vector, angles;
    };
    // Simulates at most batch_shots shots. The results remain valid until the next call.
    void run(std::span<Shot> shots);
    // The same in parts: before the first step, and then up to others.
    Suspended begun(std::vector<Shot> shots);
    void go_on(Suspended& batch, size_t end_step);
    bool kept(uint32_t shot) const { return (progress_.left >> shot & 1) != 0; }
    const std::vector<Decision>& path(uint32_t shot) const { return paths_[shot]; }
    // The outputs that outcomes have flipped.
    const uint64_t* outputs(uint32_t shot) const { return &outputs_[size_t{shot} * plan_.layout.output_words]; }

    // As driver.h calls them.
    size_t num_steps() const { return end_step_; }
    const SimulationStep& step(size_t number) const { return plan_.steps.steps[number]; }
    void begin(const SimulationStep& step);
    void apply(const SimulationStep& step);
    void weigh(const SimulationStep& step);
    void project(const SimulationStep& step, uint64_t ones);

    const SimulationWork& work() const { return work_; }

   private:
    // The branch rows of the shots: for each bit, the shots in which it is set.
    class Rows {
       public:
        explicit Rows(const Plan& plan);
        void start() { set_ = constant_; }
        void start_at(const std::vector<uint8_t>& set) { set_ = set; }
        const std::vector<uint8_t>& all() const { return set_; }
        const uint8_t* set() const { return set_.data(); }

        void flip_image(uint32_t bit, uint64_t shots) { flip(plan_.signature_images, bit, shots); }
        void flip_effect(uint32_t outcome, uint64_t shots) { flip(plan_.outcome_effects, outcome, shots); }
        uint64_t passing(uint32_t outcome) const {
            uint64_t shots = 0;
            plan_.final_checks.for_each_one(outcome, [&](uint32_t bit) { shots |= set_[bit]; });
            return ~shots;
        }

       private:
        void flip(const RowTable& table, uint32_t row, uint64_t shots) {
            table.for_each_one(row, [&](uint32_t bit) { set_[bit] ^= static_cast<uint8_t>(shots); });
        }

        const Plan& plan_;
        std::vector<uint8_t> constant_, set_;
    };
    void start(std::span<const Shot> shots);
    // Takes all steps up to the last one.
    void finish(std::span<Shot> shots);
    void suspend(Suspended& batch) const;
    void sum_angles(const Operation& operation);
    void absorb(const SimulationStep& step);
    // Counts a pass over the vectors as work.
    void note_pass(const SimulationStep& step, uint64_t written, uint64_t flops);
    // The shots in which the outcome of a measurement is 1.
    uint64_t decide(int32_t outcome, std::span<Shot> shots);
    void collect_outputs();

    const Plan& plan_;
    const BatchKernels& kernels_;
    const std::function<void()> interrupted_;
    Rows rows_;

    Blocks vector_, branches_, table_, angles_;
    alignas(64) std::array<double, 2 * batch_shots> sum_{};
    alignas(64) std::array<double, 3 * batch_shots> weights_{};  // and probabilities
    PathProgress<uint64_t> progress_{};
    uint64_t num_shots_ = 0;
    size_t end_step_ = 0;
    std::array<std::vector<Decision>, batch_shots> paths_;
    std::vector<uint64_t> outputs_;  // [batch_shots][output_words]
    SimulationWork work_;
};

}  // namespace snc
