// Rotations of the coefficient vector, one by one or in groups.
//
// Included by kernels_isa.cc, once per instruction set, inside its namespace.
#pragma once

#include <algorithm>
#include <bit>
#include <span>

#include "algebra/mask_span.h"
#include "cpu/complex_block.h"
#include "cpu/kernels.h"

namespace snc::SNC_ISA {

// A rotation as it acts on blocks: a and a ^ x are partners. The new amplitude is the cosine times the old one plus f times that of the
// partner, whose lanes are exchanged, too.
class Turning {
   public:
    // What is the same for all blocks: a kind of rotations, as a number below `kinds`.
    static constexpr uint32_t kinds = 8;

    Turning() = default;
    explicit Turning(const VectorRotation& rotation)
        : x(rotation.x >> lane_bits), z(rotation.z >> lane_bits), cosine_(all(rotation.cosine)), partner_(rotation.x) {
        const PowerOfI factor = power_of_i(rotation.sine, rotation.i_power + 3);  // -i sin P
        factor_ = lane_signs(rotation.x, rotation.z) * factor.value;
        kind = (factor.real ? is_real : 0) | ((rotation.x & (lanes - 1)) != 0 ? exchanges : 0) | (rotation.cosine == 1 ? is_unit : 0);
    }

    // f, where the partner's number is even or odd with z.
    Block factor(bool is_odd) const { return is_odd ? -factor_ : factor_; }

    // What becomes of a block, by f and by -f.
    template <uint32_t kind>
    [[gnu::always_inline]] ComplexBlock turned(const ComplexBlock& own, const ComplexBlock& other, const Block& f, const Block& minus) const {
        const ComplexBlock from = (kind & exchanges) != 0 ? exchanged(other, partner_) : other;
        const ComplexBlock to = (kind & is_unit) != 0 ? own : cosine_ * own;
        if constexpr ((kind & is_real) != 0)
            return {fused(f, from.re, to.re), fused(f, from.im, to.im)};
        else
            return {fused(minus, from.im, to.re), fused(f, from.re, to.im)};
    }

    uint64_t x, z;
    uint32_t kind;

   private:
    static constexpr uint32_t is_real = 1, exchanges = 2, is_unit = 4;

    Block cosine_, factor_;
    LaneExchange partner_;
};

inline void rotate_once(double* vector, const VectorRotation& rotation) {
    // A vector with fewer coefficients than a block has lanes is a part of one block.
    const uint64_t blocks = uint64_t{1} << (std::max<int>(rotation.width, lane_bits) - lane_bits);
    const Turning turning(rotation);
    const uint64_t x = turning.x, z = turning.z;
    const int top = highest_bit(x);
    const Block factors[] = {turning.factor(false), turning.factor(true), turning.factor(false)};
    with_number<Turning::kinds>(turning.kind, [&](auto kind) {
        const auto turned = [&](const ComplexBlock& own, const ComplexBlock& other, uint64_t partner) {
            const Block* f = factors + odd(partner & z);
            return turning.turned<kind>(own, other, f[0], f[1]);
        };
        for (uint64_t a = 0; x == 0 && a < blocks; ++a) {
            const ComplexBlock v = complex_at(vector, a);
            put_complex(vector, a, turned(v, v, a));
        }
        for (uint64_t r = 0; x != 0 && r < blocks / 2; ++r) {
            const uint64_t a = insert_zero(r, top), b = a ^ x;
            const ComplexBlock v_a = complex_at(vector, a), v_b = complex_at(vector, b);
            put_complex(vector, a, turned(v_a, v_b, b));
            put_complex(vector, b, turned(v_b, v_a, a));
        }
    });
}

// The blocks that are in registers together.
constexpr uint32_t mixed = 1U << max_group_masks;

// A rotation of a group: blocks b and b ^ element of those in registers are partners. Its factors for each of the partners, if the
// number of the first block is even or odd with z.
struct GroupTurn {
    Turning turning;
    uint32_t element = 0;
    Block factors[2][mixed];

