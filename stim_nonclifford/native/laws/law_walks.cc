#include "laws/law_walks.h"

namespace snc {

LawWalks::LawWalks(LawStore& store, uint32_t num_outcomes) : store_(store), margin_(1e-14 * (1 + num_outcomes)) {}

void LawWalks::find(std::span<const Shot> shots, uint64_t seed, std::span<Ref> leaves) {
    std::array<uint64_t, max_shots> hashes{};
    for (size_t k = 0; k < shots.size(); ++k) hashes[k] = store_.announce(shots[k].signature);
    std::array<uint8_t, max_shots> under_way{};
    size_t num_under_way = 0;
    for (size_t k = 0; k < shots.size(); ++k) {
        const LawStore::Entry entry = store_.find(shots[k].signature, hashes[k]);
        leaves[k] = entry ? entry.root() : Ref::none;
        if (leaves[k] == Ref::none || LawStore::is_leaf(leaves[k])) continue;
        Walk& walk = walks_[k];
        walk.decisions = OutcomeDecisions(seed, shots[k].number);
        const double first = walk.decisions.first();
        const bool is_zero = entry == store_.zero_entry();
        const Ref likely = is_zero ? store_.zero_leaf(static_cast<size_t>(first * LawStore::num_zero_cells)) : entry.likely(first);
        if (likely != Ref::none) {
            leaves[k] = likely;
            continue;
        }
        walk.entry = entry;
        walk.place = leaves[k];
        under_way[num_under_way++] = static_cast<uint8_t>(k);
        store_.announce(leaves[k]);
    }
    while (num_under_way > 0) {
        size_t num_left = 0;
        for (size_t j = 0; j < num_under_way; ++j) {
            const uint8_t k = under_way[j];
            Walk& walk = walks_[k];
            const LawStore::Node& node = store_.node(walk.place);
            const bool outcome = walk.decisions.decide(node.probability_of_one);
            walk.place = node.children[outcome].load(std::memory_order_acquire);
            if (walk.place != Ref::none) store_.announce(walk.place);
            if (walk.place != Ref::none && !LawStore::is_leaf(walk.place)) {
                under_way[num_left++] = k;
                continue;
            }
            leaves[k] = walk.place;
            if (walk.place != Ref::none) note(walk);
        }
        num_under_way = num_left;
    }
}

void LawWalks::note(Walk& walk) {
    const OutcomeDecisions& decisions = walk.decisions;
    if (!decisions.follow_from_first()) return;
    const double low = decisions.low() + margin_, high = decisions.low() + decisions.mass() - margin_;
    if (walk.entry == store_.zero_entry())
        store_.note_zero_leaf(walk.place, low, high);
    else
        walk.entry.note(walk.place, low, high);
}

}  // namespace snc
