#include <nanobind/nanobind.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "base/argument_checks.h"
#include "bindings/bindings.h"
#include "bindings/python/arrays.h"
#include "rates/matching/answer_table.h"
#include "rates/matching/distances.h"
#include "rates/matching/least_matching.h"

namespace nb = nanobind;

namespace {

using snc::require;

constexpr uint32_t max_nodes = 1 << 20, max_weight = 1 << 26, max_words = 1 << 14, max_size_bits = 24;

// So many rows before they are looked at, their places are announced to the memory.
constexpr size_t ahead = 8;

using Numbers = snc::InputArray<int64_t>;
using WordArray = snc::InputArray<uint64_t>;

struct MatchingWeights {
    snc::Distances distances;
    snc::LeastMatching matching;

    MatchingWeights(uint32_t num_nodes, const std::vector<snc::MatchingEdge>& edges, size_t max_bytes)
        : distances(num_nodes, edges, max_bytes) {}
};

std::vector<snc::MatchingEdge> checked_edges(uint32_t num_nodes, const Numbers& first, const Numbers& second, const Numbers& weights) {
    require(num_nodes >= 1 && num_nodes <= max_nodes, "num_nodes must be from 1 to 2^20.");
    require(first.shape(0) == second.shape(0) && first.shape(0) == weights.shape(0), "first, second and weights must have equal lengths.");
    require(first.shape(0) <= uint64_t{1} << 30, "There must be at most 2^30 edges.");
    snc::require_range(snc::to_vector(first), 0, num_nodes, "first");
    snc::require_range(snc::to_vector(second), 0, int64_t{num_nodes} + 1, "second");
    snc::require_range(snc::to_vector(weights), 0, int64_t{max_weight} + 1, "weights");
    std::vector<snc::MatchingEdge> edges;
    for (size_t k = 0; k < first.shape(0); ++k) {
        require(weights.data()[k] % 2 == 0, "weights must be even.");
        edges.push_back({static_cast<uint32_t>(first.data()[k]), static_cast<uint32_t>(second.data()[k]),
                         static_cast<uint32_t>(weights.data()[k])});
    }
    return edges;
}

void construct_matching(MatchingWeights* self, uint32_t num_nodes, const Numbers& first, const Numbers& second, const Numbers& weights,
               size_t max_bytes) {
    new (self) MatchingWeights(num_nodes, checked_edges(num_nodes, first, second, weights), max_bytes);
}

// Python's lock is held: the distances are computed on the way.
nb::object least(MatchingWeights& self, const snc::InputArray<uint8_t>& events, size_t row_bytes, uint32_t further_node, uint32_t max_events) {
    const uint32_t num_nodes = self.distances.num_nodes();
    require(row_bytes >= 1 && events.shape(0) % row_bytes == 0, "events must have row_bytes bytes for each shot.");
    require(further_node < num_nodes, "further_node must be below num_nodes.");
    std::vector<int64_t> found;
    std::vector<uint32_t> nodes;
    for (size_t start = 0; start < events.shape(0); start += row_bytes) {
        nodes.clear();
        for (size_t byte = 0; byte < row_bytes; ++byte)
            for (uint32_t bits = events.data()[start + byte]; bits != 0; bits &= bits - 1)
                nodes.push_back(static_cast<uint32_t>(8 * byte) + static_cast<uint32_t>(std::countr_zero(bits)));
        require(nodes.empty() || nodes.back() < num_nodes, "An event is at no node.");
        for (const uint32_t node : nodes) require(node != further_node, "further_node must not fire.");
        const int64_t weight = nodes.size() <= max_events ? self.matching.weight(self.distances, nodes) : -1;
        found.push_back(weight);
        found.push_back(weight < 0 ? -1 : self.matching.weight_with(further_node));
    }
    return snc::to_array(std::move(found));
}

void construct_table(snc::AnswerTable* self, uint32_t event_words, uint32_t observable_words, uint32_t size_bits) {
    require(event_words >= 1 && event_words <= max_words, "event_words must be from 1 to 2^14.");
    require(observable_words >= 1 && observable_words <= max_words, "observable_words must be from 1 to 2^14.");
    require(size_bits <= max_size_bits, "size_bits must be at most 24.");
    new (self) snc::AnswerTable(event_words, observable_words, size_bits);
}

void use_matching(snc::AnswerTable& self, uint32_t num_nodes, const Numbers& first, const Numbers& second, const Numbers& weights,
                  const WordArray& added, uint32_t max_events, size_t max_bytes) {
    std::vector<snc::MatchingEdge> edges = checked_edges(num_nodes, first, second, weights);
    require(self.observable_words() == 1, "A matching predicts one observable.");
    require(added.shape(0) == self.event_words(), "added must have a word for each word of events.");
    require(num_nodes <= 64 * self.event_words() + 1, "There must be a bit for each node but the last.");
    require(!snc::has_bits_beyond(added.data(), self.event_words(), num_nodes - 1), "added must have bits of nodes but the last only.");
    self.use_matching(std::make_unique<snc::MatchingPrediction>(num_nodes, edges, snc::to_vector(added), max_events, max_bytes));
}

// How many rows there are, each of `words` words.
size_t num_rows(const WordArray& rows, size_t words) {
    require(rows.shape(0) % words == 0, "rows must have words for events, observables and hash values, and more only for all rows.");
    return rows.shape(0) / words;
}

// Rows may have more words than the table needs.
nb::object look_up(snc::AnswerTable& self, const WordArray& rows, size_t row_words) {
    require(self.row_words() <= row_words, "row_words is less than a row has.");
    const size_t count = num_rows(rows, row_words), words = self.observable_words();
    std::vector<uint64_t> predictions(count * words);
    std::vector<int64_t> gaps(count), unknown, fresh;
    snc::MatchingScratch scratch;
    const auto row_at = [&](size_t k) { return rows.data() + k * row_words; };
    for (size_t k = 0; k < count; ++k) {
        if (k + ahead < count) self.announce(row_at(k + ahead));
        require(self.can_have(row_at(k)), "An event is at no node.");
        if (const snc::AnswerTable::Answer found = self.find(row_at(k)); found.prediction != nullptr) {
            std::copy_n(found.prediction, words, &predictions[k * words]);
            gaps[k] = found.gap;
        } else if (const int matched = self.match(row_at(k), scratch); matched != snc::MatchingPrediction::unknown) {
            predictions[k * words] = static_cast<uint64_t>(matched);
            self.put(row_at(k), &predictions[k * words], 0);
            fresh.push_back(static_cast<int64_t>(k));
        } else {
            unknown.push_back(static_cast<int64_t>(k));
        }
    }
    return nb::make_tuple(snc::to_array(std::move(predictions), {count, words}), snc::to_array(std::move(gaps)),
                          snc::to_array(std::move(unknown)), snc::to_array(std::move(fresh)));
}

void put(snc::AnswerTable& self, const WordArray& rows, size_t row_words, const WordArray& predictions, const Numbers& gaps) {
    require(self.row_words() <= row_words, "row_words is less than a row has.");
    const size_t count = num_rows(rows, row_words), words = self.observable_words();
    require(predictions.shape(0) == count * words, "predictions must have the words of the observables of each row.");
    require(gaps.shape(0) == count, "gaps must have a number for each row.");
    for (size_t k = 0; k < count; ++k) self.put(rows.data() + k * row_words, predictions.data() + k * words, gaps.data()[k]);
}

}  // namespace

