// What a signature and outcomes make of a shot: the signs of its rotations, its outcome checks, and its outputs.
//
// All simulations follow these rules; they differ in how they store the bits, which together are a branch row. A Row has
//     flip_image(bit, shots)        XORs the image of a signature bit into the rows of these shots
//     flip_effect(outcome, shots)   the same for the effect of an outcome
//     checks_set(outcome)           the shots in which a check is set that is final with this outcome
// Shots is a bool for one shot, and a mask for a batch of shots.
#pragma once

#include "kernels/shared/platform.h"

namespace snc {

// Starts at the row of signature 0.
template <typename Row, typename Shots>
SNC_HOST_DEVICE void add_signature(Row& row, const uint64_t* signature, uint32_t words, Shots shots) {
    for (uint32_t w = 0; w < words; ++w)
        for (uint64_t bits = signature[w]; bits != 0; bits &= bits - 1) row.flip_image(64 * w + lowest_bit(bits), shots);
}

// Notes an outcome, which is 1 in these shots. Returns the shots that it discards.
template <typename Row, typename Shots>
SNC_HOST_DEVICE Shots take_outcome(Row& row, uint32_t outcome, Shots ones, bool has_checks = true) {
    if (ones) row.flip_effect(outcome, ones);
    return has_checks ? row.checks_set(outcome) : Shots{};
}

}  // namespace snc
