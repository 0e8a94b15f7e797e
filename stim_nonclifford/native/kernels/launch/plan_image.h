// A plan in one piece of memory, as the device kernels read it. Made by `native/device/device_plan.cc`.
#pragma once

#include "kernels/shared/leakage.h"
#include "kernels/shared/rotation_term.h"

namespace snc {

// The number of rotations of a segment (the operations between two MEASUREs) whose angles are summed at a time.
constexpr uint32_t max_angles = 256;
// The largest number of rotations in a pass through the vector, and of generators of the masks that they flip.
constexpr uint32_t max_pass_rotations = 64;
constexpr uint32_t max_span = 3;

// Coefficients are numbered with 32 bits.
constexpr uint32_t max_vector_width = 31;

// The number of thresholds below a word is looked up by its highest byte, and then counted up.
constexpr uint32_t guide_size = 256;

// Rotations about the same Pauli, applied as one rotation by the sum of their angles.
struct Rotation {
    uint32_t z;            // bits of the coefficient index that give its sign
    uint32_t first_term, end_term;
    uint32_t flips;        // the combination of the pass's generators that it flips
    uint32_t odd;          // bit e: whether combination e of the generators is odd with z
    int32_t i_power;       // as in Operation
    uint32_t unit;         // whether the cosine may be made 1: the norm does not matter
};

enum class StepKind : uint32_t { rotate = 0, activate = 1, measure = 2, weak_measure = 3 };

struct Step {
    StepKind kind;
    uint32_t width;                  // of the vector before the step
    uint32_t grown;                  // rotate: number of coordinates that are activated in |+> first
    uint32_t first_rotation, end_rotation;  // rotate: of the pass; activate, weak measure: the activating rotation
    uint32_t angles_end;             // end of the rotations whose angles are known at this step
    uint32_t span;                   // rotate: number of generators
    uint32_t generators[max_span];   // rotate: ascending by their highest bits, which are all different
    // rotate: whether the pass projects on the outcome of the weak measurement just before it, and sums the weights of the
    // measurement just after it; the combinations of generators that these two flip; and for each combination, as bits,
    // whether it is odd with their z.
    uint32_t projects, projected_flips, projected_odd;
    uint32_t sums, summed_flips, summed_odd;
    // Measurements, of i^i_power (-1)^|index & z| |index ^ x><index|; without the coordinate that a weak one activates. Of
    // activate, only whether x is 0.
    uint32_t x, z;
    int32_t i_power, pivot, outcome;
    uint32_t is_summed;              // measurements: whether the pass before sums the weights
    uint32_t has_checks;             // measurements: whether an outcome check is final after it

    SNC_HOST_DEVICE bool measures() const { return kind >= StepKind::measure; }
};

// A table of rows in the form that the plan chooses for it. Arrays are given by their offsets in bytes.
struct TableImage {
    uint64_t are_lists;
    uint64_t words;   // uint64[rows][words of a row]; of words
    uint64_t starts;  // int64[rows + 1]; of lists
    uint64_t flips;   // WordFlip[]; of lists
};

// At the beginning of the image. Arrays are given by their offsets in bytes from there.
struct PlanImage {
    uint32_t check_words, signature_words, output_words, row_words;
    uint32_t num_mechanisms, num_thresholds, num_coins, has_sites;
    uint32_t num_steps, sign_words, branch_words, vector_width;
    uint32_t zero_is_fixed, zero_is_kept, never_kept;
    uint64_t constant;           // uint64[row_words]
    uint64_t thresholds;         // uint64[num_thresholds]
    uint64_t guide;              // uint32[guide_size]: thresholds <= the lowest word with that byte
    uint64_t alias_thresholds;   // uint64[num_mechanisms]
    uint64_t alias_indices;      // int32[num_mechanisms]
    uint64_t sites;              // int32[num_mechanisms]
    TableImage effects;          // [num_mechanisms]
    TableImage coins;            // [num_coins]
    // Leakage, as in LeakageTables.
    int32_t first_leakage_mechanism;
    uint32_t has_leakage, num_leakage_always, num_script_qubits;
    uint64_t leakage_items, leakage_entries, leakage_always, leakage_final_checks;
    TableImage leakage_rows;     // [rows of leakage_final_checks]
    // Records that may decay, as in Plan. Their rows have readout_words words.
    int32_t first_readout_decay;
    uint32_t num_readout_decays, num_hidden_coins, readout_words;
    uint64_t readout_constant;        // uint64[readout_words]
    uint64_t readout_predecessors;    // int32[num_readout_decays]
    TableImage event_readouts;   // [num_mechanisms]
    TableImage coin_readouts;    // [num_coins]
    TableImage leakage_readouts; // [rows of leakage_final_checks]
    TableImage hidden_coins;     // [num_hidden_coins]
    uint64_t zero_outputs;       // uint64[output_words]: flipped by the outcomes of signature 0, if fixed
    uint64_t steps;              // Step[num_steps]
    uint64_t rotations;          // Rotation[num_rotations]
    uint64_t terms;              // RotationTerm[]
    uint64_t branch_constant;    // uint64[branch_words]
    TableImage signature_images; // [num_signature_bits], rows of branch_words
    TableImage outcome_effects;  // [num_outcomes], rows of branch_words
    TableImage final_checks;     // [num_outcomes], rows of sign_words

    // The number of words of a row that is kept in registers; 0 if rows are in memory.
    SNC_HOST_DEVICE uint32_t register_words() const {
        return row_words <= max_narrow_words && effects.are_lists == 0 && coins.are_lists == 0 ? row_words : 0;
    }

    SNC_HOST_DEVICE bool is_readout_decay(int32_t mechanism) const {
        return mechanism >= first_readout_decay && mechanism < first_leakage_mechanism;
    }

    SNC_HOST_DEVICE LeakageTables leakage() const {
        return {array<LeakageItem>(leakage_items), array<LeakageEntry>(leakage_entries), array<int32_t>(leakage_always),
                array<int32_t>(leakage_final_checks), first_leakage_mechanism, num_leakage_always, num_script_qubits};
    }

    template <typename T>
    SNC_HOST_DEVICE const T* array(uint64_t offset) const {
        return reinterpret_cast<const T*>(reinterpret_cast<const uint8_t*>(this) + offset);
    }
};

}  // namespace snc
