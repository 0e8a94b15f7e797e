#include <nanobind/nanobind.h>

#include <utility>
#include <vector>

#include "arrays.h"
#include "bindings.h"
#include "fault_set_laws.h"
#include "fault_set_search.h"
#include "fault_set_study.h"
#include "gil.h"
#include "insertion_laws.h"

namespace nb = nanobind;

namespace {

template <typename T>
using Input = snc::InputArray<T>;
using snc::to_array;
using snc::to_vector;

template <typename Work>
auto without_gil(Work work) {
    const WithoutGil released;
    return work();
}

void construct(snc::FaultSetStudy* self, nb::handle plan, const Input<uint64_t>& checks, const Input<uint64_t>& keys,
               const Input<uint64_t>& target, const Input<uint64_t>& base, const Input<double>& weights, const Input<int32_t>& sites,
               const Input<uint64_t>& coins, uint32_t max_weight, uint32_t threads, uint64_t max_pair_bytes) {
    if (max_weight > snc::max_fault_set_weight) throw std::invalid_argument("max_weight is above the limit.");
    const auto key_words = static_cast<uint32_t>(base.shape(0));
    snc::FaultSetMechanisms mechanisms{static_cast<uint32_t>(target.shape(0)), key_words, to_vector(checks), to_vector(keys),
                                       to_vector(target), to_vector(base), to_vector(weights), to_vector(sites)};
    if (mechanisms.checks.size() != mechanisms.size() * mechanisms.check_words ||
        mechanisms.keys.size() != mechanisms.size() * key_words || mechanisms.sites.size() != mechanisms.size())
        throw std::invalid_argument("The arrays of the mechanisms differ in length.");
    new (self) snc::FaultSetStudy(to_plan(plan), snc::kernels(), std::move(mechanisms), to_vector(coins), max_weight, threads,
                                  max_pair_bytes, WithoutGil::check_signals);
}

snc::FaultSetStudy::Storage storage_of(bool kept_only) {
    return kept_only ? snc::FaultSetStudy::Storage::can_be_kept : snc::FaultSetStudy::Storage::all;
}

nb::dict enumerate(snc::FaultSetStudy& study, uint32_t weight, const Input<double>& circuits, size_t num_circuits, uint64_t max_steps,
                   uint64_t max_keys, bool kept_only) {
    const std::vector<double> weights = to_vector(circuits);
    auto found = without_gil([&] { return study.enumerate(weight, weights, num_circuits, max_steps, max_keys, storage_of(kept_only)); });
    nb::dict result;
    result["is_complete"] = found.is_complete;
    result["steps"] = found.steps;
    result["sets"] = found.sets;
    result["num_keys"] = found.num_keys;
    result["left_out"] = to_array(std::move(found.left_out));
    result["keys"] = to_array(std::move(found.keys));
    result["masses"] = to_array(std::move(found.masses));
    return result;
}

nb::dict draw(snc::FaultSetStudy& study, uint32_t weight, double spacing, uint64_t seed, uint64_t max_draws) {
    auto found = without_gil([&] { return study.draw(weight, spacing, seed, max_draws); });
    nb::dict result;
    result["is_complete"] = found.is_complete;
    result["steps"] = found.steps;
    result["members"] = to_array(std::move(found.members));
    return result;
}

nb::dict join(snc::FaultSetStudy& study, uint32_t left, uint32_t right, uint32_t draws, double stride, uint64_t seed, uint64_t round,
              uint64_t max_sets, const Input<double>& ratios, size_t num_circuits, bool kept_only) {
    const std::vector<double> of_mechanisms = to_vector(ratios);
    auto found = without_gil([&] {
        return study.join(left, right, draws, stride, seed, round, max_sets, of_mechanisms, num_circuits, storage_of(kept_only));
    });
    nb::dict result;
    result["is_complete"] = found.is_complete;
    result["sets"] = found.sets;
    result["left_squares"] = found.left_squares;
    result["right_squares"] = found.right_squares;
    result["most_of_draw"] = found.most_of_draw;
    result["members"] = to_array(std::move(found.members));
    result["left"] = to_array(std::move(found.left));
    result["right"] = to_array(std::move(found.right));
    result["keys"] = to_array(std::move(found.keys));
    result["left_out"] = to_array(std::move(found.left_out));
    return result;
}

nb::object member_sums(snc::FaultSetStudy& study, uint32_t weight, const Input<double>& odds, const Input<double>& values, uint32_t columns) {
    const std::vector<double> of_mechanisms = to_vector(odds), of_keys = to_vector(values);
    return to_array(without_gil([&] { return study.member_sums(weight, of_mechanisms, of_keys, columns); }));
}

nb::dict to_dict(snc::KeptBranches branches) {
    nb::dict result;
    result["starts"] = to_array(std::move(branches.starts));
    result["outputs"] = to_array(std::move(branches.outputs));
    result["probabilities"] = to_array(std::move(branches.probabilities));
    return result;
}

nb::dict evaluate(snc::FaultSetStudy& study) {
    auto found = without_gil([&] { return study.evaluate(); });
    nb::dict result = to_dict(std::move(found.branches));
    result["first"] = found.first;
    return result;
}

nb::dict kept_branches(nb::handle plan, const Input<uint64_t>& signatures, size_t count, uint32_t width_of_sums) {
    const snc::Plan packed = to_plan(plan);
    const std::vector<uint64_t> words = to_vector(signatures);
    if (words.size() != count * packed.layout.signature_words) throw std::invalid_argument("signatures must be [count][words].");
    return to_dict(without_gil([&] {
        return snc::kept_branches(packed, snc::kernels(), words, count, 1, WithoutGil::check_signals, width_of_sums);
    }));
}

}  // namespace

