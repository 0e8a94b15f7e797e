// The masks that are sums (over GF(2)) of a few masks.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace snc {

class MaskSpan {
   public:
    // A mask as a sum of generators, whose numbers are the bits of `generators`, and of a rest.
    struct Sum {
        uint64_t rest;
        uint32_t generators;
    };

    // Linearly independent, with different highest bits.
    const std::vector<uint64_t>& generators() const { return generators_; }
    size_t size() const { return generators_.size(); }

    // The rest has none of the generators' highest bits.
    Sum as_sum(uint64_t mask) const {
        Sum sum{mask, 0};
        // A generator has none of the highest bits of those before it.
        for (size_t j = 0; j < generators_.size(); ++j)
            if ((sum.rest & std::bit_floor(generators_[j])) != 0) {
                sum.rest ^= generators_[j];
                sum.generators ^= 1U << j;
            }
        return sum;
    }
    bool contains(uint64_t mask) const { return as_sum(mask).rest == 0; }
    // Whether the span contains the mask, or would with at most this many generators.
    bool has_room_for(uint64_t mask, size_t max_size) const { return size() < max_size || contains(mask); }

    // Adds the mask, if the span does not contain it. Returns the generators whose sum it is.
    uint32_t add(uint64_t mask) {
        Sum sum = as_sum(mask);
        if (sum.rest != 0) {
            sum.generators |= 1U << size();
            generators_.push_back(sum.rest);
        }
        return sum.generators;
    }

   private:
    std::vector<uint64_t> generators_;
};

}  // namespace snc
