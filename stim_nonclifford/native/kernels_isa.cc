// Compiled once per instruction set, with SNC_ISA set to its name and the flags that allow it.

#include "coefficient_kernel.h"
#include "gate_kernel.h"
#include "noise_kernel.h"
#include "phase_kernel.h"

#define SNC_STRING(name) SNC_STRING_OF(name)
#define SNC_STRING_OF(name) #name

namespace snc::SNC_ISA {

extern const Kernels table;
const Kernels table = {SNC_STRING(SNC_ISA), sample_noise, draw_outcome_cells, rotate, clear_table, multiply_table, exchange_table, run_pass, activate,
                       outcome_weights, project, weak_weights, weak_project, multiply_rows, apply_phases,
                       weights_through, project_through};

}  // namespace snc::SNC_ISA
