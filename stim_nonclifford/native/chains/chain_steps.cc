#include "chains/chain_steps.h"

#include <algorithm>

#include "base/parallel_parts.h"

namespace snc {

namespace {

constexpr size_t part_rows = 64;

size_t parts_of(size_t count) { return (count + part_rows - 1) / part_rows; }

}  // namespace

ChainStep propose_and_look_up(const ChainMoves& moves, ChainMove move, const ChainMembers& chains, std::span<const int64_t> level_of,
                              uint64_t seed, std::span<const uint64_t> flips, size_t row_words, std::span<const uint64_t> rows,
                              std::span<AnswerTable* const> tables, std::span<const int64_t> table_of, size_t threads,
                              const std::function<void()>& poll) {
    const size_t count = chains.size(), num_parts = parts_of(count);
    ChainStep step;
    step.is_changed.resize(count);
    step.leaving.resize(chains.members.size());
    step.rows.assign(rows.begin(), rows.end());
    if (!tables.empty()) step.look_ups.emplace(tables, row_words, count);
    std::vector<Births> of_parts(num_parts);
    run_parts(num_parts, threads, poll, [&](Interruption&) {
        return [&, scratch = MatchingScratch()](size_t part) mutable {
            const size_t begin = part * part_rows, end = std::min(count, begin + part_rows);
            Births& births = of_parts[part];
            moves.propose(move, chains, level_of, seed, begin, end, step.leaving, births);
            flip_rows(flips, row_words, chains, step.leaving, births.chain_of, births.mechanisms, begin, end, step.rows.data());
            for (size_t chain = begin; chain < end; ++chain)
                step.is_changed[chain] = std::ranges::count(std::span(step.leaving).subspan(chain * chains.room, chains.room), 1) > 0;
            for (const int64_t chain : births.chain_of) step.is_changed[static_cast<size_t>(chain)] = 1;
            if (step.look_ups) step.look_ups->look_up(step.rows.data(), table_of, step.is_changed.data(), begin, end, scratch);
        };
    });
    const auto append = [](std::vector<int64_t>& all, const std::vector<int64_t>& some) { all.insert(all.end(), some.begin(), some.end()); };
    for (const Births& births : of_parts) {
        append(step.births.chain_of, births.chain_of);
        append(step.births.mechanisms, births.mechanisms);
    }
    if (step.look_ups) step.look_ups->store(step.rows.data(), table_of);
    return step;
}

LookUps look_up_rows(std::span<AnswerTable* const> tables, std::span<const uint64_t> rows, size_t row_words,
                     std::span<const int64_t> table_of, size_t threads, const std::function<void()>& poll) {
    const size_t count = table_of.size();
    LookUps found(tables, row_words, count);
    run_parts(parts_of(count), threads, poll, [&](Interruption&) {
        return [&, scratch = MatchingScratch()](size_t part) mutable {
            const size_t begin = part * part_rows;
            found.look_up(rows.data(), table_of, nullptr, begin, std::min(count, begin + part_rows), scratch);
        };
    });
    found.store(rows.data(), table_of);
    return found;
}

}  // namespace snc
