#include "device/device_steps.h"

#include <algorithm>
#include <bit>
#include <new>
#include <stdexcept>

#include "plan/steps/simulation_steps.h"

namespace snc {

namespace {

// A thread holds the coefficients that the rotations of a pass mix in its registers: there is nothing to set up.
constexpr StepRules device_step_rules{
    .min_width_with_phases = 0,
    .min_width_for_groups = 0,
    // One generator is left for the measurement after the pass.
    .max_growth = max_span - 1,
    .groups = {
        .lane_bits = 0,
        .max_rotations = max_pass_rotations,
        .max_masks = max_span,
    },
    // A phase costs two multiply-adds for each coefficient, a look-up in a table costs more instructions.
    .passes_measure = true,
};

// The largest number of rotations between two MEASUREs that may leave the norm unnormalized: each one at most doubles the
// squared norm.
constexpr size_t max_unit_rotations = 512;

// The generators of the masks that a pass flips, in the order of their highest bits, and their sums: bit j of a sum's number is
// whether it has generator j.
class PassMasks {
   public:
    explicit PassMasks(const MaskSpan& span) : generators_(span.generators()), sums_(size_t{1} << span.size()) {
        std::ranges::sort(generators_);
        for (size_t e = 1; e < sums_.size(); ++e) sums_[e] = sums_[e & (e - 1)] ^ generators_[static_cast<size_t>(std::countr_zero(e))];
    }

    const std::vector<uint64_t>& generators() const { return generators_; }
    // The number of the sum that a mask is.
    uint32_t combination(uint64_t mask) const { return static_cast<uint32_t>(std::ranges::find(sums_, mask) - sums_.begin()); }
    // For each sum, as bits, whether it is odd with z.
    uint32_t odd_with(uint64_t z) const {
        uint32_t bits = 0;
        for (size_t e = 0; e < sums_.size(); ++e) bits |= uint32_t{is_odd(sums_[e] & z)} << e;
        return bits;
    }

   private:
    std::vector<uint64_t> generators_, sums_;
};

class Translation {
   public:
    explicit Translation(const Plan& plan) : plan_(plan) {}

    DeviceSteps translate() {
        if (!plan_.operations.has_vector()) throw std::bad_alloc();
        const StepList list = find_steps(plan_.operations, device_step_rules);
        absorbed_.resize(list.num_slots);
        result_.vector_width = static_cast<uint32_t>(list.widest);
        for (size_t k = 0; k < list.steps.size(); ++k)
            add(list.steps[k], k + 1 < list.steps.size() ? &list.steps[k + 1] : nullptr);
        finish_segment();
        return std::move(result_);
    }

   private:
    void add(const SimulationStep& step, const SimulationStep* next) {
        for (const Absorption& absorption : step.absorptions) {
            std::vector<uint32_t>& operations = absorbed_[absorption.slot];
            if (absorption.is_new) operations.clear();
            operations.push_back(absorption.operation);
        }
        using enum SimulationStep::Kind;
        switch (step.kind) {
            case rotate:
            case apply_phases:
                add_pass(step, next != nullptr && next->is_summed ? next : nullptr);
                return;
            case activate:
                add_activation(step);
                return;
            case weakly_measure:
            case measure:
                add_measurement(step);
                return;
            case measure_through:
                throw std::logic_error("The rules allow no such step.");
        }
    }

    // `measurement`: the one whose weights the pass sums, or null.
    void add_pass(const SimulationStep& step, const SimulationStep* measurement) {
        const PassMasks masks(step.masks);
        Step pass = started(StepKind::rotate, step);
        pass.grown = static_cast<uint32_t>(step.width_after - step.width_before);
        pass.span = static_cast<uint32_t>(masks.generators().size());
        std::ranges::copy(masks.generators(), pass.generators);
        if (step.projects) {
            pass.projects = 1;
            pass.projected_flips = masks.combination(result_.steps.back().x);
            pass.projected_odd = masks.odd_with(result_.steps.back().z);
        }
        if (measurement != nullptr) {
            pass.sums = 1;
            const Step summed = measured(*measurement);
            pass.summed_flips = masks.combination(summed.x);
            pass.summed_odd = masks.odd_with(summed.z);
        }
        const auto turn = [&](Rotation& rotation, uint64_t x, uint64_t z) {
            rotation.z = static_cast<uint32_t>(z);
            rotation.flips = masks.combination(x);
            rotation.odd = masks.odd_with(z);
            rotation.unit = 1;
        };
        for (const uint32_t k : step.rotations) {
            const VectorRotation pauli = pauli_of_rotation(plan_.operations[k]);
            turn(add_rotation(pauli.i_power, {k}), pauli.x, pauli.z);
        }
        for (const Phase& phase : step.phases) turn(add_rotation(0, absorbed_[phase.slot]), 0, phase.z);
        finish(pass);
    }

