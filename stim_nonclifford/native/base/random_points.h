// Random points on an axis.
#pragma once

#include <cmath>
#include <cstdint>

#include "base/interruption.h"
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

// Random points on an axis, on average one for each spacing.
class PoissonPoints {
   public:
    PoissonPoints(Uniform numbers, double spacing) : numbers_(numbers), spacing_(spacing) { next(); }
    // Advances by a length. Returns the number of points on the way.
    uint32_t pass(double length, Looks& look) {
        uint32_t points = 0;
        for (left_ -= length; left_ < 0; next()) {
            ++points;
            look();
        }
        return points;
    }

    double uniform() { return numbers_(); }

   private:
    void next() { left_ -= spacing_ * std::log1p(-numbers_()); }

    Uniform numbers_;
    double spacing_, left_ = 0;
};

}  // namespace snc
