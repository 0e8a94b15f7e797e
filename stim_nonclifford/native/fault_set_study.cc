#include "fault_set_study.h"

#include <algorithm>
#include <atomic>
#include <cmath>

#include "fault_set_search.h"
#include "parallel_parts.h"
#include "philox.h"

namespace snc {

namespace {

// Parts of the search are combined into groups. Sums are taken within each group, then over the groups in order.
constexpr size_t max_groups = 64;

// The number of draws of a join that are joined together.
constexpr uint32_t draw_chunk = 4096;

// The number of sets of a join after which their keys are numbered.
constexpr size_t join_block = size_t{1} << 22;

class Uniform {
   public:
    Uniform(uint64_t seed, Stream stream, uint64_t index) : seed_(seed), stream_(stream), index_(index) {}
    double operator()() {
        if (used_ % words_per_draw == 0) words_ = random_words(seed_, stream_, index_, used_ / words_per_draw);
        return uniform(words_[used_++ % words_per_draw]);
    }

   private:
    uint64_t seed_;
    Stream stream_;
    uint64_t index_, used_ = 0;
    DrawnWords words_{};
};

// Random points on an axis, on average one for each spacing.
class PoissonPoints {
   public:
    PoissonPoints(Uniform numbers, double spacing) : numbers_(numbers), spacing_(spacing) { next(); }
    // Advances by a length. Returns the number of points on the way.
    uint32_t pass(double length) {
        uint32_t points = 0;
        for (left_ -= length; left_ < 0; next()) ++points;
        return points;
    }

    double uniform() { return numbers_(); }

   private:
    void next() { left_ -= spacing_ * std::log1p(-numbers_()); }

