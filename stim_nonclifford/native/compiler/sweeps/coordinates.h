// The coordinates of a patch (compiler/sweeps/patches.py): the state of its qubits is U |v, 0> with a Clifford U, and a Pauli P of
// the circuit is the Pauli U^-1 P U of the coordinates.
#pragma once

#include <cstdint>
#include <vector>

#include "algebra/pauli_columns.h"
#include "compiler/program/program.h"

namespace snc {

// The images U^-1 P U of the generators. A gate of the circuit combines rows, a change of coordinates combines columns: the
// table is stored in the way that suits what is done next.
class CoordinateTable {
   public:
    explicit CoordinateTable(size_t num_qubits);

    // The image of a Pauli on the qubits of the patch, which are numbered from 0.
    Pauli image(Factors factors) const;
    // The Pauli of the circuit whose image is the X or Z (a code) of a coordinate, up to its sign; ascending.
    std::vector<QubitPauli> inverse_image(size_t coordinate, uint32_t code) const;
    void apply(const GateTables& gate, std::span<const uint32_t> qubits);  // groups of targets, one after the other
    void apply_pauli(QubitPauli factor);
    void change(const CoordinateChange& change);

   private:
    template <typename QubitAt>
    Pauli image(Factors factors, QubitAt qubit_at) const;
    Pauli row(size_t number) const;
    void flip_sign(size_t number);
    void store_by_rows() const;
    void store_by_columns();

    const size_t num_qubits_;
    // Reading may change how the table is stored.
    mutable bool is_by_rows_ = true;
    mutable std::vector<Pauli> rows_;  // images of X on each qubit, then those of Z
    mutable PauliColumns columns_;
    mutable size_t num_read_ = 0;  // rows read from columns since these were changed
};

// Rotations that wait until a measurement needs them, in the order of the circuit. They are numbered in this order; a set
// of rotations is valid until the next rotation is added.
class DeferredRotations {
   public:
    explicit DeferredRotations(size_t num_coordinates) : columns_(num_coordinates) {}

    size_t size() const { return size_; }
    int64_t step(size_t number) const { return steps_[number]; }
    std::vector<int64_t> steps(const Bits& rotations) const;
    void add(int64_t step, const Pauli& pauli);  // after all others
    void remove(size_t number);
    Pauli pauli(size_t number) const { return columns_.row(number); }
    Bits anticommuting(const Pauli& pauli) const { return common_bits(columns_.anticommuting(pauli), waiting_); }
    // The rotations with an X part on a coordinate, and those with a Z part.
    Bits with_x(size_t coordinate) const { return common_bits(columns_.with_x(coordinate), waiting_); }
    Bits with_z(size_t coordinate) const { return common_bits(columns_.with_z(coordinate), waiting_); }
    // Those that do not commute with a measured Pauli, or with a later one that is needed itself.
    Bits needed_by(const Pauli& pauli) const;
    // How many of the coordinates the rotations would activate, and one more about `also`: the rank of the X parts of their
    // Paulis. Counts up to the limit.
    size_t num_activated_by(const Bits& rotations, const Bits& coordinates, size_t limit, const Pauli* also = nullptr) const;
    void change(const CoordinateChange& change);

   private:
    void append(int64_t step, const Pauli& pauli);
    void forget_all();

    PauliColumns columns_;
    std::vector<int64_t> steps_;
    std::vector<Bits> before_;  // for each number, the earlier rotations that do not commute with it
    Bits waiting_;
    size_t size_ = 0;
};

}  // namespace snc
