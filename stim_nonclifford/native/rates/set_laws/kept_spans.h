// Which shots can be kept, where outcomes need no coefficients: an exact test that takes a look-up and few parities.
//
// For given signs of rotations, the outcomes of an elimination are uniform on an affine space (elimination_program.h): those of the path on
// which each fair outcome is 0, and what fair outcomes flip. Checks are linear in outcomes and signature. So a shot can be kept if what
// its signature makes of the checks lies in an affine space that the signs choose. Signs and checks are linear in the signature, too: each
// signature has an *image*, and the image of an XOR is the XOR of the images.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "base/numbered_rows.h"
#include "plan/plan.h"

namespace snc {

class KeptSpans {
   public:
    // Nothing if outcomes need coefficients, or decide on signs.
    static std::optional<KeptSpans> of(const Plan& plan);

    uint32_t image_words() const { return sign_words_ + check_words_; }
    void image_of(const uint64_t* signature, uint64_t* image) const;

    // What is known of the signs that came up. One for each thread.
    class Memory {
       public:
        explicit Memory(const KeptSpans& spans) : signs_(spans.sign_words_) {}

       private:
        friend class KeptSpans;
        NumberedRows signs_;
        std::vector<size_t> ends_;        // for each number of signs, the end of its parities
        std::vector<uint64_t> offsets_;   // for each number of signs, [check_words]: checks of the path on which fair outcomes are 0
        std::vector<uint64_t> parities_;  // [parities][check_words]: checks are in a span if all of these are even
    };
    // Whether shots with a signature of this image can be kept.
    bool can_be_kept(const uint64_t* image, Memory& memory) const {
        const uint32_t number = memory.signs_.number_of(image);
        if (number == memory.ends_.size()) [[unlikely]] return can_be_kept_with(add_span(image, memory), image, memory);
        return can_be_kept_with(number, image, memory);
    }

   private:
    KeptSpans(const Plan& plan, std::shared_ptr<const EliminationProgram> program) : plan_(plan), program_(std::move(program)) {}

    bool can_be_kept_with(uint32_t number, const uint64_t* image, const Memory& memory) const {
        const uint64_t* const checks = image + sign_words_;
        const uint64_t* const offset = memory.offsets_.data() + size_t{number} * check_words_;
        const size_t first = number == 0 ? 0 : memory.ends_[number - 1];
        for (const uint64_t *parity = memory.parities_.data() + first * check_words_,
                            *end = memory.parities_.data() + memory.ends_[number] * check_words_;
             parity != end; parity += check_words_) {
            uint64_t common = 0;
            for (uint32_t w = 0; w < check_words_; ++w) common ^= (checks[w] ^ offset[w]) & parity[w];
            if (__builtin_parityll(common) != 0) return false;
        }
        return true;
    }
    // Returns the number of the signs.
    uint32_t add_span(const uint64_t* signs, Memory& memory) const;

    const Plan& plan_;
    std::shared_ptr<const EliminationProgram> program_;
    std::vector<uint32_t> signs_;    // bits of the branch row that choose Clifford gates
    std::vector<uint32_t> checks_;   // bits of the branch row that must be 0 after all outcomes
    std::vector<uint64_t> effects_;  // [measurements][check_words]: the checks that an outcome flips
    uint32_t sign_words_ = 0, check_words_ = 0;
};

}  // namespace snc
