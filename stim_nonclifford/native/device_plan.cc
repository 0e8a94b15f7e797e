#include "device_plan.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <numeric>
#include <optional>
#include <utility>

#include "path_simulation.h"
#include "plan_image.h"

namespace snc {

namespace {

// The largest number of rotations between two MEASUREs that may leave the norm unnormalized: each one at most doubles the
// squared norm, and 2^512 squared is still a double.
constexpr size_t max_unit_rotations = 512;

// An image under construction: first the header, then arrays, each aligned to 16 bytes.
class Image {
   public:
    Image() : words_(padded(sizeof(PlanImage)) / sizeof(uint64_t)) {}

    template <typename T, typename Allocator>
    uint64_t append(const std::vector<T, Allocator>& values) {
        const size_t offset = words_.size() * sizeof(uint64_t);
        words_.resize(words_.size() + padded(values.size() * sizeof(T)) / sizeof(uint64_t));
        if (!values.empty()) std::memcpy(reinterpret_cast<uint8_t*>(words_.data()) + offset, values.data(), values.size() * sizeof(T));
        return offset;
    }
    TableImage append(const RowTable& table, size_t num_rows) {
        if (!table.are_lists) return {.are_lists = 0, .words = append(table.words), .starts = 0, .flips = 0};
        std::vector<int64_t> starts{0};
        std::vector<WordFlip> flips;
        std::vector<uint32_t> ones;
        for (size_t r = 0; r < num_rows; ++r) {
            ones.clear();
            table.lists.for_each_one(r, [&](uint32_t bit) { ones.push_back(bit); });
            // In order, so that there is one flip for each word: threads apply them at the same time.
            std::ranges::sort(ones);
            const size_t first = flips.size();
            for (uint32_t bit : ones) {
                const uint64_t mask = uint64_t{1} << (bit % 64);
                if (flips.size() > first && flips.back().word == bit / 64)
                    flips.back().mask ^= mask;
                else
                    flips.push_back({bit / 64, mask});
            }
            starts.push_back(static_cast<int64_t>(flips.size()));
        }
        return {.are_lists = 1, .words = 0, .starts = append(starts), .flips = append(flips)};
    }
    std::vector<uint64_t> finish(const PlanImage& header) {
        std::memcpy(words_.data(), &header, sizeof header);
        return std::move(words_);
    }

   private:
    static size_t padded(size_t bytes) { return (bytes + 15) / 16 * 16; }
    std::vector<uint64_t> words_;
};

uint32_t top_bit(uint32_t bits) { return 31 - static_cast<uint32_t>(std::countl_zero(bits)); }

// The operations as steps.
class Steps {
   public:
    explicit Steps(const Plan& plan) : plan_(plan) {
        for (size_t k = 0; k < plan.operations.size(); ++k) {
            if (k > 0 && plan.operations[k].segment != plan.operations[k - 1].segment) finish_segment();
            add(plan.operations[k]);
        }
        finish_pass();
        finish_segment();
    }

    std::vector<Step> steps;
    std::vector<Rotation> rotations;
    uint32_t vector_width = 0;

   private:
    void add(const Operation& operation) {
        const auto width = static_cast<uint32_t>(operation.width);
        vector_width = std::max(vector_width, width);
        switch (operation.kind) {
            case Kind::rotate:
                add_to_pass(operation);
                return;
            case Kind::activate: {
                finish_pass();
                vector_width = std::max(vector_width, width + 1);
                Step step = step_of(StepKind::activate, operation);
                step.x = static_cast<uint32_t>(operation.x);
                steps.push_back(step);
                return;
            }
            case Kind::measure:
                finish_pass();
                add_measurement(step_of(StepKind::measure, operation), operation);
                return;
            case Kind::weak_measure:
                if (pass_is_open_) {
                    summed_ = combination(static_cast<uint32_t>(operation.x) ^ 1U << width);
                    sums_weights_ = summed_.has_value();
                }
                finish_pass();
                add_measurement(step_of(StepKind::weak_measure, operation), operation);
                return;
        }
    }

