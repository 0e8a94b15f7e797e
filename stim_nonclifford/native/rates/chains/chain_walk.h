// Chains that take several moves, each by itself: the tables of decoders say with which rows a chain may go on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "rates/chains/chain_moves.h"
#include "rates/matching/answer_table.h"

namespace snc {

// What the rows of a level must be like: the decoder of a table predicts them wrongly, and is so sure of it.
struct LevelCondition {
    int64_t table = 0;
    int64_t least_gap = 0;
    bool is_signed = false;  // the prediction may be right: the gap is negative then
};

// Rows that a table has been asked about. The matching has decoded `fresh` of them, and of these a part is listed.
struct TableCounts {
    std::vector<int64_t> asked, fresh;  // for each table
    std::vector<uint64_t> listed_rows, listed_predictions;
    std::vector<int64_t> listed_tables;
};

class ChainWalk {
   public:
    // All chains take the moves, each of which has a seed. Chain k is at level_of[k]; afterwards its row is looked at with the condition of
    // another level, further_level_of[k], if that is not negative. A row that a matching decodes is listed if the bits `listing` of the
    // second word of its hash value are 0.
    ChainWalk(const ChainMoves& moves, std::span<const uint64_t> flips, size_t row_words, std::span<AnswerTable* const> tables,
              std::vector<LevelCondition> conditions, std::vector<ChainMove> kinds, std::vector<uint64_t> seeds, const ChainMembers& chains,
              std::span<const uint64_t> rows, std::vector<int64_t> level_of, std::vector<int64_t> further_level_of, uint64_t listing);

    // Lets the chains go on until they have done all, or wait for an answer that no table has. What comes out does not depend on the
    // number of threads: tables learn what matchings have found afterwards.
    void run(size_t threads, const std::function<void()>& poll);

    // The chains that wait, and what they ask: the tables, and the rows.
    const std::vector<size_t>& waiting() const { return waiting_; }
    int64_t table_asked(size_t chain) const;
    std::span<const uint64_t> row_asked(size_t chain) const;

    // The answers to all of these questions, in their order.
    void answer(std::span<const uint64_t> predictions, std::span<const int64_t> gaps);

    size_t size() const { return chains_.size(); }
    size_t row_words() const { return row_words_; }
    size_t observable_words() const { return tables_[0]->observable_words(); }
    std::span<const int64_t> members(size_t chain) const { return chains_[chain].members; }
    const std::vector<uint64_t>& rows() const { return rows_; }
    // For each chain: in how many moves there was a change to decide on, how many were made, and whether its row is one of its further
    // level.
    const std::vector<int64_t>& decided() const { return decided_; }
    const std::vector<int64_t>& accepted() const { return accepted_; }
    const std::vector<uint8_t>& is_further() const { return is_further_; }
    const TableCounts& counts() const { return counts_; }

   private:
    struct Chain {
        std::vector<int64_t> members;
        ChainChange change;
        size_t next = 0;  // of the moves
        bool is_proposed = false, has_answer = false;
        std::vector<uint64_t> prediction;
        int64_t gap = 0;
    };

    // What a matching has found.
    struct Fresh {
        int64_t table;
        std::vector<uint64_t> row;
        uint64_t prediction;
    };

    struct Findings {
        std::vector<int64_t> asked;
        std::vector<Fresh> fresh;
    };

    enum class Verdict : uint8_t { refused, allowed, unknown };

    bool advance(size_t number, MatchingScratch& scratch, Findings& findings);  // whether it has done all
    void flip(const Chain& chain, uint64_t* row) const;
    void accept(size_t number);
    Verdict verdict(size_t number, int64_t level, const uint64_t* row, MatchingScratch& scratch, Findings& findings);
    void learn(const std::vector<Findings>& parts);

    uint64_t* row_of(size_t chain) { return &rows_[chain * row_words_]; }
    uint64_t* proposed_row_of(size_t chain) { return &proposed_rows_[chain * row_words_]; }

    const ChainMoves& moves_;
    std::span<const uint64_t> flips_;
    size_t row_words_;
    std::vector<AnswerTable*> tables_;
    std::vector<LevelCondition> conditions_;
    std::vector<ChainMove> kinds_;
    std::vector<uint64_t> seeds_;
    std::vector<Chain> chains_;
    std::vector<int64_t> decided_, accepted_;
    std::vector<uint8_t> is_further_;
    std::vector<uint64_t> rows_, proposed_rows_;
    std::vector<int64_t> level_of_, further_level_of_;
    uint64_t listing_;
    std::vector<size_t> waiting_;
    TableCounts counts_;
};

}  // namespace snc
