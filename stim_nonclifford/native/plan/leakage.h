// The scripts of leakage: what a leaked qubit flips. Their items are those of `stim_nonclifford/simulation/plan.py`.
#pragma once

#include <algorithm>
#include <cstdint>

#include "kernels/shared/philox.h"

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

// The random words of a shot's leakage, one after the other.
class LeakageWords {
   public:
    LeakageWords(uint64_t seed, uint64_t shot) : seed_(seed), shot_(shot) {}

    // Whether an item happens. A certain one takes no word.
    bool happens(uint64_t threshold) { return threshold == ~uint64_t{0} || next() <= threshold; }

    // The word that decides final checks. No other draw takes it.
    uint64_t deciding() {
        drawn_ = random_words(seed_, Stream::leakage, shot_, 0);
        return drawn_[0];
    }

    // Some random bits, from 1 to 64.
    uint64_t bits(uint32_t count) {
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
    uint64_t next() {
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
void follow_script(const LeakageItem* item, int32_t* states, LeakageWords& words, Flip flip, Decide decide) {
    for (; item->kind != leakage_end; ++item) {
        int32_t& state = states[item->qubit];
        if ((item->states >> state & 1) == 0) continue;
        switch (item->kind) {
            case leakage_mix: {
                const bool is_last = item[1].kind == leakage_end;
                for (int32_t end = item->end_row; end > item->first_row;) {
                    const int32_t count = std::min(end - item->first_row, max_mixed_rows);
                    const uint64_t bits = words.bits(static_cast<uint32_t>(count));
                    for (int32_t k = 0; k < count; ++k) {
                        const auto row = static_cast<size_t>(end - 1 - k);
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
                if (item->kind == leakage_change) state = item->to;
                for (int32_t row = item->first_row; row < item->end_row; ++row) flip(static_cast<size_t>(row));
                if (item->kind == leakage_flip) item += item->to;  // flips that exclude each other
        }
    }
}

}  // namespace snc
