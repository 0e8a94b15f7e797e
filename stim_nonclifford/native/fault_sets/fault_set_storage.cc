// Which keys a study stores, and their laws.
#include <algorithm>
#include <utility>

#include "fault_sets/fault_set_study.h"

namespace snc {

namespace {

// The number of signatures whose laws are evaluated together. Where laws are long, there are more, as they share more.
constexpr size_t max_expanded_keys = size_t{1} << 20, max_expanded_candidates = size_t{1} << 22;

}  // namespace

std::vector<uint32_t> FaultSetStudy::number_keys(const std::vector<uint32_t>& members, uint32_t weight, Storage storage) {
    const Turns::Turn turn = this->turn();
    return number(members, weight, storage);
}

std::vector<uint32_t> FaultSetStudy::number(std::span<const uint32_t> members, uint32_t weight, Storage storage) {
    Interruption interruption(interrupted_);
    Looks look(interruption);
    std::vector<uint32_t> numbers;
    NumberedRows candidates(table_.key_words());
    NumberedRows& keys = storage == Storage::all ? keys_ : candidates;
    std::vector<uint64_t> key(table_.key_words());
    KeptTest may_be_kept(*this, storage);
    for (size_t begin = 0; begin < members.size(); begin += weight) {
        look();
        if (!may_be_kept(members.subspan(begin, weight))) {
            numbers.push_back(NumberedRows::none);
            continue;
        }
        table_.key_of(members.subspan(begin, weight), key.data());
        numbers.push_back(keys.number_of(key.data()));
    }
    if (storage == Storage::all) return numbers;
    const std::vector<uint32_t> stored = store(candidates, storage);
    for (uint32_t& number : numbers)
        if (number != NumberedRows::none) number = stored[number];
    return numbers;
}

void FaultSetStudy::number_joined(Join& join, uint32_t weight, const Weights& ratios, Storage storage) {
    const size_t begin = join.keys.size(), size = table_.num_mechanisms();
    const std::vector<uint32_t> numbers = number(std::span(join.members).subspan(begin * weight), weight, storage);
    for (size_t k = begin; k < begin + numbers.size(); ++k) {
        const uint32_t* const members = &join.members[k * weight];
        if (numbers[k - begin] == NumberedRows::none) {
            for (size_t c = 0; c < join.left_out.size(); ++c) {
                double ratio = 1;
                for (uint32_t m = 0; m < weight; ++m) ratio *= ratios[c * size + members[m]];
                join.left_out[c] += ratio;
            }
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

std::vector<uint32_t> FaultSetStudy::store(const NumberedRows& keys, Storage storage) {
    std::vector<uint32_t> numbers;
    if (storage == Storage::all) {
        for (uint32_t k = 0; k < keys.size(); ++k) numbers.push_back(keys_.number_of(keys.row(k)));
        return numbers;
    }
    evaluate_stored();
    NumberedRows unknown(table_.key_words());
    for (uint32_t k = 0; k < keys.size(); ++k) {
        numbers.push_back(keys_.find(keys.row(k)));
        if (numbers.back() == NumberedRows::none) unknown.number_of(keys.row(k));
    }
    KeptBranches laws{{0}, {}, {}};
    append_laws(unknown, 0, max_expanded_candidates, laws);
    const uint32_t output_words = plan_.layout.output_words;
    new_laws_.reserve_more(laws);
    for (uint32_t k = 0, u = 0; k < keys.size(); ++k) {
        if (numbers[k] != NumberedRows::none) continue;
        const auto begin = static_cast<ptrdiff_t>(laws.starts[u]), end = static_cast<ptrdiff_t>(laws.starts[++u]);
        if (begin == end) continue;
        numbers[k] = keys_.number_of(keys.row(k));
        new_laws_.append(laws, begin, end, output_words);
        evaluated_ = keys_.size();
    }
    return numbers;
}

FaultSetStudy::Laws FaultSetStudy::evaluate() {
    const Turns::Turn turn = this->turn();
    evaluate_stored();
    const auto count = static_cast<uint32_t>(new_laws_.starts.size() - 1);
    return {static_cast<uint32_t>(evaluated_) - count, std::exchange(new_laws_, KeptBranches{{0}, {}, {}})};
}

void FaultSetStudy::evaluate_stored() {
    KeptBranches laws{{0}, {}, {}};
    append_laws(keys_, evaluated_, max_expanded_keys, laws);
    if (new_laws_.starts.size() == 1) {
        new_laws_ = std::move(laws);
    } else {
        new_laws_.reserve_more(laws);
        for (size_t k = 0; k + 1 < laws.starts.size(); ++k)
            new_laws_.append(laws, static_cast<ptrdiff_t>(laws.starts[k]), static_cast<ptrdiff_t>(laws.starts[k + 1]),
                             plan_.layout.output_words);
    }
    evaluated_ = keys_.size();
}

void FaultSetStudy::append_laws(const NumberedRows& keys, uint64_t begin, size_t max_expanded, KeptBranches& laws) const {
    const uint32_t signature_words = plan_.layout.signature_words, output_words = plan_.layout.output_words;
    const uint32_t key_words = table_.key_words();
    const size_t num_coins = key_words == 0 ? 0 : coins_.size() / key_words, num_tosses = size_t{1} << num_coins;
    const size_t block = std::max<size_t>(1, max_expanded / num_tosses);
    std::vector<uint64_t> key(key_words);
    for (uint64_t end = begin; begin < keys.size(); begin = end) {
        end = std::min<uint64_t>(keys.size(), begin + block);
        std::vector<uint64_t> signatures, outputs;
        for (auto number = static_cast<uint32_t>(begin); number < end; ++number)
            for (size_t toss = 0; toss < num_tosses; ++toss) {
                std::copy_n(keys.row(number), key_words, key.begin());
                for (size_t coin = 0; coin < num_coins; ++coin)
                    if ((toss >> coin & 1) != 0)
                        for (uint32_t w = 0; w < key_words; ++w) key[w] ^= coins_[coin * key_words + w];
                signatures.insert(signatures.end(), key.begin(), key.begin() + signature_words);
                outputs.insert(outputs.end(), key.begin() + signature_words, key.end());
            }
        const size_t count = (end - begin) * num_tosses;
        const KeptBranches branches = kept_branches(plan_, kernels_, signatures, count, options_.num_threads, interrupted_);
        for (size_t k = 0; k < count; ++k) {
            for (uint64_t e = branches.starts[k]; e < branches.starts[k + 1]; ++e) {
                laws.probabilities.push_back(branches.probabilities[e] / static_cast<double>(num_tosses));
                for (uint32_t w = 0; w < output_words; ++w)
                    laws.outputs.push_back(branches.outputs[e * output_words + w] ^ outputs[k * output_words + w]);
            }
            if ((k + 1) % num_tosses == 0) laws.starts.push_back(laws.probabilities.size());
        }
    }
}

}  // namespace snc
