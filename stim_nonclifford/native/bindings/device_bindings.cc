#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <cstring>
#include <string>
#include <tuple>
#include <vector>

#include "base/argument_checks.h"
#include "bindings/bindings.h"
#include "bindings/python/arrays.h"
#include "bindings/python/gil.h"
#include "device/device_plan.h"
#include "kernels/launch/plan_image.h"

namespace nb = nanobind;

namespace {

// Names of the fields of a Job, which are of eight bytes each, and their offsets in bytes.
std::vector<std::tuple<std::string, size_t>> job_fields() {
    std::vector<std::tuple<std::string, size_t>> fields;
#define SNC_LIST_FIELD(type, name)                          \
    static_assert(sizeof(type) == sizeof(uint64_t), #name); \
    fields.emplace_back(#name, offsetof(snc::Job, name));
    SNC_JOB_FIELDS(SNC_LIST_FIELD)
#undef SNC_LIST_FIELD
    return fields;
}

nb::dict device_constants() {
    nb::dict result;
    const auto set = [&](const char* name, uint64_t value) { result[name] = value; };
    set("num_rounds", snc::num_rounds);
    set("num_counters", snc::num_counters);
    set("queued", snc::queued);
    set("kept", snc::kept);
    set("errors", snc::errors);
    set("close_decisions", snc::close_decisions);
    set("simulations", snc::simulations);
    set("first_waiting", uint32_t{snc::first_round_counter} + uint32_t{snc::waiting});
    set("counters_per_round", snc::counters_per_round);
    set("num_law_counters", snc::num_law_counters);
    set("nodes_used", snc::nodes_used);
    set("signatures_used", snc::signatures_used);
    set("max_vector_width", snc::max_vector_width);
    set("node_bytes", sizeof(snc::Node));
    set("request_bytes", sizeof(snc::Request));
    return result;
}

// Any number of dimensions: an image is [words][8].
using ImageBytes = nb::ndarray<const uint8_t, nb::c_contig, nb::device::cpu>;

// Numbers of a plan's image.
nb::dict image_sizes(const ImageBytes& array) {
    const snc::PlanImage& image = snc::checked_image(array.data(), array.size());
    const snc::SharedBytes bytes = snc::shared_bytes(image);
    return snc::dict_of("row_words", image.row_words, "script_qubits", image.has_leakage != 0 ? image.num_script_qubits : 0,
                        "readout_words", image.readout_words,
                        "register_words", image.register_words(), "check_words", image.check_words, "signature_words",
                        image.signature_words, "output_words", image.output_words, "branch_words", image.branch_words, "vector_width", image.vector_width, "noise_tables", bytes.noise_tables, "noise_tables_in_shared",
                        bytes.noise_tables_in_shared, "noise_lists", bytes.noise_lists, "noise_events", bytes.noise_events, "vector",
                        bytes.vector, "simulation_without_vector", bytes.simulation_without_vector);
}

// For each step its kind, the width before it, the number of coordinates that it adds, its number of rotations, whether it
// projects on the outcome of the step before it, and whether it is a pass that sums the weights of a measurement, or that
// measurement.
std::vector<std::tuple<uint32_t, uint32_t, uint32_t, uint32_t, bool, bool>> image_steps(const ImageBytes& array) {
    const snc::PlanImage& image = snc::checked_image(array.data(), array.size());
    const auto* steps = image.array<snc::Step>(image.steps);
    std::vector<std::tuple<uint32_t, uint32_t, uint32_t, uint32_t, bool, bool>> found;
    for (uint32_t k = 0; k < image.num_steps; ++k) {
        const snc::Step& step = steps[k];
        const bool activates = step.kind == snc::StepKind::activate;
        found.emplace_back(static_cast<uint32_t>(step.kind), step.width, activates ? 1 : step.grown,
                           step.end_rotation - step.first_rotation, step.projects != 0,
                           step.sums != 0 || step.is_summed != 0);
    }
    return found;
}

void run_on_host(const std::string& kernel, const snc::InputArray<uint8_t>& job, uint32_t round, uint32_t num_teams, uint32_t row_words,
                 uint32_t team_size, bool in_shared, bool separate, bool reversed) {
    snc::require(job.shape(0) == sizeof(snc::Job), "The job must have ", sizeof(snc::Job), " bytes.");
    snc::Job copy;
    std::memcpy(&copy, job.data(), sizeof copy);
    const WithoutGil released;
    snc::run_on_host({kernel, copy, round, num_teams, row_words, team_size, in_shared, separate, reversed});
}

}  // namespace

void bind_device(nb::module_& m) {
    m.def("job_fields", &job_fields, "Names and offsets of the fields of a Job.");
    m.def("device_constants", &device_constants, "Numbers that the device's kernels and their callers share.");
    m.def("image_sizes", &image_sizes, nb::arg("image"),
          "Sizes of a plan's image, and of the shared memory that its kernels need.");
    m.def("image_steps", &image_steps, nb::arg("image"),
          "Kind, width, new coordinates, rotations, and joined measurements of a plan's steps.");
    m.def("run_on_host", &run_on_host, nb::arg("kernel"), nb::arg("job"), nb::arg("round"), nb::arg("num_teams"),
          nb::arg("row_words"), nb::arg("team_size"), nb::arg("in_shared"), nb::arg("separate"), nb::arg("reversed"),
          "Runs a device kernel on the host. All that the job points to must be valid.");
}
