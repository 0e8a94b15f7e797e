#include "compiler/sweeps/sign_choices.h"

#include <algorithm>
#include <bit>
#include <functional>
#include <iterator>
#include <utility>

namespace snc {

namespace {

// A word is stored for so many ones on average, where it takes no more memory than they do.
constexpr size_t ones_per_word = 2;

size_t words_of(RowView row) { return row.empty() ? 0 : static_cast<size_t>(row.front()) / 64 + 1; }

}  // namespace

void SignChoices::set(int32_t sign, SparseRow row) {
    Choice choice{std::move(row), {}};
    const size_t num_words = words_of(choice.row);
    if (choice.row.size() >= ones_per_word * num_words) {
        choice.words.resize(num_words);
        for (const int32_t bit : choice.row) flip_bit(choice.words, static_cast<size_t>(bit));
    }
    choices_[sign] = std::move(choice);
}

SparseRow SignChoices::fixed(RowView row) {
    found_.clear();
    size_t longest = words_of(row), total = row.size();
    for (const int32_t bit : row) {
        const auto choice = choices_.find(bit);
        if (choice == choices_.end()) continue;
        found_.push_back(&choice->second);
        longest = std::max(longest, words_of(choice->second.row));
        total += choice->second.row.size();
    }
    SparseRow result(row.begin(), row.end());
    if (found_.empty()) return result;
    if (found_.size() * total < longest) {
        SparseRow sum;
        for (const Choice* choice : found_) {
            sum.clear();
            std::ranges::set_symmetric_difference(result, choice->row, std::back_inserter(sum), std::greater{});
            result.swap(sum);
        }
        return result;
    }
    if (words_.size() < longest) words_.resize(longest);
    for (const int32_t bit : row) flip_bit(words_, static_cast<size_t>(bit));
    for (const Choice* choice : found_) {
        if (choice->words.empty())
            for (const int32_t bit : choice->row) flip_bit(words_, static_cast<size_t>(bit));
        else
            add_bits(words_, choice->words);
    }
    result.clear();
    for (size_t k = longest; k-- > 0;) {
        uint64_t& word = words_[k];
        for (; word != 0; word &= ~std::bit_floor(word))
            result.push_back(static_cast<int32_t>(64 * k + static_cast<size_t>(std::bit_width(word)) - 1));
    }
    return result;
}

}  // namespace snc
