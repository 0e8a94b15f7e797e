#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <exception>
#include <memory>
#include <new>
#include <stdexcept>
#include <utility>

#include "base/argument_checks.h"
#include "base/memory.h"
#include "base/not_a_number.h"
#include "base/resource_limit.h"
#include "bindings/bindings.h"
#include "bindings/python/arrays.h"
#include "bindings/python/gil.h"
#include "bindings/python/tuple_caster.h"
#include "device/device_plan.h"
#include "engine/engine.h"
#include "engine/outcome_passes.h"
#include "kernels/shared/philox.h"
#include "plan/certain_checks.h"
#include "plan/plan_reduction.h"
#include "rates/set_laws/fault_set_laws.h"

namespace nb = nanobind;

SNC_TUPLE_OF(snc::OutcomeLaws::PossiblePath, &snc::OutcomeLaws::PossiblePath::kept, &snc::OutcomeLaws::PossiblePath::outputs);

namespace {

using Bytes = nb::ndarray<nb::numpy, uint8_t>;
using RawBytes = snc::AlignedNumbers<uint8_t>;
nb::dict count(snc::Engine& engine, uint64_t seed, uint64_t first_shot, uint64_t shots, uint64_t max_errors,
               bool list_errors) {
    check_shots(first_shot, shots);
    const snc::Tally tally =
        without_gil([&] { return engine.count(seed, first_shot, shots, max_errors, list_errors, WithoutGil::check_signals); });
    nb::dict patterns;
    tally.patterns.for_each([&](const std::vector<uint64_t>& words, uint64_t number) {
        nb::int_ pattern(0);
        for (size_t w = words.size(); w-- > 0;)
            pattern = nb::int_((pattern << nb::int_(64)) | nb::int_(words[w]));
        patterns[pattern] = number;
    });
    return snc::dict_of("shots", tally.shots, "discards", tally.discards, "errors", tally.errors, "patterns", patterns, "error_shots",
                        tally.error_shots);
}

Bytes sample(snc::Engine& engine, uint64_t seed, uint64_t first_shot, uint64_t shots, uint32_t num_outputs) {
    check_shots(first_shot, shots);
    snc::require(num_outputs <= engine.plan().layout.num_outputs, "num_outputs is above the number of outputs of the plan.");
    const size_t row_bytes = snc::Engine::row_bytes(num_outputs);
    if (row_bytes != 0 && shots > PTRDIFF_MAX / row_bytes) throw std::bad_alloc();
    auto rows = std::make_unique<RawBytes>(std::max<size_t>(shots * row_bytes, 1));
    uint8_t* const data = rows->data();
    without_gil([&] {
        // The engine may leave out the rows of discarded shots.
        if (engine.discards()) std::memset(data, 0, shots * row_bytes);
        engine.sample(seed, first_shot, shots, num_outputs, data, WithoutGil::check_signals);
    });
    nb::capsule owner(rows.get(), [](void* p) noexcept { delete static_cast<RawBytes*>(p); });
    rows.release();
    return Bytes(data, {shots, row_bytes}, owner);
}

nb::tuple sample_kept(snc::Engine& engine, uint64_t seed, uint64_t first_shot, uint64_t shots) {
    check_shots(first_shot, shots);
    snc::KeptRows kept = without_gil([&] { return engine.sample_kept(seed, first_shot, shots, WithoutGil::check_signals); });
    const size_t size = kept.shots.size();
    return nb::make_tuple(snc::to_array(std::move(kept.rows), {size, engine.row_bytes()}), snc::to_array(std::move(kept.shots)));
}

nb::tuple kept_law(const snc::Engine& engine, const snc::InputArray<uint64_t>& signature) {
    const std::vector<uint64_t> words = snc::to_vector(signature);
    check_signatures(words, 1, engine.plan().layout);
    snc::KeptBranches kept =
        without_gil([&] { return snc::kept_branches(engine.plan(), engine.kernels(), words, 1, 1, WithoutGil::check_signals); });
    const size_t size = kept.probabilities.size();
    return nb::make_tuple(snc::to_array(std::move(kept.probabilities)),
                          snc::to_array(std::move(kept.outputs), {size, engine.plan().layout.output_words}));
}

snc::OutcomeLaws::PossiblePath possible_path(snc::Engine& engine, const snc::InputArray<uint64_t>& signature, uint64_t seed, uint64_t number) {
    const std::vector<uint64_t> words = snc::to_vector(signature);
    check_signatures(words, 1, engine.plan().layout);
    return without_gil([&] {
        return engine.with_laws(WithoutGil::check_signals, [&](snc::OutcomeLaws& laws) { return laws.possible_path(words, seed, number); });
    });
}

void construct_passes(snc::OutcomePasses* self, snc::Engine& engine, const snc::InputArray<uint64_t>& signatures,
                      const snc::InputArray<uint64_t>& numbers, uint64_t seed) {
    const std::vector<uint64_t> words = snc::to_vector(signatures), of_shots = snc::to_vector(numbers);
    check_signatures(words, of_shots.size(), engine.plan().layout);
    snc::require(snc::OutcomePasses::suits(engine.plan(), {}, {}), "The plan has no passes.");
    without_gil([&] { new (self) snc::OutcomePasses(engine, words, of_shots, seed, WithoutGil::check_signals); });
}

bool suits_passes(const snc::Engine& engine, const snc::InputArray<uint64_t>& read, const snc::InputArray<uint64_t>& bits) {
    const snc::RowLayout& layout = engine.plan().layout;
    const std::vector<uint64_t> outputs = snc::to_vector(read), words = snc::to_vector(bits);
    snc::require(layout.output_words != 0 && outputs.size() % layout.output_words == 0, "read must have rows of the outputs.");
    check_signatures(words, outputs.size() / layout.output_words, layout);
    return snc::OutcomePasses::suits(engine.plan(), outputs, words);
}

nb::object draw_pass(snc::OutcomePasses& passes, const snc::InputArray<uint64_t>& read) {
    const std::vector<uint64_t> outputs = snc::to_vector(read);
    snc::require(outputs.size() == passes.layout().output_words, "read must have the words of the outputs.");
    return snc::to_array(without_gil([&] { return passes.draw(outputs, WithoutGil::check_signals); }));
}

void flip_signatures(snc::OutcomePasses& passes, const snc::InputArray<uint64_t>& bits) {
    const std::vector<uint64_t> words = snc::to_vector(bits);
    check_signatures(words, passes.num_shots(), passes.layout());
    passes.flip(words);
}

nb::object outcomes(snc::Engine& engine, const snc::InputArray<uint64_t>& signatures, const snc::InputArray<uint64_t>& numbers,
                    uint64_t seed) {
    const std::vector<uint64_t> words = snc::to_vector(signatures), of_shots = snc::to_vector(numbers);
    check_signatures(words, of_shots.size(), engine.plan().layout);
    return snc::to_array(without_gil([&] { return engine.outcomes(words, of_shots, seed, WithoutGil::check_signals); }));
}

nb::object rows(snc::Engine& engine, uint64_t seed, uint64_t first_shot, uint64_t shots) {
    check_shots(first_shot, shots);
    const size_t words = engine.plan().layout.words();
    return snc::to_array(without_gil([&] { return engine.rows(seed, first_shot, shots, WithoutGil::check_signals); }), {shots, words});
}

std::vector<uint64_t> likely_outputs(snc::Engine& engine) {
    const WithoutGil released;
    return engine.with_laws(WithoutGil::check_signals, [](snc::OutcomeLaws& laws) { return laws.likely_outputs(); });
}

nb::object plan_image(nb::handle plan) {
    const snc::Plan packed = to_plan(plan);
    const std::vector<uint64_t> words =
        without_gil([&] { return snc::make_plan_image(packed, snc::kernels(), WithoutGil::check_signals); });
    const auto* bytes = reinterpret_cast<const uint8_t*>(words.data());
    return snc::to_array(std::vector<uint8_t>(bytes, bytes + words.size() * sizeof(uint64_t)), {words.size(), sizeof(uint64_t)});
}

nb::dict reduction_of(nb::handle plan) {
    const snc::Plan packed = to_plan(plan, snc::PathMethod::neither);
    const snc::Reduction found = without_gil([&] { return snc::reduce(packed); });
    const bool is_found = found.program.has_value();
    return snc::dict_of("obstacle", static_cast<int32_t>(found.obstacle), "rotation", found.rotation, "measurement", found.measurement,
                        "dense_width", found.dense_width, "dense_rotations", is_found ? found.program->rotations.size() : size_t{0}, "qubits",
                        is_found ? found.program->num_qubits : 0, "measurements",
                        is_found ? found.program->measurements.size() : size_t{0}, "t_rotations", found.num_t, "conditional_cliffords",
                        found.num_conditional, "strings", found.strings, "products", found.products, "coins", found.coins, "vector_cost",
                        found.dense_cost, "elimination_cost", found.elimination_cost, "is_possible", is_found, "eliminates", found.pays);
}

nb::dict certain_checks(nb::handle plan) {
    const snc::Plan packed = to_plan(plan, snc::PathMethod::neither);
    snc::CertainChecks found = without_gil([&] { return snc::certain_checks(packed); });
    return snc::dict_of("parities", std::move(found.checks.parities), "targets", std::move(found.checks.values), "output_parities",
                        std::move(found.outputs.parities), "output_values", std::move(found.outputs.values));
}

nb::dict statistics(const snc::Engine& engine) {
    const snc::LawStatistics law = without_gil([&] { return engine.statistics(WithoutGil::check_signals); });
    return snc::dict_of("signatures", law.signatures, "nodes", law.nodes, "checkpoints", law.checkpoints, "bytes", law.bytes, "lookups",
                        law.lookups, "simulations", law.simulations, "steps", law.work.steps, "coefficients_read",
                        law.work.coefficients_read, "coefficients_written", law.work.coefficients_written, "flops", law.work.flops, "strings",
                        law.work.elimination.strings, "products", law.work.elimination.products, "coins", law.work.elimination.coins);
}

std::vector<uint64_t> random_words(uint64_t seed, uint64_t stream, uint64_t index, uint64_t count) {
    snc::require(count <= uint64_t{1} << 27, "count must be at most 2^27.");
    std::vector<uint64_t> words;
    for (uint64_t quad = 0; words.size() < count; ++quad)
        for (uint64_t word : snc::random_words(seed, static_cast<snc::Stream>(stream), index, quad))
            if (words.size() < count) words.push_back(word);
    return words;
}

}  // namespace

