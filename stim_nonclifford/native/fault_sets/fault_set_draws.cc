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

namespace {

// The number of draws of a join that are joined together.
constexpr uint32_t draw_chunk = 4096;

// The number of sets of a join after which their keys are numbered.
constexpr size_t join_block = size_t{1} << 22;

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
    visit_all(weight, FaultSetGoal::nothing, steps, [&](size_t number) {
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
    search(weight, FaultSetGoal::target, steps, make_visitor, [](size_t, Interruption&) {});
    found.steps = steps.total();
    uint64_t numbers = 0;
    for (const auto& group : groups) numbers += group.size();
    found.is_complete = !steps.has_ended() && numbers <= most * weight;
    if (!found.is_complete) return found;
    found.members = joined(std::move(groups));
    return found;
}

FaultSetStudy::Join FaultSetStudy::join(uint32_t left, uint32_t right, uint32_t draws, uint64_t seed, uint64_t round,
                                         uint64_t max_sets, const Weights& ratios, size_t num_circuits, Storage storage) {
    const Turns::Turn turn = this->turn();
    struct Side {
        uint32_t weight;
        Stream stream;
        std::vector<uint32_t> members;
        std::vector<std::pair<uint64_t, uint32_t>> hashes;
    };
    const uint32_t weight = left + right;
    const uint64_t index = uint64_t{weight} << 56 | round << 32;
    Side sides[2] = {{left, Stream::left_parts, {}, {}}, {right, Stream::right_parts, {}, {}}};
    for (Side& side : sides) {
        side.members.resize(size_t{draws} * side.weight);
        side.hashes.resize(draws);
        const uint64_t target = side.stream == Stream::right_parts ? table_.target_hash() : 0;
        run_parts((size_t{draws} + draw_chunk - 1) / draw_chunk, options_.num_threads, interrupted_, [&](Interruption&) {
            return [&](size_t chunk) {
                Uniform numbers(seed, side.stream, index | chunk);
                const size_t end = std::min<size_t>((chunk + 1) * draw_chunk, draws);
                for (size_t k = chunk * draw_chunk; k < end; ++k) {
                    uint32_t* const members = &side.members[k * side.weight];
                    sampler_.draw(side.weight, std::ref(numbers), members);
                    uint64_t hash = target;
                    for (uint32_t m = 0; m < side.weight; ++m) hash ^= table_.hash(members[m]);
                    side.hashes[k] = {hash, static_cast<uint32_t>(k)};
                }
            };
        });
    }
    run_parts(2, options_.num_threads, interrupted_, [&](Interruption& interruption) {
        return [&](size_t side) { sort_with_looks(sides[side].hashes, interruption, std::less{}); };
    });
    Interruption interruption(interrupted_);
    Looks look(interruption);

    Join found;
    found.left_out.resize(num_circuits);
    std::vector<uint32_t> left_counts(draws), right_counts(draws);
    const uint32_t words = table_.check_words();
    std::vector<uint64_t> residue(words);
    const auto is_set = [&](const uint32_t* a, const uint32_t* b) {
        for (uint32_t k = 0; k < left; ++k)
            for (uint32_t m = 0; m < right; ++m)
                if (a[k] == b[m] || table_.exclude_each_other(a[k], b[m])) return false;
        std::copy_n(table_.target(), words, residue.begin());
        const auto flip = [&](uint32_t m) {
            for (uint32_t w = 0; w < words; ++w) residue[w] ^= table_.checks(m)[w];
        };
        std::for_each_n(a, left, flip);
        std::for_each_n(b, right, flip);
        return std::ranges::all_of(residue, [](uint64_t word) { return word == 0; });
    };
    auto first = sides[1].hashes.cbegin();
    for (const auto& [hash, l] : sides[0].hashes) {
        look();
        first = std::find_if(first, sides[1].hashes.cend(), [&](const auto& other) { return other.first >= hash; });
        for (auto other = first; other != sides[1].hashes.cend() && other->first == hash; ++other) {
            look();
            const uint32_t r = other->second;
            const uint32_t *a = sides[0].members.data() + size_t{l} * left, *b = sides[1].members.data() + size_t{r} * right;
            if (!is_set(a, b)) continue;
            if (++found.sets > max_sets) {
                Join none;
                none.is_complete = false;
                none.sets = found.sets;
                return none;
            }
            ++left_counts[l];
            ++right_counts[r];
            found.members.insert(found.members.end(), a, a + left);
            found.members.insert(found.members.end(), b, b + right);
            found.left.push_back(l);
            found.right.push_back(r);
            if (found.left.size() >= found.keys.size() + join_block) number_joined(found, weight, ratios, storage);
        }
    }
    number_joined(found, weight, ratios, storage);
    for (uint32_t count : left_counts) found.left_squares += static_cast<double>(count) * count;
    for (uint32_t count : right_counts) found.right_squares += static_cast<double>(count) * count;
    if (draws > 0) found.most_of_draw = std::max(std::ranges::max(left_counts), std::ranges::max(right_counts));
    return found;
}

}  // namespace snc
