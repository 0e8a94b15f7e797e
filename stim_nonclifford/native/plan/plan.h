// The plan as the engine reads it: the arrays of `stim_nonclifford/simulation/plan.py` with rows packed into words.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/memory.h"
#include "kernels/shared/leakage.h"
#include "kernels/shared/rotation_term.h"
#include "plan/reduction/elimination_program.h"
#include "plan/row_table.h"
#include "plan/steps/operation_list.h"
#include "plan/steps/simulation_steps.h"

namespace snc {

// The places of the parts of a row. Each part starts at a word of its own.
struct RowLayout {
    uint32_t num_checks = 0, num_signature_bits = 0, num_outputs = 0;
    uint32_t check_words = 0, signature_words = 0, output_words = 0;

    uint32_t words() const { return check_words + signature_words + output_words; }
    uint32_t first_output_word() const { return check_words + signature_words; }
    // Position of a row bit, numbered as in Python, among the bits of the packed row.
    uint32_t packed_bit(uint32_t bit) const {
        if (bit < num_checks) return bit;
        bit -= num_checks;
        if (bit < num_signature_bits) return 64 * check_words + bit;
        return 64 * first_output_word() + (bit - num_signature_bits);
    }
};

struct Plan {
    RowLayout layout;
    bool never_kept = false;
    bool separate_draws = false;  // whether each outcome has a random number of its own, whatever the others are

    // Noise. Rows are relative to `constant`: no event gives the zero row.
    std::vector<uint64_t> constant;           // [words]
    std::vector<uint64_t> count_thresholds;
    std::vector<AliasCell, Aligned<AliasCell>> alias;  // [mechanisms]
    std::vector<int32_t> sites;               // [mechanisms]; empty if no mechanism has a site
    int32_t first_site_mechanism = 0;         // no earlier mechanism has one
    uint32_t num_sites = 0;
    RowTable effects;                         // one row for each mechanism
    RowTable coins;
    uint32_t num_coins = 0;

    // Leakage. The last mechanisms are its events, one for each entry.
    std::vector<LeakageItem> leakage_items;
    RowTable leakage_rows;
    std::vector<LeakageEntry> leakage_entries;
    std::vector<int32_t> leakage_always;
    int32_t first_leakage_mechanism = 0;
    uint32_t num_script_qubits = 1;  // the most that any script has
    // For each row of leakage a check that it has and no earlier row that is mixed with it, or -1.
    std::vector<int32_t> leakage_final_checks;
    LeakageTables leakage() const {
        return {leakage_items.data(), leakage_entries.data(), leakage_always.data(), leakage_final_checks.data(),
                first_leakage_mechanism, static_cast<uint32_t>(leakage_always.size()), num_script_qubits};
    }

    // Records that may decay. The last mechanisms before those of leakage are their events. The bits of readouts say along chains
    // which records differ from what they decay to; what flips them has the same number here as in the other tables.
    uint32_t num_readout_decays = 0, num_hidden_coins = 0;
    int32_t first_readout_decay = 0;
    std::vector<uint64_t> readout_constant;
    std::vector<int32_t> readout_predecessors;
    RowTable event_readouts, coin_readouts, leakage_readouts, hidden_coins;
    // The tables of both kinds of coins once more, by bit of a readout: the parts of the words of a shot's coins that flip it. Words of
    // hidden coins follow the others.
    std::vector<uint32_t> first_coin_parts;  // [num_readout_decays + 1]
    std::vector<WordFlip> coin_parts;
    bool decays_interact = false;  // whether some decay flips bits of readouts that others look at

    // Outcomes. Branch rows hold signs and outcome checks, then outputs, which start at a word of their own.
    OperationList operations;
    std::vector<RotationTerm> terms;
    StepList steps;                           // none for a vector that is wider than any memory
    // If outcomes need fewer coefficients, or none, and take less time so.
    std::shared_ptr<const EliminationProgram> elimination;
    uint32_t num_outcomes = 0, num_outcome_checks = 0;
    uint32_t sign_words = 0;                  // words with signs and outcome checks
    uint32_t branch_words = 0;
    uint32_t peak_width = 0;
    uint32_t dense_width = 0;                 // of the vectors that are simulated, for the signatures that plan_reduction.h looks at
    std::vector<uint64_t> branch_constant;    // [branch_words]
    RowTable signature_images;                // for each signature bit a row of branch_words
    RowTable outcome_effects;                 // for each outcome a row of branch_words
    RowTable final_checks;                    // for each outcome a row of sign_words: checks that are final after it

    // Calls use(sign) for the bits of the branch row that reverse an angle of the operation.
    template <typename Use>
    void for_each_sign(const Operation& operation, Use use) const {
        for (int32_t k = operation.first_term; k < operation.end_term; ++k)
            if (const int32_t sign = terms[size_t(k)].sign; sign >= 0) use(static_cast<size_t>(sign));
    }

    // Whether rows are kept in registers: few words, and tables of words.
    bool has_register_rows() const {
        return layout.words() != 0 && layout.words() <= max_narrow_words && !effects.are_lists && !coins.are_lists;
    }
};

// The arrays of the Python plan, by their names there.
struct PlanArrays {
    uint32_t num_checks, num_signature_bits, num_outputs, num_signs, num_outcome_checks, peak_width;
    bool never_kept, separate_draws;
    std::vector<int32_t> constant;
    SparseRows effects;
    bool effects_are_lists;
    std::vector<int32_t> sites;
    std::vector<uint64_t> count_thresholds, alias_thresholds;
    std::vector<int32_t> alias_indices;
    SparseRows coins;
    bool coins_are_lists;
    std::vector<LeakageItem> leakage_items;
    SparseRows leakage_rows;
    std::vector<int32_t> leakage_final_checks, leakage_entries, leakage_always;
    uint32_t num_readout_decays;
    std::vector<int32_t> readout_constant, readout_predecessors;
    SparseRows event_readouts, coin_readouts, leakage_readouts, hidden_coins;
    bool readouts_are_lists;
    OperationList operations;
    std::vector<RotationTerm> terms;
    std::vector<int32_t> branch_constant;
    SparseRows signature_images, outcome_effects;
    bool signature_images_are_lists, outcome_effects_are_lists;
    std::vector<int32_t> outcome_check_deadlines;
};

// What simulates the paths of outcomes.
enum class PathMethod {
    cheaper,      // by the costs of plan_reduction.h
    vector,       // all coefficients
    elimination,  // throws std::invalid_argument if that is not possible
    neither,      // the plan is not simulated
};

Plan pack_plan(const PlanArrays& arrays, PathMethod method = PathMethod::cheaper);

}  // namespace snc
