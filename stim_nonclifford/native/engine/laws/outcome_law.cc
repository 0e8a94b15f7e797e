#include "engine/laws/outcome_law.h"

#include <algorithm>
#include <utility>

namespace snc {

namespace {

// If fewer than one lookup in this many finds stored outcomes, nothing more is stored, except in one of several periods of
// lookups, to see whether the rate changes.
constexpr uint64_t lookups_per_hit = 1024;
constexpr uint64_t lookups_per_review = uint64_t{1} << 14;
constexpr uint64_t reviews_per_trial = 16;
// If more than one lookup in this many needs a simulation, shots are simulated in batches. A batch starts at the beginning,
// not at a stored vector, and its shots share no results.
constexpr uint64_t lookups_per_batched = 16;
// Most results of a batch are never looked up again, so that each path adds only a few nodes to a tree.
constexpr size_t nodes_per_path = 32;

}  // namespace

OutcomeLaws::OutcomeLaws(const Plan& plan, PathSimulation simulation, const Kernels& kernels, LawStore& store,
                         std::function<void()> interrupted)
    : plan_(plan), store_(store), simulation_(std::move(simulation)), walks_(store, plan) {
    if (BatchSimulation::suits(plan)) batch_.emplace(plan, kernels, std::move(interrupted));
}

void OutcomeLaws::simulate_batch(std::span<const Shot> shots, std::span<const uint32_t> numbers, uint64_t seed) {
    batch_shots_.clear();
    for (uint32_t number : numbers) batch_shots_.push_back({shots[number].signature, {seed, shots[number].number, plan_.separate_draws}});
    batch_->run(batch_shots_);
    simulations_ += numbers.size();
    if (!stores_) return;
    for (uint32_t k = 0; k < numbers.size(); ++k) add_path(batch_shots_[k].signature, k);
}

void OutcomeLaws::add_path(std::span<const uint64_t> signature, uint32_t shot) {
    const auto& path = batch_->path(shot);
    const PathSimulation::Stop end{0, batch_->kept(shot) ? PathSimulation::kept : PathSimulation::discarded};
    Ref place = store_.find(signature);
    Decision last{Ref::none, false};
    for (size_t k = 0, added = 0; added < nodes_per_path; ++k) {
        const PathSimulation::Stop& stop = k == path.size() ? end : path[k].stop;
        if (place == Ref::none) {
            place = add_place(signature, last, stop, batch_->outputs(shot));
            if (place == Ref::none) return;
            ++added;
        }
        // Another thread may have found an outcome certain that is uncertain here because of rounding.
        if (LawStore::is_leaf(place) || store_.node(place).outcome != stop.outcome) return;
        last = {place, path[k].outcome};
        place = store_.node(place).children[last.outcome].load(std::memory_order_acquire);
    }
}

OutcomeLaws::Ref OutcomeLaws::add_place(std::span<const uint64_t> signature, const Decision& last,
                                        const PathSimulation::Stop& stop, const uint64_t* outputs) {
    const Ref place = store_.add(stop, outputs);
    if (place == Ref::none) return place;
    // Where another thread was first, the path goes on from its place: what comes after that would be lost otherwise.
    if (last.node == Ref::none) return store_.insert(signature, place) ? place : store_.find(signature);
    LawStore::Node& node = store_.node(last.node);
    return LawStore::add_child(node, last.outcome, place) ? place : node.children[last.outcome].load(std::memory_order_acquire);
}

void OutcomeLaws::review() {
    if (lookups_ < lookups_at_review_ + lookups_per_review && reviews_ != 0) return;
    const uint64_t asked = lookups_ - std::exchange(lookups_at_review_, lookups_);
    const uint64_t simulated = simulations_ - std::exchange(simulations_at_review_, simulations_);
    const bool has_hits = (asked - simulated) * lookups_per_hit >= asked;
    stores_ = has_hits || reviews_ % reviews_per_trial == 0;
    batches_ = batch_ && simulated * lookups_per_batched >= std::max(asked, uint64_t{1});
    ++reviews_;
}

OutcomeLaws::Ref OutcomeLaws::walk(std::span<const uint64_t> signature, OutcomeDecisions& decisions) {
    decisions_.clear();
    Ref place = store_.find(signature);
    while (place != Ref::none && !LawStore::is_leaf(place)) {
        const LawStore::Node& node = store_.node(place);
        const bool outcome = decisions.decide(node.probability_of_one, node.outcome);
        decisions_.push_back({place, outcome});
        place = node.children[outcome].load(std::memory_order_acquire);
    }
    return place;
}

OutcomeLaws::Result OutcomeLaws::simulate(const Shot& shot, uint64_t seed) {
    const std::span<const uint64_t> signature = shot.signature;
    OutcomeDecisions decisions(seed, shot.number, plan_.separate_draws);
    // Another shot may have added it in the meantime.
    if (const Ref leaf = walk(signature, decisions); leaf != Ref::none) return result_of(leaf);
    simulation_.ask_for_interruption();
    ++simulations_;
    simulation_.choose(signature);
    shared_.clear();
    if (!LawStore::is_zero(signature)) find_shared(decisions);
    const size_t first = go_to_last_checkpoint();
    bool grows = stores_;
    for (size_t k = 0;; ++k) {
        const bool is_known = k < decisions_.size(), is_shared = k < shared_.size();
        // If both exist, a shared node and the signature's own node have the same probability.
        LawStore::Node* const known = is_shared ? &store_.node(shared_[k]) : is_known ? &store_.node(decisions_[k].node) : nullptr;
        PathSimulation::Stop stop{};
        if (known != nullptr) stop = {known->probability_of_one, known->outcome};
        if (k >= first) {
            if (k > first && known != nullptr && stores_)
                store_.pass(*known, simulation_.checkpoint_bytes(),
                            [&] { return is_shared ? simulation_.shared_checkpoint() : simulation_.here(); });
            stop = simulation_.advance(known != nullptr ? &stop : nullptr);
            // Because of rounding, an outcome may be certain here that was uncertain in the simulation that was stored, or the
            // other way round. The stored decisions are about other outcomes then. (Checks may fire that do not for signature 0.)
            if (known != nullptr && stop.outcome != known->outcome && stop.outcome != PathSimulation::discarded)
                return simulate_alone(shot, seed);
        }
        Ref place = is_known ? decisions_[k].node : Ref::none;
        if (!is_known && grows) {
            place = add_place(signature, k == 0 ? Decision{Ref::none, false} : decisions_[k - 1], stop, simulation_.outputs());
            // Because of rounding, a place of another thread may be about another outcome.
            grows = place != Ref::none && !LawStore::is_leaf(place) && store_.node(place).outcome == stop.outcome;
        }
        if (stop.outcome < 0) return {stop.outcome == PathSimulation::kept, simulation_.outputs()};
        const bool outcome = is_known ? decisions_[k].outcome : decisions.decide(stop.probability_of_one, stop.outcome);
        if (!is_known) decisions_.push_back({place, outcome});
        if (k >= first) simulation_.take(outcome);
    }
}

OutcomeLaws::Result OutcomeLaws::simulate_alone(const Shot& shot, uint64_t seed) {
    OutcomeDecisions decisions(seed, shot.number, plan_.separate_draws);
    simulation_.start();
    const auto decide = [&](const PathSimulation::Stop& stop) { return decisions.decide(stop.probability_of_one, stop.outcome); };
    const bool kept = simulation_.finish(simulation_.advance(), decide).outcome == PathSimulation::kept;
    return {kept, simulation_.outputs()};
}

void OutcomeLaws::find_shared(OutcomeDecisions decisions) {
    Ref place = store_.zero_root();
    while (place != Ref::none && !LawStore::is_leaf(place)) {
        const LawStore::Node& node = store_.node(place);
        if (!simulation_.agrees_at(node.outcome)) return;
        const size_t k = shared_.size();
        // See `simulate` for how they may differ.
        if (k < decisions_.size() && store_.node(decisions_[k].node).outcome != node.outcome) return;
        shared_.push_back(place);
        const bool outcome = k < decisions_.size() ? decisions_[k].outcome : decisions.decide(node.probability_of_one, node.outcome);
        place = node.children[outcome].load(std::memory_order_acquire);
    }
}

size_t OutcomeLaws::go_to_last_checkpoint() {
    for (size_t k = std::max(decisions_.size(), shared_.size()); k-- > 0;) {
        const auto* own = k < decisions_.size() ? store_.checkpoint_at(store_.node(decisions_[k].node)) : nullptr;
        if (own != nullptr) {
            simulation_.go_to(*own);
            return k;
        }
        const auto* zero_checkpoint = k < shared_.size() ? store_.checkpoint_at(store_.node(shared_[k])) : nullptr;
        if (zero_checkpoint != nullptr && simulation_.resume(*zero_checkpoint)) return k;
    }
    simulation_.start();
    return 0;
}

std::vector<uint64_t> OutcomeLaws::likely_outputs() {
    simulation_.finish(simulation_.start_at_zero_signature(),
                       [](const PathSimulation::Stop& stop) { return stop.probability_of_one > 0.5 * (1 + tie); });
    return {simulation_.outputs(), simulation_.outputs() + plan_.layout.output_words};
}

OutcomeLaws::PossiblePath OutcomeLaws::possible_path(std::span<const uint64_t> signature, uint64_t seed, uint64_t number) {
    OutcomeDecisions decisions(seed, number);
    simulation_.ask_for_interruption();
    simulation_.choose(signature);
    simulation_.start();
    const auto decide = [&](const PathSimulation::Stop&) {
        const bool outcome = decisions.decide(0.5);
        return simulation_.would_discard(outcome) != outcome;
    };
    const bool kept = simulation_.finish(simulation_.advance(), decide).outcome == PathSimulation::kept;
    return {kept, {simulation_.outputs(), simulation_.outputs() + plan_.layout.output_words}};
}

LawStatistics OutcomeLaws::statistics() const {
    LawStatistics found;
    found.lookups = lookups_;
    found.simulations = simulations_ + begun_;
    found.work = simulation_.work();
    if (batch_) found.work += batch_->work();
    return found;
}

}  // namespace snc
