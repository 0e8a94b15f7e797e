#include "plan/reduction/virtual_qubits.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

namespace snc {

namespace {

// What rounding can do to an angle, in eighths.
constexpr double tolerance = 1e-12;

// The Paulis of a coordinate of the index: i^x_power X^x Z^z, and a product of Zs.
struct Coordinate {
    Bits x_of_x, z_of_x;
    uint32_t x_power;
    Bits z;
};

void multiply_by_zs(Coordinate& by, const Bits& z) { add_bits(by.z_of_x, z); }

// Multiplies i^power X^x Z^z by the X of a coordinate.
void multiply_by_x(Bits& x, Bits& z, uint32_t& power, const Coordinate& by) {
    power = (power + by.x_power + 2 * static_cast<uint32_t>(count_bits(common_bits(z, by.x_of_x)) % 2)) % 4;
    add_bits(x, by.x_of_x);
    add_bits(z, by.z_of_x);
}

std::optional<uint32_t> eighths_of(double cosine, double sine) {
    const double eighths = std::atan2(sine, cosine) / (std::numbers::pi / 8);
    const double whole = std::round(eighths);
    if (std::abs(eighths - whole) > tolerance) return std::nullopt;
    return static_cast<uint32_t>(static_cast<int32_t>(whole) + 16) % 8;
}

}  // namespace

std::optional<uint32_t> first_not_diagonal(const OperationList& operations) {
    for (size_t k = 0; k < operations.size(); ++k) {
        const Operation& operation = operations[k];
        if (operation.kind == Kind::expect || (!operation.measures() && !operations.is_diagonal(k))) return static_cast<uint32_t>(k);
    }
    return std::nullopt;
}

VirtualProgram on_virtual_qubits(const OperationList& operations, const std::vector<RotationTerm>& terms) {
    VirtualProgram program;
    const auto num_qubits = static_cast<size_t>(std::ranges::count(operations, Kind::activate, &Operation::kind));
    const Bits none((num_qubits + 63) / 64);
    std::vector<Coordinate> coordinates;
    for (size_t k = 0; k < operations.size(); ++k) {
        const Operation& operation = operations[k];
        const IndexPauli pauli = operations.pauli(k);
        if (operation.kind == Kind::activate) {
            Bits qubit = none;
            flip_bit(qubit, program.num_qubits++);
            coordinates.push_back({qubit, none, 0, qubit});
        }
        Bits z = none;
        for (size_t b = 0; b < coordinates.size(); ++b)
            if (has_bit(pauli.z, b)) add_bits(z, coordinates[b].z);
        if (!operation.measures()) {
            for (int32_t t = operation.first_term; t < operation.end_term; ++t) {
                const RotationTerm& term = terms[static_cast<size_t>(t)];
                const double sine = (term.is_reversed != 0) != (operation.i_power == 2) ? -term.sine : term.sine;
                program.rotations.push_back({z, term.cosine, sine, eighths_of(term.cosine, sine), term.sign, static_cast<uint32_t>(k)});
            }
            continue;
        }
        Bits x = none, with_z = none;
        auto power = static_cast<uint32_t>(operation.i_power);
        for (size_t b = 0; b < coordinates.size(); ++b)
            if (has_bit(pauli.x, b)) multiply_by_x(x, with_z, power, coordinates[b]);
        add_bits(with_z, z);
        program.measurements.push_back({std::move(x), std::move(with_z), power, static_cast<uint32_t>(k), program.rotations.size()});
        const auto pivot = static_cast<size_t>(operation.pivot);
        const Coordinate removed = std::move(coordinates[pivot]);
        for (size_t b = 0; b < coordinates.size(); ++b) {
            if (b == pivot) continue;
            Coordinate& left = coordinates[b];
            if (pauli.is_diagonal()) {
                if (has_bit(pauli.z, b)) multiply_by_x(left.x_of_x, left.z_of_x, left.x_power, removed);
                continue;
            }
            if (has_bit(pauli.z, b)) multiply_by_zs(left, removed.z);
            if (has_bit(pauli.x, b)) add_bits(left.z, removed.z);
        }
        coordinates.erase(coordinates.begin() + operation.pivot);
    }
    return program;
}

}  // namespace snc
