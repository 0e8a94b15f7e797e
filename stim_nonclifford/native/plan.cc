#include "plan.h"

#include <algorithm>

namespace snc {

namespace {

void flip(uint64_t* row, uint32_t bit) { row[bit / 64] ^= uint64_t{1} << (bit % 64); }

RowTable pack_rows(const SparseRows& rows, bool are_lists, const RowLayout& layout) {
    RowTable table{.are_lists = are_lists, .num_words = layout.words(), .words = {}, .lists = {}};
    if (are_lists) {
        SparseRows packed = rows;
        for (int32_t& bit : packed.bits) bit = static_cast<int32_t>(layout.packed_bit(static_cast<uint32_t>(bit)));
        table.lists = ListTable(packed, table.num_words);
    } else {
        table.words.assign(rows.size() * table.num_words, 0);
        for (size_t r = 0; r < rows.size(); ++r)
            for (int32_t bit : rows.row(r)) flip(&table.words[r * table.num_words], layout.packed_bit(bit));
    }
    return table;
}

void pack_noise(const PlanArrays& arrays, Plan& plan) {
    const RowLayout& layout = plan.layout;
    plan.constant.assign(layout.words(), 0);
    for (int32_t bit : arrays.constant) flip(plan.constant.data(), layout.packed_bit(bit));
    plan.count_thresholds = arrays.count_thresholds;
    for (size_t m = 0; m < arrays.alias_indices.size(); ++m)
        plan.alias.push_back({arrays.alias_thresholds[m], arrays.alias_indices[m]});
    const bool has_sites = std::ranges::any_of(arrays.sites, [](int32_t site) { return site >= 0; });
    if (has_sites) plan.sites = arrays.sites;

    plan.effects = pack_rows(arrays.effects, arrays.effects_are_lists, layout);
    plan.coins = pack_rows(arrays.coins, arrays.coins_are_lists, layout);
    plan.num_coins = static_cast<uint32_t>(arrays.coins.size());
}

void pack_outcomes(const PlanArrays& arrays, Plan& plan) {
    plan.operations = arrays.operations;
    plan.terms = arrays.terms;
    plan.steps = find_steps(plan.operations);
    plan.peak_width = arrays.peak_width;
    plan.num_outcomes = static_cast<uint32_t>(arrays.outcome_effects.size());
    const uint32_t first_output = arrays.num_signs + arrays.num_outcome_checks;
    plan.sign_words = words_for(first_output);
    plan.branch_words = plan.sign_words + words_for(arrays.num_outputs);
    const auto packed_bit = [&](uint32_t bit) {
        return bit < first_output ? bit : 64 * plan.sign_words + (bit - first_output);
    };
    const auto pack_rows = [&](const SparseRows& rows) {
        std::vector<uint64_t> packed(rows.size() * plan.branch_words, 0);
        for (size_t r = 0; r < rows.size(); ++r)
            for (int32_t bit : rows.row(r)) flip(&packed[r * plan.branch_words], packed_bit(bit));
        return packed;
    };
    plan.branch_constant.assign(plan.branch_words, 0);
    for (int32_t bit : arrays.branch_constant) flip(plan.branch_constant.data(), packed_bit(bit));
    plan.signature_images = pack_rows(arrays.signature_images);
    plan.outcome_effects = pack_rows(arrays.outcome_effects);
    plan.final_checks.assign(size_t{plan.num_outcomes} * plan.sign_words, 0);
    for (size_t c = 0; c < arrays.outcome_check_deadlines.size(); ++c) {
        const int32_t deadline = arrays.outcome_check_deadlines[c];
        flip(&plan.final_checks[size_t(deadline) * plan.sign_words], arrays.num_signs + uint32_t(c));
    }
}

}  // namespace

Plan pack_plan(const PlanArrays& arrays) {
    Plan plan;
    plan.never_kept = arrays.never_kept;
    plan.layout = {
        .num_checks = arrays.num_checks,
        .num_signature_bits = arrays.num_signature_bits,
        .num_outputs = arrays.num_outputs,
        .check_words = words_for(arrays.num_checks),
        .signature_words = words_for(arrays.num_signature_bits),
        .output_words = words_for(arrays.num_outputs),
    };
    pack_noise(arrays, plan);
    pack_outcomes(arrays, plan);
    return plan;
}

}  // namespace snc
