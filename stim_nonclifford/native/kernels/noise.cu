// Compiled by NVRTC at run time, see `engines/gpu/cuda_source.py`, for the sizes of a plan: SNC_BLOCK_THREADS,
// SNC_TEAM_SIZE, SNC_LAYOUT, SNC_IN_SHARED, SNC_FOLLOWS.
#include "kernels/launch/team_device.h"
#include "kernels/noise/noise_sections.h"

extern "C" __global__ void __launch_bounds__(SNC_BLOCK_THREADS, SNC_MIN_BLOCKS) noise(const snc::Job* job) {
    extern __shared__ __align__(16) unsigned char shared[];
    snc::DeviceTeam<SNC_TEAM_SIZE, SNC_BLOCK_THREADS> team(shared);
    snc::noise_kernel<snc::SNC_LAYOUT, SNC_IN_SHARED, SNC_FOLLOWS>(team, *job);
}
