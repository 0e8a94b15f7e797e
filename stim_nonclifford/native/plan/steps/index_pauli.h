// Paulis over the active coordinates of a plan, of which there may be more than a coefficient index has bits.
#pragma once

#include <algorithm>
#include <cstddef>

#include "algebra/bits.h"

namespace snc {

// The Pauli |index> -> (-1)^|index & z| |index ^ x>, without its phase. Those of a plan have the same number of words.
struct IndexPauli {
    Bits x, z;

    bool operator==(const IndexPauli&) const = default;

    bool is_diagonal() const { return is_empty(x); }
    bool anticommutes(const IndexPauli& other) const { return is_odd_overlap(x, other.z) != is_odd_overlap(z, other.x); }
    // The bits among which a measurement has its pivot.
    const Bits& pivots() const { return is_diagonal() ? z : x; }
    // Whether it has an X on the pivot of a measured Pauli, or a Z, if that consists of Zs.
    bool has_pivot(const IndexPauli& measured, size_t pivot) const { return has_bit(measured.is_diagonal() ? z : x, pivot); }

    // Takes out the coordinate that a measurement removes. What has the pivot is multiplied by the measured Pauli, which is a number now.
    void measure(const IndexPauli& measured, size_t pivot) {
        if (has_pivot(measured, pivot)) {
            add_bits(x, measured.x);
            add_bits(z, measured.z);
        }
        close_gap(x, pivot);
        close_gap(z, pivot);
    }
};

}  // namespace snc
