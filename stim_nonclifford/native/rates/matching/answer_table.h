// What a decoder answers to detection events: its latest answers, and those that a matching finds as the decoder would.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <utility>
#include <vector>

#include "base/argument_checks.h"
#include "rates/matching/distances.h"
#include "rates/matching/least_matching.h"

namespace snc {

// What a thread needs to find matchings.
struct MatchingScratch {
    LeastMatching matching;
    std::vector<uint32_t> nodes;
};

// Predicts one observable, as a decoder that finds a matching of the least weight: the observable is flipped if such a matching has an
// edge more at a further node. Where both classes of matchings weigh the same, it does not know. Several threads may ask.
class MatchingPrediction {
   public:
    // A row of events has a bit for each node but the last, which is the further one. The prediction is flipped for each event in
    // `added`.
    MatchingPrediction(uint32_t num_nodes, const std::vector<MatchingEdge>& edges, std::vector<uint64_t> added, uint32_t max_events,
                       size_t max_bytes);

    uint32_t num_detectors() const { return distances_.num_nodes() - 1; }

    static constexpr int unknown = -1;
    int operator()(const uint64_t* events, MatchingScratch& scratch);  // 0, 1 or unknown

   private:
    Distances distances_;
    std::vector<uint64_t> added_;
    uint32_t max_events_;
};

// Rows have words for detection events, for observables, and two for a hash value of the events. Each answer lies at a place that the
// hash value gives.
class AnswerTable {
   public:
    struct Answer {
        const uint64_t* prediction;  // the words of the observables; null: nothing is known
        int64_t gap;
    };

    AnswerTable(uint32_t event_words, uint32_t observable_words, uint32_t size_bits);

    void use_matching(std::unique_ptr<MatchingPrediction> matching) { matching_ = std::move(matching); }
    uint32_t event_words() const { return event_words_; }
    uint32_t observable_words() const { return observable_words_; }
    uint32_t row_words() const { return event_words_ + observable_words_ + key_words; }
    const uint64_t* key_of(const uint64_t* row) const { return row + event_words_ + observable_words_; }

    // Whether all events are at nodes of the matching.
    bool can_have(const uint64_t* row) const { return !matching_ || !has_bits_beyond(row, event_words_, matching_->num_detectors()); }
    void announce(const uint64_t* row) const;  // to the memory
    Answer find(const uint64_t* row) const;
    // What a matching says, which is not stored: 0, 1 or `MatchingPrediction::unknown`.
    int match(const uint64_t* row, MatchingScratch& scratch) const { return matching_ ? (*matching_)(row, scratch) : MatchingPrediction::unknown; }
    void put(const uint64_t* row, const uint64_t* prediction, int64_t gap);

    static constexpr uint32_t key_words = 2;

   private:
    // An entry: the hash value, the gap, and the prediction. All of them are 0 at first: the hash value is stored with a change, so that
    // an empty entry is that of no events.
    static constexpr uint32_t gap_word = key_words, prediction_word = key_words + 1;
    static constexpr uint64_t change = 0x9E3779B97F4A7C15;

    struct Free {
        void operator()(uint64_t* words) const { std::free(words); }
    };

    size_t place_of(const uint64_t* row) const { return (key_of(row)[0] & mask_) * entry_words_; }

    uint32_t event_words_, observable_words_;
    size_t mask_, entry_words_;
    std::unique_ptr<uint64_t[], Free> entries_;  // of calloc: pages that are never used take no memory
    std::unique_ptr<MatchingPrediction> matching_;
};

}  // namespace snc
