#include <nanobind/nanobind.h>
#include <nanobind/stl/tuple.h>

#include <cstdint>
#include <stdexcept>
#include <tuple>
#include <utility>
#include <vector>

#include "arrays.h"
#include "bindings.h"
#include "gil.h"
#include "list_caster.h"
#include "path_expectations.h"

namespace nb = nanobind;

namespace {

// kind, width, x, z, i_power, pivot, cosine, sine, bit
using OperationTuple = std::tuple<int32_t, int32_t, uint64_t, uint64_t, int32_t, int32_t, double, double, int32_t>;
// place, x, z, i_power, whether it is 0
using ExpectationTuple = std::tuple<size_t, uint64_t, uint64_t, uint32_t, bool>;

void construct(snc::PathExpectations* self, const std::vector<OperationTuple>& operations,
               const std::vector<ExpectationTuple>& expectations, size_t num_bits) {
    std::vector<snc::PathOperation> steps;
    for (const auto& [kind, width, x, z, i_power, pivot, cosine, sine, bit] : operations)
        steps.push_back({{x, z, static_cast<snc::Kind>(kind), width, i_power, pivot, -1, 0, 0, 0}, cosine, sine, bit});
    std::vector<snc::PathExpectation> values;
    for (const auto& [place, x, z, i_power, is_zero] : expectations) values.push_back({place, {x, z, i_power}, is_zero});
    new (self) snc::PathExpectations(std::move(steps), std::move(values), num_bits, snc::kernels());
}

nb::object evaluate(const snc::PathExpectations& self, const snc::InputArray<uint8_t>& paths) {
    const size_t size = paths.shape(0);
    if (self.num_bits() == 0 ? size != 0 : size % self.num_bits() != 0)
        throw std::invalid_argument("The paths must have a byte for each of their bits.");
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
