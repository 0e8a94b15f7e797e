#include <nanobind/nanobind.h>

#include <algorithm>
#include <array>
#include <climits>
#include <cstdint>
#include <cstring>
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

// A table whose rows are structs of integers.
template <typename Row>
nb::object from_table(const std::vector<Row>& rows) {
    constexpr size_t columns = sizeof(Row) / sizeof(int64_t);
    std::vector<int64_t> numbers(columns * rows.size());
    if (!rows.empty()) std::memcpy(numbers.data(), rows.data(), sizeof(Row) * rows.size());
    return snc::to_array(std::move(numbers), {rows.size(), columns});
}

// The same function, called in Python's main thread only, and from where Python's lock is released. The function must outlive it.
std::function<void(int64_t)> in_main_thread(const nb::callable& function) {
    return [&function](int64_t step) {
        if (!WithoutGil::in_main_thread()) return;
        const nb::gil_scoped_acquire gil;
        function(step);
    };
}

nb::dict arrays_of(const QuantumProgram& found) {
    return snc::dict_of("operations", from_table(found.operations), "x", from_rows(found.x), "z", from_rows(found.z), "coins",
                        from_table(found.coins), "base_records", std::vector(found.base_records), "peak_width", found.peak_width,
                        "reordered", found.is_reordered, "expectations", from_table(found.expectations), "expected_x",
                        from_rows(found.expected_x), "expected_z", from_rows(found.expected_z));
}

nb::dict backward_sweep(const Program& program, const QuantumProgram& quantum, bool by_records, bool with_noise, bool with_faults,
                        const Integers& leakage, uint64_t max_bytes, const nb::callable& progress) {
    snc::EffectQuestion question{by_records, with_noise, with_faults, {}, max_bytes};
    require(leakage.shape(0) % 3 == 0, "leakage must have the step, the qubit and the number of each bit.");
    for (const int64_t* bit = leakage.data(); bit != leakage.data() + leakage.shape(0); bit += 3) {
        snc::require_range(std::array{bit[1], bit[2]}, -1, INT32_MAX, "Inserted bits");
        snc::Insertion& inserted = question.leakage.emplace_back(snc::Insertion{bit[0], {}, {}, {}});
        if (bit[1] < 0)
            inserted.reordered.push_back(bit[2]);
        else
            inserted.factors.push_back({static_cast<uint32_t>(bit[1]), static_cast<uint32_t>(bit[2])});
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
        .value("EXPECTATION", CircuitStepKind::expectation)
        .value("RELAXATION", CircuitStepKind::relaxation)
        .value("MISREADING", CircuitStepKind::misreading)
        .value("LEAKING", CircuitStepKind::leaking)
        .value("LEAKAGE_RETURN", CircuitStepKind::leakage_return)
        .value("LEAKAGE_SPREAD", CircuitStepKind::leakage_spread)
        .value("LEAKAGE_HERALD", CircuitStepKind::leakage_herald)
        .value("LEAKED_FLIP", CircuitStepKind::leaked_flip)
        .value("MEETING", CircuitStepKind::meeting)
        .value("SKIP", CircuitStepKind::skip)
        .value("BEGIN_ATTEMPTS", CircuitStepKind::begin_attempts)
        .value("ACCEPT", CircuitStepKind::accept)
        .value("END_BLOCK", CircuitStepKind::end_block)
        .value("TURN", CircuitStepKind::turn)
        .value("ABSENCE", CircuitStepKind::absence)
        .value("LEAKING_FROM_ONES", CircuitStepKind::leaking_from_ones);
    nb::class_<Program>(m, "Program", "A circuit as steps; see compiler/program/program_arrays.py.")
        .def(
            "__init__", [](Program* self, nb::handle arrays) { new (self) Program(to_program(arrays)); }, nb::arg("arrays"))
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
