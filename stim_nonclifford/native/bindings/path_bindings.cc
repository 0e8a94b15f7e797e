#include <nanobind/nanobind.h>
#include <nanobind/stl/tuple.h>

#include <cstdint>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/argument_checks.h"
#include "bindings/arrays.h"
#include "bindings/bindings.h"
#include "bindings/gil.h"
#include "bindings/list_caster.h"
#include "simulation/path_expectations.h"
#include "steps/operation_checks.h"

namespace nb = nanobind;

namespace {

using snc::require;

// kind, width, x, z, i_power, pivot, cosine, sine, bit
using OperationTuple = std::tuple<int32_t, int32_t, uint64_t, uint64_t, int32_t, int32_t, double, double, int32_t>;
// place, x, z, i_power, whether it is 0
using ExpectationTuple = std::tuple<size_t, uint64_t, uint64_t, uint32_t, bool>;

void construct(snc::PathExpectations* self, const std::vector<OperationTuple>& operations,
               const std::vector<ExpectationTuple>& expectations, size_t num_bits) {
    std::vector<snc::PathOperation> steps;
    std::vector<int32_t> widths{0};
    snc::OperationChecks checks;
    size_t next_bit = 0;
    for (const auto& [kind, width, x, z, i_power, pivot, cosine, sine, bit] : operations) {
        const int32_t segment = checks.num_outcomes();
        const bool measures = kind == static_cast<int32_t>(snc::Kind::measure);
        snc::Operation operation{x, z, static_cast<snc::Kind>(kind), width, i_power, pivot, measures ? segment : -1, segment, 0, 0};
        require(operation.kind != snc::Kind::weak_measure, "A path must have no weak measurements.");
        checks.check(operation);
        widths.push_back(checks.width());
        snc::check_angle(cosine, sine, "Operation " + std::to_string(steps.size()));
        require(bit == -1 || (bit >= 0 && static_cast<size_t>(bit) == next_bit++), "The bits of a path must be in the order of the operations.");
        operation.outcome = -1;
        operation.segment = 0;
        steps.push_back({operation, cosine, sine, bit});
    }
    require(next_bit == num_bits, "There must be an operation for each bit of a path.");
    std::vector<snc::PathExpectation> values;
    size_t before = 0;
    for (const auto& [place, x, z, i_power, is_zero] : expectations) {
        require(place >= before && place <= steps.size(), "The places of expectation values must ascend to the number of operations.");
        require(is_zero || snc::is_pauli(x, z, i_power, widths[place]), "An expectation value is of no Hermitian Pauli on the vector.");
        require(is_zero || (x | z) != 0 || i_power % 2 == 0, "An expectation value must be of a Hermitian operator.");
        before = place;
        values.push_back({place, {x, z, i_power}, is_zero});
    }
    new (self) snc::PathExpectations(std::move(steps), std::move(values), num_bits, snc::kernels());
}

nb::object evaluate(const snc::PathExpectations& self, const snc::InputArray<uint8_t>& paths) {
    const size_t size = paths.shape(0);
    require(self.num_bits() == 0 ? size == 0 : size % self.num_bits() == 0, "The paths must have a byte for each of their bits.");
    std::vector<double> values;
    {
        const WithoutGil released;
        values = self.evaluate({paths.data(), size}, WithoutGil::check_signals);
    }
    return snc::to_array(std::move(values));
}

}  // namespace

void bind_path_expectations(nb::module_& m) {
    nb::class_<snc::PathExpectations>(m, "PathExpectations", "Expectation values along given paths.")
        .def("__init__", &construct, nb::arg("operations"), nb::arg("expectations"), nb::arg("num_bits"))
        .def("evaluate", &evaluate, nb::arg("paths"), "The values of one path after the other; without bits, those of one path.");
}
