// Pauli products on coordinates, and the Clifford gates that change the coordinates.
#pragma once

#include <cstdint>
#include <vector>

#include "algebra/bits.h"

namespace snc {

// A product of Paulis, with Y for a coordinate in x and in z.
struct Pauli {
    Bits x, z;
    bool is_negative = false;
};

// i^power times a product of Paulis: what products of anticommuting Paulis are.
class PauliProduct {
   public:
    void multiply_by(const Pauli& right);
    void multiply_by_i() { power_ += 1; }
    // The product, which must be Hermitian.
    Pauli hermitian() && { return {std::move(x_), std::move(z_), (power_ & 2) != 0}; }

   private:
    Bits x_, z_;
    uint32_t power_ = 0;
};

enum class CoordinateGate : uint8_t { x, h, s, s_dag, cx, cz };

// Gates on coordinates, one after the other. A Pauli P becomes G P G^-1.
class CoordinateChange {
   public:
    struct Gate {
        CoordinateGate kind;
        size_t on, target;
    };

    void add(CoordinateGate kind, size_t on, size_t target = 0) { gates_.push_back({kind, on, target}); }
    const std::vector<Gate>& gates() const { return gates_; }
    bool is_negative_after(const Pauli& pauli) const;

   private:
    std::vector<Gate> gates_;
};

// Many Paulis, the rows, stored by coordinate, so that a gate takes few operations.
class PauliColumns {
   public:
    explicit PauliColumns(size_t num_coordinates = 0) : x_(num_coordinates), z_(num_coordinates) {}

    size_t num_coordinates() const { return x_.size(); }
    // The rows with an X part on a coordinate, and those with a Z part.
    const Bits& with_x(size_t coordinate) const { return x_[coordinate]; }
    const Bits& with_z(size_t coordinate) const { return z_[coordinate]; }
    Pauli row(size_t number) const;
    // Takes the difference (up to its sign) into the row.
    void replace_row(size_t number, const Pauli& before, const Pauli& after);
    void add_row(size_t number, const Pauli& pauli) { replace_row(number, {}, pauli); }  // in place of 1
    void flip_sign(size_t number) { flip_bit(negative_, number); }
    // The rows that do not commute with a Pauli.
    Bits anticommuting(const Pauli& pauli) const;
    void apply(const CoordinateChange& change);
    void clear();

    // Between columns and rows.
    static PauliColumns of(const std::vector<Pauli>& rows, size_t num_coordinates);
    std::vector<Pauli> rows(size_t num_rows) const;

   private:
    std::vector<Bits> x_, z_;
    Bits negative_;
};

}  // namespace snc
