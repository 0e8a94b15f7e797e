// The noise of blocks of shots: a team of threads takes one block of 1024 shots after another.
//
// A shot that fails a noise-only check never leaves registers. Shots that need no quantum outcome are finished here, and the
// others are queued.
#pragma once

#include "kernels/launch/kept_shots.h"
#include "kernels/noise/noise_memory.h"
#include "kernels/shared/leakage_scripts.h"

namespace snc {

// What becomes of a shot without events.
struct EventFreeShots {
    bool are_listed;  // they are worked on as other shots are
    bool are_kept;    // if not listed: they count as kept, and are discarded otherwise
};

// Unless there are coins, or leakage that may happen to every shot, all shots without events have the constant row. Often nothing
// has to be done for them but to count them.
template <typename Tables>
SNC_HOST_DEVICE EventFreeShots event_free_shots(const Job& job, const PlanImage& plan, const Tables& tables) {
    const auto& layout = tables.layout;
    const uint32_t first_output = layout.check_words() + layout.signature_words();
    uint64_t checks = 0, signature = 0, outputs = 0;
    for (uint32_t w = 0; w < layout.check_words(); ++w) checks |= tables.constant()[w];
    for (uint32_t w = layout.check_words(); w < first_output; ++w) signature |= tables.constant()[w];
    for (uint32_t w = 0; w < layout.output_words(); ++w)
        outputs |= tables.constant()[first_output + w] ^ tables.zero_outputs()[w];
    const bool is_decided = checks != 0 || (plan.zero_is_fixed != 0 && signature == 0);
    const bool are_kept = checks == 0 && plan.zero_is_kept != 0;
    const bool leave_outputs = are_kept && (outputs != 0 || job.results == static_cast<uint64_t>(Results::rows));
    return {plan.num_coins != 0 || plan.num_leakage_always != 0 || !is_decided || leave_outputs, are_kept};
}

// The parts of a plan, of a job and of shared memory that the sections below use.
template <typename Layout, bool tables_in_shared, bool follows>
struct BlockNoise {
    using Mechanism = typename StoredMechanism<tables_in_shared>::Type;
    using Row = RegisterRow<Layout::register_words>;
    using ReadoutRow = RegisterRow<0>;

    const Job& job;
    const PlanImage& plan;
    NoiseTables<Layout, tables_in_shared> tables;
    BlockLists<Mechanism> lists;
    EventFreeShots event_free;
    // Read once: the kernel's own writes could change the plan, as far as the compiler knows.
    uint64_t seed;
    uint32_t num_mechanisms;
    bool has_sites, has_coins, is_fixed, is_kept;
    // Of the current block: its number; the range of the shots that are wanted, and how many of them are listed.
    uint64_t block;
    uint32_t begin_shot, end_shot, num_listed;

    template <typename Team>
    SNC_HOST_DEVICE BlockNoise(Team& team, const Job& the_job)
        : job(the_job),
          plan(*the_job.plan),
          tables(team, plan),
          lists(tables.after + team.index_in_block() * BlockLists<Mechanism>::bytes(job.event_capacity)),
          event_free(event_free_shots(job, plan, tables)),
          seed(job.seed),
          num_mechanisms(plan.num_mechanisms),
          has_sites(plan.has_sites != 0),
          has_coins(plan.num_coins != 0),
          is_fixed(plan.zero_is_fixed != 0),
          is_kept(plan.zero_is_kept != 0),
          block(0),
          begin_shot(0),
          end_shot(0),
          num_listed(0) {}

    SNC_HOST_DEVICE void start(uint64_t number) {
        block = number;
        const uint64_t first = block * block_shots;
        begin_shot = first < job.first_shot ? static_cast<uint32_t>(job.first_shot - first) : 0;
        end_shot = job.end_shot - first < block_shots ? static_cast<uint32_t>(job.end_shot - first) : block_shots;
        if (plan.never_kept != 0) end_shot = begin_shot;
    }

