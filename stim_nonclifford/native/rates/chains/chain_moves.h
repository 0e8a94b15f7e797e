// Proposals of chains over fault sets: which members leave, and which mechanisms enter. The chains are those of several levels, each of
// which has other odds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace snc {

// The members of chains, `room` places for each, those that are free with -1.
struct ChainMembers {
    std::span<const int64_t> members;
    size_t room;

    size_t size() const { return members.size() / room; }
    std::span<const int64_t> of(size_t chain) const { return members.subspan(chain * room, room); }
};

// What a move does to one chain.
struct ChainChange {
    std::vector<uint8_t> leaving;  // for each place of its members
    std::vector<int64_t> births;

    bool is_one() const;
};

enum class ChainMove : uint8_t {
    refresh,  // draws a part of the mechanisms anew, as if nothing was known of them
    replace,  // puts a neighbour in the place of a member, if the Metropolis number allows
};

class ChainMoves {
   public:
    // The logarithms of the odds, those of one level after the other. Mechanism m has the neighbours [starts[m], starts[m + 1]).
    ChainMoves(size_t num_mechanisms, std::vector<double> log_odds, std::vector<int64_t> starts, std::vector<int64_t> neighbours);

    size_t num_mechanisms() const { return starts_.size() - 1; }
    size_t num_levels() const { return log_odds_.size() / num_mechanisms(); }

    // Which part of the mechanisms `refresh` draws anew, for each level.
    void set_shares(std::span<const double> shares);

    // What a move does to the members of a chain at a level. Chains that have a seed together have different numbers.
    void propose(ChainMove move, std::span<const int64_t> members, int64_t level, uint64_t seed, uint64_t chain, ChainChange& change) const;

   private:
    const double* of_level(const std::vector<double>& values, int64_t level) const {
        return values.data() + static_cast<size_t>(level) * num_mechanisms();
    }
    int64_t degree(int64_t mechanism) const {
        return starts_[static_cast<size_t>(mechanism) + 1] - starts_[static_cast<size_t>(mechanism)];
    }

    void refresh(std::span<const int64_t> members, int64_t level, uint64_t seed, uint64_t chain, ChainChange& change) const;
    void replace(std::span<const int64_t> members, int64_t level, uint64_t seed, uint64_t chain, ChainChange& change) const;

    std::vector<double> log_odds_, probabilities_;
    std::vector<int64_t> starts_, neighbours_;
    std::vector<double> shares_, sums_;  // for each level the sums of the mean numbers of times that mechanisms are drawn
};

}  // namespace snc
