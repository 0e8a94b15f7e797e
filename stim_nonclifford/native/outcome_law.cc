#include "outcome_law.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "philox.h"

namespace snc {

namespace {

// Stations are made where this many simulations have passed.
constexpr int32_t passes_before_station = 8;

// Where fewer than one lookup in this many finds its outcomes stored, no more is stored, but in one of several periods
// of lookups, to see whether that changes.
constexpr uint64_t lookups_per_hit = 1024;
constexpr uint64_t lookups_per_review = uint64_t{1} << 14;
constexpr uint64_t reviews_per_trial = 16;

// Of every bit of the key, in every bit: the table uses the low ones. The end is that of SplitMix64.
uint64_t hash(std::span<const uint64_t> key) {
    uint64_t h = 0x9E3779B97F4A7C15;
    for (uint64_t word : key) {
        h = (h ^ word) * 0xBF58476D1CE4E5B9;
        h ^= h >> 32;
    }
    h = (h ^ h >> 30) * 0xBF58476D1CE4E5B9;
    h = (h ^ h >> 27) * 0x94D049BB133111EB;
    return h ^ h >> 31;
}

bool is_quiet(std::span<const uint64_t> signature) {
    return std::ranges::all_of(signature, [](uint64_t word) { return word == 0; });
}

}  // namespace

OutcomeLaws::OutcomeLaws(const Plan& plan, const Kernels& kernels, Precision precision, size_t max_bytes,
                         std::function<void()> interrupted)
    : plan_(plan),
      max_bytes_(max_bytes),
      simulation_(plan, kernels, precision, std::move(interrupted)),
      signature_words_(plan.layout.signature_words),
      output_words_(plan.layout.output_words),
      nodes_(1),  // node 0 is no node
      node_outputs_(output_words_),
      quiet_leaves_(num_cells, no_node),
      outputs_(output_words_) {}

OutcomeLaws::Result OutcomeLaws::sample(std::span<const uint64_t> signature, uint64_t seed, uint64_t shot) {
    if (lookups_++ % lookups_per_review == 0) review();
    const auto result_of = [&](NodeIndex leaf) { return Result{nodes_[leaf].outcome == kept, outputs_of(leaf)}; };
    const bool quiet = is_quiet(signature);
    Root* root = quiet ? nullptr : root_slot(signature);
    if (root != nullptr && root->node != no_node && nodes_[root->node].outcome < 0) return result_of(root->node);
    OutcomeDecisions decisions(seed, shot);
    if (quiet) {
        const NodeIndex leaf = quiet_leaves_[static_cast<size_t>(decisions.first() * num_cells)];
        if (leaf != no_node) return result_of(leaf);
        root = root_slot(signature);
    }
    decisions_.clear();
    if (root == nullptr || root->node == no_node) return simulate(signature, root, decisions);
    if (decisions.first() >= root->low && decisions.first() < root->high) return result_of(root->leaf);
    NodeIndex index = root->node;
    while (nodes_[index].outcome >= 0) {
        const Node& node = nodes_[index];
        const bool outcome = decisions.decide(node.probability_of_one);
        decisions_.push_back({index, outcome});
        index = node.children[outcome];
        if (index == no_node) return simulate(signature, nullptr, decisions);
    }
    note(*root, quiet, index, decisions);
    return result_of(index);
}

void OutcomeLaws::review() {
    const uint64_t simulated = simulations_ - std::exchange(simulations_at_review_, simulations_);
    const bool has_hits = (lookups_per_review - simulated) * lookups_per_hit >= lookups_per_review;
    stores_ = has_hits || reviews_ % reviews_per_trial == 0;
    ++reviews_;
}

void OutcomeLaws::note(Root& root, bool quiet, NodeIndex leaf, const OutcomeDecisions& decisions) {
    if (!decisions.follow_from_first()) return;
    // Where rounding could decide, the decisions are made one by one.
    const double margin = 1e-14 * (1 + plan_.num_outcomes);
    const double low = decisions.low() + margin, high = decisions.low() + decisions.mass() - margin;
    if (high - low > root.high - root.low) {
        root.leaf = leaf;
        root.low = low;
        root.high = high;
    }
    if (!quiet || high <= low) return;
    const auto first = static_cast<size_t>(std::ceil(low * num_cells));
    const auto end = static_cast<size_t>(high * num_cells);
    const bool flips = std::any_of(outputs_of(leaf), outputs_of(leaf) + output_words_, [](uint64_t w) { return w != 0; });
    const Fate fate = nodes_[leaf].outcome == discarded ? Fate::discarded : flips ? Fate::kept : Fate::kept_without_flips;
    for (size_t k = first; k < end; ++k) {
        quiet_leaves_[k] = leaf;
        quiet_fates_[k] = fate;
    }
}

OutcomeLaws::Result OutcomeLaws::simulate(std::span<const uint64_t> signature, Root* root, OutcomeDecisions& decisions) {
    simulation_.ask_for_interruption();
    ++simulations_;
    simulation_.choose(signature);
    const bool quiet = is_quiet(signature);
    shared_.clear();
    if (!quiet) find_shared(decisions);
    const size_t first = go_to_last_station();
    bool grows = stores_ && (root != nullptr || !decisions_.empty());
    NodeIndex parent = no_node;
    bool branch = false;
    for (size_t k = 0;; ++k) {
        const bool is_known = k < decisions_.size(), is_shared = k < shared_.size();
        // Where there are both, a shared node and its own one say the same.
        const NodeIndex known = is_shared ? shared_[k] : is_known ? decisions_[k].node : no_node;
        PathSimulation::Stop stop{nodes_[known].probability_of_one, nodes_[known].outcome};
        if (k >= first) {
            if (k > first && known != no_node) pass(nodes_[known], is_shared);
            stop = simulation_.advance(known != no_node ? &stop : nullptr);
        }
        std::copy_n(k >= first ? simulation_.outputs() : outputs_of(known), output_words_, outputs_.begin());
        if (!is_known && grows) {
            const NodeIndex index = add_node(stop);
            grows = index != no_node;
            if (parent != no_node) {
                nodes_[parent].children[branch] = index;
            } else if (grows) {
                root->node = index;
                if (quiet) quiet_root_ = index;
                ++num_signatures_;
            }
            parent = index;
        }
        if (stop.outcome < 0) return {stop.outcome == kept, outputs_.data()};
        branch = is_known ? decisions_[k].outcome : decisions.decide(stop.probability_of_one);
        if (is_known) parent = decisions_[k].node;
        if (k >= first) simulation_.take(branch);
    }
}

void OutcomeLaws::find_shared(OutcomeDecisions decisions) {
    NodeIndex index = quiet_root_;
    while (index != no_node && nodes_[index].outcome >= 0 && simulation_.agrees_at(nodes_[index].outcome)) {
        const size_t k = shared_.size();
        shared_.push_back(index);
        const bool outcome = k < decisions_.size() ? decisions_[k].outcome : decisions.decide(nodes_[index].probability_of_one);
        index = nodes_[index].children[outcome];
    }
}

size_t OutcomeLaws::go_to_last_station() {
    const auto station_at = [&](NodeIndex node) -> const PathSimulation::Station* {
        return nodes_[node].station > 0 ? &stations_[static_cast<size_t>(nodes_[node].station) - 1] : nullptr;
    };
    for (size_t k = std::max(decisions_.size(), shared_.size()); k-- > 0;) {
        const auto* own = k < decisions_.size() ? station_at(decisions_[k].node) : nullptr;
        if (own != nullptr) {
            simulation_.go_to(*own);
            return k;
        }
        const auto* quiet = k < shared_.size() ? station_at(shared_[k]) : nullptr;
        if (quiet != nullptr && simulation_.resume(*quiet)) return k;
    }
    simulation_.start();
    return 0;
}

void OutcomeLaws::pass(Node& node, bool is_shared) {
    const size_t size = simulation_.station_bytes();
    if (!stores_ || node.station > 0 || --node.station > -passes_before_station || bytes() + size > max_bytes_ ||
        bytes_of_stations_ + size > max_bytes_ / 2)
        return;
    stations_.push_back(is_shared ? simulation_.shared_station() : simulation_.here());
    bytes_of_stations_ += size;
    node.station = static_cast<int32_t>(stations_.size());
}

OutcomeLaws::QuietLaw OutcomeLaws::quiet_law() {
    simulation_.choose(std::vector<uint64_t>(signature_words_, 0));
    simulation_.start();
    const PathSimulation::Stop stop = simulation_.advance();
    return {stop.outcome < 0, stop.outcome == kept, {simulation_.outputs(), simulation_.outputs() + output_words_}};
}

std::vector<OutcomeLaws::Branch> OutcomeLaws::branches(std::span<const uint64_t> signature) {
    std::vector<Branch> found;
    std::vector<std::vector<bool>> paths = {{}};
    simulation_.choose(signature);
    while (!paths.empty()) {
        const std::vector<bool> path = std::move(paths.back());
        paths.pop_back();
        double probability = 1;
        simulation_.start();
        for (bool outcome : path) {
            const PathSimulation::Stop stop = simulation_.advance();
            probability *= outcome ? stop.probability_of_one : 1 - stop.probability_of_one;
            simulation_.take(outcome);
        }
        const PathSimulation::Stop stop = simulation_.advance();
        if (stop.outcome < 0) {
            const uint64_t* outputs = simulation_.outputs();
            found.push_back({probability, stop.outcome == discarded, {outputs, outputs + output_words_}});
            continue;
        }
        for (bool outcome : {true, false}) {
            paths.push_back(path);
            paths.back().push_back(outcome);
        }
    }
    return found;
}

LawStatistics& LawStatistics::operator+=(const LawStatistics& other) {
    signatures += other.signatures;
    nodes += other.nodes;
    stations += other.stations;
    bytes += other.bytes;
    lookups += other.lookups;
    simulations += other.simulations;
    work += other.work;
    return *this;
}

LawStatistics OutcomeLaws::statistics() const {
    return {num_signatures_, nodes_.size() - 1, stations_.size(), bytes(), lookups_, simulations_, simulation_.work()};
}

// The table and the nodes

OutcomeLaws::Root* OutcomeLaws::root_slot(std::span<const uint64_t> signature) {
    if (2 * (num_signatures_ + 1) > roots_.size() && !grow_table() && num_signatures_ + 1 >= roots_.size())
        return nullptr;
    const size_t mask = roots_.size() - 1;
    for (size_t slot = hash(signature) & mask;; slot = (slot + 1) & mask) {
        uint64_t* key = keys_.data() + slot * signature_words_;
        if (roots_[slot].node == no_node) {
            std::ranges::copy(signature, key);
            return &roots_[slot];
        }
        // Mostly a single word: a call would take longer than the comparison.
        uint64_t differences = 0;
        for (uint32_t w = 0; w < signature_words_; ++w) differences |= signature[w] ^ key[w];
        if (differences == 0) return &roots_[slot];
    }
}

bool OutcomeLaws::grow_table() {
    const size_t slots = roots_.empty() ? 1024 : 2 * roots_.size();
    const size_t slot_bytes = sizeof(Root) + signature_words_ * sizeof(uint64_t);
    if (bytes() + slots * slot_bytes > max_bytes_) return false;
    std::vector<uint64_t> keys(slots * signature_words_);
    std::vector<Root> roots(slots);
    for (size_t old = 0; old < roots_.size(); ++old) {
        if (roots_[old].node == no_node) continue;
        const std::span<const uint64_t> key(keys_.data() + old * signature_words_, signature_words_);
        size_t slot = hash(key) & (slots - 1);
        while (roots[slot].node != no_node) slot = (slot + 1) & (slots - 1);
        roots[slot] = roots_[old];
        std::ranges::copy(key, keys.data() + slot * signature_words_);
    }
    keys_ = std::move(keys);
    roots_ = std::move(roots);
    return true;
}

bool OutcomeLaws::reserve_node() {
    if (nodes_.size() < nodes_.capacity()) return true;
    const size_t capacity = std::max<size_t>(1024, 2 * nodes_.capacity());
    const size_t node_bytes = sizeof(Node) + output_words_ * sizeof(uint64_t);
    if (bytes() + capacity * node_bytes > max_bytes_) return false;
    nodes_.reserve(capacity);
    node_outputs_.reserve(capacity * output_words_);
    return true;
}

OutcomeLaws::NodeIndex OutcomeLaws::add_node(const PathSimulation::Stop& stop) {
    if (!reserve_node()) return no_node;
    nodes_.push_back({stop.probability_of_one, {no_node, no_node}, stop.outcome});
    node_outputs_.insert(node_outputs_.end(), outputs_.begin(), outputs_.end());
    return static_cast<NodeIndex>(nodes_.size() - 1);
}

size_t OutcomeLaws::bytes() const {
    return nodes_.capacity() * sizeof(Node) + node_outputs_.capacity() * sizeof(uint64_t) +
           keys_.capacity() * sizeof(uint64_t) + roots_.capacity() * sizeof(Root) + bytes_of_stations_;
}

}  // namespace snc
