// The way of shots through the steps of a simulation, and what a signature and outcomes make of a shot: the signs of its rotations,
// its outcome checks, and its outputs.
//
// All simulations go this way; they differ in how they store coefficients and bits. A Vector has the coefficients of one shot or
// of a batch of shots, and
//     num_steps(), step(number)   its steps, each of which knows if it measures(), and then the number of the outcome
//     begin(step)                 what is to do before any step
//     apply(step)                 if it does not measure
//     weigh(step)                 finds the weights of the outcomes, if it measures
//     project(step, ones)         on the outcomes, which are 1 in these shots
// The bits of a shot are a branch row. A Row has
//     flip_image(bit, shots)        XORs the image of a signature bit into the rows of these shots
//     flip_effect(outcome, shots)   the same for the effect of an outcome
//     passing(outcome)              the shots in which no check is set that is final with this outcome
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

// Notes an outcome, which is 1 in these shots. Returns the shots that it does not discard.
template <typename Row, typename Shots>
SNC_HOST_DEVICE Shots take_outcome(Row& row, uint32_t outcome, Shots ones, bool has_checks = true) {
    if (ones) row.flip_effect(outcome, ones);
    return has_checks ? row.passing(outcome) : static_cast<Shots>(-1);
}

// Where shots are on their way: the next step, and the shots that are not discarded.
template <typename Shots>
struct PathProgress {
    uint32_t step;
    Shots left;
};

// The end of a shot, in place of the number of an outcome.
constexpr int32_t kept_leaf = -1, discarded_leaf = -2;

// Goes on to the next measurement, or to the end. Returns the number of the outcome, or the end.
template <typename Vector, typename Shots>
SNC_HOST_DEVICE int32_t advance(Vector& vector, PathProgress<Shots>& progress) {
    if (!progress.left) return discarded_leaf;
    for (; progress.step < vector.num_steps(); ++progress.step) {
        const auto& step = vector.step(progress.step);
        vector.begin(step);
        if (step.measures()) {
            vector.weigh(step);
            return step.outcome;
        }
        vector.apply(step);
    }
    return kept_leaf;
}

// Takes the outcome of the measurement at which `advance` stopped: 1 in the shots `ones`.
template <typename Vector, typename Step, typename Row, typename Shots>
SNC_HOST_DEVICE void take(Vector& vector, const Step& step, Row& row, PathProgress<Shots>& progress, Shots ones, bool has_checks = true) {
    vector.project(step, ones);
    progress.left = progress.left & take_outcome(row, static_cast<uint32_t>(step.outcome), ones, has_checks);
    ++progress.step;
}

}  // namespace snc
