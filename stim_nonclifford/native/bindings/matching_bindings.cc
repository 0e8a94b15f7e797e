#include <nanobind/nanobind.h>
#include <nanobind/stl/vector.h>

#include <bit>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/argument_checks.h"
#include "base/masked_rows.h"
#include "bindings/bindings.h"
#include "bindings/python/arrays.h"
#include "rates/matching/distances.h"
#include "rates/matching/least_matching.h"

namespace nb = nanobind;

namespace {

using snc::require;

constexpr uint32_t max_nodes = 1 << 20, max_weight = 1 << 26;

using Numbers = snc::InputArray<int64_t>;

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

void construct_masked(snc::MaskedRows* self, const snc::InputArray<uint32_t>& words, const snc::InputArray<uint64_t>& masks) {
    require(words.shape(0) == masks.shape(0), "words and masks must have equal lengths.");
    new (self) snc::MaskedRows(snc::to_vector(words), snc::to_vector(masks));
}

// Python's lock is held: rows are numbered in the order of calls.
nb::object number_rows(snc::MaskedRows& self, const snc::InputArray<uint8_t>& rows, size_t row_bytes) {
    require(row_bytes >= 1 && rows.shape(0) % row_bytes == 0, "rows must have row_bytes bytes each.");
    const size_t count = rows.shape(0) / row_bytes;
    require(count <= INT32_MAX, "There are too many rows.");
    std::vector<uint32_t> numbers(count), fresh;
    self.number(rows.data(), row_bytes, count, numbers.data(), fresh);
    return nb::make_tuple(snc::to_array(std::move(numbers)), snc::to_array(std::move(fresh)));
}

}  // namespace

void bind_matching(nb::module_& m) {
    nb::class_<MatchingWeights>(m, "MatchingWeights", "Least weights of matchings in a graph with a boundary.")
        .def("__init__", &construct_matching, nb::arg("num_nodes"), nb::arg("first"), nb::arg("second"), nb::arg("weights"), nb::arg("max_bytes"))
        .def("least", &least, nb::arg("events"), nb::arg("row_bytes"), nb::arg("further_node"), nb::arg("max_events"),
             "For each row of events, bit-packed: the least weight without and with a further node that fires; -1 if a row has more"
             " than max_events, an event that cannot reach the boundary, or if there is no memory for more distances.");
    nb::class_<snc::MaskedRows>(m, "MaskedRows", "Numbers for the distinct values of some bits of packed rows; 0 for zeros.")
        .def("__init__", &construct_masked, nb::arg("words"), nb::arg("masks"))
        .def("__len__", &snc::MaskedRows::size)
        .def("clear", &snc::MaskedRows::clear, "Forgets all values but zeros.")
        .def("number", &number_rows, nb::arg("rows"), nb::arg("row_bytes"),
             "The number of each row, and which rows had a value for the first time: these values have the next numbers, in order.");
}
