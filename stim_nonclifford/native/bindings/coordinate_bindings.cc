// The parts of the forward sweep, for tests that compare them with Stim.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/tuple.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "base/argument_checks.h"
#include "bindings/bindings.h"
#include "bindings/factor_lists.h"
#include "bindings/list_caster.h"
#include "sweeps/coordinates.h"

namespace nb = nanobind;

namespace {

using snc::CoordinateTable;
using snc::DeferredRotations;
using snc::FactorList;
using snc::require;
using PauliList = std::pair<FactorList, bool>;  // factors, and whether there is a minus sign
using GateList = std::vector<std::tuple<snc::CoordinateGate, size_t, size_t>>;
using Numbers = std::vector<size_t>;

constexpr size_t max_coordinates = size_t{1} << 24;

template <typename Object>
void construct(Object* self, size_t size) {
    require(size <= max_coordinates, "There may be at most 2^24 qubits or coordinates.");
    new (self) Object(size);
}

// X, Z or Y on numbers below `end`, each number once.
void check_factors(const FactorList& list, size_t end) {
    std::vector<uint32_t> numbers;
    for (const auto& [number, code] : list) {
        require(number < end && code >= 1 && code <= 3, "The factors of a Pauli must be X, Z or Y (1, 2, 3) on qubits or coordinates that exist.");
        numbers.push_back(number);
    }
    std::ranges::sort(numbers);
    require(std::ranges::adjacent_find(numbers) == numbers.end(), "A Pauli must have one factor on a qubit or coordinate.");
}

void check_numbers(const Numbers& numbers, size_t end) {
    for (const size_t number : numbers) require(number < end, "There is no rotation or coordinate of this number.");
}

snc::Pauli to_pauli(const PauliList& list, size_t num_coordinates) {
    check_factors(list.first, num_coordinates);
    snc::Pauli pauli{{}, {}, list.second};
    for (const auto& [coordinate, code] : list.first) {
        if ((code & 1) != 0) snc::flip_bit(pauli.x, coordinate);
        if ((code & 2) != 0) snc::flip_bit(pauli.z, coordinate);
    }
    return pauli;
}

PauliList from_pauli(const snc::Pauli& pauli) {
    PauliList list{{}, pauli.is_negative};
    const size_t end = 64 * std::max(pauli.x.size(), pauli.z.size());
    for (size_t c = 0; c < end; ++c) {
        const uint32_t code = (snc::has_bit(pauli.x, c) ? 1U : 0U) | (snc::has_bit(pauli.z, c) ? 2U : 0U);
        if (code != 0) list.first.emplace_back(static_cast<uint32_t>(c), code);
    }
    return list;
}

snc::Bits to_bits(const Numbers& numbers, size_t end) {
    check_numbers(numbers, end);
    snc::Bits bits;
    for (const size_t number : numbers) snc::flip_bit(bits, number);
    return bits;
}

Numbers from_bits(const snc::Bits& bits) {
    Numbers numbers;
    snc::for_each_bit(bits, [&](size_t number) { numbers.push_back(number); });
    return numbers;
}

snc::CoordinateChange to_change(const GateList& gates, size_t num_coordinates) {
    snc::CoordinateChange change;
    for (const auto& [kind, on, target] : gates) {
        const bool has_target = kind == snc::CoordinateGate::cx || kind == snc::CoordinateGate::cz;
        require(on < num_coordinates && (!has_target || (target < num_coordinates && target != on)),
                "A gate must be on coordinates that exist, and have different ones as control and target.");
        change.add(kind, on, target);
    }
    return change;
}

void apply(CoordinateTable& table, size_t num_targets, const std::vector<PauliList>& inverse, const std::vector<uint32_t>& qubits) {
    const snc::GateTables gate = snc::to_gate(num_targets, {}, inverse);
    snc::check_gate(gate);
    require(qubits.size() % num_targets == 0, "There must be groups of as many qubits as the gate has targets.");
    for (const uint32_t qubit : qubits) require(qubit < table.num_qubits(), "There is no such qubit.");
    table.apply(gate, qubits);
}

void bind_table(nb::module_& m) {
    nb::class_<CoordinateTable>(m, "CoordinateTable", "The images of Paulis on the qubits of a patch.")
        .def("__init__", &construct<CoordinateTable>, nb::arg("num_qubits"))
        .def(
            "image",
            [](const CoordinateTable& table, const FactorList& factors) {
                check_factors(factors, table.num_qubits());
                return from_pauli(table.image(snc::factors_of(factors)));
            },
            nb::arg("factors"))
        .def(
            "inverse_image",
            [](const CoordinateTable& table, size_t coordinate, uint32_t code) {
                require(coordinate < table.num_qubits() && (code == 1 || code == 2), "There is no such X or Z (1, 2) of a coordinate.");
                return snc::to_list(table.inverse_image(coordinate, code));
            },
            nb::arg("coordinate"), nb::arg("code"))
        .def("apply", &apply, nb::arg("num_targets"), nb::arg("inverse"), nb::arg("qubits"))
        .def(
            "apply_pauli",
            [](CoordinateTable& table, uint32_t qubit, uint32_t code) {
                check_factors({{qubit, code}}, table.num_qubits());
                table.apply_pauli({qubit, code});
            },
            nb::arg("qubit"), nb::arg("code"))
        .def(
            "change", [](CoordinateTable& table, const GateList& gates) { table.change(to_change(gates, table.num_qubits())); },
            nb::arg("gates"));
}

void bind_rotations(nb::module_& m) {
    nb::class_<DeferredRotations>(m, "DeferredRotations", "Rotations that wait until a measurement needs them.")
        .def("__init__", &construct<DeferredRotations>, nb::arg("num_coordinates"))
        .def("__len__", &DeferredRotations::size)
        .def(
            "step",
            [](const DeferredRotations& rotations, size_t number) {
                check_numbers({number}, rotations.num_numbers());
                return rotations.step(number);
            },
            nb::arg("number"))
        .def(
            "add",
            [](DeferredRotations& rotations, int64_t step, const PauliList& pauli) {
                rotations.add(step, to_pauli(pauli, rotations.num_coordinates()));
            },
            nb::arg("step"), nb::arg("pauli"))
        .def(
            "remove",
            [](DeferredRotations& rotations, size_t number) {
                require(rotations.waits(number), "No rotation of this number waits.");
                rotations.remove(number);
            },
            nb::arg("number"))
        .def(
            "pauli",
            [](const DeferredRotations& rotations, size_t number) {
                check_numbers({number}, rotations.num_numbers());
                return from_pauli(rotations.pauli(number));
            },
            nb::arg("number"))
        .def(
            "anticommuting",
            [](const DeferredRotations& rotations, const PauliList& pauli) {
                return from_bits(rotations.anticommuting(to_pauli(pauli, rotations.num_coordinates())));
            },
            nb::arg("pauli"))
        .def(
            "with_x",
            [](const DeferredRotations& rotations, size_t c) {
                check_numbers({c}, rotations.num_coordinates());
                return from_bits(rotations.with_x(c));
            },
            nb::arg("coordinate"))
        .def(
            "with_z",
            [](const DeferredRotations& rotations, size_t c) {
                check_numbers({c}, rotations.num_coordinates());
                return from_bits(rotations.with_z(c));
            },
            nb::arg("coordinate"))
        .def(
            "needed_by",
            [](const DeferredRotations& rotations, const PauliList& pauli) {
                return from_bits(rotations.needed_by(to_pauli(pauli, rotations.num_coordinates())));
            },
            nb::arg("pauli"))
        .def(
            "num_activated_by",
            [](const DeferredRotations& rotations, const Numbers& some, const Numbers& coordinates, size_t limit,
               const std::optional<PauliList>& also) {
                const size_t size = rotations.num_coordinates();
                const snc::Pauli other = also ? to_pauli(*also, size) : snc::Pauli{};
                return rotations.num_activated_by(to_bits(some, rotations.num_numbers()), to_bits(coordinates, size), limit,
                                                  also ? &other : nullptr);
            },
            nb::arg("rotations"), nb::arg("coordinates"), nb::arg("limit"), nb::arg("also").none() = nb::none())
        .def(
            "change",
            [](DeferredRotations& rotations, const GateList& gates) { rotations.change(to_change(gates, rotations.num_coordinates())); },
            nb::arg("gates"));
}

}  // namespace

void bind_coordinates(nb::module_& m) {
    using enum snc::CoordinateGate;
    nb::enum_<snc::CoordinateGate>(m, "CoordinateGate")
        .value("X", x)
        .value("H", h)
        .value("S", s)
        .value("S_DAG", s_dag)
        .value("CX", cx)
        .value("CZ", cz);
    bind_table(m);
    bind_rotations(m);
}
