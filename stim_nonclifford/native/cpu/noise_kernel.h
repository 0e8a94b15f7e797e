// The noise of one block of shots: which shots pass the noise-only checks, and their rows.
//
// Included by kernels_isa.cc, once per instruction set, inside its namespace.
#pragma once

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "cpu/kernels.h"
#include "kernels/shared/leakage_scripts.h"
#include "kernels/shared/philox.h"

namespace snc::SNC_ISA {

// The end of the thresholds that all words are compared with: fewer than one word in 2^12 is above them.
constexpr uint64_t rare_word = ~uint64_t{0} - (~uint64_t{0} >> 12);
// With more thresholds than this, a binary search for each word is faster.
constexpr size_t max_compared_thresholds = 24;

inline uint32_t event_count(const std::vector<uint64_t>& thresholds, uint64_t word) {
    return static_cast<uint32_t>(std::upper_bound(thresholds.begin(), thresholds.end(), word) - thresholds.begin());
}

// counts[k] for k < end, and where the events of each shot start. Returns the total.
inline uint32_t draw_counts(const Plan& plan, uint64_t seed, uint64_t block, uint32_t end, NoiseBlock& out) {
    const auto& thresholds = plan.count_thresholds;
    uint64_t words[block_shots];
    for (uint32_t k = 0; k < end; k += words_per_draw) {
        const auto drawn = random_words(seed, Stream::counts, block, k / words_per_draw);
        std::copy(drawn.begin(), drawn.end(), words + k);
    }
    uint32_t* counts = out.counts;
    size_t compared = 0;
    while (compared < thresholds.size() && thresholds[compared] < rare_word) ++compared;
    if (compared > max_compared_thresholds) {
        for (uint32_t k = 0; k < end; ++k) counts[k] = event_count(thresholds, words[k]);
    } else {
        std::fill(counts, counts + end, 0);
        for (size_t t = 0; t < compared; ++t)
            for (uint32_t k = 0; k < end; ++k) counts[k] += words[k] >= thresholds[t];
        if (compared < thresholds.size())
            for (uint32_t k = 0; k < end; ++k)
                if (words[k] >= thresholds[compared]) [[unlikely]]
                    counts[k] = event_count(thresholds, words[k]);
    }
    uint32_t total = 0;
    for (uint32_t k = 0; k < end; ++k) {
        out.starts[k] = total;
        total += counts[k];
    }
    out.starts[end] = total;
    return total;
}

// Tables of more bytes do not stay in the nearest caches, so that look-ups are announced some time before.
constexpr size_t near_bytes = size_t{1} << 18;
// The distance, in events. A look-up in a distant cache takes as long as some ten events.
constexpr uint32_t events_ahead = 32;

// Rows in memory are assembled while the events of the next ones stay in the nearest caches.
constexpr uint32_t events_at_a_time = 4096;

// The mechanisms of events [begin, end) of the block, which out.events has afterwards. Returns the number of the first event
// that it has: words are drawn a few at a time.
template <bool announces>
inline uint32_t draw_events(const Plan& plan, uint64_t seed, uint64_t block, uint32_t begin, uint32_t end, NoiseBlock& out) {
    constexpr uint32_t at_a_time = 256;
    const uint32_t from = begin / words_per_draw * words_per_draw;
    if (out.events.size() < end - from + words_per_draw + events_ahead)
        out.events.resize(end - from + words_per_draw + events_ahead);
    const uint64_t size = plan.alias.size();
    const AliasCell* cells = plan.alias.data();
    for (uint32_t first = from; first < end; first += at_a_time) {
        const uint32_t stop = std::min(end, first + at_a_time);
        int32_t* const events = out.events.data() + (first - from);
        uint64_t words[at_a_time];
        for (uint32_t e = first; e < stop; e += words_per_draw) {
            const auto drawn = random_words(seed, Stream::events, block, e / words_per_draw);
            for (uint32_t lane = 0; lane < words_per_draw; ++lane) {
                if constexpr (announces) {
                    words[e - first + lane] = drawn[lane];
                    __builtin_prefetch(&cells[multiply(drawn[lane], size).high]);
                } else {
                    events[e - first + lane] = mechanism_of(cells, size, drawn[lane]);
                }
            }
        }
        if constexpr (announces)
            for (uint32_t k = 0; k < stop - first; ++k) events[k] = mechanism_of(cells, size, words[k]);
    }
    return from;
}

inline uint32_t draw_events(const Plan& plan, uint64_t seed, uint64_t block, uint32_t begin, uint32_t end, NoiseBlock& out) {
    if (plan.alias.size() * sizeof(AliasCell) > near_bytes) return draw_events<true>(plan, seed, block, begin, end, out);
    return draw_events<false>(plan, seed, block, begin, end, out);
}

// In place of the number of events of a shot that fails a check.
constexpr uint32_t failing = UINT32_MAX;

// Marks shots that fail because of their first event of leakage: mostly, one random word tells. They are found first, so that their
// rows are not assembled. Words are drawn in a loop of their own, whose iterations overlap: no branch in it is unpredictable.
inline void mark_failing(const Plan& plan, uint64_t seed, uint64_t block, uint32_t begin, uint32_t end, uint32_t first_event, NoiseBlock& out) {
    constexpr uint32_t at_a_time = 256;
    const int32_t* events = out.events.data();
    const int32_t first_leakage = plan.first_leakage_mechanism;
    uint32_t found[at_a_time + 1], shots[at_a_time];
    uint64_t decisive[at_a_time];
    uint32_t shot = begin, last_shot = end;
    for (uint32_t from = out.starts[begin]; from < out.starts[end]; from += at_a_time) {
        const uint32_t to = std::min(out.starts[end], from + at_a_time);
        uint32_t num_found = 0;
        for (uint32_t e = from; e < to; ++e) {
            found[num_found] = e;
            num_found += events[e - first_event] >= first_leakage;
        }
        for (uint32_t k = 0; k < num_found; ++k) {
            while (out.starts[shot + 1] <= found[k]) ++shot;
            const auto entry = static_cast<size_t>(events[found[k] - first_event] - first_leakage);
            decisive[k] = shot == last_shot ? 0 : plan.leakage_entries[entry].decisive;  // later events of a shot decide nothing
            shots[k] = last_shot = shot;
        }
        for (uint32_t k = 0; k < num_found; ++k) {
            const uint64_t word = random_words(seed, Stream::leakage, block * block_shots + shots[k], 0)[0];
            out.counts[shots[k]] |= (word & decisive[k]) != 0 ? failing : 0;
        }
    }
}

// Separates the shots [begin, end) without events, unless `all` is set, from the others. Returns the number of the others, of which
// those are left out that fail, if any may.
template <bool may_fail>
uint32_t separate(uint32_t begin, uint32_t end, bool all, NoiseBlock& out, uint16_t* busy) {
    uint32_t num_busy = 0;
    out.num_event_free = 0;
    for (uint32_t k = begin; k < end; ++k) {
        const bool is_busy = all || out.counts[k] != 0;
        busy[num_busy] = static_cast<uint16_t>(k);
        out.event_free[out.num_event_free] = static_cast<uint16_t>(k);
        // Without a branch that depends on a shot: it would be unpredictable.
        num_busy += may_fail ? static_cast<uint32_t>(is_busy) & static_cast<uint32_t>(out.counts[k] != failing) : is_busy;
        out.num_event_free += !is_busy;
    }
    return num_busy;
}

// The sites that the events of a shot have used.
class UsedSites {
   public:
    UsedSites(const Plan& plan, std::vector<uint32_t>& last_shots) : sites_(plan.sites.data()), last_shots_(last_shots) {
        last_shots_.assign(plan.num_sites, 0);
    }

