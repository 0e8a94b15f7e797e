// Tables of rows of bits that shots XOR into their rows: as words, or as lists of ones.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "memory.h"

namespace snc {

// Rows of bits by the positions of their ones, as they come from Python.
struct SparseRows {
    std::vector<int64_t> starts;
    std::vector<int32_t> bits;

    size_t size() const { return starts.size() - 1; }
    std::span<const int32_t> row(size_t r) const {
        return {bits.data() + starts[r], static_cast<size_t>(starts[r + 1] - starts[r])};
    }
};

// Rows as lists of ones, in entries of four. Ones are numbered like the bits of a packed row.
//
// Most effects of faults have up to four ones. To flip them takes no branch that depends on how many there are: a place without
// a one has the number of a spare bit, which lies in the words behind the row. These bits differ, because flips of the same word
// would wait for each other.
class ListTable {
   public:
    // Words that memory for a row needs behind its last word.
    static constexpr uint32_t spare_words = 64;

    ListTable() = default;
    // Rows of num_words words.
    ListTable(const SparseRows& rows, uint32_t num_words) : num_words_(num_words), entries_(rows.size()) {
        for (size_t r = 0; r < rows.size(); ++r) {
            std::span<const int32_t> left = rows.row(r);
            size_t entry = r;
            for (; left.size() > places; left = left.subspan(places - 1)) {
                std::copy_n(left.begin(), places - 1, entries_[entry].ones);
                entries_[entry].ones[places - 1] = continued + static_cast<uint32_t>(entries_.size());
                entry = entries_.size();
                entries_.emplace_back();
            }
            for (uint32_t k = 0; k < places; ++k)
                entries_[entry].ones[k] = k < left.size() ? static_cast<uint32_t>(left[k]) : spare_bit(r, k);
        }
    }

    // Calls use(bit) for the ones of a row, and for spare bits.
    template <typename Use>
    void for_each_place(size_t row, Use use) const {
        const Entry* entry = &entries_[row];
        while (entry->ones[places - 1] >= continued) [[unlikely]] {
            for (uint32_t k = 0; k + 1 < places; ++k) use(entry->ones[k]);
            entry = &entries_[entry->ones[places - 1] - continued];
        }
        for (uint32_t k = 0; k < places; ++k) use(entry->ones[k]);
    }
    void flip(size_t row, uint64_t* words) const {
        for_each_place(row, [&](uint32_t bit) { words[bit / 64] ^= uint64_t{1} << (bit % 64); });
    }
    // Calls use(bit) for the ones of a row.
    template <typename Use>
    void for_each_one(size_t row, Use use) const {
        for_each_place(row, [&](uint32_t bit) {
            if (bit < 64 * num_words_) use(bit);
        });
    }
    // Reads the row into the cache, for a later flip.
    void prefetch(size_t row) const { __builtin_prefetch(&entries_[row]); }

   private:
    static constexpr uint32_t places = 4;
    // In the last place of an entry: this, plus the number of the entry with further ones.
    static constexpr uint32_t continued = uint32_t{1} << 31;

    struct alignas(16) Entry {
        uint32_t ones[places];
    };

    uint32_t spare_bit(size_t row, uint32_t place) const {
        return 64 * (num_words_ + static_cast<uint32_t>((7 * row + 17 * place) % spare_words));
    }

    uint32_t num_words_ = 0;
    std::vector<Entry, Aligned<Entry>> entries_;
};

// A table in the form that the plan chooses for it.
struct RowTable {
    bool are_lists = false;
    uint32_t num_words = 0;
    std::vector<uint64_t> words;  // [rows][num_words]; empty if rows are lists
    ListTable lists;              // empty if they are words

    // XORs a row into `to`, which has spare words behind it if rows are lists.
    void flip(size_t row, uint64_t* to) const {
        if (are_lists) return lists.flip(row, to);
        for (uint32_t w = 0; w < num_words; ++w) to[w] ^= words[row * num_words + w];
    }
};

}  // namespace snc
