// The operations of a plan on *virtual qubits*, for plans whose rotations are all diagonal.
//
// Each ACTIVATE has a qubit, which starts in |+> and is never removed. A coordinate of the index is a pair of Paulis (X, Z) on them; at
// first those of its qubit. A MEASURE of P removes the coordinate q of its pivot, and multiplies the pairs of the others by those of q
// so that they commute with P and have the same algebra:
//     X_b -> X_b Z_q where P has a Z on b, Z_b -> Z_b Z_q where it has an X on b, if P has an X on q;
//     X_b -> X_b X_q where it has a Z on b, if P consists of Zs.
// On the part that the plan keeps (pivot bit 0, or the right parity) they act like the old ones on the shorter index. So every operation
// is the same one on virtual qubits, and a measured Pauli commutes with all measured Paulis and with all later rotations.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "algebra/bits.h"
#include "kernels/shared/rotation_term.h"
#include "plan/steps/operation_list.h"

namespace snc {

// exp(-i (1 - 2 b) angle Z^z). b is a bit of the branch row, 0 if `sign` is -1.
struct DiagonalRotation {
    Bits z;
    double cosine, sine;              // of the angle
    std::optional<uint32_t> eighths;  // the angle as a multiple of π/8, modulo 8, if it is one: T has 1, S has 2 and Z has 4
    int32_t sign;
    uint32_t operation;
};

// The Pauli i^i_power X^x Z^z.
struct VirtualMeasurement {
    Bits x, z;
    uint32_t i_power;
    uint32_t operation;
    size_t end_rotation;  // the number of rotations before it
};

struct VirtualProgram {
    uint32_t num_qubits = 0;
    std::vector<DiagonalRotation> rotations;
    std::vector<VirtualMeasurement> measurements;
};

// The first operation that is neither a diagonal rotation nor an activation in |+> nor a MEASURE; nothing if there is none.
std::optional<uint32_t> first_not_diagonal(const OperationList& operations);

// All operations must be of these kinds.
VirtualProgram on_virtual_qubits(const OperationList& operations, const std::vector<RotationTerm>& terms);

}  // namespace snc
