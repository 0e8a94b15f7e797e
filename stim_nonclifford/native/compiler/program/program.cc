#include "compiler/program/program.h"

#include <algorithm>
#include <numeric>
#include <stdexcept>

namespace snc {

bool anticommute(Factors a, Factors b) {
    if (a.size() < b.size()) std::swap(a, b);
    // With few factors a search takes less time than sorting.
    constexpr size_t few = 8;
    size_t differences = 0;
    if (b.size() <= few) {
        for (const auto& [qubit, code] : a)
            for (const auto& other : b) differences += other.qubit == qubit && other.code != code;
        return differences % 2 != 0;
    }
    std::vector<QubitPauli> sorted(b.begin(), b.end());
    std::ranges::sort(sorted, {}, &QubitPauli::qubit);
    for (const auto& [qubit, code] : a) {
        const auto other = std::ranges::lower_bound(sorted, qubit, {}, &QubitPauli::qubit);
        differences += other != sorted.end() && other->qubit == qubit && other->code != code;
    }
    return differences % 2 != 0;
}

size_t Program::add_gate(GateTables gate) {
    check_gate(gate);
    gates_.push_back(std::move(gate));
    return gates_.size() - 1;
}

size_t Program::add_channel(ChannelTables channel) {
    check(channel);
    channels_.push_back(std::move(channel));
    return channels_.size() - 1;
}

void Program::add_step(CircuitStep step, std::span<const uint32_t> targets, Factors factors, std::span<const int64_t> records) {
    const auto append = [](auto& all, const auto& added, uint32_t& first, uint32_t& end) {
        if (all.size() + added.size() > UINT32_MAX) throw std::length_error("the circuit has too many targets");
        first = static_cast<uint32_t>(all.size());
        all.insert(all.end(), added.begin(), added.end());
        end = static_cast<uint32_t>(all.size());
    };
    append(targets_, targets, step.first, step.end);
    append(factors_, factors, step.first_factor, step.end_factor);
    append(records_, records, step.first_record, step.end_record);
    check(step);
    steps_.push_back(step);
    reach_.emplace_back();
}

void Program::add_loop(size_t first, size_t end, uint64_t repetitions, Shift shift) {
    check_loop(first, end, repetitions, shift);
    loops_.push_back({first, end, repetitions, shift});
    loops_.back().size = size_of(first, end, loops_.size() - 1);
}

size_t Program::size_of(size_t first, size_t end, size_t num_loops) const {
    size_t total = end - first;
    for (const size_t k : outermost(first, end, num_loops))
        total += loops_[k].repetitions * loops_[k].size - (loops_[k].end - loops_[k].first);
    return total;
}

std::vector<size_t> Program::outermost(size_t first, size_t end, size_t num_loops) const {
    std::vector<size_t> found;
    for (size_t k = num_loops, before = end; k-- > 0 && loops_[k].end > first;) {
        if (loops_[k].end > before || loops_[k].first < first) continue;
        found.push_back(k);
        before = loops_[k].first;
    }
    return found;
}

std::vector<Program::OuterLoop> Program::outer_loops() const {
    std::vector<OuterLoop> found;
    std::vector<size_t> outer = outermost(0, steps_.size(), loops_.size());
    std::ranges::reverse(outer);
    size_t place = 0;
    int64_t number = 0;
    for (const size_t k : outer) {
        const Loop& loop = loops_[k];
        const int64_t first = number + static_cast<int64_t>(loop.first - place);
        number = first + static_cast<int64_t>(loop.repetitions * loop.size);
        found.push_back({first, number, loop.repetitions});
        place = loop.end;
    }
    return found;
}

size_t Program::size() const { return size_of(0, steps_.size(), loops_.size()); }

size_t Program::num_expectations() const {
    const auto is_expectation = [](const CircuitStep& step) { return step.kind == CircuitStepKind::expectation; };
    size_t count = 0;
    if (std::ranges::any_of(steps_, is_expectation))
        forward([&](const CircuitStep& step, int64_t, const Shift&) { count += is_expectation(step) ? 1 : 0; });
    return count;
}

std::vector<int32_t> Program::odd_outputs(std::span<const uint8_t> values) const {
    std::vector<bool> is_odd(num_detectors + num_observables);
    forward([&](const CircuitStep& step, int64_t, const Shift& shift) {
        if (step.kind != CircuitStepKind::detector && step.kind != CircuitStepKind::observable) return;
        const bool is_detector = step.kind == CircuitStepKind::detector;
        const size_t output =
            static_cast<size_t>(step.number) + (is_detector ? static_cast<size_t>(shift.detectors) : num_detectors);
        for (const int64_t record : records(step))
            if (values[static_cast<size_t>(record + shift.records)] != 0) is_odd[output] = !is_odd[output];
    });
    std::vector<int32_t> found;
    for (size_t output = 0; output < is_odd.size(); ++output)
        if (is_odd[output]) found.push_back(static_cast<int32_t>(output));
    return found;
}

std::vector<std::vector<uint32_t>> Program::connected_qubits() const {
    std::vector<uint32_t> parents(num_qubits);
    std::iota(parents.begin(), parents.end(), 0U);
    const auto root = [&](uint32_t qubit) {
        while (parents[qubit] != qubit) qubit = parents[qubit] = parents[parents[qubit]];
        return qubit;
    };
    const auto connect = [&](uint32_t a, uint32_t b) {
        const uint32_t first = root(a), second = root(b);
        parents[std::max(first, second)] = std::min(first, second);
    };
    for (const CircuitStep& step : steps_) {
        if (step.kind == CircuitStepKind::clifford) {
            const size_t size = gate(step).num_targets;
            const auto qubits = targets(step);
            for (size_t k = 0; k < qubits.size(); ++k)
                if (k % size != 0) connect(qubits[k - k % size], qubits[k]);
        } else if (step.kind == CircuitStepKind::measure || step.kind == CircuitStepKind::rotate ||
                   step.kind == CircuitStepKind::expectation) {
            for (const QubitPauli& factor : factors(step)) connect(factors(step)[0].qubit, factor.qubit);
        }
    }
    std::vector<std::vector<uint32_t>> patches;
    std::vector<size_t> patch_of(num_qubits, SIZE_MAX);
    for (uint32_t qubit = 0; qubit < num_qubits; ++qubit) {
        size_t& patch = patch_of[root(qubit)];
        if (patch == SIZE_MAX) {
            patch = patches.size();
            patches.emplace_back();
        }
        patches[patch].push_back(qubit);
    }
    return patches;
}

}  // namespace snc