NB_MODULE(_native, m) {
    WithoutGil::prepare();
    // A daemon thread that is sampling when the program ends never deletes its engine; see gil.h.
    nb::set_leak_warnings(false);
    // A std::vector that is too large for any memory throws this instead of std::bad_alloc.
    nb::register_exception_translator([](const std::exception_ptr& thrown, void*) {
        try {
            std::rethrow_exception(thrown);
        } catch (const std::length_error& error) {
            PyErr_SetString(PyExc_MemoryError, error.what());
        } catch (const snc::ResourceLimit& error) {
            const nb::object type = nb::module_::import_("stim_nonclifford.base.errors").attr("ResourceLimitError");
            PyErr_SetString(type.ptr(), error.what());
        } catch (const TimeIsOver&) {
            PyErr_SetString(PyExc_TimeoutError, "The time that a call may take is over.");
        } catch (const snc::NotANumber& error) {
            PyErr_SetString(PyExc_FloatingPointError, error.what());
        }
    });
    m.doc() = "The CPU engine in C++. Use it through stim_nonclifford.simulation.engines.cpu.";
    m.def("available_instruction_sets", &snc::available_instruction_sets, "Instruction sets that this machine can run, slowest first.");
    m.def("random_words", &random_words, nb::arg("seed"), nb::arg("stream"), nb::arg("index"), nb::arg("count"),
          "The first words of a random stream, as in engines/random_streams.py.");
    m.def("check_plan", [](nb::handle plan) { to_plan(plan, snc::PathMethod::neither); }, nb::arg("plan"), "Raises an exception unless a plan is right.");
    m.def(
        "limit_time",
        [](double seconds) {
            snc::require(!std::isnan(seconds), "seconds must be a number.");
            return WithoutGil::limit_time(seconds);
        },
        nb::arg("seconds"),
          "Lets native calls of this thread end after so many seconds from now, with TimeoutError. Returns how many they had before.");
    m.def("reduction", &reduction_of, nb::arg("plan"), "What of a plan needs coefficients, and the work of an elimination.");
    m.def("certain_checks", &certain_checks, nb::arg("plan"), "Sums of outcome checks, and outputs, on which faults alone decide: signature bits and values.");
    m.def("plan_image", &plan_image, nb::arg("plan"), "The plan as the device's kernels read it: uint8, shape (words, 8).");
    bind_constants(m);
    bind_device(m);
    bind_fault_sets(m);
    bind_path_expectations(m);
    bind_matching(m);
    bind_trajectories(m);
    bind_compiler(m);
    nb::class_<snc::OutcomePasses>(m, "OutcomePasses", "Outcomes of shots whose signatures get more bits as a decoder decides.")
        .def("__init__", &construct_passes, nb::arg("engine"), nb::arg("signatures"), nb::arg("numbers"), nb::arg("seed"), nb::keep_alive<1, 2>())
        .def_static("suits", &suits_passes, nb::arg("engine"), nb::arg("read"), nb::arg("bits"),
                    "Whether shots can be simulated in passes that read these outputs, and after which these bits may change: words.")
        .def("draw", &draw_pass, nb::arg("read"),
             "The outputs that outcomes flip, as words: uint64, [shots][words of the outputs], right for those that are read.")
        .def("flip", &flip_signatures, nb::arg("bits"), "XORs bits, as words, into the signatures.");
    nb::class_<snc::Engine>(m, "Engine", "Runs a plan. Calls from several threads follow one another.")
        .def(
            "__init__",
            [](snc::Engine* self, nb::handle plan, size_t num_threads, size_t cache_bytes, const std::string& kernels, const std::string& method) {
                snc::require(num_threads >= 1 && num_threads <= snc::max_threads,
                             "num_threads must be from 1 to ", snc::max_threads, ".");
                const snc::Kernels& table = kernels.empty() ? snc::kernels() : snc::kernels_named(kernels);
                snc::Plan packed = to_plan(plan, path_method(method));
                without_gil([&] { new (self) snc::Engine(std::move(packed), table, num_threads, cache_bytes, WithoutGil::check_signals); });
            },
            nb::arg("plan"), nb::arg("num_threads"), nb::arg("cache_bytes"), nb::arg("instruction_set") = "", nb::arg("path_method") = "")
        .def("count", &count, nb::arg("seed"), nb::arg("first_shot"), nb::arg("shots"), nb::arg("max_errors"),
             nb::arg("list_errors"),
             "Shots, discards, errors, counts of output patterns of kept shots, and the numbers of the shots with"
             " errors if they are asked for.")
        .def("sample", &sample, nb::arg("seed"), nb::arg("first_shot"), nb::arg("shots"), nb::arg("num_outputs"),
             "The first outputs of all shots, bit-packed: uint8, shape (shots, ceil(num_outputs / 8)).")
        .def("sample_kept", &sample_kept, nb::arg("seed"), nb::arg("first_shot"), nb::arg("shots"),
             "Outputs of the kept shots, bit-packed: uint8, shape (kept, ceil(num_outputs / 8)); and their numbers.")
        .def("kept_law", &kept_law, nb::arg("signature"),
             "Probabilities, and flipped outputs as words, of the branches of a signature (as words) that are kept.")
        .def("outcomes", &outcomes, nb::arg("signatures"), nb::arg("numbers"), nb::arg("seed"),
             "The outputs that drawn outcomes of signatures flip: words, [numbers][words of the outputs]. The seed and a number"
             " give the outcomes of a signature ([numbers][words of a signature]).")
        .def("rows", &rows, nb::arg("seed"), nb::arg("first_shot"), nb::arg("shots"),
             "The rows of shots after noise and before outcomes, as words: uint64, shape (shots, words of a row).")
        .def("possible_path", &possible_path, nb::arg("signature"), nb::arg("seed"), nb::arg("number"),
             "Whether a path of a signature (as words) is kept, and the outputs (as words) that its outcomes flip. Each"
             " outcome that is not certain is chosen fairly, whatever its probability.")
        .def("likely_outputs", &likely_outputs,
             "The outputs (as words) that the outcomes of signature 0 flip if they are the likely ones.")
        .def("statistics", &statistics, "Sizes of the store of outcome laws, and the work done.")
        .def_prop_ro("instruction_set", [](const snc::Engine& engine) { return engine.kernels().name; }, "The instruction set in use.");
}
