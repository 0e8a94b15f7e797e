// Shots walk through the stored trees of outcomes; `native/engine/laws/law_store.h` defines the trees.
//
// At each open end, one shot at a time grows a tree: the walk reserves the end for a shot and requests its simulation, and
// other shots that reach this end wait for the next round. A launch reads only data of earlier launches, and words that are
// exchanged atomically.
#pragma once

#include "kernels/launch/kept_shots.h"
#include "kernels/launch/plan_image.h"

namespace snc {

// Special values in place of a node.
enum Link : uint32_t {
    open_end = 0,             // of a node: no child yet
    reserved = 0xFFFFFFFF,    // being grown; in the table: free
    cannot_grow = 0xFFFFFFFE  // no memory: shots that reach this end are simulated
};

// The largest number of table places that are searched for a signature.
constexpr uint64_t max_probes = 64;

// Decides outcomes and counts how often rounding could have changed them. With `separate`, each has a number of its own.
template <bool separate>
class CountedDecisions {
   public:
    SNC_HOST_DEVICE CountedDecisions(uint64_t seed, uint64_t shot) : decisions_(seed, shot, separate) {}

    SNC_HOST_DEVICE bool decide(double probability_of_one, int32_t outcome) {
        if constexpr (separate) {
            const double number = decisions_.number_of(outcome);
            close_ += magnitude(number - probability_of_one) < 1e-12;
            return number < probability_of_one;
        } else {
            close_ += magnitude(decisions_.mass() - OutcomeDecisions::min_mass) < 1e-14;
            close_ += magnitude(decisions_.number() - probability_of_one) < 1e-12;
            return decisions_.decide(probability_of_one);
        }
    }
    SNC_HOST_DEVICE uint32_t close() const { return close_; }

