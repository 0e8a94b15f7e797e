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

// The sum of fewer choices is made from them alone.
constexpr size_t many_choices = 32;

size_t words_of(RowView row) { return row.empty() ? 0 : static_cast<size_t>(row.front()) / 64 + 1; }

}  // namespace

void SignChoices::set(int32_t sign, SparseRow row) {
    Choice& choice = choices_.at(sign);
    choice.row = std::move(row);
    choice.words.clear();
    const size_t num_words = words_of(choice.row);
    if (choice.row.size() < ones_per_word * num_words) return;
    choice.words.resize(num_words);
    for (const int32_t bit : choice.row) flip_bit(choice.words, static_cast<size_t>(bit));
}

SparseRow SignChoices::fixed(RowView row) {
    found_.clear();
    size_t longest = words_of(row), total = row.size();
    for (const int32_t bit : row) {
        const auto choice = choices_.find(bit);
        if (choice == choices_.end() || choice->second.row.empty()) continue;
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
    Bits words = sum_of_found();
    for (const int32_t bit : row) flip_bit(words, static_cast<size_t>(bit));
    result.clear();
    for (size_t k = words.size(); k-- > 0;)
        for (uint64_t word = words[k]; word != 0; word &= ~std::bit_floor(word))
            result.push_back(static_cast<int32_t>(64 * k + static_cast<size_t>(std::bit_width(word)) - 1));
    return result;
}

// The sum of the choices in `found_`.
Bits SignChoices::sum_of_found() {
    if (found_.size() < many_choices) {
        Bits words;
        for (const Choice* choice : found_) add(words, *choice);
        return words;
    }
    Sum sum{Bits(by_number_.size() / 64 + 1), {}};
    for (const Choice* choice : found_) flip_bit(sum.numbers, choice->number);
    // What is to be added to one of the last sums, or to nothing.
    Bits missing = sum.numbers;
    size_t least = found_.size();
    for (const Sum& last : last_) {
        Bits differing = sum.numbers;
        add_bits(differing, last.numbers);
        if (const size_t count = count_bits(differing); count < least) {
            least = count;
            missing = std::move(differing);
            sum.words = last.words;
        }
    }
    for_each_bit(missing, [&](size_t number) { add(sum.words, *by_number_[number]); });
    Bits words = sum.words;
    last_[next_] = std::move(sum);
    next_ = (next_ + 1) % last_.size();
    return words;
}

void SignChoices::add(Bits& words, const Choice& choice) const {
    if (choice.words.empty())
        for (const int32_t bit : choice.row) flip_bit(words, static_cast<size_t>(bit));
    else
        add_bits(words, choice.words);
}

}  // namespace snc
