#include <nanobind/nanobind.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/tuple.h>

#include <algorithm>
#include <array>
#include <climits>
#include <cstdint>
#include <functional>
#include <tuple>
#include <utility>
#include <vector>

#include "algebra/sparse_rows.h"
#include "base/argument_checks.h"
#include "bindings/bindings.h"
#include "bindings/python/arrays.h"
#include "bindings/python/gil.h"
#include "bindings/python/list_caster.h"
#include "bindings/python/tuple_caster.h"
#include "compiler/program/program.h"
#include "compiler/sweeps/effect_sweep.h"
#include "compiler/sweeps/forward_sweep.h"
#include "compiler/sweeps/sampling_tables.h"

namespace nb = nanobind;

SNC_TUPLE_OF(snc::QubitPauli, &snc::QubitPauli::qubit, &snc::QubitPauli::code);
SNC_TUPLE_OF(snc::GeneratorImage, &snc::GeneratorImage::factors, &snc::GeneratorImage::is_negative);
SNC_TUPLE_OF(snc::Insertion, &snc::Insertion::step, &snc::Insertion::factors, &snc::Insertion::deferred, &snc::Insertion::reordered);
SNC_TUPLE_OF(snc::InsertedBits, &snc::InsertedBits::step, &snc::InsertedBits::factors, &snc::InsertedBits::signs,
             &snc::InsertedBits::records);
SNC_TUPLE_OF(snc::EffectSweep::Faults, &snc::EffectSweep::Faults::steps, &snc::EffectSweep::Faults::groups,
             &snc::EffectSweep::Faults::patterns, &snc::EffectSweep::Faults::records, &snc::EffectSweep::Faults::kept);
SNC_TUPLE_OF(snc::EffectSweep::Links, &snc::EffectSweep::Links::chains, &snc::EffectSweep::Links::kept,
             &snc::EffectSweep::Links::probabilities);
SNC_TUPLE_OF(snc::Coin, &snc::Coin::num_operations, &snc::Coin::record, &snc::Coin::insertion);
SNC_TUPLE_OF(snc::SweptExpectation, &snc::SweptExpectation::num_operations, &snc::SweptExpectation::is_zero,
             &snc::SweptExpectation::i_power);
SNC_TUPLE_OF(snc::SweptOperation, &snc::SweptOperation::kind, &snc::SweptOperation::width, &snc::SweptOperation::i_power,
             &snc::SweptOperation::pivot, &snc::SweptOperation::outcome, &snc::SweptOperation::step,
             &snc::SweptOperation::is_negative_angle);

