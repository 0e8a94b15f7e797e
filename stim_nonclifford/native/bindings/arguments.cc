// Plans and programs, as Python passes them.
#include <nanobind/nanobind.h>

#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/argument_checks.h"
#include "bindings/bindings.h"
#include "bindings/python/arrays.h"
#include "plan/plan_checks.h"

namespace nb = nanobind;

namespace {

// An object whose attributes are numbers and arrays.
struct Arguments {
    nb::handle object;
    const char* what;

    nb::object attribute(const char* name) const {
        if (!nb::hasattr(object, name))
            throw nb::type_error(("The " + std::string(what) + " has no '" + name +
                                  "'. If another version of stim_nonclifford made it, compile the circuit anew.").c_str());
        return object.attr(name);
    }

    [[noreturn]] void refuse(const char* name, const std::string& expected) const {
        throw nb::type_error(("The " + std::string(what) + "'s " + name + " must be " + expected).c_str());
    }

    uint32_t number(const char* name) const {
        uint32_t found = 0;
        if (!nb::try_cast(attribute(name), found)) refuse(name, "an integer from 0 to 2^32 - 1.");
        return found;
    }

    bool truth(const char* name) const {
        bool found = false;
        if (!nb::try_cast(attribute(name), found, false)) refuse(name, "a bool.");
        return found;
    }

    template <typename T>
    std::vector<T> numbers(const char* name) const {
        snc::InputArray<T> array;
        if (!nb::try_cast(attribute(name), array, false))
            refuse(name, "a C-contiguous, one-dimensional array of " + std::to_string(8 * sizeof(T)) + "-bit " +
                             (T(-1) > T(0) ? "unsigned " : "") + "integers.");
        return snc::to_vector(array);
    }

    snc::SparseRows rows(const char* name) const {
        const nb::object found = attribute(name);
        const Arguments parts{found, what};
        return {parts.numbers<int64_t>("starts"), parts.numbers<int32_t>("bits")};
    }

    // nanobind has no type for structured arrays: they are passed as bytes. `fields`: the names of the record's fields.
    template <typename Record>
    std::vector<Record> records(const char* name, const std::vector<const char*>& fields) const {
        const nb::object array = attribute(name);
        const nb::object dtype = nb::hasattr(array, "dtype") ? nb::object(array.attr("dtype")) : nb::none();
        bool has_fields = !dtype.is_none() && nb::isinstance<nb::tuple>(dtype.attr("names"));
        if (has_fields) {
            const auto names = nb::cast<nb::tuple>(dtype.attr("names"));
            has_fields = names.size() == fields.size() && nb::cast<size_t>(dtype.attr("itemsize")) == sizeof(Record);
            for (size_t k = 0; has_fields && k < fields.size(); ++k) has_fields = std::strcmp(nb::str(names[k]).c_str(), fields[k]) == 0;
        }
        if (!has_fields)
            refuse(name, "an array of the dtype that the package has for it. If another version of stim_nonclifford made it, compile the"
                         " circuit anew.");
        const auto raw = nb::cast<nb::bytes>(array.attr("tobytes")());
        std::vector<Record> found(raw.size() / sizeof(Record));
        if (!found.empty()) std::memcpy(found.data(), raw.c_str(), raw.size());
        return found;
    }
};

std::vector<snc::Operation> operation_records(const Arguments& plan) {
    return plan.records<snc::Operation>(
        "operations", {"x", "z", "kind", "width", "i_power", "pivot", "outcome", "segment", "first_term", "end_term"});
}

}  // namespace

// Shot numbers are also int64. Those of the last block may be above the range.
void check_shots(uint64_t first_shot, uint64_t shots) {
    constexpr uint64_t end = uint64_t{1} << 63;
    snc::require(first_shot <= end && shots <= end - first_shot, "The numbers of shots must be below 2^63.");
}

void check_signatures(const std::vector<uint64_t>& words, size_t count, const snc::RowLayout& layout) {
    snc::require(words.size() == count * layout.signature_words, "There must be the words of each signature.");
    for (size_t k = 0; k < words.size(); k += layout.signature_words)
        snc::require(!snc::has_bits_beyond(&words[k], layout.signature_words, layout.num_signature_bits),
                     "A signature has bits beyond the signature bits of the plan.");
}

snc::OperationList to_narrow_operations(nb::handle plan) { return snc::OperationList(operation_records({plan, "plan"})); }

