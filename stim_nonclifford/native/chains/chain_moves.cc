#include "chains/chain_moves.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "kernels/philox.h"

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

void ChainMoves::propose(ChainMove move, const ChainMembers& chains, std::span<const int64_t> level_of, uint64_t seed, size_t begin,
                         size_t end, std::span<uint8_t> leaving, Births& births) const {
    std::vector<int64_t> drawn;
    for (size_t chain = begin; chain < end; ++chain) {
        if (move == ChainMove::refresh) refresh(chains, chain, level_of[chain], seed, drawn, leaving, births);
        if (move == ChainMove::replace) replace(chains, chain, level_of[chain], seed, leaving, births);
    }
}

void ChainMoves::refresh(const ChainMembers& chains, size_t chain, int64_t level, uint64_t seed, std::vector<int64_t>& drawn,
                         std::span<uint8_t> leaving, Births& births) const {
    ChainNumbers numbers(seed, chain);
    const double share = shares_[static_cast<size_t>(level)];
    const double* probabilities = of_level(probabilities_, level);
    const std::span<const int64_t> members = chains.of(chain);
    for (size_t place = 0; place < members.size(); ++place)
        if (members[place] != free_place && numbers() < share * (1 - probabilities[members[place]]))
            leaving[chain * chains.room + place] = 1;
    // Points on the axis of the sums, on average one for each unit of length.
    const double* sums = of_level(sums_, level);
    const double* end = sums + num_mechanisms();
    drawn.clear();
    double at = 0;
    for (const double* from = sums; (at -= std::log1p(-numbers())) < end[-1];) {
        from = std::upper_bound(from, end, at);
        drawn.push_back(from - sums);
    }
    for (size_t k = 0, next; k < drawn.size(); k = next) {
        for (next = k + 1; next < drawn.size() && drawn[next] == drawn[k];) ++next;
        // Members decide for themselves.
        if ((next - k) % 2 == 0 || has(members, drawn[k])) continue;
        births.chain_of.push_back(static_cast<int64_t>(chain));
        births.mechanisms.push_back(drawn[k]);
    }
}

void ChainMoves::replace(const ChainMembers& chains, size_t chain, int64_t level, uint64_t seed, std::span<uint8_t> leaving,
                         Births& births) const {
    const std::span<const int64_t> members = chains.of(chain);
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
    leaving[chain * chains.room + place] = 1;
    births.chain_of.push_back(static_cast<int64_t>(chain));
    births.mechanisms.push_back(chosen);
}

void flip_rows(std::span<const uint64_t> flips, size_t words, const ChainMembers& chains, std::span<const uint8_t> leaving,
               std::span<const int64_t> chain_of, std::span<const int64_t> births, size_t begin, size_t end, uint64_t* rows) {
    const auto flip = [&](size_t chain, int64_t mechanism) {
        for (size_t word = 0; word < words; ++word) rows[chain * words + word] ^= flips[static_cast<size_t>(mechanism) * words + word];
    };
    for (size_t place = begin * chains.room; place < end * chains.room; ++place)
        if (leaving[place]) flip(place / chains.room, chains.members[place]);
    for (size_t k = 0; k < births.size(); ++k) flip(static_cast<size_t>(chain_of[k]), births[k]);
}

std::vector<int64_t> changed_members(const ChainMembers& chains, std::span<const uint8_t> leaving, std::span<const int64_t> chain_of,
                                     std::span<const int64_t> births, std::span<const int64_t> chosen, size_t& room) {
    std::vector<std::vector<int64_t>> changed;
    room = chains.room;
    for (const int64_t each : chosen) {
        const auto chain = static_cast<size_t>(each);
        std::vector<int64_t>& members = changed.emplace_back();
        for (size_t place = chain * chains.room; place < (chain + 1) * chains.room; ++place)
            if (chains.members[place] != free_place && !leaving[place]) members.push_back(chains.members[place]);
        const auto [first, last] = std::ranges::equal_range(chain_of, each);
        members.insert(members.end(), births.begin() + (first - chain_of.begin()), births.begin() + (last - chain_of.begin()));
        room = std::max(room, members.size());
    }
    std::vector<int64_t> found(changed.size() * room, free_place);
    for (size_t k = 0; k < changed.size(); ++k) std::ranges::copy(changed[k], found.begin() + static_cast<std::ptrdiff_t>(k * room));
    return found;
}

}  // namespace snc
