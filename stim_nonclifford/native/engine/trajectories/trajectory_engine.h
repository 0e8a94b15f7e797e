// Draws shots by following each of them, on several threads.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "base/turns.h"
#include "engine/trajectories/trajectory_program.h"
#include "engine/trajectories/trajectory_runner.h"

namespace snc {

// Calls from several threads are executed one after another. `poll` is as for Engine (engine/engine.h).
class TrajectoryEngine {
   public:
    TrajectoryEngine(TrajectoryProgram program, const char* instruction_set, size_t num_threads, uint32_t max_width);
    TrajectoryEngine(const TrajectoryEngine&) = delete;
    TrajectoryEngine& operator=(const TrajectoryEngine&) = delete;

    // The kept shots among those from number `first_shot` on, in order.
    TrajectoryShots sample_kept(uint64_t seed, uint64_t first_shot, uint64_t shots, const std::function<void()>& poll);
    std::vector<uint8_t> likely_outputs(const std::function<void()>& poll);
    TrajectoryWork work(const std::function<void()>& poll) const;
    size_t num_expectations() const { return program_.num_expectations; }
    size_t row_bytes() const { return (program_.outputs.reported.size() + 7) / 8; }

   private:
    mutable Turns turns_{"engine"};
    const TrajectoryProgram program_;
    std::vector<std::unique_ptr<TrajectoryRunner>> runners_;  // one for each thread
};

}  // namespace snc
