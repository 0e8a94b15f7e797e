#include "compiler/sweeps/backward_sweep.h"

#include <algorithm>
#include <bit>
#include <functional>
#include <iterator>
#include <new>
#include <set>
#include <span>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <utility>

#include "base/argument_checks.h"
#include "compiler/program/work_forecast.h"
#include "compiler/sweeps/noise_sums.h"
#include "compiler/sweeps/sign_choices.h"

namespace snc {

namespace {

// A merge looks at bits one by one, and a processor cannot predict which row has the next one.
constexpr uint64_t merge_work = 8;

// Appends rows, with their bits in ascending order.
template <typename Rows>
SparseRows ascending(const Rows& rows, SparseRows after = {}) {
    for (size_t k = 0; k < rows.size(); ++k) after.append(SparseRow(rows[k].rbegin(), rows[k].rend()));
    return after;
}

// The state of the sweep: the effects of X and Z on each qubit and of each record at the current place of the circuit, and the
// effects of noise that were found so far.
//
// An effect is stored with its bits in descending order, because outputs get smaller on the way back: mostly, a new bit is
// appended. What the functions return is in ascending order.
class EffectSweep {
   public:
    EffectSweep(const Program& program, const QuantumProgram& quantum, EffectQuestion question);
    void run(const Progress& progress);
    EffectTable table(Interruption& interruption);

   private:
    void pull_back_through(const CircuitStep& step, int64_t number, const Shift& shift);
    void pull_back_through_gate(const GateTables& gate, std::span<const uint32_t> targets);
    void add_noise(const ChannelTables& channel, std::span<const uint32_t> targets, size_t group_size, int64_t first_herald);
    void add_faults(const ChannelTables& channel, std::span<const uint32_t> targets, size_t group_size, int64_t first_herald,
                    int64_t step);
    void measure(Factors factors, size_t record, bool resets);
    void flip_by_records(std::span<const int64_t> records, const Shift& shift, size_t output) {
        const auto bit = static_cast<int32_t>(output);
        for (const int64_t source : records) flip(record_effects_[static_cast<size_t>(source + shift.records)], {&bit, 1});
        check_bytes(records.size() * sizeof bit);
    }
    void flip_by_anticommuting(Factors factors, int32_t bit) {
        for (const auto& [qubit, code] : factors) {
            if ((code & z_part) != 0) flip(x_effects_[qubit], {&bit, 1});
            if ((code & x_part) != 0) flip(z_effects_[qubit], {&bit, 1});
        }
        check_bytes(factors.size() * sizeof bit);
    }
    // Notes what is inserted. The effects become the next ones of `kept_`.
    void insert(const std::vector<Insertion>& insertions) {
        for (const Insertion& insertion : insertions) {
            program_.check_factors(insertion.factors);
            program_.check_records(insertion.reordered);
            inserted_.emplace_back(&insertion, inserted_.size());
        }
    }
    size_t keep(SparseRow effect) {
        check_bytes(effect.size() * sizeof(int32_t));
        kept_.push_back(std::move(effect));
        return kept_.size() - 1;
    }
    SparseRow effect_of(const Insertion& insertion);
    void add_correlated_errors();
    void fix_signs();
    void add_fault(int64_t step, size_t group, uint64_t pattern, Factors factors, int64_t record);

    void flip(SparseRow& row, RowView by);
    SparseRow effect_of(Factors factors);
    void note_stabilizer(SparseRow effect) {
        if (!question_.with_noise || effect.empty()) return;
        const auto [place, is_new] = stabilizers_.insert(std::move(effect));
        if (is_new) check_bytes(place->size() * sizeof(int32_t));
    }
    void add_patterns(const ChannelTables& channel);
    // The effect of a pattern of `generators_`.
    const SparseRow& effect_of_pattern(uint64_t pattern) {
        pattern_sum_.clear();
        for (size_t k = 0; k < generators_.size(); ++k)
            if ((pattern >> k & 1) != 0) flip(pattern_sum_, *generators_[k]);
        return pattern_sum_;
    }
    void check_bytes(uint64_t more) {
        record_bytes_ += more;
        if (record_bytes_ + noise_.bytes() > question_.max_bytes) throw std::bad_alloc();
    }