    void begin_shot() { ++shot_; }

    // Whether an earlier event of the shot has used the site of a mechanism, which is used from now on.
    bool use(int32_t mechanism) {
        const int32_t site = sites_[mechanism];
        if (site < 0) return false;
        return std::exchange(last_shots_[static_cast<size_t>(site)], shot_) == shot_;
    }

   private:
    const int32_t* sites_;
    std::vector<uint32_t>& last_shots_;
    uint32_t shot_ = 0;
};

inline bool bit_is_set(const uint64_t* row, uint32_t check) { return (row[check / 64] >> (check % 64) & 1) != 0; }

// The records of a shot that may decay: what flips them. Most shots without such an event do not need them.
class Readouts {
   public:
    Readouts(const Plan& plan, std::vector<uint64_t>& bits, std::vector<int32_t>& decays)
        : plan_(plan), bits_(bits), decays_(decays) {
        bits_.resize(plan.readout_constant.size() + ListTable::spare_words);
    }

    // Whether they are needed.
    bool begin_shot(const int32_t* events, uint32_t count) {
        is_needed_ = plan_.num_readout_decays != 0 && std::any_of(events, events + count, [this](int32_t m) { return is_decay(m); });
        if (!is_needed_) return false;
        std::copy(plan_.readout_constant.begin(), plan_.readout_constant.end(), bits_.begin());
        decays_.clear();
        return true;
    }
    bool is_decay(int32_t mechanism) const {
        return mechanism >= plan_.first_readout_decay && mechanism < plan_.first_leakage_mechanism;
    }
    void add_event(int32_t mechanism) {
        if (is_decay(mechanism))
            decays_.push_back(mechanism);
        else
            plan_.event_readouts.flip(static_cast<size_t>(mechanism), bits_.data());
    }
    void add_leakage(int32_t number) { plan_.leakage_readouts.flip(static_cast<size_t>(number), bits_.data()); }
    // After all else, calls flip(mechanism, differs) for each decay of a record, and whether it differs from what it decays to.
    template <typename Flip>
    void follow_decays(uint64_t seed, uint64_t block, uint16_t shot, Flip flip) {
        // A shot has few decays: only the coins are looked at that these depend on.
        const auto is_set = [&](uint32_t bit) {
            uint64_t own = bits_[bit / 64] >> (bit % 64) & 1;
            for (uint32_t k = plan_.first_coin_parts[bit]; k < plan_.first_coin_parts[bit + 1]; ++k)
                own ^= static_cast<uint64_t>(std::popcount(coin_word(seed, block, shot, plan_.coin_parts[k].word) & plan_.coin_parts[k].mask));
            return (own & 1) != 0;
        };
        if (plan_.decays_interact) std::sort(decays_.begin(), decays_.end());
        for (const int32_t decay : decays_) {
            const bool differs = readout_differs(plan_.readout_predecessors.data(), decay - plan_.first_readout_decay, is_set);
            flip(decay, differs);
            if (plan_.decays_interact && differs) plan_.event_readouts.flip(static_cast<size_t>(decay), bits_.data());
        }
    }

