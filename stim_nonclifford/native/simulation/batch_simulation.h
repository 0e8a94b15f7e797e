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
#include "kernels/philox.h"
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
    // Simulates at most batch_shots shots. The results remain valid until the next call.
    void run(std::span<Shot> shots);
    bool kept(uint32_t shot) const { return (left_ >> shot & 1) != 0; }
    const std::vector<Decision>& path(uint32_t shot) const { return paths_[shot]; }
    // The outputs that outcomes have flipped.
    const uint64_t* outputs(uint32_t shot) const { return &outputs_[size_t{shot} * plan_.layout.output_words]; }

    const SimulationWork& work() const { return work_; }

   private:
    using Bits = std::vector<uint32_t>;
    void start(std::span<const Shot> shots);
    void sum_angles(const Operation& operation);
    void absorb(const SimulationStep& step);
    // Executes a step. Returns false if all shots are discarded after it.
    bool make_step(const SimulationStep& step, std::span<Shot> shots);
    void decide(uint32_t operation, std::span<Shot> shots);
    void collect_outputs();

    const Plan& plan_;
    const BatchKernels& kernels_;
    const std::function<void()> interrupted_;
    // Bits of the branch row: those that a signature bit flips, those that an outcome flips, and the checks that become final
    // with it.
    std::vector<Bits> of_signature_, of_outcome_, final_checks_;

    using Blocks = std::vector<double, Aligned<double>>;
    Blocks vector_, branches_, table_, angles_;
    alignas(64) std::array<double, 2 * batch_shots> sum_{};
    alignas(64) std::array<double, 3 * batch_shots> weights_{};  // and probabilities
    std::vector<uint8_t> constant_, flipped_;  // for each bit of the branch row, the shots in which it is set: initially; now
    uint64_t ones_ = 0;             // the shots with outcome 1
    uint64_t left_ = 0;             // the shots that are not discarded
    std::array<std::vector<Decision>, batch_shots> paths_;
    std::vector<uint64_t> outputs_;  // [batch_shots][output_words]
    SimulationWork work_;
};

}  // namespace snc
