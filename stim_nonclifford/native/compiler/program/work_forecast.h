// Whether the backward sweep of a loop will exceed the limit of its work, long before it does.
#pragma once

#include <cstdint>
#include <vector>

#include "compiler/program/program.h"

namespace snc {

// In a loop, the effect of a fault on the outputs of later iterations repeats itself, or ends after at most two iterations
// for each qubit. So the work grows linearly or quadratically with the iterations. Where twice the iterations take three
// times the work or more, at least half of the work so far grows quadratically.
class WorkForecast {
   public:
    WorkForecast(const Program& program, uint64_t max_work)
        : loops_(program.outer_loops()), warm_up_(4 * static_cast<int64_t>(program.num_qubits) + 16), max_work_(max_work) {}

    // Whether the work, which is known before a step, will be too much. Steps come in descending order.
    bool exceeds(int64_t step, uint64_t work) {
        if (work > max_work_) return true;
        while (!loops_.empty() && step < loops_.back().first) {
            loops_.pop_back();
            is_inside_ = false;
        }
        if (loops_.empty() || step >= loops_.back().end) return false;
        const Program::OuterLoop& loop = loops_.back();
        if (!is_inside_) {
            is_inside_ = true;
            last_step_ = step;
            work_before_ = work;
            next_look_ = min_steps;
            work_at_half_ = 0;
            return false;
        }
        const int64_t done = last_step_ - step;
        if (done < next_look_) return false;
        next_look_ = 2 * done;
        const auto inside = static_cast<double>(work - work_before_);
        const double at_half = work_at_half_;
        work_at_half_ = inside;
        const auto steps = static_cast<double>(loop.end - loop.first);
        const double iterations = static_cast<double>(done) * static_cast<double>(loop.repetitions) / steps;
        if (iterations < static_cast<double>(2 * warm_up_) || at_half == 0 || inside < 3 * at_half) return false;
        const double growth = steps / static_cast<double>(done);
        return inside * growth * growth / 2 > static_cast<double>(max_work_);
    }

   private:
    // Looks are at multiples of a few hundred steps, which must not matter.
    static constexpr int64_t min_steps = 4096;

    std::vector<Program::OuterLoop> loops_;  // those that are not left yet
    const int64_t warm_up_;                  // iterations after which effects repeat themselves
    const uint64_t max_work_;
    bool is_inside_ = false;
    int64_t last_step_ = 0, next_look_ = 0;
    uint64_t work_before_ = 0;
    double work_at_half_ = 0;  // of the steps of this loop, at the look before
};

}  // namespace snc
