// The device's kernels, compiled as C++.
#include <stdexcept>

#include "base/argument_checks.h"
#include "device/device_plan.h"
#include "device/team_host.h"
#include "kernels/noise/noise_sections.h"
#include "kernels/simulation/simulation.h"
#include "kernels/simulation/tree_walk.h"

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

template <typename Layout, bool tables_in_shared>
void run_noise(const HostLaunch& launch, const Job& job) {
    const uint64_t bytes = NoiseTables<Layout, tables_in_shared>::bytes(*job.plan) +
                           BlockLists<typename StoredMechanism<tables_in_shared>::Type>::bytes(job.event_capacity);
    for_each_team<noise_team_size>(launch, bytes, [&](auto& team) {
        if (job.plan->has_leakage != 0 || job.plan->num_readout_decays != 0) return noise_kernel<Layout, tables_in_shared, true>(team, job);
        noise_kernel<Layout, tables_in_shared, false>(team, job);
    });
}
template <typename Layout>
void run_noise(const HostLaunch& launch, const Job& job) {
    if (launch.in_shared) return run_noise<Layout, true>(launch, job);
    run_noise<Layout, false>(launch, job);
}

// Rows of more words would need hundreds of kernels here. Their numbers of words are read from the plan instead.
constexpr uint32_t max_fixed_words = 2;

template <uint32_t checks, uint32_t signature, uint32_t outputs>
void run_fixed_noise(const HostLaunch& launch, const Job& job) {
    if constexpr (checks + signature + outputs <= max_fixed_words) {
        const PlanImage& plan = *job.plan;
        if (plan.check_words != checks) return run_fixed_noise<checks + 1, signature, outputs>(launch, job);
        if (plan.signature_words != signature) return run_fixed_noise<checks, signature + 1, outputs>(launch, job);
        if (plan.output_words != outputs) return run_fixed_noise<checks, signature, outputs + 1>(launch, job);
        if constexpr (checks + signature + outputs != 0)
            return run_noise<FixedLayout<checks, signature, outputs>>(launch, job);
    }
    throw std::invalid_argument("No kernel is made for rows of that many words.");
}

void run_noise(const HostLaunch& launch, const Job& job) {
    static_assert(max_fixed_words + 6 == max_narrow_words, "the cases below");
    switch (launch.row_words) {
        case 0: return run_noise<PlanLayout<0>>(launch, job);
        case 3: return run_noise<PlanLayout<3>>(launch, job);
        case 4: return run_noise<PlanLayout<4>>(launch, job);
        case 5: return run_noise<PlanLayout<5>>(launch, job);
        case 6: return run_noise<PlanLayout<6>>(launch, job);
        case 7: return run_noise<PlanLayout<7>>(launch, job);
        case 8: return run_noise<PlanLayout<8>>(launch, job);
        default: return run_fixed_noise<0, 0, 0>(launch, job);
    }
}

template <uint32_t team_size, bool separate>
void run_simulate(const HostLaunch& launch, const Job& job) {
    for_each_team<team_size>(launch, simulation_bytes(*job.plan, job.shared_width), [&](auto& team) {
        if (launch.in_shared) return simulation_kernel<true, separate>(team, job, launch.round);
        simulation_kernel<false, separate>(team, job, launch.round);
    });
}

template <bool separate>
void run_walk_or_simulate(const HostLaunch& launch, const Job& job) {
    if (launch.kernel == "walk")
        return for_each_team<32>(launch, 0, [&](auto& team) { walk_kernel<separate>(team, job, launch.round); });
    switch (launch.team_size) {
        case 32: return run_simulate<32, separate>(launch, job);
        case 128: return run_simulate<128, separate>(launch, job);
        case 256: return run_simulate<256, separate>(launch, job);
        case 512: return run_simulate<512, separate>(launch, job);
        default: throw std::invalid_argument("No kernel is made for teams of this size.");
    }
}

}  // namespace

void run_on_host(const HostLaunch& launch) {
    constexpr uint32_t max_teams = uint32_t{1} << 20;
    const Job& job = launch.job;
    require(launch.kernel == "noise" || launch.kernel == "walk" || launch.kernel == "simulate",
            "There is no kernel '", launch.kernel, "'.");
    require(job.plan != nullptr && job.counters != nullptr, "The job has no plan, or no counters.");
    require(launch.num_teams >= 1 && launch.num_teams <= max_teams, "num_teams must be from 1 to 2^20.");
    require(launch.round <= num_rounds, "There is no such round.");
    require(launch.kernel != "noise" || launch.row_words == job.plan->register_words(), "row_words must be those of the plan.");
    require(launch.kernel != "simulate" || (job.shared_width <= max_vector_width && (!launch.in_shared || job.plan->vector_width <= job.shared_width)),
            "The shared memory must have room for the vector.");
    if (launch.kernel == "noise") return run_noise(launch, job);
    if (launch.separate) return run_walk_or_simulate<true>(launch, job);
    run_walk_or_simulate<false>(launch, job);
}

SharedBytes shared_bytes(const PlanImage& image) {
    using Lists = BlockLists<uint32_t>;
    return {
        .noise_tables = NoiseTables<PlanLayout<0>, false>::bytes(image),
        .noise_tables_in_shared =
            NoiseTables<PlanLayout<0>, true>::bytes(image) + uint64_t{image.num_mechanisms} * image.register_words() * sizeof(uint64_t),
        .noise_lists = Lists::fixed_bytes,
        .noise_events = Lists::least_event_bytes,
        .vector = (uint64_t{1} << image.vector_width) * sizeof(Coefficient),
        .simulation_without_vector = simulation_bytes(image, 0) - sizeof(Coefficient),
    };
}

}  // namespace snc
