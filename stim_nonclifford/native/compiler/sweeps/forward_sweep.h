// The forward sweep (compiler/sweeps/forward_sweep.py): which quantum operations a circuit performs on which coordinates.
#pragma once

#include <cstdint>
#include <vector>

#include "algebra/sparse_rows.h"
#include "compiler/program/program.h"
#include "compiler/sweeps/coordinates.h"
#include "compiler/sweeps/measurement_batch.h"
#include "plan/plan.h"

namespace snc {

// A Pauli inserted just before a step of the program, whose effect the backward sweep finds.
struct Insertion {
    int64_t step;
    std::vector<QubitPauli> factors;
    std::vector<int64_t> deferred;   // steps of the rotations that come earlier, are applied after the insertion, and anticommute with it
    std::vector<int64_t> reordered;  // records whose measurements anticommute with it, and are done on the other side of it
};

// What compiler/sweeps/operations.py calls an Operation, without its Pauli.
struct SweptOperation {
    int64_t kind, width, i_power, pivot;
    int64_t outcome;            // -1 for rotations
    int64_t step;               // of the measurement or of the rotation
    int64_t is_negative_angle;  // of an activation: its angle is reversed on the base path
};

// A recorded fair coin.
struct Coin {
    int64_t num_operations;  // before it
    int64_t record;
};

// What compiler/sweeps/forward_sweep.py calls an ExpectedPauli, without its Pauli.
struct SweptExpectation {
    int64_t num_operations;  // before it
    int64_t is_zero;         // the Pauli anticommutes with a stabilizer
    int64_t i_power;
};

struct QuantumProgram {
    std::vector<SweptOperation> operations;
    SparseRows x, z;  // for each operation, the bits of the index that its Pauli flips, and those whose parity is its sign
    std::vector<Insertion> activations;  // for each ACTIVATE, the stabilizer that makes the sign of its rotation a free choice
    std::vector<Insertion> outcomes;     // for each MEASURE, the Pauli by which the paths of outcome 1 and 0 differ
    std::vector<Coin> coins;
    std::vector<Insertion> tosses;       // for each coin, the stabilizer by which the paths of its two outcomes differ
    std::vector<SweptExpectation> expectations;
    SparseRows expected_x, expected_z;  // of their Paulis, as x and z of the operations
    std::vector<uint8_t> base_records;  // the measurement record of the base path
    size_t peak_width = 0;
    bool is_reordered = false;
};

QuantumProgram forward_sweep(const Program& program, bool keep_order, const Progress& progress);

}  // namespace snc
