// The scripts of leakage: what a leaked qubit flips. Their items are those of `stim_nonclifford/simulation/plan.py`.
#pragma once

#include "noise_draws.h"

namespace snc {

enum LeakageKind : int32_t { leakage_change, leakage_flip, leakage_mix, leakage_end, leakage_spread, leakage_move };

struct LeakageItem {
    uint64_t threshold;
    int32_t kind, states, to, first_row, end_row, qubit, partner;
};

// An event of leakage: it is followed from an item on, with one qubit in a state, and the others computational. If `decisive` is not 0, the qubit stays there and
// mixes the rows of the last item for certain, and these bits of a random word are what its final checks are afterwards.
struct LeakageEntry {
    uint64_t decisive;
    int32_t item, qubit, state;
};

struct MixedRow {
    bool is_flipped, stops;
};

constexpr int32_t num_leakage_states = 3;
constexpr int32_t max_script_qubits = 1 << 20;
constexpr int32_t max_mixed_rows = 64;  // at a time, as a word has so many bits

// Where a plan has its leakage. The last mechanisms are its events, one for each entry.
struct LeakageTables {
    const LeakageItem* items;
    const LeakageEntry* entries;
    const int32_t* always;        // the items from which every shot follows a script
    const int32_t* final_checks;  // of each row a check that it has and no earlier row that is mixed with it, or -1
    int32_t first_mechanism;
    uint32_t num_always, num_script_qubits;
};

// The states of the qubits of a script, in memory of the caller: one after the other, so many places apart.
struct ScriptStates {
    uint16_t* states;
    uint32_t stride;

    SNC_HOST_DEVICE uint16_t& operator[](int32_t qubit) { return states[uint64_t{static_cast<uint32_t>(qubit)} * stride]; }
};

// The random words of a shot's leakage, one after the other.
class LeakageWords {
   public:
    SNC_HOST_DEVICE LeakageWords(uint64_t seed, uint64_t shot) : seed_(seed), shot_(shot) {}

    // Whether an item happens. A certain one takes no word.
    SNC_HOST_DEVICE bool happens(uint64_t threshold) { return threshold == ~uint64_t{0} || next() <= threshold; }

    // The word that decides final checks. No other draw takes it.
    SNC_HOST_DEVICE uint64_t deciding() {
        drawn_ = random_words(seed_, Stream::leakage, shot_, 0);
        return drawn_[0];
    }

    // Some random bits, from 1 to 64.
    SNC_HOST_DEVICE uint64_t bits(uint32_t count) {
        if (num_left_ < count) {
            left_ = next();
            num_left_ = 64;
        }
        const uint64_t found = left_ & (~uint64_t{0} >> (64 - count));
        left_ = count == 64 ? 0 : left_ >> count;
        num_left_ -= count;
        return found;
    }

   private:
    SNC_HOST_DEVICE_CALLED uint64_t next() {
        if (position_ == 1 || position_ % words_per_draw == 0) drawn_ = random_words(seed_, Stream::leakage, shot_, position_ / words_per_draw);
        return drawn_[position_++ % words_per_draw];
    }

