// One move of many chains at once: what is proposed, and what tables say of it.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "chains/chain_moves.h"
#include "matching/look_ups.h"

namespace snc {

struct ChainStep {
    std::vector<uint8_t> is_changed;  // for each chain
    std::vector<uint8_t> leaving;     // for each place whether its member leaves
    Births births;
    std::vector<uint64_t> rows;       // of the proposed fault sets
    std::optional<LookUps> look_ups;  // of the rows that are changed; nothing without tables
};

// Chain k has the row k of `rows`, and asks the table table_of[k].
ChainStep propose_and_look_up(const ChainMoves& moves, ChainMove move, const ChainMembers& chains, std::span<const int64_t> level_of,
                              uint64_t seed, std::span<const uint64_t> flips, size_t row_words, std::span<const uint64_t> rows,
                              std::span<AnswerTable* const> tables, std::span<const int64_t> table_of, size_t threads,
                              const std::function<void()>& poll);

// Looks up rows by itself.
LookUps look_up_rows(std::span<AnswerTable* const> tables, std::span<const uint64_t> rows, size_t row_words,
                     std::span<const int64_t> table_of, size_t threads, const std::function<void()>& poll);

}  // namespace snc
