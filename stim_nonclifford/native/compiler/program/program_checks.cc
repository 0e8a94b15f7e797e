// Checks of the parts of a program.
#include <algorithm>
#include <array>
#include <string>

#include "base/argument_checks.h"
#include "compiler/program/program.h"

namespace snc {

namespace {

constexpr size_t max_gate_targets = 64;
// A pattern has two bits for each target of a channel, and one for a herald.
constexpr size_t max_channel_targets = 31;
constexpr uint64_t max_size = uint64_t{1} << 48;

// a * b, or more than max_size.
uint64_t product(uint64_t a, uint64_t b) { return b != 0 && a > max_size / b ? max_size + 1 : a * b; }

}  // namespace

Program::Program(size_t num_qubits, size_t num_records, size_t num_detectors, size_t num_observables)
    : num_qubits(num_qubits), num_records(num_records), num_detectors(num_detectors), num_observables(num_observables) {
    // The bits of effects are numbered by int32.
    constexpr size_t end = size_t{1} << 30;
    for (const size_t number : {num_qubits, num_records, num_detectors, num_observables})
        require(number < end, "The numbers of qubits, records, detectors and observables must be below 2^30.");
}

void Program::check_factors(Factors factors) const {
    for (const auto& [qubit, code] : factors)
        require(qubit < num_qubits && code >= 1 && code <= 3, "The factors of a Pauli must be X, Z or Y (1, 2, 3) on qubits of the program.");
}

void Program::check_records(std::span<const int64_t> records) const {
    require_range(records, 0, static_cast<int64_t>(num_records), "Records");
}

void check_gate(const GateTables& gate) {
    const size_t size = gate.num_targets;
    require(size >= 1 && size <= max_gate_targets, "A gate must have from 1 to 64 targets.");
    require(gate.pullback.empty() || gate.pullback.size() == 2 * size, "pullback must be empty, or have a list for each generator.");
    for (const auto& generators : gate.pullback)
        for (const uint32_t generator : generators) require(generator < 2 * size, "pullback must have numbers of generators.");
    require(gate.inverse.size() == 2 * size, "inverse must have an image of each generator.");
    for (const GeneratorImage& image : gate.inverse)
        for (const auto& [place, code] : image.factors)
            require(place < size && code >= 1 && code <= 3, "inverse must have Paulis X, Z or Y (1, 2, 3) on targets.");
}

void Program::check(const ChannelTables& channel) const {
    for (const auto& [pattern, rate] : channel.rates) require_not_negative(std::array{rate}, "The rates of a channel");
    for (const auto& [pattern, probability] : channel.site)
        require(is_probability(probability), "The probabilities of a channel must be from 0 to 1.");
}

void Program::check_targets(const CircuitStep& step, size_t group_size) const {
    const auto qubits = targets(step);
    if (qubits.empty()) return;
    require(step.group_size == group_size && qubits.size() % group_size == 0, "The groups of targets must have the size of the gate.");
    for (const uint32_t qubit : qubits) require(qubit < num_qubits, "Targets must be qubits of the program.");
}

void Program::check(const CircuitStep& step) const {
    const Factors on = factors(step);
    check_factors(on);
    check_records(records(step));
    const auto require_one = [&] { require(on.size() == 1, "The step must be on one qubit."); };
    const auto is_channel = [&](uint64_t num_bits) {
        if (step.number < 0 || static_cast<size_t>(step.number) >= channels_.size()) return false;
        const ChannelTables& of_step = channel(step);
        uint64_t all = of_step.constant;
        for (const auto* choices : {&of_step.rates, &of_step.site})
            for (const auto& [pattern, _] : *choices) all |= pattern;
        return num_bits >= 64 || all >> num_bits == 0;
    };
    switch (step.kind) {
        case CircuitStepKind::clifford:
            require(step.number >= 0 && static_cast<size_t>(step.number) < gates_.size(), "There is no such gate.");
            check_targets(step, gate(step).num_targets);
            break;
        case CircuitStepKind::rotate:
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
        case CircuitStepKind::correlated_error:
            require(is_probability(step.probability), "The probability of a correlated error must be from 0 to 1.");
            break;
        case CircuitStepKind::detector:
            require(step.number >= 0 && static_cast<size_t>(step.number) < num_detectors, "There is no such detector.");
            break;
        case CircuitStepKind::observable:
            require(step.number >= 0 && static_cast<size_t>(step.number) < num_observables, "There is no such observable.");
            break;
    }
}

int64_t Program::last_record(const CircuitStep& step) const {
    int64_t last = -1;
    for (const int64_t record : records(step)) last = std::max(last, record);
    if (step.record < 0) return last;
    const size_t heralds = step.kind == CircuitStepKind::noise ? (step.end - step.first) / step.group_size : 1;
    if (step.record > static_cast<int64_t>(num_records)) return step.record;
    return std::max(last, step.record + static_cast<int64_t>(heralds) - 1);
}

void Program::check_loop(size_t first, size_t end, uint64_t repetitions, Shift shift) {
    require(first <= end && end <= steps_.size(), "A loop must be of stored steps.");
    require(repetitions >= 1, "A loop must have repetitions.");
    require(shift.records >= 0 && shift.detectors >= 0, "A loop must not go back to earlier records or detectors.");
    for (size_t k = loops_.size(); k-- > 0 && loops_[k].end > first;)
        require(loops_[k].end <= end && loops_[k].first >= first, "Loops must be nested, and inner loops come first.");
    require(product(size_of(first, end, loops_.size()), repetitions) < max_size, "The program has too many steps.");
    const uint64_t records = product(static_cast<uint64_t>(shift.records), repetitions - 1);
    const uint64_t detectors = product(static_cast<uint64_t>(shift.detectors), repetitions - 1);
    require(records <= num_records && detectors <= num_detectors, "The loop has more records or detectors than the program.");
    for (size_t k = first; k < end; ++k) {
        reach_[k].records += static_cast<int64_t>(records);
        reach_[k].detectors += static_cast<int64_t>(detectors);
        const int64_t last = last_record(steps_[k]);
        require(last < 0 || last + reach_[k].records < static_cast<int64_t>(num_records), "The last iterations of a loop have records beyond those of the program.");
        require(steps_[k].kind != CircuitStepKind::detector || steps_[k].number + reach_[k].detectors < static_cast<int64_t>(num_detectors),
                "The last iterations of a loop have detectors beyond those of the program.");
    }
}

}  // namespace snc
