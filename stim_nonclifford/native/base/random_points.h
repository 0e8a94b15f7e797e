// Random numbers of a stream, one after the other.
#pragma once

#include <cstdint>

#include "kernels/shared/philox.h"

namespace snc {

class Uniform {
   public:
    // From word 4 * quad of a stream on.
    Uniform(uint64_t seed, Stream stream, uint64_t index, uint64_t quad = 0)
        : seed_(seed), stream_(stream), index_(index), used_(words_per_draw * quad) {}
    double operator()() {
        if (used_ % words_per_draw == 0) words_ = random_words(seed_, stream_, index_, used_ / words_per_draw);
        return uniform(words_[used_++ % words_per_draw]);
    }

   private:
    uint64_t seed_;
    Stream stream_;
    uint64_t index_, used_;
    DrawnWords words_{};
};

}  // namespace snc
