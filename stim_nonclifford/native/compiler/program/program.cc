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

GateTables GateTables::of(size_t num_targets, std::span<const RowView> images) {
    GateTables gate{num_targets, {}, std::vector<std::vector<uint32_t>>(2 * num_targets)};
    const auto sign = static_cast<int32_t>(2 * num_targets);
    for (uint32_t generator = 0; generator < images.size(); ++generator) {
        GeneratorImage& image = gate.inverse.emplace_back();
        for (const int32_t factor : images[generator]) {
            const auto number = static_cast<uint32_t>(factor);
            if (factor == sign) {
                image.is_negative = true;
                continue;
            }
            if (image.factors.empty() || image.factors.back().qubit != number / 2) image.factors.push_back({number / 2, 0});
            image.factors.back().code |= 1U << number % 2;
            // Generators 2k and 2k+1 anticommute. So this one's partner is in the image of the factor's partner under the gate.
            gate.pullback[number ^ 1].push_back(generator ^ 1);
        }
    }
    bool changes = false;
    for (uint32_t generator = 0; generator < gate.pullback.size(); ++generator) {
        std::ranges::sort(gate.pullback[generator]);
        changes |= gate.pullback[generator] != std::vector{generator};
    }
    if (!changes) gate.pullback.clear();
    return gate;
}

Program::Program(ProgramParts parts)
    : num_qubits(parts.num_qubits),
      num_records(parts.num_records),
      num_detectors(parts.num_detectors),
      num_observables(parts.num_observables),
      parts_(std::move(parts)) {
    check_parts();
    add_gates();
    for (const CircuitStep& step : parts_.steps) check(step);
    std::vector<Shift> reach(parts_.steps.size());
    for (size_t k = 0; k < parts_.loops.size(); ++k) {
        check_loop(k, reach);
        loop_sizes_.push_back(size_of(parts_.loops[k].first, parts_.loops[k].end, k));
    }
}

size_t Program::size_of(size_t first, size_t end, size_t num_loops) const {
    size_t total = end - first;
    for (const size_t k : outermost(first, end, num_loops))
        total += parts_.loops[k].repetitions * loop_sizes_[k] - (parts_.loops[k].end - parts_.loops[k].first);
    return total;
}

std::vector<size_t> Program::outermost(size_t first, size_t end, size_t num_loops) const {
    std::vector<size_t> found;
    for (size_t k = num_loops, before = end; k-- > 0 && parts_.loops[k].end > first;) {
        if (parts_.loops[k].end > before || parts_.loops[k].first < first) continue;
        found.push_back(k);
        before = parts_.loops[k].first;
    }
    return found;
}

std::vector<Program::OuterLoop> Program::outer_loops() const {
    std::vector<OuterLoop> found;
    std::vector<size_t> outer = outermost(0, parts_.steps.size(), parts_.loops.size());
    std::ranges::reverse(outer);
    size_t place = 0;
    int64_t number = 0;
    for (const size_t k : outer) {
        const CircuitLoop& loop = parts_.loops[k];
        const int64_t first = number + static_cast<int64_t>(loop.first - place);
        number = first + static_cast<int64_t>(loop.repetitions * loop_sizes_[k]);
        found.push_back({first, number, loop.repetitions});
        place = loop.end;
    }
    return found;
}

size_t Program::size() const { return size_of(0, parts_.steps.size(), parts_.loops.size()); }

size_t Program::count(CircuitStepKind kind) const {
    const auto is_counted = [kind](const CircuitStep& step) { return step.kind == kind; };
    size_t count = 0;
    if (std::ranges::any_of(parts_.steps, is_counted))
        forward([&](const CircuitStep& step, int64_t, const Shift&) { count += is_counted(step) ? 1 : 0; });
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
    for (const CircuitStep& step : parts_.steps) {
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
