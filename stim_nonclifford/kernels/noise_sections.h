// The noise of blocks of shots: a team of threads takes one block of 1024 shots after another.
//
// A shot that fails a noise-only check never leaves registers. Shots that need no quantum outcome are finished here, and the
// others are queued.
#pragma once

#include "kept_shots.h"

namespace snc {

struct alignas(16) WordPair {
    uint64_t low, high;
};

// The row of a shot: of a few words, in registers.
template <uint32_t num_words>
struct RegisterRow {
    uint64_t words[num_words];

    SNC_HOST_DEVICE void start(const Job&, const uint64_t* constant, uint32_t, uint32_t, uint32_t) {
        for (uint32_t w = 0; w < num_words; ++w) words[w] = constant[w];
    }
    SNC_HOST_DEVICE void flip(const PlanImage&, const uint64_t* effects, int32_t mechanism) {
        const uint64_t* effect = effects + static_cast<uint32_t>(mechanism) * num_words;
        if constexpr (num_words % 2 == 0) {
            // Two words in one access.
            const auto* pairs = reinterpret_cast<const WordPair*>(effect);
            for (uint32_t w = 0; w < num_words; w += 2) {
                const WordPair pair = pairs[w / 2];
                words[w] ^= pair.low;
                words[w + 1] ^= pair.high;
            }
        } else {
            for (uint32_t w = 0; w < num_words; ++w) words[w] ^= effect[w];
        }
    }
    SNC_HOST_DEVICE void flip_coin(const PlanImage& plan, uint32_t coin) {
        flip(plan, plan.array<uint64_t>(plan.coins.words), static_cast<int32_t>(coin));
    }
    // The words from number `first` on, `count` of them, or-ed. Indices are known when this is compiled.
    SNC_HOST_DEVICE uint64_t any(uint32_t first, uint32_t count) const {
        uint64_t result = 0;
        for (uint32_t w = 0; w < num_words; ++w) result |= w >= first && w < first + count ? words[w] : 0;
        return result;
    }
    SNC_HOST_DEVICE uint64_t word(uint32_t k) const {
        uint64_t result = 0;
        for (uint32_t w = 0; w < num_words; ++w) result |= w == k ? words[w] : 0;
        return result;
    }
};

// Rows of any length, in the device's memory; the rows of a team are stored word by word.
template <>
struct RegisterRow<0> {
    uint64_t* words;
    uint32_t num_words;

    SNC_HOST_DEVICE void start(const Job& job, const uint64_t* constant, uint32_t row_words, uint32_t team,
                               uint32_t shot) {
        num_words = row_words;
        words = job.wide_rows + uint64_t{team} * num_words * block_shots + shot;
        for (uint32_t w = 0; w < num_words; ++w) words[uint64_t{w} * block_shots] = constant[w];
    }
    SNC_HOST_DEVICE void flip(const PlanImage& plan, const TableImage& table, uint64_t number) {
        if (table.are_lists != 0) {
            const auto* starts = plan.array<int64_t>(table.starts);
            const auto* flips = plan.array<WordFlip>(table.flips);
            for (int64_t f = starts[number]; f < starts[number + 1]; ++f)
                words[uint64_t{flips[f].word} * block_shots] ^= flips[f].mask;
        } else {
            const uint64_t* by = plan.array<uint64_t>(table.words) + number * num_words;
            for (uint32_t w = 0; w < num_words; ++w) words[uint64_t{w} * block_shots] ^= by[w];
        }
    }
    SNC_HOST_DEVICE void flip(const PlanImage& plan, const uint64_t*, int32_t mechanism) {
        flip(plan, plan.effects, static_cast<uint64_t>(mechanism));
    }
    SNC_HOST_DEVICE void flip_coin(const PlanImage& plan, uint32_t coin) { flip(plan, plan.coins, coin); }
    SNC_HOST_DEVICE uint64_t any(uint32_t first, uint32_t count) const {
        uint64_t result = 0;
        for (uint32_t w = first; w < first + count; ++w) result |= word(w);
        return result;
    }
    SNC_HOST_DEVICE uint64_t word(uint32_t k) const { return words[uint64_t{k} * block_shots]; }
};

// The tables that the noise kernel reads most, in shared memory if they fit. Rows have num_words words; 0: any number.
template <uint32_t num_words>
struct NoiseTables {
    const AliasCell* alias;
    const uint64_t* effects;
    const uint64_t* constant;
    const uint64_t* thresholds;
    const uint32_t* guide;
    uint8_t* after;  // the shared memory after the tables

