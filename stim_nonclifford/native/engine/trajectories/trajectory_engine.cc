#include "engine/trajectories/trajectory_engine.h"

#include <algorithm>
#include <atomic>
#include <string>

#include "base/argument_checks.h"
#include "base/parallel_parts.h"
#include "base/resource_limit.h"
#include "cpu/kernels.h"

namespace snc {

namespace generic {
std::unique_ptr<TrajectoryRunner> trajectory_runner(const TrajectoryProgram& program, uint32_t max_width);
}
#ifdef SNC_X86
namespace avx2 {
std::unique_ptr<TrajectoryRunner> trajectory_runner(const TrajectoryProgram& program, uint32_t max_width);
}
namespace avx512 {
std::unique_ptr<TrajectoryRunner> trajectory_runner(const TrajectoryProgram& program, uint32_t max_width);
}
#endif

std::unique_ptr<TrajectoryRunner> make_trajectory_runner(const char* instruction_set, const TrajectoryProgram& program, uint32_t max_width) {
    if (program.num_qubits > max_trajectory_qubits)
        throw ResourceLimit("The circuit has " + with_commas(program.num_qubits) + " qubits; an engine that follows each shot takes at most " +
                            with_commas(max_trajectory_qubits) + ". Choose engine='cpu'.");
#ifdef SNC_X86
    if (instruction_set == std::string("avx2")) return avx2::trajectory_runner(program, max_width);
    if (instruction_set == std::string("avx512")) return avx512::trajectory_runner(program, max_width);
#endif
    static_cast<void>(instruction_set);
    return generic::trajectory_runner(program, max_width);
}

TrajectoryEngine::TrajectoryEngine(TrajectoryProgram program, const char* instruction_set, size_t num_threads, uint32_t max_width)
    : program_(std::move(program)) {
    for (size_t k = 0; k < num_threads; ++k) runners_.push_back(make_trajectory_runner(instruction_set, program_, max_width));
}

TrajectoryShots TrajectoryEngine::sample_kept(uint64_t seed, uint64_t first_shot, uint64_t shots, const std::function<void()>& poll) {
    constexpr uint64_t part_shots = 256;  // a few milliseconds; with twice as many, two threads wait for each other at the end of short calls
    const Turns::Turn turn(turns_, poll);
    std::vector<TrajectoryShots> parts((shots + part_shots - 1) / part_shots);
    std::atomic<size_t> next_runner = 0;
    Interruption interruption(poll);
    run_parts(parts.size(), runners_.size(), interruption, [&] {
        return [&, &runner = *runners_[next_runner++]](uint64_t k) {
            const uint64_t begin = k * part_shots;
            runner.run(seed, first_shot + begin, std::min(part_shots, shots - begin), interruption, parts[k]);
        };
    });
    TrajectoryShots found;
    for (const TrajectoryShots& part : parts) {
        found.rows.insert(found.rows.end(), part.rows.begin(), part.rows.end());
        found.shots.insert(found.shots.end(), part.shots.begin(), part.shots.end());
        found.values.insert(found.values.end(), part.values.begin(), part.values.end());
    }
    return found;
}

std::vector<uint8_t> TrajectoryEngine::likely_outputs(const std::function<void()>& poll) {
    const Turns::Turn turn(turns_, poll);
    require(program_.outputs.postselected.empty(), "A reference needs all shots.");
    return runners_.front()->likely_outputs();
}

TrajectoryWork TrajectoryEngine::work(const std::function<void()>& poll) const {
    const Turns::Turn turn(turns_, poll);
    TrajectoryWork total;
    for (const auto& runner : runners_) {
        const TrajectoryWork& each = runner->work();
        total.shots += each.shots;
        total.structural_events += each.structural_events;
        total.pauli_events += each.pauli_events;
        total.steps += each.steps;
        total.skipped_steps += each.skipped_steps;
        total.largest_width = std::max(total.largest_width, each.largest_width);
    }
    return total;
}

}  // namespace snc
