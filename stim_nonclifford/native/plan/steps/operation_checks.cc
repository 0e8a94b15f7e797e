#include "plan/steps/operation_checks.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/argument_checks.h"

namespace snc {

namespace {

constexpr double angle_tolerance = 1e-9;

void require_of_operation(bool is_right, size_t number, const char* reason) {
    require(is_right, "Operation ", number, ": ", reason);
}

// Whether i^i_power times a Pauli is a Hermitian operator on a vector of this width.
bool is_hermitian(const IndexPauli& pauli, int32_t i_power, size_t width) {
    const auto fits = [&](const Bits& bits) { return is_empty(bits) || highest_bit(bits) < width; };
    return fits(pauli.x) && fits(pauli.z) && i_power >= 0 && i_power < 4 && is_odd_overlap(pauli.x, pauli.z) == (i_power % 2 != 0);
}

// Follows the width of the vector.
void check_on_vector(const OperationList& operations, size_t number, OperationCounts& counts) {
    const Operation& operation = operations[number];
    const auto refuse_unless = [&](bool is_right, const char* reason) { require_of_operation(is_right, number, reason); };
    const auto kind = static_cast<int32_t>(operation.kind);
    refuse_unless(kind >= 0 && kind <= static_cast<int32_t>(Kind::expect), "there is no such kind.");
    refuse_unless(operation.width == counts.width, "its width is not what the operations before it leave.");
    const bool adds = operation.kind == Kind::activate, measures = operation.measures(), expects = operation.kind == Kind::expect;
    const int32_t largest = counts.width + adds;
    const IndexPauli pauli = operations.pauli(number);
    refuse_unless(is_hermitian(pauli, operation.i_power, static_cast<size_t>(largest)), "it has no Hermitian Pauli on the vector.");
    if (adds) refuse_unless(operation.pivot == counts.width, "its pivot is not the new bit.");
    if (operation.kind == Kind::rotate) refuse_unless(operation.pivot == 0, "a ROTATE has no pivot.");
    if (adds)
        refuse_unless(count_bits(pauli.x) + count_bits(pauli.z) == 1 && has_bit(pauli.pivots(), static_cast<size_t>(counts.width)),
                      "it must activate by an X or a Z on the new bit.");
    if (measures || expects)
        refuse_unless(!is_empty(pauli.pivots()) && std::cmp_equal(operation.pivot, highest_bit(pauli.pivots())),
                      "its pivot is not the highest bit on which the Pauli acts.");
    refuse_unless(operation.outcome == (measures ? counts.num_outcomes : expects ? counts.num_expectations : -1), "its outcome has a wrong number.");
    refuse_unless(operation.segment == counts.num_outcomes, "its segment is not the number of measurements before it.");
    if (adds && !operations.measure_weakly(number)) counts.peak_width = std::max(counts.peak_width, largest);
    counts.width += adds - measures;
    counts.num_outcomes += measures;
    counts.num_expectations += expects;
}

void check_term(const RotationTerm& term, size_t number, size_t term_number, uint32_t num_signs) {
    require(std::abs(term.cosine * term.cosine + term.sine * term.sine - 1) < angle_tolerance, "Operation ", number, ", term ",
            term_number, " has the cosine ", term.cosine, " and the sine ", term.sine, ", which are those of no angle.");
    require_of_operation(term.sign >= -1 && (term.sign < 0 || static_cast<uint32_t>(term.sign) < num_signs), number, "there is no such sign.");
    require_of_operation(term.is_reversed == 0 || term.is_reversed == 1, number, "is_reversed must be 0 or 1.");
}

}  // namespace

OperationCounts check_operations(const OperationList& operations, const std::vector<RotationTerm>& terms,
                                 uint32_t num_signs) {
    OperationCounts counts{};
    size_t next_term = 0;
    for (size_t k = 0; k < operations.size(); ++k) {
        const Operation& operation = operations[k];
        check_on_vector(operations, k, counts);
        const auto first = static_cast<size_t>(operation.first_term), end = static_cast<size_t>(operation.end_term);
        require_of_operation(operation.first_term >= 0 && first == next_term && end >= first && end <= terms.size(), k,
                      "its terms do not follow those of the operations before it.");
        const bool has_no_angle = operation.kind == Kind::measure || operation.kind == Kind::expect;
        require_of_operation(has_no_angle == (first == end), k, "it must have terms, unless it is a MEASURE or an EXPECT.");
        for (size_t t = first; t < end; ++t) check_term(terms[t], k, t, num_signs);
        require_of_operation(first == end || terms[first].is_reversed == 0, k, "its Pauli is that of its first term, which must not be reversed.");
        next_term = end;
    }
    require(next_term == terms.size(), "There are rotation_terms that belong to no operation.");
    return counts;
}

}  // namespace snc
