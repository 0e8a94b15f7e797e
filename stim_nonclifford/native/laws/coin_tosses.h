// The tosses of fair coins over which the outcome law of a key is averaged.
//
// A law depends on the coins through angles, checks and outputs. Terms of an operation whose signs flip together add an angle
// that flips as a whole; where it is zero, no coin that flips these terms matters to it. So it is for the conditional correction of
// a teleported T gate: as long as no fault flips its record, the coins of the gate and of its correction cancel. What matters
// to a key is therefore the values of few parities of coins, and these values are equally probable.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "plan/plan.h"

namespace snc {

class CoinTosses {
   public:
    static constexpr size_t max_coins = 64, max_coins_that_matter = 20;

    // `coins`, [coins][key_words], with at most max_coins coins; a key has signature words, then output words.
    CoinTosses(const Plan& plan, std::vector<uint64_t> coins);

    bool has_coins() const { return !coins_.empty(); }
    // How many tosses of the coins matter to a key. They are equally probable. Throws ResourceLimit if these are too many.
    uint64_t num_tosses(const uint64_t* key) const { return uint64_t{1} << coins_that_matter(key).size(); }
    // Calls use(key) for each of these tosses.
    template <typename Use>
    void for_each_toss(const uint64_t* key, Use use) const {
        const std::vector<uint32_t> tossed = coins_that_matter(key);
        std::vector<uint64_t> flipped(key, key + key_words_);
        use(std::span<const uint64_t>(flipped));
        // In the order of a Gray code, each toss differs from the one before by a coin.
        for (uint64_t k = 1; k < uint64_t{1} << tossed.size(); ++k) {
            const std::span<const uint64_t> coin = this->coin(tossed[static_cast<size_t>(std::countr_zero(k))]);
            for (size_t w = 0; w < key_words_; ++w) flipped[w] ^= coin[w];
            use(std::span<const uint64_t>(flipped));
        }
    }

   private:
    // At most max_coins_that_matter coins whose tosses, the others not tossed, give each value of the parities that matter to a key once.
    std::vector<uint32_t> coins_that_matter(const uint64_t* key) const;

    // What a coin flips, [key_words].
    std::span<const uint64_t> coin(uint32_t number) const { return {coins_.data() + number * key_words_, key_words_}; }

    // A set of coins, as bits. A parity that matters is that of the tosses of a set.
    using Coins = uint64_t;

    struct Sign {
        uint32_t bit;      // of the branch row
        bool is_negative;  // whether the term turns backwards where the bit is not set
    };
    // Terms of one operation whose signs flip together, in groups of equal angles, each of an even number of terms.
    struct Bundle {
        Coins coins;
        std::vector<std::vector<Sign>> groups;
    };

    // Sets without a common structure: each has a leading coin that later ones lack.
    struct Basis {
        std::vector<Coins> sets;
        std::vector<uint32_t> leading;

        void add(Coins coins);
    };

    void find_bundles(const std::vector<Coins>& coins_of_bit);
    static bool cancels(const Bundle& bundle, const std::vector<uint64_t>& row);

    const Plan& plan_;
    const std::vector<uint64_t> coins_;
    const size_t key_words_;
    Basis always_;  // the parities that matter to each key
    std::vector<Bundle> bundles_;
};

}  // namespace snc