    // A step with the rotation that activates a coordinate, if the operation has one.
    Step step_of(StepKind kind, const Operation& operation) {
        Step step{};
        step.kind = kind;
        step.width = static_cast<uint32_t>(operation.width);
        if (operation.first_term < operation.end_term) {
            step.first_rotation = static_cast<uint32_t>(rotations.size());
            add_rotation(operation);
            step.end_rotation = step.first_rotation + 1;
        }
        return step;
    }

    // Adds a rotation to the open pass, or to a new one.
    void add_to_pass(const Operation& operation) {
        const auto x = static_cast<uint32_t>(operation.x);
        add_rotation(operation);
        if (fits_pass(rotations.back(), x)) return;
        const Rotation moved = rotations.back();
        rotations.pop_back();
        finish_pass();
        rotations.push_back(moved);
        open_pass(rotations.size() - 1, static_cast<uint32_t>(operation.width));
        fits_pass(rotations.back(), x);
    }

    void add_measurement(Step step, const Operation& measurement) {
        step.x = static_cast<uint32_t>(measurement.x);
        step.z = static_cast<uint32_t>(measurement.z);
        step.i_power = measurement.i_power;
        step.pivot = measurement.pivot;
        step.outcome = measurement.outcome;
        plan_.final_checks.for_each_one(static_cast<size_t>(measurement.outcome), [&](uint32_t) { step.has_checks = 1; });
        steps.push_back(step);
    }

    void add_rotation(const Operation& operation) {
        Rotation rotation{};
        rotation.z = operation.kind == Kind::rotate ? static_cast<uint32_t>(operation.z) : 0;
        rotation.i_power = pauli_of_rotation(operation).i_power;
        rotation.first_term = static_cast<uint32_t>(operation.first_term);
        rotation.end_term = static_cast<uint32_t>(operation.end_term);
        rotations.push_back(rotation);
    }

    // A pass applies the projection of the weak measurement just before it.
    void open_pass(size_t first_rotation, uint32_t width) {
        pass_is_open_ = true;
        pass_begin_ = first_rotation;
        pass_width_ = width;
        projected_ = 0;
        if (!steps.empty() && steps.back().kind == StepKind::weak_measure)
            projected_ = combination(steps.back().x ^ 1U << steps.back().pivot).value();
    }

    // Whether the pass has room for a rotation that flips x; if so, stores the combination that it flips.
    bool fits_pass(Rotation& rotation, uint32_t x) {
        if (!pass_is_open_ || rotations.size() - pass_begin_ > max_pass_rotations) return false;
        const std::optional<uint32_t> flips = combination(x);
        rotation.flips = flips.value_or(0);
        return flips.has_value();
    }

    // x as a combination of the pass's generators. If x is independent of them, it becomes a generator if there is room.
    std::optional<uint32_t> combination(uint32_t x) {
        uint32_t flips = 0;
        while (x != 0) {
            size_t j = 0;
            while (j < generators_.size() && top_bit(generators_[j]) != top_bit(x)) ++j;
            if (j == max_span) return std::nullopt;
            if (j == generators_.size()) generators_.push_back(x);
            x ^= generators_[j];
            flips |= 1U << j;
        }
        return flips;
    }

    void finish_pass() {
        if (!pass_is_open_) return;
        pass_is_open_ = false;
        std::vector<uint32_t> order(generators_.size());
        std::iota(order.begin(), order.end(), 0);
        std::ranges::sort(order, {}, [&](uint32_t j) { return top_bit(generators_[j]); });
        Step step{};
        step.kind = StepKind::rotate;
        step.width = pass_width_;
        step.span = static_cast<uint32_t>(order.size());
        step.first_rotation = static_cast<uint32_t>(pass_begin_);
        step.end_rotation = static_cast<uint32_t>(rotations.size());
        for (size_t j = 0; j < order.size(); ++j) step.generators[j] = generators_[order[j]];
        const auto reordered = [&](uint32_t combination) {
            uint32_t flips = 0;
            for (size_t j = 0; j < order.size(); ++j) flips |= (combination >> order[j] & 1) << j;
            return flips;
        };
        step.projected_flips = reordered(projected_);
        step.summed_flips = reordered(summed_.value_or(0));
        step.sums_weights = std::exchange(sums_weights_, false);
        for (size_t k = pass_begin_; k < rotations.size(); ++k) {
            Rotation& rotation = rotations[k];
            rotation.flips = reordered(rotation.flips);
            for (uint32_t e = 0; e < 1U << order.size(); ++e) {
                uint32_t combined = 0;
                for (size_t j = 0; j < order.size(); ++j) combined ^= (e >> j & 1) != 0 ? step.generators[j] : 0;
                rotation.odd |= uint32_t{is_odd(combined & rotation.z)} << e;
            }
        }
        generators_.clear();
        steps.push_back(step);
    }

