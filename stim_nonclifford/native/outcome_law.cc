#include "outcome_law.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <utility>

#include "philox.h"

namespace snc {

namespace {

// Widths from which a single operation is long enough to ask for an interruption.
constexpr int32_t long_operation_width = 16;

// Widths from which passing through a vector takes longer than one rotation, and several are made at a time.
// The compiler (gathering.py) orders them for that.
constexpr int32_t long_vector_width = 14;

// Squared norms up to which vectors may grow: far from the largest double, also after a square.
constexpr double max_norm = 1e100;

// Stations are made where this many simulations have passed.
constexpr int32_t passes_before_station = 8;

// Limit for the stored vectors of the path of signature 0.
constexpr size_t max_prefix_bytes = size_t{64} << 20;

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

void flip_words(uint64_t* row, const uint64_t* by, uint32_t words) {
    for (uint32_t w = 0; w < words; ++w) row[w] ^= by[w];
}

// How many doubles a vector of this width takes.
size_t doubles_of(int32_t width) { return size_t{2} << std::max(width, index_lane_bits); }

bool test(const std::vector<uint64_t>& row, int32_t bit) {
    return bit >= 0 && (row[static_cast<uint32_t>(bit) / 64] >> (static_cast<uint32_t>(bit) % 64) & 1) != 0;
}

}  // namespace

OutcomeLaws::OutcomeLaws(const Plan& plan, const Kernels& kernels, size_t max_bytes,
                         std::function<void()> interrupted)
    : plan_(plan),
      kernels_(kernels),
      max_bytes_(max_bytes),
      interrupted_(std::move(interrupted)),
      signature_words_(plan.layout.signature_words),
      output_words_(plan.layout.output_words),
      nodes_(1),  // node 0 is no node
      node_outputs_(output_words_),
      quiet_leaves_(num_cells, no_node),
      stations_(1),
      vector_(doubles_of(plan.steps.widest)),
      result_(output_words_) {
    save_prefix();
}

const uint64_t* OutcomeLaws::sample(std::span<const uint64_t> signature, uint64_t seed, uint64_t shot) {
    ++work_.lookups;
    const auto result_of = [&](NodeIndex leaf) { return nodes_[leaf].outcome == kept ? outputs_of(leaf) : nullptr; };
    const bool quiet = std::ranges::all_of(signature, [](uint64_t word) { return word == 0; });
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

const uint64_t* OutcomeLaws::simulate(std::span<const uint64_t> signature, Root* root, OutcomeDecisions& decisions) {
    interrupted_();
    ++work_.simulations;
    follow(signature);
    // The next node becomes the child `branch` of `parent`, or the root.
    NodeIndex parent = decisions_.empty() ? no_node : decisions_.back().node;
    bool branch = !decisions_.empty() && decisions_.back().outcome;
    bool grows = root != nullptr || parent != no_node;
    while (true) {
        const Node node = advance();
        if (grows) grows = reserve_node();
        if (grows) {
            const NodeIndex index = add_node(node);
            if (parent == no_node) {
                root->node = index;
                ++num_signatures_;
            } else {
                nodes_[parent].children[branch] = index;
            }
            parent = index;
        }
        if (node.outcome < 0) {
            if (node.outcome == discarded) return nullptr;
            std::copy_n(state_outputs(), output_words_, result_.begin());
            return result_.data();
        }
        branch = decisions.decide(node.probability_of_one);
        take(branch);
    }
}

void OutcomeLaws::follow(std::span<const uint64_t> signature) {
    size_t next = decisions_.size();
    while (next > 0 && nodes_[decisions_[next - 1].node].station <= 0) --next;
    if (next > 0)
        go_to(stations_[static_cast<size_t>(nodes_[decisions_[--next].node].station)]);
    else
        start(signature);
    for (bool is_first = true; next < decisions_.size(); ++next, is_first = false) {
        const auto [index, outcome] = decisions_[next];
        if (!is_first) pass(nodes_[index]);
        advance(&nodes_[index]);
        take(outcome);
    }
}

void OutcomeLaws::pass(Node& node) {
    if (--node.station > -passes_before_station || bytes() + station_bytes() > max_bytes_ ||
        bytes_of_stations_ + station_bytes() > max_bytes_ / 2)
        return;
    node.station = static_cast<int32_t>(stations_.size());
    bytes_of_stations_ += station_bytes();
    stations_.push_back(here());
}

OutcomeLaws::QuietLaw OutcomeLaws::quiet_law() {
    start(std::vector<uint64_t>(signature_words_, 0));
    const Node node = advance();
    return {node.outcome < 0, node.outcome == kept, {state_outputs(), state_outputs() + output_words_}};
}

std::vector<OutcomeLaws::Branch> OutcomeLaws::branches(std::span<const uint64_t> signature) {
    std::vector<Branch> found;
    std::vector<std::vector<bool>> paths = {{}};
    while (!paths.empty()) {
        const std::vector<bool> path = std::move(paths.back());
        paths.pop_back();
        double probability = 1;
        start(signature);
        for (bool outcome : path) {
            const Node node = advance();
            probability *= outcome ? node.probability_of_one : 1 - node.probability_of_one;
            take(outcome);
        }
        const Node node = advance();
        if (node.outcome < 0) {
            found.push_back({probability, node.outcome == discarded, {state_outputs(), state_outputs() + output_words_}});
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
    steps += other.steps;
    coefficients_read += other.coefficients_read;
    coefficients_written += other.coefficients_written;
    flops += other.flops;
    return *this;
}

LawStatistics OutcomeLaws::statistics() const {
    LawStatistics statistics = work_;
    statistics.signatures = num_signatures_;
    statistics.nodes = nodes_.size() - 1;
    statistics.stations = stations_.size() - 1;
    statistics.bytes = bytes();
    return statistics;
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

OutcomeLaws::NodeIndex OutcomeLaws::add_node(const Node& node) {
    nodes_.push_back(node);
    node_outputs_.insert(node_outputs_.end(), state_outputs(), state_outputs() + output_words_);
    return static_cast<NodeIndex>(nodes_.size() - 1);
}

size_t OutcomeLaws::bytes() const {
    return nodes_.capacity() * sizeof(Node) + node_outputs_.capacity() * sizeof(uint64_t) +
           keys_.capacity() * sizeof(uint64_t) + roots_.capacity() * sizeof(Root) + bytes_of_stations_;
}

// The simulation

void OutcomeLaws::start(std::span<const uint64_t> signature) {
    std::vector<uint64_t>& row = state_.row;
    row = plan_.branch_constant;
    for (uint32_t bit = 0; bit < plan_.layout.num_signature_bits; ++bit)
        if (signature[bit / 64] >> (bit % 64) & 1)
            flip_words(row.data(), &plan_.signature_images[size_t{bit} * plan_.branch_words], plan_.branch_words);
    state_.step = 0;
    state_.check_fired = false;
    state_.norm = 1;
    state_.norm_is_exact = true;
    state_.is_known = false;
    state_.angles.resize(plan_.steps.num_slots);
    vector_[0] = 1.0;
    vector_[size_t{1} << index_lane_bits] = 0.0;

    // Start at the last station of the path of signature 0 up to which the signs agree with it.
    size_t agreeing = 0;
    for (; agreeing < plan_.operations.size(); ++agreeing) {
        const int32_t sign = plan_.operations[agreeing].sign;
        if (test(row, sign) != test(prefix_signs_, sign)) break;
    }
    const auto begin_of = [&](const Station& station) { return begin_of_step(station.state.step); };
    const auto after = std::ranges::upper_bound(prefix_, agreeing, {}, begin_of);
    if (after == prefix_.begin()) return;
    const Station& station = *(after - 1);
    const std::vector<uint64_t> signs = std::move(row);
    go_to(station);
    for (uint32_t w = 0; w < plan_.branch_words; ++w) row[w] ^= signs[w] ^ prefix_signs_[w];
    state_.check_fired = false;
    for (size_t k = 0; k < begin_of(station); ++k)
        if (plan_.operations[k].kind == Kind::measure) state_.check_fired |= fires(plan_.operations[k]);
}

OutcomeLaws::Station OutcomeLaws::here() const {
    return {state_, {vector_.begin(), vector_.begin() + static_cast<ptrdiff_t>(doubles_of(stored_width()))}};
}

int32_t OutcomeLaws::stored_width() const {
    const auto& steps = plan_.steps.steps;
    return state_.step < steps.size() ? steps[state_.step].width_before : 0;
}

size_t OutcomeLaws::station_bytes() const {
    return sizeof(Station) + state_.row.size() * sizeof(uint64_t) + state_.angles.size() * sizeof(Angle) +
           doubles_of(stored_width()) * sizeof(double);
}

void OutcomeLaws::go_to(const Station& station) {
    state_ = station.state;
    std::ranges::copy(station.vector, vector_.begin());
}

size_t OutcomeLaws::begin_of_step(size_t step) const {
    return step < plan_.steps.steps.size() ? plan_.steps.steps[step].begin : plan_.operations.size();
}

void OutcomeLaws::save_prefix() {
    prefix_signs_ = plan_.branch_constant;
    start(std::vector<uint64_t>(signature_words_, 0));
    std::vector<Station> stations;
    size_t bytes = 0;
    while (state_.step < plan_.steps.steps.size()) {
        bytes += station_bytes();
        if (bytes > max_prefix_bytes) break;
        stations.push_back(here());
        if (!make_step()) break;
    }
    prefix_ = std::move(stations);
}

OutcomeLaws::Node OutcomeLaws::advance(const Node* known) {
    const auto& steps = plan_.steps.steps;
    while (!state_.check_fired) {
        if (state_.step == steps.size()) return {0, {no_node, no_node}, kept};
        if (!make_step(known)) {
            const auto [zero, one] = state_.weights;
            return {one / (zero + one), {no_node, no_node}, measured_by(steps[state_.step]).outcome};
        }
    }
    return {0, {no_node, no_node}, discarded};
}

Operation OutcomeLaws::sum_of_run(size_t first) const {
    Operation sum = plan_.operations[first];
    if (test(state_.row, sum.sign)) sum.sine = -sum.sine;
    for (size_t k = first + 1; k < plan_.run_ends[first]; ++k) {
        const Operation& next = plan_.operations[k];
        const bool reverse = test(state_.row, next.sign) != (next.i_power != sum.i_power);
        const double sine = reverse ? -next.sine : next.sine;
        const double cosine = sum.cosine * next.cosine - sum.sine * sine;
        sum.sine = sum.sine * next.cosine + sum.cosine * sine;
        sum.cosine = cosine;
    }
    return sum;
}

Operation OutcomeLaws::rotation_at(size_t first) {
    Operation rotation = sum_of_run(first);
    if (std::abs(rotation.cosine) >= std::abs(rotation.sine) && state_.norm < max_norm) {
        state_.norm /= rotation.cosine * rotation.cosine;
        rotation.sine /= rotation.cosine;
        rotation.cosine = 1;
    } else {
        const double scale = 1 / std::sqrt(state_.norm);
        rotation.cosine *= scale;
        rotation.sine *= scale;
        state_.norm = 1;
    }
    return rotation;
}

void OutcomeLaws::rotate_long() {
    const auto& steps = plan_.steps.steps;
    rotations_.clear();
    norms_.clear();
    for (size_t next = state_.step; rotations_.size() < max_rotations && next < steps.size() &&
                                    steps[next].kind == SimulationStep::Kind::rotate && steps[next].absorptions.empty();
         ++next) {
        rotations_.push_back(rotation_at(steps[next].operation));
        norms_.push_back(state_.norm);
    }
    const uint64_t size = uint64_t{1} << stored_width();
    std::atomic<size_t> done = 0;
    const auto make_part = [&](uint32_t part) {
        const uint32_t parts = team_ != nullptr ? team_->size() : 1;
        done = kernels_.rotate_many(vector_.data(), rotations_.data(), rotations_.size(), part, parts);
    };
    if (team_ != nullptr)
        team_->run(make_part);
    else
        make_part(0);
    note_pass(size, size, 4 * done);
    work_.steps += done - 1;
    state_.norm = norms_[done - 1];
    state_.step += done;
}

void OutcomeLaws::absorb(const SimulationStep& step) {
    for (const Absorption& absorption : step.absorptions) {
        const Operation sum = sum_of_run(absorption.first);
        const Angle added{sum.cosine, sum.i_power == 2 ? -sum.sine : sum.sine};
        Angle& angle = state_.angles[absorption.slot];
        angle = absorption.is_new ? added : angle + added;
    }
}

void OutcomeLaws::note_pass(uint64_t read, uint64_t written, uint64_t flops_per_read) {
    work_.coefficients_read += read;
    work_.coefficients_written += written;
    work_.flops += read * flops_per_read;
}

const Phases& OutcomeLaws::phases_of(const SimulationStep& step, bool inverse_squares) {
    constexpr size_t row_size = size_t{2} << index_lane_bits, half = row_size / 2;
    rows_.resize(row_size * step.product.total_rows);
    phases_.width_before = step.width_before;
    phases_.width_after = step.width_after;
    phases_.num_groups = static_cast<uint32_t>(step.product.groups.size());
    phases_.columns = step.product.columns.data();
    phases_.rows_of_first = step.product.num_rows.front();
    double* rows = rows_.data();
    for (size_t g = 0; g < step.product.groups.size(); ++g) {
        phases_.rows[g] = rows;
        std::fill_n(rows, half, 1.0);
        std::fill_n(rows + half, half, 0.0);
        size_t num_rows = 1;
        for (const PhaseProduct::Factor& factor : step.product.groups[g]) {
            Angle angle = state_.angles[factor.slot];
            if (inverse_squares) {
                angle = angle + angle;
                angle.sine = -angle.sine;
            }
            kernels_.multiply_rows(rows, num_rows, factor.adds_parity, factor.parities, factor.z, angle.cosine, angle.sine);
            if (factor.adds_parity) num_rows *= 2;
        }
        rows += row_size * num_rows;
    }
    return phases_;
}

void OutcomeLaws::normalize(int32_t width) {
    constexpr size_t row_size = size_t{2} << index_lane_bits, half = row_size / 2;
    const std::vector<uint64_t> columns(static_cast<size_t>(width), 0);
    std::array<double, row_size> row{};
    std::fill_n(row.begin(), half, 1 / std::sqrt(state_.norm));
    kernels_.apply_phases(vector_.data(), {width, width, 1, {row.data()}, columns.data(), 1});
    state_.norm = 1;
}

bool OutcomeLaws::make_step(const Node* known) {
    const SimulationStep& step = plan_.steps.steps[state_.step];
    if (step.width_after >= long_operation_width) interrupted_();
    absorb(step);
    double* const vector = vector_.data();
    const Operation& operation = plan_.operations[step.operation];
    const uint64_t size = uint64_t{1} << step.width_before, size_after = uint64_t{1} << step.width_after;
    const uint64_t num_groups = step.product.groups.size();
    ++work_.steps;
    switch (step.kind) {
        case SimulationStep::Kind::rotate:
            state_.norm_is_exact = false;
            if (step.width_before >= long_vector_width) {
                rotate_long();
                return true;
            }
            note_pass(size, size, 4);
            kernels_.rotate(vector, rotation_at(step.operation), false);
            ++state_.step;
            return true;
        case SimulationStep::Kind::activate:
            state_.norm_is_exact = false;
            note_pass(size, size_after, 8);
            kernels_.activate(vector, sum_of_run(step.operation));
            ++state_.step;
            return true;
        case SimulationStep::Kind::apply_phases:
            state_.norm_is_exact = false;
            note_pass(size, size_after, 6 * num_groups * (size_after / size));
            kernels_.apply_phases(vector, phases_of(step, false));
            state_.norm = std::ldexp(state_.norm, step.width_after - step.width_before);
            ++state_.step;
            return true;
        case SimulationStep::Kind::weakly_measure: {
            const Operation sum = sum_of_run(step.operation);
            note_pass(size, 0, 24);
            state_.woken = {sum.cosine, sum.sine};
            state_.weights = kernels_.weak_weights(vector, measured_by(step), sum.cosine, sum.sine);
            break;
        }
        case SimulationStep::Kind::measure:
            note_pass(size, 0, 6);
            state_.weights = kernels_.outcome_weights(vector, operation);
            break;
        case SimulationStep::Kind::measure_through:
            if (known != nullptr && operation.outcome == known->outcome) {
                phases_of(step, true);
                state_.weights = {1 - known->probability_of_one, known->probability_of_one};
                state_.is_known = true;
                return false;
            }
            note_pass(size, 0, (6 * num_groups + 4) * (size_after / size) / 2 + 3);
            if (!state_.norm_is_exact) state_.norm = kernels_.squared_norm(vector, step.width_before);
            state_.weights = kernels_.weights_through(vector, phases_of(step, true), operation, state_.norm);
            break;
    }
    const auto [zero, one] = state_.weights;
    const double probability_of_one = one / (zero + one);
    if (probability_of_one >= certain && probability_of_one <= 1 - certain) return false;
    take(probability_of_one > 0.5);
    return true;
}

void OutcomeLaws::take(bool outcome) {
    const SimulationStep& step = plan_.steps.steps[state_.step];
    const Operation& measurement = measured_by(step);
    const double weight = outcome ? state_.weights.one : state_.weights.zero;
    double* const vector = vector_.data();
    const uint64_t size = uint64_t{1} << step.width_before, size_left = uint64_t{1} << (step.width_after - 1);
    const uint64_t num_groups = step.product.groups.size();
    const bool is_weak = step.kind == SimulationStep::Kind::weakly_measure, goes_through = step.kind == SimulationStep::Kind::measure_through;
    note_pass(size, is_weak ? size : size_left, is_weak ? 12 : goes_through ? (6 * num_groups + 6) * size_left / size : 3);
    const double old_norm = std::exchange(state_.norm, 1);
    state_.norm_is_exact = true;
    if (goes_through) {
        // The norm need not be exact where no weight is calculated from it.
        const bool is_known = std::exchange(state_.is_known, false);
        state_.norm = kernels_.project_through(vector, phases_, measurement, outcome, !is_known);
        if (is_known) {
            state_.norm = old_norm * std::ldexp(weight, 1 + step.width_after - step.width_before);
            state_.norm_is_exact = false;
        }
        if (state_.norm > max_norm || state_.norm < 1 / max_norm) normalize(step.width_after - 1);
    } else if (is_weak) {
        kernels_.weak_project(vector, measurement, state_.woken.cosine, state_.woken.sine, outcome, weight);
    } else {
        kernels_.project(vector, measurement, outcome, weight);
    }
    for (const auto& [into, from] : step.merged) state_.angles[into] = state_.angles[into] + state_.angles[from];
    if (outcome)
        flip_words(state_.row.data(), &plan_.outcome_effects[size_t(measurement.outcome) * plan_.branch_words],
                   plan_.branch_words);
    state_.check_fired |= fires(measurement);
    ++state_.step;
}

const Operation& OutcomeLaws::measured_by(const SimulationStep& step) const {
    const bool after_activation = step.kind == SimulationStep::Kind::weakly_measure;
    return plan_.operations[after_activation ? plan_.run_ends[step.operation] : step.operation];
}

bool OutcomeLaws::fires(const Operation& measurement) const {
    const uint64_t* final_checks = &plan_.final_checks[size_t(measurement.outcome) * plan_.sign_words];
    for (uint32_t w = 0; w < plan_.sign_words; ++w)
        if ((state_.row[w] & final_checks[w]) != 0) return true;
    return false;
}

}  // namespace snc
