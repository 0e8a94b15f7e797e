#include <nanobind/nanobind.h>

#include <cstdint>

#include "base/argument_checks.h"
#include "bindings/bindings.h"
#include "bindings/python/arrays.h"
#include "bindings/python/gil.h"
#include "rates/set_laws/path_expectations.h"

namespace nb = nanobind;

namespace {

void construct_expectations(snc::PathExpectations* self, nb::handle steps, uint32_t num_bits) {
    new (self) snc::PathExpectations(to_narrow_operations(steps), to_rotation_terms(steps), num_bits, snc::kernels());
}

nb::object evaluate_paths(const snc::PathExpectations& self, const snc::InputArray<uint8_t>& paths) {
    const size_t size = paths.shape(0);
    snc::require(self.num_bits() == 0 ? size == 0 : size % self.num_bits() == 0, "The paths must have a byte for each of their bits.");
    return snc::to_array(without_gil([&] { return self.evaluate({paths.data(), size}, WithoutGil::check_signals); }));
}

}  // namespace

void bind_path_expectations(nb::module_& m) {
    nb::class_<snc::PathExpectations>(m, "PathExpectations", "Expectation values along given paths.")
        .def("__init__", &construct_expectations, nb::arg("steps"), nb::arg("num_bits"))
        .def("evaluate", &evaluate_paths, nb::arg("paths"), "The values of one path after the other; without bits, those of one path.");
}
