// The steps of a simulation of the coefficient vector, decided once for all signatures.
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

#include "rotation_groups.h"

namespace snc {

struct Operation;

// The product of many phases, as a function of the index. A *group* of phases has a table with one row for each
// value of a few parities of the index, and in it one entry for each of the lanes, the low bits of the index.
struct PhaseProduct {
    struct Factor {
        uint32_t slot;      // of the phase
        uint32_t parities;  // which of the earlier parities enter its sign
        bool adds_parity;   // whether a new parity enters its sign too
        uint64_t z;
    };
    static constexpr size_t max_groups = 8;

    std::vector<std::vector<Factor>> groups;
    std::vector<uint32_t> num_rows;  // of each group
    uint32_t total_rows = 0;
    // For each bit of a block's number the parities that it flips, eight bits for each group.
    std::vector<uint64_t> columns;
};

// A phase absorbs the angle of an operation.
struct Absorption {
    uint32_t slot;
    uint32_t operation;
    bool is_new;
};

struct SimulationStep {
    enum class Kind : uint8_t {
        rotate,           // of the stored vector
        rotate_in_groups, // several rotations of the stored vector, if it is long
        activate,         // doubles the stored vector
        weakly_measure,   // of the stored vector: it keeps its size
        apply_phases,     // applies the phases of `product`, and adds coordinates
        measure,          // of the stored vector
        measure_through,  // of the stored vector with the phases of `product`
    };
    Kind kind;
    uint32_t begin;                     // number of operations that earlier steps apply or absorb
    uint32_t operation;                 // the one that the step applies, unless it is rotate_in_groups or apply_phases
    int32_t width_before, width_after;  // of the stored vector; before the projection, if it is measured
    std::vector<Absorption> absorptions;                // executed first
    PhaseProduct product;
    RotationPass groups;                                // operations that rotate_in_groups applies
    std::vector<std::pair<uint32_t, uint32_t>> merged;  // executed last: phase `second` becomes part of phase `first`
};

struct StepList {
    std::vector<SimulationStep> steps;
    uint32_t num_slots = 0;
    int32_t widest = 0;  // width of the largest stored vector
};

StepList find_steps(const std::vector<Operation>& operations);

}  // namespace snc
