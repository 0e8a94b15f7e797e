#include "rates/chains/chain_walk.h"

#include <algorithm>
#include <utility>

#include "base/argument_checks.h"
#include "base/parallel_parts.h"

namespace snc {

namespace {

constexpr size_t chains_of_part = 32;

}  // namespace

ChainWalk::ChainWalk(const ChainMoves& moves, std::span<const uint64_t> flips, size_t row_words, std::span<AnswerTable* const> tables,
                     std::vector<LevelCondition> conditions, std::vector<ChainMove> kinds, std::vector<uint64_t> seeds,
                     const ChainMembers& chains, std::span<const uint64_t> rows, std::vector<int64_t> level_of,
                     std::vector<int64_t> further_level_of, uint64_t listing)
    : moves_(moves),
      flips_(flips),
      row_words_(row_words),
      tables_(tables.begin(), tables.end()),
      conditions_(std::move(conditions)),
      kinds_(std::move(kinds)),
      seeds_(std::move(seeds)),
      chains_(chains.size()),
      decided_(chains.size()),
      accepted_(chains.size()),
      is_further_(chains.size()),
      rows_(rows.begin(), rows.end()),
      proposed_rows_(rows_.size()),
      level_of_(std::move(level_of)),
      further_level_of_(std::move(further_level_of)),
      listing_(listing),
      waiting_(chains.size()) {
    for (size_t k = 0; k < size(); ++k) {
        waiting_[k] = k;
        for (const int64_t member : chains.of(k))
            if (member >= 0) chains_[k].members.push_back(member);
    }
    counts_.asked.resize(tables_.size());
    counts_.fresh.resize(tables_.size());
}

void ChainWalk::run(size_t threads, const std::function<void()>& poll) {
    const size_t count = waiting_.size(), num_parts = (count + chains_of_part - 1) / chains_of_part;
    std::vector<Findings> parts(num_parts);
    std::vector<uint8_t> is_done(count);
    run_parts(num_parts, threads, poll, [&](Interruption&) {
        return [&, scratch = MatchingScratch()](size_t part) mutable {
            parts[part].asked.resize(tables_.size());
            for (size_t k = part * chains_of_part; k < std::min(count, (part + 1) * chains_of_part); ++k)
                is_done[k] = advance(waiting_[k], scratch, parts[part]);
        };
    });
    learn(parts);
    size_t left = 0;
    for (size_t k = 0; k < count; ++k)
        if (!is_done[k]) waiting_[left++] = waiting_[k];
    waiting_.resize(left);
}

bool ChainWalk::advance(size_t number, MatchingScratch& scratch, Findings& findings) {
    Chain& chain = chains_[number];
    for (; chain.next < kinds_.size(); ++chain.next, chain.is_proposed = false) {
        if (!chain.is_proposed) {
            moves_.propose(kinds_[chain.next], chain.members, level_of_[number], seeds_[chain.next], number, chain.change);
            if (!chain.change.is_one()) continue;
            ++decided_[number];
            chain.is_proposed = true;
            std::copy_n(row_of(number), row_words_, proposed_row_of(number));
            flip(chain, proposed_row_of(number));
        }
        const Verdict found = verdict(number, level_of_[number], proposed_row_of(number), scratch, findings);
        if (found == Verdict::unknown) return false;
        if (found == Verdict::allowed) accept(number);
    }
    if (further_level_of_[number] < 0) return true;
    const Verdict found = verdict(number, further_level_of_[number], row_of(number), scratch, findings);
    is_further_[number] = found == Verdict::allowed;
    return found != Verdict::unknown;
}

void ChainWalk::flip(const Chain& chain, uint64_t* row) const {
    const auto flip_one = [&](int64_t mechanism) {
        for (size_t word = 0; word < row_words_; ++word) row[word] ^= flips_[static_cast<size_t>(mechanism) * row_words_ + word];
    };
    for (size_t place = 0; place < chain.members.size(); ++place)
        if (chain.change.leaving[place]) flip_one(chain.members[place]);
    for (const int64_t birth : chain.change.births) flip_one(birth);
}

void ChainWalk::accept(size_t number) {
    Chain& chain = chains_[number];
    ++accepted_[number];
    std::copy_n(proposed_row_of(number), row_words_, row_of(number));
    size_t left = 0;
    for (size_t place = 0; place < chain.members.size(); ++place)
        if (!chain.change.leaving[place]) chain.members[left++] = chain.members[place];
    chain.members.resize(left);
    chain.members.insert(chain.members.end(), chain.change.births.begin(), chain.change.births.end());
}

ChainWalk::Verdict ChainWalk::verdict(size_t number, int64_t level, const uint64_t* row, MatchingScratch& scratch, Findings& findings) {
    Chain& chain = chains_[number];
    const LevelCondition& condition = conditions_[static_cast<size_t>(level)];
    const AnswerTable& table = *tables_[static_cast<size_t>(condition.table)];
    const size_t words = table.observable_words();
    const uint64_t* prediction = chain.prediction.data();
    int64_t gap = chain.gap;
    uint64_t matched = 0;
    if (!std::exchange(chain.has_answer, false)) {
        require(table.can_have(row), "An event is at no node.");
        ++findings.asked[static_cast<size_t>(condition.table)];
        const AnswerTable::Answer answer = table.find(row);
        prediction = answer.prediction;
        gap = answer.gap;
        if (prediction == nullptr) {
            const int found = table.match(row, scratch);
            if (found == MatchingPrediction::unknown) return Verdict::unknown;
            matched = static_cast<uint64_t>(found);
            prediction = &matched;
            findings.fresh.push_back({condition.table, {row, row + row_words_}, matched});
        }
    }
    const bool is_wrong = !std::equal(prediction, prediction + words, row + table.event_words());
    if (condition.is_signed && !is_wrong) gap = -1 - gap;
    return (is_wrong || condition.is_signed) && gap >= condition.least_gap ? Verdict::allowed : Verdict::refused;
}

void ChainWalk::learn(const std::vector<Findings>& parts) {
    for (const Findings& part : parts) {
        for (size_t table = 0; table < tables_.size(); ++table) counts_.asked[table] += part.asked[table];
        for (const auto& [table, row, prediction] : part.fresh) {
            AnswerTable& learning = *tables_[static_cast<size_t>(table)];
            learning.put(row.data(), &prediction, 0);
            ++counts_.fresh[static_cast<size_t>(table)];
            if ((learning.key_of(row.data())[1] & listing_) != 0) continue;
            counts_.listed_rows.insert(counts_.listed_rows.end(), row.begin(), row.end());
            counts_.listed_predictions.push_back(prediction);
            counts_.listed_tables.push_back(table);
        }
    }
}

int64_t ChainWalk::table_asked(size_t number) const {
    const bool asks_further = chains_[number].next == kinds_.size();
    return conditions_[static_cast<size_t>((asks_further ? further_level_of_ : level_of_)[number])].table;
}

std::span<const uint64_t> ChainWalk::row_asked(size_t number) const {
    const std::vector<uint64_t>& rows = chains_[number].next == kinds_.size() ? rows_ : proposed_rows_;
    return std::span(rows).subspan(number * row_words_, row_words_);
}

void ChainWalk::answer(std::span<const uint64_t> predictions, std::span<const int64_t> gaps) {
    const size_t words = observable_words();
    for (size_t k = 0; k < waiting_.size(); ++k) {
        Chain& chain = chains_[waiting_[k]];
        chain.prediction.assign(predictions.begin() + static_cast<std::ptrdiff_t>(k * words),
                                predictions.begin() + static_cast<std::ptrdiff_t>((k + 1) * words));
        chain.gap = gaps[k];
        chain.has_answer = true;
    }
}

}  // namespace snc