    SNC_HOST_DEVICE bool is_listed(uint32_t shot, uint32_t count) const {
        return shot - begin_shot < end_shot - begin_shot && count >= (event_free.are_listed ? 0u : 1u);
    }
    SNC_HOST_DEVICE uint32_t* class_counter(uint32_t number, uint32_t quad) const {
        return lists.classes + number * counters_per_class + quad % counters_per_class;
    }
    SNC_HOST_DEVICE uint32_t mechanism_of_word(uint64_t word) const {
        return static_cast<uint32_t>(mechanism_of(tables.alias_thresholds, tables.alias_indices, num_mechanisms, word));
    }
    // The mechanism of event e of the block, if it found no room: it is drawn again.
    SNC_HOST_DEVICE uint32_t mechanism_again(uint32_t e) const {
        return mechanism_of_word(random_word(seed, Stream::events, block, e));
    }

    SNC_HOST_DEVICE uint32_t mechanism_of_event(uint32_t e, uint32_t num_stored) const {
        return e < num_stored ? uint32_t{lists.mechanisms[e]} : mechanism_again(e);
    }

    // Where the events of each shot start.
    template <typename Team>
    SNC_HOST_DEVICE void draw_counts(Team& team) {
        static_assert(words_per_draw == 4, "a draw has the numbers of events of four shots");
        const uint32_t num_thresholds = plan.num_thresholds;
        team.for_each(num_class_counters, [&](uint32_t k) { lists.classes[k] = 0; });
        team.exclusive_sums(lists.starts, block_shots, lists.scratch, [&](uint32_t quad) {
            const DrawnWords drawn = random_words(seed, Stream::counts, block, quad);
            Four counts;
            uint32_t bytes = 0;
            for (uint32_t k = 0; k < words_per_draw; ++k) {
                const uint64_t word = drawn.words[k];
                const uint32_t count = count_from(tables.thresholds(), num_thresholds, tables.guide()[word >> 56], word);
                const bool listed = is_listed(words_per_draw * quad + k, count);
                const uint32_t number = listed ? (count < last_class ? count : last_class) : not_listed;
                if (listed) team.add_in_shared(class_counter(number, quad), 1);
                bytes |= number << 8 * k;
                counts.numbers[k] = count;
            }
            lists.class_bytes[quad] = bytes;
            return counts;
        });
    }

    // The order of the shots.
    template <typename Team>
    SNC_HOST_DEVICE void list_shots(Team& team) {
        team.exclusive_sums(lists.classes, num_class_counters, lists.scratch,
                            [&](uint32_t j) { return reinterpret_cast<const Four*>(lists.classes)[j]; });
        num_listed = lists.classes[num_class_counters];
        team.for_each(block_shots / words_per_draw, [&](uint32_t quad) {
            const uint32_t bytes = lists.class_bytes[quad];
            for (uint32_t k = 0; k < words_per_draw; ++k) {
                const uint32_t number = bytes >> 8 * k & 0xFF, shot = words_per_draw * quad + k;
                if (number != not_listed)
                    lists.order[team.add_in_shared(class_counter(number, quad), 1)] = static_cast<uint16_t>(shot);
            }
        });
    }

    // The mechanisms of the first events, as many as there is room for. Returns their number.
    template <typename Team>
    SNC_HOST_DEVICE uint32_t draw_events(Team& team) {
        const uint32_t total = lists.starts[block_shots], capacity = static_cast<uint32_t>(job.event_capacity);
        const uint32_t num_stored = total < capacity ? total : capacity;
        team.for_each((num_stored + words_per_draw - 1) / words_per_draw, [&](uint32_t quad) {
            const DrawnWords drawn = random_words(seed, Stream::events, block, quad);
            for (uint32_t k = 0; k < words_per_draw; ++k)
                if (words_per_draw * quad + k < num_stored)
                    lists.mechanisms[words_per_draw * quad + k] = static_cast<Mechanism>(mechanism_of_word(drawn.words[k]));
        });
        return num_stored;
    }

