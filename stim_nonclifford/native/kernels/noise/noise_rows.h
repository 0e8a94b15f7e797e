// The row of a shot in the noise kernel: words of checks, of the signature and of outputs.
#pragma once

#include "kernels/launch/job.h"
#include "kernels/launch/plan_image.h"

namespace snc {

// The numbers of words, known when the kernel is compiled. The row is kept in registers.
template <uint32_t checks, uint32_t signature, uint32_t outputs>
struct FixedLayout {
    static constexpr uint32_t register_words = checks + signature + outputs;
    // So many words tell whether a shot passes all checks, and are worth reading before the others; or 0.
    static constexpr uint32_t first_words =
        register_words % 2 == 0 && checks >= 2 && (checks + 1) / 2 * 2 < register_words ? (checks + 1) / 2 * 2 : 0;

    SNC_HOST_DEVICE explicit FixedLayout(const PlanImage&) {}
    SNC_HOST_DEVICE static constexpr uint32_t check_words() { return checks; }
    SNC_HOST_DEVICE static constexpr uint32_t signature_words() { return signature; }
    SNC_HOST_DEVICE static constexpr uint32_t output_words() { return outputs; }
    SNC_HOST_DEVICE static constexpr uint32_t row_words() { return register_words; }
};

// The numbers of words, read from the plan. Rows of `words` words are kept in registers; 0: rows are in memory.
template <uint32_t words>
struct PlanLayout {
    static constexpr uint32_t register_words = words;
    static constexpr uint32_t first_words = 0;

    SNC_HOST_DEVICE explicit PlanLayout(const PlanImage& plan)
        : checks_(plan.check_words), signature_(plan.signature_words), outputs_(plan.output_words) {}
    SNC_HOST_DEVICE uint32_t check_words() const { return checks_; }
    SNC_HOST_DEVICE uint32_t signature_words() const { return signature_; }
    SNC_HOST_DEVICE uint32_t output_words() const { return outputs_; }
    SNC_HOST_DEVICE uint32_t row_words() const { return checks_ + signature_ + outputs_; }

   private:
    uint32_t checks_, signature_, outputs_;
};

struct alignas(16) WordPair {
    uint64_t low, high;
};

// The row of a shot: of a few words, in registers.
template <uint32_t num_words>
struct RegisterRow {
    uint64_t words[num_words];

    SNC_HOST_DEVICE void start(const Job&, const uint64_t* constant, uint32_t, uint32_t, uint32_t) {
        for (uint32_t w = 0; w < num_words; ++w) words[w] = constant[w];
    }
    SNC_HOST_DEVICE void flip(const PlanImage&, const uint64_t* effects, uint32_t mechanism) {
        flip_part<0, num_words>(effects, mechanism);
    }
    // Words [begin, end) of it.
    template <uint32_t begin, uint32_t end>
    SNC_HOST_DEVICE void flip_part(const uint64_t* effects, uint32_t mechanism) {
        const uint64_t* effect = effects + mechanism * num_words;
        if constexpr (num_words % 2 == 0) {
            // Two words in one access.
            const auto* pairs = reinterpret_cast<const WordPair*>(effect);
            for (uint32_t w = begin; w < end; w += 2) {
                const WordPair pair = pairs[w / 2];
                words[w] ^= pair.low;
                words[w + 1] ^= pair.high;
            }
        } else {
            for (uint32_t w = begin; w < end; ++w) words[w] ^= effect[w];
        }
    }
    SNC_HOST_DEVICE void flip_coin(const PlanImage& plan, uint32_t coin) {
        flip(plan, plan.array<uint64_t>(plan.coins.words), coin);
    }
    SNC_HOST_DEVICE void flip_leakage(const PlanImage& plan, uint32_t number) {
        flip(plan, plan.array<uint64_t>(plan.leakage_rows.words), number);
    }
    // The words from number `first` on, `count` of them, or-ed. Indices are known when this is compiled.
    SNC_HOST_DEVICE uint64_t any(uint32_t first, uint32_t count) const {
        uint64_t result = 0;
        for (uint32_t w = 0; w < num_words; ++w) result |= w >= first && w < first + count ? words[w] : 0;
        return result;
    }
    SNC_HOST_DEVICE bool is_set(uint32_t bit) const {
        uint64_t result = 0;
        // No comparison of w with the number of the word: the compiler would make it an index, and the row would be in memory.
        for (uint32_t w = 0; w < num_words; ++w) result |= bit - 64 * w < 64 ? words[w] >> (bit - 64 * w) & 1 : 0;
        return result != 0;
    }
    SNC_HOST_DEVICE uint64_t word(uint32_t k) const {
        uint64_t result = 0;
        for (uint32_t w = 0; w < num_words; ++w) result |= w == k ? words[w] : 0;
        return result;
    }
};

// Rows of any length, in the device's memory; the rows of a team are stored word by word.
template <>
struct RegisterRow<0> {
    uint64_t* words;
    uint32_t num_words;

    // The row at a place among those of the team's block.
    SNC_HOST_DEVICE void start(const Job& job, const uint64_t* constant, uint32_t row_words, uint32_t team,
                               uint32_t place) {
        start_in(job.wide_rows, constant, row_words, team, place);
    }
    SNC_HOST_DEVICE void start_in(uint64_t* rows, const uint64_t* constant, uint32_t row_words, uint32_t team, uint32_t place) {
        num_words = row_words;
        words = rows + uint64_t{team} * num_words * block_shots + place;
        for (uint32_t w = 0; w < num_words; ++w) words[uint64_t{w} * block_shots] = constant[w];
    }
    SNC_HOST_DEVICE void flip(const PlanImage& plan, const TableImage& table, uint64_t number) {
        if (table.are_lists != 0) {
            const auto* starts = plan.array<int64_t>(table.starts);
            const auto* flips = plan.array<WordFlip>(table.flips);
            for (int64_t f = starts[number]; f < starts[number + 1]; ++f)
                words[uint64_t{flips[f].word} * block_shots] ^= flips[f].mask;
        } else {
            const uint64_t* by = plan.array<uint64_t>(table.words) + number * num_words;
            for (uint32_t w = 0; w < num_words; ++w) words[uint64_t{w} * block_shots] ^= by[w];
        }
    }
    SNC_HOST_DEVICE void flip(const PlanImage& plan, const uint64_t*, uint32_t mechanism) {
        flip(plan, plan.effects, mechanism);
    }
    SNC_HOST_DEVICE void flip_coin(const PlanImage& plan, uint32_t coin) { flip(plan, plan.coins, coin); }
    SNC_HOST_DEVICE void flip_leakage(const PlanImage& plan, uint32_t number) { flip(plan, plan.leakage_rows, number); }
    SNC_HOST_DEVICE uint64_t any(uint32_t first, uint32_t count) const {
        uint64_t result = 0;
        for (uint32_t w = first; w < first + count; ++w) result |= word(w);
        return result;
    }
    SNC_HOST_DEVICE bool is_set(uint32_t bit) const { return (word(bit / 64) >> (bit % 64) & 1) != 0; }
    SNC_HOST_DEVICE uint64_t word(uint32_t k) const { return words[uint64_t{k} * block_shots]; }
};

}  // namespace snc
