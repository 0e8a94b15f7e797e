#include <nanobind/nanobind.h>

#include <cstdint>
#include <utility>
#include <vector>

#include "base/argument_checks.h"
#include "bindings/bindings.h"
#include "bindings/python/arrays.h"
#include "bindings/python/gil.h"
#include "bindings/python/list_caster.h"
#include "bindings/python/tuple_caster.h"
#include "plan/steps/operation_checks.h"
#include "simulation/path_expectations.h"

namespace nb = nanobind;

SNC_TUPLE_OF(snc::PathExpectation, &snc::PathExpectation::place, &snc::PathExpectation::x, &snc::PathExpectation::z,
             &snc::PathExpectation::i_power, &snc::PathExpectation::is_zero);

namespace {

using snc::require;

// The bits of a path are in the order of the operations: one for each measurement, and for each rotation with a sign.
std::vector<int32_t> bits_of(const std::vector<snc::Operation>& operations, const std::vector<snc::RotationTerm>& terms, size_t num_bits) {
    std::vector<int32_t> bits;
    int32_t next_bit = 0;
    for (const snc::Operation& operation : operations) {
        require(operation.kind != snc::Kind::weak_measure, "A path must have no weak measurements.");
        require(operation.end_term - operation.first_term <= 1, "An operation of a path must have one term.");
        bits.push_back(operation.measures() ? next_bit : terms[static_cast<size_t>(operation.first_term)].sign);
        require(bits.back() < 0 || bits.back() == next_bit++, "The bits of a path must be in the order of the operations.");
    }
    require(static_cast<size_t>(next_bit) == num_bits, "There must be an operation for each bit of a path.");
    return bits;
}

void construct_expectations(snc::PathExpectations* self, nb::handle steps, std::vector<snc::PathExpectation> expectations, uint32_t num_bits) {
    std::vector<snc::Operation> operations = to_operations(steps);
    std::vector<snc::RotationTerm> terms = to_rotation_terms(steps);
    const int32_t last_width = snc::check_operations(operations, terms, num_bits).width;
    std::vector<int32_t> bits = bits_of(operations, terms, num_bits);
    size_t before = 0;
    for (const auto& [place, x, z, i_power, is_zero] : expectations) {
        require(place >= before && place <= operations.size(), "The places of expectation values must ascend to the number of operations.");
        const int32_t width = place < operations.size() ? operations[place].width : last_width;
        require(is_zero || snc::is_pauli(x, z, i_power, width), "An expectation value is of no Hermitian Pauli on the vector.");
        require(is_zero || (x | z) != 0 || i_power % 2 == 0, "An expectation value must be of a Hermitian operator.");
        before = place;
    }
    new (self) snc::PathExpectations(std::move(operations), std::move(terms), std::move(bits), std::move(expectations), snc::kernels());
}

nb::object evaluate_paths(const snc::PathExpectations& self, const snc::InputArray<uint8_t>& paths) {
    const size_t size = paths.shape(0);
    require(self.num_bits() == 0 ? size == 0 : size % self.num_bits() == 0, "The paths must have a byte for each of their bits.");
    return snc::to_array(without_gil([&] { return self.evaluate({paths.data(), size}, WithoutGil::check_signals); }));
}

}  // namespace

void bind_path_expectations(nb::module_& m) {
    nb::class_<snc::PathExpectations>(m, "PathExpectations", "Expectation values along given paths.")
        .def("__init__", &construct_expectations, nb::arg("steps"), nb::arg("expectations"), nb::arg("num_bits"))
        .def("evaluate", &evaluate_paths, nb::arg("paths"), "The values of one path after the other; without bits, those of one path.");
}