    const Program& program_;
    const QuantumProgram& quantum_;
    const EffectQuestion question_;
    const size_t num_outputs_;
    size_t expectation_;  // the output of the first expectation value after the current place
    size_t readout_;      // the bit of the first record that may decay after the current place: they are behind the signs
    std::vector<SparseRow> x_effects_, z_effects_, record_effects_;
    std::unordered_map<int32_t, int32_t> next_readouts_;  // by the chain of records, the bit of its next one
    std::unordered_map<int64_t, int32_t> sign_of_step_;  // by the step of a rotation, the bit of its sign
    std::vector<int32_t> free_signs_;                    // for each activation, the bit of its sign
    uint64_t record_bytes_ = 0;
    uint64_t work_ = 0;

    std::vector<std::pair<const Insertion*, size_t>> inserted_;  // with their places in `kept_`; the last steps come first
    EffectTable faults_{};            // which has nothing but the faults
    // One error of a chain of mutually exclusive ones.
    struct Link {
        int64_t chain;
        size_t kept;
        double probability, nothing;
    };
    std::vector<Link> links_;

    SparseRow constant_;
    NoiseSums noise_;
    std::vector<SparseRow> kept_;     // those of what is inserted, of links and of faults
    std::vector<size_t> kept_faults_;
    std::set<SparseRow> stabilizers_;
    std::vector<SparseRow> stabilizer_rows_;  // in order, with signs fixed
    SignChoices choices_;

