#include "engine/laws/law_walks.h"

namespace snc {

LawWalks::LawWalks(LawStore& store, const Plan& plan)
    : store_(store), separate_draws_(plan.separate_draws), margin_(1e-14 * (1 + plan.num_outcomes)) {}

void LawWalks::find(std::span<const Shot> shots, uint64_t seed, std::span<Ref> leaves) {
    std::array<uint64_t, max_shots> hashes{};
    for (size_t k = 0; k < shots.size(); ++k) hashes[k] = store_.announce(shots[k].signature);
    std::array<uint8_t, max_shots> under_way{};
    size_t num_under_way = 0;
    for (size_t k = 0; k < shots.size(); ++k) {
        leaves[k] = store_.find(shots[k].signature, hashes[k]);
        if (leaves[k] == Ref::none || LawStore::is_leaf(leaves[k])) continue;
        Walk& walk = walks_[k];
        walk.decisions = OutcomeDecisions(seed, shots[k].number, separate_draws_);
        walk.is_zero = leaves[k] == store_.zero_root();
        if (walk.is_zero) {
            const Ref leaf = store_.zero_leaf_of(static_cast<size_t>(walk.decisions.first() * LawStore::num_zero_cells));
            if (leaf != Ref::none) {
                leaves[k] = leaf;
                continue;
            }
        }
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
            const bool outcome = walk.decisions.decide(node.probability_of_one, node.outcome);
            walk.place = node.children[outcome].load(std::memory_order_acquire);
            if (walk.place != Ref::none) store_.announce(walk.place);
            if (walk.place != Ref::none && !LawStore::is_leaf(walk.place)) {
                under_way[num_left++] = k;
                continue;
            }
            leaves[k] = walk.place;
            if (walk.is_zero && walk.place != Ref::none) note(walk);
        }
        num_under_way = num_left;
    }
}

void LawWalks::note(const Walk& walk) {
    const OutcomeDecisions& decisions = walk.decisions;
    if (!decisions.follow_from_first()) return;
    store_.note_zero_leaf(walk.place, decisions.low() + margin_, decisions.low() + decisions.mass() - margin_);
}

}  // namespace snc
