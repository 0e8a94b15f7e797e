// Compiled once per instruction set, with SNC_ISA set to its name and the flags that allow it.

#include "cpu/batch_kernel.h"
#include "cpu/coefficient_kernel.h"
#include "cpu/noise_kernel.h"
#include "cpu/phase_kernel.h"
#include "cpu/rotation_kernel.h"

#define SNC_STRING(name) SNC_STRING_OF(name)
#define SNC_STRING_OF(name) #name

namespace snc::SNC_ISA {

namespace {

constexpr CoefficientKernels coefficient_kernels = {
    .rotate = rotate,
    .activate = activate,
    .outcome_weights = outcome_weights,
    .project = project,
    .apply_phases = apply_phases,
    .weights_through = weights_through,
    .project_through = project_through,
};

constexpr BatchKernels batch_kernels = {
    .sum_angles = batch_sum_angles,
    .add_angle = batch_add_angle,
    .phases = batch_phases,
    .apply_phases = batch_apply_phases,
    .rotate = batch_rotate,
    .activate = batch_activate,
    .measure = batch_measure,
    .measure_through = batch_measure_through,
    .take = batch_take,
};

}  // namespace

extern const Kernels table;
const Kernels table = {SNC_STRING(SNC_ISA), sample_noise, draw_outcome_cells, multiply_rows,
                       coefficient_kernels, batch_kernels};

}  // namespace snc::SNC_ISA
