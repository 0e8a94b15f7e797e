// Rotations of the coefficient vector, one by one or in groups.
//
// Included by kernels_isa.cc, once per instruction set, inside its namespace.
#pragma once

#include <algorithm>
#include <bit>
#include <span>

#include "cpu/complex_block.h"
#include "cpu/kernels.h"

namespace snc::SNC_ISA {

// A rotation as a pass applies it: the new amplitude is cosine (which is 1 if `unit`) times the old one plus f times the partner's
// one, times i unless `real`; `exchanges` permutes the partner's lanes.
template <bool real, bool exchanges, bool unit>
struct Turning {
    Block cosine;
    LaneExchange partner;

    ComplexBlock operator()(const ComplexBlock& own, const ComplexBlock& other, const Block& f) const {
        const ComplexBlock from = exchanges ? exchanged(other, partner) : other;
        return (unit ? own : cosine * own) + times(real, f, from);
    }
};

// Blocks a and a ^ x are partners. The factor `signs` has an extra sign where a & z is odd if `has_signs`.
template <bool has_signs, typename Turn>
inline void rotate_pairs(double* vector, uint64_t blocks, uint64_t x, uint64_t z, Block signs, const Turn& turn) {
    const int top = highest_bit(x);
    const Block signs_of_b = odd(x & z) ? -signs : signs;
    for (uint64_t r = 0; r < blocks / 2; ++r) {
        const uint64_t a = insert_zero(r, top), b = a ^ x;
        Block f_a = signs_of_b, f_b = signs;
        if constexpr (has_signs) {
            const double sign = sign_of(a & z);
            f_a *= sign;
            f_b *= sign;
        }
        const ComplexBlock v_a = complex_at(vector, a), v_b = complex_at(vector, b);
        put_complex(vector, a, turn(v_a, v_b, f_a));
        put_complex(vector, b, turn(v_b, v_a, f_b));
    }
}

inline void rotate(double* vector, const VectorRotation& rotation) {
    // A vector with fewer coefficients than a block has lanes is a part of one block.
    const uint64_t blocks = uint64_t{1} << (std::max<int>(rotation.width, lane_bits) - lane_bits);
    const uint64_t x = rotation.x >> lane_bits, z = rotation.z >> lane_bits;
    const PowerOfI factor = power_of_i(rotation.sine, rotation.i_power + 3);  // -i sin P
    const Block signs = lane_signs(rotation.x, rotation.z) * factor.value, cosine = all(rotation.cosine);
    const LaneExchange partner(rotation.x);
    // Decisions that are the same for all blocks are taken here.
    with_flag(factor.real, [&](auto real) {
        with_flag((rotation.x & (lanes - 1)) != 0, [&](auto exchanges) {
            if (x == 0) {  // partners lie in the same block
                const Turning<real, exchanges, false> turn{cosine, partner};
                for (uint64_t a = 0; a < blocks; ++a) {
                    const ComplexBlock v = complex_at(vector, a);
                    put_complex(vector, a, turn(v, v, signs * sign_of(a & z)));
                }
                return;
            }
            with_flag(z != 0, [&](auto has_signs) {
                with_flag(rotation.cosine == 1, [&](auto unit) {
                    rotate_pairs<has_signs>(vector, blocks, x, z, signs, Turning<real, exchanges, unit>{cosine, partner});
                });
            });
        });
    });
}

// The rotations of a group (rotation_groups.h), one after the other, of a vector of `mixed` blocks or more: those that they mix
// go through the registers once for all of them.
class GroupKernel {
   public:
    explicit GroupKernel(std::span<const VectorRotation> rotations)
        : size_(rotations.size()), bits_(rotations.front().width - lane_bits) {
        // Masks with different highest bits, each set in one mask only. Where rotations need fewer than a group has, the others are
        // arbitrary.
        size_t count = 0;
        const auto add = [&](uint64_t mask) {
            for (size_t j = 0; j < count; ++j) mask = std::min(mask, mask ^ masks_[j]);
            if (mask == 0) return;
            for (size_t j = 0; j < count; ++j) masks_[j] = std::min(masks_[j], masks_[j] ^ mask);
            masks_[count++] = mask;
        };
        for (const VectorRotation& rotation : rotations) add(rotation.x >> lane_bits);
        for (uint64_t bit = 1; count < max_group_masks; bit *= 2) add(bit);
        for (size_t k = 0; k < size_; ++k) {
            const VectorRotation& rotation = rotations[k];
            Turn& turn = turns_[k];
            const uint64_t x = rotation.x >> lane_bits;
            while (turn.element < mixed - 1 && sum_of(turn.element) != x) ++turn.element;
            turn.z = rotation.z >> lane_bits;
            turn.cosine = all(rotation.cosine);
            turn.exchanges = (rotation.x & (lanes - 1)) != 0;
            turn.partner = LaneExchange(rotation.x);
            const PowerOfI factor = power_of_i(rotation.sine, rotation.i_power + 3);  // -i sin P
            turn.is_real = factor.real;
            const Block plus = lane_signs(rotation.x, rotation.z) * factor.value;
            for (uint32_t block = 0; block < mixed; ++block) {
                const bool minus = odd(sum_of(block ^ turn.element) & turn.z);
                turn.factors[minus][block] = plus;
                turn.factors[!minus][block] = -plus;
            }
            is_unit_ = is_unit_ && rotation.cosine == 1;
        }
    }

