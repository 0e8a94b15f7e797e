// Compiled by NVRTC at run time, see `engines/gpu/cuda_source.py`, for the sizes of a plan: SNC_BLOCK_THREADS,
// SNC_TEAM_SIZE, SNC_IN_SHARED, SNC_SEPARATE.
#include "kernels/launch/team_device.h"
#include "kernels/simulation/simulation.h"

extern "C" __global__ void __launch_bounds__(SNC_BLOCK_THREADS, SNC_MIN_BLOCKS)
    simulate(const snc::Job* job, unsigned round) {
    extern __shared__ __align__(16) unsigned char shared[];
    snc::DeviceTeam<SNC_TEAM_SIZE, SNC_BLOCK_THREADS> team(shared);
    snc::simulation_kernel<SNC_IN_SHARED, SNC_SEPARATE>(team, *job, round);
}