    // Scratch.
    std::vector<const SparseRow*> generators_;
    std::vector<SparseRow> after_;
    SparseRow sum_, pattern_sum_;
};

// Of the outputs that are asked for. The signs of expectation values come last.
size_t num_outputs_of(const Program& program, bool by_records) {
    return (by_records ? program.num_records : program.num_detectors + program.num_observables) + program.num_expectations();
}

EffectSweep::EffectSweep(const Program& program, const QuantumProgram& quantum, EffectQuestion question)
    : program_(program),
      quantum_(quantum),
      question_(std::move(question)),
      num_outputs_(num_outputs_of(program, question_.by_records)),
      expectation_(num_outputs_),
      readout_(0),
      x_effects_(program.num_qubits),
      z_effects_(program.num_qubits),
      record_effects_(program.num_records) {
    require(quantum.base_records.size() == program.num_records, "The quantum program must be that of the program.");
    if (question_.by_records)
        for (size_t record = 0; record < record_effects_.size(); ++record)
            record_effects_[record] = {static_cast<int32_t>(record)};
    auto sign = static_cast<int32_t>(num_outputs_);
    for (const SweptOperation& operation : quantum.operations) {
        if (operation.outcome >= 0) continue;
        if (operation.kind == static_cast<int64_t>(Kind::activate)) free_signs_.push_back(sign);
        sign_of_step_[operation.step] = sign++;
    }
    readout_ = static_cast<size_t>(sign) + program.num_readout_decays();
    for (const auto* insertions : {&quantum.activations, &quantum.outcomes, &quantum.tosses, &question_.leakage}) insert(*insertions);
    std::ranges::stable_sort(inserted_, std::ranges::greater{}, [](const auto& inserted) { return inserted.first->step; });
    kept_.resize(inserted_.size());
}

void EffectSweep::run(const Progress& progress) {
    auto next = inserted_.begin();
    WorkForecast forecast(program_, max_effect_work);
    program_.backward([&](const CircuitStep& step, int64_t number, const Shift& shift) {
        if (number % steps_per_report == 0) {
            progress(number);
            if (forecast.exceeds(number, work_)) throw std::overflow_error("the effects are too long");
        }
        pull_back_through(step, number, shift);
        for (; next != inserted_.end() && next->first->step == number; ++next) kept_[next->second] = effect_of(*next->first);
    });
    require(next == inserted_.end(), "What is inserted must be before steps of the program.");
    for (const SparseRow& effect : z_effects_) note_stabilizer(effect);
    stabilizer_rows_.assign(stabilizers_.begin(), stabilizers_.end());
    stabilizers_.clear();
    record_effects_ = {};
    add_correlated_errors();
    fix_signs();
}

void EffectSweep::pull_back_through(const CircuitStep& step, int64_t number, const Shift& shift) {
    const Factors factors = program_.factors(step);
    switch (step.kind) {
        case CircuitStepKind::clifford:
            pull_back_through_gate(program_.gate(step), program_.targets(step));
            break;
        case CircuitStepKind::noise: {
            if (!question_.with_noise) break;
            const int64_t herald = step.record < 0 ? -1 : step.record + shift.records;
            const auto targets = program_.targets(step);
            add_noise(program_.channel(step), targets, step.group_size, herald);
            if (question_.with_faults) add_faults(program_.channel(step), targets, step.group_size, herald, number);
            break;
        }
        case CircuitStepKind::correlated_error: {
            if (!question_.with_noise) break;
            links_.push_back({step.number + shift.chains, keep(effect_of(factors)), step.amount, step.second_amount});
            if (question_.with_faults && step.amount > 0) add_fault(number, 0, 0, factors, -1);
            break;
        }
        case CircuitStepKind::measure: {
            const auto record = static_cast<size_t>(step.record + shift.records);
            if (step.number >= 0 && question_.with_noise) {
                generators_ = {&record_effects_[record]};
                add_patterns(program_.channel(step));
                if (question_.with_faults) add_fault(number, 0, 0, {}, static_cast<int64_t>(record));
            }
            measure(factors, record, step.resets);
            break;
        }
        case CircuitStepKind::reset:
            note_stabilizer(effect_of(factors));
            x_effects_[factors[0].qubit].clear();
            z_effects_[factors[0].qubit].clear();
            break;
        case CircuitStepKind::rotate:
            if (const auto sign = sign_of_step_.find(number); sign != sign_of_step_.end())
                flip_by_anticommuting(factors, sign->second);
            break;
        case CircuitStepKind::feedback:
            flip(record_effects_[static_cast<size_t>(step.record + shift.records)], effect_of(factors));
            break;
        case CircuitStepKind::detector:
            if (!question_.by_records)
                flip_by_records(program_.records(step), shift, static_cast<size_t>(step.number + shift.detectors));
            break;
        case CircuitStepKind::observable:
            if (!question_.by_records) {
                const size_t output = program_.num_detectors + static_cast<size_t>(step.number);
                flip_by_anticommuting(factors, static_cast<int32_t>(output));
                flip_by_records(program_.records(step), shift, output);
            }
            break;
        case CircuitStepKind::expectation:
            flip_by_anticommuting(factors, static_cast<int32_t>(--expectation_));
            break;
        case CircuitStepKind::misreading: {
            // The record differs from the previous one of its chain, and the next one from it.
            const auto bit = static_cast<int32_t>(--readout_);
            const auto [next, is_last] = next_readouts_.emplace(step.number, bit);
            const int32_t bits[] = {std::exchange(next->second, bit), bit};
            const auto changed = std::span(bits).last(is_last ? 1 : 2);
            flip(record_effects_[static_cast<size_t>(step.record + shift.records)], changed);
            check_bytes(changed.size_bytes());
            break;
        }
        default:
            break;  // a step of trajectories
    }
}

void EffectSweep::flip(SparseRow& row, RowView by) {
    if (by.empty()) return;
    work_ += by.size();
    if (row.empty() || by.front() < row.back()) {
        row.insert(row.end(), by.begin(), by.end());
        return;
    }
    work_ += merge_work * (row.size() + by.size());
    sum_.clear();
    std::ranges::set_symmetric_difference(row, by, std::back_inserter(sum_), std::greater{});
    row.swap(sum_);
}

SparseRow EffectSweep::effect_of(Factors factors) {
    SparseRow effect;
    for (const auto& [qubit, code] : factors) {
        if ((code & x_part) != 0) flip(effect, x_effects_[qubit]);
        if ((code & z_part) != 0) flip(effect, z_effects_[qubit]);
    }
    return effect;
}

void EffectSweep::pull_back_through_gate(const GateTables& gate, std::span<const uint32_t> targets) {
    const auto& pullback = gate.pullback;
    if (pullback.empty()) return;
    const size_t size = gate.num_targets;
    after_.resize(2 * size);
    // The last group acts first on the way back.
    for (size_t end = targets.size(); end >= size && end > 0; end -= size) {
        const auto group = targets.subspan(end - size, size);
        for (size_t k = 0; k < size; ++k) {
            after_[2 * k].swap(x_effects_[group[k]]);
            after_[2 * k + 1].swap(z_effects_[group[k]]);
        }
        for (size_t k = 0; k < 2 * size; ++k) {
            SparseRow& before = k % 2 == 0 ? x_effects_[group[k / 2]] : z_effects_[group[k / 2]];
            before.clear();
            for (const uint32_t generator : pullback[k]) flip(before, after_[generator]);
        }
    }
}

void EffectSweep::add_noise(const ChannelTables& channel, std::span<const uint32_t> targets, size_t group_size,
                            int64_t first_herald) {
    for (size_t first = 0; first < targets.size(); first += group_size) {
        generators_.clear();
        for (const uint32_t qubit : targets.subspan(first, group_size)) {
            generators_.push_back(&x_effects_[qubit]);
            generators_.push_back(&z_effects_[qubit]);
        }
        if (first_herald >= 0)
            generators_.push_back(&record_effects_[static_cast<size_t>(first_herald) + first / group_size]);
        add_patterns(channel);
    }
    check_bytes(0);
}

void EffectSweep::add_faults(const ChannelTables& channel, std::span<const uint32_t> targets, size_t group_size,
                             int64_t first_herald, int64_t step) {
    std::set<uint64_t> patterns{channel.constant};
    for (const auto* choices : {&channel.rates, &channel.site})
        for (const auto& [pattern, _] : *choices) patterns.insert(channel.constant ^ pattern);
    patterns.erase(0);
    std::vector<QubitPauli> factors;
    for (size_t group = 0; group < targets.size() / group_size; ++group) {
        for (const uint64_t pattern : patterns) {
            factors.clear();
            for (size_t j = 0; j < group_size; ++j)
                if (const auto code = static_cast<uint32_t>(pattern >> 2 * j & 3); code != 0)
                    factors.push_back({targets[group * group_size + j], code});
            const bool is_heralded = first_herald >= 0 && (pattern >> 2 * group_size & 1) != 0;
            add_fault(step, group, pattern, factors, is_heralded ? first_herald + static_cast<int64_t>(group) : -1);
        }
    }
}

void EffectSweep::add_fault(int64_t step, size_t group, uint64_t pattern, Factors factors, int64_t record) {
    SparseRow effect = effect_of(factors);
    if (record >= 0) flip(effect, record_effects_[static_cast<size_t>(record)]);
    kept_faults_.push_back(keep(std::move(effect)));
    faults_.fault_steps.push_back(step);
    faults_.fault_groups.push_back(static_cast<int64_t>(group));
    faults_.fault_patterns.push_back(static_cast<int64_t>(pattern));
    faults_.fault_records.push_back(record);
}

void EffectSweep::add_patterns(const ChannelTables& channel) {
    if (std::ranges::all_of(generators_, [](const SparseRow* row) { return row->empty(); })) return;
    if (channel.constant != 0) flip(constant_, effect_of_pattern(channel.constant));
    for (const auto& [pattern, rate] : channel.rates) noise_.add(effect_of_pattern(pattern), rate);
    if (channel.site.empty()) return;
    std::vector<std::pair<SparseRow, double>> choices;
    for (const auto& [pattern, probability] : channel.site) choices.emplace_back(effect_of_pattern(pattern), probability);
    noise_.add_site(choices);
}

void EffectSweep::measure(Factors factors, size_t record, bool resets) {
    note_stabilizer(effect_of(factors));
    if (resets) {
        x_effects_[factors[0].qubit].clear();
        z_effects_[factors[0].qubit].clear();
    }
    const SparseRow& effect = record_effects_[record];
    for (const auto& [qubit, code] : factors) {
        if ((code & z_part) != 0) flip(x_effects_[qubit], effect);
        if ((code & x_part) != 0) flip(z_effects_[qubit], effect);
    }
}

SparseRow EffectSweep::effect_of(const Insertion& insertion) {
    SparseRow effect = effect_of(insertion.factors);
    SparseRow signs;
    for (const int64_t step : insertion.deferred)
        if (const auto sign = sign_of_step_.find(step); sign != sign_of_step_.end()) signs.push_back(sign->second);
    std::ranges::sort(signs, std::ranges::greater{});
    flip(effect, signs);
    for (const int64_t record : insertion.reordered) flip(effect, record_effects_[static_cast<size_t>(record)]);
    check_bytes(effect.size() * sizeof(int32_t));
    return effect;
}

// Chains of mutually exclusive errors, of which the most likely choice becomes a constant. The last links come first.
void EffectSweep::add_correlated_errors() {
    const SparseRow nothing;
    for (auto first = links_.begin(), end = first; first != links_.end(); first = end) {
        end = std::find_if(first, links_.end(), [&](const Link& link) { return link.chain != first->chain; });
        std::vector<std::pair<const SparseRow*, double>> choices{{&nothing, first->nothing}};
        for (auto link = first; link != end; ++link) choices.emplace_back(&kept_[link->kept], link->probability);
        const SparseRow& always = *std::ranges::max_element(choices, {}, &std::pair<const SparseRow*, double>::second)->first;
        flip(constant_, always);
        std::vector<std::pair<SparseRow, double>> found;
        for (const auto& [effect, probability] : choices) {
            if (probability <= 0) continue;
            found.emplace_back(always, probability);
            flip(found.back().first, *effect);
        }
        noise_.add_site(found);
    }
}

// Removes the signs of activations from all effects. The coordinate that a rotation activates is |0> before, so Z on it does
// nothing: adding the effect of that Z to any effect is free, and is done wherever it makes the sign of the rotation +.
void EffectSweep::fix_signs() {
    if (free_signs_.empty()) return;
    for (const int32_t sign : free_signs_) choices_.add_sign(sign);
    // An effect flips free signs from its own on, so that the later choices are fixed first. Then no choice has another
    // free sign, and a row is fixed by the choices of the free signs that it has.
    for (size_t k = free_signs_.size(); k-- > 0;) {
        const SparseRow& effect = kept_[k];
        const auto first =
            std::find_if(effect.rbegin(), effect.rend(), [&](int32_t bit) { return choices_.contains(bit); });
        if (first == effect.rend() || *first != free_signs_[k])
            throw std::logic_error("The stabilizer of activation " + std::to_string(k) + " does not flip its sign first.");
        choices_.set(free_signs_[k], choices_.fixed(effect));
    }
    constant_ = choices_.fixed(constant_);
    noise_ = noise_.fixed(choices_);
    for (SparseRow& effect : kept_) effect = choices_.fixed(effect);
    for (SparseRow& effect : stabilizer_rows_) effect = choices_.fixed(effect);
}

EffectTable EffectSweep::table(Interruption& interruption) {
    EffectTable table = std::move(faults_);
    table.num_outputs = num_outputs_;
    table.constant.assign(constant_.rbegin(), constant_.rend());
    table.noise = ascending(noise_.sites().rows, ascending(noise_.rates().rows()));
    table.rates = noise_.rates().sums();
    table.sites.assign(table.rates.size(), -1);
    table.rates.insert(table.rates.end(), noise_.sites().probabilities.begin(), noise_.sites().probabilities.end());
    table.sites.insert(table.sites.end(), noise_.sites().numbers.begin(), noise_.sites().numbers.end());
    const SparseRows stabilizers = ascending(stabilizer_rows_);
    for (const int64_t number : independent_rows(stabilizers, interruption)) table.coins.append(stabilizers[static_cast<size_t>(number)]);
    std::span<const SparseRow> kept = kept_;
    const auto next = [&](size_t count) { return std::exchange(kept, kept.subspan(count)).first(count); };
    next(quantum_.activations.size());
    table.outcomes = ascending(next(quantum_.outcomes.size()));
    table.tosses = ascending(next(quantum_.tosses.size()));
    table.leakage = ascending(next(question_.leakage.size()));
    std::vector<SparseRow> of_faults;
    for (const size_t number : kept_faults_) of_faults.push_back(std::move(kept_[number]));
    table.faults = ascending(of_faults);
    if (!question_.by_records) {
        table.base_outputs = program_.odd_outputs(quantum_.base_records);
        return table;
    }
    for (size_t record = 0; record < quantum_.base_records.size(); ++record)
        if (quantum_.base_records[record] != 0) table.base_outputs.push_back(static_cast<int32_t>(record));
    return table;
}

}  // namespace

EffectTable backward_sweep(const Program& program, const QuantumProgram& quantum, EffectQuestion question, const Progress& progress,
                           Interruption& interruption) {
    EffectSweep sweep(program, quantum, std::move(question));
    sweep.run(progress);
    return sweep.table(interruption);
}

}  // namespace snc
