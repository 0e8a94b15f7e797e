// Fast rejection test: most signatures with which no shot is kept, where laws are sums over insertions (insertion_laws.h).
//
// The checks ask for some outcomes. A shot has them only if some of the insertions that its signature makes possible turn them
// into the certain ones: if they lie in the span of what these insertions flip. Which insertions are possible depends on the signs
// that the signature reverses. Both signs and outcomes are linear in the signature; so each signature has an *image*, the image of
// an XOR is the XOR of the images, and what matters of an image is a look-up of its signs, and a few parities of its outcomes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "base/numbered_rows.h"
#include "rates/set_laws/insertion_laws.h"

namespace snc {

class KeptSpans {
   public:
    // Nothing if outcomes that no check determines reverse signs.
    static std::optional<KeptSpans> of(const InsertionLaws& laws);

    uint32_t image_words() const { return sign_words_ + 1 + rest_words_; }
    void image_of(const uint64_t* signature, uint64_t* image) const;

    // What is known of the signs that came up. One for each thread.
    class Memory {
       public:
        explicit Memory(const KeptSpans& spans) : signs_(spans.sign_words_) {}

       private:
        friend class KeptSpans;
        struct Span {
            uint64_t offset;        // what insertions that are certain flip
            size_t first_parity, end_parity;
        };
        NumberedRows signs_;
        std::vector<Span> spans_;         // for each number of signs
        std::vector<uint64_t> parities_;  // outcomes are in a span if all of these are even
    };
    // Whether a shot with a signature of this image may be kept; false is certain.
    bool may_be_kept(const uint64_t* image, Memory& memory) const {
        for (uint32_t w = 0; w < rest_words_; ++w)
            if (image[sign_words_ + 1 + w] != 0) return false;
        uint32_t number = memory.signs_.number_of(image);
        if (number == memory.spans_.size()) [[unlikely]] number = add_span(image, memory);
        const Memory::Span& span = memory.spans_[number];
        const uint64_t outcomes = image[sign_words_] ^ span.offset;
        for (size_t k = span.first_parity; k < span.end_parity; ++k)
            if (__builtin_parityll(outcomes & memory.parities_[k]) != 0) return false;
        return true;
    }

   private:
    explicit KeptSpans(const InsertionLaws& laws) : laws_(laws) {}

    // Returns the number of the signs.
    uint32_t add_span(const uint64_t* signs, Memory& memory) const;

    InsertionLaws laws_;
    std::vector<uint32_t> signs_;  // bits of the branch row that reverse angles
    std::vector<uint32_t> rest_;   // bits of the branch row that are checks which no outcome fixes
    uint32_t sign_words_ = 0, rest_words_ = 0;
};

}  // namespace snc
