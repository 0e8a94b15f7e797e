// Philox4x64-10 (J. K. Salmon, M. A. Moraes, R. O. Dror, D. E. Shaw, SC 2011): a counter-based generator.
//
// Word i of a stream is a function of (seed, stream, index, i): any engine, thread or GPU lane computes
// the same words in any order. The Python module `engines/random_streams.py` is the definition.
#pragma once

#include "kernels/shared/platform.h"

namespace snc {

enum class Stream : uint64_t {
    counts = 0,    // index: block; word k: number of noise events of shot k of the block
    events = 1,    // index: block; words: mechanisms of the block's events, shot after shot
    coins = 2,     // index: block; ceil(num_coins / 64) words per shot
    outcomes = 3,  // index: shot; words: outcomes of MEASUREs, see OutcomeDecisions
    // Of fault sets:
    set_draws = 4,   // index: weight and part of the search; words: points on the axis of sets
    left_parts = 5,  // index: weight, round and chunk of a join; words: members of its left parts
    right_parts = 6,
    rounds = 8,      // index: round; word 0: the seed of its set_draws
    leakage = 9,     // index: shot; words: what the qubits do that may be leaked
    // Of trajectories, index: shot:
    trajectory_structure = 10,  // words: which qubits relax or leak, and how
    trajectory_paulis = 11,     // words: which other noise there is
    trajectory_coins = 12,      // bit d: outcome of decision d if it is a coin
    trajectory_outcomes = 13,   // word d: outcome of decision d if it is not
    trajectory_leakage = 14,    // words: what leaked qubits do
    readouts = 15,  // index: block; ceil(num_hidden_coins / 64) words per shot, of coins that records alone depend on
};

constexpr int words_per_draw = 4;

struct DrawnWords {
    uint64_t words[words_per_draw];

    SNC_HOST_DEVICE uint64_t operator[](uint64_t k) const {
#if defined(__CUDA_ARCH__)
        // An index that is not known at compile time would move the words from registers to memory.
        const uint64_t low = (k & 1) != 0 ? words[1] : words[0], high = (k & 1) != 0 ? words[3] : words[2];
        return (k & 2) != 0 ? high : low;
#else
        return words[k];
#endif
    }
    SNC_HOST_DEVICE const uint64_t* begin() const { return words; }
    SNC_HOST_DEVICE const uint64_t* end() const { return words + words_per_draw; }
};

// Words 4 * quad, ..., 4 * quad + 3 of a stream.
SNC_HOST_DEVICE DrawnWords random_words(uint64_t seed, Stream stream, uint64_t index, uint64_t quad) {
    constexpr uint64_t multiplier_0 = 0xD2E7470EE14C6C93;
    constexpr uint64_t multiplier_1 = 0xCA5A826395121157;
    constexpr uint64_t weyl_0 = 0x9E3779B97F4A7C15;
    constexpr uint64_t weyl_1 = 0xBB67AE8584CAA73B;
    uint64_t c0 = quad + 1, c1 = index, c2 = 0, c3 = 0;
    uint64_t k0 = seed, k1 = static_cast<uint64_t>(stream);
    for (int round = 0; round < 10; ++round) {
        const Product product_0 = multiply(multiplier_0, c0), product_1 = multiply(multiplier_1, c2);
        c0 = product_1.high ^ c1 ^ k0;
        c2 = product_0.high ^ c3 ^ k1;
        c1 = product_1.low;
        c3 = product_0.low;
        k0 += weyl_0;
        k1 += weyl_1;
    }
    return {{c0, c1, c2, c3}};
}

// Word k of a stream.
SNC_HOST_DEVICE_CALLED uint64_t random_word(uint64_t seed, Stream stream, uint64_t index, uint64_t k) {
    return random_words(seed, stream, index, k / words_per_draw)[k % words_per_draw];
}

// A word as a number in [0, 1) with 53 bits.
SNC_HOST_DEVICE double uniform(uint64_t word) { return static_cast<double>(word >> 11) * 0x1p-53; }

// Outcome probabilities of narrow vectors within this of 0 or 1 are taken as 0 or 1: it is what rounding can do to them.
constexpr double certain = 1e-13;

// The same for a vector of this width. The weights of outcomes are sums over its coefficients. A sum of n terms of one sign, one after
// the other, is off by at most n 2^-53 of itself, and kernels add up a sixteenth of the coefficients in each lane: that is below
// `certain` up to width 13, and doubles with each further coordinate.
SNC_HOST_DEVICE double certain_at(uint32_t width) {
    constexpr uint32_t narrow = 13;
    return width <= narrow ? certain : certain * static_cast<double>(uint64_t{1} << (width - narrow));
}

// Probabilities that are closer than this are equal, but for rounding.
constexpr double tie = 1e-9;

// Decides the outcomes of a shot by arithmetic decoding, as its twin in `engines/random_streams.py`.
class OutcomeDecisions {
   public:
    SNC_HOST_DEVICE OutcomeDecisions(uint64_t seed, uint64_t shot) : seed_(seed), shot_(shot) { draw(); }
    // With `separate`, each outcome has a random number of its own, whatever the others are and in whatever order they come:
    // word k of the stream is that of outcome k. The caller then decides by decide(probability, outcome).
    SNC_HOST_DEVICE OutcomeDecisions(uint64_t seed, uint64_t shot, bool separate) : seed_(seed), shot_(shot), separate_(separate) {
        if (!separate) draw();
    }

