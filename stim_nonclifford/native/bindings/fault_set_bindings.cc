#include <nanobind/nanobind.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>

#include <climits>
#include <string>
#include <utility>
#include <vector>

#include "base/argument_checks.h"
#include "bindings/bindings.h"
#include "bindings/python/arrays.h"
#include "bindings/python/gil.h"
#include "rates/fault_sets/fault_set_search.h"
#include "rates/fault_sets/fault_set_study.h"
#include "rates/set_laws/fault_set_laws.h"

namespace nb = nanobind;

namespace {

using snc::FaultSetTable;
template <typename T>
using Input = snc::InputArray<T>;
using snc::dict_of;
using snc::to_array;
using snc::to_vector;

using snc::FaultSetStudy;
using snc::require;

// The first bits of a random stream's index are those of the weight.
constexpr uint64_t end_of_rounds = uint64_t{1} << 24;

// Whether rows of key words have signature bits and outputs of the plan only.
bool are_keys(const std::vector<uint64_t>& keys, const snc::RowLayout& layout) {
    const size_t words = layout.signature_words + layout.output_words;
    for (size_t k = 0; k < keys.size(); k += words)
        if (snc::has_bits_beyond(&keys[k], layout.signature_words, layout.num_signature_bits) ||
            snc::has_bits_beyond(&keys[k] + layout.signature_words, layout.output_words, layout.num_outputs))
            return false;
    return true;
}

void check_mechanisms(const snc::FaultSetMechanisms& mechanisms, const std::vector<uint64_t>& coins, const snc::RowLayout& layout) {
    const size_t size = mechanisms.size(), key_words = mechanisms.key_words;
    require(key_words == layout.signature_words + layout.output_words, "base must have the signature words and the output words of the plan.");
    require(size < FaultSetTable::none && mechanisms.checks.size() == size * mechanisms.check_words,
            "checks must be [mechanisms][words of target].");
    require(mechanisms.keys.size() == size * key_words, "keys must be [mechanisms][words of base].");
    require(mechanisms.sites.size() == size, "There must be a site for each weight.");
    require(key_words == 0 ? coins.empty() : coins.size() % key_words == 0, "coins must be [coins][words of base].");
    snc::require_not_negative(mechanisms.weights, "weights");
    snc::require_range(mechanisms.sites, -1, INT32_MAX, "sites");
    for (const auto* keys : {&mechanisms.keys, &mechanisms.base, &coins})
        require(are_keys(*keys, layout), "A key has bits beyond the signature bits and the outputs of the plan.");
}

void construct_study(FaultSetStudy* self, nb::handle plan, const Input<uint64_t>& checks, const Input<uint64_t>& keys,
               const Input<uint64_t>& target, const Input<uint64_t>& base, const Input<double>& weights, const Input<int32_t>& sites,
               const Input<uint64_t>& coins, uint32_t max_weight, uint32_t threads, uint64_t max_pair_bytes, uint64_t max_bytes) {
    require(max_weight >= 1 && max_weight <= snc::max_fault_set_weight,
            "max_weight must be from 1 to ", snc::max_fault_set_weight, ", but is ", max_weight, ".");
    require(threads >= 1 && threads <= snc::max_threads,
            "threads must be from 1 to ", snc::max_threads, ", but is ", threads, ".");
    snc::FaultSetMechanisms mechanisms{static_cast<uint32_t>(target.shape(0)), static_cast<uint32_t>(base.shape(0)),
                                       to_vector(checks), to_vector(keys), to_vector(target), to_vector(base), to_vector(weights),
                                       to_vector(sites)};
    std::vector<uint64_t> of_coins = to_vector(coins);
    snc::Plan packed = to_plan(plan);
    without_gil([&] {
        check_mechanisms(mechanisms, of_coins, packed.layout);
        new (self) FaultSetStudy(std::move(packed), snc::kernels(), std::move(mechanisms), std::move(of_coins),
                                 {max_weight, threads, max_pair_bytes, max_bytes}, WithoutGil::check_signals);
    });
}

void check_weight(const FaultSetStudy& study, uint64_t weight, uint64_t least) {
    require(weight >= least && weight <= study.max_weight(),
            "weight must be from ", least, " to the max_weight ", study.max_weight(), " of the study, but is ", weight, ".");
}

nb::dict enumerate(FaultSetStudy& study, uint32_t weight, uint64_t max_steps, uint64_t max_keys, double max_seconds, uint64_t max_laws) {
    check_weight(study, weight, 0);
    require(max_seconds > 0, "max_seconds must be positive.");
    auto found = without_gil(
        [&] { return study.enumerate(weight, {max_steps, max_keys, max_laws, max_seconds}); });
    return dict_of("is_complete", found.is_complete, "steps", found.steps, "sets", found.sets, "candidates", found.candidates, "num_keys",
                   found.num_keys, "left_out", found.left_out, "keys", std::move(found.keys), "masses",
                   std::move(found.masses));
}

nb::dict bounds(FaultSetStudy& study, const Input<double>& closed, double negligible) {
    const std::vector<double> known = to_vector(closed);
    snc::require_not_negative(known, "closed");
    require(negligible >= 0, "negligible must not be negative.");
    auto found = without_gil([&] { return study.bounds(known, negligible); });
    return dict_of("passing", std::move(found.passing), "most", std::move(found.most));
}

// How many halves of each size are drawn.
void check_halves(const FaultSetStudy& study, const std::vector<uint32_t>& draws, const char* name) {
    uint64_t total = 0;
    for (uint32_t size = 0; size < draws.size(); ++size) {
        if (draws[size] == 0) continue;
        check_weight(study, size, 1);
        require(study.sampler().total(size) > 0, "There is no set of ", size, " mechanisms to draw.");
        total += draws[size];
    }
    require(total >= 1 && total <= UINT32_MAX, name, " must be 1 to 2^32 - 1 draws together.");
}

nb::dict join(FaultSetStudy& study, const Input<uint32_t>& left, const Input<uint32_t>& right, const Input<double>& counts, uint64_t seed,
              uint64_t round, uint64_t max_sets) {
    const std::vector<uint32_t> of_left = to_vector(left), of_right = to_vector(right);
    const std::vector<double> of_weights = to_vector(counts);
    check_halves(study, of_left, "left");
    check_halves(study, of_right, "right");
    require(of_weights.size() >= 1 && of_weights.size() <= snc::max_fault_set_weight + 1, "counts must be one to ",
            snc::max_fault_set_weight + 1, " numbers.");
    snc::require_not_negative(of_weights, "counts");
    require(round < end_of_rounds, "round must be below 2^24.");
    auto found = without_gil([&] {
        return study.join(of_left, of_right, of_weights, seed, round, max_sets);
    });
    return dict_of("is_complete", found.is_complete, "sets", found.sets, "candidates", found.candidates, "most_of_draw",
                   found.most_of_draw, "members", std::move(found.members), "left", std::move(found.left), "right",
                   std::move(found.right), "keys", std::move(found.keys), "left_out", found.left_out);
}

nb::object number_keys(FaultSetStudy& study, const Input<uint32_t>& members, uint32_t weight) {
    const std::vector<uint32_t> of_sets = to_vector(members);
    check_weight(study, weight, 1);
    require(of_sets.size() % weight == 0, "members must be [sets][weight].");
    snc::require_range(of_sets, 0, study.table().num_mechanisms(), "members");
    return to_array(without_gil([&] { return study.number_keys(of_sets, weight); }));
}

nb::object member_sums(FaultSetStudy& study, uint32_t weight, const Input<double>& values, uint32_t columns) {
    const std::vector<double> of_keys = to_vector(values);
    check_weight(study, weight, 0);
    require(columns >= 1 && of_keys.size() % columns == 0, "values must be [keys][columns], with at least one column.");
    snc::require_not_negative(of_keys, "values");
    return to_array(without_gil([&] { return study.member_sums(weight, of_keys, columns); }));
}

nb::object sets_with(FaultSetStudy& study, uint32_t weight, const Input<double>& values) {
    const std::vector<double> of_keys = to_vector(values);
    check_weight(study, weight, 0);
    snc::require_not_negative(of_keys, "values");
    return to_array(without_gil([&] { return study.sets_with(weight, of_keys); }));
}

nb::dict to_dict(snc::KeptBranches branches) {
    return dict_of("starts", std::move(branches.starts), "outputs", std::move(branches.outputs), "probabilities",
                   std::move(branches.probabilities));
}

nb::dict evaluate_study(FaultSetStudy& study) {
    auto found = without_gil([&] { return study.evaluate(); });
    nb::dict result = to_dict(std::move(found.branches));
    result["first"] = found.first;
    return result;
}

nb::dict kept_branches(nb::handle plan, const Input<uint64_t>& signatures, size_t count, const std::string& method) {
    const snc::Plan packed = to_plan(plan, path_method(method));
    const std::vector<uint64_t> words = to_vector(signatures);
    require(count < snc::NumberedRows::none, "There are too many signatures.");
    check_signatures(words, count, packed.layout);
    return to_dict(without_gil([&] {
        return snc::kept_branches(packed, snc::kernels(), words, count, 1, WithoutGil::check_signals);
    }));
}

}  // namespace

