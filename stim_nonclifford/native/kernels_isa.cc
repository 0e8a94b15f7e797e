// Compiled once per instruction set, with SNC_ISA set to its name and the flags that allow it.

#include "batch_kernel.h"
#include "coefficient_kernel.h"
#include "gate_kernel.h"
#include "noise_kernel.h"
#include "phase_kernel.h"
#include "rotation_kernel.h"

#define SNC_STRING(name) SNC_STRING_OF(name)
#define SNC_STRING_OF(name) #name

namespace snc::SNC_ISA {

namespace {

template <typename Real>
Real* as(void* vector) {
    return static_cast<Real*>(vector);
}
template <typename Real>
const Real* as(const void* vector) {
    return static_cast<const Real*>(vector);
}

template <typename Real>
constexpr CoefficientKernels coefficient_kernels = {
    .number_size = sizeof(Real),
    .start = [](void* vector) { put(as<Real>(vector), 0, 1, 0); },
    .rotate = [](void* vector, const Operation& operation, bool reverse) { rotate(as<Real>(vector), operation, reverse); },
    .rotate_twice = [](void* vector, const Operation& first, const Operation& second) {
        rotate_twice(as<Real>(vector), first, second);
    },
    .run_pass = [](void* vector, int32_t width, const GatePass& pass, const Operation* rotations, const double* tables,
                   double* piece, uint32_t part, uint32_t parts) {
        run_pass(as<Real>(vector), width, pass, rotations, tables, piece, part, parts);
    },
    .activate = [](void* vector, const Operation& operation) { activate(as<Real>(vector), operation); },
    .outcome_weights = [](const void* vector, const Operation& operation) {
        return outcome_weights(as<Real>(vector), operation);
    },
    .project = [](const void* from, void* to, const Operation& operation, bool outcome, double weight) {
        project(as<Real>(from), as<Real>(to), operation, outcome, weight);
    },
    .weak_weights = [](const void* vector, const Operation& measurement, double cosine, double sine) {
        return weak_weights(as<Real>(vector), measurement, cosine, sine);
    },
    .weak_project = [](const void* from, void* to, const Operation& measurement, double cosine, double sine,
                       bool outcome, double weight) {
        weak_project(as<Real>(from), as<Real>(to), measurement, cosine, sine, outcome, weight);
    },
    .apply_phases = [](void* vector, const Phases& phases) { apply_phases(as<Real>(vector), phases); },
    .weights_through = [](const void* vector, const Phases& phases, const Operation& measurement) {
        return weights_through(as<Real>(vector), phases, measurement);
    },
    .project_through = [](const void* from, void* to, const Phases& phases, const Operation& measurement, bool outcome) {
        project_through(as<Real>(from), as<Real>(to), phases, measurement, outcome);
    },
};

constexpr BatchKernels batch_kernels = {
    .sum_of_run = batch_sum_of_run,
    .add_angle = batch_add_angle,
    .phases = batch_phases,
    .apply_phases = batch_apply_phases,
    .rotate = batch_rotate,
    .activate = batch_activate,
    .measure = batch_measure,
    .measure_weakly = batch_measure_weakly,
    .measure_through = batch_measure_through,
    .take = batch_take,
};

}  // namespace

extern const Kernels table;
const Kernels table = {SNC_STRING(SNC_ISA), sample_noise, draw_outcome_cells, clear_table, multiply_table, exchange_table,
                       multiply_rows, coefficient_kernels<double>, coefficient_kernels<float>, batch_kernels};

}  // namespace snc::SNC_ISA
