// Compiled by NVRTC at run time, see `engines/gpu/cuda_source.py`, for a plan: SNC_SEPARATE.
#include "kernels/launch/team_device.h"
#include "kernels/simulation/tree_walk.h"

extern "C" __global__ void __launch_bounds__(SNC_BLOCK_THREADS, SNC_MIN_BLOCKS)
    walk(const snc::Job* job, unsigned round) {
    snc::DeviceTeam<SNC_TEAM_SIZE, SNC_BLOCK_THREADS> team(nullptr);
    snc::walk_kernel<SNC_SEPARATE>(team, *job, round);
}
