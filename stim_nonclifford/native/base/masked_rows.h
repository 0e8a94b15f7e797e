// Numbers for the distinct values that some bits of packed rows have.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <utility>
#include <vector>

namespace snc {

// Rows whose bits are 0 have number 0; others are numbered as they come.
class MaskedRows {
   public:
    // Bit b of mask k is bit 64 words[k] + b of a row, in bytes.
    MaskedRows(std::vector<uint32_t> words, std::vector<uint64_t> masks) : words_(std::move(words)), masks_(std::move(masks)) { clear(); }

    uint64_t size() const { return count_; }

    void clear() {
        count_ = 1;
        values_.assign(words_.size(), 0);
        slots_.assign(64, 0);
    }

    // Writes the number of each of `count` rows, and appends to `fresh` which of them had a value for the first time.
    void number(const uint8_t* rows, size_t row_bytes, size_t count, uint32_t* numbers, std::vector<uint32_t>& fresh) {
        std::array<uint64_t, batch> hashes;
        std::vector<uint64_t> values(batch * words_.size());
        for (size_t first = 0; first < count; first += batch) {
            const size_t size = std::min(batch, count - first);
            // No slot may move between its announcement and its use.
            while (2 * (count_ + size) > slots_.size()) grow();
            for (size_t k = 0; k < size; ++k) {
                hashes[k] = read(rows + (first + k) * row_bytes, row_bytes, values.data() + k * words_.size());
                if (hashes[k] != 0) __builtin_prefetch(&slots_[hashes[k] & (slots_.size() - 1)]);
            }
            for (size_t k = 0; k < size; ++k) {
                const uint64_t before = count_;
                numbers[first + k] = hashes[k] == 0 ? 0 : number_of(values.data() + k * words_.size(), hashes[k]);
                if (count_ != before) fresh.push_back(static_cast<uint32_t>(first + k));
            }
        }
    }

   private:
    static constexpr size_t batch = 32;

    // Reads the bits of a row. Returns their hash, which is 0 for zeros alone.
    uint64_t read(const uint8_t* row, size_t row_bytes, uint64_t* value) const {
        uint64_t any = 0;
        for (size_t w = 0; w < words_.size(); ++w) {
            const size_t begin = sizeof(uint64_t) * words_[w];
            uint64_t word = 0;
            if (begin + sizeof word <= row_bytes) {
                std::memcpy(&word, row + begin, sizeof word);
            } else if (begin < row_bytes) {
                std::memcpy(&word, row + begin, row_bytes - begin);
            }
            value[w] = word & masks_[w];
            any |= value[w];
        }
        return any == 0 ? 0 : hash_of(value);
    }
    // Not 0.
    uint64_t hash_of(const uint64_t* value) const {
        uint64_t hash = 0;
        for (size_t w = 0; w < words_.size(); ++w) {
            hash = (hash ^ value[w]) * 0x9E3779B97F4A7C15;
            hash ^= hash >> 29;
        }
        hash *= 0xBF58476D1CE4E5B9;
        return std::max<uint64_t>(hash ^ hash >> 32, 1);
    }

    uint32_t number_of(const uint64_t* value, uint64_t hash) {
        uint64_t& slot = slots_[slot_of(value, hash)];
        if (slot == 0) {
            if (count_ > std::numeric_limits<uint32_t>::max()) throw std::length_error("There are too many distinct rows.");
            slot = tag(hash) | count_++;
            values_.insert(values_.end(), value, value + words_.size());
        }
        return static_cast<uint32_t>(slot);
    }
    // The slot that a value has, or would get. A slot has a number, and half of a hash above it.
    size_t slot_of(const uint64_t* value, uint64_t hash) const {
        size_t place = hash & (slots_.size() - 1);
        while (slots_[place] != 0 && !(slots_[place] >> 32 == hash >> 32 && is_value(static_cast<uint32_t>(slots_[place]), value)))
            place = (place + 1) & (slots_.size() - 1);
        return place;
    }
    bool is_value(uint32_t number, const uint64_t* value) const {
        return std::equal(value, value + words_.size(), values_.data() + size_t{number} * words_.size());
    }
    static uint64_t tag(uint64_t hash) { return hash >> 32 << 32; }
    void grow() {
        slots_.assign(2 * slots_.size(), 0);
        for (uint64_t number = 1; number < count_; ++number) {
            const uint64_t* const value = values_.data() + number * words_.size();
            const uint64_t hash = hash_of(value);
            size_t place = hash & (slots_.size() - 1);
            while (slots_[place] != 0) place = (place + 1) & (slots_.size() - 1);
            slots_[place] = tag(hash) | number;
        }
    }

    std::vector<uint32_t> words_;
    std::vector<uint64_t> masks_;
    uint64_t count_ = 1;
    std::vector<uint64_t> values_;  // by number
    std::vector<uint64_t> slots_;   // 0: free
};

}  // namespace snc
