#include "plan/steps/simulation_steps.h"

#include <algorithm>
#include <bit>
#include <optional>
#include <utility>

namespace snc {

namespace {

// Phases are applied before the stored vector has fewer than this many coordinates, because tables cover whole blocks.
constexpr int32_t min_measured_width = 4;

bool anticommutes(const Phase& phase, const Operation& measurement) {
    return (std::popcount(phase.z & measurement.x) & 1) != 0;
}

// Whether an operation needs the probabilities of outcomes.
bool reads(const Operation& operation) { return operation.measures() || operation.kind == Kind::expect; }

class StepFinder {
   public:
    StepFinder(const OperationList& operations, const StepRules& rules)
        : operations_(operations), rules_(rules), next_change_(operations.size()) {
        // For each operation, the next one that is not diagonal.
        auto change = static_cast<uint32_t>(operations.size());
        for (uint32_t k = change; k-- > 0;) {
            if (reads(operations[k]) || operations[k].x != 0) change = k;
            next_change_[k] = change;
        }
    }

    StepList find() {
        for (uint32_t k = 0; k < operations_.size(); ++k) add(k);
        make_run();
        list_.widest = std::max(list_.widest, stored_);
        return std::move(list_);
    }

   private:
    void add(uint32_t k) {
        const Operation& operation = operations_[k];
        const bool stays_narrow =
            phases_.empty() && stored_ == width_ && operation.width < rules_.min_width_with_phases - 1;
        switch (operation.kind) {
            case Kind::measure:
            case Kind::expect:
                if (k == 0 || !are_joined(k - 1)) measure(k);
                return;
            case Kind::activate:
                if (are_joined(k)) {
                    make_phases(width_);
                    add_step(SimulationStep::Kind::weakly_measure, k + 1, k + 2).outcome = operations_[k + 1].outcome;
                    return;
                }
                ++width_;
                if (operation.x == 0 && !stays_narrow && is_deferred(k)) return absorb(k);
                make_phases(width_ - 1);
                activate(k);
                return;
            case Kind::rotate:
                if (operation.x != 0) make_phases(width_);
                if (operation.x == 0 && !stays_narrow && is_deferred(k)) {
                    absorb(k);
                } else if (stored_ >= rules_.min_width_for_groups) {
                    run_.push_back(k);
                    run_end_ = k + 1;
                } else {
                    add_step(SimulationStep::Kind::rotate, k, k + 1).rotations = {k};
                }
                return;
        }
    }

    // Whether this operation and the next one are one step.
    bool are_joined(uint32_t k) const { return rules_.passes_measure && operations_.measure_weakly(k); }

    void activate(uint32_t k) {
        add_step(SimulationStep::Kind::activate, k, k + 1).width_after = width_;
        stored_ = width_;
        list_.widest = std::max(list_.widest, stored_);
    }

    // Whether a diagonal operation becomes a phase.
    bool is_deferred(uint32_t k) const {
        const bool before_rotation = next_change_[k] < operations_.size() && !reads(operations_[next_change_[k]]);
        if (!rules_.passes_measure) return !before_rotation;
        // A phase takes as long as a rotation. It is for the pass that activates a coordinate, or that comes before a
        // measurement.
        if (operations_[k].kind == Kind::activate || stored_ < width_) return true;
        return run_.empty() && !before_rotation;
    }

    void measure(uint32_t k) {
        const Operation& measurement = operations_[k];
        const bool activates_pivot = measurement.pivot >= stored_;
        if (measurement.x == 0 || (stored_ < width_ && !activates_pivot) || width_ <= min_measured_width ||
            rules_.passes_measure)
            make_phases(width_);
        while (width_ - stored_ > rules_.max_growth) make_phases(next_width_before(width_));
        if (stored_ < width_ && measurement.pivot < stored_) make_phases(width_);
        const bool needs_phases =
            std::ranges::any_of(phases_, [&](const Phase& phase) { return anticommutes(phase, measurement); });
        std::optional<PhaseProduct> product;
        if (needs_phases) {
            product = product_for(measurement);
            if (!product) make_phases(width_);
        }
        const bool through = product.has_value();
        SimulationStep& step = add_step(through ? SimulationStep::Kind::measure_through : SimulationStep::Kind::measure, k, k + 1);
        step.width_after = width_;
        if (through) step.product = *std::move(product);
        if (!measurement.measures()) return;
        step.outcome = measurement.outcome;
        stored_ = --width_;
        list_.widest = std::max(list_.widest, stored_);
        drop_bit(measurement.pivot, step);
    }

    // The phases that a measurement needs; nothing if they do not fit, or if the measurement cannot use them.
    std::optional<PhaseProduct> product_for(const Operation& measurement) const {
        if (measurement.pivot < index_lane_bits || stored_ < index_lane_bits) return std::nullopt;
        PhaseProductBuilder builder(width_);
        for (const Phase& phase : phases_)
            if (anticommutes(phase, measurement) && !builder.add(phase)) return std::nullopt;
        return builder.product();
    }

    // An index without the pivot's bit stands for the entry whose pivot bit is 0.
    void drop_bit(int32_t pivot, SimulationStep& step) {
        std::vector<Phase> left;
        for (const Phase& phase : phases_) {
            const uint64_t z = without_bit(phase.z, pivot);
            if (z == 0) continue;
            const auto equal = std::ranges::find(left, z, &Phase::z);
            if (equal == left.end())
                left.push_back({phase.slot, z});
            else
                step.merged.emplace_back(equal->slot, phase.slot);
        }
        phases_ = std::move(left);
    }

