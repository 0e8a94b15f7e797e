#include "plan/plan_checks.h"

#include <algorithm>
#include <climits>

#include "base/argument_checks.h"
#include "plan/steps/operation_checks.h"

namespace snc {

namespace {

// Rows in which each bit is listed once, in ascending order.
void check_rows(const SparseRows& rows, uint64_t num_rows, uint64_t num_bits, const char* name) {
    require(rows.starts.size() == num_rows + 1, name, " must have ", num_rows, " rows.");
    require_rows(rows.starts, rows.bits, static_cast<int64_t>(num_bits), name);
    for (size_t r = 0; r < rows.size(); ++r) {
        const RowView row = rows[r];
        require(std::ranges::adjacent_find(row, std::ranges::greater_equal{}) == row.end(), "The rows of ", name, " must ascend.");
    }
}

void check_noise(const PlanArrays& plan) {
    const uint64_t num_bits = uint64_t{plan.num_checks} + plan.num_signature_bits + plan.num_outputs;
    require(num_bits <= INT32_MAX, "A plan has at most 2^31 - 1 checks, signature bits and outputs.");
    require_range(plan.constant, 0, static_cast<int64_t>(num_bits), "constant");
    for (const int32_t bit : plan.constant)
        require(static_cast<uint32_t>(bit) < plan.num_checks || static_cast<uint32_t>(bit) >= plan.num_checks + plan.num_signature_bits,
                "constant must have no signature bit.");
    const size_t num_mechanisms = plan.sites.size();
    require(num_mechanisms <= INT32_MAX && plan.alias_thresholds.size() == num_mechanisms && plan.alias_indices.size() == num_mechanisms,
            "sites, alias_thresholds and alias_indices must have a number for each mechanism.");
    check_rows(plan.effects, num_mechanisms, num_bits, "effects");
    require_range(plan.sites, -1, INT32_MAX, "sites");
    require_range(plan.alias_indices, 0, static_cast<int64_t>(num_mechanisms), "alias_indices");
    require(std::ranges::is_sorted(plan.count_thresholds), "count_thresholds must ascend.");
    require(num_mechanisms > 0 || plan.count_thresholds.empty(), "There are no events without mechanisms: count_thresholds must be empty.");
    check_rows(plan.coins, plan.coins.size(), num_bits, "coins");
}

void check_leakage(const PlanArrays& plan) {
    const uint64_t num_bits = uint64_t{plan.num_checks} + plan.num_signature_bits + plan.num_outputs;
    check_rows(plan.leakage_rows, plan.leakage_rows.size(), num_bits, "leakage_rows");
    const auto num_rows = static_cast<int64_t>(plan.leakage_rows.size()), num_items = static_cast<int64_t>(plan.leakage_items.size());
    require_range(plan.leakage_final_checks, -1, plan.num_checks, "leakage_final_checks");
    require(plan.leakage_final_checks.size() == plan.leakage_rows.size(), "There must be leakage_final_checks for each row of leakage_rows.");
    std::vector<int64_t> final_before(plan.leakage_final_checks.size() + 1);
    for (size_t row = 0; row < plan.leakage_final_checks.size(); ++row)
        final_before[row + 1] = final_before[row] + (plan.leakage_final_checks[row] >= 0);
    for (size_t k = 0; k < plan.leakage_items.size(); ++k) {
        const LeakageItem& item = plan.leakage_items[k];
        for (size_t next = k + 1; item.kind == leakage_flip && item.to > 0 && next <= k + static_cast<size_t>(item.to); ++next)
            require(next < plan.leakage_items.size() && plan.leakage_items[next].kind == leakage_flip, "leakage_items must skip flips.");
        require(item.kind >= leakage_change && item.kind <= leakage_move, "leakage_items must be of a known kind.");
        require(item.qubit >= 0 && item.qubit < max_script_qubits && item.partner >= 0 && item.partner < max_script_qubits,
                "leakage_items must have qubits of a script.");
        require(item.to >= 0 && item.to < num_leakage_states, "leakage_items must lead to a state, or skip at most two items.");
        require(item.first_row >= 0 && item.first_row <= item.end_row && item.end_row <= num_rows, "leakage_items must have rows of leakage_rows.");
        require(item.kind != leakage_mix || final_before[static_cast<size_t>(item.end_row)] - final_before[static_cast<size_t>(item.first_row)] <= max_mixed_rows,
                "leakage_items must have at most 64 final checks.");
    }
    require(num_items <= INT32_MAX && (num_items == 0 || plan.leakage_items.back().kind == leakage_end), "leakage_items must end.");
    require_range(plan.leakage_entries, 0, num_items, "leakage_entries");
    require_range(plan.leakage_always, 0, num_items, "leakage_always");
    require(plan.leakage_entries.size() <= plan.sites.size(), "leakage_entries must be mechanisms.");
    const size_t first = plan.sites.size() - plan.leakage_entries.size();
    int32_t other_site = -1;
    for (size_t k = 0; k < first; ++k) other_site = std::max(other_site, plan.sites[k]);
    for (size_t k = first; k < plan.sites.size(); ++k) {
        require(plan.sites[k] > other_site && plan.effects[k].empty(), "leakage_entries must have sites after all others, and effects without bits.");
        require(plan.leakage_items[static_cast<size_t>(plan.leakage_entries[k - first])].kind == leakage_change,
                "leakage_entries must be changes.");
    }
}

void check_readouts(const PlanArrays& plan) {
    const uint64_t num_bits = plan.num_readout_decays;
    require(num_bits + plan.leakage_entries.size() <= plan.sites.size(), "Decays of records must be mechanisms.");
    require_range(plan.readout_constant, 0, static_cast<int64_t>(num_bits), "readout_constant");
    require(plan.readout_predecessors.size() == num_bits, "There must be a predecessor for each decay of a record, or -1.");
    for (size_t k = 0; k < num_bits; ++k)
        require(plan.readout_predecessors[k] >= -1 && plan.readout_predecessors[k] < static_cast<int32_t>(k), "Predecessors must be earlier decays.");
    check_rows(plan.event_readouts, plan.sites.size(), num_bits, "event_readouts");
    check_rows(plan.coin_readouts, plan.coins.size(), num_bits, "coin_readouts");
    check_rows(plan.leakage_readouts, plan.leakage_rows.size(), num_bits, "leakage_readouts");
    check_rows(plan.hidden_coins, plan.hidden_coins.size(), num_bits, "hidden_coins");
    const size_t end = plan.sites.size() - plan.leakage_entries.size(), first = end - num_bits;
    int32_t last_site = -1;
    for (size_t k = 0; k < first; ++k) last_site = std::max(last_site, plan.sites[k]);
    for (size_t k = first; k < end; ++k) {
        require(plan.sites[k] > last_site, "Decays of records must have sites of their own, after all others.");
        last_site = plan.sites[k];
    }
    const bool has_final_checks = std::ranges::any_of(plan.leakage_final_checks, [](int32_t check) { return check >= 0; });
    require(num_bits == 0 || !has_final_checks, "Leakage has no final checks if records may decay.");
}

void check_outcomes(const PlanArrays& plan) {
    const uint64_t num_bits = uint64_t{plan.num_signs} + plan.num_outcome_checks + plan.num_outputs;
    require(num_bits <= INT32_MAX, "A plan has at most 2^31 - 1 signs, outcome checks and outputs.");
    require_range(plan.branch_constant, 0, static_cast<int64_t>(num_bits), "branch_constant");
    check_rows(plan.signature_images, plan.num_signature_bits, num_bits, "signature_images");
    check_rows(plan.outcome_effects, plan.outcome_effects.size(), num_bits, "outcome_effects");
    const OperationCounts counts = check_operations(plan.operations, plan.terms, plan.num_signs);
    require(counts.num_expectations == 0, "The operations of a plan have no expectation values.");
    require(plan.peak_width == static_cast<uint32_t>(counts.peak_width), "peak_width is not that of the operations.");
    require(plan.outcome_effects.size() == static_cast<size_t>(counts.num_outcomes), "There must be outcome_effects for each measurement.");
    require(plan.outcome_check_deadlines.size() == plan.num_outcome_checks, "There must be a deadline for each outcome check.");
    require_range(plan.outcome_check_deadlines, 0, static_cast<int64_t>(plan.outcome_effects.size()), "outcome_check_deadlines");
}

}  // namespace

void check_plan(const PlanArrays& plan) {
    for (const SparseRows* rows : {&plan.effects, &plan.coins, &plan.leakage_rows, &plan.event_readouts, &plan.coin_readouts,
                                   &plan.leakage_readouts, &plan.hidden_coins, &plan.signature_images, &plan.outcome_effects})
        require(!rows->starts.empty(), "The starts of rows must begin with 0.");
    check_noise(plan);
    check_leakage(plan);
    check_readouts(plan);
    check_outcomes(plan);
}

}  // namespace snc
