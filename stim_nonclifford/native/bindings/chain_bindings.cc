#include <nanobind/nanobind.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "base/argument_checks.h"
#include "bindings/bindings.h"
#include "bindings/python/arrays.h"
#include "bindings/python/gil.h"
#include "rates/chains/chain_moves.h"
#include "rates/chains/chain_walk.h"
#include "rates/matching/answer_table.h"

namespace nb = nanobind;

namespace {

using snc::require;
using Numbers = snc::InputArray<int64_t>;
using Reals = snc::InputArray<double>;
using Words = snc::InputArray<uint64_t>;

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

template <snc::ChainMove move>
nb::object moved(const snc::ChainMoves& self, const Numbers& members, size_t room, const Numbers& level_of, uint64_t seed) {
    const snc::ChainMembers chains = checked_members(members, room, self.num_mechanisms());
    require(level_of.shape(0) == chains.size(), "level_of must have a number for each chain.");
    snc::require_range(span_of(level_of), 0, static_cast<int64_t>(self.num_levels()), "level_of");
    std::vector<snc::ChainChange> changes(chains.size());
    size_t most = 0;
    for (size_t k = 0; k < chains.size(); ++k) {
        self.propose(move, chains.of(k), level_of.data()[k], seed, k, changes[k]);
        most = std::max(most, changes[k].births.size());
    }
    std::vector<uint8_t> leaving;
    std::vector<int64_t> entering;
    for (const snc::ChainChange& change : changes) {
        leaving.insert(leaving.end(), change.leaving.begin(), change.leaving.end());
        entering.insert(entering.end(), change.births.begin(), change.births.end());
        entering.insert(entering.end(), most - change.births.size(), -1);
    }
    return nb::make_tuple(snc::to_array(std::move(leaving), {chains.size(), room}), snc::to_array(std::move(entering), {chains.size(), most}));
}

// What a walk refers to is kept: the moves, the tables, and the array of flips. Another thread must not use the same tables while it runs.
struct Walk {
    nb::object moves;
    nb::list tables;
    Words flips;
    snc::ChainWalk walk;
};

// 0: refresh, 1: replace.
std::vector<snc::ChainMove> checked_kinds(const Numbers& kinds) {
    snc::require_range(span_of(kinds), 0, 2, "kinds");
    std::vector<snc::ChainMove> found;
    for (const int64_t kind : span_of(kinds)) found.push_back(kind == 0 ? snc::ChainMove::refresh : snc::ChainMove::replace);
    return found;
}

std::vector<snc::AnswerTable*> checked_tables(const nb::list& tables, size_t row_words) {
    std::vector<snc::AnswerTable*> found;
    for (const nb::handle each : tables) {
        require(nb::isinstance<snc::AnswerTable>(each), "tables must be a list of AnswerTable.");
        found.push_back(nb::cast<snc::AnswerTable*>(each));
        require(found.back()->observable_words() == found[0]->observable_words(), "tables must have the same observable_words.");
        require(found.back()->row_words() <= row_words, "row_words is less than a row has.");
    }
    require(!found.empty(), "tables must not be empty.");
    return found;
}

void construct_walk(Walk* self, const nb::object& moves, const Words& flips, size_t row_words, const nb::list& tables,
                    const Numbers& table_of_level, const Numbers& least_gaps, const Numbers& is_signed, const Numbers& kinds,
                    const Words& seeds, const Numbers& members, size_t room, const Words& rows, const Numbers& level_of,
                    const Numbers& further_level_of, uint64_t listing) {
    require(nb::isinstance<snc::ChainMoves>(moves), "moves must be ChainMoves.");
    const auto& known = nb::cast<const snc::ChainMoves&>(moves);
    require(row_words >= 1 && row_words <= max_row_words, "row_words must be from 1 to 2^16.");
    require(flips.shape(0) == known.num_mechanisms() * row_words, "flips must have a row for each mechanism.");
    const std::vector<snc::AnswerTable*> found = checked_tables(tables, row_words);
    const size_t num_levels = known.num_levels();
    require(table_of_level.shape(0) == num_levels && least_gaps.shape(0) == num_levels && is_signed.shape(0) == num_levels,
            "table_of_level, least_gaps and is_signed must have a number for each level.");
    snc::require_range(span_of(table_of_level), 0, static_cast<int64_t>(found.size()), "table_of_level");
    std::vector<snc::LevelCondition> conditions(num_levels);
    for (size_t k = 0; k < num_levels; ++k)
        conditions[k] = {table_of_level.data()[k], least_gaps.data()[k], is_signed.data()[k] != 0};
    std::vector<snc::ChainMove> moves_of_walk = checked_kinds(kinds);
    require(seeds.shape(0) == moves_of_walk.size(), "seeds must have a number for each of kinds.");
    const snc::ChainMembers chains = checked_members(members, room, known.num_mechanisms());
    require(rows.shape(0) == chains.size() * row_words, "rows must have a row for each chain.");
    require(level_of.shape(0) == chains.size(), "level_of must have a number for each chain.");
    require(further_level_of.shape(0) == chains.size(), "further_level_of must have a number for each chain.");
    snc::require_range(span_of(level_of), 0, static_cast<int64_t>(num_levels), "level_of");
    snc::require_range(span_of(further_level_of), -1, static_cast<int64_t>(num_levels), "further_level_of");
    new (self) Walk{moves, nb::list(tables), flips,
                    snc::ChainWalk(known, span_of(flips), row_words, found, std::move(conditions), std::move(moves_of_walk),
                                   snc::to_vector(seeds), chains, span_of(rows), snc::to_vector(level_of),
                                   snc::to_vector(further_level_of), listing)};
}

nb::object run_walk(Walk& self, size_t threads) {
    require(threads >= 1 && threads <= snc::max_threads,
            "threads must be from 1 to ", snc::max_threads, ", but is ", threads, ".");
    snc::ChainWalk& walk = self.walk;
    without_gil([&] { walk.run(threads, WithoutGil::check_signals); });
    std::vector<uint64_t> rows;
    std::vector<int64_t> tables;
    for (const size_t chain : walk.waiting()) {
        const std::span<const uint64_t> row = walk.row_asked(chain);
        rows.insert(rows.end(), row.begin(), row.end());
        tables.push_back(walk.table_asked(chain));
    }
    const size_t count = tables.size();
    return nb::make_tuple(snc::to_array(std::move(rows), {count, walk.row_words()}), snc::to_array(std::move(tables)));
}

void answer_walk(Walk& self, const Words& predictions, const Numbers& gaps) {
    const size_t count = self.walk.waiting().size();
    require(gaps.shape(0) == count, "gaps must have a number for each chain that waits.");
    require(predictions.shape(0) == count * self.walk.observable_words(), "predictions must have the words of each chain that waits.");
    self.walk.answer(span_of(predictions), span_of(gaps));
}

nb::object state_of_walk(const Walk& self) {
    const snc::ChainWalk& walk = self.walk;
    size_t room = 1;
    for (size_t k = 0; k < walk.size(); ++k) room = std::max(room, walk.members(k).size());
    std::vector<int64_t> members(walk.size() * room, -1);
    for (size_t k = 0; k < walk.size(); ++k) std::ranges::copy(walk.members(k), members.begin() + static_cast<std::ptrdiff_t>(k * room));
    return nb::make_tuple(snc::to_array(std::move(members), {walk.size(), room}),
                          snc::to_array(std::vector(walk.rows()), {walk.size(), walk.row_words()}), snc::to_array(std::vector(walk.decided())),
                          snc::to_array(std::vector(walk.accepted())), snc::to_array(std::vector(walk.is_further())));
}

nb::object counts_of_walk(const Walk& self) {
    const snc::TableCounts& counts = self.walk.counts();
    const size_t listed = counts.listed_tables.size();
    return nb::make_tuple(snc::to_array(std::vector(counts.asked)), snc::to_array(std::vector(counts.fresh)),
                          snc::to_array(std::vector(counts.listed_rows), {listed, self.walk.row_words()}),
                          snc::to_array(std::vector(counts.listed_predictions), {listed, size_t{1}}),
                          snc::to_array(std::vector(counts.listed_tables)));
}

}  // namespace

