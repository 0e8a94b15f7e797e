#include "device/device_plan.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/argument_checks.h"
#include "base/interruption.h"
#include "device/device_steps.h"
#include "kernels/launch/plan_image.h"
#include "simulation/path_simulation.h"

namespace snc {

namespace {

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

std::vector<uint32_t> guide_of(const std::vector<uint64_t>& thresholds) {
    std::vector<uint32_t> guide(guide_size);
    for (uint64_t byte = 0; byte < guide_size; ++byte)
        guide[byte] = static_cast<uint32_t>(std::ranges::upper_bound(thresholds, byte << 56) - thresholds.begin());
    return guide;
}

}  // namespace

std::vector<uint64_t> make_plan_image(const Plan& plan, const Kernels& kernels, const std::function<void()>& interrupted) {
    const DeviceSteps steps = device_steps(plan);
    Interruption interruption(interrupted);
    PathSimulation simulation(plan, kernels, [&] { interruption.look(); });
    const int32_t zero_stop = simulation.start_at_zero_signature().outcome;
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
    header.zero_is_fixed = zero_stop < 0;
    header.zero_is_kept = zero_stop == PathSimulation::kept;
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
    header.has_leakage = !plan.leakage_items.empty();
    header.first_leakage_mechanism = plan.first_leakage_mechanism;
    header.num_leakage_always = static_cast<uint32_t>(plan.leakage_always.size());
    header.num_script_qubits = plan.num_script_qubits;
    header.leakage_items = image.append(plan.leakage_items);
    header.leakage_entries = image.append(plan.leakage_entries);
    header.leakage_always = image.append(plan.leakage_always);
    header.leakage_final_checks = image.append(plan.leakage_final_checks);
    header.leakage_rows = image.append(plan.leakage_rows, plan.leakage_final_checks.size());
    header.first_readout_decay = plan.first_readout_decay;
    header.num_readout_decays = plan.num_readout_decays;
    header.num_hidden_coins = plan.num_hidden_coins;
    header.readout_words = static_cast<uint32_t>(plan.readout_constant.size());
    header.readout_constant = image.append(plan.readout_constant);
    header.readout_predecessors = image.append(plan.readout_predecessors);
    if (plan.num_readout_decays != 0) {
        header.event_readouts = image.append(plan.event_readouts, plan.alias.size());
        header.coin_readouts = image.append(plan.coin_readouts, plan.num_coins);
        header.leakage_readouts = image.append(plan.leakage_readouts, plan.leakage_final_checks.size());
        header.hidden_coins = image.append(plan.hidden_coins, plan.num_hidden_coins);
    }
    header.zero_outputs = image.append(std::vector(simulation.outputs(), simulation.outputs() + layout.output_words));
    header.steps = image.append(steps.steps);
    header.rotations = image.append(steps.rotations);
    header.terms = image.append(steps.terms);
    header.branch_constant = image.append(plan.branch_constant);
    header.signature_images = image.append(plan.signature_images, plan.layout.num_signature_bits);
    header.outcome_effects = image.append(plan.outcome_effects, plan.num_outcomes);
    header.final_checks = image.append(plan.final_checks, plan.num_outcomes);
    return image.finish(header);
}

const PlanImage& checked_image(const uint8_t* bytes, size_t num_bytes) {
    constexpr uint32_t max_width = 58;
    const auto& image = *reinterpret_cast<const PlanImage*>(bytes);
    const bool is_image = num_bytes >= sizeof(PlanImage) && reinterpret_cast<uintptr_t>(bytes) % alignof(PlanImage) == 0 &&
                          image.row_words == image.check_words + image.signature_words + image.output_words &&
                          image.vector_width <= max_width && image.steps % alignof(Step) == 0 && image.steps <= num_bytes &&
                          image.num_steps <= (num_bytes - image.steps) / sizeof(Step);
    require(is_image, "This is no image of a plan, as plan_image makes it.");
    return image;
}

}  // namespace snc
