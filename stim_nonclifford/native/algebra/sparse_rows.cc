#include "algebra/sparse_rows.h"

#include <algorithm>
#include <iterator>
#include <unordered_map>
#include <utility>

namespace snc {

namespace {

uint64_t hash_of(RowView row) {
    uint64_t hash = row.size();
    for (const int32_t bit : row) {
        hash = (hash ^ static_cast<uint64_t>(bit)) * 0x9E3779B97F4A7C15;
        hash ^= hash >> 32;
    }
    return hash;
}

}  // namespace

void SparseRows::append(RowView row) {
    bits.insert(bits.end(), row.begin(), row.end());
    starts.push_back(static_cast<int64_t>(bits.size()));
}

SparseRows image_of_rows(const SparseRows& rows, const SparseRows& images, Interruption& interruption) {
    Looks look(interruption);
    SparseRows result;
    result.starts.reserve(rows.starts.size());
    SparseRow found;
    for (size_t r = 0; r < rows.size(); ++r) {
        found.clear();
        for (const int32_t bit : rows[r]) {
            if (static_cast<size_t>(bit) >= images.size()) continue;
            const RowView image = images[static_cast<size_t>(bit)];
            found.insert(found.end(), image.begin(), image.end());
        }
        look(1 + found.size());
        std::ranges::sort(found);
        // Equal bits cancel in pairs.
        for (size_t k = 0; k < found.size();) {
            size_t end = k;
            while (end < found.size() && found[end] == found[k]) ++end;
            if ((end - k) % 2 != 0) result.bits.push_back(found[k]);
            k = end;
        }
        result.starts.push_back(static_cast<int64_t>(result.bits.size()));
    }
    return result;
}

std::vector<int64_t> independent_rows(const SparseRows& rows, Interruption& interruption) {
    Looks look(interruption);
    // By the lowest bit: what flips all later outputs has a lowest bit of its own.
    std::unordered_map<int32_t, SparseRow> with_first;
    std::vector<int64_t> found;
    SparseRow sum;
    for (size_t r = 0; r < rows.size(); ++r) {
        SparseRow row(rows[r].begin(), rows[r].end());
        while (!row.empty()) {
            const auto known = with_first.find(row.front());
            if (known == with_first.end()) {
                const int32_t first = row.front();
                with_first.emplace(first, std::move(row));
                found.push_back(static_cast<int64_t>(r));
                break;
            }
            look(row.size() + known->second.size());
            sum.clear();
            std::ranges::set_symmetric_difference(row, known->second, std::back_inserter(sum));
            row.swap(sum);
        }
    }
    return found;
}

void RowSums::add(RowView row, double amount) {
    if (row.empty()) return;
    const uint64_t hash = hash_of(row);
    const size_t mask = slots_.size() - 1;
    for (size_t slot = hash & mask;; slot = (slot + 1) & mask) {
        const uint32_t number = slots_[slot];
        if (number == 0) {
            rows_.append(row);
            sums_.push_back(0.0 + amount);
            hashes_.push_back(hash);
            slots_[slot] = static_cast<uint32_t>(rows_.size());
            if (rows_.size() * 2 > slots_.size()) grow();
            return;
        }
        if (hashes_[number - 1] == hash && std::ranges::equal(rows_[number - 1], row)) {
            sums_[number - 1] += amount;
            return;
        }
    }
}

void RowSums::grow() {
    slots_.assign(slots_.size() * 2, 0);
    const size_t mask = slots_.size() - 1;
    for (size_t number = 0; number < hashes_.size(); ++number) {
        size_t slot = hashes_[number] & mask;
        while (slots_[slot] != 0) slot = (slot + 1) & mask;
        slots_[slot] = static_cast<uint32_t>(number + 1);
    }
}

uint64_t RowSums::bytes() const {
    return rows_.bits.size() * sizeof(int32_t) + rows_.size() * (sizeof(int64_t) + sizeof(double) + 3 * sizeof(uint64_t));
}

}  // namespace snc
