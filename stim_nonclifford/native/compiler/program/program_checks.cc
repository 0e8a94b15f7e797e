// Checks of the parts of a program.
#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <span>
#include <stdexcept>

#include "base/argument_checks.h"
#include "compiler/program/program.h"

namespace snc {

namespace {

// A pattern has two bits for each target of a channel, and one for a herald.
constexpr size_t max_channel_targets = 31;
constexpr uint64_t max_size = uint64_t{1} << 48;

// a * b, or more than max_size.
uint64_t product(uint64_t a, uint64_t b) { return b != 0 && a > max_size / b ? max_size + 1 : a * b; }

}  // namespace

void Program::check_parts() const {
    // The bits of effects are numbered by int32.
    constexpr size_t end = size_t{1} << 30;
    for (const size_t number : {num_qubits, num_records, num_detectors, num_observables})
        require(number < end, "The numbers of qubits, records, detectors and observables must be below 2^30.");
    for (const Channel& channel : parts_.channels) {
        require(channel.first_rate <= channel.first_choice && channel.first_choice <= channel.end && channel.end <= parts_.choices.size(),
                "The choices of a channel must be some of all choices.");
        for (const auto& [pattern, rate] : part(parts_.choices, channel.first_rate, channel.first_choice))
            require_not_negative(std::array{rate}, "The rates of a channel");
        for (const auto& [pattern, probability] : part(parts_.choices, channel.first_choice, channel.end))
            require(is_probability(probability), "The probabilities of a channel must be from 0 to 1.");
    }
    require_rows(parts_.images.starts, parts_.images.bits, INT32_MAX, "images");
}

void Program::add_gates() {
    constexpr uint32_t max_targets = 64;
    size_t row = 0;
    for (const uint32_t size : parts_.gate_sizes) {
        require(size >= 1 && size <= max_targets, "A gate must have from 1 to 64 targets.");
        std::vector<RowView> images;
        for (; images.size() < 2 * size; ++row) {
            require(row < parts_.images.size(), "There must be an image of each generator of each gate.");
            images.push_back(parts_.images[row]);
            require_range(images.back(), 0, 2 * int64_t{size} + 1, "Generators in images");
            require(std::ranges::adjacent_find(images.back(), std::ranges::greater_equal{}) == images.back().end(), "Images must ascend.");
        }
        gates_.push_back(GateTables::of(size, images));
    }
}

void Program::check_factors(Factors factors) const {
    for (const auto& [qubit, code] : factors)
        require(qubit < num_qubits && code >= 1 && code <= 3, "The factors of a Pauli must be X, Z or Y (1, 2, 3) on qubits of the program.");
}

void Program::check_records(std::span<const int64_t> records) const {
    require_range(records, 0, static_cast<int64_t>(num_records), "Records");
}

void Program::check_targets(const CircuitStep& step, size_t group_size) const {
    const auto qubits = targets(step);
    if (qubits.empty()) return;
    require(step.group_size == group_size && qubits.size() % group_size == 0, "The groups of targets must have the size of the gate.");
    for (const uint32_t qubit : qubits) require(qubit < num_qubits, "Targets must be qubits of the program.");
}

void Program::check(const CircuitStep& step) const {
    const auto is_part = [](uint32_t first, uint32_t end, size_t size) { return first <= end && end <= size; };
    require(is_part(step.first, step.end, parts_.targets.size()) && is_part(step.first_factor, step.end_factor, parts_.factors.size()) &&
                is_part(step.first_record, step.end_record, parts_.records.size()),
            "The targets, factors and records of a step must be some of those of the program.");
    const Factors on = factors(step);
    check_factors(on);
    check_records(records(step));
    require(std::isfinite(step.amount) && (step.kind == CircuitStepKind::rotate || is_probability(step.amount)) && is_probability(step.second_amount),
            "The probabilities of correlated errors, relaxation and leakage must be from 0 to 1.");
    require(step.is_inverted <= 1 && step.resets <= 1, "The flags of steps must be 0 or 1.");
    const auto require_one = [&] { require(on.size() == 1, "The step must be on one qubit."); };
    const auto is_channel = [&](uint64_t num_bits) {
        if (step.number < 0 || static_cast<size_t>(step.number) >= parts_.channels.size()) return false;
        const ChannelTables& of_step = channel(step);
        uint64_t all = of_step.constant;
        for (const auto* choices : {&of_step.rates, &of_step.site})
            for (const auto& [pattern, _] : *choices) all |= pattern;
        return num_bits >= 64 || all >> num_bits == 0;
    };
    const bool is_spread = step.kind == CircuitStepKind::leakage_spread || step.kind == CircuitStepKind::leaked_flip;
    const bool is_from_ones = step.kind == CircuitStepKind::leaking_from_ones;
    switch (step.kind) {
        case CircuitStepKind::clifford:
            require(step.number >= 0 && static_cast<size_t>(step.number) < gates_.size(), "There is no such gate.");
            check_targets(step, gate(step).num_targets);
            break;
        case CircuitStepKind::rotate:
        case CircuitStepKind::correlated_error:
        case CircuitStepKind::expectation:
            break;
        case CircuitStepKind::measure:
            check_records(std::array{step.record});
            require(step.number == -1 || is_channel(1), "There is no such channel of readout noise, of one bit.");
            if (step.resets) require_one();
            break;
        case CircuitStepKind::reset:
            require_one();
            break;
        case CircuitStepKind::feedback:
            require_one();
            check_records(std::array{step.record});
            break;
        case CircuitStepKind::noise:
            require(step.group_size >= 1 && step.group_size <= max_channel_targets, "A channel must have from 1 to 31 targets.");
            check_targets(step, step.group_size);
            require(step.record >= -1 && last_record(step) < static_cast<int64_t>(num_records), "The heralds must be records of the program.");
            require(is_channel(targets(step).empty() ? 64 : 2 * uint64_t{step.group_size} + (step.record >= 0)), "There is no such channel for so many targets.");
            break;
        case CircuitStepKind::detector:
            require(step.number >= 0 && static_cast<size_t>(step.number) < num_detectors, "There is no such detector.");
            break;
        case CircuitStepKind::observable:
            require(step.number >= 0 && static_cast<size_t>(step.number) < num_observables, "There is no such observable.");
            break;
        case CircuitStepKind::misreading:
            check_records(std::array{step.record});
            break;
        case CircuitStepKind::relaxation:
        case CircuitStepKind::leaking:
        case CircuitStepKind::leakage_return:
        case CircuitStepKind::leakage_spread:
        case CircuitStepKind::leakage_herald:
        case CircuitStepKind::leaked_flip:
        case CircuitStepKind::meeting:
        case CircuitStepKind::absence:
        case CircuitStepKind::leaking_from_ones:
            require(!targets(step).empty() && (!is_spread || targets(step).size() == 2) && (!is_from_ones || targets(step).size() <= 2),
                    "The step must be on some qubits.");
            for (const uint32_t qubit : targets(step)) require(qubit < num_qubits, "Targets must be qubits of the program.");
            if (step.kind == CircuitStepKind::leakage_herald) check_records(std::array{step.record});
            break;
        case CircuitStepKind::turn:
            require_one();
            break;
        case CircuitStepKind::skip:
        case CircuitStepKind::end_block:
            break;
        case CircuitStepKind::begin_attempts:
        case CircuitStepKind::accept:
            require(step.record >= 0 && static_cast<size_t>(step.record) <= num_records && step.number >= 0 &&
                        static_cast<size_t>(step.number) <= num_detectors,
                    "Attempts must be among the records and detectors of the program.");
            break;
        default:
            throw std::invalid_argument("There is no such kind of step.");
    }
}

int64_t Program::last_record(const CircuitStep& step) const {
    int64_t last = -1;
    for (const int64_t record : records(step)) last = std::max(last, record);
    if (step.record < 0) return last;
    if (step.kind == CircuitStepKind::begin_attempts || step.kind == CircuitStepKind::accept) return step.record - 1;
    const size_t heralds = step.kind == CircuitStepKind::noise ? (step.end - step.first) / step.group_size : 1;
    if (step.record > static_cast<int64_t>(num_records)) return step.record;
    return std::max(last, step.record + static_cast<int64_t>(heralds) - 1);
}

void Program::check_loop(size_t k, std::vector<Shift>& reach) const {
    const auto& [first, end, repetitions, shift] = parts_.loops[k];
    require(first <= end && end <= parts_.steps.size(), "A loop must be of stored steps.");
    require(repetitions >= 1, "A loop must have repetitions.");
    require(shift.records >= 0 && shift.detectors >= 0, "A loop must not go back to earlier records or detectors.");
    for (size_t inner = k; inner-- > 0 && parts_.loops[inner].end > first;)
        require(parts_.loops[inner].end <= end && parts_.loops[inner].first >= first, "Loops must be nested, and inner loops come first.");
    require(product(size_of(first, end, k), repetitions) < max_size, "The program has too many steps.");
    require(shift.chains >= 0 && static_cast<uint64_t>(shift.chains) <= size_of(first, end, k), "An iteration has at most as many chains of errors as steps.");
    const uint64_t more_records = product(static_cast<uint64_t>(shift.records), repetitions - 1);
    const uint64_t more_detectors = product(static_cast<uint64_t>(shift.detectors), repetitions - 1);
    require(more_records <= num_records && more_detectors <= num_detectors, "The loop has more records or detectors than the program.");
    for (size_t place = first; place < end; ++place) {
        const CircuitStep& step = parts_.steps[place];
        reach[place].records += static_cast<int64_t>(more_records);
        reach[place].detectors += static_cast<int64_t>(more_detectors);
        const int64_t last = last_record(step);
        require(last < 0 || last + reach[place].records < static_cast<int64_t>(num_records), "The last iterations of a loop have records beyond those of the program.");
        require(step.kind != CircuitStepKind::detector || step.number + reach[place].detectors < static_cast<int64_t>(num_detectors),
                "The last iterations of a loop have detectors beyond those of the program.");
    }
}

}  // namespace snc
