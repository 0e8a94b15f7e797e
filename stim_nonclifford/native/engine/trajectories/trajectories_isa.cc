// Compiled once per instruction set, with SNC_ISA set to its name and the flags that allow it.

#include "engine/trajectories/trajectory.h"

namespace snc::SNC_ISA {

extern const Kernels table;  // cpu/kernels_isa.cc
std::unique_ptr<TrajectoryRunner> trajectory_runner(const TrajectoryProgram& program, uint32_t max_width);

std::unique_ptr<TrajectoryRunner> trajectory_runner(const TrajectoryProgram& program, uint32_t max_width) {
    if (program.num_qubits <= 64) return std::make_unique<Trajectory<1>>(program, table.coefficients, max_width);
    if (program.num_qubits <= 128) return std::make_unique<Trajectory<2>>(program, table.coefficients, max_width);
    if (program.num_qubits <= 256) return std::make_unique<Trajectory<4>>(program, table.coefficients, max_width);
    return std::make_unique<Trajectory<16>>(program, table.coefficients, max_width);
}

}  // namespace snc::SNC_ISA
