#include "simulation/batch_simulation.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "base/not_a_number.h"
#include "kernels/shared/driver.h"

namespace snc {

namespace {

// A wider vector alone fills the SIMD registers and the cache.
constexpr int32_t max_width = 8;

constexpr size_t block_size = 2 * batch_shots;  // real and imaginary parts

// Multiplications and additions for a table of phases.
uint64_t flops_of(const PhaseProduct& product) {
    uint64_t sum = 0;
    for (const auto& group : product.groups)
        for (const PhaseProduct::Factor& factor : group) sum += uint64_t{6} << std::bit_width(factor.z);
    return sum;
}

}  // namespace

BatchSimulation::BatchSimulation(const Plan& plan, const Kernels& kernels, std::function<void()> interrupted)
    : plan_(plan),
      kernels_(kernels.batch),
      interrupted_(std::move(interrupted)),
      rows_(plan),
      vector_(block_size << max_width),
      branches_(block_size << (max_width + 1)),
      table_(block_size << max_width),
      angles_(block_size * plan.steps.num_slots),
      outputs_(size_t{batch_shots} * plan.layout.output_words) {}

BatchSimulation::Rows::Rows(const Plan& plan) : plan_(plan), constant_(size_t{64} * plan.branch_words) {
    for_each_one(plan.branch_constant.data(), plan.branch_words, [&](uint32_t bit) { constant_[bit] = 0xFF; });
}

bool BatchSimulation::suits(const Plan& plan) {
    return !plan.elimination && std::ranges::all_of(plan.steps.steps, [](const SimulationStep& step) { return step.width_after <= max_width; });
}

void BatchSimulation::run(std::span<Shot> shots) {
    end_step_ = plan_.steps.steps.size();
    start(shots);
    finish(shots);
}

BatchSimulation::Suspended BatchSimulation::begun(std::vector<Shot> shots) {
    start(shots);
    Suspended batch{std::move(shots), {}, {}, {}, {}};
    suspend(batch);
    return batch;
}

void BatchSimulation::go_on(Suspended& batch, size_t end_step) {
    end_step_ = end_step;
    num_shots_ = batch.shots.size();
    progress_ = batch.progress;
    for (auto& path : paths_) path.clear();
    rows_.start_at(batch.rows);
    std::ranges::copy(batch.vector, vector_.begin());
    std::ranges::copy(batch.angles, angles_.begin());
    finish(batch.shots);
    suspend(batch);
}

void BatchSimulation::suspend(Suspended& batch) const {
    const auto& steps = plan_.steps.steps;
    const size_t size = progress_.step < steps.size() ? block_size << steps[progress_.step].width_before : 0;
    batch.progress = progress_;
    batch.rows = rows_.all();
    batch.vector.assign(vector_.begin(), vector_.begin() + static_cast<std::ptrdiff_t>(size));
    batch.angles = angles_;
}

void BatchSimulation::finish(std::span<Shot> shots) {
    for (int32_t outcome = advance(*this, progress_); outcome >= 0; outcome = advance(*this, progress_))
        take(*this, step(progress_.step), rows_, progress_, decide(outcome, shots));
    collect_outputs();
}

void BatchSimulation::start(std::span<const Shot> shots) {
    num_shots_ = shots.size();
    progress_ = {0, (uint64_t{1} << num_shots_) - 1};
    for (auto& path : paths_) path.clear();
    rows_.start();
    for (uint32_t k = 0; k < shots.size(); ++k)
        add_signature(rows_, shots[k].signature.data(), plan_.layout.signature_words, uint64_t{1} << k);
    std::fill_n(vector_.begin(), batch_shots, 1.0);
    std::fill_n(vector_.begin() + batch_shots, batch_shots, 0.0);
}

void BatchSimulation::sum_angles(const Operation& operation) {
    const auto count = static_cast<size_t>(operation.end_term - operation.first_term);
    kernels_.sum_angles(sum_.data(), &plan_.terms[size_t(operation.first_term)], count, rows_.set());
}

void BatchSimulation::absorb(const SimulationStep& step) {
    for (const Absorption& absorption : step.absorptions) {
        const Operation& operation = plan_.operations[absorption.operation];
        sum_angles(operation);
        kernels_.add_angle(&angles_[block_size * absorption.slot], sum_.data(), absorption.is_new,
                           pauli_of_rotation(operation).i_power == 2);
    }
}

void BatchSimulation::begin(const SimulationStep& step) {
    constexpr uint32_t steps_per_poll = 256;
    if (progress_.step % steps_per_poll == 0) interrupted_();
    work_.steps += num_shots_;
    absorb(step);
}

void BatchSimulation::note_pass(const SimulationStep& step, uint64_t written, uint64_t flops) {
    work_.coefficients_read += num_shots_ << step.width_before;
    work_.coefficients_written += num_shots_ * written;
    work_.flops += num_shots_ * flops;
}

void BatchSimulation::apply(const SimulationStep& step) {
    const Operation& operation = plan_.operations[step.operation];
    const uint64_t size = uint64_t{1} << step.width_before, size_after = uint64_t{1} << step.width_after;
    if (step.kind == SimulationStep::Kind::apply_phases) {
        note_pass(step, size_after, flops_of(step.product) + 6 * size_after);
        kernels_.phases(table_.data(), step.width_after, step.product, angles_.data(), false);
        kernels_.apply_phases(vector_.data(), table_.data(), step.width_before, step.width_after);
        return;
    }
    sum_angles(operation);
    if (step.kind == SimulationStep::Kind::rotate) {
        note_pass(step, size, 8 * size);
        kernels_.rotate(vector_.data(), operation, sum_.data());
    } else {
        note_pass(step, size_after, (operation.x == 0 ? 12 : 4) * size);
        kernels_.activate(vector_.data(), pauli_of_rotation(operation), sum_.data());
    }
}

void BatchSimulation::weigh(const SimulationStep& step) {
    const Operation& measurement = plan_.operations[step.operation];
    const uint64_t size_left = (uint64_t{1} << step.width_after) / 2;
    if (step.kind == SimulationStep::Kind::measure) {
        note_pass(step, size_left, (measurement.x == 0 ? 10 : 16) * size_left);
        kernels_.measure(vector_.data(), measurement, branches_.data(), weights_.data());
    } else {
        note_pass(step, size_left, flops_of(step.product) + 22 * size_left);
        kernels_.phases(table_.data(), step.width_after, step.product, angles_.data(), true);
        kernels_.measure_through(vector_.data(), table_.data(), step.width_before, step.width_after, measurement, branches_.data(),
                                 weights_.data());
    }
}

void BatchSimulation::project(const SimulationStep& step, uint64_t ones) {
    kernels_.take(vector_.data(), branches_.data(), (uint64_t{1} << step.width_after) / 2, ones, weights_.data());
    for (const auto& [into, from] : step.merged)
        kernels_.add_angle(&angles_[block_size * into], &angles_[block_size * from], false, false);
}

uint64_t BatchSimulation::decide(int32_t outcome, std::span<Shot> shots) {
    uint64_t ones = 0;
    for (uint32_t k = 0; k < batch_shots; ++k) {
        const double probability_of_one = weights_[2 * batch_shots + k];
        bool is_one = probability_of_one > 0.5;
        if ((progress_.left >> k & 1) != 0 && !(probability_of_one < certain || probability_of_one > 1 - certain)) {
            check_probability(probability_of_one, plan_.steps.steps[progress_.step].operation);
            is_one = shots[k].decisions.decide(probability_of_one, outcome);
            paths_[k].push_back({{probability_of_one, outcome}, is_one});
        }
        ones |= uint64_t{is_one} << k;
    }
    return ones;
}

void BatchSimulation::collect_outputs() {
    const uint8_t* const set = rows_.set() + size_t{64} * plan_.sign_words;
    std::ranges::fill(outputs_, 0);
    for (uint32_t output = 0; output < plan_.layout.num_outputs; ++output)
        for (uint32_t shots = set[output]; shots != 0; shots &= shots - 1)
            outputs_[static_cast<size_t>(std::countr_zero(shots)) * plan_.layout.output_words + output / 64] |= uint64_t{1} << (output % 64);
}

}  // namespace snc
