// Many rows, each of which is looked up in one of several tables, by several threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "matching/answer_table.h"

namespace snc {

class LookUps {
   public:
    // Of `count` rows, each of `row_words` words. A row may have more words than its table needs, which are not looked at.
    LookUps(std::span<AnswerTable* const> tables, size_t row_words, size_t count);

    // Looks up those of the rows [begin, end), which threads have divided among them, that are asked about; null: all. Row k is at
    // rows + k * row_words, and asks the table table_of[k]. Tables stay as they are, so that answers do not depend on who comes first.
    void look_up(const uint64_t* rows, std::span<const int64_t> table_of, const uint8_t* is_asked, size_t begin, size_t end,
                 MatchingScratch& scratch);

    // Lets tables know what matchings have found, and lists the rows. Call it once, when all have been looked up.
    void store(const uint64_t* rows, std::span<const int64_t> table_of);

    size_t observable_words() const { return words_; }

    // Of each row: the words of the prediction, and the gap; 0 if nothing is known.
    std::vector<uint64_t> predictions;
    std::vector<int64_t> gaps;
    std::vector<int64_t> unknown, fresh;  // the rows of which nothing is known, and those that a matching has decoded

   private:
    enum class Found : uint8_t { not_asked, nowhere, in_table, by_matching };

    std::span<AnswerTable* const> tables_;
    size_t row_words_, words_;
    std::vector<Found> found_;
};

}  // namespace snc
