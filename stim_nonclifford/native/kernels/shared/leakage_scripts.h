// Follows the scripts of leakage of a shot, on the CPU and on the GPU.
#pragma once

#include "kernels/shared/leakage.h"

namespace snc {

struct MixedRow {
    bool is_flipped, stops;
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
    SNC_HOST_DEVICE uint64_t next() {
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

// What leakage flips in one shot. Few shots have any.
//
// A leaked qubit flips a random half of many rows, and mostly fails a check. The first event of a shot is followed after all others:
// then some of its checks are final, and one word says at once whether any of them fails.
//
// event(k) is the mechanism of event k of the shot, or -1 if it does not count; is_set(check) says whether a check of the shot is set,
// after all else that flips it. Returns whether the shot fails a check: then not all is flipped.
template <typename Event, typename IsSet, typename Flip>
SNC_HOST_DEVICE bool follow_leakage(const LeakageTables& tables, ScriptStates states, uint64_t seed, uint64_t shot, uint32_t num_events, Event event,
                                    IsSet is_set, Flip flip) {
    LeakageWords words(seed, shot);
    const LeakageEntry* first = nullptr;
    bool fails = false;
    const uint32_t first_event = tables.num_always, last = first_event + num_events;
    SNC_NOT_UNROLLED
    for (uint32_t k = 0; k <= last; ++k) {
        LeakageEntry entry{};
        if (k < first_event) {
            entry.item = tables.always[k];
        } else if (k < last) {
            const int32_t mechanism = event(k - first_event);
            if (mechanism < tables.first_mechanism || fails) continue;
            entry = tables.entries[mechanism - tables.first_mechanism];
            if (first == nullptr) {
                first = &tables.entries[mechanism - tables.first_mechanism];
                fails = entry.decisive != 0 && (words.deciding() & entry.decisive) != 0;
                continue;
            }
        } else {
            if (first == nullptr || fails) break;
            entry = *first;
        }
        SNC_NOT_UNROLLED
        for (uint32_t qubit = 0; qubit < tables.num_script_qubits; ++qubit) states[static_cast<int32_t>(qubit)] = 0;
        states[entry.qubit] = static_cast<uint16_t>(entry.state);
        follow_script(&tables.items[entry.item], states, words, flip, [&](int32_t row, bool bit) {
            const int32_t check = k < last ? -1 : tables.final_checks[row];
            if (check < 0) return MixedRow{bit, false};
            const bool fires = is_set(static_cast<uint32_t>(check));
            if (entry.decisive != 0) return MixedRow{fires, false};
            fails = bit != fires;
            return MixedRow{bit, fails};
        });
    }
    return fails;
}

}  // namespace snc