    // XORs the effects of events [begin, end) of the block into the row of their shot. If the shot fails a check, words other
    // than those of checks may be wrong.
    SNC_HOST_DEVICE void apply_events(Row& row, uint32_t begin, uint32_t end, uint32_t num_stored) const {
        if (has_sites) {
            const auto* sites = plan.array<int32_t>(plan.sites);
            const auto mechanism = [&](uint32_t event) { return mechanism_of_event(begin + event, num_stored); };
            SNC_NOT_UNROLLED
            for (uint32_t event = 0; event < end - begin; ++event)
                if (!site_is_used(sites, event, mechanism) && !(follows && plan.is_readout_decay(static_cast<int32_t>(mechanism(event)))))
                    row.flip(plan, tables.effects, mechanism(event));
            return;
        }
        SNC_NOT_UNROLLED
        for (uint32_t e = begin < num_stored ? num_stored : begin; e < end; ++e)
            row.flip(plan, tables.effects, mechanism_again(e));
        const uint32_t stored_end = end < num_stored ? end : num_stored;
        if constexpr (Layout::first_words != 0) {
            if (!has_coins) {
                // Most shots with many events fail a check: then the other words are not read.
                constexpr uint32_t first = Layout::first_words, all = Layout::register_words;
                SNC_NOT_UNROLLED
                for (uint32_t e = begin; e < stored_end; ++e)
                    row.template flip_part<0, first>(tables.effects, lists.mechanisms[e]);
                if (row.any(0, tables.layout.check_words()) != 0) return;
                SNC_NOT_UNROLLED
                for (uint32_t e = begin; e < stored_end; ++e)
                    row.template flip_part<first, all>(tables.effects, lists.mechanisms[e]);
                return;
            }
        }
        SNC_NOT_UNROLLED
        for (uint32_t e = begin; e < stored_end; ++e) row.flip(plan, tables.effects, lists.mechanisms[e]);
    }

    // Whether any of events [begin, end) of the block is one of leakage, or every shot has some.
    SNC_HOST_DEVICE bool has_leakage(uint32_t begin, uint32_t end, uint32_t num_stored) const {
        bool found = plan.num_leakage_always != 0;
        SNC_NOT_UNROLLED
        for (uint32_t e = begin; e < end; ++e)
            found = found || mechanism_of_event(e, num_stored) >= static_cast<uint32_t>(plan.first_leakage_mechanism);
        return found;
    }

    // The next mechanism after `last` among events [begin, end) of the block that is the decay of a record, or the end of these.
    SNC_HOST_DEVICE int32_t next_decay(int32_t last, uint32_t begin, uint32_t end, uint32_t num_stored) const {
        int32_t found = plan.first_leakage_mechanism;
        SNC_NOT_UNROLLED
        for (uint32_t e = begin; e < end; ++e) {
            const auto number = static_cast<int32_t>(mechanism_of_event(e, num_stored));
            if (plan.is_readout_decay(number) && number > last && number < found) found = number;
        }
        return found;
    }

    // XORs into the row of a shot the effects of records that decay. `bits` of readouts have what leakage flips.
    SNC_HOST_DEVICE void add_decays(Row& row, ReadoutRow& bits, uint32_t begin, uint32_t end, uint32_t num_stored, uint32_t shot) const {
        const auto* sites = plan.array<int32_t>(plan.sites);
        const auto mechanism = [&](uint32_t event) { return mechanism_of_event(begin + event, num_stored); };
        SNC_NOT_UNROLLED
        for (uint32_t event = 0; event < end - begin; ++event) {
            const uint32_t number = mechanism(event);
            if (static_cast<int32_t>(number) < plan.first_readout_decay && !site_is_used(sites, event, mechanism))
                bits.flip(plan, plan.event_readouts, number);
        }
        for_each_flipped_coin(plan.num_coins, seed, block, shot, [&](uint32_t coin) { bits.flip(plan, plan.coin_readouts, coin); });
        for_each_flipped_coin(
            plan.num_hidden_coins, seed, block, shot, [&](uint32_t coin) { bits.flip(plan, plan.hidden_coins, coin); }, Stream::readouts);
        SNC_NOT_UNROLLED
        for (int32_t decay = next_decay(-1, begin, end, num_stored); decay < plan.first_leakage_mechanism;
             decay = next_decay(decay, begin, end, num_stored)) {
            const auto is_set = [&](uint32_t bit) { return bits.is_set(bit); };
            if (!readout_differs(plan.array<int32_t>(plan.readout_predecessors), decay - plan.first_readout_decay, is_set)) continue;
            row.flip(plan, tables.effects, static_cast<uint32_t>(decay));
            bits.flip(plan, plan.event_readouts, static_cast<uint64_t>(decay));
        }
    }

