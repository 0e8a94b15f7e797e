#include "simulation_steps.h"

#include <algorithm>
#include <bit>
#include <map>
#include <optional>
#include <utility>

#include "plan.h"

namespace snc {

namespace {

// Narrower vectors take less time than the bookkeeping of phases.
constexpr int32_t min_width = 6;

// Phases are applied before the stored vector has fewer than this many coordinates, because tables cover whole blocks.
constexpr int32_t min_width_with_phases = 4;

// The number of coordinates that are added at a time: most phases are applied while the vector is small.
constexpr int32_t max_growth = 3;

// Narrower vectors take less time than the setup of a group of rotations.
constexpr int32_t min_width_for_groups = 9;

// A table has at most 2^8 rows, and at most 2^-4 as many as the vector has blocks.
constexpr int32_t max_parities = 8;
constexpr int32_t rows_margin = 4;

struct Phase {
    uint32_t slot;
    uint64_t z;
};

bool anticommutes(const Phase& phase, const Operation& measurement) {
    return (std::popcount(phase.z & measurement.x) & 1) != 0;
}

class ProductBuilder {
   public:
    explicit ProductBuilder(int32_t width)
        : block_bits_(width - index_lane_bits), max_parities_(std::clamp(block_bits_ - rows_margin, 1, max_parities)) {}

    // Returns false if there is no room for it.
    bool add(const Phase& phase) {
        const uint64_t mask = phase.z >> index_lane_bits;
        for (size_t g = 0; g < groups_.size(); ++g)
            if (const Sum sum = as_sum(groups_[g], mask); sum.rest == 0) {
                groups_[g].factors.push_back({phase.slot, sum.parities, false, phase.z});
                return true;
            }
        for (Group& group : groups_)
            if (std::cmp_less(group.masks.size(), max_parities_)) {
                add_with_parity(group, phase, mask);
                return true;
            }
        if (groups_.size() == PhaseProduct::max_groups) return false;
        groups_.emplace_back();
        if (mask == 0)
            groups_.back().factors.push_back({phase.slot, 0, false, phase.z});
        else
            add_with_parity(groups_.back(), phase, mask);
        return true;
    }

    // At least one group: the empty product is 1.
    PhaseProduct product() {
        if (groups_.empty()) groups_.emplace_back();
        PhaseProduct product;
        product.columns.assign(static_cast<size_t>(block_bits_), 0);
        for (size_t g = 0; g < groups_.size(); ++g) {
            const Group& group = groups_[g];
            product.groups.push_back(group.factors);
            product.num_rows.push_back(uint32_t{1} << group.masks.size());
            product.total_rows += product.num_rows.back();
            for (size_t j = 0; j < group.masks.size(); ++j)
                for (size_t bit = 0; bit < product.columns.size(); ++bit)
                    product.columns[bit] |= (group.masks[j] >> bit & 1) << (8 * g + j);
        }
        return product;
    }

   private:
    struct Group {
        std::vector<PhaseProduct::Factor> factors;
        std::vector<uint64_t> masks;  // of the parities, over blocks
    };
    struct Sum {
        uint64_t rest;
        uint32_t parities;
    };

    // Writes the mask as a sum of the group's masks and a rest without their highest bits.
    static Sum as_sum(const Group& group, uint64_t mask) {
        Sum sum{mask, 0};
        for (bool changed = true; changed;) {
            changed = false;
            for (size_t j = 0; j < group.masks.size(); ++j)
                if ((sum.rest & std::bit_floor(group.masks[j])) != 0) {
                    sum.rest ^= group.masks[j];
                    sum.parities ^= 1U << j;
                    changed = true;
                }
        }
        return sum;
    }

    static void add_with_parity(Group& group, const Phase& phase, uint64_t mask) {
        const Sum sum = as_sum(group, mask);
        group.factors.push_back({phase.slot, sum.parities, true, phase.z});
        group.masks.push_back(sum.rest);
    }

