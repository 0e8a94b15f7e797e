// The tables of leakage: scripts that say what a leaked qubit flips. Their items are those of `stim_nonclifford/simulation/plan.py`.
#pragma once

#include "kernels/shared/noise_draws.h"

namespace snc {

enum LeakageKind : int32_t { leakage_change, leakage_flip, leakage_mix, leakage_end, leakage_spread, leakage_move };

struct LeakageItem {
    uint64_t threshold;
    int32_t kind, states, to, first_row, end_row, qubit, partner;
};

// An event of leakage: it is followed from an item on, with one qubit in a state, and the others computational. If `decisive` is not 0, the qubit stays there and
// mixes the rows of the last item for certain, and these bits of a random word are what its final checks are afterwards.
struct LeakageEntry {
    uint64_t decisive;
    int32_t item, qubit, state;
};

constexpr int32_t num_leakage_states = 3;
constexpr int32_t max_script_qubits = 1 << 20;
constexpr int32_t max_mixed_rows = 64;  // at a time, as a word has so many bits

// Where a plan has its leakage. The last mechanisms are its events, one for each entry.
struct LeakageTables {
    const LeakageItem* items;
    const LeakageEntry* entries;
    const int32_t* always;        // the items from which every shot follows a script
    const int32_t* final_checks;  // of each row a check that it has and no earlier row that is mixed with it, or -1
    int32_t first_mechanism;
    uint32_t num_always, num_script_qubits;
};

}  // namespace snc
