// A number for each distinct row of words.
#pragma once

#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <vector>

namespace snc {

class NumberedRows {
   public:
    explicit NumberedRows(uint32_t words) : words_(words), slots_(64) {}

    uint64_t size() const { return count_; }
    const uint64_t* row(uint32_t number) const { return rows_.data() + size_t{number} * words_; }

    static constexpr uint32_t none = ~uint32_t{0};
    // The number of a row; a new row gets the next number.
    uint32_t number_of(const uint64_t* row) {
        if (2 * (count_ + 1) > slots_.size()) grow();
        uint32_t& slot = slots_[slot_of(row)];
        if (slot != 0) return slot - 1;
        if (count_ + 1 >= none) throw std::length_error("There are too many distinct rows.");
        rows_.insert(rows_.end(), row, row + words_);
        slot = static_cast<uint32_t>(++count_);
        return slot - 1;
    }

    // The number of a row, or none.
    uint32_t find(const uint64_t* row) const { return slots_[slot_of(row)] - 1; }

   private:
    // The slot that a row has, or would get.
    size_t slot_of(const uint64_t* row) const {
        uint64_t hash = 0;
        for (uint32_t w = 0; w < words_; ++w) {
            hash = (hash ^ row[w]) * 0x9E3779B97F4A7C15;
            hash ^= hash >> 29;
        }
        size_t slot = hash * 0xBF58476D1CE4E5B9 >> 20 & (slots_.size() - 1);
        while (slots_[slot] != 0 && !is_row(slots_[slot] - 1, row)) slot = (slot + 1) & (slots_.size() - 1);
        return slot;
    }
    // Rows have few words: a loop is faster than a call that compares memory.
    bool is_row(uint32_t number, const uint64_t* row) const {
        const uint64_t* const other = this->row(number);
        for (uint32_t w = 0; w < words_; ++w)
            if (row[w] != other[w]) return false;
        return true;
    }
    void grow() {
        slots_.assign(2 * slots_.size(), 0);
        for (uint32_t number = 0; number < count_; ++number) slots_[slot_of(row(number))] = number + 1;
    }

    uint32_t words_;
    uint64_t count_ = 0;
    std::vector<uint64_t> rows_;
    std::vector<uint32_t> slots_;  // number + 1, or 0, which gives `none`
};

}  // namespace snc
