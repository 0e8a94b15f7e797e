#include "gate_passes.h"

#include <algorithm>
#include <bit>
#include <optional>
#include <utility>

#include "plan.h"

namespace snc {

namespace {

// Gates, or rotations, among which the next ones are looked for.
constexpr size_t reach = 512;

// Rotations that together take longer than a gate of each dimension.
constexpr std::array<size_t, Gate::max_dimension + 1> worth_fusing = {2, 3, 4};

// Generators of the group of a gate's Paulis: those of two qubits, unless all are diagonal.
constexpr size_t max_rank = 4;

constexpr int max_span = piece_bits - chunk_bits;

constexpr uint64_t lane_mask = (uint64_t{1} << index_lane_bits) - 1;

bool odd(uint64_t bits) { return (std::popcount(bits) & 1) != 0; }

// Masks with different highest bits, which span those that were added.
class Span {
   public:
    // What is left of a mask when those with its highest bits are taken out; `used` becomes the set of these.
    uint64_t reduced(uint64_t mask, uint32_t* used = nullptr) const {
        uint64_t rest = mask;
        for (uint64_t left = mask; left != 0;) {
            const uint64_t top = std::bit_floor(left);
            const auto equal = std::ranges::find(masks_, top, [](uint64_t m) { return std::bit_floor(m); });
            if (equal != masks_.end()) {
                left ^= *equal;
                rest ^= *equal;
                if (used != nullptr) *used ^= 1U << (equal - masks_.begin());
            } else {
                left ^= top;
            }
        }
        return rest;
    }
    void add(uint64_t mask) {
        const uint64_t rest = reduced(mask);
        if (rest != 0) masks_.push_back(rest);
    }
    // Adds a mask that is reduced already, and not 0.
    void add_reduced(uint64_t mask) { masks_.push_back(mask); }
    size_t size() const { return masks_.size(); }
    const std::vector<uint64_t>& masks() const { return masks_; }
    uint64_t highest_bits() const {
        uint64_t bits = 0;
        for (uint64_t mask : masks_) bits |= std::bit_floor(mask);
        return bits;
    }

   private:
    std::vector<uint64_t> masks_;
};

struct Pauli {
    uint64_t x, z;
};

bool commute(const Pauli& a, const Pauli& b) { return odd(a.x & b.z) == odd(a.z & b.x); }

// Rotations that are to become a gate.
class RotationProduct {
   public:
    explicit RotationProduct(uint32_t first, const Pauli& pauli) { add(first, pauli); }

    void add(uint32_t first, const Pauli& pauli) {
        firsts_.push_back(first);
        if (!contains(pauli)) generators_.push_back(pauli);
    }
    void prepend(const RotationProduct& other) {
        firsts_.insert(firsts_.begin(), other.firsts_.begin(), other.firsts_.end());
        for (const Pauli& pauli : other.generators_)
            if (!contains(pauli)) generators_.push_back(pauli);
    }

    bool commutes(const Pauli& pauli) const {
        return std::ranges::all_of(generators_, [&](const Pauli& own) { return commute(own, pauli); });
    }
    bool commutes(const RotationProduct& other) const {
        return std::ranges::all_of(other.generators_, [&](const Pauli& pauli) { return commutes(pauli); });
    }

    // The number of generators that it gets with others, if it is a possible gate with them.
    std::optional<size_t> growth(std::span<const Pauli> others) const {
        std::vector<Pauli> all = generators_;
        for (const Pauli& pauli : others)
            if (!is_product_of(pauli, all)) all.push_back(pauli);
        if (all.size() == generators_.size()) return 0;
        Span flips, block_flips;
        for (const Pauli& pauli : all) {
            flips.add(pauli.x);
            block_flips.add(pauli.x & ~lane_mask);
        }
        if (flips.size() > Gate::max_dimension || (flips.size() > 0 && all.size() > max_rank)) return std::nullopt;
        // Parities that tell cosets of blocks apart: those of all z, but for those that tell apart the blocks of one.
        Span signs, signs_in_coset;
        for (const Pauli& pauli : all) {
            signs.add(pauli.z & ~lane_mask);
            uint64_t within = 0;
            for (size_t j = 0; j < block_flips.size(); ++j) within |= uint64_t{odd(block_flips.masks()[j] & pauli.z)} << j;
            signs_in_coset.add(within);
        }
        if (signs.size() - signs_in_coset.size() + block_flips.size() + flips.size() > Gate::max_table_bits) return std::nullopt;
        return all.size() - generators_.size();
    }

    const std::vector<uint32_t>& firsts() const { return firsts_; }
    const std::vector<Pauli>& generators() const { return generators_; }

