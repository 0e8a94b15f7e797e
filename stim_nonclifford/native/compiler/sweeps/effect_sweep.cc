#include "compiler/sweeps/effect_sweep.h"

#include <algorithm>
#include <bit>
#include <functional>
#include <iterator>
#include <map>
#include <new>
#include <stdexcept>

#include "compiler/program/work_forecast.h"

namespace snc {

namespace {

// A merge looks at bits one by one, and a processor cannot predict which row has the next one.
constexpr uint64_t merge_work = 8;

}  // namespace

EffectSweep::EffectSweep(const Program& program, Question question, uint64_t max_bytes, const Progress& progress)
    : x_effects_(program.num_qubits),
      z_effects_(program.num_qubits),
      record_effects_(program.num_records),
      question_(std::move(question)),
      sign_of_step_(question_.signs.begin(), question_.signs.end()),
      max_bytes_(max_bytes) {
    if (question_.by_records)
        for (size_t record = 0; record < record_effects_.size(); ++record)
            record_effects_[record] = {static_cast<int32_t>(record)};
    // The signs of expectation values are the last outputs.
    expectation_ = program.num_expectations() +
                   (question_.by_records ? program.num_records : program.num_detectors + program.num_observables);
    auto insertion = question_.insertions.begin();
    WorkForecast forecast(program, max_work);
    program.backward([&](const CircuitStep& step, int64_t number, const Shift& shift) {
        if (number % steps_per_report == 0) {
            progress(number);
            if (forecast.exceeds(number, work_)) throw std::overflow_error("the effects are too long");
        }
        pull_back_through(program, step, number, shift);
        for (; insertion != question_.insertions.end() && insertion->step == number; ++insertion)
            kept_insertions_.push_back(
                static_cast<int64_t>(keep(insertion->factors, insertion->signs, insertion->records)));
    });
    for (const SparseRow& effect : z_effects_) note_stabilizer(effect);
    stabilizer_rows_.assign(stabilizers_.begin(), stabilizers_.end());
    stabilizers_.clear();
    record_effects_ = {};
}

void EffectSweep::pull_back_through(const Program& program, const CircuitStep& step, int64_t number, const Shift& shift) {
    const Factors factors = program.factors(step);
    switch (step.kind) {
        case CircuitStepKind::clifford:
            pull_back_through_gate(program.gate(step), program.targets(step));
            break;
        case CircuitStepKind::noise: {
            if (!question_.with_noise) break;
            const int64_t herald = step.record < 0 ? -1 : step.record + shift.records;
            const auto targets = program.targets(step);
            add_noise(program.channel(step), targets, step.group_size, herald);
            if (question_.with_faults) add_faults(program.channel(step), targets, step.group_size, herald, number);
            break;
        }
        case CircuitStepKind::correlated_error: {
            if (!question_.with_noise) break;
            const size_t kept = keep(factors, {}, {});
            links_.chains.push_back(step.number);
            links_.kept.push_back(static_cast<int64_t>(kept));
            links_.probabilities.push_back(step.probability);
            if (question_.with_faults && step.probability > 0) add_fault(number, 0, 0, factors, -1);
            break;
        }
        case CircuitStepKind::measure: {
            const auto record = static_cast<size_t>(step.record + shift.records);
            if (step.number >= 0 && question_.with_noise) {
                generators_ = {&record_effects_[record]};
                add_patterns(program.channel(step));
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
                flip_by_records(program.records(step), shift, static_cast<size_t>(step.number + shift.detectors));
            break;
        case CircuitStepKind::observable:
            if (!question_.by_records) {
                const size_t output = program.num_detectors + static_cast<size_t>(step.number);
                flip_by_anticommuting(factors, static_cast<int32_t>(output));
                flip_by_records(program.records(step), shift, output);
            }
            break;
        case CircuitStepKind::expectation:
            flip_by_anticommuting(factors, static_cast<int32_t>(--expectation_));
            break;
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

void EffectSweep::note_stabilizer(SparseRow effect) {
    if (!question_.with_noise || effect.empty()) return;
    const auto [place, is_new] = stabilizers_.insert(std::move(effect));
    if (is_new) check_bytes(place->size() * sizeof(int32_t));
}

void EffectSweep::check_bytes(uint64_t more) {
    record_bytes_ += more;
    if (record_bytes_ + rates_.bytes() + sites_.rows.bits.size() * sizeof(int32_t) > max_bytes_) throw std::bad_alloc();
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
    const std::span<const int64_t> records{&record, record < 0 ? size_t{0} : size_t{1}};
    faults_.kept.push_back(static_cast<int64_t>(keep(factors, {}, records)));
    faults_.steps.push_back(step);
    faults_.groups.push_back(static_cast<int64_t>(group));
    faults_.patterns.push_back(static_cast<int64_t>(pattern));
    faults_.records.push_back(record);
}

const SparseRow& EffectSweep::effect_of_pattern(uint64_t pattern) {
    pattern_sum_.clear();
    for (size_t k = 0; k < generators_.size(); ++k)
        if ((pattern >> k & 1) != 0) flip(pattern_sum_, *generators_[k]);
    return pattern_sum_;
}

void EffectSweep::add_patterns(const ChannelTables& channel) {
    if (std::ranges::all_of(generators_, [](const SparseRow* row) { return row->empty(); })) return;
    if (channel.constant != 0) flip(constant_, effect_of_pattern(channel.constant));
    for (const auto& [pattern, rate] : channel.rates) rates_.add(effect_of_pattern(pattern), rate);
    if (channel.site.empty()) return;
    std::vector<std::pair<SparseRow, double>> choices;
    for (const auto& [pattern, probability] : channel.site) choices.emplace_back(effect_of_pattern(pattern), probability);
    add_site(choices);
}

void EffectSweep::add_site(const std::vector<std::pair<SparseRow, double>>& choices) {
    std::map<SparseRow, size_t> places;
    const size_t first = sites_.rows.size();
    for (const auto& [effect, probability] : choices) {
        if (effect.empty()) continue;
        const auto [place, is_new] = places.try_emplace(effect, sites_.rows.size());
        if (is_new) {
            sites_.rows.append(effect);
            sites_.probabilities.push_back(0.0);
            sites_.numbers.push_back(sites_.count);
        }
        sites_.probabilities[place->second] += probability;
    }
    sites_.count += sites_.rows.size() > first;
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

void EffectSweep::flip_by_records(std::span<const int64_t> records, const Shift& shift, size_t output) {
    const auto bit = static_cast<int32_t>(output);
    for (const int64_t source : records) flip(record_effects_[static_cast<size_t>(source + shift.records)], {&bit, 1});
    check_bytes(records.size() * sizeof bit);
}

void EffectSweep::flip_by_anticommuting(Factors factors, int32_t bit) {
    for (const auto& [qubit, code] : factors) {
        if ((code & z_part) != 0) flip(x_effects_[qubit], {&bit, 1});
        if ((code & x_part) != 0) flip(z_effects_[qubit], {&bit, 1});
    }
    check_bytes(factors.size() * sizeof bit);
}

size_t EffectSweep::keep(Factors factors, std::span<const int32_t> signs, std::span<const int64_t> records) {
    SparseRow effect = effect_of(factors);
    std::vector<int32_t> sorted(signs.begin(), signs.end());
    std::ranges::sort(sorted, std::greater{});
    SparseRow flipped;
    for (const int32_t sign : sorted) {
        // A sign that is listed twice is not flipped.
        if (!flipped.empty() && flipped.back() == sign)
            flipped.pop_back();
        else
            flipped.push_back(sign);
    }
    flip(effect, flipped);
    for (const int64_t record : records) flip(effect, record_effects_[static_cast<size_t>(record)]);
    check_bytes(effect.size() * sizeof(int32_t));
    kept_.push_back(std::move(effect));
    return kept_.size() - 1;
}

void EffectSweep::add_choices(int64_t constant, std::span<const std::pair<int64_t, double>> choices) {
    const SparseRow nothing;
    const SparseRow& always = constant < 0 ? nothing : kept_[static_cast<size_t>(constant)];
    flip(constant_, always);
    std::vector<std::pair<SparseRow, double>> found;
    for (const auto& [number, probability] : choices) {
        SparseRow effect = always;
        if (number >= 0) flip(effect, kept_[static_cast<size_t>(number)]);
        found.emplace_back(std::move(effect), probability);
    }
    add_site(found);
}

int64_t EffectSweep::fix_signs(std::span<const std::pair<int32_t, size_t>> free_signs) {
    if (free_signs.empty()) return -1;
    for (const auto& [sign, number] : free_signs) choices_.add_sign(sign);
    // An effect flips free signs from its own on, so that the later choices are fixed first. Then no choice has another
    // free sign, and a row is fixed by the choices of the free signs that it has.
    for (size_t k = free_signs.size(); k-- > 0;) {
        const auto& [sign, number] = free_signs[k];
        SparseRow effect = kept_[number];
        const auto first =
            std::find_if(effect.rbegin(), effect.rend(), [&](int32_t bit) { return choices_.contains(bit); });
        if (first == effect.rend() || *first != sign) return static_cast<int64_t>(k);
        choices_.set(sign, choices_.fixed(effect));
    }
    constant_ = choices_.fixed(constant_);
    RowSums rates;
    for (size_t k = 0; k < rates_.rows().size(); ++k) rates.add(choices_.fixed(rates_.rows()[k]), rates_.sums()[k]);
    rates_ = std::move(rates);
    const Sites before = std::exchange(sites_, {});
    for (size_t k = 0; k < before.numbers.size();) {
        std::vector<std::pair<SparseRow, double>> choices;
        const int32_t site = before.numbers[k];
        for (; k < before.numbers.size() && before.numbers[k] == site; ++k)
            choices.emplace_back(choices_.fixed(before.rows[k]), before.probabilities[k]);
        add_site(choices);
    }
    for (SparseRow& effect : kept_) effect = choices_.fixed(effect);
    for (SparseRow& effect : stabilizer_rows_) effect = choices_.fixed(effect);
    return -1;
}

EffectSweep::Noise EffectSweep::noise() const {
    Noise noise{ascending(sites_.rows, ascending(rates_.rows())), rates_.sums(), std::vector<int32_t>(rates_.sums().size(), -1)};
    noise.rates.insert(noise.rates.end(), sites_.probabilities.begin(), sites_.probabilities.end());
    noise.sites.insert(noise.sites.end(), sites_.numbers.begin(), sites_.numbers.end());
    return noise;
}

SparseRows EffectSweep::kept() const { return ascending(kept_); }

SparseRows EffectSweep::stabilizers() const { return ascending(stabilizer_rows_); }

template <typename Rows>
SparseRows EffectSweep::ascending(const Rows& rows, SparseRows after) {
    for (size_t k = 0; k < rows.size(); ++k) after.append(SparseRow(rows[k].rbegin(), rows[k].rend()));
    return after;
}

}  // namespace snc
