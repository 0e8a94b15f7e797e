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

// Mechanisms that enter chains: the numbers of the chains, ascending, and of the mechanisms.
struct Births {
    std::vector<int64_t> chain_of, mechanisms;
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

    // What a move does to the chains [begin, end). In `leaving`, which has all places of all chains, it sets those whose members leave;
    // births are appended. The seed is that of the move, whatever chains are asked for.
    void propose(ChainMove move, const ChainMembers& chains, std::span<const int64_t> level_of, uint64_t seed, size_t begin, size_t end,
                 std::span<uint8_t> leaving, Births& births) const;

   private:
    const double* of_level(const std::vector<double>& values, int64_t level) const {
        return values.data() + static_cast<size_t>(level) * num_mechanisms();
    }
    int64_t degree(int64_t mechanism) const {
        return starts_[static_cast<size_t>(mechanism) + 1] - starts_[static_cast<size_t>(mechanism)];
    }

    void refresh(const ChainMembers& chains, size_t chain, int64_t level, uint64_t seed, std::vector<int64_t>& drawn,
                 std::span<uint8_t> leaving, Births& births) const;
    void replace(const ChainMembers& chains, size_t chain, int64_t level, uint64_t seed, std::span<uint8_t> leaving, Births& births) const;

    std::vector<double> log_odds_, probabilities_;
    std::vector<int64_t> starts_, neighbours_;
    std::vector<double> shares_, sums_;  // for each level the sums of the mean numbers of times that mechanisms are drawn
};

// Flips in the rows of the chains [begin, end) what leaves and what enters them. `chain_of` and `births` are of these chains.
void flip_rows(std::span<const uint64_t> flips, size_t words, const ChainMembers& chains, std::span<const uint8_t> leaving,
               std::span<const int64_t> chain_of, std::span<const int64_t> births, size_t begin, size_t end, uint64_t* rows);

// The members of some chains after their changes, those that stay first. They get as much room as the largest needs, and at least as
// much as there was.
std::vector<int64_t> changed_members(const ChainMembers& chains, std::span<const uint8_t> leaving, std::span<const int64_t> chain_of,
                                     std::span<const int64_t> births, std::span<const int64_t> chosen, size_t& room);

}  // namespace snc