   private:
    // Whether a Pauli is a product of independent others, up to its phase.
    static bool is_product_of(const Pauli& pauli, const std::vector<Pauli>& others) {
        // At most six: all products.
        for (uint32_t which = 0; which < 1U << others.size(); ++which) {
            Pauli rest = pauli;
            for (size_t j = 0; j < others.size(); ++j)
                if ((which >> j & 1) != 0) {
                    rest.x ^= others[j].x;
                    rest.z ^= others[j].z;
                }
            if (rest.x == 0 && rest.z == 0) return true;
        }
        return false;
    }
    bool contains(const Pauli& pauli) const { return is_product_of(pauli, generators_); }

    std::vector<uint32_t> firsts_;
    std::vector<Pauli> generators_;
};

// Every rotation goes to where the fewest generators come to a product with it: into one of those before it that
// it can reach because it commutes with all in between.
std::vector<RotationProduct> products_of(const std::vector<Operation>& operations, std::span<const uint32_t> firsts) {
    std::vector<RotationProduct> products;
    for (const uint32_t first : firsts) {
        const Pauli pauli{operations[first].x, operations[first].z};
        size_t best = products.size(), best_growth = 2;
        for (size_t seen = 0, j = products.size(); j-- > 0 && seen < reach; ++seen) {
            const std::optional<size_t> growth = products[j].growth({&pauli, 1});
            if (growth && *growth < best_growth) {
                best = j;
                best_growth = *growth;
            }
            if (best_growth == 0 || !products[j].commutes(pauli)) break;
        }
        if (best < products.size())
            products[best].add(first, pauli);
        else
            products.emplace_back(first, pauli);
    }
    return products;
}

// Joins products that make a possible gate together, where one can be moved to the other.
void join(std::vector<RotationProduct>& products) {
    for (size_t i = products.size(); i-- > 0;)
        for (size_t j = i + 1; j < std::min(products.size(), i + reach); ++j) {
            if (products[j].growth(products[i].generators())) {
                products[j].prepend(products[i]);
                products.erase(products.begin() + static_cast<ptrdiff_t>(i));
                break;
            }
            if (!products[j].commutes(products[i])) break;
        }
}

// A product as a gate of a pass, whose generators are known.
class GateBuilder {
   public:
    GateBuilder(const std::vector<Operation>& operations, const Span& pass_generators, int32_t width)
        : operations_(operations), pass_generators_(pass_generators), width_(width) {}

    Gate build(const RotationProduct& product) const {
        Gate gate{};
        for (const uint32_t first : product.firsts()) {
            const Operation& operation = operations_[first];
            gate.factors.push_back({.first = first,
                                    .x = x_in_pass(operation.x),
                                    .z = z_in_pass(operation.z),
                                    .element = 0,
                                    .parities = 0,
                                    .odd_generators = 0});
        }
        find_generators(gate);
        gate.is_fused = gate.factors.size() >= worth_fusing[static_cast<size_t>(gate.dimension)];
        if (gate.is_fused) find_parities(gate);
        return gate;
    }

   private:
    static constexpr uint64_t chunk_mask = (uint64_t{1} << chunk_bits) - 1;

    uint64_t x_in_pass(uint64_t x) const {
        uint32_t flips = 0;
        pass_generators_.reduced(x >> chunk_bits, &flips);
        return (x & chunk_mask) | uint64_t{flips} << chunk_bits;
    }

    uint64_t z_in_pass(uint64_t z) const {
        const uint64_t chunks = z >> chunk_bits;
        uint64_t result = (z & chunk_mask) | (chunks & ~pass_generators_.highest_bits()) << piece_bits;
        for (size_t j = 0; j < pass_generators_.size(); ++j)
            result |= uint64_t{odd(chunks & pass_generators_.masks()[j])} << (chunk_bits + static_cast<int>(j));
        return result;
    }

    // Those that flip blocks come first.
    static void find_generators(Gate& gate) {
        Span blocks, lanes;
        for (const Gate::Factor& factor : gate.factors) {
            const uint64_t rest = blocks.reduced(factor.x);
            if (rest > lane_mask) blocks.add_reduced(rest);
        }
        for (const Gate::Factor& factor : gate.factors) lanes.add(blocks.reduced(factor.x));
        gate.block_dimension = static_cast<int>(blocks.size());
        gate.dimension = static_cast<int>(blocks.size() + lanes.size());
        std::ranges::copy(blocks.masks(), gate.generators.begin());
        std::ranges::copy(lanes.masks(), gate.generators.begin() + gate.block_dimension);
        for (Gate::Factor& factor : gate.factors) {
            uint32_t of_lanes = 0;
            lanes.reduced(blocks.reduced(factor.x, &factor.element), &of_lanes);
            factor.element |= of_lanes << gate.block_dimension;
            for (int j = 0; j < gate.block_dimension; ++j)
                factor.odd_generators |= uint32_t{odd(gate.generators[static_cast<size_t>(j)] & ~lane_mask & factor.z)} << j;
        }
    }

