// Tables of rows of bits that shots XOR into their rows: as words, or as lists of ones.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <vector>

#include "algebra/sparse_rows.h"
#include "base/memory.h"

namespace snc {

// Rows as lists of ones, which are numbered like the bits of a packed row.
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
            const RowView ones = rows[r];
            Entry& entry = entries_[r];
            for (uint32_t k = 0; k < places; ++k)
                entry.ones[k] = k < ones.size() ? static_cast<uint32_t>(ones[k]) : spare_bit(r, k);
            if (ones.size() <= places) continue;
            if (further_.size() >= continued) throw std::length_error("The lists of a plan are too long.");
            entry.ones[places - 1] = continued + static_cast<uint32_t>(further_.size());
            further_.push_back(static_cast<uint32_t>(ones.size() - (places - 1)));
            further_.insert(further_.end(), ones.begin() + places - 1, ones.end());
        }
    }

    // Calls use(bit) for the ones of a row, and for spare bits.
    template <typename Use>
    void for_each_place(size_t row, Use use) const {
        const Entry& entry = entries_[row];
        for (uint32_t k = 0; k + 1 < places; ++k) use(entry.ones[k]);
        const uint32_t last = entry.ones[places - 1];
        if (last < continued) [[likely]] return use(last);
        const uint32_t* const further = &further_[last - continued];
        for (uint32_t k = 1; k <= further[0]; ++k) use(further[k]);
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
    // Read a row into the cache for a later flip: first its entry, and after some time, when that has arrived, its further ones.
    void announce(size_t row) const { __builtin_prefetch(&entries_[row]); }
    void announce_further(size_t row) const {
        const uint32_t last = entries_[row].ones[places - 1];
        if (last < continued) [[likely]] return;
        const uint32_t* const further = further_.data() + (last - continued);
        __builtin_prefetch(further);
        __builtin_prefetch(further + cache_line_bytes / sizeof *further);
    }

   private:
    static constexpr uint32_t places = 4;
    // In the last place of an entry: this, plus the position of the number of further ones, which follow it.
    static constexpr uint32_t continued = uint32_t{1} << 31;

    struct alignas(16) Entry {
        uint32_t ones[places];
    };

    uint32_t spare_bit(size_t row, uint32_t place) const {
        return 64 * (num_words_ + static_cast<uint32_t>((7 * row + 17 * place) % spare_words));
    }

    uint32_t num_words_ = 0;
    std::vector<Entry, Aligned<Entry>> entries_;
    std::vector<uint32_t, Aligned<uint32_t>> further_;
};

// Calls use(bit) for the ones of a row of words.
template <typename Use>
void for_each_one(const uint64_t* row, uint32_t words, Use use) {
    for (uint32_t w = 0; w < words; ++w)
        for (uint64_t bits = row[w]; bits != 0; bits &= bits - 1) use(64 * w + static_cast<uint32_t>(std::countr_zero(bits)));
}

// A table in the form that the plan chooses for it.
struct RowTable {
    bool are_lists = false;
    uint32_t num_words = 0;
    std::vector<uint64_t> words;  // [rows][num_words]; empty if rows are lists
    ListTable lists;              // empty if they are words

    RowTable() = default;
    // Rows of num_words words.
    RowTable(const SparseRows& rows, bool lists_wanted, uint32_t num_words)
        : are_lists(lists_wanted), num_words(num_words), words(lists_wanted ? 0 : rows.size() * num_words) {
        if (are_lists) lists = ListTable(rows, num_words);
        for (size_t r = 0; !are_lists && r < rows.size(); ++r)
            for (int32_t bit : rows[r]) words[r * num_words + static_cast<uint32_t>(bit) / 64] ^= uint64_t{1} << (bit % 64);
    }

    const uint64_t* row_of_words(size_t row) const { return words.data() + row * num_words; }
    // XORs a row into `to`, which has spare words behind it if rows are lists.
    void flip(size_t row, uint64_t* to) const { are_lists ? lists.flip(row, to) : flip_words(row, to); }
    // The same without spare words.
    void flip_exactly(size_t row, uint64_t* to) const {
        if (!are_lists) return flip_words(row, to);
        lists.for_each_one(row, [&](uint32_t bit) { to[bit / 64] ^= uint64_t{1} << (bit % 64); });
    }
    template <typename Use>
    void for_each_one(size_t row, Use use) const {
        are_lists ? lists.for_each_one(row, use) : snc::for_each_one(row_of_words(row), num_words, use);
    }
    bool has(size_t row, uint32_t bit) const {
        if (!are_lists) return (row_of_words(row)[bit / 64] >> (bit % 64) & 1) != 0;
        bool found = false;
        lists.for_each_one(row, [&](uint32_t one) { found = found || one == bit; });
        return found;
    }
    bool has_ones(size_t row) const {
        bool found = false;
        for_each_one(row, [&](uint32_t) { found = true; });
        return found;
    }
    // Whether a row and `other` have a one in the same place.
    bool meets(size_t row, const uint64_t* other) const {
        uint64_t common = 0;
        if (are_lists)
            lists.for_each_one(row, [&](uint32_t bit) { common |= other[bit / 64] >> (bit % 64) & 1; });
        else
            for (uint32_t w = 0; w < num_words; ++w) common |= row_of_words(row)[w] & other[w];
        return common != 0;
    }

   private:
    void flip_words(size_t row, uint64_t* to) const {
        for (uint32_t w = 0; w < num_words; ++w) to[w] ^= words[row * num_words + w];
    }
};

}  // namespace snc
