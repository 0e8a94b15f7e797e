// The plan as the device kernels read it, and the kernels themselves, run on the host.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "cpu/kernels.h"
#include "kernels/launch/job.h"
#include "plan/plan.h"

namespace snc {

// The plan as a PlanImage.
std::vector<uint64_t> make_plan_image(const Plan& plan, const Kernels& kernels, const std::function<void()>& interrupted);
// The image in these bytes. Throws std::invalid_argument if it is none, as far as its sizes and its steps tell.
const PlanImage& checked_image(const uint8_t* bytes, size_t num_bytes);

// A launch of one of the device's kernels on the host, one team after another.
struct HostLaunch {
    std::string kernel;       // "noise", "walk" or "simulate"
    Job job;
    uint32_t round = 0;       // walk, simulate
    uint32_t num_teams = 1;
    uint32_t row_words = 0;   // noise: 0 for wide rows
    uint32_t team_size = 32;  // simulate
    bool in_shared = false;   // noise: the tables; simulate: the vector
    bool separate = false;    // walk, simulate: whether each outcome has a random number of its own
    bool reversed = false;    // whether sections run backwards
};
// Throws std::invalid_argument if the launch does not fit the job's plan. All that the job points to must be valid.
void run_on_host(const HostLaunch& launch);

// Bytes of shared memory: of the noise kernel's tables per block; of its lists per team, and the least for events; of the
// simulation per team.
struct SharedBytes {
    uint64_t noise_tables, noise_tables_in_shared, noise_lists, noise_events, vector, simulation_without_vector;
};
SharedBytes shared_bytes(const PlanImage& image);

}  // namespace snc