void bind_matching(nb::module_& m) {
    nb::class_<MatchingWeights>(m, "MatchingWeights", "Least weights of matchings in a graph with a boundary.")
        .def("__init__", &construct_matching, nb::arg("num_nodes"), nb::arg("first"), nb::arg("second"), nb::arg("weights"), nb::arg("max_bytes"))
        .def("least", &least, nb::arg("events"), nb::arg("row_bytes"), nb::arg("further_node"), nb::arg("max_events"),
             "For each row of events, bit-packed: the least weight without and with a further node that fires; -1 if a row has more"
             " than max_events, an event that cannot reach the boundary, or if there is no memory for more distances.");
    nb::class_<snc::AnswerTable>(m, "AnswerTable", "The latest answers of a decoder, by the hash values of detection events.")
        .def("__init__", &construct_table, nb::arg("event_words"), nb::arg("observable_words"), nb::arg("size_bits"))
        .def("use_matching", &use_matching, nb::arg("num_nodes"), nb::arg("first"), nb::arg("second"), nb::arg("weights"),
             nb::arg("added"), nb::arg("max_events"), nb::arg("max_bytes"),
             "Answers that are not known are those of a matching of the least weight, where only one class has it.")
        .def("put", &put, nb::arg("rows"), nb::arg("row_words"), nb::arg("predictions"), nb::arg("gaps"))
        .def("look_up", &look_up, nb::arg("rows"), nb::arg("row_words"),
             "For each row: predictions, gaps; the rows without an answer, and those that a matching decoded.");
}
