// The work of simulations.
#pragma once

#include <cstdint>

#include "plan/reduction/elimination_program.h"

namespace snc {

struct SimulationWork {
    uint64_t steps = 0;
    uint64_t coefficients_read = 0, coefficients_written = 0;
    uint64_t flops = 0;  // real multiplications and additions
    EliminationWork elimination;

    SimulationWork& operator+=(const SimulationWork& other) {
        steps += other.steps;
        coefficients_read += other.coefficients_read;
        coefficients_written += other.coefficients_written;
        flops += other.flops;
        elimination += other.elimination;
        return *this;
    }
    // Counts a pass over this many coefficients.
    void note_pass(uint64_t read, uint64_t written, uint64_t flops_per_read) {
        coefficients_read += read;
        coefficients_written += written;
        flops += read * flops_per_read;
    }
};

}  // namespace snc
