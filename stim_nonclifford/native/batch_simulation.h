// Simulates several shots with narrow vectors together: every step is made for all of them at once.
//
// A narrow vector has too few coefficients for the vector units of a processor, and a step of it takes longer to choose
// than to make. The steps are the same for all shots; what differs are signs and outcomes.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "kernels.h"
#include "memory.h"
#include "path_simulation.h"
#include "philox.h"
#include "plan.h"

namespace snc {

class BatchSimulation {
   public:
    // `interrupted` is asked now and then and throws to stop.
    BatchSimulation(const Plan& plan, const Kernels& kernels, std::function<void()> interrupted);

    // Whether shots of the plan are simulated faster in this way.
    static bool suits(const Plan& plan);

    struct Shot {
        std::span<const uint64_t> signature;
        OutcomeDecisions decisions;
    };
    // What was decided at a MEASURE that is not certain.
    struct Decision {
        PathSimulation::Stop stop;
        bool outcome;
    };
    // At most batch_shots shots. What became of them is there until the next call.
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
    // Makes a step; false if all shots are discarded after it.
    bool make_step(const SimulationStep& step, std::span<Shot> shots);
    void decide(const Operation& measurement, std::span<Shot> shots);
    void collect_outputs();

    const Plan& plan_;
    const BatchKernels& kernels_;
    const std::function<void()> interrupted_;
    // Bits of the branch row: those that a signature bit flips, those that an outcome flips, and the checks that are final
    // with it.
    std::vector<Bits> of_signature_, of_outcome_, final_checks_;

    using Blocks = std::vector<double, Aligned<double>>;
    Blocks vector_, branches_, table_, angles_;
    alignas(64) std::array<double, 2 * batch_shots> sum_{};
    alignas(64) std::array<double, 3 * batch_shots> weights_{};  // and probabilities
    std::vector<uint8_t> constant_, flipped_;  // for each bit of the branch row the shots in which it is set: at first; now
    uint64_t ones_ = 0;             // the shots with outcome 1
    uint64_t left_ = 0;             // the shots that are not discarded
    std::array<std::vector<Decision>, batch_shots> paths_;
    std::vector<uint64_t> outputs_;  // [batch_shots][output_words]
    SimulationWork work_;
};

}  // namespace snc
