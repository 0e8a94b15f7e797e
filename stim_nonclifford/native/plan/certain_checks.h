// Sums of outcome checks whose outcomes are certain, so that faults alone decide on them.
//
// For a set S of measurements let N_S be the product of their pulled back Paulis (plan/reduction/elimination_program.h). Rotations after a
// measurement commute with it. So if N_S = +-X^x, and x has an even overlap with the strings of all rotations that are not Clifford, N_S
// commutes with everything that happens to |+>^n, and its sign is the sum of the outcomes of S. Sign bits add strings to N_S. A signature bit
// or an outcome flips some of them; if what it adds cancels for S, the gates that it inserts commute with N_S or anticommute. So the sign
// of N_S is linear in them, but for pairs that share gates: S once more is S^2 = Z, and not S^0. If an even number of those anticommute, it
// is linear.
#pragma once

#include <cstdint>
#include <vector>

#include "plan/plan.h"

namespace snc {

struct CertainSigns {
    std::vector<uint64_t> parities;  // [sums][signature_words]: the signature bits that flip a sum
    std::vector<uint8_t> values;     // of each sum at signature 0
};

struct CertainChecks {
    CertainSigns checks;   // sums of outcome checks, which are 0 in kept shots: a basis of what is found
    CertainSigns outputs;  // of kept shots, if all of them are found in this way, or else none
};

// None if a plan has no elimination.
CertainChecks certain_checks(const Plan& plan);

}  // namespace snc