    void apply(double* vector) const {
        with_flag(is_unit_, [&](auto unit) { apply<unit>(vector); });
    }

   private:
    static constexpr uint32_t mixed = 1U << max_group_masks;
    static constexpr int parities_at = 64 - static_cast<int>(max_group_size);

    struct Turn {
        uint32_t element = 0;  // the rotation mixes block b with block b ^ element
        bool is_real, exchanges;
        uint64_t z;
        Block cosine;
        LaneExchange partner;
        // The factor of the other block, for each mixed block and for both parities of the first block.
        Block factors[2][mixed];
    };

    uint64_t sum_of(uint32_t element) const {
        uint64_t sum = 0;
        for (uint32_t j = 0; j < max_group_masks; ++j)
            if ((element >> j & 1) != 0) sum ^= masks_[j];
        return sum;
    }

    template <bool unit>
    void apply(double* vector) const {
        // The place of a block in the vector, and in the bits above, the rotations that it reverses.
        const auto column = [&](uint64_t block) {
            uint64_t sum = 2 * lanes * block;
            for (size_t k = 0; k < size_; ++k) sum |= uint64_t{odd(block & turns_[k].z)} << (parities_at + static_cast<int>(k));
            return sum;
        };
        constexpr uint64_t places = (uint64_t{1} << parities_at) - 1;
        uint64_t offsets[mixed], pivots = 0;
        for (uint32_t block = 0; block < mixed; ++block) offsets[block] = 2 * lanes * sum_of(block);
        for (const uint64_t mask : masks_) pivots |= std::bit_floor(mask);
        BlockWalk walk(bits_, pivots, [&](int bit) { return column(uint64_t{1} << bit); });
        for (uint64_t r = 0; r < uint64_t{1} << (bits_ - static_cast<int>(max_group_masks)); ++r) {
            const uint64_t first = walk.now() & places;
            ComplexBlock blocks[mixed];
#pragma GCC unroll 8
            for (uint32_t j = 0; j < mixed; ++j) blocks[j] = complex_at(vector + (first ^ offsets[j]), 0);
            uint64_t parities = walk.now() >> parities_at;
            for (size_t k = 0; k < size_; ++k, parities >>= 1) turn_all<unit>(blocks, turns_[k], parities & 1);
#pragma GCC unroll 8
            for (uint32_t j = 0; j < mixed; ++j) put_complex(vector + (first ^ offsets[j]), 0, blocks[j]);
            walk.advance(r);
        }
    }

    // Constants keep the blocks in registers.
    template <bool unit>
    [[gnu::always_inline]] static void turn_all(ComplexBlock (&blocks)[mixed], const Turn& turn, uint64_t parity) {
        static_assert(mixed == 8);
        switch (turn.element) {
            case 0: return turn_all<unit, 0>(blocks, turn, parity);
            case 1: return turn_all<unit, 1>(blocks, turn, parity);
            case 2: return turn_all<unit, 2>(blocks, turn, parity);
            case 3: return turn_all<unit, 3>(blocks, turn, parity);
            case 4: return turn_all<unit, 4>(blocks, turn, parity);
            case 5: return turn_all<unit, 5>(blocks, turn, parity);
            case 6: return turn_all<unit, 6>(blocks, turn, parity);
            default: return turn_all<unit, 7>(blocks, turn, parity);
        }
    }
    template <bool unit, uint32_t element>
    [[gnu::always_inline]] static void turn_all(ComplexBlock (&blocks)[mixed], const Turn& turn, uint64_t parity) {
        if (turn.exchanges)
            turn.is_real ? turn_all<unit, element, true, true>(blocks, turn, parity)
                         : turn_all<unit, element, true, false>(blocks, turn, parity);
        else
            turn.is_real ? turn_all<unit, element, false, true>(blocks, turn, parity)
                         : turn_all<unit, element, false, false>(blocks, turn, parity);
    }
    template <bool unit, uint32_t element, bool exchanges, bool is_real>
    [[gnu::always_inline]] static void turn_all(ComplexBlock (&blocks)[mixed], const Turn& turn, uint64_t parity) {
        const auto& factors = turn.factors[parity];
        const auto& minus_factors = turn.factors[1 - parity];
        const auto turned = [&](const ComplexBlock& own, const ComplexBlock& partner, uint32_t j) -> ComplexBlock {
            const ComplexBlock other = exchanges ? exchanged(partner, turn.partner) : partner;
            const ComplexBlock scaled = unit ? own : turn.cosine * own;
            if constexpr (is_real)
                return {fused(factors[j], other.re, scaled.re), fused(factors[j], other.im, scaled.im)};
            else
                return {fused(minus_factors[j], other.im, scaled.re), fused(factors[j], other.re, scaled.im)};
        };
#pragma GCC unroll 8
        for (uint32_t j = 0; j < mixed; ++j) {
            const uint32_t partner = j ^ element;
            if (partner < j) continue;
            const ComplexBlock own = blocks[j], other = blocks[partner];
            blocks[j] = turned(own, other, j);
            if (partner != j) blocks[partner] = turned(other, own, partner);
        }
    }

    size_t size_;
    int bits_;
    uint64_t masks_[max_group_masks] = {};
    bool is_unit_ = true;
    Turn turns_[max_group_size];
};

inline void rotate_group(double* vector, std::span<const VectorRotation> rotations) { GroupKernel(rotations).apply(vector); }

}  // namespace snc::SNC_ISA
