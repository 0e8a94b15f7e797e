#include "laws/coin_tosses.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <tuple>
#include <string>
#include <utility>

#include "base/resource_limit.h"

namespace snc {

namespace {

bool is_set(const uint64_t* words, size_t bit) { return (words[bit / 64] >> (bit % 64) & 1) != 0; }

}  // namespace

void CoinTosses::Basis::add(Coins coins) {
    for (size_t k = 0; k < sets.size(); ++k)
        if ((coins >> leading[k] & 1) != 0) coins ^= sets[k];
    if (coins == 0) return;
    sets.push_back(coins);
    leading.push_back(static_cast<uint32_t>(std::countr_zero(coins)));
}

CoinTosses::CoinTosses(const Plan& plan, std::vector<uint64_t> coins)
    : plan_(plan), coins_(std::move(coins)), key_words_(plan.layout.signature_words + plan.layout.output_words) {
    if (coins_.empty()) return;
    const size_t num_bits = 64 * size_t{plan.branch_words};
    std::vector<Coins> coins_of_bit(num_bits);
    for (uint32_t c = 0; c < coins_.size() / key_words_; ++c) {
        const std::span<const uint64_t> flipped = coin(c);
        for_each_one(flipped.data(), plan.layout.signature_words, [&](uint32_t bit) {
            plan.signature_images.for_each_one(bit, [&](uint32_t one) { coins_of_bit[one] ^= Coins{1} << c; });
        });
        for_each_one(flipped.data() + plan.layout.signature_words, plan.layout.output_words,
                     [&](uint32_t output) { coins_of_bit[64 * size_t{plan.sign_words} + output] ^= Coins{1} << c; });
    }
    find_bundles(coins_of_bit);
}

void CoinTosses::find_bundles(const std::vector<Coins>& coins_of_bit) {
    std::vector<std::vector<uint32_t>> outcomes_of_bit(coins_of_bit.size());
    for (uint32_t outcome = 0; outcome < plan_.num_outcomes; ++outcome)
        plan_.outcome_effects.for_each_one(outcome, [&](uint32_t bit) { outcomes_of_bit[bit].push_back(outcome); });
    std::vector<bool> is_sign(coins_of_bit.size());
    for (const Operation& operation : plan_.operations) {
        std::map<std::pair<Coins, std::vector<uint32_t>>, std::map<std::pair<double, double>, std::vector<Sign>>> found;
        for (auto t = static_cast<size_t>(operation.first_term); t < static_cast<size_t>(operation.end_term); ++t) {
            const RotationTerm& term = plan_.terms[t];
            if (term.sign < 0) continue;
            const auto bit = static_cast<uint32_t>(term.sign);
            is_sign[bit] = true;
            if (coins_of_bit[bit] == 0) continue;
            const bool is_negative = std::signbit(term.sine) != (term.is_reversed != 0) != is_set(plan_.branch_constant.data(), bit);
            found[{coins_of_bit[bit], outcomes_of_bit[bit]}][{term.cosine, std::abs(term.sine)}].push_back({bit, is_negative});
        }
        for (auto& [kind, groups] : found) {
            Bundle bundle{kind.first, {}};
            for (auto& [angle, signs] : groups) bundle.groups.push_back(std::move(signs));
            // An odd number of equal angles never cancels.
            if (std::ranges::all_of(bundle.groups, [](const auto& signs) { return signs.size() % 2 == 0; }))
                bundles_.push_back(std::move(bundle));
            else
                always_.add(kind.first);
        }
    }
    for (size_t bit = 0; bit < coins_of_bit.size(); ++bit)
        if (!is_sign[bit]) always_.add(coins_of_bit[bit]);
}

bool CoinTosses::cancels(const Bundle& bundle, const std::vector<uint64_t>& row) {
    return std::ranges::all_of(bundle.groups, [&](const std::vector<Sign>& signs) {
        const auto negative = std::ranges::count_if(signs, [&](Sign sign) { return is_set(row.data(), sign.bit) != sign.is_negative; });
        return 2 * static_cast<size_t>(negative) == signs.size();
    });
}

std::vector<uint32_t> CoinTosses::coins_that_matter(const uint64_t* key) const {
    Basis basis = always_;
    if (!bundles_.empty()) {
        std::vector<uint64_t> row(plan_.branch_words);
        for_each_one(key, plan_.layout.signature_words, [&](uint32_t bit) { plan_.signature_images.flip_exactly(bit, row.data()); });
        for (const Bundle& bundle : bundles_)
            if (!cancels(bundle, row)) basis.add(bundle.coins);
    }
    if (basis.leading.size() > max_coins_that_matter)
        throw ResourceLimit("The outcome law of a fault set is an average over 2^" + std::to_string(basis.leading.size()) +
                            " tosses of fair coins (random records of measurements); the limit is 2^" +
                            std::to_string(max_coins_that_matter) + ". sample_counts has no such limit.");
    return basis.leading;
}

}  // namespace snc
