// Products of deferred phases, in the form in which the CPU's kernels apply them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "algebra/mask_span.h"

namespace snc {

// A deferred rotation about (-1)^|index & z|. A slot holds its angle, which depends on the shot.
struct Phase {
    uint32_t slot;
    uint64_t z;
};

// The product of many phases, as a function of the index. A *group* of phases has a table with one row for each
// value of a few parities of the index, and in it one entry for each of the lanes, the low bits of the index.
struct PhaseProduct {
    struct Factor {
        uint32_t slot;      // of the phase
        uint32_t parities;  // which of the earlier parities enter its sign
        bool adds_parity;   // whether a new parity enters its sign too
        uint64_t z;
    };
    static constexpr size_t max_groups = 8;

    std::vector<std::vector<Factor>> groups;
    std::vector<uint32_t> num_rows;  // of each group
    uint32_t total_rows = 0;
    // For each bit of a block's number the parities that it flips, eight bits for each group.
    std::vector<uint64_t> columns;
};

// Collects phases of vectors of a width.
class PhaseProductBuilder {
   public:
    explicit PhaseProductBuilder(int32_t width);

    // Returns false if there is no room for it.
    bool add(const Phase& phase);
    // At least one group: the empty product is 1.
    PhaseProduct product();

   private:
    struct Group {
        std::vector<PhaseProduct::Factor> factors;
        MaskSpan masks;  // of the parities, over blocks
    };

    static void add_with_parity(Group& group, const Phase& phase, uint64_t mask);

    int32_t block_bits_, max_parities_;
    std::vector<Group> groups_;
};

}  // namespace snc