void bind_chains(nb::module_& m) {
    nb::class_<snc::ChainMoves>(m, "ChainMoves", "Proposals of chains over fault sets: which members leave, and what enters.")
        .def("__init__", &construct_chain_moves, nb::arg("num_mechanisms"), nb::arg("log_odds"), nb::arg("starts"), nb::arg("neighbours"))
        .def("set_shares", &set_shares, nb::arg("shares"))
        .def("refresh", &moved<snc::ChainMove::refresh>, nb::arg("members"), nb::arg("room"), nb::arg("level_of"), nb::arg("seed"),
             "Draws a share of the mechanisms anew. Returns which members leave, and the mechanisms that enter, -1 for none.")
        .def("replace", &moved<snc::ChainMove::replace>, nb::arg("members"), nb::arg("room"), nb::arg("level_of"), nb::arg("seed"),
             "Puts a neighbour in the place of a member, if the Metropolis number allows. Returns as refresh.");
    nb::class_<Walk>(m, "ChainWalk", "Chains that take several moves, each by itself, as far as what is known of rows allows.")
        .def("__init__", &construct_walk, nb::arg("moves"), nb::arg("flips"), nb::arg("row_words"), nb::arg("tables"),
             nb::arg("table_of_level"), nb::arg("least_gaps"), nb::arg("is_signed"), nb::arg("kinds"), nb::arg("seeds"), nb::arg("members"),
             nb::arg("room"), nb::arg("rows"), nb::arg("level_of"), nb::arg("further_level_of"), nb::arg("listing"))
        .def("run", &run_walk, nb::arg("threads"), "Returns the rows of which nothing is known, and the tables; none: all chains are done.")
        .def("answer", &answer_walk, nb::arg("predictions"), nb::arg("gaps"), "Of the rows that were returned.")
        .def("state", &state_of_walk,
             "Members, -1 for none, rows, changes decided on and made, and whether rows can be states of further levels.")
        .def("counts", &counts_of_walk,
             "Rows that tables were asked about, those that matchings decoded; some of the latter, their predictions and tables.");
}
