#include "rates/set_laws/coin_tosses.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <string>
#include <tuple>
#include <utility>

#include "algebra/bits.h"
#include "base/resource_limit.h"

namespace snc {

namespace {

// Finds rotations about the same Pauli: whatever stands between them commutes with it, so that their angles add up.
class Axes {
   public:
    // The number of an operation's Pauli, and whether its angle counts negative.
    std::pair<size_t, bool> of(const Operation& operation, const IndexPauli& pauli) {
        std::erase_if(known_, [&](const Axis& axis) { return axis.pauli.anticommutes(pauli); });
        std::pair<size_t, bool> found{next_, false};
        if (operation.first_term != operation.end_term && !operation.measures()) {
            const auto equal = std::ranges::find(known_, pauli, &Axis::pauli);
            if (equal == known_.end())
                known_.push_back({pauli, operation.i_power, next_});
            else
                found = {equal->number, equal->i_power != operation.i_power};
        }
        ++next_;
        if (operation.measures()) measure(pauli, static_cast<size_t>(operation.pivot));
        return found;
    }

   private:
    struct Axis {
        IndexPauli pauli;
        int32_t i_power;
        size_t number;  // of the first operation about it
    };

    void measure(const IndexPauli& measured, size_t pivot) {
        // Those that would be multiplied by the measured Pauli get its sign, which is not followed here.
        std::erase_if(known_, [&](const Axis& axis) { return axis.pauli.has_pivot(measured, pivot); });
        for (Axis& axis : known_) axis.pauli.measure(measured, pivot);
    }

