// Interprets the random words of a block of shots: numbers of events, mechanisms, coins.
#pragma once

#include "kernels/shared/philox.h"

namespace snc {

constexpr uint32_t block_shots = 1024;

struct AliasCell {
    uint64_t threshold;
    int32_t alias;
};

// A word of a row that a row of a table changes.
struct WordFlip {
    uint32_t word;
    uint64_t mask;
};

// Rows of at most this many words are narrow. They are kept in registers if the tables of the plan consist of words.
constexpr uint32_t max_narrow_words = 8;

// The number of thresholds <= word, if it is at least `first`.
SNC_HOST_DEVICE uint32_t count_from(const uint64_t* thresholds, uint32_t num_thresholds, uint32_t first, uint64_t word) {
    SNC_NOT_UNROLLED
    while (first < num_thresholds && word >= thresholds[first]) ++first;
    return first;
}

// A cell of the alias table, or its alias.
SNC_HOST_DEVICE int32_t chosen_cell(int32_t cell, int32_t alias, bool stays) {
    // A mask instead of a branch, which would be unpredictable.
    return alias ^ ((alias ^ cell) & -static_cast<int32_t>(stays));
}

// The mechanism of an event, by the alias table.
SNC_HOST_DEVICE int32_t mechanism_of(const AliasCell* cells, uint64_t num_cells, uint64_t word) {
    const Product product = multiply(word, num_cells);
    const auto cell = static_cast<int32_t>(product.high);
    const AliasCell& entry = cells[cell];
    return chosen_cell(cell, entry.alias, product.low < entry.threshold);
}
// The same with an array for each column of the table.
SNC_HOST_DEVICE int32_t mechanism_of(const uint64_t* thresholds, const int32_t* aliases, uint64_t num_cells, uint64_t word) {
    const Product product = multiply(word, num_cells);
    const auto cell = static_cast<int32_t>(product.high);
    return chosen_cell(cell, aliases[cell], product.low < thresholds[cell]);
}

// Whether an event of a shot happens at a site that an earlier event of the shot has used. Events of the shot
// are numbered from 0 on; mechanism(k) is that of event k.
template <typename Mechanism>
SNC_HOST_DEVICE bool site_is_used(const int32_t* sites, uint32_t event, Mechanism mechanism) {
    const int32_t site = sites[mechanism(event)];
    if (site < 0) return false;
    SNC_NOT_UNROLLED
    for (uint32_t earlier = 0; earlier < event; ++earlier)
        if (sites[mechanism(earlier)] == site) return true;
    return false;
}

// Calls use(c) for each coin c of the shot that is flipped.
template <typename Use>
SNC_HOST_DEVICE void for_each_flipped_coin(uint32_t num_coins, uint64_t seed, uint64_t block, uint32_t shot, Use use,
                                           Stream stream = Stream::coins) {
    const uint32_t words_per_shot = words_for(num_coins);
    SNC_NOT_UNROLLED
    for (uint32_t w = 0; w < words_per_shot; ++w) {
        uint64_t word = random_word(seed, stream, block, uint64_t{shot} * words_per_shot + w);
        if (w == words_per_shot - 1 && num_coins % 64 != 0) word &= (uint64_t{1} << num_coins % 64) - 1;
        SNC_NOT_UNROLLED
        for (; word != 0; word &= word - 1) use(64 * w + lowest_bit(word));
    }
}

// Whether a record differs from what it decays to: the sum of the bits of readouts along its chain.
template <typename IsSet>
SNC_HOST_DEVICE bool readout_differs(const int32_t* predecessors, int32_t decay, IsSet is_set) {
    bool differs = false;
    SNC_NOT_UNROLLED
    for (; decay >= 0; decay = predecessors[decay]) differs = differs != is_set(static_cast<uint32_t>(decay));
    return differs;
}

}  // namespace snc
