#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <string>

#include "base/argument_checks.h"
#include "bindings/bindings.h"
#include "bindings/python/arrays.h"
#include "bindings/python/gil.h"
#include "cpu/kernels.h"
#include "engine/trajectories/trajectory_engine.h"

namespace nb = nanobind;

namespace {

void construct(snc::TrajectoryEngine* self, const snc::Program& program, snc::TrajectoryOutputs outputs, snc::LeakagePartners leakage,
               snc::TurnTables turns, const std::vector<int32_t>& lines, size_t num_threads, uint32_t max_width) {
    snc::require(num_threads >= 1 && num_threads <= snc::max_threads, "num_threads must be from 1 to ", snc::max_threads, ".");
    without_gil([&] {
        new (self) snc::TrajectoryEngine(snc::TrajectoryProgram(program, std::move(outputs), std::move(leakage), std::move(turns), lines),
                                         snc::kernels().name, num_threads, max_width);
    });
}

void construct_trajectories(snc::TrajectoryEngine* self, const snc::Program& program, const snc::InputArray<int32_t>& lines, bool by_records,
               const snc::InputArray<uint8_t>& constant, const snc::InputArray<uint32_t>& reported, const snc::InputArray<uint32_t>& postselected,
               const snc::InputArray<double>& partners, const snc::InputArray<double>& replacements, size_t num_threads, uint32_t max_width) {
    construct(self, program, {by_records, snc::to_vector(constant), snc::to_vector(reported), snc::to_vector(postselected)},
              {snc::to_vector(partners), snc::to_vector(replacements)}, {{}, {0}, {}, {0}, {}}, snc::to_vector(lines), num_threads, max_width);
}

void construct_with_turns(snc::TrajectoryEngine* self, const snc::Program& program, const snc::InputArray<int32_t>& lines, bool by_records,
               const snc::InputArray<uint8_t>& constant, const snc::InputArray<uint32_t>& reported, const snc::InputArray<uint32_t>& postselected,
               const snc::InputArray<double>& partners, const snc::InputArray<double>& replacements,
               const snc::InputArray<uint32_t>& turn_variables, const snc::InputArray<uint32_t>& first_angles, const snc::InputArray<double>& angles,
               const snc::InputArray<uint32_t>& first_sums, const snc::InputArray<double>& sums, size_t num_threads, uint32_t max_width) {
    construct(self, program, {by_records, snc::to_vector(constant), snc::to_vector(reported), snc::to_vector(postselected)},
              {snc::to_vector(partners), snc::to_vector(replacements)},
              {snc::to_vector(turn_variables), snc::to_vector(first_angles), snc::to_vector(angles), snc::to_vector(first_sums), snc::to_vector(sums)},
              snc::to_vector(lines), num_threads, max_width);
}

nb::tuple sample_trajectories(snc::TrajectoryEngine& engine, uint64_t seed, uint64_t first_shot, uint64_t shots) {
    check_shots(first_shot, shots);
    snc::TrajectoryShots kept = without_gil([&] { return engine.sample_kept(seed, first_shot, shots, WithoutGil::check_signals); });
    const size_t size = kept.shots.size();
    return nb::make_tuple(snc::to_array(std::move(kept.rows), {size, engine.row_bytes()}), snc::to_array(std::move(kept.shots)),
                          snc::to_array(std::move(kept.values), {size, engine.num_expectations()}));
}

auto likely_outputs_of_trajectory(snc::TrajectoryEngine& engine) {
    return snc::to_array(without_gil([&] { return engine.likely_outputs(WithoutGil::check_signals); }));
}

nb::dict trajectory_statistics(const snc::TrajectoryEngine& engine) {
    const snc::TrajectoryWork work = without_gil([&] { return engine.work(WithoutGil::check_signals); });
    return snc::dict_of("shots", work.shots, "structural_events", work.structural_events, "pauli_events", work.pauli_events, "steps",
                        work.steps, "skipped_steps", work.skipped_steps, "largest_width", work.largest_width);
}

}  // namespace

void bind_trajectories(nb::module_& m) {
    nb::class_<snc::TrajectoryEngine>(m, "TrajectoryEngine", "Follows each shot. Calls from several threads follow one another.")
        .def("__init__", &construct_trajectories, nb::arg("program"), nb::arg("lines"), nb::arg("by_records"), nb::arg("constant"), nb::arg("reported"),
             nb::arg("postselected"), nb::arg("partners"), nb::arg("replacements"), nb::arg("num_threads"), nb::arg("max_width"))
        .def("__init__", &construct_with_turns, nb::arg("program"), nb::arg("lines"), nb::arg("by_records"), nb::arg("constant"), nb::arg("reported"),
             nb::arg("postselected"), nb::arg("partners"), nb::arg("replacements"), nb::arg("turn_variables"), nb::arg("first_angles"),
             nb::arg("angles"), nb::arg("first_sums"), nb::arg("sums"), nb::arg("num_threads"), nb::arg("max_width"), "With quasi-static noise.")
        .def("sample_kept", &sample_trajectories, nb::arg("seed"), nb::arg("first_shot"), nb::arg("shots"),
             "The reported outputs of the kept shots, bit-packed: uint8, shape (kept, bytes); their numbers; and their expectation values: float64, shape (kept, values).")
        .def("likely_outputs", &likely_outputs_of_trajectory, "All outputs without noise on likely outcomes: uint8, shape (outputs,).")
        .def("statistics", &trajectory_statistics, "The work done.");
}
