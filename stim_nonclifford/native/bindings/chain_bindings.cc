#include <nanobind/nanobind.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "base/argument_checks.h"
#include "bindings/arrays.h"
#include "bindings/bindings.h"
#include "chains/chain_moves.h"

namespace nb = nanobind;

namespace {

using snc::require;
using Numbers = snc::InputArray<int64_t>;
using Reals = snc::InputArray<double>;

constexpr size_t max_mechanisms = size_t{1} << 30, max_room = size_t{1} << 20, max_row_words = size_t{1} << 16;

template <typename T>
std::span<const T> span_of(const snc::InputArray<T>& array) {
    return {array.data(), array.shape(0)};
}

snc::ChainMembers checked_members(const Numbers& members, size_t room, size_t num_mechanisms) {
    require(room >= 1 && room <= max_room && members.shape(0) % room == 0, "members must have room places for each chain, at least 1.");
    snc::require_range(span_of(members), -1, static_cast<int64_t>(num_mechanisms), "members");
    return {span_of(members), room};
}

void check_changes(const snc::ChainMembers& chains, const snc::InputArray<uint8_t>& leaving, const Numbers& chain_of, const Numbers& births,
                   size_t num_mechanisms) {
    require(leaving.shape(0) == chains.members.size(), "leaving must have a number for each place.");
    for (size_t place = 0; place < chains.members.size(); ++place)
        require(leaving.data()[place] == 0 || chains.members[place] >= 0, "A place that is free cannot be left.");
    require(chain_of.shape(0) == births.shape(0), "chain_of and births must have equal lengths.");
    snc::require_range(span_of(chain_of), 0, static_cast<int64_t>(chains.size()), "chain_of");
    require(std::ranges::is_sorted(span_of(chain_of)), "chain_of must ascend.");
    snc::require_range(span_of(births), 0, static_cast<int64_t>(num_mechanisms), "births");
}

void construct_chain_moves(snc::ChainMoves* self, size_t num_mechanisms, const Reals& log_odds, const Numbers& starts, const Numbers& neighbours) {
    require(num_mechanisms >= 1 && num_mechanisms <= max_mechanisms, "num_mechanisms must be from 1 to 2^30.");
    require(log_odds.shape(0) >= num_mechanisms && log_odds.shape(0) % num_mechanisms == 0,
            "log_odds must have a number for each mechanism of each level.");
    for (const double each : span_of(log_odds)) require(std::isfinite(each), "log_odds must be finite.");
    require(starts.shape(0) == num_mechanisms + 1, "starts must have a number for each mechanism, and one more.");
    snc::require_rows(snc::to_vector(starts), snc::to_vector(neighbours), static_cast<int64_t>(num_mechanisms), "neighbours");
    new (self) snc::ChainMoves(num_mechanisms, snc::to_vector(log_odds), snc::to_vector(starts), snc::to_vector(neighbours));
}

void set_shares(snc::ChainMoves& self, const Reals& shares) {
    require(shares.shape(0) == self.num_levels(), "shares must have a number for each level.");
    for (const double share : span_of(shares)) require(snc::is_probability(share), "shares must be from 0 to 1.");
    self.set_shares(span_of(shares));
}

template <auto move>
nb::object moved(const snc::ChainMoves& self, const Numbers& members, size_t room, const Numbers& level_of, uint64_t seed) {
    const snc::ChainMembers chains = checked_members(members, room, self.num_mechanisms());
    require(level_of.shape(0) == chains.size(), "level_of must have a number for each chain.");
    snc::require_range(span_of(level_of), 0, static_cast<int64_t>(self.num_levels()), "level_of");
    snc::ChainChanges found = (self.*move)(chains, span_of(level_of), seed);
    return nb::make_tuple(snc::to_array(std::move(found.leaving), {chains.size(), room}), snc::to_array(std::move(found.chain_of)),
                          snc::to_array(std::move(found.births)));
}

nb::object changed_rows(const snc::InputArray<uint64_t>& flips, size_t words, const Numbers& members, size_t room,
                        const snc::InputArray<uint8_t>& leaving, const Numbers& chain_of, const Numbers& births) {
    require(words >= 1 && words <= max_row_words && flips.shape(0) % words == 0, "flips must have words words for each mechanism, 1 to 2^16.");
    const size_t num_mechanisms = flips.shape(0) / words;
    const snc::ChainMembers chains = checked_members(members, room, num_mechanisms);
    check_changes(chains, leaving, chain_of, births, num_mechanisms);
    return snc::to_array(
        snc::changed_rows(span_of(flips), words, chains, span_of(leaving), span_of(chain_of), span_of(births)), {chains.size(), words});
}

nb::object changed_members(const Numbers& members, size_t room, const snc::InputArray<uint8_t>& leaving, const Numbers& chain_of,
                           const Numbers& births, const Numbers& chosen) {
    const snc::ChainMembers chains = checked_members(members, room, max_mechanisms);
    check_changes(chains, leaving, chain_of, births, max_mechanisms);
    snc::require_range(span_of(chosen), 0, static_cast<int64_t>(chains.size()), "chosen");
    size_t new_room = 0;
    std::vector<int64_t> found =
        snc::changed_members(chains, span_of(leaving), span_of(chain_of), span_of(births), span_of(chosen), new_room);
    return snc::to_array(std::move(found), {chosen.shape(0), new_room});
}

}  // namespace

void bind_chains(nb::module_& m) {
    nb::class_<snc::ChainMoves>(m, "ChainMoves", "Proposals of chains over fault sets: which members leave, and what enters.")
        .def("__init__", &construct_chain_moves, nb::arg("num_mechanisms"), nb::arg("log_odds"), nb::arg("starts"), nb::arg("neighbours"))
        .def("set_shares", &set_shares, nb::arg("shares"))
        .def("refresh", &moved<&snc::ChainMoves::refresh>, nb::arg("members"), nb::arg("room"), nb::arg("level_of"), nb::arg("seed"),
             "Draws a share of the mechanisms anew. Returns which members leave, the chains that mechanisms enter, and these.")
        .def("replace", &moved<&snc::ChainMoves::replace>, nb::arg("members"), nb::arg("room"), nb::arg("level_of"), nb::arg("seed"),
             "Puts a neighbour in the place of a member, if the Metropolis number allows. Returns as refresh.");
    m.def("changed_rows", &changed_rows, nb::arg("flips"), nb::arg("words"), nb::arg("members"), nb::arg("room"), nb::arg("leaving"),
          nb::arg("chain_of"), nb::arg("births"), "For each chain, the exclusive or of the rows of what leaves and what enters.");
    m.def("changed_members", &changed_members, nb::arg("members"), nb::arg("room"), nb::arg("leaving"), nb::arg("chain_of"),
          nb::arg("births"), nb::arg("chosen"), "The members of the chosen chains after their changes.");
}
