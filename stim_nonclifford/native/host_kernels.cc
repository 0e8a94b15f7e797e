// The device's kernels, compiled as C++.
#include <algorithm>
#include <stdexcept>
#include <utility>

#include "device_plan.h"
#include "noise_sections.h"
#include "simulation.h"
#include "team_host.h"
#include "tree_walk.h"

namespace snc {

namespace {

constexpr uint32_t noise_team_size = 128;

// Runs the kernel for every team. Shared memory has arbitrary initial contents, as on the device.
template <uint32_t team_size, typename Kernel>
void for_each_team(const HostLaunch& launch, uint64_t bytes, Kernel kernel) {
    for (uint32_t index = 0; index < launch.num_teams; ++index) {
        std::vector<std::max_align_t> shared(bytes / sizeof(std::max_align_t) + 1);
        std::memset(shared.data(), 0xA5, shared.size() * sizeof(std::max_align_t));
        HostTeam<team_size> team(reinterpret_cast<uint8_t*>(shared.data()), index, launch.num_teams, launch.reversed);
        kernel(team);
    }
}

template <uint32_t row_words>
void run_noise(const HostLaunch& launch, const Job& job) {
    if (launch.row_words > row_words) {
        if constexpr (row_words < max_narrow_words) return run_noise<row_words + 1>(launch, job);
        throw std::invalid_argument("Rows of that many words are not narrow.");
    }
    const uint64_t bytes = NoiseTables<row_words>::bytes(*job.plan, launch.in_shared) + noise_team_bytes(job.event_capacity);
    for_each_team<noise_team_size>(launch, bytes, [&](auto& team) { noise_kernel<row_words>(team, job, launch.in_shared); });
}

template <uint32_t team_size>
void run_simulate(const HostLaunch& launch, const Job& job) {
    const uint64_t bytes = simulation_bytes(*job.plan, launch.in_shared);
    for_each_team<team_size>(launch, bytes, [&](auto& team) { simulation_kernel(team, job, launch.round, launch.in_shared); });
}

}  // namespace

void run_on_host(const HostLaunch& launch) {
    const Job& job = *reinterpret_cast<const Job*>(launch.job);
    if (launch.kernel == "noise") return run_noise<0>(launch, job);
    if (launch.kernel == "walk")
        return for_each_team<32>(launch, 0, [&](auto& team) { walk_kernel(team, job, launch.round); });
    if (launch.kernel != "simulate") throw std::invalid_argument("There is no kernel '" + launch.kernel + "'.");
    switch (launch.team_size) {
        case 32: return run_simulate<32>(launch, job);
        case 128: return run_simulate<128>(launch, job);
        case 256: return run_simulate<256>(launch, job);
        case 512: return run_simulate<512>(launch, job);
        default: throw std::invalid_argument("No kernel is made for teams of this size.");
    }
}

SharedBytes shared_bytes(const PlanImage& image, uint64_t event_capacity) {
    const uint64_t dense = image.register_words();
    const uint64_t cells = NoiseTables<0>::bytes(image, true);
    return {
        .noise_tables = NoiseTables<0>::bytes(image, false),
        .noise_tables_in_shared = cells + image.num_mechanisms * dense * sizeof(uint64_t),
        .noise_team = noise_team_bytes(event_capacity),
        .vector = simulation_bytes(image, true) - simulation_bytes(image, false),
        .simulation_without_vector = simulation_bytes(image, false),
    };
}

}  // namespace snc