    Uniform numbers_;
    double spacing_, left_ = 0;
};

}  // namespace

FaultSetStudy::FaultSetStudy(Plan plan, const Kernels& kernels, FaultSetMechanisms mechanisms, std::vector<uint64_t> coins,
                             uint32_t max_weight, uint32_t num_threads, uint64_t max_pair_bytes, std::function<void()> interrupted)
    : plan_(std::move(plan)),
      kernels_(kernels),
      table_(std::move(mechanisms)),
      sampler_(table_, max_weight),
      coins_(std::move(coins)),
      num_threads_(num_threads),
      max_pair_bytes_(max_pair_bytes),
      interrupted_(std::move(interrupted)),
      keys_(table_.key_words()) {
    list_pairs();
}

void FaultSetStudy::list_pairs() {
    if (!table_.knows_pairs() && table_.bytes_for_pairs() <= max_pair_bytes_) table_.list_pairs();
}

void FaultSetStudy::release() {
    table_.forget_pairs();
    closed_ = {};
}

// make_visitor(group) returns the visitor for the sets of a group; start(part) tells the visitor that a part begins.
template <typename MakeVisitor>
bool FaultSetStudy::search(uint32_t weight, FaultSetGoal goal, uint64_t max_steps, uint64_t& steps, MakeVisitor make_visitor) const {
    using Visitor = decltype(make_visitor(size_t{0}));
    const size_t num_parts = [&] {
        Visitor visitor = make_visitor(size_t{0});
        return FaultSetSearch<Visitor>(table_, weight, visitor, goal).num_parts();
    }();
    std::atomic<uint64_t> all_steps = 0;
    const size_t num_groups = std::min(num_parts, max_groups);
    run_parts(num_groups, num_threads_, interrupted_, [&] {
        return [&](size_t group) {
            Visitor visitor = make_visitor(group);
            FaultSetSearch<Visitor> search(table_, weight, visitor, goal);
            for (size_t part = group; part < num_parts && all_steps <= max_steps; part += num_groups) {
                visitor.start(part);
                const uint64_t before = search.steps();
                search.run_part(static_cast<uint32_t>(part));
                all_steps += search.steps() - before;
            }
        };
    });
    steps = all_steps;
    return all_steps <= max_steps;
}

FaultSetStudy::Enumeration FaultSetStudy::enumerate(uint32_t weight, const Weights& circuits, size_t num_circuits, uint64_t max_steps,
                                                    uint64_t max_keys, Storage storage) {
    const size_t size = table_.num_mechanisms();
    struct Group {
        FaultSetKeys keys;
        std::vector<double> masses;
        uint64_t sets = 0;
    };
    std::vector<Group> groups(max_groups, Group{FaultSetKeys(table_.key_words()), {}, 0});
    std::atomic<bool> has_room = true;
    struct Visitor {
        const FaultSetTable& table;
        const Weights& circuits;
        size_t size, num_circuits;
        uint32_t weight;
        uint64_t max_keys;
        std::atomic<bool>& has_room;
        Group& group;
        std::vector<uint64_t> key;

        enum : bool { draws = false };
        void start(size_t) {}
        void operator()(const uint32_t* members, double) {
            ++group.sets;
            table.key_of({members, weight}, key.data());
            if (group.keys.size() >= max_keys) {
                has_room = false;
                return;
            }
            const size_t number = group.keys.number_of(key.data());
            if (group.masses.size() <= number * num_circuits) group.masses.resize((number + 1) * num_circuits);
            for (size_t c = 0; c < num_circuits; ++c) {
                double product = 1;
                for (uint32_t k = 0; k < weight; ++k) product *= circuits[c * size + members[k]];
                group.masses[number * num_circuits + c] += product;
            }
        }
    };
    Enumeration found;
    found.is_complete = search(weight, FaultSetGoal::target, max_steps, found.steps, [&](size_t group) {
        return Visitor{table_, circuits, size, num_circuits, weight, max_keys, has_room, groups[group], std::vector<uint64_t>(table_.key_words())};
    });
    found.is_complete = found.is_complete && has_room;
    for (const Group& group : groups) found.sets += group.sets;
    if (!found.is_complete) return found;
    FaultSetKeys keys(table_.key_words());
    for (Group& group : groups) {
        for (uint32_t k = 0; k < group.keys.size(); ++k) {
            const size_t number = keys.number_of(group.keys.key(k));
            if (found.masses.size() <= number * num_circuits) found.masses.resize((number + 1) * num_circuits);
            for (size_t c = 0; c < num_circuits; ++c) found.masses[number * num_circuits + c] += group.masses[k * num_circuits + c];
        }
        group = Group{FaultSetKeys(table_.key_words()), {}, 0};
        if (keys.size() > max_keys) {
            found.is_complete = false;
            return found;
        }
    }
    found.num_keys = keys.size();
    found.left_out.resize(num_circuits);
    const std::vector<uint32_t> numbers = store(keys, storage);
    for (uint32_t k = 0; k < keys.size(); ++k) {
        const double* const from = &found.masses[k * num_circuits];
        double* const to = numbers[k] == FaultSetKeys::none ? found.left_out.data() : &found.masses[found.keys.size() * num_circuits];
        for (size_t c = 0; c < num_circuits; ++c) to[c] = (numbers[k] == FaultSetKeys::none ? to[c] : 0) + from[c];
        if (numbers[k] != FaultSetKeys::none) found.keys.push_back(numbers[k]);
    }
    found.masses.resize(found.keys.size() * num_circuits);
    return found;
}

const ClosedSets& FaultSetStudy::closed_sets(uint32_t weight) {
    ClosedSets& closed = closed_[weight];
    if (closed.weight != 0) return closed;
    closed.weight = weight;
    struct Visitor {
        ClosedSets& found;

        enum : bool { draws = false };
        void start(size_t) {}
        void operator()(const uint32_t* members, double set_weight) {
            found.members.insert(found.members.end(), members, members + found.weight);
            found.sums.push_back(set_weight);
        }
    };
    std::vector<ClosedSets> groups(max_groups, ClosedSets{weight, {}, {}});
    uint64_t steps = 0;
    search(weight, FaultSetGoal::nothing, ~uint64_t{0}, steps, [&](size_t group) { return Visitor{groups[group]}; });
    for (const ClosedSets& group : groups) {
        closed.members.insert(closed.members.end(), group.members.begin(), group.members.end());
        for (double set_weight : group.sums) closed.sums.push_back(closed.total() + set_weight);
    }
    return closed;
}

FaultSetStudy::Draws FaultSetStudy::draw(uint32_t weight, double spacing, uint64_t seed, uint64_t max_draws) {
    if (weight > 2) closed_sets(2);
    if (weight > 3) closed_sets(3);
    struct Visitor {
        const ClosedSets* closed;  // [weight]
        uint32_t max_closed;
        std::vector<uint32_t>& members;
        uint32_t weight;
        double spacing;
        uint64_t seed;
        uint64_t points_left;  // how many more are allowed
        std::atomic<bool>& has_room;
        PoissonPoints axis;

        enum : bool { draws = true };
        void start(size_t part) { axis = PoissonPoints(Uniform(seed, Stream::set_draws, uint64_t{weight} << 40 | part), spacing); }
        const ClosedSets* closed_sets(uint32_t left) const { return left <= max_closed && left < weight ? closed + left : nullptr; }
        uint32_t points(double length) {
            if (!has_room || length > spacing * static_cast<double>(points_left)) {
                has_room = false;
                return 0;
            }
            const uint32_t found = axis.pass(length);
            points_left -= std::min<uint64_t>(found, points_left);
            return found;
        }
        double uniform() { return axis.uniform(); }
        void operator()(const uint32_t* set, double) { members.insert(members.end(), set, set + weight); }
    };
    std::vector<std::vector<uint32_t>> groups(max_groups);
    Draws found;
    std::atomic<bool> has_room = true;
    // Some points give no set: the members of the set at that point exclude one another.
    constexpr uint64_t points_of_a_draw = 64;
    search(weight, FaultSetGoal::target, ~uint64_t{0}, found.steps, [&](size_t group) {
        return Visitor{closed_.data(), std::min(3U, weight - 1), groups[group], weight, spacing, seed,
                       points_of_a_draw * max_draws, has_room, PoissonPoints(Uniform(seed, Stream::set_draws, 0), spacing)};
    });
    found.is_complete = has_room;
    for (auto& group : groups) {
        if (!found.is_complete) break;
        found.members.insert(found.members.end(), group.begin(), group.end());
        group = {};
    }
    return found;
}

FaultSetStudy::Join FaultSetStudy::join(uint32_t left, uint32_t right, uint32_t draws, double stride, uint64_t seed, uint64_t round,
                                         uint64_t max_sets, const Weights& ratios, size_t num_circuits, Storage storage) {
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
        run_parts((draws + draw_chunk - 1) / draw_chunk, num_threads_, interrupted_, [&] {
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
    run_parts(2, num_threads_, interrupted_, [&] { return [&](size_t side) { std::ranges::sort(sides[side].hashes); }; });

    Join found;
    found.left_out.resize(num_circuits);
    std::vector<uint32_t> left_counts(draws), right_counts(draws);
    PoissonPoints points(Uniform(seed, Stream::selections, index), stride);
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
        first = std::find_if(first, sides[1].hashes.cend(), [&](const auto& other) { return other.first >= hash; });
        for (auto other = first; other != sides[1].hashes.cend() && other->first == hash; ++other) {
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
            for (uint32_t count = stride > 1 ? points.pass(1) : 1; count > 0; --count) {
                found.members.insert(found.members.end(), a, a + left);
                found.members.insert(found.members.end(), b, b + right);
                found.left.push_back(l);
                found.right.push_back(r);
            }
            if (found.left.size() >= found.keys.size() + join_block) number_joined(found, weight, ratios, storage);
        }
    }
    number_joined(found, weight, ratios, storage);
    for (uint32_t count : left_counts) found.left_squares += static_cast<double>(count) * count;
    for (uint32_t count : right_counts) found.right_squares += static_cast<double>(count) * count;
    if (draws > 0) found.most_of_draw = std::max(std::ranges::max(left_counts), std::ranges::max(right_counts));
    return found;
}

std::vector<double> FaultSetStudy::member_sums(uint32_t weight, const Weights& odds, const std::vector<double>& values, uint32_t columns) {
    const size_t size = table_.num_mechanisms();
    std::vector<std::vector<double>> groups(max_groups, std::vector<double>(size * columns));
    struct Visitor {
        const FaultSetTable& table;
        const FaultSetKeys& keys;
        const Weights& odds;
        const std::vector<double>& values;
        uint32_t weight, columns;
        std::vector<double>& sums;
        std::vector<uint64_t> key;

        enum : bool { draws = false };
        void start(size_t) {}
        void operator()(const uint32_t* members, double) {
            table.key_of({members, weight}, key.data());
            const size_t number = keys.find(key.data());
            if (number * columns >= values.size()) return;
            const double* const of_key = values.data() + number * columns;
            if (std::all_of(of_key, of_key + columns, [](double value) { return value == 0; })) return;
            double product = 1;
            for (uint32_t k = 0; k < weight; ++k) product *= odds[members[k]];
            for (uint32_t k = 0; k < weight; ++k)
                for (uint32_t c = 0; c < columns; ++c) sums[members[k] * columns + c] += product * of_key[c];
        }
    };
    list_pairs();
    uint64_t steps = 0;
    search(weight, FaultSetGoal::target, ~uint64_t{0}, steps, [&](size_t group) {
        return Visitor{table_, keys_, odds, values, weight, columns, groups[group], std::vector<uint64_t>(table_.key_words())};
    });
    std::vector<double> sums(size * columns);
    for (const auto& group : groups)
        for (size_t k = 0; k < sums.size(); ++k) sums[k] += group[k];
    return sums;
}

std::vector<uint32_t> FaultSetStudy::sets_with(uint32_t weight, const std::vector<double>& values) {
    std::vector<std::vector<uint32_t>> groups(max_groups);
    struct Visitor {
        const FaultSetTable& table;
        const FaultSetKeys& keys;
        const std::vector<double>& values;
        uint32_t weight;
        std::vector<uint32_t>& found;
        std::vector<uint64_t> key;

        enum : bool { draws = false };
        void start(size_t) {}
        void operator()(const uint32_t* members, double) {
            table.key_of({members, weight}, key.data());
            const uint32_t number = keys.find(key.data());
            if (number < values.size() && values[number] > 0) found.insert(found.end(), members, members + weight);
        }
    };
    uint64_t steps = 0;
    search(weight, FaultSetGoal::target, ~uint64_t{0}, steps, [&](size_t group) {
        return Visitor{table_, keys_, values, weight, groups[group], std::vector<uint64_t>(table_.key_words())};
    });
    std::vector<uint32_t> all;
    for (const auto& group : groups) all.insert(all.end(), group.begin(), group.end());
    return all;
}

}  // namespace snc
