// The tosses of fair coins over which the outcome law of a key is averaged.
//
// A law depends on the coins through angles, checks and outputs. Terms of an operation whose signs flip together add an angle
// that flips as a whole; where it is zero, no coin that flips these terms matters to it. So it is for the conditional correction of
// a teleported T gate: as long as no fault flips its record, the coins of the gate and of its correction cancel. And it does not
// depend on *mirrors*: a new coordinate starts in |+> or |0>, and its X or Z leaves that as it is; moved through the operations, it
// reverses the angles of those with which it anticommutes, and flips outcomes. What matters to a key is therefore the values of few
// parities of coins that no mirror flips, and these values are equally probable. A coin that matters to no key is none: where nothing
// flips the record of a teleported T gate alone, there are no coins to toss.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "algebra/bits.h"
#include "plan/plan.h"
#include "simulation/branch_row.h"

namespace snc {

class CoinTosses {
   public:
    static constexpr size_t max_coins_that_matter = 20;

    // `coins`, [coins][key_words]; a key has signature words, then output words.
    CoinTosses(const Plan& plan, std::vector<uint64_t> coins);

    // Whether there may be a key to which some coin matters.
    bool has_coins() const { return !bundles_.empty() || std::ranges::any_of(always_.leading, [&](size_t first) { return is_coin(first); }); }
    // Coins whose tosses, the others not tossed, give each value of the parities that matter to a key once; these tosses are equally
    // probable. Throws ResourceLimit for more than max_coins_that_matter.
    std::vector<uint32_t> coins_that_matter(const uint64_t* key) const;
    // Calls use(key) for each toss of some coins.
    template <typename Use>
    void for_each_toss(const uint64_t* key, const std::vector<uint32_t>& tossed, Use use) const {
        use(std::span<const uint64_t>(key, key_words_));
        if (tossed.empty()) return;
        std::vector<uint64_t> flipped(key, key + key_words_);
        // In the order of a Gray code, each toss differs from the one before by a coin.
        for (uint64_t k = 1; k < uint64_t{1} << tossed.size(); ++k) {
            const std::span<const uint64_t> coin = this->coin(tossed[static_cast<size_t>(std::countr_zero(k))]);
            for (size_t w = 0; w < key_words_; ++w) flipped[w] ^= coin[w];
            use(std::span<const uint64_t>(flipped));
        }
    }

   private:
    // What a coin flips, [key_words].
    std::span<const uint64_t> coin(uint32_t number) const { return {coins_.data() + number * key_words_, key_words_}; }

    // A set of mirrors and coins, as bits: mirrors first. A parity that matters is that of the tosses of a set.
    using Flips = Bits;

    struct Sign {
        int32_t bit;       // of the branch row; -1 for a constant sign
        bool is_negative;  // whether the term turns backwards where the bit is not set
    };
    // Terms of one operation whose signs flip together, in groups of equal angles, each of an even number of terms.
    struct Bundle {
        Flips flips;
        std::vector<std::vector<Sign>> groups;
    };

    // Independent sets, [sets][words]. Each has a leading member, the first one, which later sets lack.
    struct Basis {
        std::vector<uint64_t> sets{};
        std::vector<size_t> leading{};

        // The set has as many words as all others.
        void add(const Flips& flips);
    };

    // What flips each bit of the branch row, and each constant sign, by its term.
    struct Causes {
        std::vector<Flips> bits, constants;
    };
    bool is_coin(size_t flip) const { return flip >= num_mirrors_; }
    // Adds what a mirror flips, if signs can follow it.
    void add_mirror(size_t activation, const std::vector<IndexPauli>& paulis, Causes& causes);
    void find_bundles(const std::vector<IndexPauli>& paulis, const Causes& causes);
    static bool cancels(const Bundle& bundle, const BranchRow& row);
    // Whether angles of a bundle cancel in rows of all signatures. `flipped_by`: the signature bits that flip each bit of a row.
    bool always_cancels(const Bundle& bundle, const std::vector<Bits>& flipped_by) const;

    const Plan& plan_;
    const std::vector<uint64_t> coins_;
    const size_t key_words_;
    size_t num_mirrors_ = 0;
    Basis always_;  // the parities that matter to each key
    std::vector<Bundle> bundles_;
};

}  // namespace snc
