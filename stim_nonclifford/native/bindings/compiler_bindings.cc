#include <nanobind/nanobind.h>

#include <algorithm>
#include <array>
#include <climits>
#include <cstdint>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "algebra/alias_table.h"
#include "algebra/sparse_rows.h"
#include "base/argument_checks.h"
#include "bindings/bindings.h"
#include "bindings/python/arrays.h"
#include "bindings/python/gil.h"
#include "compiler/program/program.h"
#include "compiler/sweeps/backward_sweep.h"
#include "compiler/sweeps/forward_sweep.h"

namespace nb = nanobind;

namespace {

using snc::CircuitStepKind;
using snc::Program;
using snc::QuantumProgram;
using snc::require;
using Integers = snc::InputArray<int64_t>;
using Bits = snc::InputArray<int32_t>;
using Doubles = snc::InputArray<double>;

snc::SparseRows to_rows(const Integers& starts, const Bits& bits) {
    snc::SparseRows rows{snc::to_vector(starts), snc::to_vector(bits)};
    snc::require_rows(rows.starts, rows.bits, INT32_MAX, "the rows");
    return rows;
}

// The same, with each bit of a row once.
snc::SparseRows to_ascending_rows(const Integers& starts, const Bits& bits) {
    snc::SparseRows rows = to_rows(starts, bits);
    for (size_t r = 0; r < rows.size(); ++r)
        require(std::ranges::adjacent_find(rows[r], std::ranges::greater_equal{}) == rows[r].end(), "The bits of each row must ascend.");
    return rows;
}

nb::tuple from_rows(snc::SparseRows rows) {
    return nb::make_tuple(snc::to_array(std::move(rows.starts)), snc::to_array(std::move(rows.bits)));
}

// The rows of a table of so many columns.
template <size_t columns>
std::vector<std::array<int64_t, columns>> to_table(const Integers& array, const char* name) {
    require(array.shape(0) % columns == 0, name, " must be a table of ", columns, " columns.");
    std::vector<std::array<int64_t, columns>> rows(array.shape(0) / columns);
    for (size_t k = 0; k < array.shape(0); ++k) rows[k / columns][k % columns] = array.data()[k];
    return rows;
}

// A table with a row of numbers for each item.
template <typename Items, typename Numbers>
nb::object to_table_array(const Items& items, Numbers numbers_of) {
    std::vector<int64_t> found;
    size_t columns = 1;
    for (const auto& item : items) {
        const auto numbers = numbers_of(item);
        columns = numbers.size();
        found.insert(found.end(), numbers.begin(), numbers.end());
    }
    return snc::to_array(std::move(found), {items.size(), columns});
}

// The same function, called in Python's main thread only, and from where Python's lock is released. The function must outlive it.
std::function<void(int64_t)> in_main_thread(const nb::callable& function) {
    return [&function](int64_t step) {
        if (!WithoutGil::in_main_thread()) return;
        const nb::gil_scoped_acquire gil;
        function(step);
    };
}

// Steps are a table; their targets, factors and records follow one another in the other arrays.
void take_steps(snc::ProgramParts& parts, const Integers& steps, const Doubles& probabilities, const Bits& targets, const Bits& factors,
                const Integers& records) {
    constexpr int64_t most = INT32_MAX;
    const auto rows = to_table<9>(steps, "steps");
    require(probabilities.shape(0) == rows.size(), "There must be a probability for each step.");
    require(factors.shape(0) % 2 == 0, "factors must be pairs of a qubit and a code.");
    snc::require_range(std::span(targets.data(), targets.shape(0)), 0, most, "Targets");
    snc::require_range(std::span(factors.data(), factors.shape(0)), 0, most, "Qubits and codes");
    parts.targets.assign(targets.data(), targets.data() + targets.shape(0));
    for (size_t k = 0; k < factors.shape(0); k += 2)
        parts.factors.push_back({static_cast<uint32_t>(factors.data()[k]), static_cast<uint32_t>(factors.data()[k + 1])});
    parts.records = snc::to_vector(records);
    snc::CircuitStep step{};
    for (size_t k = 0; k < rows.size(); ++k) {
        const auto& [kind, number, record, num_targets, group_size, num_factors, num_records, is_inverted, resets] = rows[k];
        snc::require_range(std::array{kind}, 0, int64_t{static_cast<uint8_t>(CircuitStepKind::expectation)} + 1, "Kinds of steps");
        snc::require_range(std::array{number}, -1, most, "Numbers in steps");
        snc::require_range(std::array{num_targets, num_factors, num_records, is_inverted, resets}, 0, most, "Counts and flags of steps");
        snc::require_range(std::array{group_size}, 1, most, "Sizes of groups");
        const auto count = [](uint32_t& first, uint32_t& end, int64_t more, size_t size) {
            first = end;
            require(static_cast<size_t>(more) <= size - first, "Steps have more targets, factors or records than there are.");
            end = first + static_cast<uint32_t>(more);
        };
        count(step.first, step.end, num_targets, parts.targets.size());
        count(step.first_factor, step.end_factor, num_factors, parts.factors.size());
        count(step.first_record, step.end_record, num_records, parts.records.size());
        step.kind = static_cast<CircuitStepKind>(kind);
        step.number = static_cast<int32_t>(number);
        step.record = record;
        step.group_size = static_cast<uint32_t>(group_size);
        step.is_inverted = is_inverted != 0;
        step.resets = resets != 0;
        step.probability = probabilities.data()[k];
        parts.steps.push_back(step);
    }
    require(step.end == parts.targets.size() && step.end_factor == parts.factors.size() && step.end_record == parts.records.size(),
            "All targets, factors and records must be those of steps.");
}

void take_gates(snc::ProgramParts& parts, const Integers& sizes, const Integers& starts, const Bits& bits) {
    constexpr int64_t max_targets = 64;
    snc::require_range(std::span(sizes.data(), sizes.shape(0)), 1, max_targets + 1, "Numbers of targets of gates");
    const snc::SparseRows rows = to_ascending_rows(starts, bits);
    size_t row = 0;
    for (size_t k = 0; k < sizes.shape(0); ++k) {
        const auto size = static_cast<size_t>(sizes.data()[k]);
        std::vector<snc::RowView> images;
        for (; images.size() < 2 * size; ++row) {
            require(row < rows.size(), "There must be an image of each generator of each gate.");
            snc::require_range(rows[row], 0, 2 * sizes.data()[k] + 1, "Generators in images");
            images.push_back(rows[row]);
        }
        parts.gates.push_back(snc::GateTables::of(size, images));
    }
    require(row == rows.size(), "All images must be those of gates.");
}

void take_channels(snc::ProgramParts& parts, const Integers& channels, const Integers& patterns, const Doubles& amounts) {
    require(patterns.shape(0) == amounts.shape(0), "There must be a rate or probability for each pattern.");
    snc::require_range(std::span(patterns.data(), patterns.shape(0)), 0, INT64_MAX, "Patterns");
    size_t next = 0;
    for (const auto& [constant, num_rates, num_choices] : to_table<3>(channels, "channels")) {
        snc::require_range(std::array{constant, num_rates, num_choices}, 0, INT64_MAX, "The numbers of a channel");
        snc::ChannelTables& channel = parts.channels.emplace_back();
        channel.constant = static_cast<uint64_t>(constant);
        for (const auto& [choices, count] : {std::pair{&channel.rates, num_rates}, std::pair{&channel.site, num_choices}}) {
            require(static_cast<size_t>(count) <= patterns.shape(0) - next, "Channels have more patterns than there are.");
            for (const size_t end = next + static_cast<size_t>(count); next < end; ++next)
                choices->emplace_back(static_cast<uint64_t>(patterns.data()[next]), amounts.data()[next]);
        }
    }
    require(next == patterns.shape(0), "All patterns must be those of channels.");
}

void make_program(Program* self, size_t num_qubits, size_t num_records, size_t num_detectors, size_t num_observables,
                  const Integers& steps, const Doubles& probabilities, const Bits& targets, const Bits& factors, const Integers& records,
                  const Doubles& nothing, const Integers& gate_sizes, const Integers& image_starts, const Bits& image_bits,
                  const Integers& channels, const Integers& patterns, const Doubles& amounts, const Integers& loops) {
    snc::ProgramParts parts{num_qubits, num_records, num_detectors, num_observables, {}, {}, {}, {}, {}, {}, {}, {}};
    take_steps(parts, steps, probabilities, targets, factors, records);
    take_gates(parts, gate_sizes, image_starts, image_bits);
    take_channels(parts, channels, patterns, amounts);
    parts.nothing = snc::to_vector(nothing);
    for (const auto& [first, end, repetitions, records_of_loop, detectors_of_loop] : to_table<5>(loops, "loops")) {
        snc::require_range(std::array{first, end, repetitions}, 0, INT64_MAX, "The numbers of a loop");
        parts.loops.push_back({static_cast<size_t>(first), static_cast<size_t>(end), static_cast<uint64_t>(repetitions),
                               {records_of_loop, detectors_of_loop}});
    }
    new (self) Program(std::move(parts));
}

nb::dict arrays_of(const QuantumProgram& found) {
    return snc::dict_of(
        "operations", to_table_array(found.operations, [](const snc::SweptOperation& operation) {
            return std::array{int64_t{operation.kind}, static_cast<int64_t>(operation.width), int64_t{operation.i_power},
                              static_cast<int64_t>(operation.pivot), operation.outcome, operation.step, int64_t{operation.is_negative_angle}};
        }),
        "x", from_rows(found.x), "z", from_rows(found.z),
        "coins", to_table_array(found.coins, [](const snc::Coin& coin) {
            return std::array{static_cast<int64_t>(coin.num_operations), coin.record};
        }),
        "base_records", std::vector(found.base_records), "peak_width", found.peak_width, "reordered", found.is_reordered,
        "expectations", to_table_array(found.expectations, [](const snc::SweptExpectation& value) {
            return std::array{static_cast<int64_t>(value.num_operations), int64_t{value.is_zero}, int64_t{value.i_power}};
        }),
        "expected_x", from_rows(found.expected_x), "expected_z", from_rows(found.expected_z));
}

nb::dict backward_sweep(const Program& program, const QuantumProgram& quantum, bool by_records, bool with_noise, bool with_faults,
                        const Integers& leakage, uint64_t max_bytes, const nb::callable& progress) {
    snc::EffectQuestion question{by_records, with_noise, with_faults, {}, max_bytes};
    for (const auto& [step, qubit, number] : to_table<3>(leakage, "leakage")) {
        snc::require_range(std::array{qubit, number}, -1, INT32_MAX, "Inserted bits");
        question.leakage.push_back({step, qubit, number});
    }
    snc::EffectTable found = without_gil([&] {
        snc::Interruption interruption(WithoutGil::check_signals);
        return snc::backward_sweep(program, quantum, std::move(question), in_main_thread(progress), interruption);
    });
    return snc::dict_of("num_outputs", found.num_outputs, "constant", std::move(found.constant), "noise", from_rows(std::move(found.noise)),
                        "rates", std::move(found.rates), "sites", std::move(found.sites), "coins", from_rows(std::move(found.coins)),
                        "outcomes", from_rows(std::move(found.outcomes)), "tosses", from_rows(std::move(found.tosses)), "leakage",
                        from_rows(std::move(found.leakage)), "base_outputs", std::move(found.base_outputs), "faults",
                        from_rows(std::move(found.faults)), "fault_steps", std::move(found.fault_steps), "fault_groups",
                        std::move(found.fault_groups), "fault_patterns", std::move(found.fault_patterns), "fault_records",
                        std::move(found.fault_records));
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
    nb::class_<Program>(m, "Program", "A circuit as steps; compiler/program/native_program.py says what the arrays are.")
        .def("__init__", &make_program, nb::arg("num_qubits"), nb::arg("num_records"), nb::arg("num_detectors"),
             nb::arg("num_observables"), nb::arg("steps"), nb::arg("probabilities"), nb::arg("targets"), nb::arg("factors"),
             nb::arg("records"), nb::arg("nothing"), nb::arg("gate_sizes"), nb::arg("image_starts"), nb::arg("image_bits"),
             nb::arg("channels"), nb::arg("patterns"), nb::arg("amounts"), nb::arg("loops"))
        .def(
            "patch_sizes",
            [](const Program& program) {
                std::vector<int64_t> sizes;
                for (const auto& qubits : program.connected_qubits()) sizes.push_back(static_cast<int64_t>(qubits.size()));
                return snc::to_array(std::move(sizes));
            },
            "For each group of qubits that gates, rotations and measurements connect, their number.")
        .def(
            "odd_outputs",
            [](const Program& program, const snc::InputArray<uint8_t>& records) {
                require(records.shape(0) == program.num_records, "There must be a bit for each record.");
                return snc::to_array(program.odd_outputs({records.data(), records.shape(0)}));
            },
            nb::arg("records"), "The detectors, and then the observables, for which the sum of their records is odd.");
}

void bind_sweeps(nb::module_& m) {
    nb::class_<QuantumProgram>(m, "QuantumProgram", "What the forward sweep finds.")
        .def(
            "__init__",
            [](QuantumProgram* self, const snc::InputArray<uint8_t>& base_records) {
                (new (self) QuantumProgram)->base_records = snc::to_vector(base_records);
            },
            nb::arg("base_records"), "That of a Clifford circuit, which has no operations.")
        .def("arrays", &arrays_of, "See compiler/sweeps/forward_sweep.py.");
    m.def(
        "forward_sweep",
        [](const Program& program, bool keep_order, const nb::callable& progress) {
            return without_gil([&] { return snc::forward_sweep(program, keep_order, in_main_thread(progress)); });
        },
        nb::arg("program"), nb::arg("keep_order"), nb::arg("progress"));
    m.def("backward_sweep", &backward_sweep, nb::arg("program"), nb::arg("quantum"), nb::arg("by_records"), nb::arg("with_noise"),
          nb::arg("with_faults"), nb::arg("leakage"), nb::arg("max_bytes"), nb::arg("progress"),
          "The arrays of an EffectTable, and every single fault; see compiler/sweeps/backward_sweep.py.");
}

void bind_rows(nb::module_& m) {
    m.def(
        "image_of_rows",
        [](const Integers& starts, const Bits& bits, const Integers& image_starts, const Bits& image_bits) {
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
        [](const Integers& starts, const Bits& bits) {
            const snc::SparseRows rows = to_ascending_rows(starts, bits);
            return snc::to_array(without_gil([&] {
                snc::Interruption interruption(WithoutGil::check_signals);
                return snc::independent_rows(rows, interruption);
            }));
        },
        nb::arg("starts"), nb::arg("bits"), "The numbers of the rows that are not sums of earlier rows.");
    m.def(
        "sums_by_row",
        [](const Integers& starts, const Bits& bits, const Doubles& amounts) {
            const snc::SparseRows rows = to_ascending_rows(starts, bits);
            require(amounts.shape(0) == rows.size(), "There must be an amount for each row.");
            snc::require_not_negative(std::span(amounts.data(), amounts.shape(0)), "amounts");
            snc::RowSums sums;
            for (size_t k = 0; k < rows.size(); ++k) sums.add(rows[k], amounts.data()[k]);
            return nb::make_tuple(snc::to_array(std::vector(sums.rows().starts)), snc::to_array(std::vector(sums.rows().bits)),
                                  snc::to_array(std::vector(sums.sums())));
        },
        nb::arg("starts"), nb::arg("bits"), nb::arg("amounts"),
        "The different rows in their order, without the empty one, as starts and bits, and for each the sum of its amounts.");
    m.def(
        "alias_table",
        [](const Doubles& scaled) {
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
    bind_sweeps(m);
    bind_rows(m);
}
