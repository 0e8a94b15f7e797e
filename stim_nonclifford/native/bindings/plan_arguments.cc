// The plan, as Python passes it.
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

nb::object attribute(nb::handle object, const char* name) {
    if (!nb::hasattr(object, name))
        throw nb::type_error(("The plan has no '" + std::string(name) +
                              "'. If another version of stim_nonclifford made it, compile the circuit anew.").c_str());
    return object.attr(name);
}

uint32_t to_number(nb::handle plan, const char* name) {
    uint32_t number = 0;
    if (!nb::try_cast(attribute(plan, name), number))
        throw nb::type_error(("The plan's " + std::string(name) + " must be an integer from 0 to 2^32 - 1.").c_str());
    return number;
}

bool to_bool(nb::handle plan, const char* name) {
    bool value = false;
    if (!nb::try_cast(attribute(plan, name), value, false))
        throw nb::type_error(("The plan's " + std::string(name) + " must be a bool.").c_str());
    return value;
}

template <typename T>
std::vector<T> to_numbers(nb::handle object, const char* name) {
    snc::InputArray<T> array;
    if (!nb::try_cast(attribute(object, name), array, false))
        throw nb::type_error(("The plan's " + std::string(name) + " must be a C-contiguous, one-dimensional array of " +
                              std::to_string(8 * sizeof(T)) + "-bit " + (T(-1) > T(0) ? "unsigned " : "") + "integers.").c_str());
    return snc::to_vector(array);
}

snc::SparseRows to_rows(nb::handle plan, const char* name) {
    const nb::object rows = attribute(plan, name);
    return {to_numbers<int64_t>(rows, "starts"), to_numbers<int32_t>(rows, "bits")};
}

// nanobind has no type for structured arrays: they are passed as bytes. `fields`: the names of the record's fields.
template <typename Record>
std::vector<Record> to_records(nb::handle plan, const char* name, const std::vector<const char*>& fields) {
    const nb::object array = attribute(plan, name);
    const auto refuse = [&] {
        throw nb::type_error(("The plan's " + std::string(name) + " must be an array of the dtype that plan.py has for it. If another "
                              "version of stim_nonclifford made it, compile the circuit anew.").c_str());
    };
    if (!nb::hasattr(array, "dtype") || !nb::isinstance<nb::tuple>(array.attr("dtype").attr("names"))) refuse();
    const auto names = nb::cast<nb::tuple>(array.attr("dtype").attr("names"));
    bool has_fields = names.size() == fields.size() && nb::cast<size_t>(array.attr("dtype").attr("itemsize")) == sizeof(Record);
    for (size_t k = 0; has_fields && k < fields.size(); ++k) has_fields = std::strcmp(nb::str(names[k]).c_str(), fields[k]) == 0;
    if (!has_fields) refuse();
    const auto raw = nb::cast<nb::bytes>(array.attr("tobytes")());
    std::vector<Record> records(raw.size() / sizeof(Record));
    if (!records.empty()) std::memcpy(records.data(), raw.c_str(), raw.size());
    return records;
}

}  // namespace

void check_signatures(const std::vector<uint64_t>& words, size_t count, const snc::RowLayout& layout) {
    snc::require(words.size() == count * layout.signature_words, "There must be the words of each signature.");
    for (size_t k = 0; k < words.size(); k += layout.signature_words)
        snc::require(!snc::has_bits_beyond(&words[k], layout.signature_words, layout.num_signature_bits),
                     "A signature has bits beyond the signature bits of the plan.");
}

std::vector<snc::Operation> to_operations(nb::handle plan) {
    return to_records<snc::Operation>(
        plan, "operations", {"x", "z", "kind", "width", "i_power", "pivot", "outcome", "segment", "first_term", "end_term"});
}

std::vector<snc::RotationTerm> to_rotation_terms(nb::handle plan) {
    return to_records<snc::RotationTerm>(plan, "rotation_terms", {"cosine", "sine", "sign", "is_reversed"});
}

snc::Plan to_plan(nb::handle plan) {
    const snc::PlanArrays arrays{
        .num_checks = to_number(plan, "num_checks"),
        .num_signature_bits = to_number(plan, "num_signature_bits"),
        .num_outputs = to_number(plan, "num_outputs"),
        .num_signs = to_number(plan, "num_signs"),
        .num_outcome_checks = to_number(plan, "num_outcome_checks"),
        .peak_width = to_number(plan, "peak_width"),
        .never_kept = to_bool(plan, "never_kept"),
        .constant = to_numbers<int32_t>(plan, "constant"),
        .effects = to_rows(plan, "effects"),
        .effects_are_lists = to_bool(plan, "effects_are_lists"),
        .sites = to_numbers<int32_t>(plan, "sites"),
        .count_thresholds = to_numbers<uint64_t>(plan, "count_thresholds"),
        .alias_thresholds = to_numbers<uint64_t>(plan, "alias_thresholds"),
        .alias_indices = to_numbers<int32_t>(plan, "alias_indices"),
        .coins = to_rows(plan, "coins"),
        .coins_are_lists = to_bool(plan, "coins_are_lists"),
        .leakage_items = to_records<snc::LeakageItem>(
            plan, "leakage_items", {"threshold", "kind", "states", "to", "first_row", "end_row", "qubit", "partner"}),
        .leakage_rows = to_rows(plan, "leakage_rows"),
        .leakage_final_checks = to_numbers<int32_t>(plan, "leakage_final_checks"),
        .leakage_entries = to_numbers<int32_t>(plan, "leakage_entries"),
        .leakage_always = to_numbers<int32_t>(plan, "leakage_always"),
        .operations = to_operations(plan),
        .terms = to_rotation_terms(plan),
        .branch_constant = to_numbers<int32_t>(plan, "branch_constant"),
        .signature_images = to_rows(plan, "signature_images"),
        .outcome_effects = to_rows(plan, "outcome_effects"),
        .signature_images_are_lists = to_bool(plan, "signature_images_are_lists"),
        .outcome_effects_are_lists = to_bool(plan, "outcome_effects_are_lists"),
        .outcome_check_deadlines = to_numbers<int32_t>(plan, "outcome_check_deadlines"),
    };
    snc::check_plan(arrays);
    return snc::pack_plan(arrays);
}
