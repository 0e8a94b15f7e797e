// The steps of a simulation of the coefficient vector, decided once for all signatures.
//
// Here, and nowhere else, is it found out which operations form a step: runs of rotations, deferred phases, coordinates that
// are activated together, measurements that share a pass with their neighbours. The engines say by their rules what
// their kernels can do, and execute the steps, or translate them (`device_steps.h`).
//
// Diagonal operations are not applied at once. A rotation about (-1)^|index & z| becomes a *deferred phase* with the mask z,
// whose angle depends on the shot, and an activated coordinate stays *implicit in |+>*: the amplitude at an
// index is the stored vector's entry at the index's low bits, times the product of the phases, times 2^-1/2 for
// each coordinate that is not stored. A phase costs a sum of few angles. A MEASURE of P needs
// the phases that anticommute with P: if U is their product, P U = conj(U) P, and
//     (1 ± P) U v = U (v ± conj(U)^2 P v),
// so that the projection of v is v ± conj(U)^2 P v, and all phases stay where they are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "algebra/mask_span.h"
#include "plan/steps/operation_list.h"
#include "plan/steps/phase_products.h"
#include "plan/steps/rotation_groups.h"

namespace snc {

// What an engine's kernels can do.
struct StepRules {
    int32_t min_width_with_phases;  // narrower vectors take less time than the bookkeeping of phases
    int32_t min_width_for_groups;   // narrower vectors take less time than the setup of a group of rotations
    int32_t max_growth;             // coordinates that are added at a time: most phases are applied while the vector is small
    GroupRules groups;
    // Whether weak measurements are one step, and a pass, besides its rotations, projects on the outcome of the weak measurement
    // before it, and sums the weights of the measurement after it. All that it flips, new coordinates included, are then sums of
    // groups.max_masks masks. Phases are only used to activate several coordinates at once. Otherwise a measurement leaves the phases
    // that it needs where they are: kernels have tables for their products.
    bool passes_measure;
};
constexpr StepRules cpu_step_rules{
    .min_width_with_phases = 6,
    .min_width_for_groups = 9,
    .max_growth = 3,
    .groups = cpu_group_rules,
    .passes_measure = false,
};

// A phase absorbs the angle of an operation.
struct Absorption {
    uint32_t slot;
    uint32_t operation;
    bool is_new;
};

struct SimulationStep {
    enum class Kind : uint8_t {
        rotate,           // of the stored vector; if it is long, a group of rotations
        activate,         // doubles the stored vector
        weakly_measure,   // of the stored vector, which keeps its size; the activation is the operation before `operation`
        apply_phases,     // applies `phases`, and adds coordinates
        measure,          // of the stored vector
        measure_through,  // of the stored vector with the phases of `product`
    };  // An expectation value is a measurement whose outcome is not taken.
    Kind kind;
    uint32_t begin;                     // number of operations that earlier steps apply or absorb
    uint32_t operation;                 // the one that the step applies, or rotates by first, unless it is apply_phases
    int32_t outcome;                    // of a measurement; else -1
    int32_t width_before, width_after;  // of the stored vector; before the projection, if it is measured
    std::vector<Absorption> absorptions;                // executed first
    std::vector<Phase> phases;                          // those that apply_phases applies
    PhaseProduct product;                               // the same, or those that measure_through needs, as tables
    std::vector<uint32_t> rotations;                    // operations that rotate applies
    std::vector<std::pair<uint32_t, uint32_t>> merged;  // executed last: phase `second` becomes part of phase `first`

    // With passes that measure:
    MaskSpan masks;         // rotate, apply_phases: what the pass flips
    bool projects = false;  // the same: on the outcome of the previous step
    bool is_summed = false; // measurements: their weights are summed by the previous step

    bool measures() const { return outcome >= 0; }
    // Whether the step rotates the vector in one pass.
    bool is_pass() const { return kind == Kind::rotate || kind == Kind::apply_phases; }
};

// What a step that measures flips in the stored vector: not the coordinate that a weak measurement activates.
uint64_t flips_of(const SimulationStep& step, const Operation& measurement);

struct StepList {
    std::vector<SimulationStep> steps;
    uint32_t num_slots = 0;
    int32_t widest = 0;  // width of the largest stored vector
};

StepList find_steps(const OperationList& operations, const StepRules& rules);

}  // namespace snc
