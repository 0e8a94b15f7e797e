#include "rates/matching/least_matching.h"

#include <algorithm>
#include <iterator>

namespace snc {

namespace {

constexpr int64_t infinite = std::numeric_limits<int64_t>::max() / 4;

}  // namespace

int64_t LeastMatching::weight(Distances& distances, std::span<const uint32_t> nodes) {
    distances_ = &distances;
    num_events_ = 0;
    total_ = 0;
    stride_ = nodes.size() + 1;  // with room for one more
    const size_t room = stride_;
    if (sets_.size() < 2 * room) sets_.resize(2 * room);
    nodes_.resize(room), rows_.resize(room), matrix_.resize(room * room), to_boundary_.resize(room), radius_.resize(room);
    top_.resize(room), reach_.resize(room), reached_from_.resize(room), partner_gap_.resize(room), partner_.resize(room);
    unused_.clear();
    for (size_t set = 2 * room; set-- > room;) unused_.push_back(static_cast<int32_t>(set));
    for (const uint32_t node : nodes)
        if (!add(node)) return -1;
    start_radii();
    for (int32_t event = 0; event < num_events_; ++event)
        if (sets_[event].mate == none) search(event);
    return total_;
}

int64_t LeastMatching::weight_with(uint32_t node) {
    if (!add(node)) return -1;
    const int32_t event = num_events_ - 1;
    int64_t least = to_boundary_[event];
    for (int32_t other = 0; other < event; ++other) least = std::min(least, distance(event, other) - radius_[other]);
    radius_[event] = least;  // it may be negative
    total_ += least;
    search(event);
    return total_;
}

bool LeastMatching::add(uint32_t node) {
    const uint32_t* row = distances_->from(node);
    if (row == nullptr) return false;
    const int32_t event = num_events_++;
    nodes_[event] = node;
    rows_[event] = row;
    to_boundary_[event] = distances_->to_boundary(node);
    radius_[event] = 0;
    top_[event] = event;
    for (int32_t other = 0; other <= event; ++other)
        matrix_[static_cast<size_t>(event) * stride_ + other] = matrix_[static_cast<size_t>(other) * stride_ + event] = row[nodes_[other]];
    Set& set = sets_[event];
    set.parent = set.matched = set.mate = none;
    set.label = Label::free;
    set.surplus = 0;
    set.events.assign(1, event);
    return true;
}

// Half of the way to the nearest other event, then as far as it goes; events that touch then are matched.
void LeastMatching::start_radii() {
    for (int32_t event = 0; event < num_events_; ++event) {
        int64_t nearest = infinite;
        for (int32_t other = 0; other < num_events_; ++other)
            if (other != event) nearest = std::min(nearest, distance(event, other));
        radius_[event] = std::min(to_boundary_[event], nearest / 2);
        total_ += radius_[event];
    }
    for (int32_t event = 0; event < num_events_; ++event) {
        if (sets_[event].mate != none) continue;
        int64_t room = to_boundary_[event] - radius_[event];
        int32_t touched = boundary;
        for (int32_t other = 0; other < num_events_; ++other) {
            if (other == event) continue;
            const int64_t gap = distance(event, other) - radius_[event] - radius_[other];
            if (gap < room || (gap == room && sets_[other].mate == none)) room = gap, touched = other;
        }
        radius_[event] += room;
        total_ += room;
        if (touched == boundary) {
            sets_[event].matched = event;
            sets_[event].mate = boundary;
        } else if (sets_[touched].mate == none) {
            pair_up(event, touched);
        }
    }
}

void LeastMatching::search(int32_t root) {
    time_ = 0;
    std::fill_n(reach_.begin(), num_events_, infinite);
    set_label(root, Label::outer);
    scan(root);
    while (!apply(next_step())) {
    }
    total_ += time_;
    finish();
}

LeastMatching::Step LeastMatching::next_step() {
    Step next;
    const auto consider = [&next](int64_t time, Step::Kind kind, int32_t place) {
        if (time < next.time) next = {time, kind, place};
    };
    for (int32_t event = 0; event < num_events_; ++event) {
        const int32_t top = top_[event];
        switch (sets_[top].label) {
            case Label::outer:
                consider(to_boundary_[event] - radius_[event], Step::Kind::boundary, event);
                if (partner_[event] != none && top_[partner_[event]] == top) scan(event);
                if (partner_[event] != none) consider(partner_gap_[event] / 2, Step::Kind::join, event);
                break;
            case Label::free:
                consider(reach_[event] - radius_[event], Step::Kind::grow, event);
                break;
            case Label::inner:
                if (top >= static_cast<int32_t>(stride_)) consider(sets_[top].surplus, Step::Kind::expand, top);
                break;
        }
    }
    return next;
}

bool LeastMatching::apply(const Step& step) {
    time_ = step.time;
    switch (step.kind) {
        case Step::Kind::boundary:
            match_path(step.place, boundary);
            return true;
        case Step::Kind::grow: {
            Set& set = sets_[top_[step.place]];
            if (set.mate >= 0) {
                grow(step.place);
                return false;
            }
            const int32_t origin = reached_from_[step.place];
            set.matched = step.place;
            set.mate = origin;
            match_path(origin, step.place);
            return true;
        }
        case Step::Kind::join:
            join(step.place, partner_[step.place]);
            return false;
        case Step::Kind::expand:
            expand(step.place);
            return false;
    }
    return false;
}

void LeastMatching::grow(int32_t event) {
    const int32_t inner = top_[event];
    set_label(inner, Label::inner);
    sets_[inner].entry = event;
    sets_[inner].origin = reached_from_[event];
    const int32_t outer = top_[sets_[inner].mate];
    set_label(outer, Label::outer);
    for (const int32_t each : sets_[outer].events) scan(each);
}

// Two outer sets of the tree touch: with the paths to their common ancestor they become a blossom.
void LeastMatching::join(int32_t first, int32_t second) {
    const int32_t ancestor = common_ancestor(top_[first], top_[second]);
    const int32_t made = new_blossom();
    Set& blossom = sets_[made];
    blossom.children = path_to(top_[first], ancestor, blossom.edges);
    std::ranges::reverse(blossom.children);
    std::ranges::reverse(blossom.edges);
    for (auto& [from, to] : blossom.edges) std::swap(from, to);
    blossom.edges.emplace_back(first, second);
    std::vector<std::pair<int32_t, int32_t>> edges;
    const std::vector<int32_t> back = path_to(top_[second], ancestor, edges);
    blossom.children.insert(blossom.children.end(), back.begin(), back.end() - 1);
    blossom.edges.insert(blossom.edges.end(), edges.begin(), edges.end());
    blossom.matched = sets_[ancestor].matched;
    blossom.mate = sets_[ancestor].mate;
    std::vector<int32_t> fresh;
    for (const int32_t child : blossom.children) {
        Set& set = sets_[child];
        if (set.label == Label::inner) fresh.insert(fresh.end(), set.events.begin(), set.events.end());
        set_label(child, Label::outer);
        set.surplus += time_;
        set.label = Label::free;
        set.parent = made;
        blossom.events.insert(blossom.events.end(), set.events.begin(), set.events.end());
    }
    blossom.label = Label::outer;
    blossom.surplus = -time_;
    for (const int32_t event : blossom.events) top_[event] = made;
    for (const int32_t event : fresh) scan(event);
}

// An inner blossom that adds nothing to radii any more falls apart. Its children on the even way from where the tree enters it to
// where it leaves it stay in the tree.
void LeastMatching::expand(int32_t blossom) {
    Set& whole = sets_[blossom];
    const auto size = static_cast<int32_t>(whole.children.size());
    const auto place_of = [&](int32_t event) {
        return static_cast<int32_t>(std::ranges::find(whole.children, child_with(blossom, event)) - whole.children.begin());
    };
    const int32_t first = place_of(whole.entry), last = place_of(whole.matched);
    const auto child_at = [&](int32_t place) { return whole.children[static_cast<size_t>((place % size + size) % size)]; };
    const auto edge_at = [&](int32_t place) { return whole.edges[static_cast<size_t>((place % size + size) % size)]; };
    set_label(blossom, Label::free);
    for (const int32_t child : whole.children) {
        sets_[child].parent = none;
        for (const int32_t event : sets_[child].events) top_[event] = child;
    }
    sets_[child_at(last)].matched = whole.matched;
    sets_[child_at(last)].mate = whole.mate;
    for (int32_t k = 1; k < size; k += 2) {
        const auto [from, to] = edge_at(last + k);
        pair_up(from, to);
    }
    const bool forward = ((first - last) % size + size) % size % 2 == 1;
    int32_t place = first, entry = whole.entry, origin = whole.origin;
    std::vector<int32_t> fresh;
    while (true) {
        const int32_t inner = child_at(place);
        set_label(inner, Label::inner);
        sets_[inner].entry = entry;
        sets_[inner].origin = origin;
        if (inner == child_at(last)) break;
        place += forward ? 1 : -1;
        const int32_t outer = child_at(place);
        set_label(outer, Label::outer);
        fresh.insert(fresh.end(), sets_[outer].events.begin(), sets_[outer].events.end());
        const auto [from, to] = edge_at(forward ? place : place - 1);
        origin = forward ? from : to;
        entry = forward ? to : from;
        place += forward ? 1 : -1;
    }
    unused_.push_back(blossom);
    for (const int32_t event : fresh) scan(event);
}

// Matches an outer event with a mate outside of the tree, and the sets on the way to the root with each other.
void LeastMatching::match_path(int32_t event, int32_t mate) {
    while (true) {
        Set& outer = sets_[top_[event]];
        const int32_t before = outer.mate;
        outer.matched = event;
        outer.mate = mate;
        if (before == none) return;
        Set& inner = sets_[top_[before]];
        inner.matched = inner.entry;
        inner.mate = inner.origin;
        event = inner.origin;
        mate = inner.entry;
    }
}

// All sets are free again, with the radii that they have now.
void LeastMatching::finish() {
    for (int32_t event = 0; event < num_events_; ++event)
        if (sets_[top_[event]].label != Label::free) set_label(top_[event], Label::free);
}

// An outer event: which one of another outer set is nearest, and how far all others are from it.
void LeastMatching::scan(int32_t event) {
    const int32_t top = top_[event];
    partner_[event] = none;
    partner_gap_[event] = infinite;
    for (int32_t other = 0; other < num_events_; ++other) {
        if (top_[other] == top) continue;
        const int64_t gap = distance(event, other) - radius_[event];
        if (sets_[top_[other]].label == Label::outer) {
            if (gap - radius_[other] < partner_gap_[event]) partner_gap_[event] = gap - radius_[other], partner_[event] = other;
        } else if (gap < reach_[other]) {
            reach_[other] = gap;
            reached_from_[other] = event;
        }
    }
}

void LeastMatching::set_label(int32_t set, Label label) {
    Set& changed = sets_[set];
    const int64_t difference = growth(changed.label) - growth(label);
    for (const int32_t event : changed.events) radius_[event] += difference;
    changed.surplus += difference;
    changed.label = label;
}

// The sets from an outer one to its ancestor, and the edges between them.
std::vector<int32_t> LeastMatching::path_to(int32_t set, int32_t ancestor, std::vector<std::pair<int32_t, int32_t>>& edges) const {
    std::vector<int32_t> path{set};
    while (set != ancestor) {
        const int32_t inner = top_[sets_[set].mate];
        edges.emplace_back(sets_[set].matched, sets_[set].mate);
        edges.emplace_back(sets_[inner].entry, sets_[inner].origin);
        set = top_[sets_[inner].origin];
        path.push_back(inner);
        path.push_back(set);
    }
    return path;
}

int32_t LeastMatching::common_ancestor(int32_t first, int32_t second) {
    ++visits_;
    for (int32_t set = first; set != none; set = parent_in_tree(set)) sets_[set].visit = visits_;
    while (sets_[second].visit != visits_) second = parent_in_tree(second);
    return second;
}

int32_t LeastMatching::parent_in_tree(int32_t outer) const {
    return sets_[outer].mate == none ? none : top_[sets_[top_[sets_[outer].mate]].origin];
}

int32_t LeastMatching::child_with(int32_t blossom, int32_t event) const {
    int32_t set = event;
    while (sets_[set].parent != blossom) set = sets_[set].parent;
    return set;
}

int32_t LeastMatching::new_blossom() {
    const int32_t made = unused_.back();
    unused_.pop_back();
    Set& set = sets_[made];
    set.parent = none;
    set.label = Label::free;
    set.events.clear(), set.children.clear(), set.edges.clear();
    return made;
}

void LeastMatching::pair_up(int32_t first, int32_t second) {
    Set& one = sets_[top_[first]];
    Set& other = sets_[top_[second]];
    one.matched = other.mate = first;
    one.mate = other.matched = second;
}

}  // namespace snc
