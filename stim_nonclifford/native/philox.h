// Philox4x64-10 (J. K. Salmon, M. A. Moraes, R. O. Dror, D. E. Shaw, SC 2011): a counter-based generator.
//
// Word i of a stream is a function of (seed, stream, index, i): any engine, thread or GPU lane makes the
// same words in any order. The Python module `engines/random_streams.py` is the definition.
#pragma once

#include <array>
#include <cstdint>

namespace snc {

enum class Stream : uint64_t {
    counts = 0,    // index: block; word k: number of noise events of shot k of the block
    events = 1,    // index: block; words: mechanisms of the block's events, shot after shot
    coins = 2,     // index: block; ceil(num_coins / 64) words per shot
    outcomes = 3,  // index: shot; word j: outcome of MEASURE j
};

constexpr int words_per_draw = 4;

// Words 4 * quad, ..., 4 * quad + 3 of a stream.
inline std::array<uint64_t, words_per_draw> random_words(uint64_t seed, Stream stream, uint64_t index,
                                                         uint64_t quad) {
    constexpr uint64_t multiplier_0 = 0xD2E7470EE14C6C93;
    constexpr uint64_t multiplier_1 = 0xCA5A826395121157;
    constexpr uint64_t weyl_0 = 0x9E3779B97F4A7C15;
    constexpr uint64_t weyl_1 = 0xBB67AE8584CAA73B;
    uint64_t c0 = quad + 1, c1 = index, c2 = 0, c3 = 0;
    uint64_t k0 = seed, k1 = static_cast<uint64_t>(stream);
    for (int round = 0; round < 10; ++round) {
        const unsigned __int128 product_0 = static_cast<unsigned __int128>(multiplier_0) * c0;
        const unsigned __int128 product_1 = static_cast<unsigned __int128>(multiplier_1) * c2;
        const uint64_t next_0 = static_cast<uint64_t>(product_1 >> 64) ^ c1 ^ k0;
        const uint64_t next_2 = static_cast<uint64_t>(product_0 >> 64) ^ c3 ^ k1;
        c1 = static_cast<uint64_t>(product_1);
        c3 = static_cast<uint64_t>(product_0);
        c0 = next_0;
        c2 = next_2;
        k0 += weyl_0;
        k1 += weyl_1;
    }
    return {c0, c1, c2, c3};
}

// A word as a number in [0, 1) with 53 bits.
inline double uniform(uint64_t word) { return static_cast<double>(word >> 11) * 0x1p-53; }

// The numbers in [0, 1) that decide the MEASUREs of a shot.
class OutcomeDraws {
   public:
    OutcomeDraws(uint64_t seed, uint64_t shot) : seed_(seed), shot_(shot) {}

    double operator()(uint32_t outcome) {
        const uint64_t quad = outcome / words_per_draw;
        if (quad != quad_) {
            words_ = random_words(seed_, Stream::outcomes, shot_, quad);
            quad_ = quad;
        }
        return uniform(words_[outcome % words_per_draw]);
    }

   private:
    uint64_t seed_, shot_;
    uint64_t quad_ = ~uint64_t{0};
    std::array<uint64_t, words_per_draw> words_{};
};

}  // namespace snc
