#include "simulation/path_simulation.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/not_a_number.h"

namespace snc {

namespace {

// Coefficients that are read between two polls for interruptions.
constexpr uint64_t coefficients_per_poll = uint64_t{1} << 16;

// The largest squared norm of a vector: far from the largest double, even when squared.
constexpr double max_norm = 1e100;

// Limit for the stored vectors of the path of signature 0.
constexpr size_t max_prefix_bytes = size_t{64} << 20;

// The expectation value of a Pauli, from the probability that its measurement gives 1. As for outcomes, what rounding can have
// done is undone.
double expectation(double probability_of_one, double rounding) {
    const double found = 1 - 2 * probability_of_one;
    if (std::abs(found) < rounding) return 0;
    return std::abs(found) > 1 - rounding ? std::copysign(1.0, found) : found;
}

}  // namespace

PathSimulation::PathSimulation(const Plan& plan, const Kernels& kernels, std::function<void()> interrupted, bool has_vector)
    : plan_(plan),
      kernels_(kernels),
      interrupted_(std::move(interrupted)),
      elimination_(has_vector ? nullptr : plan.elimination.get()),
      vector_(elimination_ != nullptr ? 0 : vector_size(plan.steps.widest)),
      state_{.row = BranchRow(plan)},
      shared_(std::make_shared<Shared>()),
      difference_(plan, true) {
    auto& [operations_up_to, checking, first_with, prefix] = *shared_;
    operations_up_to.resize(plan.num_outcomes);
    first_with.assign(size_t{64} * plan.sign_words, static_cast<uint32_t>(plan.operations.size()));
    for (size_t k = plan.operations.size(); k-- > 0;)
        plan.for_each_sign(plan.operations[k], [&](size_t sign) { first_with[sign] = static_cast<uint32_t>(k); });
    for (uint32_t outcome = 0; outcome < plan.num_outcomes; ++outcome)
        if (plan.final_checks.has_ones(outcome)) checking.push_back(outcome);
    for (size_t k = 0; k < num_path_steps(); ++k)
        if (const int32_t outcome = outcome_of_step(k); outcome >= 0) operations_up_to[static_cast<size_t>(outcome)] = begin_of_step(k + 1);
    save_prefix();
}

PathSimulation::PathSimulation(const PathSimulation& other, std::function<void()> interrupted)
    : plan_(other.plan_),
      kernels_(other.kernels_),
      interrupted_(std::move(interrupted)),
      elimination_(other.elimination_),
      vector_(other.vector_.size()),
      state_{.row = BranchRow(plan_)},
      shared_(other.shared_),
      difference_(plan_, true) {}

void PathSimulation::choose(std::span<const uint64_t> signature) {
    difference_ = BranchRow(plan_, true);
    difference_.add_signature(signature.data());
    agreeing_ = plan_.operations.size();
    for_each_one(difference_.words().data(), plan_.sign_words,
                 [&](uint32_t bit) { agreeing_ = std::min<size_t>(agreeing_, shared_->first_with[bit]); });
}

void PathSimulation::start() {
    // At the last checkpoint of the path of signature 0 that is shared.
    const auto begin_of = [&](const Checkpoint& checkpoint) { return begin_of_step(checkpoint.state.progress.step); };
    const auto after = std::ranges::upper_bound(shared_->prefix, agreeing_, {}, begin_of);
    if (after != shared_->prefix.begin()) {
        // If a check has fired on the way, the rest of the state does not matter.
        if (!resume(*(after - 1))) state_.progress.left = false;
        return;
    }
    state_.progress = {0, true};
    state_.row = BranchRow(plan_);
    state_.row.add(difference_);
    state_.values.clear();
    if (elimination_ != nullptr) {
        state_.elimination = EliminationState(*elimination_);
        return;
    }
    state_.norm = 1;
    state_.angles.resize(plan_.steps.num_slots);
    lies_in_ = vector_.data();
    std::fill_n(vector_.data(), vector_size(0), 0.0);
    vector_.data()[0] = 1;
}

PathSimulation::Stop PathSimulation::start_at_zero_signature() {
    choose(std::vector<uint64_t>(plan_.layout.signature_words, 0));
    start();
    return advance();
}

bool PathSimulation::resume(const Checkpoint& zero_checkpoint) {
    state_ = zero_checkpoint.state;
    state_.row.add(difference_);
    state_.progress.left = true;
    for (const uint32_t outcome : shared_->checking) {
        if (operations_up_to(static_cast<int32_t>(outcome)) > operations_made()) break;
        if (!state_.row.passing(outcome)) return false;
    }
    lies_in_ = zero_checkpoint.vector.data();
    return true;
}

PathSimulation::Checkpoint PathSimulation::shared_checkpoint() const {
    Checkpoint checkpoint = here();
    checkpoint.state.row.add(difference_);
    checkpoint.state.progress.left = true;
    return checkpoint;
}

PathSimulation::Checkpoint PathSimulation::here() const {
    return {state_, AlignedDoubles(lies_in_, vector_size_before(state_.progress.step))};
}

double* PathSimulation::own_vector() {
    if (lies_in_ != vector_.data()) std::copy_n(lies_in_, vector_size_before(state_.progress.step), vector_.data());
    lies_in_ = vector_.data();
    return vector_.data();
}

size_t PathSimulation::checkpoint_bytes() const { return bytes_of(state_, vector_size_before(state_.progress.step)); }

size_t PathSimulation::bytes_of(const State& state, size_t vector_size) {
    return sizeof(Checkpoint) + state.row.words().size() * sizeof(uint64_t) + state.angles.size() * sizeof(Angle) +
           (state.values.size() + vector_size) * sizeof(double) + state.elimination.bytes();
}

void PathSimulation::go_to(const Checkpoint& checkpoint) {
    state_ = checkpoint.state;
    lies_in_ = checkpoint.vector.data();
}

size_t PathSimulation::begin_of_step(size_t step) const {
    if (step >= num_path_steps()) return plan_.operations.size();
    if (elimination_ == nullptr) return plan_.steps.steps[step].begin;
    return step == 0 ? 0 : elimination_->steps[step - 1].end_operation;
}

std::vector<bool> PathSimulation::steps_that_may_differ() const {
    std::vector<bool> signs(size_t{64} * plan_.branch_words);
    for (uint32_t bit = 0; bit < plan_.layout.num_signature_bits; ++bit)
        plan_.signature_images.for_each_one(bit, [&](uint32_t one) { signs[one] = true; });
    std::vector<bool> found(num_path_steps());
    size_t end = 0;
    for (size_t k = 0; k < found.size(); ++k)
        for (size_t begin = std::exchange(end, begin_of_step(k + 1)); begin < end; ++begin)
            plan_.for_each_sign(plan_.operations[begin], [&](size_t sign) {
                if (signs[sign] && shared_->first_with[sign] == begin) found[k] = true;
            });
    return found;
}

void PathSimulation::save_prefix() {
    const std::vector<bool> may_differ = steps_that_may_differ();
    choose(std::vector<uint64_t>(plan_.layout.signature_words, 0));
    start();
    // A checkpoint at every `stride` steps in which signs begin to differ, and at the last step: all of them, unless they could take
    // too much memory.
    size_t bytes = 0, left_out = 0;
    for (size_t k = 0; k < may_differ.size(); ++k)
        if (may_differ[k]) bytes += bytes_of(state_, vector_size_before(k));
    const size_t stride = bytes / max_prefix_bytes + 1;
    known_ = nullptr;
    uint32_t& number = state_.progress.step;
    with_vector([&](auto& vector) {
        while (number < may_differ.size() && checkpoint_bytes() <= max_prefix_bytes) {
            const auto& step = vector.step(number);
            State before = state_;
            const bool is_added = may_differ[number] && ++left_out % stride == 0;
            if (is_added) shared_->prefix.push_back(here());
            vector.begin(step);
            if (!step.measures()) {
                vector.apply(step);
                ++number;
                continue;
            }
            vector.weigh(step);
            if (!is_certain()) {
                if (!is_added) shared_->prefix.push_back({std::move(before), here().vector});
                break;
            }
            take(likely_outcome());
        }
    });
}

PathSimulation::Stop PathSimulation::advance(const Stop* known) {
    known_ = known;
    return with_vector([&](auto& vector) -> Stop {
        int32_t outcome = snc::advance(vector, state_.progress);
        for (; outcome >= 0 && is_certain(); outcome = snc::advance(vector, state_.progress))
            snc::take(vector, vector.step(state_.progress.step), state_.row, state_.progress, likely_outcome());
        return {outcome >= 0 ? state_.probability_of_one : 0, outcome};
    });
}

VectorRotation PathSimulation::rotation_of(const Operation& operation) const {
    VectorRotation rotation = pauli_of_rotation(operation);
    const Angle sum =
        sum_of_angles(&plan_.terms[size_t(operation.first_term)], static_cast<uint32_t>(operation.end_term - operation.first_term),
                      [&](int32_t sign) { return state_.row.has(sign); });
    rotation.cosine = sum.cosine;
    rotation.sine = sum.sine;
    return rotation;
}

VectorRotation PathSimulation::scaled_rotation_of(const Operation& operation) {
    VectorRotation rotation = rotation_of(operation);
    if (std::abs(rotation.cosine) >= std::abs(rotation.sine) && state_.norm < max_norm) {
        state_.norm /= rotation.cosine * rotation.cosine;
        rotation.sine /= rotation.cosine;
        rotation.cosine = 1;
    } else {
        const double scale = 1 / std::sqrt(state_.norm);
        rotation.cosine *= scale;
        rotation.sine *= scale;
        state_.norm = 1;
    }
    return rotation;
}

void PathSimulation::rotate(const SimulationStep& step) {
    rotations_.clear();
    for (const uint32_t k : step.rotations) rotations_.push_back(scaled_rotation_of(plan_.operations[k]));
    const uint64_t size = uint64_t{1} << step.width_before;
    work_.note_pass(size, size, 4 * rotations_.size());
    work_.steps += rotations_.size() - 1;
    kernels_.coefficients.rotate(own_vector(), rotations_);
}

void PathSimulation::absorb(const SimulationStep& step) {
    for (const Absorption& absorption : step.absorptions) {
        const VectorRotation sum = rotation_of(plan_.operations[absorption.operation]);
        const Angle added{sum.cosine, sum.i_power == 2 ? -sum.sine : sum.sine};
        Angle& angle = state_.angles[absorption.slot];
        angle = absorption.is_new ? added : angle + added;
    }
}

const Phases& PathSimulation::phases_of(const SimulationStep& step, bool inverse_squares) {
    constexpr size_t row_size = size_t{2} << index_lane_bits, half = row_size / 2;
    rows_.resize(row_size * step.product.total_rows);
    phases_.width_before = step.width_before;
    phases_.width_after = step.width_after;
    phases_.num_groups = static_cast<uint32_t>(step.product.groups.size());
    phases_.columns = step.product.columns.data();
    phases_.rows_of_first = step.product.num_rows.front();
    double* rows = rows_.data();
    for (size_t g = 0; g < step.product.groups.size(); ++g) {
        phases_.rows[g] = rows;
        std::fill_n(rows, half, 1.0);
        std::fill_n(rows + half, half, 0.0);
        size_t num_rows = 1;
        for (const PhaseProduct::Factor& factor : step.product.groups[g]) {
            Angle angle = state_.angles[factor.slot];
            if (inverse_squares) {
                angle = angle + angle;
                angle.sine = -angle.sine;
            }
            kernels_.multiply_rows(rows, num_rows, factor.adds_parity, factor.parities, factor.z, angle.cosine, angle.sine);
            if (factor.adds_parity) num_rows *= 2;
        }
        rows += row_size * num_rows;
    }
    return phases_;
}

void PathSimulation::normalize(int32_t width) {
    const double scale = 1 / std::sqrt(std::exchange(state_.norm, 1));
    for (double& part : std::span(own_vector(), vector_size(width))) part *= scale;
}

void PathSimulation::begin(const SimulationStep& step) {
    if (work_.coefficients_read + work_.steps >= next_poll_) {
        next_poll_ = work_.coefficients_read + work_.steps + coefficients_per_poll;
        interrupted_();
    }
    absorb(step);
    ++work_.steps;
}

void PathSimulation::apply(const SimulationStep& step) {
    const Operation& operation = plan_.operations[step.operation];
    const uint64_t size = uint64_t{1} << step.width_before, size_after = uint64_t{1} << step.width_after;
    switch (step.kind) {
        case SimulationStep::Kind::rotate:
            return rotate(step);
        case SimulationStep::Kind::activate:
            work_.note_pass(size, size_after, 8);
            kernels_.coefficients.activate(own_vector(), rotation_of(operation));
            return;
        case SimulationStep::Kind::apply_phases:
            work_.note_pass(size, size_after, 6 * step.product.groups.size() * (size_after / size));
            kernels_.coefficients.apply_phases(own_vector(), phases_of(step, false));
            state_.norm = std::ldexp(state_.norm, step.width_after - step.width_before);
            return;
        default:  // an EXPECT
            weigh(step);
            state_.values.push_back(expectation(state_.probability_of_one, rounding_of(step)));
    }
}

void PathSimulation::weigh(const SimulationStep& step) {
    const Operation& measurement = plan_.operations[step.operation];
    const uint64_t size = uint64_t{1} << step.width_before, size_after = uint64_t{1} << step.width_after;
    if (step.kind == SimulationStep::Kind::measure) {
        work_.note_pass(size, 0, 6);
        state_.weights = kernels_.coefficients.outcome_weights(lies_in_, measurement);
    } else {
        const Phases& phases = phases_of(step, true);
        if (known_ != nullptr && step.outcome == known_->outcome) {
            state_.probability_of_one = known_->probability_of_one;
            return;
        }
        work_.note_pass(size, 0, (6 * step.product.groups.size() + 4) * (size_after / size) / 2 + 3);
        state_.weights = kernels_.coefficients.weights_through(lies_in_, phases, measurement);
    }
    state_.probability_of_one = state_.weights.one / (state_.weights.zero + state_.weights.one);
    check_probability(state_.probability_of_one, step.operation);
}

void PathSimulation::take(bool outcome) {
    with_vector([&](auto& vector) { snc::take(vector, vector.step(state_.progress.step), state_.row, state_.progress, outcome); });
}

void PathSimulation::project(const SimulationStep& step, bool outcome) {
    const Operation& measurement = plan_.operations[step.operation];
    const double weight = outcome ? state_.weights.one : state_.weights.zero;
    const double* const from = std::exchange(lies_in_, vector_.data());
    double* const to = vector_.data();
    const bool goes_through = step.kind == SimulationStep::Kind::measure_through;
    const uint64_t size = uint64_t{1} << step.width_before, size_left = (uint64_t{1} << step.width_after) / 2;
    const uint64_t num_groups = step.product.groups.size();
    work_.note_pass(size, size_left, goes_through ? (6 * num_groups + 6) * size_left / size : 3);
    const double old_norm = std::exchange(state_.norm, 1);
    if (goes_through) {
        kernels_.coefficients.project_through(from, to, phases_, measurement, outcome);
        // Computed from the probability alone, so that a repeated simulation rounds like the first one.
        const double probability = outcome ? state_.probability_of_one : 1 - state_.probability_of_one;
        state_.norm = old_norm * std::ldexp(probability, 1 + step.width_after - step.width_before);
        if (state_.norm > max_norm || state_.norm < 1 / max_norm) normalize(step.width_after - 1);
    } else {
        kernels_.coefficients.project(from, to, measurement, outcome, weight);
    }
    for (const auto& [into, from] : step.merged) state_.angles[into] = state_.angles[into] + state_.angles[from];
}

}  // namespace snc
