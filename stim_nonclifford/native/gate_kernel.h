// Gates on a long coefficient vector, pass by pass (gate_passes.h).
//
// Included by kernels_isa.cc, once per instruction set, inside its namespace.
#pragma once

#include "complex_block.h"
#include "rotation_kernel.h"

namespace snc::SNC_ISA {

constexpr size_t block_size = 2 * lanes;  // in doubles

// Where a gate's table has, for one value of the parities, the factor of element `element` at a block of the coset.
inline double* table_entry(double* table, const Gate& gate, uint32_t parities, uint32_t block, uint32_t element) {
    const size_t coset = (size_t{parities} << gate.block_dimension) + block;
    return table + block_size * ((coset << gate.dimension) + element);
}

// What an element of a gate flips.
inline uint64_t mask_of(const Gate& gate, uint32_t element) {
    uint64_t mask = 0;
    for (uint32_t j = 0; j < Gate::max_dimension; ++j)
        if ((element >> j & 1) != 0) mask ^= gate.generators[j];
    return mask;
}

// The table of a gate without rotations.
inline void clear_table(double* table, const Gate& gate) {
    std::fill_n(table, gate.table_size(), 0.0);
    for (uint32_t parities = 0; parities < 1U << gate.num_parities; ++parities)
        for (uint32_t block = 0; block < 1U << gate.block_dimension; ++block)
            std::fill_n(table_entry(table, gate, parities, block, 0), lanes, 1.0);
}

// Multiplies a gate with a rotation after it: with cos - i sin P. If P takes coefficient a ^ x to a times f(a), and
// the gate takes the coefficients a ^ g to a times C_g(a), then the product takes a ^ g to a times
// cos C_g(a) - i sin f(a) C_{g ^ x}(a ^ x).
inline void multiply_table(double* table, const Gate& gate, const Gate::Factor& factor, double cosine, double sine,
                           int32_t i_power) {
    const uint32_t blocks = 1U << gate.block_dimension, elements = 1U << gate.dimension;
    const uint32_t other_block = factor.element & (blocks - 1);
    const Phase turned = phase(sine, i_power + 3);
    const Block signs = lane_signs(factor.x, factor.z) * turned.value;
    const LaneExchange partner(factor.x);
    const Block c = all(cosine);
    for (uint32_t parities = 0; parities < 1U << gate.num_parities; ++parities) {
        ComplexBlock old[1 << Gate::max_dimension][1 << Gate::max_dimension];
        for (uint32_t b = 0; b < blocks; ++b)
            for (uint32_t g = 0; g < elements; ++g) old[b][g] = complex_at(table_entry(table, gate, parities, b, g), 0);
        for (uint32_t b = 0; b < blocks; ++b) {
            const uint32_t from = b ^ other_block;
            const Block f = signs * sign_of(parities & factor.parities) * sign_of(from & factor.odd_generators);
            for (uint32_t g = 0; g < elements; ++g) {
                const ComplexBlock& own = old[b][g];
                const ComplexBlock other = exchanged(old[from][g ^ factor.element], partner);
                const ComplexBlock added = turned.real ? ComplexBlock{f * other.re, f * other.im}
                                                       : ComplexBlock{-(f * other.im), f * other.re};
                put_complex(table_entry(table, gate, parities, b, g), 0, {c * own.re + added.re, c * own.im + added.im});
            }
        }
    }
}

// Puts the lanes of the table's entries at each block of a coset into the order of those of the first block: what is
// flipped between the two is exchanged when the block is read, and when it is written.
inline void exchange_table(double* table, const Gate& gate) {
    for (uint32_t parities = 0; parities < 1U << gate.num_parities; ++parities)
        for (uint32_t block = 1; block < 1U << gate.block_dimension; ++block) {
            const LaneExchange partner(mask_of(gate, block));
            for (uint32_t element = 0; element < 1U << gate.dimension; ++element) {
                double* entry = table_entry(table, gate, parities, block, element);
                put_complex(entry, 0, exchanged(complex_at(entry, 0), partner));
            }
        }
}

// A piece of the vector that is copied to where it is worked on: block by block, while something else is calculated.
// Memory and arithmetic are busy at the same time.
class PieceLoad {
   public:
    static constexpr uint64_t chunks = uint64_t{1} << (piece_bits - chunk_bits);
    static constexpr uint64_t chunk_blocks = uint64_t{1} << (chunk_bits - lane_bits);
    static constexpr uint64_t blocks = chunks * chunk_blocks;