void bind_fault_sets(nb::module_& m) {
    using snc::FaultSetStudy;
    m.def("kept_branches", &kept_branches, nb::arg("plan"), nb::arg("signatures"), nb::arg("count"), nb::arg("width_of_sums") = snc::long_vector_width,
          "The ways in which shots with these signatures are kept. From a peak width on, as sums where the plan allows it.");
    m.def(
        "has_insertion_laws",
        [](nb::handle plan) { return snc::InsertionLaws::of(to_plan(plan), snc::kernels()).has_value(); }, nb::arg("plan"),
        "Whether the laws of a plan can be sums.");
    nb::class_<FaultSetStudy>(m, "FaultSetStudy", "Fault sets of a plan. Not safe for use from several threads at once.")
        .def("__init__", &construct, nb::arg("plan"), nb::arg("checks"), nb::arg("keys"), nb::arg("target"), nb::arg("base"), nb::arg("weights"),
             nb::arg("sites"), nb::arg("coins"), nb::arg("max_weight"), nb::arg("threads"), nb::arg("max_pair_bytes"))
        .def("total", [](const FaultSetStudy& study, uint32_t weight) { return study.sampler().total(weight); }, nb::arg("weight"),
             "The sum of the weights of all sets of that many mechanisms.")
        .def_prop_ro("num_twins", [](const FaultSetStudy& study) { return study.table().twins().size(); })
        .def_prop_ro("branching", [](const FaultSetStudy& study) { return study.table().branching(); },
                     "Mean number of mechanisms that may flip back the first check that a mechanism flips.")
        .def_prop_ro("num_keys", [](const FaultSetStudy& study) { return study.keys().size(); })
        .def("enumerate", &enumerate, nb::arg("weight"), nb::arg("circuits"), nb::arg("num_circuits"), nb::arg("max_steps"), nb::arg("max_keys"),
             nb::arg("kept_only"), "All sets of a weight, added up by key.")
        .def("draw", &draw, nb::arg("weight"), nb::arg("spacing"), nb::arg("seed"), nb::arg("max_draws"),
             "A Poisson process of draws from all sets of a weight.")
        .def("join", &join, nb::arg("left"), nb::arg("right"), nb::arg("draws"), nb::arg("stride"), nb::arg("seed"),
             nb::arg("round"), nb::arg("max_sets"), nb::arg("ratios"), nb::arg("num_circuits"), nb::arg("kept_only"), "Sets of left + right mechanisms, out of as many draws of each part.")
        .def("number_keys",
             [](FaultSetStudy& study, const Input<uint32_t>& members, uint32_t weight, bool kept_only) {
                 const std::vector<uint32_t> of_sets = to_vector(members);
                 return to_array(without_gil([&] { return study.number_keys(of_sets, weight, storage_of(kept_only)); }));
             },
             nb::arg("members"), nb::arg("weight"), nb::arg("kept_only") = false,
             "The numbers of the keys of sets, 2^32 - 1 for those that are not stored.")
        .def("evaluate", &evaluate, "The laws of the keys that are new since the last call.")
        .def("member_sums", &member_sums, nb::arg("weight"), nb::arg("odds"), nb::arg("values"), nb::arg("columns"),
             "For each mechanism the sums over the sets with it: odds of the set times the values of its key.")
        .def("release", &FaultSetStudy::release, "Gives back the memory that only makes searches faster.")
        .def("sets_with",
             [](FaultSetStudy& study, uint32_t weight, const Input<double>& values) {
                 const std::vector<double> of_keys = to_vector(values);
                 return to_array(without_gil([&] { return study.sets_with(weight, of_keys); }));
             },
             nb::arg("weight"), nb::arg("values"), "The sets of a weight with a key of positive value.");
}
