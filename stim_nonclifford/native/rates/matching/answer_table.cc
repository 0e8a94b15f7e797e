#include "rates/matching/answer_table.h"

#include <algorithm>
#include <bit>
#include <new>
#include <utility>

namespace snc {

MatchingPrediction::MatchingPrediction(uint32_t num_nodes, const std::vector<MatchingEdge>& edges, std::vector<uint64_t> added,
                                       uint32_t max_events, size_t max_bytes)
    : distances_(num_nodes, edges, max_bytes), added_(std::move(added)), max_events_(max_events) {}

int MatchingPrediction::operator()(const uint64_t* events, MatchingScratch& scratch) {
    auto& [matching, nodes] = scratch;
    nodes.clear();
    uint32_t flips = 0;
    for (size_t word = 0; word < added_.size(); ++word) {
        flips ^= static_cast<uint32_t>(std::popcount(events[word] & added_[word]));
        for (uint64_t bits = events[word]; bits != 0; bits &= bits - 1)
            nodes.push_back(static_cast<uint32_t>(64 * word) + static_cast<uint32_t>(std::countr_zero(bits)));
    }
    if (nodes.size() > max_events_) return unknown;
    const int64_t even = matching.weight(distances_, nodes);
    const int64_t odd = even < 0 ? -1 : matching.weight_with(distances_.num_nodes() - 1);
    if (odd < 0 || odd == even) return unknown;
    return static_cast<int>((flips & 1) ^ static_cast<uint32_t>(odd < even));
}

AnswerTable::AnswerTable(uint32_t event_words, uint32_t observable_words, uint32_t size_bits)
    : event_words_(event_words),
      observable_words_(observable_words),
      mask_((size_t{1} << size_bits) - 1),
      entry_words_(std::bit_ceil(prediction_word + observable_words)),
      entries_(static_cast<uint64_t*>(std::calloc(mask_ + 1, sizeof(uint64_t) * entry_words_))) {
    if (!entries_) throw std::bad_alloc();
}

void AnswerTable::announce(const uint64_t* row) const { __builtin_prefetch(&entries_[place_of(row)]); }

AnswerTable::Answer AnswerTable::find(const uint64_t* row) const {
    const uint64_t* entry = &entries_[place_of(row)];
    const uint64_t* key = key_of(row);
    if (entry[0] == key[0] && entry[1] == (key[1] ^ change)) return {entry + prediction_word, static_cast<int64_t>(entry[gap_word])};
    return {nullptr, 0};
}

void AnswerTable::put(const uint64_t* row, const uint64_t* prediction, int64_t gap) {
    uint64_t* entry = &entries_[place_of(row)];
    entry[0] = key_of(row)[0];
    entry[1] = key_of(row)[1] ^ change;
    entry[gap_word] = static_cast<uint64_t>(gap);
    std::copy_n(prediction, observable_words_, entry + prediction_word);
}

}  // namespace snc