namespace {

using snc::EffectSweep;
using snc::Program;
using snc::CircuitStep;
using snc::CircuitStepKind;
using snc::require;
using FactorList = std::vector<snc::QubitPauli>;
using Groups = std::vector<std::vector<uint32_t>>;

snc::SparseRows to_rows(const snc::InputArray<int64_t>& starts, const snc::InputArray<int32_t>& bits) {
    snc::SparseRows rows{snc::to_vector(starts), snc::to_vector(bits)};
    snc::require_rows(rows.starts, rows.bits, INT32_MAX, "the rows");
    return rows;
}

// The same, with each bit of a row once.
snc::SparseRows to_ascending_rows(const snc::InputArray<int64_t>& starts, const snc::InputArray<int32_t>& bits) {
    snc::SparseRows rows = to_rows(starts, bits);
    for (size_t r = 0; r < rows.size(); ++r)
        require(std::ranges::adjacent_find(rows[r], std::ranges::greater_equal{}) == rows[r].end(), "The bits of each row must ascend.");
    return rows;
}

nb::tuple from_rows(snc::SparseRows rows) {
    return nb::make_tuple(snc::to_array(std::move(rows.starts)), snc::to_array(std::move(rows.bits)));
}

// The same function, called in Python's main thread only, and from where Python's lock is released. The function must outlive it.
std::function<void(int64_t)> in_main_thread(const nb::callable& function) {
    return [&function](int64_t step) {
        if (!WithoutGil::in_main_thread()) return;
        const nb::gil_scoped_acquire gil;
        function(step);
    };
}

void add_step(Program& program, CircuitStepKind kind, int32_t number, int64_t record, const Groups& groups, const FactorList& factors,
              const std::vector<int64_t>& records, double probability, bool is_inverted, bool resets) {
    std::vector<uint32_t> targets;
    for (const auto& group : groups) {
        require(!group.empty() && group.size() == groups[0].size(), "The groups of targets must be of one size.");
        targets.insert(targets.end(), group.begin(), group.end());
    }
    CircuitStep step{kind, is_inverted, resets, number};
    step.group_size = groups.empty() ? 1 : static_cast<uint32_t>(groups[0].size());
    step.record = record;
    step.probability = probability;
    program.add_step(step, targets, factors, records);
}

void bind_program(nb::module_& m) {
    nb::enum_<CircuitStepKind>(m, "CircuitStepKind")
        .value("CLIFFORD", CircuitStepKind::clifford)
        .value("ROTATE", CircuitStepKind::rotate)
        .value("MEASURE", CircuitStepKind::measure)
        .value("RESET", CircuitStepKind::reset)
        .value("FEEDBACK", CircuitStepKind::feedback)
        .value("NOISE", CircuitStepKind::noise)
        .value("CORRELATED_ERROR", CircuitStepKind::correlated_error)
        .value("DETECTOR", CircuitStepKind::detector)
        .value("OBSERVABLE", CircuitStepKind::observable)
        .value("EXPECTATION", CircuitStepKind::expectation);
    nb::class_<Program>(m, "Program", "A circuit as steps; see compiler/program/native_program.py.")
        .def(nb::init<size_t, size_t, size_t, size_t>(), nb::arg("num_qubits"), nb::arg("num_records"),
             nb::arg("num_detectors"), nb::arg("num_observables"))
        .def(
            "add_gate",
            [](Program& program, size_t num_targets, std::vector<std::vector<uint32_t>> pullback,
               std::vector<snc::GeneratorImage> inverse) {
                return program.add_gate({num_targets, std::move(pullback), std::move(inverse)});
            },
            nb::arg("num_targets"), nb::arg("pullback"), nb::arg("inverse"))
        .def(
            "add_channel",
            [](Program& program, uint64_t constant, snc::ChannelTables::Choices rates, snc::ChannelTables::Choices site) {
                return program.add_channel({constant, std::move(rates), std::move(site)});
            },
            nb::arg("constant"), nb::arg("rates"), nb::arg("site"))
        .def("add_step", &add_step, nb::arg("kind"), nb::arg("number") = -1, nb::arg("record") = -1, nb::arg("groups") = Groups(),
             nb::arg("factors") = FactorList(), nb::arg("records") = std::vector<int64_t>(), nb::arg("probability") = 0.0,
             nb::arg("is_inverted") = false, nb::arg("resets") = false,
             "Adds a step after all others; which arguments it has is up to its kind: see CircuitStep in program.h.")
        .def_prop_ro("num_expectations", &Program::num_expectations)
        .def(
            "add_loop",
            [](Program& program, size_t first, size_t end, uint64_t repetitions, int64_t records, int64_t detectors) {
                program.add_loop(first, end, repetitions, {records, detectors});
            },
            nb::arg("first"), nb::arg("end"), nb::arg("repetitions"), nb::arg("records"), nb::arg("detectors"),
            "Stored steps that are one iteration of a loop, and the records and detectors in it; inner loops first.")
        .def("connected_qubits", &Program::connected_qubits)
        .def(
            "odd_outputs",
            [](const Program& program, const snc::InputArray<uint8_t>& records) {
                require(records.shape(0) == program.num_records, "There must be a bit for each record.");
                return snc::to_array(program.odd_outputs({records.data(), records.shape(0)}));
            },
            nb::arg("records"), "The detectors, and then the observables, for which the sum of their records is odd.");
}

void bind_forward_sweep(nb::module_& m) {
    m.def(
        "forward_sweep",
        [](const Program& program, bool keep_order, const nb::callable& progress) {
            snc::QuantumProgram found =
                without_gil([&] { return snc::forward_sweep(program, keep_order, in_main_thread(progress)); });
            return nb::make_tuple(found.operations, from_rows(std::move(found.x)), from_rows(std::move(found.z)),
                                  found.activations, found.outcomes, found.coins,
                                  snc::to_array(std::move(found.base_records)), found.peak_width, found.is_reordered, found.expectations,
                                  from_rows(std::move(found.expected_x)), from_rows(std::move(found.expected_z)));
        },
        nb::arg("program"), nb::arg("keep_order"), nb::arg("progress"),
        "Operations (kind, width, i_power, pivot, outcome, step, whether the angle is negative), their x and z as (starts,"
        " bits), activations, outcomes, coins, base records, peak width, whether measurements are reordered, expectation values"
        " (number of operations before it, whether it is 0, i_power), and their x and z.");
}

void bind_effect_sweep(nb::module_& m) {
    using Signs = std::vector<std::pair<int64_t, int32_t>>;
    nb::class_<EffectSweep>(m, "EffectSweep", "The backward sweep.")
        .def(
            "__init__",
            [](EffectSweep* self, const Program& program, bool by_records, bool with_noise, bool with_faults, Signs signs,
               std::vector<snc::InsertedBits> insertions, uint64_t max_bytes, const nb::callable& progress) {
                EffectSweep::Question question{by_records, with_noise, with_faults, std::move(signs), std::move(insertions)};
                for (const auto& [step, sign] : question.signs) require(sign >= 0, "Bits of signs must not be negative.");
                for (const auto& [step, factors, flipped, records] : question.insertions) {
                    program.check_factors(factors);
                    program.check_records(records);
                    snc::require_range(flipped, 0, INT32_MAX, "Bits of signs");
                }
                const auto step_of = &snc::InsertedBits::step;
                require(std::ranges::is_sorted(question.insertions, std::ranges::greater{}, step_of), "The insertions at the last steps must come first.");
                without_gil([&] { new (self) EffectSweep(program, std::move(question), max_bytes, in_main_thread(progress)); });
            },
            nb::arg("program"), nb::arg("by_records"), nb::arg("with_noise"), nb::arg("with_faults"), nb::arg("signs"),
            nb::arg("insertions"), nb::arg("max_bytes"), nb::arg("progress"))
        .def("kept_insertions", &EffectSweep::kept_insertions)
        .def("faults", &EffectSweep::faults, "Steps, groups, patterns, records (-1: none) and numbers of kept effects.")
        .def("links", &EffectSweep::links, "Of correlated errors, the chains, numbers of kept effects, and probabilities.")
        .def(
            "add_choices",
            [](EffectSweep& sweep, int64_t constant, const std::vector<std::pair<int64_t, double>>& choices) {
                const auto num_kept = static_cast<int64_t>(sweep.num_kept());
                snc::require_range(std::array{constant}, -1, num_kept, "Numbers of kept effects");
                for (const auto& [number, probability] : choices) {
                    snc::require_range(std::array{number}, -1, num_kept, "Numbers of kept effects");
                    require(snc::is_probability(probability), "The probabilities of choices must be from 0 to 1.");
                }
                sweep.add_choices(constant, choices);
            },
            nb::arg("constant"), nb::arg("choices"))
        .def(
            "fix_signs",
            [](EffectSweep& sweep, const std::vector<std::pair<int32_t, size_t>>& free_signs) {
                for (const auto& [sign, number] : free_signs)
                    require(sign >= 0 && number < sweep.num_kept(), "Free signs must be bits with numbers of kept effects.");
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
            const snc::SparseRows rows = to_rows(starts, bits), images = to_rows(image_starts, image_bits);
            return from_rows(without_gil([&] {
                snc::Interruption interruption(WithoutGil::check_signals);
                return snc::image_of_rows(rows, images, interruption);
            }));
        },
        nb::arg("starts"), nb::arg("bits"), nb::arg("image_starts"), nb::arg("image_bits"),
        "For each row the sum of the images of its bits, as starts and bits.");
    m.def(
        "independent_rows",
        [](const Starts& starts, const Bits& bits) {
            const snc::SparseRows rows = to_ascending_rows(starts, bits);
            return snc::to_array(without_gil([&] {
                snc::Interruption interruption(WithoutGil::check_signals);
                return snc::independent_rows(rows, interruption);
            }));
        },
        nb::arg("starts"), nb::arg("bits"), "The numbers of the rows that are not sums of earlier rows.");
    nb::class_<snc::RowSums>(m, "RowSums", "Sums of amounts by row.")
        .def(nb::init<>())
        .def(
            "add",
            [](snc::RowSums& sums, const Starts& starts, const Bits& bits, const snc::InputArray<double>& amounts) {
                const snc::SparseRows rows = to_ascending_rows(starts, bits);
                require(amounts.shape(0) == rows.size(), "There must be an amount for each row.");
                snc::require_not_negative(snc::to_vector(amounts), "amounts");
                for (size_t k = 0; k < rows.size(); ++k) sums.add(rows[k], amounts.data()[k]);
            },
            nb::arg("starts"), nb::arg("bits"), nb::arg("amounts"))
        .def("rows", [](const snc::RowSums& sums) { return from_rows(sums.rows()); })
        .def("sums", [](const snc::RowSums& sums) { return snc::to_array(sums.sums()); });
    m.def(
        "alias_table",
        [](const snc::InputArray<double>& scaled) {
            std::vector<double> weights = snc::to_vector(scaled);
            require(weights.size() <= INT32_MAX, "There are too many weights.");
            snc::require_not_negative(weights, "scaled");
            snc::AliasTable table = snc::alias_table(std::move(weights));
            std::vector<uint64_t> thresholds;
            for (const double threshold : table.thresholds) thresholds.push_back(threshold < 1 ? static_cast<uint64_t>(threshold * 0x1p64) : UINT64_MAX);
            return nb::make_tuple(snc::to_array(std::move(thresholds)), snc::to_array(std::move(table.indices)));
        },
        nb::arg("scaled"), "Thresholds and indices of the alias table of weights with mean 1.");
}

}  // namespace

void bind_compiler(nb::module_& m) {
    bind_program(m);
    bind_forward_sweep(m);
    bind_effect_sweep(m);
    bind_rows(m);
}