    uint64_t seed_, shot_, position_ = 1, left_ = 0;
    uint32_t num_left_ = 0;
    DrawnWords drawn_;
};

// Follows a script from an item on. `states` has the states of its qubits. Calls flip(row) for each row that is flipped. For the
// rows of the last item, decide(row, bit) says what to do instead of the bit that is drawn.
template <typename Flip, typename Decide>
SNC_HOST_DEVICE void follow_script(const LeakageItem* item, ScriptStates states, LeakageWords& words, Flip flip, Decide decide) {
    SNC_NOT_UNROLLED
    for (; item->kind != leakage_end; ++item) {
        uint16_t& state = states[item->qubit];
        if ((item->states >> state & 1) == 0) continue;
        switch (item->kind) {
            case leakage_mix: {
                const bool is_last = item[1].kind == leakage_end;
                SNC_NOT_UNROLLED
                for (int32_t end = item->end_row; end > item->first_row;) {
                    const int32_t left = end - item->first_row, count = left < max_mixed_rows ? left : max_mixed_rows;
                    const uint64_t bits = words.bits(static_cast<uint32_t>(count));
                    SNC_NOT_UNROLLED
                    for (int32_t k = 0; k < count; ++k) {
                        const int32_t row = end - 1 - k;
                        const bool bit = (bits >> k & 1) != 0;
                        const MixedRow found = is_last ? decide(row, bit) : MixedRow{bit, false};
                        if (found.is_flipped) flip(row);
                        if (found.stops) return;
                    }
                    end -= count;
                }
                break;
            }
            case leakage_spread:
            case leakage_move:
                if (states[item->partner] == 0 && words.happens(item->threshold)) {
                    states[item->partner] = state;
                    if (item->kind == leakage_move) state = 0;
                }
                break;
            default:
                if (!words.happens(item->threshold)) break;
                if (item->kind == leakage_change) state = static_cast<uint16_t>(item->to);
                SNC_NOT_UNROLLED
                for (int32_t row = item->first_row; row < item->end_row; ++row) flip(row);
                if (item->kind == leakage_flip) item += item->to;  // flips that exclude each other
        }
    }
}

// The leakage of one shot. Few shots have any.
//
// A leaked qubit flips a random half of many rows, and mostly fails a check. The first event of a shot is followed after all others:
// then some of its checks are final, and one word says at once whether any of them fails.
class ShotLeakage {
   public:
    SNC_HOST_DEVICE ShotLeakage(const LeakageTables& tables, ScriptStates states, uint64_t seed, uint64_t shot)
        : tables_(tables), states_(states), words_(seed, shot) {}

    // Scripts that every shot follows.
    template <typename Flip>
    SNC_HOST_DEVICE void follow_always(Flip flip) {
        SNC_NOT_UNROLLED
        for (uint32_t k = 0; k < tables_.num_always; ++k) follow({0, tables_.always[k], 0, 0}, flip, plain);
    }

    // An event, if its mechanism is one of leakage.
    template <typename Flip>
    SNC_HOST_DEVICE void note_event(int32_t mechanism, Flip flip) {
        if (mechanism < tables_.first_mechanism) return;
        const LeakageEntry& entry = tables_.entries[mechanism - tables_.first_mechanism];
        if (first_ == nullptr) {
            first_ = &entry;
            fails_ = entry.decisive != 0 && (words_.deciding() & entry.decisive) != 0;
        } else if (!fails_) {
            follow(entry, flip, plain);
        }
    }

    // The first event, after all that is_set(check) depends on. Returns whether the shot fails a check: then its row may be wrong.
    template <typename IsSet, typename Flip>
    SNC_HOST_DEVICE bool follow_first(IsSet is_set, Flip flip) {
        if (first_ == nullptr || fails_) return fails_;
        follow(*first_, flip, [&](int32_t row, bool bit) {
            const int32_t check = tables_.final_checks[row];
            if (check < 0) return MixedRow{bit, false};
            const bool fires = is_set(static_cast<uint32_t>(check));
            if (first_->decisive != 0) return MixedRow{fires, false};
            fails_ = bit != fires;
            return MixedRow{bit, fails_};
        });
        return fails_;
    }

   private:
    SNC_HOST_DEVICE static MixedRow plain(int32_t, bool bit) { return {bit, false}; }

    template <typename Flip, typename Decide>
    SNC_HOST_DEVICE void follow(const LeakageEntry& entry, Flip flip, Decide decide) {
        const LeakageItem* const item = &tables_.items[entry.item];
        SNC_NOT_UNROLLED
        for (uint32_t qubit = 0; qubit < tables_.num_script_qubits; ++qubit) states_[static_cast<int32_t>(qubit)] = 0;
        states_[entry.qubit] = static_cast<uint16_t>(entry.state);
        follow_script(item, states_, words_, flip, decide);
    }

    const LeakageTables& tables_;
    ScriptStates states_;
    LeakageWords words_;
    const LeakageEntry* first_ = nullptr;
    bool fails_ = false;
};

}  // namespace snc