   private:
    // A word of the coins of a shot, of which the hidden ones are the last.
    uint64_t coin_word(uint64_t seed, uint64_t block, uint16_t shot, uint32_t word) {
        const uint32_t words = words_for(plan_.num_coins);
        if (word < words) return random_word(seed, Stream::coins, block, uint64_t{shot} * words + word);
        // Mostly, the words of a draw are of four shots: the next ones need them, too.
        const uint64_t number = uint64_t{shot} * words_for(plan_.num_hidden_coins) + (word - words);
        if (number / words_per_draw != drawn_) {
            drawn_ = number / words_per_draw;
            words_ = random_words(seed, Stream::readouts, block, drawn_);
        }
        return words_[number % words_per_draw];
    }

    const Plan& plan_;
    std::vector<uint64_t>& bits_;
    std::vector<int32_t>& decays_;
    bool is_needed_ = false;
    uint64_t drawn_ = UINT64_MAX;  // which draw of hidden coins `words_` has
    DrawnWords words_{};
};

// So many events of a shot are compared with each other; for more of them, the sites are noted.
constexpr uint32_t compared_events = 64;

// What the events at sites change in a row that has the effects of all events: of a site, only the first event counts, an event
// of leakage has a script in place of an effect, and a record that decays may have the value already.
template <uint32_t W>
[[gnu::noinline]] void follow_sites(const Plan& plan, const LeakageTables& leakage, ScriptStates states, uint64_t seed, uint64_t block,
                                    uint16_t shot, const int32_t* mine, uint32_t count, int32_t first_site, UsedSites& used,
                                    Readouts& readouts, uint64_t* row) {
    const auto mechanism = [mine](uint32_t event) { return mine[event]; };
    const auto flip_by = [row](const std::vector<uint64_t>& rows, int32_t number) {
        for (uint32_t w = 0; w < W; ++w) row[w] ^= rows[static_cast<size_t>(number) * W + w];
    };
    used.begin_shot();
    const bool needs_readouts = readouts.begin_shot(mine, count);
    const auto acting = [&](uint32_t e) {
        const int32_t m = mine[e];
        const bool counts = m < first_site || !(count <= compared_events ? site_is_used(plan.sites.data(), e, mechanism) : used.use(m));
        if (!counts || readouts.is_decay(m)) flip_by(plan.effects.words, m);
        if (!counts) return -1;
        if (needs_readouts) readouts.add_event(m);
        return m;
    };
    const auto is_set = [row](uint32_t check) { return bit_is_set(row, check); };
    const auto flip = [&](int32_t number) {
        flip_by(plan.leakage_rows.words, number);
        if (needs_readouts) readouts.add_leakage(number);
    };
    if (follow_leakage(leakage, states, seed, block * block_shots + shot, count, acting, is_set, flip))
        row[0] |= 1;
    else if (needs_readouts)
        readouts.follow_decays(seed, block, shot, [&](int32_t decay, bool differs) {
            // A mask instead of a branch, which would be unpredictable.
            for (uint32_t w = 0; w < W; ++w) row[w] ^= -uint64_t{differs} & plan.effects.words[static_cast<size_t>(decay) * W + w];
        });
}

// Rows of W words, kept in registers.
template <uint32_t W>
void narrow_rows(const Plan& plan, uint64_t seed, uint64_t block, uint32_t num_shots, uint32_t first_event, NoiseBlock& out) {
    const uint32_t check_words = plan.layout.check_words;
    const uint64_t* effects = plan.effects.words.data();
    const int32_t* events = out.events.data();
    const int32_t first_site = plan.sites.empty() ? INT32_MAX : plan.first_site_mechanism;
    const LeakageTables leakage = plan.leakage();
    out.script_states.resize(leakage.num_script_qubits);
    const ScriptStates states{out.script_states.data(), 1};
    const bool always_leaks = leakage.num_always != 0;
    const int32_t first_leakage = leakage.first_mechanism;  // in a register: the address of the tables is taken
    // Rows that fail are written and then overwritten: there is room for one more than can pass.
    out.rows.resize(size_t{block_shots + 1} * W);
    UsedSites used(plan, out.last_shots_at_sites);
    Readouts readouts(plan, out.readouts, out.decays);
    uint32_t passed = 0;
    for (uint32_t i = 0; i < num_shots; ++i) {
        const uint16_t shot = out.order[i];
        const int32_t* mine = events + (out.starts[shot] - first_event);
        const uint32_t count = out.counts[shot];
        uint64_t row[W];
        for (uint32_t w = 0; w < W; ++w) row[w] = plan.constant[w];
        bool has_sites = always_leaks;
        for (uint32_t e = 0; e < count; ++e) {
            has_sites |= mine[e] >= first_site;
            // Effects of leakage are all empty: one of them stays in the nearest cache.
            const uint64_t* effect = effects + size_t(std::min(mine[e], first_leakage)) * W;
            for (uint32_t w = 0; w < W; ++w) row[w] ^= effect[w];
        }
        if (plan.num_coins != 0)
            for_each_flipped_coin(plan.num_coins, seed, block, shot, [&](uint32_t coin) {
                for (uint32_t w = 0; w < W; ++w) row[w] ^= plan.coins.words[size_t{coin} * W + w];
            });
        if (has_sites) {
            // After the coins, so that checks are final. A copy, so that the row itself stays in registers.
            uint64_t copy[W];
            for (uint32_t w = 0; w < W; ++w) copy[w] = row[w];
            follow_sites<W>(plan, leakage, states, seed, block, shot, mine, count, first_site, used, readouts, copy);
            for (uint32_t w = 0; w < W; ++w) row[w] = copy[w];
        }
        uint64_t fired = 0;
        for (uint32_t w = 0; w < W; ++w) fired |= w < check_words ? row[w] : 0;
        out.shots[passed] = shot;
        for (uint32_t w = 0; w < W; ++w) out.rows[size_t{passed} * W + w] = row[w];
        passed += fired == 0;
    }
    out.num_shots = passed;
}

// Rows of any length, in memory. Draws the events of the block's shots before `end`, some at a time.
inline void memory_rows(const Plan& plan, uint64_t seed, uint64_t block, uint32_t end, uint32_t num_shots, NoiseBlock& out) {
    const RowLayout& layout = plan.layout;
    const uint32_t words = layout.words();
    const OutputBytes* const bytes = out.output_bytes;
    const uint32_t kept_words = bytes == nullptr ? words : layout.signature_words;
    const uint32_t first_kept = bytes == nullptr ? 0 : layout.check_words;
    // Rows that fail are written and then overwritten: there is room for one more than can pass.
    out.rows.resize(size_t{block_shots + 1} * kept_words);
    out.row.resize(words + ListTable::spare_words);
    uint64_t* const row = out.row.data();
    const bool has_lists = plan.effects.are_lists;
    UsedSites used(plan, out.last_shots_at_sites);
    Readouts readouts(plan, out.readouts, out.decays);
    const LeakageTables leakage = plan.leakage();
    out.script_states.resize(leakage.num_script_qubits);
    const ScriptStates states{out.script_states.data(), 1};
    uint32_t passed = 0, first_event = 0, end_event = 0;
    for (uint32_t i = 0; i < num_shots; ++i) {
        const uint16_t shot = out.order[i];
        const uint32_t count = out.counts[shot];
        if (out.starts[shot + 1] > end_event) {
            uint32_t last = shot;
            while (last + 1 < end && out.starts[last + 2] - out.starts[shot] <= events_at_a_time) ++last;
            end_event = out.starts[last + 1];
            first_event = draw_events(plan, seed, block, out.starts[shot], end_event, out);
        }
        const int32_t* mine = out.events.data() + (out.starts[shot] - first_event);
        std::copy(plan.constant.begin(), plan.constant.end(), row);
        for_each_flipped_coin(plan.num_coins, seed, block, shot, [&](uint32_t coin) { plan.coins.flip(coin, row); });
        const auto announce = [&](uint32_t e) {
            // The events of the next shots follow.
            plan.effects.lists.announce(static_cast<size_t>(mine[e + events_ahead]));
            plan.effects.lists.announce_further(static_cast<size_t>(mine[e + events_ahead / 2]));
        };
        if (has_lists && plan.sites.empty() && leakage.num_always == 0) {
            for (uint32_t e = 0; e < count; ++e) {
                announce(e);
                plan.effects.lists.flip(static_cast<size_t>(mine[e]), row);
            }
        } else {
            used.begin_shot();
            const bool needs_readouts = readouts.begin_shot(mine, count);
            const auto acting = [&](uint32_t e) {
                const int32_t m = mine[e];
                if (has_lists) announce(e);
                if (!plan.sites.empty() && m >= plan.first_site_mechanism && used.use(m)) return -1;
                if (!readouts.is_decay(m)) plan.effects.flip(static_cast<size_t>(m), row);
                if (needs_readouts) readouts.add_event(m);
                return m;
            };
            const auto is_set = [row](uint32_t check) { return bit_is_set(row, check); };
            const auto flip = [&](int32_t number) {
                plan.leakage_rows.flip(static_cast<size_t>(number), row);
                if (needs_readouts) readouts.add_leakage(number);
            };
            if (follow_leakage(leakage, states, seed, block * block_shots + shot, count, acting, is_set, flip))
                row[0] |= 1;
            else if (needs_readouts)
                readouts.follow_decays(seed, block, shot, [&](int32_t decay, bool differs) {
                    if (differs) plan.effects.flip(static_cast<size_t>(decay), row);
                });
        }
        uint64_t fired = 0;
        for (uint32_t w = 0; w < layout.check_words; ++w) fired |= row[w];
        out.shots[passed] = shot;
        std::copy_n(row + first_kept, kept_words, out.rows.data() + size_t{passed} * kept_words);
        passed += fired == 0;
        if (bytes == nullptr || bytes->row_bytes == 0 || fired != 0) continue;
        uint64_t* const outputs = row + layout.first_output_word();
        outputs[(bytes->row_bytes - 1) / sizeof(uint64_t)] &= bytes->last_word;
        std::memcpy(bytes->row(shot), outputs, bytes->row_bytes);
    }
    out.num_shots = passed;
}

// For each shot the leading 12 bits of the first random word of its outcomes.
inline void draw_outcome_cells(uint64_t seed, uint64_t first_shot, const uint16_t* shots, uint32_t num_shots,
                               uint16_t* cells) {
    // Several shots at a time, because the rounds of one shot depend on each other.
    constexpr uint32_t at_a_time = 4;
    for (uint32_t k = 0; k < num_shots; k += at_a_time) {
        uint64_t words[at_a_time];
        for (uint32_t j = 0; j < at_a_time; ++j)
            words[j] = random_words(seed, Stream::outcomes, first_shot + shots[std::min(k + j, num_shots - 1)], 0)[0];
        for (uint32_t j = 0; j < at_a_time && k + j < num_shots; ++j) cells[k + j] = static_cast<uint16_t>(words[j] >> 52);
    }
}

inline void sample_noise(const Plan& plan, uint64_t seed, uint64_t block, uint32_t begin, uint32_t end,
                         NoiseBlock& out) {
    const uint32_t total = draw_counts(plan, seed, block, end, out);
    // Without coins, all shots without events have the constant row: the caller counts them.
    const bool all = plan.num_coins != 0 || !plan.leakage_always.empty();
    if (!plan.has_register_rows()) {
        const uint32_t num_busy = separate<false>(begin, end, all, out, out.order);
        return memory_rows(plan, seed, block, end, num_busy, out);
    }
    const uint32_t first_event = draw_events(plan, seed, block, out.starts[begin], total, out);
    const bool may_fail = !plan.leakage_entries.empty();
    if (may_fail) mark_failing(plan, seed, block, begin, end, first_event, out);
    // Its address stays here, so that it may be read and written at the same time as the arrays of `out`.
    uint16_t busy[block_shots + 1];
    const uint32_t num_busy = may_fail ? separate<true>(begin, end, all, out, busy) : separate<false>(begin, end, all, out, busy);
    std::copy_n(busy, num_busy, out.order);
    switch (plan.layout.words()) {
        case 1: return narrow_rows<1>(plan, seed, block, num_busy, first_event, out);
        case 2: return narrow_rows<2>(plan, seed, block, num_busy, first_event, out);
        case 3: return narrow_rows<3>(plan, seed, block, num_busy, first_event, out);
        case 4: return narrow_rows<4>(plan, seed, block, num_busy, first_event, out);
        case 5: return narrow_rows<5>(plan, seed, block, num_busy, first_event, out);
        case 6: return narrow_rows<6>(plan, seed, block, num_busy, first_event, out);
        case 7: return narrow_rows<7>(plan, seed, block, num_busy, first_event, out);
        default: return narrow_rows<8>(plan, seed, block, num_busy, first_event, out);
    }
}

}  // namespace snc::SNC_ISA
