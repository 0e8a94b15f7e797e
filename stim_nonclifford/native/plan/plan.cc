#include "plan/plan.h"

#include <algorithm>
#include <new>
#include <numeric>

#include "base/argument_checks.h"
#include "plan/plan_reduction.h"

namespace snc {

namespace {

void flip(uint64_t* row, uint32_t bit) { row[bit / 64] ^= uint64_t{1} << (bit % 64); }

// A table of rows whose bits are renumbered.
template <typename PackedBit>
RowTable pack_rows(SparseRows rows, bool are_lists, uint32_t num_words, PackedBit packed_bit) {
    for (int32_t& bit : rows.bits) bit = static_cast<int32_t>(packed_bit(static_cast<uint32_t>(bit)));
    return {rows, are_lists, num_words};
}

// The event of a change that happens.
LeakageEntry leakage_entry(const Plan& plan, int32_t change) {
    const LeakageItem* item = &plan.leakage_items[static_cast<size_t>(change)];
    LeakageEntry entry{0, change + 1, item->qubit, item->to};
    while ((++item)->kind == leakage_flip) continue;
    const bool is_certain = item->qubit == entry.qubit && (item->states >> entry.state & 1) != 0;
    if (!is_certain || item->kind != leakage_mix || item[1].kind != leakage_end) return entry;
    for (int32_t row = item->first_row; row < item->end_row; ++row)
        if (plan.leakage_final_checks[static_cast<size_t>(row)] >= 0) entry.decisive = entry.decisive << 1 | 1;
    return entry;
}

void pack_noise(const PlanArrays& arrays, Plan& plan) {
    const RowLayout& layout = plan.layout;
    plan.constant.assign(layout.words(), 0);
    for (int32_t bit : arrays.constant) flip(plan.constant.data(), layout.packed_bit(bit));
    plan.count_thresholds = arrays.count_thresholds;
    plan.alias.reserve(arrays.alias_indices.size());
    for (size_t m = 0; m < arrays.alias_indices.size(); ++m)
        plan.alias.push_back({arrays.alias_thresholds[m], arrays.alias_indices[m]});
    const bool has_sites = std::ranges::any_of(arrays.sites, [](int32_t site) { return site >= 0; });
    if (has_sites) {
        plan.sites = arrays.sites;
        const auto first = std::ranges::find_if(arrays.sites, [](int32_t site) { return site >= 0; });
        plan.first_site_mechanism = static_cast<int32_t>(first - arrays.sites.begin());
        plan.num_sites = static_cast<uint32_t>(*std::ranges::max_element(arrays.sites)) + 1;
    }

    const auto packed_bit = [&](uint32_t bit) { return layout.packed_bit(bit); };
    plan.effects = pack_rows(arrays.effects, arrays.effects_are_lists, layout.words(), packed_bit);
    plan.coins = pack_rows(arrays.coins, arrays.coins_are_lists, layout.words(), packed_bit);
    plan.num_coins = static_cast<uint32_t>(arrays.coins.size());
    plan.leakage_items = arrays.leakage_items;
    plan.leakage_rows = pack_rows(arrays.leakage_rows, arrays.effects_are_lists, layout.words(), packed_bit);
    plan.leakage_always = arrays.leakage_always;
    plan.leakage_final_checks = arrays.leakage_final_checks;
    for (const LeakageItem& item : plan.leakage_items)
        plan.num_script_qubits = std::max(plan.num_script_qubits, static_cast<uint32_t>(std::max(item.qubit, item.partner)) + 1);
    for (const int32_t entry : arrays.leakage_entries) plan.leakage_entries.push_back(leakage_entry(plan, entry));
    plan.first_leakage_mechanism = static_cast<int32_t>(plan.alias.size() - plan.leakage_entries.size());
}

// Makes each bit of a readout the sum of its chain. As words, rows are as long as before, and no chain has to be followed: detectors of
// a misread surface code of d=5 take 4/5 of the time.
void sum_chains(Plan& plan) {
    const auto sum = [&](std::vector<uint64_t>& rows) {
        const size_t words = plan.readout_constant.size();
        for (uint64_t* row = rows.data(); row != rows.data() + rows.size(); row += words)
            for (uint32_t bit = 0; bit < plan.num_readout_decays; ++bit)
                if (const int32_t before = plan.readout_predecessors[bit]; before >= 0 && (row[before / 64] >> (before % 64) & 1) != 0)
                    flip(row, bit);
    };
    sum(plan.readout_constant);
    for (RowTable* const table : {&plan.event_readouts, &plan.coin_readouts, &plan.leakage_readouts, &plan.hidden_coins}) sum(table->words);
    std::ranges::fill(plan.readout_predecessors, -1);
}

void pack_readouts(const PlanArrays& arrays, Plan& plan) {
    plan.num_readout_decays = arrays.num_readout_decays;
    plan.num_hidden_coins = static_cast<uint32_t>(arrays.hidden_coins.size());
    plan.first_readout_decay = plan.first_leakage_mechanism - static_cast<int32_t>(plan.num_readout_decays);
    const uint32_t words = words_for(plan.num_readout_decays);
    plan.readout_predecessors = arrays.readout_predecessors;
    plan.readout_constant.assign(words, 0);
    for (const int32_t bit : arrays.readout_constant) flip(plan.readout_constant.data(), static_cast<uint32_t>(bit));
    plan.event_readouts = RowTable(arrays.event_readouts, arrays.readouts_are_lists, words);
    plan.coin_readouts = RowTable(arrays.coin_readouts, arrays.readouts_are_lists, words);
    plan.leakage_readouts = RowTable(arrays.leakage_readouts, arrays.readouts_are_lists, words);
    plan.hidden_coins = RowTable(arrays.hidden_coins, arrays.readouts_are_lists, words);
    if (!arrays.readouts_are_lists && words <= max_narrow_words) sum_chains(plan);
    for (uint32_t decay = 0; decay < plan.num_readout_decays; ++decay)
        plan.event_readouts.for_each_one(static_cast<uint32_t>(plan.first_readout_decay) + decay,
                                         [&](uint32_t bit) { plan.decays_interact |= bit != decay; });
    std::vector<std::vector<WordFlip>> parts(plan.num_readout_decays);
    const auto add = [&](const RowTable& coins, uint32_t num_coins, uint32_t first_word) {
        for (uint32_t coin = 0; coin < num_coins; ++coin)
            coins.for_each_one(coin, [&](uint32_t bit) {
                const uint32_t word = first_word + coin / 64;
                if (parts[bit].empty() || parts[bit].back().word != word) parts[bit].push_back({word, 0});
                parts[bit].back().mask ^= uint64_t{1} << (coin % 64);
            });
    };
    add(plan.coin_readouts, plan.num_coins, 0);
    add(plan.hidden_coins, plan.num_hidden_coins, words_for(plan.num_coins));
    plan.first_coin_parts.push_back(0);
    for (const std::vector<WordFlip>& own : parts) {
        plan.coin_parts.insert(plan.coin_parts.end(), own.begin(), own.end());
        plan.first_coin_parts.push_back(static_cast<uint32_t>(plan.coin_parts.size()));
    }
}

// For each outcome the checks that are final after it.
SparseRows checks_by_deadline(const PlanArrays& arrays, uint32_t num_outcomes) {
    const std::vector<int32_t>& deadlines = arrays.outcome_check_deadlines;
    SparseRows checks{std::vector<int64_t>(num_outcomes + 1), std::vector<int32_t>(deadlines.size())};
    for (int32_t deadline : deadlines) ++checks.starts[static_cast<size_t>(deadline) + 1];
    std::partial_sum(checks.starts.begin(), checks.starts.end(), checks.starts.begin());
    std::vector<int64_t> next(checks.starts.begin(), checks.starts.end() - 1);
    for (size_t c = 0; c < deadlines.size(); ++c)
        checks.bits[static_cast<size_t>(next[static_cast<size_t>(deadlines[c])]++)] = static_cast<int32_t>(arrays.num_signs + c);
    return checks;
}

void pack_outcomes(const PlanArrays& arrays, Plan& plan) {
    plan.operations = arrays.operations;
    plan.terms = arrays.terms;
    plan.peak_width = plan.dense_width = arrays.peak_width;
    plan.num_outcomes = static_cast<uint32_t>(arrays.outcome_effects.size());
    plan.num_outcome_checks = arrays.num_outcome_checks;
    const uint32_t first_output = arrays.num_signs + arrays.num_outcome_checks;
    plan.sign_words = words_for(first_output);
    plan.branch_words = plan.sign_words + words_for(arrays.num_outputs);
    const auto packed_bit = [&](uint32_t bit) {
        return bit < first_output ? bit : 64 * plan.sign_words + (bit - first_output);
    };
    plan.branch_constant.assign(plan.branch_words, 0);
    for (int32_t bit : arrays.branch_constant) flip(plan.branch_constant.data(), packed_bit(bit));
    plan.signature_images =
        pack_rows(arrays.signature_images, arrays.signature_images_are_lists, plan.branch_words, packed_bit);
    plan.outcome_effects = pack_rows(arrays.outcome_effects, arrays.outcome_effects_are_lists, plan.branch_words, packed_bit);
    plan.final_checks = RowTable(checks_by_deadline(arrays, plan.num_outcomes), arrays.outcome_effects_are_lists, plan.sign_words);
}

// Prepares the simulation with all coefficients, or that of an elimination.
void prepare_paths(Plan& plan, PathMethod method) {
    if (method == PathMethod::neither) return;
    if (method == PathMethod::elimination || (method == PathMethod::cheaper && may_pay(plan))) {
        Reduction reduction = reduce(plan);
        require(reduction.program || method != PathMethod::elimination, "The outcomes of this plan need all coefficients.");
        if (method == PathMethod::elimination || reduction.pays) {
            plan.dense_width = reduction.dense_width;
            plan.elimination = std::make_shared<const EliminationProgram>(*std::move(reduction.program));
        }
    }
    if (plan.operations.has_vector())
        plan.steps = find_steps(plan.operations, cpu_step_rules);
    else if (!plan.elimination)
        throw std::bad_alloc();
}

}  // namespace

Plan pack_plan(const PlanArrays& arrays, PathMethod method) {
    Plan plan;
    plan.never_kept = arrays.never_kept;
    plan.separate_draws = arrays.separate_draws;
    plan.layout = {
        .num_checks = arrays.num_checks,
        .num_signature_bits = arrays.num_signature_bits,
        .num_outputs = arrays.num_outputs,
        .check_words = words_for(arrays.num_checks),
        .signature_words = words_for(arrays.num_signature_bits),
        .output_words = words_for(arrays.num_outputs),
    };
    pack_noise(arrays, plan);
    pack_readouts(arrays, plan);
    pack_outcomes(arrays, plan);
    prepare_paths(plan, method);
    return plan;
}

}  // namespace snc