    // The first random number. Decisions that need no further number are a function of it.
    SNC_HOST_DEVICE double first() const { return first_; }

    // The number that the next decision compares with the probability.
    SNC_HOST_DEVICE double number() {
        if (mass_ < min_mass) draw();
        return number_;
    }

    SNC_HOST_DEVICE bool decide(double probability_of_one) {
        const bool one = number() < probability_of_one;
        if (one) {
            number_ /= probability_of_one;
            mass_ *= probability_of_one;
        } else {
            low_ += mass_ * probability_of_one;
            number_ = (number_ - probability_of_one) / (1 - probability_of_one);
            mass_ *= 1 - probability_of_one;
        }
        return one;
    }

    SNC_HOST_DEVICE bool decide(double probability_of_one, int32_t outcome) {
        if (!separate_) return decide(probability_of_one);
        return number_of(outcome) < probability_of_one;
    }
    // The random number of an outcome, with `separate`.
    SNC_HOST_DEVICE double number_of(int32_t outcome) {
        const auto k = static_cast<uint64_t>(outcome);
        if (const uint64_t quad = k / words_per_draw; drawn_ != quad + 1) {
            words_ = random_words(seed_, Stream::outcomes, shot_, quad);
            drawn_ = quad + 1;
        }
        return uniform(words_[k % words_per_draw]);
    }

    // The decisions up to now follow from first() if it lies in [low(), low() + mass()), up to rounding.
    SNC_HOST_DEVICE bool follow_from_first() const { return drawn_ == 1 && !separate_; }
    SNC_HOST_DEVICE double low() const { return low_; }
    SNC_HOST_DEVICE double mass() const { return mass_; }

    // Not a likely product of probabilities: rounding must not decide whether a mass is below it.
    static constexpr double min_mass = 0.0029;

   private:
    SNC_HOST_DEVICE void draw() {
        if (drawn_ % words_per_draw == 0) words_ = random_words(seed_, Stream::outcomes, shot_, drawn_ / words_per_draw);
        number_ = uniform(words_[drawn_ % words_per_draw]);
        if (drawn_++ == 0) first_ = number_;
        mass_ = 1;
    }

    uint64_t seed_, shot_;
    uint64_t drawn_ = 0;  // words; or, of separate numbers, the number of the last four words, plus 1
    bool separate_ = false;
    DrawnWords words_{};
    double first_ = 0, number_ = 0, low_ = 0, mass_ = 0;
};

}  // namespace snc
