#include "plan/reduction/diagonal_block.h"

#include <utility>

namespace snc {

namespace {

Bits sum_of(Bits a, const Bits& b) {
    add_bits(a, b);
    return a;
}

void add_clifford(DiagonalCliffords& cliffords, const Bits& z, uint32_t eighths) {
    if (eighths % 8 == 0 || is_empty(z)) return;
    uint32_t& sum = cliffords[z];
    sum = (sum + eighths) % 8;
}

// Independent vectors, each of which is without the lowest bits of those before it.
struct Basis {
    std::vector<Bits> vectors;
    std::vector<size_t> lowest;

    // Calls use(k) for each earlier vector that is part of this one. What is left of it becomes the last vector, and is used, too.
    template <typename Use>
    void add(Bits vector, Use use) {
        for (size_t k = 0; k < vectors.size(); ++k)
            if (has_bit(vector, lowest[k])) {
                add_bits(vector, vectors[k]);
                use(k);
            }
        if (is_empty(vector)) return;
        use(vectors.size());
        lowest.push_back(lowest_bit(vector));
        vectors.push_back(std::move(vector));
    }
};

// A basis of the span of the rows of the sum of z z^T.
std::vector<Bits> span_of_form(const std::vector<Bits>& zs) {
    const size_t num_bits = 64 * zs.front().size();
    std::vector<Bits> form(num_bits, Bits(num_bits / 64));
    for (const Bits& z : zs) for_each_bit(z, [&](size_t k) { add_bits(form[k], z); });
    Basis span;
    for (Bits& row : form) span.add(std::move(row), [](size_t) {});
    return std::move(span.vectors);
}

size_t rank_of(const std::vector<Bits>& vectors) {
    Rank rank(64 * vectors.front().size());
    for (const Bits& vector : vectors) rank.add(vector);
    return rank.rank();
}

}  // namespace

void DiagonalBlock::add(const Bits& z, uint32_t eighths, DiagonalCliffords& cliffords) {
    if (is_empty(z)) return;
    add_clifford(cliffords, z, eighths - eighths % 2);
    if (eighths % 2 == 0 || odd_.insert(z).second) return;
    odd_.erase(z);
    add_clifford(cliffords, z, 2);
}

std::vector<Bits> DiagonalBlock::take_with(size_t bit) {
    std::vector<Bits> taken;
    for (const Bits& z : odd_)
        if (has_bit(z, bit)) taken.push_back(z);
    for (const Bits& z : taken) odd_.erase(z);
    return taken;
}

std::vector<Bits> DiagonalBlock::split(const Bits& x, DiagonalCliffords& cliffords) {
    std::vector<Bits> hit;
    for (const Bits& z : odd_)
        if (is_odd_overlap(z, x)) hit.push_back(z);
    if (hit.empty()) return {};
    for (const Bits& z : hit) odd_.erase(z);
    const std::vector<Bits> span = span_of_form(hit);
    if (!span.empty() && span.size() == rank_of(hit)) return hit;
    const auto in_span = std::ranges::find_if(span, [&](const Bits& u) { return is_odd_overlap(u, x); });
    const Bits l = in_span != span.end() ? *in_span : hit.front();

    Basis basis;
    for (const Bits& u : span) basis.add(is_odd_overlap(u, x) ? sum_of(u, l) : u, [](size_t) {});
    const size_t rank = basis.vectors.size();
    std::vector<uint32_t> q(rank);
    std::vector<std::vector<uint32_t>> r(rank, std::vector<uint32_t>(rank));
    for (const Bits& z : hit) {
        std::vector<size_t> members;
        basis.add(sum_of(z, l), [&](size_t k) { members.push_back(k); });
        q.resize(basis.vectors.size());
        for (size_t k = 0; k < members.size(); ++k) {
            ++q[members[k]];
            for (size_t j = 0; j < k && members[k] < rank; ++j) ++r[members[j]][members[k]];
        }
    }
    // L y - 2 y sum_k q_k (v_k.a) + 4 y sum_(k<l) r_kl (v_k.a)(v_l.a) as a sum of parities.
    DiagonalCliffords needed;
    const auto add = [&](const Bits& z, uint32_t eighths) { add_clifford(needed, z, eighths); };
    add(l, static_cast<uint32_t>(hit.size() % 8));
    Bits half_turns(l.size());
    const auto add_product = [&](const Bits& v, uint32_t times) {  // 2 y (v.a) times so many
        add(l, times);
        add(v, times);
        add(sum_of(v, l), 8 - times);
    };
    for (size_t k = 0; k < q.size(); ++k) {
        if (k >= rank && q[k] % 4 == 2) add_bits(half_turns, basis.vectors[k]);
        if (k < rank && q[k] % 4 != 0) add_product(basis.vectors[k], 4 - q[k] % 4);
    }
    if (!is_empty(half_turns)) add_product(half_turns, 2);
    for (size_t k = 0; k < rank; ++k)
        for (size_t j = 0; j < k; ++j) {
            if (r[j][k] % 2 == 0) continue;
            const Bits &a = basis.vectors[j], &b = basis.vectors[k], both = sum_of(a, b);  // 4 y a b = 2 y (a + b - (a xor b))
            add_product(a, 1);
            add_product(b, 1);
            add_product(both, 3);
        }
    std::vector<Bits> rotations;
    for (const auto& [z, eighths] : needed) {
        add_clifford(cliffords, z, eighths - eighths % 2);
        if (eighths % 2 != 0) rotations.push_back(z);
    }
    for (const Bits& z : hit) this->add(sum_of(z, l), 1, cliffords);
    return rotations;
}

}  // namespace snc
