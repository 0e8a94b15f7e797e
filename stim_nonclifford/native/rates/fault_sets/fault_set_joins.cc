// Joins: random halves of fault sets of a weight, or of several, combined where they flip the same checks.
//
// Halves are divided into parts by their hashes, and the parts are joined independently of each other. Most halves have no
// counterpart. They are sorted out first.
#include <algorithm>
#include <atomic>
#include <bit>
#include <functional>
#include <iterator>
#include <numeric>
#include <span>
#include <utility>

#include "base/memory.h"
#include "base/random_points.h"
#include "rates/fault_sets/fault_set_study.h"

namespace snc {

namespace {

// The number of halves that are drawn with one stream of random numbers.
constexpr uint32_t draw_chunk = 4096;

// Halves are moved to their parts in blocks of chunks.
constexpr size_t max_blocks = 64;

// About how many halves of a side a part has, and the largest number of parts.
constexpr uint32_t halves_of_part = 4096, max_parts = 4096;

// The number of parts that are joined, and of sets that are found, until the keys of these sets are numbered.
constexpr size_t parts_at_a_time = 64, sets_at_a_time = 1 << 17;

// Sets that are found for each that may be stored.
constexpr uint64_t found_for_stored = 100;

struct Half {
    uint64_t hash;
    uint32_t number;

    auto operator<=>(const Half&) const = default;
};

// Halves of one size: their numbers are consecutive, and so are their members.
struct HalvesOfSize {
    uint32_t first, size;
    size_t begin;
};

struct Side {
    Stream stream;
    uint64_t target;                  // a hash that is added to that of each half
    std::vector<HalvesOfSize> sizes;  // ascending
    uint32_t draws = 0;
    AlignedNumbers<uint32_t> members; // half after half
    AlignedNumbers<Half> halves;      // part after part
    std::vector<size_t> part_starts;

    Side(Stream of_draws, uint64_t target_hash, std::span<const uint32_t> draws_of_size)
        : stream(of_draws),
          target(target_hash),
          draws(std::accumulate(draws_of_size.begin(), draws_of_size.end(), 0U)),
          members(members_in_all(draws_of_size)),
          halves(draws) {
        HalvesOfSize next{0, 0, 0};
        for (const uint32_t count : draws_of_size) {
            if (count != 0) sizes.push_back(next);
            next = {next.first + count, next.size + 1, next.begin + size_t{count} * next.size};
        }
    }

    std::span<const Half> part(size_t number) const {
        return {halves.data() + part_starts[number], part_starts[number + 1] - part_starts[number]};
    }
    std::span<const uint32_t> members_of(uint32_t number) const { return {members.data() + place_of(number), size_of(number)}; }
    uint32_t* draw_to(uint32_t number) { return members.data() + place_of(number); }
    uint32_t size_of(uint32_t number) const { return of_number(number).size; }

   private:
    static size_t members_in_all(std::span<const uint32_t> draws_of_size) {
        size_t sum = 0;
        for (size_t size = 0; size < draws_of_size.size(); ++size) sum += size * draws_of_size[size];
        return sum;
    }
    const HalvesOfSize& of_number(uint32_t number) const {
        size_t k = sizes.size() - 1;
        while (number < sizes[k].first) --k;
        return sizes[k];
    }
    size_t place_of(uint32_t number) const {
        const HalvesOfSize& of = of_number(number);
        return of.begin + size_t{number - of.first} * of.size;
    }
};

// Which hashes may be among those of some halves.
class HashFilter {
   public:
    template <typename Halves>
    explicit HashFilter(const Halves& halves) : bits_(std::bit_ceil(16 * halves.size() + 64) / 64) {
        for (const Half& half : halves) word_of(half.hash) |= bit_of(half.hash);
    }
    bool operator()(const Half& half) const { return (bits_[half.hash / 64 & (bits_.size() - 1)] & bit_of(half.hash)) != 0; }

   private:
    uint64_t& word_of(uint64_t hash) { return bits_[hash / 64 & (bits_.size() - 1)]; }
    static uint64_t bit_of(uint64_t hash) { return uint64_t{1} << (hash % 64); }

    std::vector<uint64_t> bits_;
};

// Halves that may be in a set, spread out.
struct SpreadHalves {
    std::vector<Half> halves;        // in the order of their hashes
    std::vector<uint32_t> members;   // half after half
    std::vector<size_t> starts;      // [halves + 1]: among the members
    std::vector<uint64_t> checks;    // [halves][check_words]
    std::vector<uint64_t> images;    // [halves][image_words]
    std::vector<uint32_t> counts;    // [halves]: sets that it is in