    void finish_segment() {
        for (size_t k = segment_steps_; k < steps.size(); ++k) steps[k].angles_end = static_cast<uint32_t>(rotations.size());
        const bool unit = rotations.size() - segment_rotations_ <= max_unit_rotations;
        for (size_t k = segment_rotations_; k < rotations.size(); ++k) rotations[k].unit = unit;
        segment_steps_ = steps.size();
        segment_rotations_ = rotations.size();
    }

    const Plan& plan_;
    bool pass_is_open_ = false;
    size_t pass_begin_ = 0;
    uint32_t pass_width_ = 0;
    std::vector<uint32_t> generators_;
    uint32_t projected_ = 0;
    std::optional<uint32_t> summed_;
    bool sums_weights_ = false;
    size_t segment_steps_ = 0, segment_rotations_ = 0;
};

std::vector<uint32_t> guide_of(const std::vector<uint64_t>& thresholds) {
    std::vector<uint32_t> guide(guide_size);
    for (uint64_t byte = 0; byte < guide_size; ++byte)
        guide[byte] = static_cast<uint32_t>(std::ranges::upper_bound(thresholds, byte << 56) - thresholds.begin());
    return guide;
}

}  // namespace

std::vector<uint64_t> make_plan_image(const Plan& plan, const Kernels& kernels) {
    const Steps steps(plan);
    PathSimulation simulation(plan, kernels, [] {});
    const PathSimulation::ZeroSignatureLaw zero_law = simulation.zero_signature_law();
    const RowLayout& layout = plan.layout;
    PlanImage header{};
    header.check_words = layout.check_words;
    header.signature_words = layout.signature_words;
    header.output_words = layout.output_words;
    header.row_words = layout.words();
    header.num_mechanisms = static_cast<uint32_t>(plan.alias.size());
    header.num_thresholds = static_cast<uint32_t>(plan.count_thresholds.size());
    header.num_coins = plan.num_coins;
    header.num_steps = static_cast<uint32_t>(steps.steps.size());
    header.sign_words = plan.sign_words;
    header.branch_words = plan.branch_words;
    header.vector_width = steps.vector_width;
    header.has_sites = !plan.sites.empty();
    header.zero_is_fixed = zero_law.fixed;
    header.zero_is_kept = zero_law.kept;
    header.never_kept = plan.never_kept;
    Image image;
    header.constant = image.append(plan.constant);
    header.thresholds = image.append(plan.count_thresholds);
    header.guide = image.append(guide_of(plan.count_thresholds));
    std::vector<uint64_t> alias_thresholds;
    std::vector<int32_t> alias_indices;
    for (const AliasCell& cell : plan.alias) {
        alias_thresholds.push_back(cell.threshold);
        alias_indices.push_back(cell.alias);
    }
    header.alias_thresholds = image.append(alias_thresholds);
    header.alias_indices = image.append(alias_indices);
    header.sites = image.append(plan.sites);
    header.effects = image.append(plan.effects, plan.alias.size());
    header.coins = image.append(plan.coins, plan.num_coins);
    header.zero_outputs = image.append(zero_law.outputs);
    header.steps = image.append(steps.steps);
    header.rotations = image.append(steps.rotations);
    header.terms = image.append(plan.terms);
    header.branch_constant = image.append(plan.branch_constant);
    header.signature_images = image.append(plan.signature_images, plan.layout.num_signature_bits);
    header.outcome_effects = image.append(plan.outcome_effects, plan.num_outcomes);
    header.final_checks = image.append(plan.final_checks, plan.num_outcomes);
    return image.finish(header);
}

}  // namespace snc
