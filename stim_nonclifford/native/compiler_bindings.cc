#include <nanobind/nanobind.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/vector.h>

#include <cstdint>
#include <utility>
#include <vector>

#include "arrays.h"
#include "bindings.h"
#include "effect_sweep.h"
#include "sampling_tables.h"
#include "sparse_rows.h"

namespace nb = nanobind;

namespace {

using snc::EffectSweep;
using FactorList = std::vector<std::pair<uint32_t, uint32_t>>;
using Groups = std::vector<std::vector<uint32_t>>;

std::vector<snc::PauliFactor> factors_of(const FactorList& list) {
    std::vector<snc::PauliFactor> factors;
    for (const auto& [qubit, code] : list) factors.push_back({qubit, code});
    return factors;
}

std::vector<uint32_t> joined(const Groups& groups) {
    std::vector<uint32_t> targets;
    for (const auto& group : groups) targets.insert(targets.end(), group.begin(), group.end());
    return targets;
}

snc::RowList to_rows(const snc::InputArray<int64_t>& starts, const snc::InputArray<int32_t>& bits) {
    snc::RowList rows{snc::to_vector(starts), snc::to_vector(bits)};
    if (rows.starts.empty() || rows.starts.back() != static_cast<int64_t>(rows.bits.size()))
        throw std::invalid_argument("The starts of the rows do not fit their bits.");
    return rows;
}

nb::tuple from_rows(snc::RowList rows) {
    return nb::make_tuple(snc::to_array(std::move(rows.starts)), snc::to_array(std::move(rows.bits)));
}

void bind_effect_sweep(nb::module_& m) {
    nb::class_<EffectSweep>(m, "EffectSweep", "The state of the backward sweep.")
        .def(nb::init<size_t, size_t, uint64_t, bool>(), nb::arg("num_qubits"), nb::arg("num_records"), nb::arg("max_bytes"),
             nb::arg("with_stabilizers"))
        .def("report_records", &EffectSweep::report_records, "Lets each record flip the output with its number.")
        .def("add_gate", &EffectSweep::add_gate, nb::arg("pullback"), "The number of a gate with this pullback.")
        .def("add_channel", &EffectSweep::add_channel, nb::arg("constant"), nb::arg("rates"), nb::arg("site"),
             "The number of a noise channel.")
        .def(
            "pull_back_through",
            [](EffectSweep& sweep, uint32_t gate, const Groups& groups) { sweep.pull_back_through(gate, joined(groups)); },
            nb::arg("gate"), nb::arg("groups"))
        .def(
            "add_noise",
            [](EffectSweep& sweep, uint32_t channel, const Groups& groups, int64_t first_herald) {
                if (!groups.empty())
                    sweep.add_noise(channel, static_cast<uint32_t>(groups[0].size()), joined(groups), first_herald);
            },
            nb::arg("channel"), nb::arg("groups"), nb::arg("first_herald"))
        .def("add_readout_noise", &EffectSweep::add_readout_noise, nb::arg("channel"), nb::arg("record"))
        .def(
            "measure",
            [](EffectSweep& sweep, const FactorList& factors, size_t record, bool resets) {
                sweep.measure(factors_of(factors), record, resets);
            },
            nb::arg("factors"), nb::arg("record"), nb::arg("resets"))
        .def(
            "reset", [](EffectSweep& sweep, uint32_t qubit, uint32_t pauli) { sweep.reset({qubit, pauli}); },
            nb::arg("qubit"), nb::arg("pauli"))
        .def(
            "add_feedback",
            [](EffectSweep& sweep, size_t record, uint32_t qubit, uint32_t pauli) {
                sweep.add_feedback(record, {qubit, pauli});
            },
            nb::arg("record"), nb::arg("qubit"), nb::arg("pauli"))
        .def(
            "flip_by_records",
            [](EffectSweep& sweep, const std::vector<int64_t>& records, int32_t output) {
                sweep.flip_by_records(records, output);
            },
            nb::arg("records"), nb::arg("output"))
        .def(
            "flip_by_anticommuting",
            [](EffectSweep& sweep, const FactorList& factors, int32_t bit) {
                sweep.flip_by_anticommuting(factors_of(factors), bit);
            },
            nb::arg("factors"), nb::arg("bit"))
        .def(
            "keep",
            [](EffectSweep& sweep, const FactorList& factors, const std::vector<int32_t>& signs,
               const std::vector<int64_t>& records) { return sweep.keep(factors_of(factors), signs, records); },
            nb::arg("factors"), nb::arg("signs"), nb::arg("records"))
        .def(
            "add_choices",
            [](EffectSweep& sweep, int64_t constant, const std::vector<std::pair<int64_t, double>>& choices) {
                sweep.add_choices(constant, choices);
            },
            nb::arg("constant"), nb::arg("choices"))
        .def("end", &EffectSweep::end)
        .def(
            "fix_signs",
            [](EffectSweep& sweep, const std::vector<std::pair<int32_t, size_t>>& free_signs) {
                return sweep.fix_signs(free_signs);
            },
            nb::arg("free_signs"))
        .def("constant", [](const EffectSweep& sweep) { return snc::to_array(sweep.constant()); })
        .def(
            "noise",
            [](const EffectSweep& sweep) {
                EffectSweep::Noise noise = sweep.noise();
                return nb::make_tuple(snc::to_array(std::move(noise.effects.starts)),
                                      snc::to_array(std::move(noise.effects.bits)), snc::to_array(std::move(noise.rates)),
                                      snc::to_array(std::move(noise.sites)));
            },
            "(starts, bits) of effects, rates or probabilities, and sites; see NoiseEffects.")
        .def("kept", [](const EffectSweep& sweep) { return from_rows(sweep.kept()); })
        .def("stabilizers", [](const EffectSweep& sweep) { return from_rows(sweep.stabilizers()); });
}

void bind_rows(nb::module_& m) {
    using Starts = snc::InputArray<int64_t>;
    using Bits = snc::InputArray<int32_t>;
    m.def(
        "image_of_rows",
        [](const Starts& starts, const Bits& bits, const Starts& image_starts, const Bits& image_bits) {
            return from_rows(snc::image_of_rows(to_rows(starts, bits), to_rows(image_starts, image_bits)));
        },
        nb::arg("starts"), nb::arg("bits"), nb::arg("image_starts"), nb::arg("image_bits"),
        "For each row the sum of the images of its bits, as starts and bits.");
    nb::class_<snc::RowSums>(m, "RowSums", "Sums of amounts by row.")
        .def(nb::init<>())
        .def(
            "add",
            [](snc::RowSums& sums, const Starts& starts, const Bits& bits, const snc::InputArray<double>& amounts) {
                const snc::RowList rows = to_rows(starts, bits);
                if (amounts.shape(0) != rows.size()) throw std::invalid_argument("There must be an amount for each row.");
                for (size_t k = 0; k < rows.size(); ++k) sums.add(rows[k], amounts.data()[k]);
            },
            nb::arg("starts"), nb::arg("bits"), nb::arg("amounts"))
        .def("rows", [](const snc::RowSums& sums) { return from_rows(sums.rows()); })
        .def("sums", [](const snc::RowSums& sums) { return snc::to_array(sums.sums()); });
    m.def(
        "alias_table",
        [](const snc::InputArray<double>& scaled) {
            snc::AliasTable table = snc::alias_table(snc::to_vector(scaled));
            return nb::make_tuple(snc::to_array(std::move(table.thresholds)), snc::to_array(std::move(table.indices)));
        },
        nb::arg("scaled"), "Thresholds and indices of the alias table of weights with mean 1.");
}

}  // namespace

void bind_compiler(nb::module_& m) {
    bind_effect_sweep(m);
    bind_rows(m);
}
