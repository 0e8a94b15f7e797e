#include "sign_choices.h"

#include <algorithm>
#include <bit>
#include <functional>
#include <iterator>
#include <utility>

namespace snc {

namespace {

constexpr size_t word_bits = 64;
// A word is stored for so many ones on average, where it takes no more memory than they do.
constexpr size_t ones_per_word = 2;

size_t words_of(RowView row) { return row.empty() ? 0 : static_cast<size_t>(row.front()) / word_bits + 1; }

void flip_bit(std::vector<uint64_t>& words, int32_t bit) {
    words[static_cast<size_t>(bit) / word_bits] ^= uint64_t{1} << (static_cast<size_t>(bit) % word_bits);
}

}  // namespace

void SignChoices::set(int32_t sign, SparseRow row) {
    Choice choice{std::move(row), {}};
    const size_t num_words = words_of(choice.row);
    if (choice.row.size() >= ones_per_word * num_words) {
        choice.words.resize(num_words);
        for (const int32_t bit : choice.row) flip_bit(choice.words, bit);
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
    if (found_.size() * total < longest) {
        SparseRow sum;
        for (const Choice* choice : found_) {
            sum.clear();
            std::ranges::set_symmetric_difference(result, choice->row, std::back_inserter(sum), std::greater{});
            result.swap(sum);
        }
        return result;
    }
    if (found_.empty()) return result;
    if (words_.size() < longest) words_.resize(longest);
    for (const int32_t bit : row) flip_bit(words_, bit);
    for (const Choice* choice : found_) flip_words(*choice);
    result.clear();
    for (size_t k = longest; k-- > 0;) {
        uint64_t word = std::exchange(words_[k], 0);
        while (word != 0) {
            const size_t highest = word_bits - 1 - static_cast<size_t>(std::countl_zero(word));
            result.push_back(static_cast<int32_t>(k * word_bits + highest));
            word ^= uint64_t{1} << highest;
        }
    }
    return result;
}

void SignChoices::flip_words(const Choice& choice) {
    if (choice.words.empty()) {
        for (const int32_t bit : choice.row) flip_bit(words_, bit);
    } else {
        for (size_t k = 0; k < choice.words.size(); ++k) words_[k] ^= choice.words[k];
    }
}

}  // namespace snc
