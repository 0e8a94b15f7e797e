#include "steps/operation_checks.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <new>

#include "base/argument_checks.h"

namespace snc {

namespace {

// The number of bytes of a wider vector is above 2^62, so that sizes could overflow.
constexpr int32_t max_width = 58;

constexpr double angle_tolerance = 1e-9;

}  // namespace

bool is_pauli(uint64_t x, uint64_t z, int64_t i_power, int32_t width) {
    const bool fits = ((x | z) >> width) == 0;
    return fits && i_power >= 0 && i_power < 4 && (std::popcount(x & z) - i_power) % 2 == 0;
}

void check_angle(double cosine, double sine, const std::string& what) {
    if (!(std::abs(cosine * cosine + sine * sine - 1) < angle_tolerance))
        throw std::invalid_argument(what + " has the cosine " + std::to_string(cosine) + " and the sine " + std::to_string(sine) +
                                    ", which are those of no angle.");
}

void OperationChecks::check(const Operation& operation) {
    const auto refuse_unless = [&](bool is_right, const char* reason) {
        if (!is_right) throw std::invalid_argument("Operation " + std::to_string(num_operations_) + ": " + reason);
    };
    const auto kind = static_cast<int32_t>(operation.kind);
    refuse_unless(kind >= 0 && kind <= static_cast<int32_t>(Kind::weak_measure), "there is no such kind.");
    refuse_unless(operation.width == width_, "its width is not what the operations before it leave.");
    const bool adds = operation.kind == Kind::activate || operation.kind == Kind::weak_measure;
    const bool measures = operation.kind == Kind::measure || operation.kind == Kind::weak_measure;
    const int32_t largest = width_ + adds;
    if (largest > max_width) throw std::bad_alloc();
    refuse_unless(is_pauli(operation.x, operation.z, operation.i_power, largest), "it has no Hermitian Pauli on the vector.");
    const uint64_t support = operation.x != 0 ? operation.x : operation.z;
    if (adds) refuse_unless(operation.pivot == width_, "its pivot is not the new bit.");
    if (operation.kind == Kind::rotate) refuse_unless(operation.pivot == 0, "a ROTATE has no pivot.");
    if (operation.kind == Kind::activate)
        refuse_unless((operation.x | operation.z) == uint64_t{1} << width_ && (operation.x == 0 || operation.z == 0),
                      "it must activate by an X or a Z on the new bit.");
    if (operation.kind == Kind::weak_measure)
        refuse_unless((operation.x >> width_ & 1) != 0, "its Pauli has no X on the new bit.");
    if (measures)
        refuse_unless(support != 0 && operation.pivot == 63 - std::countl_zero(support),
                      "its pivot is not the highest bit on which the Pauli acts.");
    refuse_unless(operation.outcome == (measures ? num_outcomes_ : -1), "its outcome has a wrong number.");
    refuse_unless(operation.segment == num_outcomes_, "its segment is not the number of measurements before it.");
    peak_width_ = std::max(peak_width_, operation.kind == Kind::weak_measure ? width_ : largest);
    width_ += adds - measures;
    num_outcomes_ += measures;
    ++num_operations_;
}

}  // namespace snc