    // The first block of each coset is chosen so that as few parities as possible are ever odd there.
    void find_parities(Gate& gate) const {
        struct Row {
            uint32_t odd_generators;
            uint64_t z;
        };
        uint64_t pivots = 0;
        for (int j = 0; j < gate.block_dimension; ++j) pivots |= std::bit_floor(gate.generators[static_cast<size_t>(j)]);
        std::vector<Row> even;  // parities that are made even; each has a generator of its own, its lowest
        Span parities;
        for (Gate::Factor& factor : gate.factors) {
            Row row{factor.odd_generators, factor.z & ~pivots & ~lane_mask};
            for (const Row& other : even)
                if ((row.odd_generators & other.odd_generators & -other.odd_generators) != 0)
                    row = {row.odd_generators ^ other.odd_generators, row.z ^ other.z};
            if (row.odd_generators != 0) {
                const uint32_t lowest = row.odd_generators & -row.odd_generators;
                for (Row& other : even)
                    if ((other.odd_generators & lowest) != 0)
                        other = {other.odd_generators ^ row.odd_generators, other.z ^ row.z};
                even.push_back(row);
                continue;
            }
            const uint64_t rest = parities.reduced(row.z, &factor.parities);
            if (rest != 0) {
                factor.parities |= 1U << parities.size();
                parities.add_reduced(rest);
            }
        }
        gate.num_parities = static_cast<int>(parities.size());
        for (int bit = index_lane_bits; bit < piece_bits + width_ - chunk_bits; ++bit) {
            uint64_t column = 0;
            for (const Row& row : even)
                if ((row.z >> bit & 1) != 0) column ^= row.odd_generators & -row.odd_generators;
            for (size_t t = 0; t < parities.size(); ++t) column |= (parities.masks()[t] >> bit & 1) << (32 + t);
            gate.columns.push_back(column);
        }
        find_twin(gate, pivots);
    }

    // A sum of bits of a piece that changes no parity.
    static void find_twin(Gate& gate, uint64_t pivots) {
        struct Row {
            uint64_t column, bits;
        };
        std::vector<Row> rows;
        for (int bit = 0; bit < piece_bits - index_lane_bits; ++bit) {
            if ((pivots >> (bit + index_lane_bits) & 1) != 0) continue;
            Row row{gate.columns[static_cast<size_t>(bit)], uint64_t{1} << bit};
            for (const Row& other : rows)
                if ((row.column ^ other.column) >> 32 < row.column >> 32)
                    row = {row.column ^ other.column, row.bits ^ other.bits};
            if (row.column >> 32 != 0) {
                rows.push_back(row);
                continue;
            }
            gate.twin = row.bits;
            for (int j = 0; j < gate.block_dimension; ++j)
                if ((row.column >> j & 1) != 0) gate.twin ^= gate.generators[static_cast<size_t>(j)] >> index_lane_bits;
            gate.twin_bit = bit;
            return;
        }
    }

    const std::vector<Operation>& operations_;
    const Span& pass_generators_;
    int32_t width_;
};

// Takes the gates of the next pass out of the products.
GatePass next_pass(const std::vector<Operation>& operations, std::vector<RotationProduct>& products, int32_t width) {
    Span generators;
    std::vector<RotationProduct> taken, left;
    for (size_t k = 0; k < products.size(); ++k) {
        if (left.size() >= reach) {
            left.insert(left.end(), products.begin() + static_cast<ptrdiff_t>(k), products.end());
            break;
        }
        Span with = generators;
        for (const Pauli& pauli : products[k].generators()) with.add(pauli.x >> chunk_bits);
        const bool fits = with.size() <= max_span &&
                          std::ranges::all_of(left, [&](const RotationProduct& other) { return other.commutes(products[k]); });
        if (fits) generators = std::move(with);
        (fits ? taken : left).push_back(products[k]);
    }
    products = std::move(left);
    // A piece is as large as possible.
    for (int bit = 0; bit < width - chunk_bits && generators.size() < max_span; ++bit) generators.add(uint64_t{1} << bit);

    GatePass pass;
    pass.generators = generators.masks();
    const GateBuilder builder(operations, generators, width);
    for (const RotationProduct& product : taken) {
        pass.gates.push_back(builder.build(product));
        pass.num_operations += static_cast<uint32_t>(product.firsts().size());
        if (pass.gates.back().is_fused) pass.table_size += pass.gates.back().table_size();
    }
    return pass;
}

}  // namespace

std::vector<GatePass> find_passes(const std::vector<Operation>& operations, std::span<const uint32_t> firsts, int32_t width) {
    std::vector<RotationProduct> products = products_of(operations, firsts);
    join(products);
    std::vector<GatePass> passes;
    while (!products.empty()) passes.push_back(next_pass(operations, products, width));
    return passes;
}

}  // namespace snc