    void absorb(uint32_t k) {
        make_run();
        const uint64_t z = pauli_of_rotation(operations_[k]).z;
        const auto equal = std::ranges::find(phases_, z, &Phase::z);
        const bool is_new = equal == phases_.end();
        const uint32_t slot = is_new ? list_.num_slots++ : equal->slot;
        if (is_new) phases_.push_back({slot, z});
        absorptions_.push_back({slot, k, is_new});
        absorbed_ = k + 1;
    }

    // The width after the next growth, the first of those that end at `width`.
    int32_t next_width_before(int32_t width) const {
        return width - rules_.max_growth * (std::max(width - stored_ - 1, 0) / rules_.max_growth);
    }

    // Applies the phases of the coordinates below `width`, and adds these coordinates to the stored vector.
    void make_phases(int32_t width) {
        while (stored_ < width || std::ranges::any_of(phases_, [&](const Phase& p) { return p.z >> width == 0; })) {
            const int32_t to = next_width_before(width);
            PhaseProductBuilder builder(to);
            std::vector<Phase> made, left;
            const auto has_room_for = [&](const Phase& phase) {
                return rules_.passes_measure ? made.size() < rules_.groups.max_rotations : builder.add(phase);
            };
            for (const Phase& phase : phases_) (phase.z >> to == 0 && has_room_for(phase) ? made : left).push_back(phase);
            SimulationStep& step = add_step(SimulationStep::Kind::apply_phases, 0, 0);
            step.width_after = to;
            step.phases = std::move(made);
            if (rules_.passes_measure)
                join_pass(step);
            else
                step.product = builder.product();
            phases_ = std::move(left);
            stored_ = to;
            list_.widest = std::max(list_.widest, stored_);
        }
    }

    // Adds the collected rotations of a long vector, in groups.
    void make_run() {
        const std::vector<uint32_t> run = std::exchange(run_, {});
        const uint64_t first_mask = run.empty() ? 0 : projected_mask();
        for (std::vector<uint32_t>& group : group_rotations(operations_, run, rules_.groups, first_mask)) {
            SimulationStep& step = add_step(SimulationStep::Kind::rotate, group.front(), run_end_);
            step.rotations = std::move(group);
            if (rules_.passes_measure) join_pass(step);
        }
    }

    // What the next pass flips if it projects on the outcome of the weak measurement before it; else 0.
    uint64_t projected_mask() const {
        if (!rules_.passes_measure || list_.steps.empty()) return 0;
        const SimulationStep& last = list_.steps.back();
        return last.kind == SimulationStep::Kind::weakly_measure ? flips_of(last, operations_[last.operation]) : 0;
    }

    // Lets a new pass, the last step, make the projection of the weak measurement before it, if there is room.
    void join_pass(SimulationStep& pass) {
        for (int32_t bit = pass.width_before; bit < pass.width_after; ++bit) pass.masks.add(uint64_t{1} << bit);
        for (const uint32_t k : pass.rotations) pass.masks.add(operations_[k].x);
        if (list_.steps.size() < 2) return;
        const SimulationStep& before = list_.steps[list_.steps.size() - 2];
        if (before.kind == SimulationStep::Kind::weakly_measure) pass.projects = joins(before, pass);
    }
    // Whether a pass has room for a measurement; adds what it flips.
    bool joins(const SimulationStep& measurement, SimulationStep& pass) {
        const uint64_t flips = flips_of(measurement, operations_[measurement.operation]);
        if (!pass.masks.has_room_for(flips, rules_.groups.max_masks)) return false;
        pass.masks.add(flips);
        return true;
    }

    // Adds a step that applies the operations up to `end`.
    SimulationStep& add_step(SimulationStep::Kind kind, uint32_t operation, uint32_t end) {
        make_run();
        SimulationStep step{};
        step.kind = kind;
        step.begin = done_;
        step.operation = operation;
        step.outcome = -1;
        done_ = std::max({done_, end, absorbed_});
        step.width_before = step.width_after = stored_;
        step.absorptions = std::exchange(absorptions_, {});
        const bool measures = kind == SimulationStep::Kind::measure || kind == SimulationStep::Kind::weakly_measure;
        if (rules_.passes_measure && measures && !list_.steps.empty() && list_.steps.back().is_pass())
            step.is_summed = joins(step, list_.steps.back());
        list_.steps.push_back(std::move(step));
        return list_.steps.back();
    }

    const OperationList& operations_;
    const StepRules& rules_;
    std::vector<uint32_t> next_change_;
    int32_t width_ = 0, stored_ = 0;
    uint32_t done_ = 0, absorbed_ = 0;  // number of operations that steps apply or absorb; that are absorbed
    std::vector<Phase> phases_;
    std::vector<Absorption> absorptions_;
    std::vector<uint32_t> run_;  // rotations of a long vector that are in no step yet
    uint32_t run_end_ = 0;
    StepList list_;
};

}  // namespace

uint64_t flips_of(const SimulationStep& step, const Operation& measurement) {
    return measurement.x ^ uint64_t{step.kind == SimulationStep::Kind::weakly_measure} << measurement.pivot;
}

StepList find_steps(const OperationList& operations, const StepRules& rules) {
    return StepFinder(operations, rules).find();
}

}  // namespace snc
