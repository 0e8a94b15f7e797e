#include "engine/outcome_passes.h"

#include <algorithm>

#include "plan/plan.h"

namespace snc {

namespace {

// The number of steps after which no outcome flips any of these outputs, [words of the outputs].
size_t end_step(const Plan& plan, const uint64_t* outputs) {
    const uint32_t first = 64 * plan.sign_words;
    size_t end = plan.steps.steps.size();
    for (bool flips = false; end > 0; --end) {
        const SimulationStep& step = plan.steps.steps[end - 1];
        if (!step.measures()) continue;
        plan.outcome_effects.for_each_one(static_cast<uint32_t>(step.outcome), [&](uint32_t bit) {
            if (bit >= first) flips |= (outputs[(bit - first) / 64] >> (bit % 64) & 1) != 0;
        });
        if (flips) break;
    }
    return end;
}

}  // namespace

bool OutcomePasses::suits(const Plan& plan, const std::vector<uint64_t>& read, const std::vector<uint64_t>& bits) {
    if (!BatchSimulation::suits(plan) || plan.num_outcome_checks != 0) return false;
    const size_t words = plan.layout.signature_words, output_words = plan.layout.output_words;
    std::vector<bool> changes(size_t{64} * plan.sign_words);
    size_t begin = 0;
    bool found = true;
    for (size_t pass = 0; pass * output_words < read.size(); ++pass) {
        begin = std::max(begin, end_step(plan, read.data() + pass * output_words));
        const auto end = begin < plan.steps.steps.size() ? plan.steps.steps[begin].begin : plan.operations.size();
        changes.assign(changes.size(), false);
        for_each_one(bits.data() + pass * words, static_cast<uint32_t>(words), [&](uint32_t bit) {
            plan.signature_images.for_each_one(bit, [&](uint32_t one) {
                if (one < changes.size()) changes[one] = true;
            });
        });
        for (size_t k = 0; k < end; ++k)
            plan.for_each_sign(plan.operations[k], [&](size_t sign) { found = found && !changes[sign]; });
    }
    return found;
}

OutcomePasses::OutcomePasses(Engine& engine, const std::vector<uint64_t>& signatures, const std::vector<uint64_t>& numbers,
                             uint64_t seed, const std::function<void()>& poll)
    : engine_(engine), num_shots_(numbers.size()), batches_((numbers.size() + batch_shots - 1) / batch_shots) {
    const size_t words = engine.plan().layout.signature_words;
    engine.for_each_part(batches_.size(), poll, [&](OutcomeLaws& laws, size_t batch) {
        std::vector<BatchSimulation::Shot> shots;
        const size_t begin = batch * batch_shots, end = std::min(begin + batch_shots, numbers.size());
        for (size_t k = begin; k < end; ++k)
            shots.push_back({{signatures.data() + k * words, words}, {seed, numbers[k], engine.plan().separate_draws}});
        batches_[batch] = laws.begun(std::move(shots));
    });
}

std::vector<uint64_t> OutcomePasses::draw(const std::vector<uint64_t>& read, const std::function<void()>& poll) {
    const size_t end = end_step(engine_.plan(), read.data()), words = engine_.plan().layout.output_words;
    std::vector<uint64_t> found(num_shots_ * words);
    engine_.for_each_part(batches_.size(), poll, [&](OutcomeLaws& laws, size_t batch) {
        BatchSimulation& simulation = laws.batch();
        simulation.go_on(batches_[batch], end);
        const size_t begin = batch * batch_shots;
        for (uint32_t k = 0; k < batches_[batch].shots.size(); ++k)
            std::copy_n(simulation.outputs(k), words, found.data() + (begin + k) * words);
    });
    return found;
}

void OutcomePasses::flip(const std::vector<uint64_t>& bits) {
    const Plan& plan = engine_.plan();
    const uint32_t words = plan.layout.signature_words;
    for (size_t shot = 0; shot < num_shots_; ++shot) {
        std::vector<uint8_t>& rows = batches_[shot / batch_shots].rows;
        const auto mask = static_cast<uint8_t>(1U << (shot % batch_shots));
        for_each_one(bits.data() + shot * words, words, [&](uint32_t bit) {
            plan.signature_images.for_each_one(bit, [&](uint32_t one) { rows[one] ^= mask; });
        });
    }
}

}  // namespace snc