    // `offsets` are those of the chunks of a piece from its first one.
    PieceLoad(const double* vector, const uint64_t* offsets) : vector_(vector), offsets_(offsets) {}

    void begin(uint64_t first, double* piece) {
        first_ = first;
        piece_ = piece;
        loaded_ = 0;
    }
    void load(uint64_t count) {
        for (const uint64_t up_to = std::min(loaded_ + count, blocks); loaded_ < up_to; ++loaded_) {
            const double* soon = block(std::min(loaded_ + distance, blocks - 1));
            __builtin_prefetch(soon);
            __builtin_prefetch(soon + lanes);
            put_complex(piece_, loaded_, complex_at(block(loaded_), 0));
        }
    }

   private:
    static constexpr uint64_t distance = 16;

    const double* block(uint64_t index) const {
        const uint64_t chunk = first_ ^ offsets_[index / chunk_blocks];
        return vector_ + block_size * (chunk * chunk_blocks + index % chunk_blocks);
    }

    const double* vector_;
    const uint64_t* offsets_;
    uint64_t first_ = 0, loaded_ = blocks;
    double* piece_ = nullptr;
};

// One gate on a piece of the vector. `state` is the sum of the columns of the bits above the piece. `meanwhile` is
// called for every two cosets.
template <int block_dimension, int dimension, bool exchanges, typename Meanwhile>
inline void apply_gate(double* piece, const Gate& gate, const double* table, uint64_t state, Meanwhile meanwhile) {
    constexpr uint32_t blocks = 1U << block_dimension, elements = 1U << dimension;
    constexpr int bits = piece_bits - lane_bits;
    uint64_t offsets[blocks] = {0};
    int fixed[block_dimension + 1] = {gate.twin_bit};  // bits of which coset r has none: ascending
    for (int j = 0; j < block_dimension; ++j) {
        const uint64_t generator = gate.generators[static_cast<size_t>(j)] >> lane_bits;
        fixed[j + 1] = highest_bit(generator);
        for (uint32_t b = 0; b < 1U << j; ++b) offsets[(1U << j) + b] = offsets[b] ^ generator;
    }
    std::ranges::sort(fixed);
    LaneExchange partners[elements];
    for (uint32_t g = 0; g < elements; ++g) partners[g] = LaneExchange(mask_of(gate, g));
    // From r to r + 1 the trailing ones of r and the 0 before them change.
    uint64_t changes[bits + 1] = {};
    for (int from = 0, k = 0; from < bits; ++from) {
        if (std::ranges::find(fixed, from) != std::end(fixed)) continue;
        changes[k] = gate.columns[static_cast<size_t>(from)] ^ (k > 0 ? changes[k - 1] : 0);
        ++k;
    }
    // Two cosets at a time: they share the table's row.
    for (uint64_t r = 0; r < uint64_t{1} << (bits - block_dimension - 1); ++r) {
        uint64_t first = r;
        for (const int bit : fixed) first = insert_zero(first, bit);
        first ^= offsets[static_cast<uint32_t>(state)];
        const double* row = table + ((state >> 32) << (block_dimension + dimension)) * block_size;
        ComplexBlock old[2][blocks];
#pragma GCC unroll 4
        for (uint32_t b = 0; b < blocks; ++b)
            for (int twin = 0; twin < 2; ++twin) {
                old[twin][b] = complex_at(piece, first ^ offsets[b] ^ (twin == 0 ? 0 : gate.twin));
                if (exchanges && b != 0) old[twin][b] = exchanged(old[twin][b], partners[b]);
            }
        constexpr uint32_t together = blocks < 2 ? 1 : 2;
#pragma GCC unroll 4
        for (uint32_t b = 0; b < blocks; b += together) {
            ComplexBlock sum[2][2];
#pragma GCC unroll 4
            for (uint32_t g = 0; g < elements; ++g) {
#pragma GCC unroll 2
                for (uint32_t k = 0; k < together; ++k) {
                    const ComplexBlock factor = complex_at(row, (b + k) * elements + g);
#pragma GCC unroll 2
                    for (int twin = 0; twin < 2; ++twin) {
                        const ComplexBlock& other = old[twin][(b + k) ^ (g & (blocks - 1))];
                        if (g == 0)
                            sum[k][twin] = factor * other;
                        else
                            sum[k][twin] = fused(factor, g < blocks ? other : exchanged(other, partners[g & ~(blocks - 1)]), sum[k][twin]);
                    }
                }
            }
#pragma GCC unroll 2
            for (uint32_t k = 0; k < together; ++k)
                for (int twin = 0; twin < 2; ++twin)
                    put_complex(piece, first ^ offsets[b + k] ^ (twin == 0 ? 0 : gate.twin),
                                exchanges && b + k != 0 ? exchanged(sum[k][twin], partners[b + k]) : sum[k][twin]);
        }
        state ^= changes[std::countr_one(r)];
        meanwhile();
    }
}

template <typename Meanwhile>
inline void apply_gate(double* piece, const Gate& gate, const double* table, uint64_t state, Meanwhile meanwhile) {
    const bool exchanges = ((gate.generators[0] | gate.generators[1]) & (lanes - 1)) != 0;
    with_flag(exchanges, [&](auto exchange) {
        constexpr bool lanes_too = decltype(exchange)::value;
        switch (3 * gate.dimension + gate.block_dimension) {
            case 0: return apply_gate<0, 0, false>(piece, gate, table, state, meanwhile);
            case 3: return apply_gate<0, 1, true>(piece, gate, table, state, meanwhile);
            case 4: return apply_gate<1, 1, lanes_too>(piece, gate, table, state, meanwhile);
            case 6: return apply_gate<0, 2, true>(piece, gate, table, state, meanwhile);
            case 7: return apply_gate<1, 2, true>(piece, gate, table, state, meanwhile);
            default: return apply_gate<2, 2, lanes_too>(piece, gate, table, state, meanwhile);
        }
    });
}

template <typename From, typename To>
inline void copy_numbers(const From* from, size_t count, To* to) {
    for (size_t k = 0; k < count; k += lanes) store(to + k, load(from + k));
}

// Makes the gates of a pass.
// `rotations` are the factors of the gates that are not fused, in this order, in indices of the pass; `tables` those
// of the others; `pieces` has room for two pieces.
inline void run_pass(double* vector, int32_t width, const GatePass& pass, const VectorRotation* rotations, const double* tables,
                     double* pieces) {
    constexpr size_t chunk_size = size_t{2} << chunk_bits;
    uint64_t offsets[PieceLoad::chunks] = {0}, pivots = 0;
    for (size_t j = 0; j < pass.generators.size(); ++j) {
        pivots |= std::bit_floor(pass.generators[j]);
        for (size_t c = 0; c < size_t{1} << j; ++c) offsets[(size_t{1} << j) + c] = offsets[c] ^ pass.generators[j];
    }
    const auto first_of = [&](uint64_t r) {
        for (uint64_t left = pivots; left != 0; left &= left - 1) r = insert_zero(r, std::countr_zero(left));
        return r;
    };
    uint64_t pairs_of_cosets = 0;
    for (const Gate& gate : pass.gates)
        if (gate.is_fused) pairs_of_cosets += PieceLoad::blocks >> (gate.block_dimension + 1);
    const uint64_t blocks_each = pairs_of_cosets == 0 ? 0 : (PieceLoad::blocks + pairs_of_cosets - 1) / pairs_of_cosets;

    const uint64_t num_pieces = uint64_t{1} << (width - piece_bits);
    PieceLoad load(vector, offsets);
    load.begin(first_of(0), pieces);
    for (uint64_t r = 0; r < num_pieces; ++r) {
        double* const piece = pieces + (r % 2 == 0 ? 0 : block_size * PieceLoad::blocks);
        double* const next = pieces + (r % 2 == 0 ? block_size * PieceLoad::blocks : 0);
        const uint64_t first = first_of(r);
        load.load(PieceLoad::blocks);
        if (r + 1 < num_pieces) load.begin(first_of(r + 1), next);
        const VectorRotation* rotation = rotations;
        const double* table = tables;
        for (const Gate& gate : pass.gates) {
            if (gate.is_fused) {
                uint64_t state = 0;
                for (uint64_t left = first; left != 0; left &= left - 1)
                    state ^= gate.columns[static_cast<size_t>(piece_bits - lane_bits + std::countr_zero(left))];
                apply_gate(piece, gate, table, state, [&] { load.load(blocks_each); });
                table += gate.table_size();
            } else {
                for (const Gate::Factor& factor : gate.factors) rotate(piece, *rotation++, odd(first << piece_bits & factor.z));
            }
        }
        for (uint64_t c = 0; c < PieceLoad::chunks; ++c)
            copy_numbers(piece + c * chunk_size, chunk_size, vector + (first ^ offsets[c]) * chunk_size);
    }
}

}  // namespace snc::SNC_ISA
