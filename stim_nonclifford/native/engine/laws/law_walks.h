// Looks up the outcomes of shots in the store. Several shots advance in turn, one step each, so that the others go on while one
// waits for memory.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "engine/laws/law_store.h"
#include "kernels/shared/philox.h"

namespace snc {

class LawWalks {
   public:
    // The number of shots that advance in turn.
    static constexpr size_t max_shots = 32;
    struct Shot {
        std::span<const uint64_t> signature;
        uint64_t number;
    };

    LawWalks(LawStore& store, const Plan& plan);

    // Sets leaves[k] to the leaf of shots[k], or to `none` where it is not known.
    void find(std::span<const Shot> shots, uint64_t seed, std::span<LawStore::Ref> leaves);

   private:
    using Ref = LawStore::Ref;
    struct Walk {
        bool is_zero = false;  // whether the signature is 0
        OutcomeDecisions decisions{0, 0, true};
        Ref place = Ref::none;
    };
    // Stores the leaf of signature 0 that was reached.
    void note(const Walk& walk);

    LawStore& store_;
    const bool separate_draws_;
    // Where rounding could matter, each decision is taken separately.
    const double margin_;
    std::array<Walk, max_shots> walks_;
};

}  // namespace snc
