// Looks up the outcomes of shots in the store. Several shots advance in turn, one step each, so that the others go on while one
// waits for memory.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "kernels/philox.h"
#include "laws/law_store.h"

namespace snc {

class LawWalks {
   public:
    // The number of shots that advance in turn.
    static constexpr size_t max_shots = 32;
    struct Shot {
        std::span<const uint64_t> signature;
        uint64_t number;
    };

    LawWalks(LawStore& store, uint32_t num_outcomes);

    // Sets leaves[k] to the leaf of shots[k], or to `none` where it is not known.
    void find(std::span<const Shot> shots, uint64_t seed, std::span<LawStore::Ref> leaves);

   private:
    using Ref = LawStore::Ref;
    struct Walk {
        LawStore::Entry entry;
        OutcomeDecisions decisions{0, 0};
        Ref place = Ref::none;
    };
    // Stores a leaf that was reached.
    void note(Walk& walk);

    LawStore& store_;
    // Where rounding could matter, each decision is taken separately.
    const double margin_;
    std::array<Walk, max_shots> walks_;
};

}  // namespace snc
