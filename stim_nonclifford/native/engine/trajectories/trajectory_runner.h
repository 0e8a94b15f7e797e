// Follows shots, each by itself.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/interruption.h"
#include "engine/trajectories/trajectory_program.h"

namespace snc {

struct TrajectoryShots {
    std::vector<uint8_t> rows;   // [kept shots][bytes of the reported outputs]
    std::vector<int64_t> shots;  // [kept shots]: their numbers
    std::vector<double> values;  // [kept shots][expectation values]; NaN where a shot does not come to one
};

struct TrajectoryWork {
    uint64_t shots = 0, structural_events = 0, pauli_events = 0, steps = 0, skipped_steps = 0, largest_width = 0;
};

class TrajectoryRunner {
   public:
    virtual ~TrajectoryRunner() = default;
    // Follows shots, and adds those that are kept.
    virtual void run(uint64_t seed, uint64_t first_shot, uint64_t shots, Interruption& interruption, TrajectoryShots& kept) = 0;
    // The outputs without noise, in which each outcome has its more likely value, and 0 if both are equally likely. Detectors of
    // earlier attempts are those of the last one. Program: without postselection.
    virtual std::vector<uint8_t> likely_outputs() = 0;
    virtual const TrajectoryWork& work() const = 0;
};

constexpr uint32_t max_trajectory_qubits = 1024;

// A runner with the instructions of this name (cpu/kernels.h). No shot may have more active coordinates than `max_width`.
std::unique_ptr<TrajectoryRunner> make_trajectory_runner(const char* instruction_set, const TrajectoryProgram& program, uint32_t max_width);

}  // namespace snc