    // Bytes of shared memory that the tables take.
    SNC_HOST_DEVICE static uint64_t bytes(const PlanImage& plan, bool in_shared) {
        return 8 * (table_words(plan, in_shared) + plan.row_words + plan.num_thresholds +
                    guide_size * sizeof(uint32_t) / 8);
    }
    SNC_HOST_DEVICE static uint64_t table_words(const PlanImage& plan, bool in_shared) {
        return in_shared ? uint64_t{plan.num_mechanisms} * (2 + num_words) : 0;
    }

    template <typename Team>
    SNC_HOST_DEVICE NoiseTables(Team& team, const PlanImage& plan, bool in_shared) {
        static_assert(sizeof(AliasCell) == 16, "two words");
        auto* next = reinterpret_cast<uint64_t*>(team.shared());
        const auto copy = [&](uint64_t offset, uint64_t words) {
            const auto* from = plan.array<uint64_t>(offset);
            uint64_t* to = next;
            team.block_for_each(words, [&](uint64_t k) { to[k] = from[k]; });
            next += words;
            return to;
        };
        alias = plan.array<AliasCell>(plan.alias);
        effects = plan.array<uint64_t>(plan.effects.words);
        if (in_shared) {
            alias = reinterpret_cast<const AliasCell*>(copy(plan.alias, 2 * uint64_t{plan.num_mechanisms}));
            if (num_words != 0) effects = copy(plan.effects.words, uint64_t{plan.num_mechanisms} * num_words);
        }
        constant = copy(plan.constant, plan.row_words);
        thresholds = copy(plan.thresholds, plan.num_thresholds);
        guide = reinterpret_cast<const uint32_t*>(copy(plan.guide, guide_size * sizeof(uint32_t) / 8));
        after = reinterpret_cast<uint8_t*>(next);
    }
};

// Shared memory of a team of the noise kernel: where the events of each shot start, scratch of the sums, and
// the mechanisms of the first events of the block.
constexpr uint32_t start_words = block_shots + 1 + 32 + 3;
SNC_HOST_DEVICE uint64_t noise_team_bytes(uint64_t event_capacity) {
    return (start_words + event_capacity) * sizeof(uint32_t);
}

// Rows have num_words words; 0: any number.
template <uint32_t num_words, typename Team>
SNC_HOST_DEVICE void noise_kernel(Team& team, const Job& job, bool tables_in_shared) {
    const PlanImage& plan = *job.plan;
    const NoiseTables<num_words> tables(team, plan, tables_in_shared);
    auto* starts = reinterpret_cast<uint32_t*>(tables.after + team.index_in_block() * noise_team_bytes(job.event_capacity));
    auto* mechanisms = reinterpret_cast<int32_t*>(starts + start_words);
    const auto* sites = plan.array<int32_t>(plan.sites);
    const auto* zero_outputs = plan.array<uint64_t>(plan.zero_outputs);
    const auto capacity = static_cast<uint32_t>(job.event_capacity);
    // Read once: the kernel's own writes could change the plan, as far as the compiler knows.
    const uint64_t seed = job.seed;
    const uint32_t num_mechanisms = plan.num_mechanisms;
    const uint32_t row_words = num_words != 0 ? num_words : plan.row_words;
    const uint32_t check_words = plan.check_words, first_output = check_words + plan.signature_words;
    const bool has_sites = plan.has_sites != 0, is_fixed = plan.zero_is_fixed != 0;
    const uint64_t blocks_begin = job.first_shot / block_shots;
    const uint64_t num_blocks = (job.end_shot + block_shots - 1) / block_shots - blocks_begin;
    Finished finished;

    for (uint64_t taken = team.take(job.counters + next_block); taken < num_blocks;
         taken = team.take(job.counters + next_block)) {
        const uint64_t block = blocks_begin + taken;
        team.for_each(block_shots / words_per_draw, [&](uint32_t quad) {
            const DrawnWords drawn = random_words(seed, Stream::counts, block, quad);
            for (uint32_t k = 0; k < words_per_draw; ++k) {
                const uint64_t word = drawn.words[k];
                starts[words_per_draw * quad + k] =
                    count_from(tables.thresholds, plan.num_thresholds, tables.guide[word >> 56], word);
            }
        });
        team.exclusive_sums(starts, block_shots, starts + block_shots + 1);
        const uint32_t num_stored = starts[block_shots] < capacity ? starts[block_shots] : capacity;
        const auto draw = [&](uint64_t word) { return mechanism_of(tables.alias, num_mechanisms, word); };
        team.for_each((num_stored + words_per_draw - 1) / words_per_draw, [&](uint32_t quad) {
            const DrawnWords drawn = random_words(seed, Stream::events, block, quad);
            for (uint32_t k = 0; k < words_per_draw; ++k)
                if (words_per_draw * quad + k < num_stored) mechanisms[words_per_draw * quad + k] = draw(drawn.words[k]);
        });

        const uint64_t block_shot = block * block_shots;
        const uint32_t begin_shot = block_shot < job.first_shot ? static_cast<uint32_t>(job.first_shot - block_shot) : 0;
        const uint32_t end_shot = job.end_shot - block_shot < block_shots
                                      ? static_cast<uint32_t>(job.end_shot - block_shot)
                                      : block_shots;
        team.for_each(block_shots, [&](uint32_t k) {
            const bool wanted = k >= begin_shot && k < end_shot;
            RegisterRow<num_words> row;
            row.start(job, tables.constant, row_words, team.index(), k);
            if (wanted) {
                const uint32_t begin = starts[k], count = starts[k + 1] - begin;
                // Events that found no room are drawn again.
                const auto mechanism = [&](uint32_t event) {
                    const uint32_t e = begin + event;
                    if (e < capacity) return mechanisms[e];
                    return draw(random_word(seed, Stream::events, block, e));
                };
                for (uint32_t event = 0; event < count; ++event) {
                    if (has_sites && site_is_used(sites, event, mechanism)) continue;
                    row.flip(plan, tables.effects, mechanism(event));
                }
                if (plan.num_coins != 0)
                    for_each_flipped_coin(plan.num_coins, seed, block, k,
                                          [&](uint32_t coin) { row.flip_coin(plan, coin); });
            }
            const bool passes = wanted && plan.never_kept == 0 && row.any(0, check_words) == 0;
            const bool is_zero = is_fixed && row.any(check_words, first_output - check_words) == 0;
            const bool is_queued = passes && !is_zero;
            const uint64_t place = team.append(job.counters + queued, is_queued);
            if (is_queued && place < job.queue_capacity) {
                const uint32_t words = row_words - check_words;
                job.queue_shots[place] = block_shot + k;
                for (uint32_t w = 0; w < words; ++w) job.queue_rows[place * words + w] = row.word(check_words + w);
            }
            keep(team, job, plan, finished, passes && is_zero && plan.zero_is_kept != 0, block_shot + k,
                 [&](uint32_t w) { return row.word(first_output + w) ^ zero_outputs[w]; });
        });
    }
    add_finished(team, job, finished);
}

}  // namespace snc
