// The shared memory of the noise kernel: the tables that it reads most, and the lists of a block of shots.
#pragma once

#include "kernels/noise/noise_rows.h"

namespace snc {

// The number of a mechanism in memory. Tables that fit into shared memory have fewer than 2^16 mechanisms.
template <bool tables_in_shared>
struct StoredMechanism {
    using Type = uint32_t;
};
template <>
struct StoredMechanism<true> {
    using Type = uint16_t;
};

// Of a thread block.
template <typename Layout, bool in_shared>
class NoiseTables {
   public:
    // Bytes of shared memory that the tables take.
    SNC_HOST_DEVICE static uint64_t bytes(const PlanImage& plan) {
        const uint64_t mechanisms = in_shared ? effect_words(plan) + plan.num_mechanisms + index_words(plan) : 0;
        const uint64_t words = mechanisms + guide_words + plan.row_words + plan.output_words + plan.num_thresholds;
        return (8 * words + 15) / 16 * 16;
    }

    template <typename Team>
    SNC_HOST_DEVICE NoiseTables(Team& team, const PlanImage& plan) : layout(plan) {
        auto* next = reinterpret_cast<uint64_t*>(team.shared());
        const auto copy = [&](uint64_t offset, uint64_t words) {
            const auto* from = plan.array<uint64_t>(offset);
            uint64_t* to = next;
            team.block_for_each(words, [&](uint64_t k) { to[k] = from[k]; });
            next += words;
            return to;
        };
        if constexpr (in_shared) {
            // First, because two words are read at a time.
            effects = copy(plan.effects.words, effect_words(plan));
            alias_thresholds = copy(plan.alias_thresholds, plan.num_mechanisms);
            alias_indices = reinterpret_cast<const int32_t*>(copy(plan.alias_indices, index_words(plan)));
        } else {
            effects = plan.array<uint64_t>(plan.effects.words);
            alias_thresholds = plan.array<uint64_t>(plan.alias_thresholds);
            alias_indices = plan.array<int32_t>(plan.alias_indices);
        }
        // One after the other, so that one pointer leads to all.
        guide_ = copy(plan.guide, guide_words);
        copy(plan.constant, layout.row_words());
        copy(plan.zero_outputs, layout.output_words());
        copy(plan.thresholds, plan.num_thresholds);
        after = team.shared() + bytes(plan);
    }

    SNC_HOST_DEVICE const uint32_t* guide() const { return reinterpret_cast<const uint32_t*>(guide_); }
    SNC_HOST_DEVICE const uint64_t* constant() const { return guide_ + guide_words; }
    SNC_HOST_DEVICE const uint64_t* zero_outputs() const { return constant() + layout.row_words(); }
    SNC_HOST_DEVICE const uint64_t* thresholds() const { return zero_outputs() + layout.output_words(); }

    const Layout layout;
    const uint64_t* effects;
    const uint64_t* alias_thresholds;
    const int32_t* alias_indices;
    uint8_t* after;  // the shared memory after the tables

   private:
    static constexpr uint64_t guide_words = guide_size * sizeof(uint32_t) / 8;

    SNC_HOST_DEVICE static uint64_t effect_words(const PlanImage& plan) {
        return uint64_t{plan.num_mechanisms} * Layout::register_words;
    }
    SNC_HOST_DEVICE static uint64_t index_words(const PlanImage& plan) { return (uint64_t{plan.num_mechanisms} + 1) / 2; }

    const uint64_t* guide_;
};

// Shots are listed in the order of their numbers of events, so that the threads of a warp have about equally many. Shots
// with this many events or more are of one class.
constexpr uint32_t last_class = 31;
// Each class has so many counters. Neighbouring threads use different ones, and need not wait for each other.
constexpr uint32_t counters_per_class = 16;
constexpr uint32_t num_class_counters = (last_class + 1) * counters_per_class;
// In place of the class of a shot that is not listed.
constexpr uint32_t not_listed = 0xFF;

// The lists of a team.
template <typename Mechanism>
struct BlockLists {
    uint32_t* starts;           // [block_shots + 1]: number of the first event of each shot
    uint32_t* scratch;          // [32]: of sums
    uint16_t* order;            // [block_shots]: shots in the order in which they are worked on
    uint32_t* classes;          // [num_class_counters + 1]: number of shots; until events are drawn
    uint32_t* class_bytes;      // [block_shots / 4]: the classes of four shots, or not_listed; until events are drawn
    Mechanism* mechanisms;      // [event_capacity]: of the first events of the block; in the same place

    SNC_HOST_DEVICE explicit BlockLists(uint8_t* memory)
        : starts(reinterpret_cast<uint32_t*>(memory)),
          scratch(starts + block_shots + 4),
          order(reinterpret_cast<uint16_t*>(starts + start_words)),
          classes(starts + start_words + order_words),
          class_bytes(classes + num_class_counters + 4),
          mechanisms(reinterpret_cast<Mechanism*>(classes)) {}

    SNC_HOST_DEVICE static uint64_t bytes(uint64_t event_capacity) {
        const uint64_t events = event_capacity * sizeof(Mechanism);
        return fixed_bytes + (events > least_event_bytes ? events : least_event_bytes);
    }

   private:
    static constexpr uint32_t start_words = block_shots + 4 + 32, order_words = block_shots / 2;

   public:
    // Bytes apart from those of the events, and the least of the latter. All are multiples of 16.
    static constexpr uint64_t fixed_bytes = (start_words + order_words) * sizeof(uint32_t);
    static constexpr uint64_t least_event_bytes = (num_class_counters + 4 + block_shots / 4) * sizeof(uint32_t);
};

}  // namespace snc