    void add_activation(const SimulationStep& step) {
        Step activation = started(StepKind::activate, step);
        activation.x = static_cast<uint32_t>(plan_.operations[step.operation].x);
        add_rotation(0, {step.operation});
        finish(activation);
    }

    // The measurement of the stored vector, without the coordinate that a weak one activates.
    Step measured(const SimulationStep& simulated) const {
        const Operation& measurement = plan_.operations[simulated.operation];
        const bool is_weak = simulated.kind == SimulationStep::Kind::weakly_measure;
        Step step = started(is_weak ? StepKind::weak_measure : StepKind::measure, simulated);
        step.x = static_cast<uint32_t>(flips_of(simulated, measurement));
        step.z = static_cast<uint32_t>(measurement.z & ~(uint64_t{is_weak} << measurement.pivot));
        // The activated coordinate is 1 at the partner.
        step.i_power = measurement.i_power ^ (step.z == measurement.z ? 0 : 2);
        step.pivot = measurement.pivot;
        step.outcome = measurement.outcome;
        step.is_summed = simulated.is_summed;
        step.has_checks = plan_.final_checks.has_ones(static_cast<size_t>(measurement.outcome));
        return step;
    }

    void add_measurement(const SimulationStep& simulated) {
        Step step = measured(simulated);
        if (step.kind == StepKind::weak_measure) add_rotation(0, {simulated.operation - 1});
        finish(step);
        finish_segment();
    }

    Step started(StepKind kind, const SimulationStep& simulated) const {
        Step step{};
        step.kind = kind;
        step.width = static_cast<uint32_t>(simulated.width_before);
        step.first_rotation = static_cast<uint32_t>(result_.rotations.size());
        return step;
    }
    void finish(Step& step) {
        step.end_rotation = static_cast<uint32_t>(result_.rotations.size());
        result_.steps.push_back(step);
    }

    // A rotation by the sum of the angles of operations. An i_power of 0 makes all Paulis positive.
    Rotation& add_rotation(int32_t i_power, const std::vector<uint32_t>& operations) {
        Rotation rotation{};
        rotation.i_power = i_power;
        rotation.first_term = static_cast<uint32_t>(result_.terms.size());
        for (const uint32_t k : operations) {
            const Operation& operation = plan_.operations[k];
            const bool is_negative = i_power == 0 && pauli_of_rotation(operation).i_power == 2;
            for (int32_t t = operation.first_term; t < operation.end_term; ++t) {
                RotationTerm term = plan_.terms[static_cast<size_t>(t)];
                if (is_negative) term.sine = -term.sine;
                result_.terms.push_back(term);
            }
        }
        rotation.end_term = static_cast<uint32_t>(result_.terms.size());
        return result_.rotations.emplace_back(rotation);
    }

    void finish_segment() {
        for (size_t k = segment_steps_; k < result_.steps.size(); ++k)
            result_.steps[k].angles_end = static_cast<uint32_t>(result_.rotations.size());
        if (result_.rotations.size() - segment_rotations_ > max_unit_rotations)
            for (size_t k = segment_rotations_; k < result_.rotations.size(); ++k) result_.rotations[k].unit = 0;
        segment_steps_ = result_.steps.size();
        segment_rotations_ = result_.rotations.size();
    }

    const Plan& plan_;
    DeviceSteps result_;
    std::vector<std::vector<uint32_t>> absorbed_;  // for each slot, the operations of its phase
    size_t segment_steps_ = 0, segment_rotations_ = 0;
};

}  // namespace

DeviceSteps device_steps(const Plan& plan) {
    return Translation(plan).translate();
}

}  // namespace snc
