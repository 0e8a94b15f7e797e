// Which keys a study stores, and their laws.
#include <algorithm>
#include <utility>

#include "rates/fault_sets/fault_set_study.h"

namespace snc {

namespace {

// The number of signatures whose laws are evaluated together: the more there are, the more they share. Where coins are tossed, each
// key has many, and limits of time are checked in between.
constexpr size_t max_expanded_keys = size_t{1} << 22, max_expanded_tosses = size_t{1} << 17;

// Keys with which no shot is kept that are noted, so that their laws are not evaluated again.
constexpr size_t max_never_kept = size_t{1} << 20;

}  // namespace

std::vector<uint32_t> FaultSetStudy::number_keys(const std::vector<uint32_t>& members, uint32_t weight) {
    const Turns::Turn turn = this->turn();
    return number(members, weight);
}

std::vector<uint32_t> FaultSetStudy::number(std::span<const uint32_t> members, uint32_t weight) {
    Interruption interruption(interrupted_);
    Looks look(interruption);
    std::vector<uint32_t> numbers;
    NumberedRows keys(table_.key_words());
    std::vector<uint64_t> key(table_.key_words());
    for (size_t begin = 0; begin < members.size(); begin += weight) {
        look();
        table_.key_of(without_padding(members.subspan(begin, weight)), key.data());
        numbers.push_back(keys.number_of(key.data()));
    }
    const std::vector<uint32_t> stored = store(keys);
    for (uint32_t& number : numbers) number = stored[number];
    return numbers;
}

std::span<const uint32_t> FaultSetStudy::without_padding(std::span<const uint32_t> members) const {
    while (!members.empty() && members.back() == table_.num_mechanisms()) members = members.first(members.size() - 1);
    return members;
}

void FaultSetStudy::number_joined(Join& join, const std::vector<double>& counts) {
    const size_t begin = join.keys.size();
    const auto weight = static_cast<uint32_t>(counts.size() - 1);
    const std::vector<uint32_t> numbers = number(std::span(join.members).subspan(begin * weight), weight);
    for (size_t k = begin; k < begin + numbers.size(); ++k) {
        const uint32_t* const members = &join.members[k * weight];
        if (numbers[k - begin] == NumberedRows::none) {
            join.left_out += counts[without_padding({members, weight}).size()];
            continue;
        }
        const size_t to = join.keys.size();
        std::copy_n(members, weight, &join.members[to * weight]);
        join.left[to] = join.left[k];
        join.right[to] = join.right[k];
        join.keys.push_back(numbers[k - begin]);
    }
    join.members.resize(join.keys.size() * weight);
    join.left.resize(join.keys.size());
    join.right.resize(join.keys.size());
}

std::vector<uint32_t> FaultSetStudy::store(const NumberedRows& keys, SearchSteps* steps) {
    std::vector<uint32_t> numbers;
    NumberedRows unknown(table_.key_words());
    std::vector<bool> is_unknown(keys.size());
    for (uint32_t k = 0; k < keys.size(); ++k) {
        numbers.push_back(keys_.find(keys.row(k)));
        is_unknown[k] = numbers.back() == NumberedRows::none && never_kept_.find(keys.row(k)) == NumberedRows::none;
        if (is_unknown[k]) unknown.number_of(keys.row(k));
    }
    const KeptBranches laws = laws_of(unknown, steps);
    const uint32_t output_words = plan_.layout.output_words;
    new_laws_.reserve_more(laws);
    for (uint32_t k = 0, u = 0; k < keys.size(); ++k) {
        if (!is_unknown[k]) continue;
        const auto begin = static_cast<ptrdiff_t>(laws.starts[u]), end = static_cast<ptrdiff_t>(laws.starts[++u]);
        if (begin == end) {
            if (never_kept_.size() < max_never_kept) never_kept_.number_of(keys.row(k));
            continue;
        }
        numbers[k] = keys_.number_of(keys.row(k));
        new_laws_.append(laws, begin, end, output_words);
    }
    return numbers;
}

FaultSetStudy::Laws FaultSetStudy::evaluate() {
    const Turns::Turn turn = this->turn();
    const auto count = static_cast<uint32_t>(new_laws_.starts.size() - 1);
    return {static_cast<uint32_t>(keys_.size()) - count, std::exchange(new_laws_, KeptBranches{{0}, {}, {}})};
}

bool FaultSetStudy::has_at_most(const NumberedRows& keys, uint64_t max_laws) const {
    if (!coins_.has_coins()) return true;
    uint64_t laws = 0;
    for (uint32_t k = 0; k < keys.size() && laws <= max_laws; ++k)
        if (keys_.find(keys.row(k)) == NumberedRows::none) laws += uint64_t{1} << coins_.coins_that_matter(keys.row(k)).size();
    return laws <= max_laws;
}

KeptBranches FaultSetStudy::laws_of(const NumberedRows& keys, SearchSteps* steps) {
    KeptBranches laws{{0}, {}, {}};
    const size_t max_expanded = coins_.has_coins() ? max_expanded_tosses : max_expanded_keys;
    const uint32_t signature_words = plan_.layout.signature_words, output_words = plan_.layout.output_words;
    for (uint32_t begin = 0; begin < keys.size();) {
        if (steps != nullptr) steps->add(0);
        std::vector<uint64_t> signatures, outputs;
        std::vector<size_t> ends;  // of the signatures of each key
        size_t count = 0;
        for (; begin < keys.size(); ++begin) {
            const uint64_t* const untossed = keys.row(begin);
            const std::vector<uint32_t> tossed = coins_.coins_that_matter(untossed);
            if (count != 0 && count + (size_t{1} << tossed.size()) > max_expanded) break;
            coins_.for_each_toss(untossed, tossed, [&](std::span<const uint64_t> key) {
                signatures.insert(signatures.end(), key.begin(), key.begin() + signature_words);
                outputs.insert(outputs.end(), key.begin() + signature_words, key.end());
                ++count;
            });
            ends.push_back(count);
        }
        const KeptBranches branches = kept_branches(plan_, kernels_, signatures, count, options_.num_threads, interrupted_);
        std::vector<uint64_t> flipped(output_words);
        for (size_t toss = 0; const size_t end : ends) {
            // Ways of different tosses with the same outputs are one; those of a single signature stay apart.
            const bool is_tossed = end - toss > 1;
            NumberedRows ways(output_words);
            const size_t first = laws.probabilities.size();
            for (const double num_tosses = static_cast<double>(end - toss); toss < end; ++toss)
                for (uint64_t e = branches.starts[toss]; e < branches.starts[toss + 1]; ++e) {
                    for (uint32_t w = 0; w < output_words; ++w)
                        flipped[w] = branches.outputs[e * output_words + w] ^ outputs[toss * output_words + w];
                    laws.add(flipped, branches.probabilities[e] / num_tosses,
                             is_tossed ? first + ways.number_of(flipped.data()) : laws.probabilities.size());
                }
            laws.starts.push_back(laws.probabilities.size());
        }
        all_evaluated_.keys += ends.size();
        all_evaluated_.laws += count;
    }
    return laws;
}

}  // namespace snc