    // XORs into the row of a shot, and into the bits of readouts if there are any, what its leakage flips. Returns whether the
    // shot fails a check: then its row may be wrong.
    SNC_HOST_DEVICE bool add_leakage(Row& row, ReadoutRow& bits, bool decays, uint32_t begin, uint32_t end, uint32_t num_stored,
                                     uint32_t shot, ScriptStates states) const {
        const auto* sites = plan.array<int32_t>(plan.sites);
        const auto mechanism = [&](uint32_t event) { return mechanism_of_event(begin + event, num_stored); };
        const auto acting = [&](uint32_t event) {
            const auto number = static_cast<int32_t>(mechanism(event));
            return number < plan.first_leakage_mechanism || site_is_used(sites, event, mechanism) ? -1 : number;
        };
        const auto is_set = [&](uint32_t check) { return row.is_set(check); };
        const auto flip = [&](int32_t number) {
            row.flip_leakage(plan, static_cast<uint32_t>(number));
            if (decays) bits.flip(plan, plan.leakage_readouts, static_cast<uint64_t>(number));
        };
        return follow_leakage(plan.leakage(), states, seed, block * block_shots + shot, end - begin, acting, is_set, flip);
    }

    // Finishes or queues the listed shots.
    template <typename Team>
    SNC_HOST_DEVICE void finish_shots(Team& team, uint32_t num_stored, Finished& finished) {
        const auto& layout = tables.layout;
        const uint32_t check_words = layout.check_words(), signature_words = layout.signature_words();
        if (event_free.are_kept && team.leads()) finished.kept += end_shot - begin_shot - num_listed;
        team.for_each_in_warps(num_listed, [&](uint32_t k, bool is_shot) {
            const uint32_t shot = is_shot ? lists.order[k] : 0;
            Row row;
            row.start(job, tables.constant(), layout.row_words(), team.index(), k);
            bool fails = false;
            if (is_shot) {
                const uint32_t begin = lists.starts[shot], end = lists.starts[shot + 1];
                apply_events(row, begin, end, num_stored);
                if (has_coins)
                    for_each_flipped_coin(plan.num_coins, seed, block, shot, [&](uint32_t coin) { row.flip_coin(plan, coin); });
                if constexpr (follows) {
                    const bool decays = next_decay(-1, begin, end, num_stored) < plan.first_leakage_mechanism;
                    ReadoutRow bits{};
                    if (decays) bits.start_in(job.readouts, plan.array<uint64_t>(plan.readout_constant), plan.readout_words, team.index(), k);
                    if (has_leakage(begin, end, num_stored)) {
                        // After the coins, so that checks are final.
                        uint16_t* states = job.script_states + uint64_t{team.index()} * plan.num_script_qubits * block_shots + k;
                        fails = add_leakage(row, bits, decays, begin, end, num_stored, shot, {states, block_shots});
                    }
                    if (decays && !fails) add_decays(row, bits, begin, end, num_stored, shot);
                }
            }
            const bool passes = is_shot && !fails && row.any(0, check_words) == 0;
            const bool is_zero = is_fixed && row.any(check_words, signature_words) == 0;
            const uint64_t number = block * block_shots + shot;
            const bool is_queued = passes && !is_zero;
            const uint64_t place = team.append(job.counters + queued, is_queued);
            if (is_queued && place < job.queue_capacity) {
                const uint32_t words = signature_words + layout.output_words();
                job.queue_shots[place] = number;
                for (uint32_t w = 0; w < words; ++w) job.queue_rows[place * words + w] = row.word(check_words + w);
            }
            keep(team, job, layout.output_words(), finished, passes && is_zero && is_kept, number,
                 [&](uint32_t w) { return row.word(check_words + signature_words + w) ^ tables.zero_outputs()[w]; });
        });
    }
};

// `follows`: whether the plan has leakage, or records that decay. The kernels of other plans need not have room for it.
template <typename Layout, bool tables_in_shared, bool follows, typename Team>
SNC_HOST_DEVICE void noise_kernel(Team& team, const Job& job) {
    BlockNoise<Layout, tables_in_shared, follows> noise(team, job);
    const uint64_t blocks_begin = job.first_shot / block_shots;
    const uint64_t num_blocks = (job.end_shot + block_shots - 1) / block_shots - blocks_begin;
    Finished finished(job);
    for (uint64_t taken = team.take(job.counters + next_block); taken < num_blocks;
         taken = team.take(job.counters + next_block)) {
        noise.start(blocks_begin + taken);
        noise.draw_counts(team);
        noise.list_shots(team);
        const uint32_t num_stored = noise.draw_events(team);
        noise.finish_shots(team, num_stored, finished);
    }
    add_finished(team, job, finished);
}

}  // namespace snc