    int32_t block_bits_, max_parities_;
    std::vector<Group> groups_;
};

class StepFinder {
   public:
    explicit StepFinder(const std::vector<Operation>& operations) : operations_(operations), next_change_(operations.size()) {
        // For each operation, the next one that is not diagonal.
        auto change = static_cast<uint32_t>(operations.size());
        for (uint32_t k = change; k-- > 0;) {
            if (operations[k].measures() || operations[k].x != 0) change = k;
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
        const bool stays_narrow = phases_.empty() && stored_ == width_ && operation.width < min_width - 1;
        const bool before_rotation = next_change_[k] < operations_.size() && !operations_[next_change_[k]].measures();
        switch (operation.kind) {
            case Kind::measure:
                measure(k);
                return;
            case Kind::weak_measure:
                if (stays_narrow) {
                    add_step(SimulationStep::Kind::weakly_measure, k, k + 1);
                    return;
                }
                ++width_;
                absorb(k);
                measure(k);
                return;
            case Kind::activate:
                ++width_;
                if (operation.x == 0 && !stays_narrow && !before_rotation) {
                    absorb(k);
                    return;
                }
                make_phases(width_ - 1);
                add_step(SimulationStep::Kind::activate, k, k + 1).width_after = width_;
                stored_ = width_;
                list_.widest = std::max(list_.widest, stored_);
                return;
            case Kind::rotate:
                if (operation.x != 0) make_phases(width_);
                if (operation.x == 0 && !stays_narrow && !before_rotation) {
                    absorb(k);
                } else if (stored_ >= min_width_for_groups) {
                    run_.push_back(k);
                    run_end_ = k + 1;
                } else {
                    add_step(SimulationStep::Kind::rotate, k, k + 1);
                }
                return;
        }
    }

    void measure(uint32_t k) {
        const Operation& measurement = operations_[k];
        const bool activates_pivot = measurement.pivot >= stored_;
        if (measurement.x == 0 || (stored_ < width_ && !activates_pivot) || width_ <= min_width_with_phases)
            make_phases(width_);
        while (width_ - stored_ > max_growth) make_phases(width_ - max_growth * ((width_ - stored_ - 1) / max_growth));
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
        stored_ = --width_;
        list_.widest = std::max(list_.widest, stored_);
        drop_bit(measurement.pivot, step);
    }

    // The phases that a measurement needs; nothing if they do not fit, or if the measurement cannot use them.
    std::optional<PhaseProduct> product_for(const Operation& measurement) const {
        if (measurement.pivot < index_lane_bits || stored_ < index_lane_bits) return std::nullopt;
        ProductBuilder builder(width_);
        for (const Phase& phase : phases_)
            if (anticommutes(phase, measurement) && !builder.add(phase)) return std::nullopt;
        return builder.product();
    }

    // An index without the pivot's bit stands for the entry whose pivot bit is 0.
    void drop_bit(int32_t pivot, SimulationStep& step) {
        std::map<uint64_t, uint32_t> slots;
        std::vector<Phase> left;
        for (const Phase& phase : phases_) {
            const uint64_t low = (uint64_t{1} << pivot) - 1;
            const uint64_t z = (phase.z & low) | (phase.z >> 1 & ~low);
            if (z == 0) continue;
            const auto [equal, is_first] = slots.emplace(z, phase.slot);
            if (is_first)
                left.push_back({phase.slot, z});
            else
                step.merged.emplace_back(equal->second, phase.slot);
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

    // Applies the phases of the coordinates below `width`, and adds these coordinates to the stored vector.
    void make_phases(int32_t width) {
        while (stored_ < width || std::ranges::any_of(phases_, [&](const Phase& p) { return p.z >> width == 0; })) {
            // Step by step: most phases are applied while the vector is small.
            const int32_t to = width - max_growth * (std::max(width - stored_ - 1, 0) / max_growth);
            ProductBuilder builder(to);
            std::vector<Phase> left;
            for (const Phase& phase : phases_)
                if (phase.z >> to != 0 || !builder.add(phase)) left.push_back(phase);
            SimulationStep& step = add_step(SimulationStep::Kind::apply_phases, 0, 0);
            step.width_after = to;
            step.product = builder.product();
            phases_ = std::move(left);
            stored_ = to;
            list_.widest = std::max(list_.widest, stored_);
        }
    }

    // Adds the collected rotations of a long vector, in groups.
    void make_run() {
        for (RotationPass& groups : group_rotations(operations_, std::exchange(run_, {}))) {
            if (groups.size() == 1 && groups.front().size() == 1)
                add_step(SimulationStep::Kind::rotate, groups.front().front(), run_end_);
            else
                add_step(SimulationStep::Kind::rotate_in_groups, 0, run_end_).groups = std::move(groups);
        }
    }

    // Adds a step that applies the operations up to `end`.
    SimulationStep& add_step(SimulationStep::Kind kind, uint32_t operation, uint32_t end) {
        make_run();
        SimulationStep step{};
        step.kind = kind;
        step.begin = done_;
        step.operation = operation;
        done_ = std::max({done_, end, absorbed_});
        step.width_before = step.width_after = stored_;
        step.absorptions = std::exchange(absorptions_, {});
        list_.steps.push_back(std::move(step));
        return list_.steps.back();
    }

    const std::vector<Operation>& operations_;
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

StepList find_steps(const std::vector<Operation>& operations) {
    return StepFinder(operations).find();
}

}  // namespace snc