    std::vector<Axis> known_;
    size_t next_ = 0;
};

}  // namespace

void CoinTosses::Basis::add(const Flips& flips) {
    const size_t words = flips.size(), begin = sets.size();
    sets.insert(sets.end(), flips.begin(), flips.end());
    uint64_t* const set = sets.data() + begin;
    for (size_t k = 0; k < leading.size(); ++k)
        if ((set[leading[k] / 64] >> (leading[k] % 64) & 1) != 0)
            for (size_t w = 0; w < words; ++w) set[w] ^= sets[k * words + w];
    for (size_t w = 0; w < words; ++w) {
        if (set[w] == 0) continue;
        leading.push_back(64 * w + static_cast<size_t>(std::countr_zero(set[w])));
        return;
    }
    sets.resize(begin);
}

CoinTosses::CoinTosses(const Plan& plan, std::vector<uint64_t> coins)
    : plan_(plan), coins_(std::move(coins)), key_words_(plan.layout.signature_words + plan.layout.output_words) {
    if (coins_.empty()) return;
    const size_t num_coins = coins_.size() / key_words_;
    const auto num_activations = static_cast<size_t>(std::ranges::count(plan.operations, Kind::activate, &Operation::kind));
    const Flips none(words_for(static_cast<uint32_t>(num_activations + num_coins)));
    Causes causes{std::vector<Flips>(64 * size_t{plan.branch_words}, none), std::vector<Flips>(plan.terms.size(), none)};
    std::vector<IndexPauli> paulis;
    for (size_t k = 0; k < plan.operations.size(); ++k) paulis.push_back(plan.operations.pauli(k));
    for (size_t k = 0; k < plan.operations.size(); ++k)
        if (plan.operations[k].kind == Kind::activate) add_mirror(k, paulis, causes);
    for (uint32_t c = 0; c < num_coins; ++c) {
        const std::span<const uint64_t> flipped = coin(c);
        const size_t flip = num_mirrors_ + c;
        for_each_one(flipped.data(), plan.layout.signature_words, [&](uint32_t bit) {
            plan.signature_images.for_each_one(bit, [&](uint32_t one) { flip_bit(causes.bits[one], flip); });
        });
        for_each_one(flipped.data() + plan.layout.signature_words, plan.layout.output_words,
                     [&](uint32_t output) { flip_bit(causes.bits[64 * size_t{plan.sign_words} + output], flip); });
    }
    find_bundles(paulis, causes);
}

void CoinTosses::add_mirror(size_t activation, const std::vector<IndexPauli>& paulis, Causes& causes) {
    IndexPauli mirror{paulis[activation].z, paulis[activation].x};  // a Z if the rotation is about an X, else an X
    std::vector<uint64_t> outcomes(plan_.branch_words);  // what the flipped outcomes flip
    std::vector<int8_t> is_reversed(causes.bits.size(), -1);
    std::vector<uint32_t> constants;
    for (size_t k = 0; k < plan_.operations.size(); ++k) {
        const Operation& operation = plan_.operations[k];
        // Activations rotate about a Pauli of their own coordinate alone.
        const bool reverses = k == activation || (k > activation && operation.kind == Kind::rotate && mirror.anticommutes(paulis[k]));
        for (auto t = static_cast<size_t>(operation.first_term); t < static_cast<size_t>(operation.end_term); ++t) {
            const int32_t sign = plan_.terms[t].sign;
            if (sign < 0) {
                if (reverses) constants.push_back(static_cast<uint32_t>(t));
                continue;
            }
            int8_t& known = is_reversed[static_cast<size_t>(sign)];
            if (known >= 0 && (known != 0) != reverses) return;  // one bit for two signs, of which one turns
            known = reverses ? 1 : 0;
        }
        if (k < activation || !operation.measures()) continue;
        if (mirror.anticommutes(paulis[k])) plan_.outcome_effects.flip_exactly(static_cast<size_t>(operation.outcome), outcomes.data());
        // What is multiplied by the measured Pauli leaves the other coefficients where they are.
        mirror.measure(paulis[k], static_cast<size_t>(operation.pivot));
    }
    const size_t flip = num_mirrors_++;
    for (const uint32_t term : constants) flip_bit(causes.constants[term], flip);
    for (size_t bit = 0; bit < causes.bits.size(); ++bit)
        if ((is_reversed[bit] == 1) != has_bit(outcomes, bit)) flip_bit(causes.bits[bit], flip);
}

void CoinTosses::find_bundles(const std::vector<IndexPauli>& paulis, const Causes& causes) {
    std::vector<std::vector<uint32_t>> outcomes_of_bit(causes.bits.size());
    for (uint32_t outcome = 0; outcome < plan_.num_outcomes; ++outcome)
        plan_.outcome_effects.for_each_one(outcome, [&](uint32_t bit) { outcomes_of_bit[bit].push_back(outcome); });
    std::vector<bool> is_sign(causes.bits.size());
    Axes axes;
    using Common = std::tuple<size_t, Flips, std::vector<uint32_t>>;  // axis, what flips the signs, and which outcomes do
    std::map<Common, std::map<std::pair<double, double>, std::vector<Sign>>> found;
    for (size_t k = 0; k < plan_.operations.size(); ++k) {
        const Operation& operation = plan_.operations[k];
        const auto [axis, is_opposite] = axes.of(operation, paulis[k]);
        for (auto t = static_cast<size_t>(operation.first_term); t < static_cast<size_t>(operation.end_term); ++t) {
            const RotationTerm& term = plan_.terms[t];
            bool is_negative = (std::signbit(term.sine) != (term.is_reversed != 0)) != is_opposite;
            const std::pair<double, double> angle{term.cosine, std::abs(term.sine)};
            if (term.sign < 0) {
                if (!is_empty(causes.constants[t])) found[{axis, causes.constants[t], {}}][angle].push_back({-1, is_negative});
                continue;
            }
            const auto bit = static_cast<uint32_t>(term.sign);
            is_sign[bit] = true;
            if (has_bit(plan_.branch_constant, bit)) is_negative = !is_negative;
            if (!is_empty(causes.bits[bit])) found[{axis, causes.bits[bit], outcomes_of_bit[bit]}][angle].push_back({term.sign, is_negative});
        }
    }
    std::vector<Bits> flipped_by(causes.bits.size(), Bits(plan_.layout.signature_words));
    for (uint32_t s = 0; s < plan_.layout.num_signature_bits; ++s)
        plan_.signature_images.for_each_one(s, [&](uint32_t bit) { flip_bit(flipped_by[bit], s); });
    for (auto& [kind, groups] : found) {
        Bundle bundle{std::get<1>(kind), {}};
        for (auto& [angle, signs] : groups) bundle.groups.push_back(std::move(signs));
        // An odd number of equal angles never cancels.
        if (std::ranges::any_of(bundle.groups, [](const auto& signs) { return signs.size() % 2 != 0; }))
            always_.add(bundle.flips);
        else if (!always_cancels(bundle, flipped_by))
            bundles_.push_back(std::move(bundle));
    }
    for (size_t bit = 0; bit < causes.bits.size(); ++bit)
        if (!is_sign[bit]) always_.add(causes.bits[bit]);
}

bool CoinTosses::always_cancels(const Bundle& bundle, const std::vector<Bits>& flipped_by) const {
    const Bits none(plan_.layout.signature_words);
    const auto flips_of = [&](Sign sign) -> const Bits& { return sign.bit < 0 ? none : flipped_by[static_cast<size_t>(sign.bit)]; };
    return cancels(bundle, BranchRow(plan_, true)) && std::ranges::all_of(bundle.groups, [&](const std::vector<Sign>& signs) {
        return std::ranges::all_of(signs, [&](Sign sign) { return flips_of(sign) == flips_of(signs.front()); });
    });
}

bool CoinTosses::cancels(const Bundle& bundle, const BranchRow& row) {
    return std::ranges::all_of(bundle.groups, [&](const std::vector<Sign>& signs) {
        const auto negative = std::ranges::count_if(signs, [&](Sign sign) { return row.has(sign.bit) != sign.is_negative; });
        return 2 * static_cast<size_t>(negative) == signs.size();
    });
}

std::vector<uint32_t> CoinTosses::coins_that_matter(const uint64_t* key) const {
    if (!has_coins()) return {};
    Basis basis = always_;
    if (!bundles_.empty()) {
        BranchRow row(plan_, true);
        row.add_signature(key);
        for (const Bundle& bundle : bundles_)
            if (!cancels(bundle, row)) basis.add(bundle.flips);
    }
    // Sets that begin with a coin have no mirrors.
    std::vector<uint32_t> tossed;
    for (const size_t first : basis.leading)
        if (is_coin(first)) tossed.push_back(static_cast<uint32_t>(first - num_mirrors_));
    if (tossed.size() > max_coins_that_matter)
        throw ResourceLimit("The outcome law of a fault set is an average over 2^" + std::to_string(tossed.size()) +
                            " tosses of fair coins (random records of measurements); the limit is 2^" +
                            std::to_string(max_coins_that_matter) + ". sample_counts has no such limit.");
    return tossed;
}

}  // namespace snc
