// Unions: fault sets that are unions of two sets that flip no check, sampled by their keys.
//
// The key of a union is the XOR of the keys of its halves. Far fewer keys than sets flip no check, so that combinations of two keys are
// what is evaluated: the heavy ones all, the others at random. Of each that may be kept, unions are drawn to learn how many of them
// are sets, and how often each of these is found.
#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cmath>
#include <numeric>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>

#include "base/random_points.h"
#include "base/resource_limit.h"
#include "rates/fault_sets/fault_set_study.h"

namespace snc {

namespace {

// Unions drawn, at least, of a combination that is evaluated in any case: their spread is the variance.
constexpr uint32_t fewest_unions = 2;

// The numbers of random words that a combination may take, four at a time.
constexpr uint32_t log_quads_of_combination = 24;

// All choices of so many numbers below `size`.
std::vector<std::vector<uint32_t>> subsets(uint32_t size, uint32_t chosen) {
    std::vector<std::vector<uint32_t>> found;
    for (uint32_t bits = 0; bits < uint32_t{1} << size; ++bits) {
        if (std::popcount(bits) != static_cast<int>(chosen)) continue;
        std::vector<uint32_t>& subset = found.emplace_back();
        for (uint32_t k = 0; k < size; ++k)
            if ((bits >> k & 1) != 0) subset.push_back(k);
    }
    return found;
}

}  // namespace

const ClosedSets& FaultSetStudy::closed_sets(uint32_t weight) {
    if (closed_[weight].weight != 0) return closed_[weight];
    const uint64_t bytes_of_set = weight * sizeof(uint32_t), most = options_.max_bytes / bytes_of_set;
    const auto check = [=, this](uint64_t sets) {
        if (sets > most)
            throw ResourceLimit("To sample unions of fault sets, all sets of " + std::to_string(weight) +
                                " mechanisms that flip no noise-only check are listed. There are more than " + with_commas(most) +
                                " such sets of " + std::to_string(bytes_of_set) + " bytes; the limit is " +
                                with_commas(options_.max_bytes) + " bytes. Raise max_bytes, or count errors instead: "
                                "compile_detector_sampler(...).sample_counts(shots).");
    };
    std::atomic<uint64_t> listed = 0;
    constexpr uint64_t sets_per_check = 1024;
    std::vector<ClosedSets> groups(max_groups, ClosedSets{weight, {}, 0});
    SearchSteps steps(options_.num_threads);
    visit_all(weight, FaultSetGoal::nothing(table_), steps, [&](size_t number) {
        return [&, &found = groups[number]](const uint32_t* members, double) {
            found.members.insert(found.members.end(), members, members + weight);
            ++found.count;
            if (found.count % sets_per_check == 0) check(listed += sets_per_check);
        };
    });
    ClosedSets closed{weight, {}, 0};
    uint64_t sets = 0;
    for (const ClosedSets& group : groups) sets += group.count;
    check(sets);
    closed.members.reserve(sets * weight);
    for (ClosedSets& group : groups) {
        closed.members.insert(closed.members.end(), group.members.begin(), group.members.end());
        group = {};
    }
    closed.count = sets;
    closed_[weight] = std::move(closed);
    return closed_[weight];
}

const ClosedKeys& FaultSetStudy::closed_keys(uint32_t weight) {
    ClosedKeys& found = closed_keys_[weight];
    if (found.weight != 0) return found;
    const ClosedSets& closed = closed_sets(weight);
    const size_t num_sets = closed.count;
    const uint32_t words = table_.key_words();
    const auto set = [&](size_t number) { return std::span(closed.members).subspan(number * weight, weight); };
    NumberedRows rows(words);
    std::vector<uint32_t> of_set(num_sets);
    std::vector<double> masses, weights(num_sets);
    std::vector<uint64_t> key(words);
    for (size_t s = 0; s < num_sets; ++s) {
        std::ranges::fill(key, 0);
        for (const uint32_t m : set(s))
            for (uint32_t w = 0; w < words; ++w) key[w] ^= table_.flips_of_key(m)[w];
        of_set[s] = rows.number_of(key.data());
        weights[s] = product_of(table_.weights().data(), set(s));
        masses.resize(rows.size());
        masses[of_set[s]] += weights[s];
    }
    std::vector<uint32_t> order, rank(rows.size());
    for (uint32_t k = 0; k < rows.size(); ++k)
        if (masses[k] > 0) order.push_back(k);
    std::ranges::stable_sort(order, [&](uint32_t a, uint32_t b) { return masses[a] > masses[b]; });
    found.sums.push_back(0);
    for (const uint32_t number : order) {
        rank[number] = static_cast<uint32_t>(found.size());
        found.keys.insert(found.keys.end(), rows.row(number), rows.row(number) + words);
        found.masses.push_back(masses[number]);
        found.sums.push_back(found.sums.back() + masses[number]);
    }
    found.starts.resize(found.size() + 1);
    for (const uint32_t number : of_set)
        if (masses[number] > 0) ++found.starts[rank[number] + 1];
    std::partial_sum(found.starts.begin(), found.starts.end(), found.starts.begin());
    found.members.resize(found.starts.back() * weight);
    found.set_sums.resize(found.starts.back());
    found.images.resize(found.size() * image_words());
    std::vector<size_t> places(found.starts.begin(), found.starts.end() - 1);
    for (size_t s = 0; s < num_sets; ++s) {
        if (masses[of_set[s]] == 0) continue;
        const size_t of_key = rank[of_set[s]], place = places[of_key]++;
        const bool is_first = place == found.starts[of_key];
        std::ranges::copy(set(s), &found.members[place * weight]);
        found.set_sums[place] = (is_first ? 0 : found.set_sums[place - 1]) + weights[s];
        if (is_first)
            for (const uint32_t m : set(s)) add_image(m, found.images.data() + of_key * image_words());
    }
    found.weight = weight;
    return found;
}

uint32_t FaultSetStudy::splits_into(const std::vector<std::vector<uint32_t>>& halves, std::span<const uint32_t> members) const {
    uint32_t closed = 0;
    for (const std::vector<uint32_t>& half : halves) {
        uint64_t hash = 0;
        for (const uint32_t k : half) hash ^= table_.hash(members[k]);
        if (hash != 0) continue;
        bool flips_none = true;
        for (uint32_t w = 0; w < table_.check_words(); ++w) {
            uint64_t word = 0;
            for (const uint32_t k : half) word ^= table_.checks(members[k])[w];
            flips_none = flips_none && word == 0;
        }
        closed += flips_none;
    }
    return closed;
}

FaultSetStudy::Composed FaultSetStudy::compose(uint32_t left, uint32_t right, double draws, uint64_t seed, uint64_t round, uint64_t max_keys,
                                               Storage storage) {
    const Turns::Turn turn = this->turn();
    const uint32_t weight = left + right, words = table_.key_words();
    const bool is_symmetric = left == right;
    const ClosedKeys &a_keys = closed_keys(left), &b_keys = closed_keys(right);
    if (a_keys.size() == 0 || b_keys.size() == 0)
        throw std::invalid_argument("No set of " + std::to_string(a_keys.size() == 0 ? left : right) + " mechanisms flips no check.");
    const double spacing = a_keys.sums.back() * b_keys.sums.back() / (is_symmetric ? 2 : 1) / draws;
    const uint64_t index = uint64_t{weight} << 56 | round << 32;
    const std::vector<std::vector<uint32_t>> halves = subsets(weight, left);
    // How many times a union is found; 0: it is no set.
    const auto times_found = [&](std::span<const uint32_t> members) {
        for (uint32_t k = 0; k < left; ++k)
            for (uint32_t m = left; m < weight; ++m)
                if (members[k] == members[m] || table_.exclude_each_other(members[k], members[m])) return 0U;
        return splits_into(halves, members) / (is_symmetric ? 2 : 1);
    };

    struct Group {
        NumberedRows keys;
        Composed found;  // with the numbers of these keys
    };
    std::vector<Group> groups(max_groups, Group{NumberedRows(words), {}});
    std::atomic<uint64_t> num_keys = 0;
    const auto make_worker = [&](Interruption& interruption) {
        return [&, may_be_kept = KeptTest(*this, storage), look = Looks(interruption), key = std::vector<uint64_t>(words),
                members = std::vector<uint32_t>(weight), image = std::vector<uint64_t>(image_words())](size_t number) mutable {
            NumberedRows& keys = groups[number].keys;
            Composed& found = groups[number].found;
            // Takes so many unions of the sets of two keys, each with what it counts.
            const auto add = [&](size_t a, size_t b, double counts, uint32_t unions, auto numbers) {
                look();
                ++found.combinations;
                if (!may_be_kept.of_halves(image.data(), b_keys.images.data() + b * image_words())) return;
                ++found.candidates;
                const size_t before = found.counts.size();
                for (uint32_t k = 0; k < unions; ++k) {
                    std::ranges::copy(a_keys.draw(a, numbers()), members.begin());
                    std::ranges::copy(b_keys.draw(b, numbers()), members.begin() + left);
                    const uint32_t times = times_found(members);
                    if (times == 0) continue;
                    found.members.insert(found.members.end(), members.begin(), members.end());
                    found.counts.push_back(counts / times);
                }
                if (found.counts.size() == before) return;
                table_.key_of({}, key.data());
                for (uint32_t w = 0; w < words; ++w) key[w] ^= a_keys.keys[a * words + w] ^ b_keys.keys[b * words + w];
                const uint64_t keys_before = keys.size();
                found.keys.resize(found.counts.size(), keys.number_of(key.data()));
                num_keys += keys.size() - keys_before;
                found.of_combination.resize(found.counts.size(), static_cast<uint32_t>(found.unions.size()));
                found.unions.push_back(unions);
            };
            const auto add_all = [&](size_t a, size_t b, double mass) {
                const uint32_t unions = std::max(fewest_unions, static_cast<uint32_t>(std::ceil(mass / spacing)));
                add(a, b, mass / unions, unions, Uniform(seed, Stream::right_parts, index | a, uint64_t{b} << log_quads_of_combination));
            };
            for (size_t a = number; a < a_keys.size() && num_keys <= max_keys; a += max_groups) {
                begin_image(image.data());
                for (uint32_t w = 0; w < image_words(); ++w) image[w] ^= a_keys.images[a * image_words() + w];
                // Two sets of one key are found twice among all pairs of its sets.
                if (is_symmetric) add_all(a, a, a_keys.masses[a] * a_keys.masses[a] / 2);
                size_t b = is_symmetric ? a + 1 : 0;
                for (; b < b_keys.size() && a_keys.masses[a] * b_keys.masses[b] >= spacing && num_keys <= max_keys; ++b)
                    add_all(a, b, a_keys.masses[a] * b_keys.masses[b]);
                Uniform numbers(seed, Stream::left_parts, index | a);
                for (double at = b_keys.sums[b]; num_keys <= max_keys;) {
                    at -= spacing / a_keys.masses[a] * std::log1p(-numbers());
                    if (!(at < b_keys.sums.back())) break;
                    const auto after = std::upper_bound(b_keys.sums.begin() + static_cast<ptrdiff_t>(b) + 1, b_keys.sums.end() - 1, at);
                    // Drawn whether the union may be kept or not, so that the next points do not depend on that.
                    add(a, static_cast<size_t>(after - b_keys.sums.begin()) - 1, spacing, 1,
                        [drawn = std::array{numbers(), numbers()}, k = size_t{0}]() mutable { return drawn[k++]; });
                }
            }
        };
    };
    run_parts(max_groups, options_.num_threads, interrupted_, make_worker);

    Composed all;
    all.is_complete = num_keys <= max_keys;
    if (!all.is_complete) return all;
    all.spacing = spacing;
    NumberedRows keys(words);
    std::vector<std::vector<uint32_t>> places;  // of the keys of each group
    for (const Group& group : groups) {
        std::vector<uint32_t>& of_group = places.emplace_back();
        for (uint32_t k = 0; k < group.keys.size(); ++k) of_group.push_back(keys.number_of(group.keys.row(k)));
    }
    all.num_keys = keys.size();
    const std::vector<uint32_t> numbers = store(keys, storage);
    for (size_t g = 0; g < groups.size(); ++g) {
        const Composed found = std::exchange(groups[g].found, {});
        all.combinations += found.combinations;
        all.candidates += found.candidates;
        uint32_t last = NumberedRows::none;  // the combination that was stored last, by its number in the group
        for (size_t k = 0; k < found.counts.size(); ++k) {
            const uint32_t stored = numbers[places[g][found.keys[k]]];
            if (stored == NumberedRows::none) continue;
            if (found.of_combination[k] != std::exchange(last, found.of_combination[k])) all.unions.push_back(found.unions[last]);
            const auto begin = found.members.begin() + static_cast<ptrdiff_t>(k * weight);
            all.members.insert(all.members.end(), begin, begin + weight);
            all.keys.push_back(stored);
            all.counts.push_back(found.counts[k]);
            all.of_combination.push_back(static_cast<uint32_t>(all.unions.size() - 1));
        }
    }
    return all;
}

}  // namespace snc
