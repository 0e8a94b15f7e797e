#include "rates/chains/chain_moves.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "kernels/shared/philox.h"

namespace snc {

namespace {

constexpr int64_t free_place = -1;

// Random numbers of a chain. The seed of each move is a random word, so that its numbers are not those of other draws of fault sets.
class ChainNumbers {
   public:
    ChainNumbers(uint64_t seed, uint64_t chain) : seed_(seed), chain_(chain) {}

    double operator()() {
        if (used_ % words_per_draw == 0) words_ = random_words(seed_, Stream::set_draws, chain_, used_ / words_per_draw);
        return uniform(words_[used_++ % words_per_draw]);
    }

    int64_t below(int64_t end) { return std::min(static_cast<int64_t>((*this)() * static_cast<double>(end)), end - 1); }

   private:
    uint64_t seed_, chain_, used_ = 0;
    DrawnWords words_{};
};

bool has(std::span<const int64_t> members, int64_t mechanism) { return std::ranges::find(members, mechanism) != members.end(); }

}  // namespace

ChainMoves::ChainMoves(size_t num_mechanisms, std::vector<double> log_odds, std::vector<int64_t> starts, std::vector<int64_t> neighbours)
    : log_odds_(std::move(log_odds)), probabilities_(log_odds_.size()), starts_(std::move(starts)), neighbours_(std::move(neighbours)) {
    std::ranges::transform(log_odds_, probabilities_.begin(), [](double odds) { return 1 / (1 + std::exp(-odds)); });
    set_shares(std::vector<double>(log_odds_.size() / num_mechanisms, 0.0));
}

// A mechanism is drawn a Poisson number of times, and acts if that is odd: with the mean -ln(1 - 2q)/2 that has probability q.
void ChainMoves::set_shares(std::span<const double> shares) {
    constexpr double largest = 1 - 1e-12;
    shares_.assign(shares.begin(), shares.end());
    sums_.resize(log_odds_.size());
    for (size_t level = 0; level < shares_.size(); ++level) {
        double sum = 0;
        for (size_t k = level * num_mechanisms(); k < (level + 1) * num_mechanisms(); ++k)
            sums_[k] = sum -= 0.5 * std::log1p(-std::min(2 * shares_[level] * probabilities_[k], largest));
    }
}

bool ChainChange::is_one() const { return !births.empty() || std::ranges::find(leaving, 1) != leaving.end(); }

void ChainMoves::propose(ChainMove move, std::span<const int64_t> members, int64_t level, uint64_t seed, uint64_t chain,
                         ChainChange& change) const {
    change.leaving.assign(members.size(), 0);
    change.births.clear();
    if (move == ChainMove::refresh) refresh(members, level, seed, chain, change);
    if (move == ChainMove::replace) replace(members, level, seed, chain, change);
}

void ChainMoves::refresh(std::span<const int64_t> members, int64_t level, uint64_t seed, uint64_t chain, ChainChange& change) const {
    ChainNumbers numbers(seed, chain);
    const double share = shares_[static_cast<size_t>(level)];
    const double* probabilities = of_level(probabilities_, level);
    for (size_t place = 0; place < members.size(); ++place)
        if (members[place] != free_place && numbers() < share * (1 - probabilities[members[place]])) change.leaving[place] = 1;
    // Points on the axis of the sums, on average one for each unit of length. A mechanism enters if an odd number of them is its own.
    const double* sums = of_level(sums_, level);
    const double* end = sums + num_mechanisms();
    const auto add = [&](int64_t mechanism, size_t times) {
        if (times % 2 == 1 && !has(members, mechanism)) change.births.push_back(mechanism);  // members decide for themselves
    };
    int64_t drawn = free_place;
    size_t times = 0;
    double at = 0;
    for (const double* from = sums; (at -= std::log1p(-numbers())) < end[-1];) {
        from = std::upper_bound(from, end, at);
        if (from - sums != drawn) {
            add(drawn, times);
            drawn = from - sums;
            times = 0;
        }
        ++times;
    }
    add(drawn, times);
}

void ChainMoves::replace(std::span<const int64_t> members, int64_t level, uint64_t seed, uint64_t chain, ChainChange& change) const {
    const int64_t size = static_cast<int64_t>(members.size()) - std::ranges::count(members, free_place);
    if (size == 0) return;
    ChainNumbers numbers(seed, chain);
    int64_t rank = numbers.below(size);
    size_t place = 0;
    while (members[place] == free_place || rank-- > 0) ++place;
    const int64_t old = members[place];
    if (degree(old) == 0) return;
    const int64_t chosen = neighbours_[static_cast<size_t>(starts_[static_cast<size_t>(old)] + numbers.below(degree(old)))];
    const double* log_odds = of_level(log_odds_, level);
    const double number = log_odds[chosen] - log_odds[old] + std::log(static_cast<double>(degree(old))) -
                          std::log(static_cast<double>(degree(chosen)));
    if (std::log(1 - numbers()) >= number || has(members, chosen)) return;
    change.leaving[place] = 1;
    change.births.push_back(chosen);
}

}  // namespace snc
