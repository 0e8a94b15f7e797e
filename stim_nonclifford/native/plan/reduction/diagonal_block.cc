#include "plan/reduction/diagonal_block.h"

#include <stdexcept>
#include <utility>
#include <vector>

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

// The rank of the sum of z z^T.
size_t rank_of_form(const std::vector<Bits>& zs) {
    const size_t num_bits = zs.empty() ? 0 : 64 * zs.front().size();
    std::vector<Bits> form(num_bits, Bits(num_bits / 64));
    for (const Bits& z : zs) for_each_bit(z, [&](size_t k) { add_bits(form[k], z); });
    Rank rank(num_bits);
    for (Bits& row : form) rank.add(std::move(row));
    return rank.rank();
}

// The sum of those vectors of a basis of the span of `vectors` that 2 modulo 4 of them have.
Bits half_turns(const std::vector<Bits>& vectors) {
    struct Member {
        size_t lowest;
        Bits vector;
        uint32_t count;
    };
    std::vector<Member> basis;
    for (Bits rest : vectors) {
        for (Member& member : basis)
            if (has_bit(rest, member.lowest)) {
                add_bits(rest, member.vector);
                ++member.count;
            }
        if (is_empty(rest)) continue;
        const size_t lowest = lowest_bit(rest);
        basis.push_back({lowest, std::move(rest), 1});
    }
    Bits sum(vectors.front().size());
    for (const Member& member : basis) {
        if (member.count % 2 != 0) throw std::logic_error("A trilinear form that vanishes has an odd coefficient.");
        if (member.count % 4 == 2) add_bits(sum, member.vector);
    }
    return sum;
}

}  // namespace

void DiagonalBlock::add(const Bits& z, uint32_t eighths, DiagonalCliffords& cliffords) {
    if (is_empty(z)) return;
    add_clifford(cliffords, z, eighths - eighths % 2);
    if (eighths % 2 == 0 || odd_.insert(z).second) return;
    odd_.erase(z);
    add_clifford(cliffords, z, 2);
}

size_t DiagonalBlock::split(const Bits& x, DiagonalCliffords& cliffords) {
    std::vector<Bits> hit;
    for (const Bits& z : odd_)
        if (is_odd_overlap(z, x)) hit.push_back(z);
    if (hit.empty()) return 0;
    if (const size_t rank = rank_of_form(hit); rank != 0) return rank;
    const Bits& l = hit.front();
    std::vector<Bits> waiting;
    for (const Bits& z : hit) waiting.push_back(sum_of(z, l));
    const Bits w = half_turns(waiting);
    add_clifford(cliffords, l, static_cast<uint32_t>(hit.size() % 8));
    if (!is_empty(w)) {  // 4 y w = 2 (y + w - (y xor w))
        add_clifford(cliffords, l, 2);
        add_clifford(cliffords, w, 2);
        add_clifford(cliffords, sum_of(w, l), 6);
    }
    for (const Bits& z : hit) odd_.erase(z);
    for (const Bits& z : waiting) add(z, 1, cliffords);
    return 0;
}

}  // namespace snc
