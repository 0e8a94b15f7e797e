// Rotations of a vector that is larger than the cache: fused into gates, which are ordered by passes.
//
// Rotations that flip sums of the same one or two masks of the index, as those of a two-qubit gate do, are
// multiplied with each other before they are applied: they take a coefficient to a combination of the (at most
// four) coefficients of its coset. The numbers in it depend on the signs of a few parities of the index. A *pass*
// is a list of gates that flip sums of few masks all together: the vector goes in pieces, each of which
// stays in the cache, through all gates of a pass. What goes into which gate and pass is decided once for all shots.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace snc {

struct Operation;

constexpr int index_lane_bits = 3;

// A piece of the vector has 2^piece_bits coefficients: 2^chunk_bits neighbours, and what the gates mix with them.
constexpr int piece_bits = 14;
constexpr int chunk_bits = 5;

// Within a pass, indices have the bits of the piece as their low bits: first the chunk's, then one for each
// generator. The other bits are above; an index of the vector has them in its own order, without its low
// chunk_bits.
struct Gate {
    // A rotation by the sum of the angles of a run of operations.
    struct Factor {
        uint32_t first;    // operation of the run
        uint64_t x, z;     // in indices of the pass
        uint32_t element;  // of the coset: which generators of the gate x is the sum of
        uint32_t parities;  // of the gate, that reverse it
        // Generators of the gate, on whose masks of blocks z is odd.
        uint32_t odd_generators;
    };
    static constexpr int max_dimension = 2;
    static constexpr int max_table_bits = 7;  // num_parities + block_dimension + dimension

    std::vector<Factor> factors;
    bool is_fused;  // otherwise its rotations are made one by one
    int dimension;  // number of generators
    int block_dimension;  // the generators before this one flip blocks, the others only lanes; see index_lane_bits
    std::array<uint64_t, max_dimension> generators;
    // The rest is known of a fused gate only.
    int num_parities;
    // For each bit of a block's number in the pass, which blocks of the coset (low 32 bits) and parities (high 32
    // bits) it changes: the coset of block b begins at b ^ (generators of that sum).
    std::vector<uint64_t> columns;
    // Blocks b and b ^ twin are in cosets with the same parities; of such two, one has a 0 at bit twin_bit.
    uint64_t twin;
    int twin_bit;

    // In doubles: for each value of the parities, each block of a coset, and each of its elements that is added to
    // it, a block of complex numbers.
    size_t table_size() const { return size_t{2} << (index_lane_bits + num_parities + block_dimension + dimension); }
};

struct GatePass {
    std::vector<Gate> gates;
    std::vector<uint64_t> generators;  // without their low chunk_bits; each has a highest bit of its own
    uint32_t num_operations = 0;       // runs, that is
    size_t table_size = 0;             // of all gates, in doubles
};

// Passes that make the rotations of the runs that begin with these operations, in a vector of this width.
std::vector<GatePass> find_passes(const std::vector<Operation>& operations, std::span<const uint32_t> firsts, int32_t width);

}  // namespace snc