    // Constants keep the blocks in registers.
    template <uint32_t element, uint32_t kind>
    [[gnu::always_inline]] void apply(ComplexBlock (&blocks)[mixed], bool is_odd) const {
        const auto &f = factors[is_odd], &minus = factors[!is_odd];
#pragma GCC unroll 8
        for (uint32_t j = 0; j < mixed; ++j) {
            const uint32_t k = j ^ element;
            if (k < j) continue;
            const ComplexBlock own = blocks[j], other = blocks[k];
            blocks[j] = turning.turned<kind>(own, other, f[k], minus[k]);
            if (k != j) blocks[k] = turning.turned<kind>(other, own, f[j], minus[j]);
        }
    }
};

// Applies the rotations of a group (rotation_groups.h) one after the other to a vector of `mixed` blocks or more: those that they
// mix go through the registers once for all of them.
inline void rotate_group(double* vector, std::span<const VectorRotation> rotations) {
    constexpr int parities_at = 64 - static_cast<int>(max_group_size);
    GroupTurn turns[max_group_size];
    MaskSpan span;
    for (size_t k = 0; k < rotations.size(); ++k) {
        turns[k].turning = Turning(rotations[k]);
        turns[k].element = span.add(turns[k].turning.x);
    }
    // Where rotations need fewer masks than a group has, the others are arbitrary.
    for (uint64_t bit = 1; span.size() < max_group_masks; bit *= 2) span.add(bit);
    uint64_t sums[mixed] = {}, pivots = 0, columns[64];
    for (uint32_t j = 0; j < max_group_masks; ++j) {
        pivots |= std::bit_floor(span.generators()[j]);
        for (uint32_t e = 0; e < 1U << j; ++e) sums[e | 1U << j] = sums[e] ^ span.generators()[j];
    }
    // The place of a block in the vector, and in the bits above, the rotations whose z it is odd with.
    const int bits = rotations.front().width - lane_bits;
    for (int bit = 0; bit < bits; ++bit) columns[bit] = 2 * lanes << bit;
    for (size_t k = 0; k < rotations.size(); ++k) {
        const Turning& turning = turns[k].turning;
        for (uint32_t e = 0; e < 2 * mixed; ++e)
            turns[k].factors[e / mixed][e % mixed] = turning.factor(odd(sums[e % mixed] & turning.z) != (e >= mixed));
        for (int bit = 0; bit < bits; ++bit) columns[bit] |= (turning.z >> bit & 1) << (parities_at + static_cast<int>(k));
    }
    BlockWalk walk(columns, bits, pivots);
    for (uint64_t r = 0; r < uint64_t{1} << (bits - static_cast<int>(max_group_masks)); walk.advance(r++)) {
        const uint64_t first = walk.now() << max_group_size >> max_group_size;
        const auto at = [&](uint32_t j) { return vector + (first ^ 2 * lanes * sums[j]); };
        uint64_t parities = walk.now() >> parities_at;
        ComplexBlock blocks[mixed];
#pragma GCC unroll 8
        for (uint32_t j = 0; j < mixed; ++j) blocks[j] = complex_at(at(j), 0);
        for (const GroupTurn& turn : std::span(turns, rotations.size())) {
            with_number<mixed>(turn.element, [&](auto element) __attribute__((always_inline)) {
                with_number<Turning::kinds>(turn.turning.kind, [&](auto kind) __attribute__((always_inline)) {
                    turn.apply<element, kind>(blocks, (parities & 1) != 0);
                });
            });
            parities /= 2;
        }
#pragma GCC unroll 8
        for (uint32_t j = 0; j < mixed; ++j) put_complex(at(j), 0, blocks[j]);
    }
}

inline void rotate(double* vector, std::span<const VectorRotation> rotations) {
    rotations.size() == 1 ? rotate_once(vector, rotations.front()) : rotate_group(vector, rotations);
}

}  // namespace snc::SNC_ISA
