// Random samples of the fault sets of a weight.
#include <algorithm>
#include <atomic>
#include <functional>
#include <string>
#include <utility>

#include "base/resource_limit.h"
#include "fault_sets/fault_set_study.h"
#include "fault_sets/poisson_points.h"

namespace snc {

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

FaultSetStudy::Draws FaultSetStudy::draw(uint32_t weight, double spacing, uint64_t seed, uint64_t max_draws) {
    const Turns::Turn turn = this->turn();
    if (weight > 2) closed_sets(2);
    if (weight > 3) closed_sets(3);
    // Some points give no set: the members of the set at that point exclude one another.
    constexpr uint64_t points_of_a_draw = 64;
    const uint64_t most = points_of_a_draw * max_draws;
    SearchSteps steps(options_.num_threads);
    std::atomic<uint64_t> drawn = 0;
    constexpr uint64_t draws_per_check = 1024;
    struct Visitor {
        const ClosedSets* closed;  // [weight]
        uint32_t max_closed;
        std::vector<uint32_t>& members;
        uint32_t weight;
        double spacing;
        uint64_t seed;
        uint64_t points_left;  // how many more are allowed
        uint64_t most;         // draws in all groups
        std::atomic<uint64_t>& drawn;
        SearchSteps& steps;
        Looks look;
        PoissonPoints axis;

        enum : bool { draws = true };
        void start(size_t part) { axis = PoissonPoints(Uniform(seed, Stream::set_draws, uint64_t{weight} << 40 | part), spacing); }
        const ClosedSets* closed_sets(uint32_t left) const { return left <= max_closed && left < weight ? closed + left : nullptr; }
        uint32_t points(double length) {
            if (length > spacing * static_cast<double>(points_left)) steps.end_here();
            const uint32_t found = axis.pass(length, look);
            points_left -= std::min<uint64_t>(found, points_left);
            return found;
        }
        double uniform() { return axis.uniform(); }
        void operator()(const uint32_t* set, double) {
            members.insert(members.end(), set, set + weight);
            if (members.size() % (draws_per_check * weight) == 0 && (drawn += draws_per_check) > most) steps.end_here();
        }
    };
    std::vector<std::vector<uint32_t>> groups(max_groups);
    Draws found;
    const auto make_visitor = [&](size_t group, Interruption& interruption) {
        return Visitor{closed_.data(), std::min(3U, weight - 1), groups[group], weight, spacing, seed, most, most, drawn, steps,
                       Looks(interruption), PoissonPoints(Uniform(seed, Stream::set_draws, 0), spacing)};
    };
    search(weight, FaultSetGoal::target(table_), steps, make_visitor, [](size_t, Interruption&) {});
    found.steps = steps.total();
    uint64_t numbers = 0;
    for (const auto& group : groups) numbers += group.size();
    found.is_complete = !steps.has_ended() && numbers <= most * weight;
    if (!found.is_complete) return found;
    found.members = joined(std::move(groups));
    return found;
}

}  // namespace snc
