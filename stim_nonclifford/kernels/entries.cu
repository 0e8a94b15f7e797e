// The kernels. Compiled by NVRTC at run time (`engines/gpu/cuda_source.py`), for one plan's sizes:
// SNC_KERNEL_noise with SNC_ROW_WORDS and SNC_TABLES_IN_SHARED; SNC_KERNEL_walk; SNC_KERNEL_simulate with
// SNC_TEAM_SIZE and SNC_VECTOR_IN_SHARED.

#if defined(SNC_KERNEL_noise)

#include "noise_phases.h"
#include "team_device.h"

constexpr unsigned noise_team_size = 256;

extern "C" __global__ void __launch_bounds__(SNC_BLOCK_THREADS) noise(const snc::Job* job) {
    extern __shared__ __align__(16) unsigned char shared[];
    snc::DeviceTeam<noise_team_size> team(shared);
    snc::noise_kernel<SNC_ROW_WORDS>(team, *job, SNC_TABLES_IN_SHARED);
}

#elif defined(SNC_KERNEL_walk)

#include "team_device.h"
#include "tree_walk.h"

extern "C" __global__ void __launch_bounds__(SNC_BLOCK_THREADS) walk(const snc::Job* job, unsigned round) {
    snc::DeviceTeam<32> team(nullptr);
    snc::walk_kernel(team, *job, round);
}

#elif defined(SNC_KERNEL_simulate)

#include "simulation.h"
#include "team_device.h"

extern "C" __global__ void __launch_bounds__(SNC_BLOCK_THREADS) simulate(const snc::Job* job, unsigned round) {
    extern __shared__ __align__(16) unsigned char shared[];
    snc::DeviceTeam<SNC_TEAM_SIZE> team(shared);
    snc::simulation_kernel(team, *job, round, SNC_VECTOR_IN_SHARED);
}

#endif