void bind_fault_sets(nb::module_& m) {
    m.def("kept_branches", &kept_branches, nb::arg("plan"), nb::arg("signatures"), nb::arg("count"), nb::arg("path_method") = "",
          "The ways in which shots with these signatures are kept.");
    nb::class_<FaultSetStudy>(m, "FaultSetStudy", "Fault sets of a plan. Calls from several threads follow one another.")
        .def("__init__", &construct_study, nb::arg("plan"), nb::arg("checks"), nb::arg("keys"), nb::arg("target"), nb::arg("base"), nb::arg("weights"),
             nb::arg("sites"), nb::arg("coins"), nb::arg("max_weight"), nb::arg("threads"), nb::arg("max_pair_bytes"), nb::arg("max_bytes"))
        .def("total",
             [](const FaultSetStudy& study, uint32_t weight) {
                 check_weight(study, weight, 0);
                 return study.sampler().total(weight);
             },
             nb::arg("weight"), "The sum of the weights of all sets of that many mechanisms.")
        .def_prop_ro("num_twins", [](const FaultSetStudy& study) { return study.table().twins().size(); })
        .def_prop_ro("branching", [](const FaultSetStudy& study) { return study.table().branching(); },
                     "Mean number of mechanisms that may flip back the first check that a mechanism flips.")
        .def_prop_ro("num_keys", [](const FaultSetStudy& study) { return without_gil([&] { return study.num_keys(); }); })
        .def_prop_ro("evaluated",
                     [](const FaultSetStudy& study) {
                         const auto evaluated = without_gil([&] { return study.evaluated(); });
                         return std::pair(evaluated.keys, evaluated.laws);
                     },
                     "The keys whose laws were evaluated, and the laws of signatures that this took.")
        .def_prop_ro("tells_kept", &FaultSetStudy::tells_kept,
                     "Whether most sets with which no shot is kept are told from the others without their laws.")
        .def("enumerate", &enumerate, nb::arg("weight"), nb::arg("max_steps"), nb::arg("max_keys"), nb::arg("max_seconds") = 1e9,
             nb::arg("max_laws") = ~uint64_t{0}, "All sets of a weight, added up by key.")
        .def("bounds", &bounds, nb::arg("closed"), nb::arg("negligible"),
             "Upper bounds on the total weight of the sets of each size: that pass the checks, and that flip any one set of checks.")
        .def("join", &join, nb::arg("left"), nb::arg("right"), nb::arg("counts"), nb::arg("seed"),
             nb::arg("round"), nb::arg("max_sets"),
             "Sets out of left and right halves, of which so many of each size are drawn.")
        .def("number_keys", &number_keys, nb::arg("members"), nb::arg("weight"),
             "The numbers of the keys of sets, 2^32 - 1 for those that are not stored.")
        .def("evaluate", &evaluate_study, "The laws of the keys that are new since the last call.")
        .def("member_sums", &member_sums, nb::arg("weight"), nb::arg("values"), nb::arg("columns"),
             "For each mechanism the sums over the sets with it: odds of the set times the values of its key.")
        .def("release", [](FaultSetStudy& study) { without_gil([&] { study.release(); }); },
             "Gives back the memory that only makes searches faster.")
        .def("sets_with", &sets_with, nb::arg("weight"), nb::arg("values"), "The sets of a weight with a key of positive value.");
}