   private:
    OutcomeDecisions decisions_;
    uint32_t close_ = 0;
};

// Each bit of the hash depends on every bit of the key; never 0. It ends like SplitMix64.
SNC_HOST_DEVICE uint64_t fingerprint_of(const uint64_t* key, uint32_t words) {
    uint64_t h = 0x9E3779B97F4A7C15;
    for (uint32_t w = 0; w < words; ++w) {
        h = (h ^ key[w]) * 0xBF58476D1CE4E5B9;
        h ^= h >> 32;
    }
    h = (h ^ h >> 30) * 0xBF58476D1CE4E5B9;
    h = (h ^ h >> 27) * 0x94D049BB133111EB;
    h ^= h >> 31;
    return h != 0 ? h : 1;
}

// The end of a walk.
struct WalkEnd {
    enum Kind : uint32_t { leaf, request, wait } kind;
    uint32_t node;       // leaf
    Request wanted;      // request
};

// The root of a signature's tree.
template <typename Team>
SNC_HOST_DEVICE WalkEnd find_root(Team& team, const Job& job, uint32_t words, const uint64_t* key, uint32_t entry) {
    const uint64_t mine = fingerprint_of(key, words);
    const bool full = team.read_shared_word(job.law_counters + nodes_used) >= job.node_capacity;
    const uint64_t probes = job.num_slots < max_probes ? job.num_slots : max_probes;
    for (uint64_t probe = 0; probe < probes; ++probe) {
        const uint64_t slot = (mine + probe) & (job.num_slots - 1);
        uint64_t found = team.read_shared_word(job.fingerprints + slot);
        if (found == 0) {
            if (full) break;
            found = team.exchange_if(job.fingerprints + slot, uint64_t{0}, mine);
            if (found == 0) {
                for (uint32_t w = 0; w < words; ++w) job.keys[slot * words + w] = key[w];
                team.add(job.law_counters + signatures_used, uint64_t{1});
                return {WalkEnd::request, 0, {entry, static_cast<uint32_t>(slot), root_request, 0}};
            }
        }
        if (found != mine) continue;
        const uint32_t root = job.roots[slot];
        // Reserved in this launch: the key may not be stored yet.
        if (root == reserved) return {WalkEnd::wait, 0, {}};
        bool same = true;
        for (uint32_t w = 0; w < words; ++w) same = same && job.keys[slot * words + w] == key[w];
        if (!same) continue;
        if (root == cannot_grow) break;
        return {WalkEnd::leaf, root, {}};
    }
    return {WalkEnd::request, 0, {entry, 0, plain_request, 0}};
}

template <bool separate, typename Team>
SNC_HOST_DEVICE WalkEnd walk(Team& team, const Job& job, uint32_t words, const uint64_t* key, uint32_t entry,
                             uint64_t shot, uint32_t& close) {
    WalkEnd end = find_root(team, job, words, key, entry);
    if (end.kind != WalkEnd::leaf || job.nodes[end.node].outcome < 0) return end;
    CountedDecisions<separate> decisions(job.seed, shot);
    for (uint32_t depth = 1;; ++depth) {
        Node& node = job.nodes[end.node];
        if (node.outcome < 0) break;
        const bool outcome = decisions.decide(node.probability_of_one, node.outcome);
        uint32_t child = team.read_shared_word(node.children + outcome);
        if (child == open_end) {
            const bool full = team.read_shared_word(job.law_counters + nodes_used) >= job.node_capacity;
            if (full) return {WalkEnd::request, 0, {entry, 0, plain_request, 0}};
            child = team.exchange_if(node.children + outcome, uint32_t{open_end}, uint32_t{reserved});
            if (child == open_end) return {WalkEnd::request, 0, {entry, end.node, outcome, depth}};
        }
        if (child == reserved) return {WalkEnd::wait, 0, {}};
        if (child == cannot_grow) return {WalkEnd::request, 0, {entry, 0, plain_request, 0}};
        end.node = child;
    }
    close = decisions.close();
    return end;
}

// The number of waiting shots that are simulated without growing trees after a round, so that no round has too little work.
// It grows with the rounds; after the last round, all are simulated.
SNC_HOST_DEVICE uint64_t waiting_limit(const Job& job, uint32_t round) {
    return round + 1 == num_rounds ? ~uint64_t{0} : job.first_waiting_limit << (3 * round);
}

SNC_HOST_DEVICE uint64_t* round_counter(const Job& job, uint32_t round, RoundCounter which) {
    return job.counters + first_round_counter + round * counters_per_round + which;
}
SNC_HOST_DEVICE uint32_t* waiting_entries(const Job& job, uint32_t round) {
    return round % 2 == 0 ? job.waiting_even : job.waiting_odd;
}
// A chunk is void if more shots were queued than there is room for.
SNC_HOST_DEVICE bool is_void(const Job& job) { return job.counters[queued] > job.queue_capacity; }

// One round: walks the waiting shots of the previous round; in the first round, all queued shots.
template <bool separate, typename Team>
SNC_HOST_DEVICE void walk_kernel(Team& team, const Job& job, uint32_t round) {
    if (is_void(job)) return;
    const PlanImage& plan = *job.plan;
    const uint32_t words = plan.signature_words, row_words = words + plan.output_words;
    const uint64_t came = round == 0 ? job.counters[queued] : *round_counter(job, round - 1, waiting);
    const uint64_t simulated = round == 0 ? 0 : waiting_limit(job, round - 1);
    const uint32_t* entries = waiting_entries(job, round + 1);
    Finished finished(job);
    team.grid_for_each(came > simulated ? came - simulated : 0, [&](uint64_t k, bool is_entry) {
        WalkEnd end{WalkEnd::wait, 0, {}};
        uint32_t entry = 0, close = 0;
        uint64_t shot = 0;
        const uint64_t* row = job.queue_rows;
        bool is_kept = false;
        if (is_entry) {
            entry = round == 0 ? static_cast<uint32_t>(k) : entries[simulated + k];
            shot = job.queue_shots[entry];
            row += uint64_t{entry} * row_words;
            end = walk<separate>(team, job, words, row, entry, shot, close);
            is_kept = end.kind == WalkEnd::leaf && job.nodes[end.node].outcome == kept_leaf;
        }
        finished.close_decisions += close;
        const uint64_t waits = team.append(round_counter(job, round, waiting), is_entry && end.kind == WalkEnd::wait);
        if (is_entry && end.kind == WalkEnd::wait) waiting_entries(job, round)[waits] = entry;
        const uint64_t asks = team.append(round_counter(job, round, requested), end.kind == WalkEnd::request);
        if (end.kind == WalkEnd::request) job.requests[asks] = end.wanted;
        const uint64_t* flipped = job.node_outputs + uint64_t{end.node} * plan.output_words;
        keep(team, job, plan.output_words, finished, is_kept, shot, [&](uint32_t w) { return row[words + w] ^ flipped[w]; });
    });
    add_finished(team, job, finished);
}

}  // namespace snc