std::vector<snc::RotationTerm> to_rotation_terms(nb::handle plan) {
    return Arguments{plan, "plan"}.records<snc::RotationTerm>("rotation_terms", {"cosine", "sine", "sign", "is_reversed"});
}

snc::PathMethod path_method(const std::string& name) {
    if (name.empty()) return snc::PathMethod::cheaper;
    if (name == "vector") return snc::PathMethod::vector;
    snc::require(name == "elimination", "path_method must be '', 'vector' or 'elimination'.");
    return snc::PathMethod::elimination;
}

snc::Plan to_plan(nb::handle object, snc::PathMethod method) {
    const Arguments plan{object, "plan"};
    const snc::PlanArrays arrays{
        .num_checks = plan.number("num_checks"),
        .num_signature_bits = plan.number("num_signature_bits"),
        .num_outputs = plan.number("num_outputs"),
        .num_signs = plan.number("num_signs"),
        .num_outcome_checks = plan.number("num_outcome_checks"),
        .peak_width = plan.number("peak_width"),
        .never_kept = plan.truth("never_kept"),
        .separate_draws = plan.truth("separate_draws"),
        .constant = plan.numbers<int32_t>("constant"),
        .effects = plan.rows("effects"),
        .effects_are_lists = plan.truth("effects_are_lists"),
        .sites = plan.numbers<int32_t>("sites"),
        .count_thresholds = plan.numbers<uint64_t>("count_thresholds"),
        .alias_thresholds = plan.numbers<uint64_t>("alias_thresholds"),
        .alias_indices = plan.numbers<int32_t>("alias_indices"),
        .coins = plan.rows("coins"),
        .coins_are_lists = plan.truth("coins_are_lists"),
        .leakage_items = plan.records<snc::LeakageItem>(
            "leakage_items", {"threshold", "kind", "states", "to", "first_row", "end_row", "qubit", "partner"}),
        .leakage_rows = plan.rows("leakage_rows"),
        .leakage_final_checks = plan.numbers<int32_t>("leakage_final_checks"),
        .leakage_entries = plan.numbers<int32_t>("leakage_entries"),
        .leakage_always = plan.numbers<int32_t>("leakage_always"),
        .num_readout_decays = plan.number("num_readout_decays"),
        .readout_constant = plan.numbers<int32_t>("readout_constant"),
        .readout_predecessors = plan.numbers<int32_t>("readout_predecessors"),
        .event_readouts = plan.rows("event_readouts"),
        .coin_readouts = plan.rows("coin_readouts"),
        .leakage_readouts = plan.rows("leakage_readouts"),
        .hidden_coins = plan.rows("hidden_coins"),
        .readouts_are_lists = plan.truth("readouts_are_lists"),
        .operations = snc::OperationList(operation_records(plan), plan.rows("high_x"), plan.rows("high_z")),
        .terms = to_rotation_terms(object),
        .branch_constant = plan.numbers<int32_t>("branch_constant"),
        .signature_images = plan.rows("signature_images"),
        .outcome_effects = plan.rows("outcome_effects"),
        .signature_images_are_lists = plan.truth("signature_images_are_lists"),
        .outcome_effects_are_lists = plan.truth("outcome_effects_are_lists"),
        .outcome_check_deadlines = plan.numbers<int32_t>("outcome_check_deadlines"),
    };
    snc::check_plan(arrays);
    return snc::pack_plan(arrays, method);
}

snc::Program to_program(nb::handle object) {
    const Arguments program{object, "program"};
    return snc::Program({
        .num_qubits = program.number("num_qubits"),
        .num_records = program.number("num_records"),
        .num_detectors = program.number("num_detectors"),
        .num_observables = program.number("num_observables"),
        .steps = program.records<snc::CircuitStep>("steps", {"amount", "second_amount", "record", "kind", "number", "group_size", "first", "end",
                                                             "first_factor", "end_factor", "first_record", "end_record", "is_inverted",
                                                             "resets"}),
        .targets = program.numbers<uint32_t>("targets"),
        .factors = program.records<snc::QubitPauli>("factors", {"qubit", "code"}),
        .records = program.numbers<int64_t>("records"),
        .gate_sizes = program.numbers<uint32_t>("gate_sizes"),
        .images = program.rows("images"),
        .channels = program.records<snc::Channel>("channels", {"constant", "first_rate", "first_choice", "end"}),
        .choices = program.records<snc::ChannelChoice>("choices", {"pattern", "amount"}),
        .loops = program.records<snc::CircuitLoop>("loops", {"first", "end", "repetitions", "records", "detectors", "chains"}),
    });
}
