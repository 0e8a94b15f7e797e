// The backward sweep (compiler/sweeps/backward_sweep.py): which bits every fault, random outcome and free sign flips.
#pragma once

#include <cstdint>
#include <vector>

#include "algebra/sparse_rows.h"
#include "base/interruption.h"
#include "compiler/program/program.h"
#include "compiler/sweeps/forward_sweep.h"

namespace snc {

// Bits of effects that may be added. Circuits with 10^4 rounds and a T state in each take a tenth of it, a few tenths of
// a second. It grows quadratically where an error flips all later records.
constexpr uint64_t max_effect_work = uint64_t{1} << 32;

struct EffectQuestion {
    bool by_records;   // whether the outputs are the records, or else detectors and observables
    bool with_noise;   // and with stabilizers
    bool with_faults;  // keeps the effect of every single fault
    std::vector<Insertion> leakage;  // what its scripts flip: an X or a Z of a qubit, or a record
    uint64_t max_bytes;
};

// What compiler/sweeps/effects.py calls an EffectTable, in which signs of activations do not occur any more.
struct EffectTable {
    size_t num_outputs;
    SparseRow constant;
    // Of noise: first the effects of independent causes, with their rates and site -1, then those at sites, with their probabilities.
    SparseRows noise;
    std::vector<double> rates;
    std::vector<int32_t> sites;
    SparseRows coins, outcomes, tosses, leakage;
    std::vector<int32_t> base_outputs;
    // Every single fault: a pattern of the channel of a step, on one group of targets, or a readout error (pattern 0).
    SparseRows faults;
    std::vector<int64_t> fault_steps, fault_groups, fault_patterns, fault_records;  // record -1: none
};

// Follows the program from its end to its beginning. Throws std::invalid_argument if the rest is not about this program,
// std::bad_alloc if the effects take more than max_bytes, and std::overflow_error if there is too much to add.
EffectTable backward_sweep(const Program& program, const QuantumProgram& quantum, EffectQuestion question, const Progress& progress,
                           Interruption& interruption);

}  // namespace snc
