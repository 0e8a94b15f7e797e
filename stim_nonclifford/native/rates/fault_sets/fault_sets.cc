#include "rates/fault_sets/fault_sets.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>
#include <string>

#include "algebra/bits.h"
#include "base/resource_limit.h"
#include "kernels/shared/philox.h"
#include "plan/plan.h"

namespace snc {

namespace {

// The seed of the linear hash: any fixed number is as good.
constexpr uint64_t hash_seed = 0x9AE16A3B2F90404F;

uint64_t hash_word(uint32_t check) { return random_word(hash_seed, Stream::counts, check, 0); }

size_t ones_of(const Bits& row, size_t words) {
    size_t sum = 0;
    for (size_t w = 0; w < words; ++w) sum += static_cast<size_t>(std::popcount(row[w]));
    return sum;
}

size_t ones_of_sum(const Bits& a, const Bits& b, size_t words) {
    size_t sum = 0;
    for (size_t w = 0; w < words; ++w) sum += static_cast<size_t>(std::popcount(a[w] ^ b[w]));
    return sum;
}

}  // namespace

FaultSetTable::FaultSetTable(FaultSetMechanisms mechanisms, uint64_t max_bytes, Interruption& interruption)
    : mechanisms_(std::move(mechanisms)) {
    Looks look(interruption);
    choose_sparse_checks(look);
    list_flipping(look);
    list_classes(look);
    list_twins(max_bytes, look);
}

// A basis of the checks in which few mechanisms flip each check: the search branches over the mechanisms of one check.
void FaultSetTable::choose_sparse_checks(Looks& look) {
    const size_t size = mechanisms_.size(), words = check_words();
    const size_t row_words = size / 64 + 1;
    std::vector<Bits> rows(64 * words, Bits(row_words + 1));
    const auto scatter = [&](const uint64_t* checks, size_t word, uint64_t bit) {
        for_each_one(checks, check_words(), [&](uint32_t check) { rows[check][word] |= bit; });
    };
    for (size_t m = 0; m < size; ++m) scatter(checks(static_cast<uint32_t>(m)), m / 64, uint64_t{1} << (m % 64));
    scatter(target(), row_words, 1);
    std::vector<size_t> ones;
    for (const Bits& row : rows) ones.push_back(ones_of(row, row_words));
    for (bool changed = true; std::exchange(changed, false);)
        for (size_t a = 0; a < rows.size(); ++a)
            for (size_t b = 0; b < rows.size(); ++b) {
                look(row_words);
                if (a == b) continue;
                const size_t of_sum = ones_of_sum(rows[a], rows[b], row_words);
                if (of_sum >= ones[b]) continue;
                add_bits(rows[b], rows[a]);
                ones[b] = of_sum;
                changed = true;
            }
    std::erase_if(rows, [&](const Bits& row) { return ones_of(row, row_words + 1) == 0; });
    std::ranges::stable_sort(rows, {}, [&](const Bits& row) { return ones_of(row, row_words); });

    num_checks_ = static_cast<uint32_t>(rows.size());
    mechanisms_.check_words = std::max<uint32_t>(1, words_for(num_checks_));
    mechanisms_.checks.assign(size * check_words(), 0);
    mechanisms_.target.assign(check_words(), 0);
    for (uint32_t check = 0; check < num_checks_; ++check) {
        const uint64_t bit = uint64_t{1} << (check % 64);
        for_each_one(rows[check].data(), static_cast<uint32_t>(row_words),
                     [&](uint32_t m) { mechanisms_.checks[size_t{m} * check_words() + check / 64] |= bit; });
        if (rows[check][row_words] != 0) mechanisms_.target[check / 64] |= bit;
    }
}

void FaultSetTable::list_flipping(Looks& look) {
    std::vector<uint64_t> of_check(num_checks_);
    for (uint32_t check = 0; check < num_checks_; ++check) of_check[check] = hash_word(check);
    const auto hash_of = [&](const uint64_t* row) {
        uint64_t hash = 0;
        for_each_one(row, check_words(), [&](uint32_t check) { hash ^= of_check[check]; });
        return hash;
    };
    for (uint32_t m = 0; m < num_mechanisms(); ++m) hashes_.push_back(hash_of(checks(m)));
    target_hash_ = hash_of(target());
    starts_ = {0};
    for (uint32_t check = 0; check < num_checks_; ++check) {
        look(num_mechanisms());
        for (uint32_t m = 0; m < num_mechanisms(); ++m)
            if (flips(m, check)) {
                flipping_.push_back(m);
                flipping_hashes_.push_back(hashes_[m]);
            }
        starts_.push_back(flipping_.size());
    }
}

void FaultSetTable::list_classes(Looks& look) {
    class_members_.resize(num_mechanisms());
    std::iota(class_members_.begin(), class_members_.end(), 0U);
    const auto compare = [&](uint32_t a, uint32_t b) {
        look(check_words());
        return std::lexicographical_compare_three_way(checks(a), checks(a) + check_words(), checks(b), checks(b) + check_words());
    };
    std::ranges::stable_sort(class_members_, [&](uint32_t a, uint32_t b) { return compare(a, b) < 0; });
    for (uint32_t k = 0; k < class_members_.size(); ++k)
        if (k == 0 || compare(class_members_[k - 1], class_members_[k]) != 0) class_starts_.push_back(k);
    class_starts_.push_back(static_cast<uint32_t>(class_members_.size()));

    const uint64_t filter_bits = std::bit_ceil(64 * (num_classes() + 1));
    filter_.assign(filter_bits / 64, 0);
    filter_shift_ = static_cast<uint32_t>(64 - std::countr_zero(filter_bits));
    slots_.assign(std::bit_ceil(2 * num_classes() + 2), 0);
    for (uint32_t c = 0; c < num_classes(); ++c) {
        const uint64_t hash = hash_of_class(c);
        filter_[(hash >> filter_shift_) / 64] |= uint64_t{1} << (hash >> filter_shift_) % 64;
        size_t slot = hash & (slots_.size() - 1);
        while (slots_[slot] != 0) slot = (slot + 1) & (slots_.size() - 1);
        slots_[slot] = c + 1;
    }
}

void FaultSetTable::list_twins(uint64_t max_bytes, Looks& look) {
    uint64_t most = 0;
    for (size_t c = 0; c < num_classes(); ++c) {
        const uint64_t size = class_starts_[c + 1] - class_starts_[c];
        most += size * (size - 1) / 2;
    }
    if (most > max_bytes / sizeof twins_[0])
        throw ResourceLimit("The search for fault sets lists the pairs of mechanisms that flip the same noise-only checks: " +
                            with_commas(most) + " pairs of " + std::to_string(sizeof twins_[0]) + " bytes; the limit is " +
                            with_commas(max_bytes) +
                            " bytes. Raise max_bytes, or count errors instead: compile_detector_sampler(...).sample_counts(shots).");
    for (size_t c = 0; c < num_classes(); ++c)
        for (uint32_t a = class_starts_[c]; a < class_starts_[c + 1]; ++a) {
            look(class_starts_[c + 1] - a);
            for (uint32_t b = a + 1; b < class_starts_[c + 1]; ++b)
                if (!exclude_each_other(class_members_[a], class_members_[b]))
                    twins_.emplace_back(class_members_[a], class_members_[b]);
        }
    std::sort(twins_.begin(), twins_.end(), [&](const auto& a, const auto& b) {
        look();
        return a < b;
    });
}

namespace {

// Bits of the filter of pairs: at least 16 for each.
uint64_t bits_for_pairs(uint64_t num_classes) { return std::bit_ceil(8 * num_classes * num_classes + 64); }

}  // namespace

uint64_t FaultSetTable::bytes_for_pairs() const { return bits_for_pairs(num_classes()) / 8; }

void FaultSetTable::list_pairs(Interruption& interruption) {
    Looks look(interruption);
    const uint64_t bits = bits_for_pairs(num_classes());
    pair_filter_shift_ = static_cast<uint32_t>(64 - std::countr_zero(bits));
    decltype(pair_filter_) filter(bits / 64);
    filter[0] = 1;  // of two mechanisms of a class
    std::vector<uint64_t> hashes(num_classes());
    for (size_t c = 0; c < num_classes(); ++c) hashes[c] = hash_of_class(c);
    for (size_t a = 0; a < num_classes(); ++a) {
        look(num_classes() - a);
        for (size_t b = a + 1; b < num_classes(); ++b) {
            const uint64_t bit = (hashes[a] ^ hashes[b]) >> pair_filter_shift_;
            filter[bit / 64] |= uint64_t{1} << (bit % 64);
        }
    }
    pair_filter_ = std::move(filter);
}

uint32_t FaultSetTable::first_check(const uint64_t* row) const {
    for (uint32_t w = 0; w < check_words(); ++w)
        if (row[w] != 0) return 64 * w + static_cast<uint32_t>(std::countr_zero(row[w]));
    return none;
}

double FaultSetTable::branching() const {
    double sum = 0;
    for (uint32_t m = 0; m < num_mechanisms(); ++m) {
        const uint32_t check = first_check(checks(m));
        sum += static_cast<double>(check == none ? num_mechanisms() : flipping(check).size());
    }
    return num_mechanisms() == 0 ? 0 : sum / num_mechanisms();
}

std::span<const uint32_t> FaultSetTable::with_checks(uint64_t hash, const uint64_t* row) const {
    for (size_t slot = hash & (slots_.size() - 1); slots_[slot] != 0; slot = (slot + 1) & (slots_.size() - 1)) {
        const uint32_t begin = class_starts_[slots_[slot] - 1], end = class_starts_[slots_[slot]];
        if (std::equal(row, row + check_words(), checks(class_members_[begin]))) return {class_members_.data() + begin, end - begin};
    }
    return {};
}

void FaultSetTable::key_of(std::span<const uint32_t> members, uint64_t* key) const {
    xor_of_rows(mechanisms_.base.data(), mechanisms_.keys.data(), key_words(), members, key);
}

FaultSetSampler::FaultSetSampler(const FaultSetTable& table, uint32_t max_weight) {
    choices_.resize(table.num_mechanisms());
    std::iota(choices_.begin(), choices_.end(), 0U);
    const auto& sites = table.sites();
    std::ranges::stable_sort(choices_, [&](uint32_t a, uint32_t b) { return sites[a] < sites[b]; });
    for (size_t k = 0; k < choices_.size(); ++k) {
        const bool joins = k > 0 && table.exclude_each_other(choices_[k - 1], choices_[k]);
        if (!joins) group_starts_.push_back(k);
        choice_sums_.push_back(table.weight(choices_[k]) + (joins ? choice_sums_.back() : 0));
    }
    const size_t num_groups = group_starts_.size();
    group_starts_.push_back(choices_.size());
    tails_.assign(max_weight + 1, std::vector<double>(num_groups + 1));
    std::ranges::fill(tails_[0], 1.0);
    for (uint32_t k = 1; k <= max_weight; ++k)
        for (size_t g = num_groups; g-- > 0;)
            tails_[k][g] = tails_[k][g + 1] + choice_sums_[group_starts_[g + 1] - 1] * tails_[k - 1][g + 1];
    sites_ = sites;
    std::vector<double> scaled = table.weights();
    const double mean = std::accumulate(scaled.begin(), scaled.end(), 0.0) / static_cast<double>(scaled.size());
    for (double& weight : scaled) weight /= mean;
    cells_ = alias_table(std::move(scaled));
    double probability = 1;  // that independent draws form a set
    for (uint32_t k = 0; k <= max_weight; ++k) {
        if (k > 0) probability *= k * (total(k) / total(k - 1)) / total(1);
        is_quick_.push_back(probability > 0.3);
    }
}

size_t FaultSetSampler::find_group(uint32_t weight, size_t begin, double number) const {
    // The tails descend: the group is the last one with a tail above the number.
    const std::vector<double>& tails = tails_[weight];
    const double level = tails[begin] * (1 - number);
    const auto below = std::upper_bound(tails.begin() + static_cast<ptrdiff_t>(begin) + 1, tails.end(), level,
                                        [](double value, double tail) { return tail < value; });
    return static_cast<size_t>(below - tails.begin()) - 1;
}

uint32_t FaultSetSampler::find_choice(size_t group, double number) const {
    const auto begin = choice_sums_.begin() + static_cast<ptrdiff_t>(group_starts_[group]);
    const auto last = choice_sums_.begin() + static_cast<ptrdiff_t>(group_starts_[group + 1]) - 1;
    const auto found = std::upper_bound(begin, last, number * *last);
    return choices_[static_cast<size_t>(found - choice_sums_.begin())];
}

}  // namespace snc