    std::span<const uint32_t> members_of(size_t k) const { return std::span(members).subspan(starts[k], starts[k + 1] - starts[k]); }
    // The end of the halves with the same hash.
    size_t end_of(size_t begin) const {
        size_t end = begin;
        while (end < halves.size() && halves[end].hash == halves[begin].hash) ++end;
        return end;
    }
};

// What the join of a part finds.
struct PartOfJoin {
    uint64_t sets = 0;
    uint32_t most_of_draw = 0;
    std::vector<uint32_t> members, left, right;
    double left_out = 0;
};

}  // namespace

FaultSetStudy::Join FaultSetStudy::join(const std::vector<uint32_t>& left, const std::vector<uint32_t>& right,
                                         const std::vector<double>& counts, uint64_t seed, uint64_t round, uint64_t max_sets) {
    const Turns::Turn turn = this->turn();
    const auto weight = static_cast<uint32_t>(counts.size() - 1);
    const uint32_t words = table_.check_words(), size = table_.num_mechanisms();
    const uint64_t index = uint64_t{weight} << 56 | round << 32;
    Side sides[2] = {{Stream::left_parts, 0, left}, {Stream::right_parts, table_.target_hash(), right}};
    const size_t num_parts = std::min(max_parts, std::bit_ceil(std::max(sides[0].draws, sides[1].draws) / halves_of_part + 1));
    // The first bits of a hash say the part.
    const auto part_of = [&](uint64_t hash) { return num_parts == 1 ? 0 : hash >> (64 - std::countr_zero(num_parts)); };
    for (Side& side : sides) {
        const size_t num_chunks = (size_t{side.draws} + draw_chunk - 1) / draw_chunk, num_blocks = std::min(max_blocks, num_chunks);
        const auto hash_of = [&](uint32_t number) {
            uint64_t hash = side.target;
            for (uint32_t m : side.members_of(number)) hash ^= table_.hash(m);
            return hash;
        };
        // In the order of the halves, whatever block they are in: how many halves of each part there are up to a block.
        std::vector<std::vector<size_t>> places(num_blocks, std::vector<size_t>(num_parts));
        const auto for_each_half = [&](size_t block, auto of_chunk, auto use) {
            for (size_t chunk = block * num_chunks / num_blocks; chunk < (block + 1) * num_chunks / num_blocks; ++chunk) {
                of_chunk(chunk);
                const auto end = static_cast<uint32_t>(std::min<size_t>((chunk + 1) * draw_chunk, side.draws));
                for (auto k = static_cast<uint32_t>(chunk * draw_chunk); k < end; ++k) use(k);
            }
        };
        run_parts(num_blocks, options_.num_threads, interrupted_, [&](Interruption& interruption) {
            return [&](size_t block) {
                Uniform numbers(seed, side.stream, index);
                for_each_half(
                    block,
                    [&](size_t chunk) {
                        interruption.look();
                        numbers = Uniform(seed, side.stream, index | chunk);
                    },
                    [&](uint32_t k) {
                        sampler_.draw(side.size_of(k), std::ref(numbers), side.draw_to(k));
                        ++places[block][part_of(hash_of(k))];
                    });
            };
        });
        size_t place = 0;
        for (size_t part = 0; part < num_parts; ++part) {
            side.part_starts.push_back(place);
            for (auto& of_block : places) place += std::exchange(of_block[part], place);
        }
        side.part_starts.push_back(place);
        run_parts(num_blocks, options_.num_threads, interrupted_, [&](Interruption& interruption) {
            return [&](size_t block) {
                for_each_half(
                    block, [&](size_t) { interruption.look(); },
                    [&](uint32_t k) {
                        const uint64_t hash = hash_of(k);
                        side.halves.data()[places[block][part_of(hash)]++] = {hash, k};
                    });
            };
        });
    }

    const uint32_t of_image = image_words();
    const bool has_sites = std::ranges::any_of(table_.sites(), [](int32_t site) { return site >= 0; });
    const auto spread = [&](SpreadHalves& part, const Side& side) {
        constexpr size_t ahead = 16;
        const size_t count = part.halves.size();
        part.starts.assign(1, 0);
        part.checks.resize(count * words);
        part.images.resize(count * of_image);
        part.counts.resize(count);
        for (size_t k = 0; k < count; ++k) {
            if (k + ahead < count) __builtin_prefetch(side.members_of(part.halves[k + ahead].number).data());
            uint64_t *const checks = part.checks.data() + k * words, *const image = part.images.data() + k * of_image;
            if (side.stream == Stream::right_parts) {
                std::copy_n(table_.target(), words, checks);
                std::ranges::copy(base_image_, image);
            }
            for (uint32_t m : side.members_of(part.halves[k].number)) {
                part.members.push_back(m);
                for (uint32_t w = 0; w < words; ++w) checks[w] ^= table_.checks(m)[w];
                for (uint32_t w = 0; w < of_image; ++w) image[w] ^= images_[size_t{m} * of_image + w];
            }
            part.starts.push_back(part.members.size());
        }
    };
    const auto is_set = [&](std::span<const uint32_t> a, std::span<const uint32_t> b) {
        for (uint32_t k : a)
            for (uint32_t m : b)
                if (k == m || (has_sites && table_.exclude_each_other(k, m))) return false;
        return true;
    };

    std::atomic<uint64_t> num_found = 0, num_stored = 0;
    std::atomic<bool> are_too_many = false;
    const auto count = [&](uint64_t found, uint64_t stored) {
        if ((num_found += found) / found_for_stored > max_sets || (num_stored += stored) > max_sets) are_too_many = true;
    };
    // Joins left halves [l, end_l) with right halves [r, end_r), which have the same hash.
    const auto join_equal = [&](SpreadHalves& a, SpreadHalves& b, size_t l, size_t end_l, size_t first_r, size_t end_r, KeptTest& may_be_kept,
                                Looks& look, PartOfJoin& found) {
        for (; l < end_l && !are_too_many; ++l) {
            const uint64_t sets = found.sets, stored = found.left.size();
            for (size_t r = first_r; r < end_r; ++r) {
                look();
                const std::span<const uint32_t> x = a.members_of(l), y = b.members_of(r);
                const double of_find = x.size() + y.size() <= weight ? counts[x.size() + y.size()] : 0;
                if (of_find == 0 || !is_set(x, y) || !std::equal(&a.checks[l * words], &a.checks[l * words] + words, &b.checks[r * words])) continue;
                ++found.sets;
                found.most_of_draw = std::max({found.most_of_draw, ++a.counts[l], ++b.counts[r]});
                if (!may_be_kept.of_halves(a.images.data() + l * of_image, b.images.data() + r * of_image)) {
                    found.left_out += of_find;
                    continue;
                }
                found.members.insert(found.members.end(), x.begin(), x.end());
                found.members.insert(found.members.end(), y.begin(), y.end());
                found.members.insert(found.members.end(), weight - x.size() - y.size(), size);
                found.left.push_back(a.halves[l].number);
                found.right.push_back(b.halves[r].number);
            }
            if (found.sets > sets) count(found.sets - sets, found.left.size() - stored);
        }
    };
    const auto make_worker = [&](size_t first_part, std::vector<PartOfJoin>& results, Interruption& interruption) {
        return [&, first_part, may_be_kept = KeptTest(*this), look = Looks(interruption)](size_t k) mutable {
            PartOfJoin& found = results[k];
            SpreadHalves a, b;
            std::ranges::copy_if(sides[1].part(first_part + k), std::back_inserter(b.halves), HashFilter(sides[0].part(first_part + k)));
            std::ranges::copy_if(sides[0].part(first_part + k), std::back_inserter(a.halves), HashFilter(b.halves));
            std::ranges::sort(a.halves);
            std::ranges::sort(b.halves);
            spread(a, sides[0]);
            spread(b, sides[1]);
            for (size_t l = 0, r = 0; l < a.halves.size() && r < b.halves.size();) {
                if (a.halves[l].hash != b.halves[r].hash) {
                    ++(a.halves[l].hash < b.halves[r].hash ? l : r);
                    continue;
                }
                const size_t end_l = a.end_of(l), end_r = b.end_of(r);
                join_equal(a, b, l, end_l, r, end_r, may_be_kept, look, found);
                l = end_l;
                r = end_r;
            }
        };
    };

    Join found;
    for (size_t first = 0; first < num_parts; first += parts_at_a_time) {
        std::vector<PartOfJoin> results(std::min(parts_at_a_time, num_parts - first));
        run_parts(results.size(), options_.num_threads, interrupted_,
                  [&](Interruption& interruption) { return make_worker(first, results, interruption); });
        if (are_too_many) {
            Join none;
            none.is_complete = false;
            none.sets = max_sets + 1;
            return none;
        }
        for (PartOfJoin& part : results) {
            found.sets += part.sets;
            found.candidates += part.left.size();
            found.most_of_draw = std::max(found.most_of_draw, part.most_of_draw);
            found.left_out += part.left_out;
            found.members.insert(found.members.end(), part.members.begin(), part.members.end());
            found.left.insert(found.left.end(), part.left.begin(), part.left.end());
            found.right.insert(found.right.end(), part.right.begin(), part.right.end());
            part = {};
        }
        const bool is_last = first + parts_at_a_time >= num_parts;
        if (is_last || found.left.size() - found.keys.size() >= sets_at_a_time) number_joined(found, counts);
    }
    return found;
}

}  // namespace snc
