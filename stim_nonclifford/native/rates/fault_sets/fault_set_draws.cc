// Random samples of the fault sets of a weight.
#include <algorithm>
#include <atomic>
#include <cmath>
#include <functional>
#include <string>
#include <utility>

#include "base/random_points.h"
#include "base/resource_limit.h"
#include "rates/fault_sets/fault_set_study.h"

namespace snc {

namespace {

// About the weight of all sets of so many mechanisms in which each, after the first, flips the first check of those before.
double weight_of_beginnings(const FaultSetTable& table, uint32_t members) {
    double ones = 0, pairs = 0;
    for (uint32_t m = 0; m < table.num_mechanisms(); ++m) {
        ones += table.weight(m);
        const uint32_t check = table.first_check(table.checks(m));
        if (check == FaultSetTable::none) continue;
        for (uint32_t other : table.flipping(check)) pairs += table.weight(m) * table.weight(other);
    }
    return ones * std::pow(pairs / ones, members - 1);
}

}  // namespace

const ClosedSets& FaultSetStudy::closed_sets(uint32_t weight) {
    if (closed_[weight].weight != 0) return closed_[weight];
    const uint64_t bytes_of_set = weight * sizeof(uint32_t) + sizeof(double), most = options_.max_bytes / bytes_of_set;
    const auto check = [=, this](uint64_t sets) {
        if (sets > most)
            throw ResourceLimit("To draw fault sets, all sets of " + std::to_string(weight) +
                                " mechanisms that flip no noise-only check are listed. There are more than " + with_commas(most) +
                                " such sets of " + std::to_string(bytes_of_set) + " bytes; the limit is " +
                                with_commas(options_.max_bytes) + " bytes. Raise max_bytes, or count errors instead: "
                                "compile_detector_sampler(...).sample_counts(shots).");
    };
    std::atomic<uint64_t> listed = 0;
    constexpr uint64_t sets_per_check = 1024;
    std::vector<ClosedSets> groups(max_groups, ClosedSets{weight, {}, {}});
    SearchSteps steps(options_.num_threads);
    visit_all(weight, FaultSetGoal::nothing(table_), steps, [&](size_t number) {
        return [&, &found = groups[number]](const uint32_t* members, double set_weight) {
            found.members.insert(found.members.end(), members, members + weight);
            found.sums.push_back(set_weight);
            if (found.sums.size() % sets_per_check == 0) check(listed += sets_per_check);
        };
    });
    ClosedSets closed{weight, {}, {}};
    uint64_t sets = 0;
    for (const ClosedSets& group : groups) sets += group.sums.size();
    check(sets);
    closed.members.reserve(sets * weight);
    closed.sums.reserve(sets);
    for (ClosedSets& group : groups) {
        closed.members.insert(closed.members.end(), group.members.begin(), group.members.end());
        for (double set_weight : group.sums) closed.sums.push_back(closed.total() + set_weight);
        group = {};
    }
    if (weight == 2 && table_.knows_pairs() && !(table_.weight_of_pairs(0) >= closed.total()))
        throw std::logic_error("The bound on the weight of all pairs of equal mechanisms is below their weight.");
    closed_[weight] = std::move(closed);
    return closed_[weight];
}

FaultSetStudy::Draws FaultSetStudy::draw(uint32_t weight, double spacing, uint64_t seed, uint64_t max_draws, double per_clump,
                                         double passing, double max_seconds) {
    const Turns::Turn turn = this->turn();
    // The weight of a beginning of which so many draws are expected.
    const double always = weight > 3 && passing > 0 ? per_clump * spacing / passing * weight_of_beginnings(table_, weight - 3) : 0;
    if (weight > 2) closed_sets(2);
    if (weight > 3) closed_sets(3);
    // Some points give no set: the members of the set at that point exclude one another.
    constexpr uint64_t points_of_a_draw = 64;
    const uint64_t most = points_of_a_draw * max_draws;
    SearchSteps steps(options_.num_threads, SearchSteps::no_limit, max_seconds);
    std::atomic<uint64_t> drawn = 0;
    constexpr uint64_t draws_per_check = 1024;
    struct Visitor {
        const ClosedSets* closed;  // [weight]
        uint32_t max_closed;
        std::vector<uint32_t>&members, &clumps;
        uint32_t weight;
        double spacing, always;
        uint64_t seed;
        uint64_t points_left;  // how many more are allowed
        uint64_t most;         // draws in all groups
        std::atomic<uint64_t>& drawn;
        SearchSteps& steps;
        Looks look;
        PoissonPoints axis;
        double scale = 1;         // how many times as densely is drawn
        uint32_t next_clump = 0;

        enum : bool { draws = true };
        void start(size_t part) { axis = PoissonPoints(Uniform(seed, Stream::set_draws, uint64_t{weight} << 40 | part), spacing); }
        const ClosedSets* closed_sets(uint32_t left) const { return left <= max_closed && left < weight ? closed + left : nullptr; }
        bool enter(double product) {
            if (product >= always) return true;
            if (axis.uniform() * always >= product) return false;
            scale = always / product;
            ++next_clump;
            return true;
        }
        void leave() { scale = 1; }
        uint32_t points(double length) {
            length *= scale;
            if (length > spacing * static_cast<double>(points_left)) steps.end_here();
            const uint32_t found = axis.pass(length, look);
            points_left -= std::min<uint64_t>(found, points_left);
            return found;
        }
        double uniform() { return axis.uniform(); }
        void operator()(const uint32_t* set, double) {
            members.insert(members.end(), set, set + weight);
            clumps.push_back(scale == 1 ? ++next_clump : next_clump);
            if (members.size() % (draws_per_check * weight) == 0 && (drawn += draws_per_check) > most) steps.end_here();
        }
    };
    std::vector<std::vector<uint32_t>> groups(max_groups), clumps(max_groups);
    Draws found;
    const auto make_visitor = [&](size_t group, Interruption& interruption) {
        return Visitor{closed_.data(), std::min(3U, weight - 1), groups[group], clumps[group], weight, spacing, always, seed, most, most,
                       drawn, steps, Looks(interruption), PoissonPoints(Uniform(seed, Stream::set_draws, 0), spacing)};
    };
    search(weight, FaultSetGoal::target(table_), steps, make_visitor, [](size_t, Interruption&) {});
    found.steps = steps.total();
    uint64_t numbers = 0;
    for (const auto& group : groups) numbers += group.size();
    found.is_complete = !steps.has_ended() && numbers <= most * weight;
    if (!found.is_complete) return found;
    found.members = joined(std::move(groups));
    uint32_t before = 0;
    for (auto& group : clumps) {
        for (uint32_t& clump : group) clump += before;
        if (!group.empty()) before = *std::ranges::max_element(group);
    }
    found.clumps = joined(std::move(clumps));
    return found;
}

}  // namespace snc
