#include "matching/look_ups.h"

#include <algorithm>

#include "base/argument_checks.h"

namespace snc {

// So many rows before they are looked up, their places are announced to the memory.
constexpr size_t ahead = 8;

LookUps::LookUps(std::span<AnswerTable* const> tables, size_t row_words, size_t count)
    : tables_(tables), row_words_(row_words), words_(tables[0]->observable_words()), found_(count, Found::not_asked) {
    predictions.resize(count * words_);
    gaps.resize(count);
}

void LookUps::look_up(const uint64_t* rows, std::span<const int64_t> table_of, const uint8_t* is_asked, size_t begin, size_t end,
                      MatchingScratch& scratch) {
    const auto table = [&](size_t k) -> const AnswerTable& { return *tables_[static_cast<size_t>(table_of[k])]; };
    for (size_t k = begin; k < end; ++k) {
        if (k + ahead < end) table(k + ahead).announce(rows + (k + ahead) * row_words_);
        if (is_asked != nullptr && !is_asked[k]) continue;
        const uint64_t* row = rows + k * row_words_;
        found_[k] = Found::nowhere;
        require(table(k).can_have(row), "An event is at no node.");
        if (const AnswerTable::Answer answer = table(k).find(row); answer.prediction != nullptr) {
            std::copy_n(answer.prediction, words_, &predictions[k * words_]);
            gaps[k] = answer.gap;
            found_[k] = Found::in_table;
        } else if (const int prediction = table(k).match(row, scratch); prediction != MatchingPrediction::unknown) {
            predictions[k * words_] = static_cast<uint64_t>(prediction);
            found_[k] = Found::by_matching;
        }
    }
}

void LookUps::store(const uint64_t* rows, std::span<const int64_t> table_of) {
    for (size_t k = 0; k < found_.size(); ++k) {
        if (found_[k] == Found::nowhere) unknown.push_back(static_cast<int64_t>(k));
        if (found_[k] != Found::by_matching) continue;
        fresh.push_back(static_cast<int64_t>(k));
        tables_[static_cast<size_t>(table_of[k])]->put(rows + k * row_words_, &predictions[k * words_], 0);
    }
}

}  // namespace snc
