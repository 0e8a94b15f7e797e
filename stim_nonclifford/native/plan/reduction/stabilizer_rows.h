// A state of qubits that all began in |+>, after diagonal rotations and measurements, as rows of an elimination over GF(2).
//
// Let N be the measured Paulis with fair outcomes, each with its outcome as a sign, and e_1, ..., e_a the *axes*: Z strings about which
// rotations were not Clifford. The state is
//     Π(1 + N) sum_u v_u Z^(offset + u_1 e_1 + ... + u_a e_a) |+>^n,
// where the strings of the N and the axes are independent, so that the 2^a coefficients v belong to orthogonal states. The Ns commute with
// later rotations and measured Paulis. So such a Pauli i^p X^x Z^z acts, but for a product of Ns, which is 1,
//   - if Z strings of Ns and axes do not add up to z, as a Pauli that leads out of the span of these states: its outcome is a fair coin, and
//     for a rotation about it, what is left of z is a new axis;
//   - otherwise as a Pauli on the index u: it flips the bits of the axes that are part of z, with signs by x.e_k and x.offset.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <vector>

#include "plan/steps/operation.h"

namespace snc {

// A Pauli is an array of words: those of x, those of z, and, if there are axes, those of what is left of z without Ns and axes.
class StabilizerRows {
   public:
    static constexpr uint32_t max_axes = 64;  // the bits of a word

    StabilizerRows() = default;
    explicit StabilizerRows(uint32_t num_qubits) : num_words_((num_qubits + 63) / 64), row_with_(num_qubits, none) {}

    size_t num_rows() const { return rows_.size() / stride(); }
    uint32_t num_axes() const { return static_cast<uint32_t>(pivots_.size()); }
    size_t bytes() const {
        return (rows_.size() + axes_.size() + offset_.size()) * sizeof(uint64_t) + (row_with_.size() + pivots_.size()) * sizeof(uint16_t);
    }

    // Multiplies a Pauli by Ns until what is left of its z has a lowest bit that no N and no axis has. Returns that bit, or -1 if nothing is
    // left. `axes` becomes those that are part of z; `products` counts.
    int32_t reduce(uint64_t* pauli, uint32_t& i_power, uint64_t& axes, uint64_t& products) const {
        axes = 0;
        return pivots_.empty() ? reduce_with<false>(pauli, i_power, axes, products) : reduce_with<true>(pauli, i_power, axes, products);
    }

    // Adds an N that `reduce` has left with this lowest bit.
    void add(const uint64_t* pauli, uint32_t i_power, uint64_t axes, int32_t lowest_bit) {
        row_with_[static_cast<size_t>(lowest_bit)] = static_cast<uint16_t>(num_rows());
        append(pauli, i_power, axes);
    }
    // Makes what is left of a Pauli an axis, the last one.
    void add_axis(const uint64_t* pauli, int32_t lowest_bit) {
        const uint64_t* const left = pauli + (pivots_.empty() ? 1 : 2) * num_words_;
        if (offset_.empty()) offset_.resize(num_words_);
        row_with_[static_cast<size_t>(lowest_bit)] = static_cast<uint16_t>(first_axis + num_axes());
        axes_.insert(axes_.end(), left, left + num_words_);
        pivots_.push_back(static_cast<uint16_t>(lowest_bit));
    }

    // What a reduced Pauli of which nothing is left does to the index.
    Operation on_index(const uint64_t* pauli, uint32_t i_power, uint64_t axes) const {
        Operation found{};
        found.x = axes;
        found.width = static_cast<int32_t>(num_axes());
        if (!offset_.empty()) i_power += 2 * parity(pauli, offset_.data());
        for (uint32_t k = 0; k < num_axes(); ++k) found.z |= uint64_t{parity(pauli, axis(k))} << k;
        found.i_power = static_cast<int32_t>((i_power + 2 * static_cast<uint32_t>(std::popcount(found.x & found.z))) % 4);
        found.pivot = pivot_of(found);
        return found;
    }

    // Takes an outcome of a Pauli: its pivot leaves the index. If the Pauli flips bits, it becomes an N; if not, it selects half of the index.
    void project(const uint64_t* pauli, uint32_t i_power, const Operation& on_index, bool outcome, uint64_t& products) {
        const auto removed = static_cast<size_t>(on_index.pivot);
        if (on_index.x == 0) {
            if (outcome != (on_index.i_power == 2)) add_to(offset_.data(), axis(removed));
            for (uint64_t bits = on_index.z & ~(uint64_t{1} << removed); bits != 0; bits &= bits - 1)
                add_to(axes_.data() + static_cast<size_t>(std::countr_zero(bits)) * num_words_, axis(removed));
        }
        // Ns whose axes are not all left: their strings need lowest bits of their own anew.
        const uint64_t lost = on_index.x == 0 ? on_index.z : uint64_t{1} << removed;
        std::vector<size_t> moved;
        for (size_t row = 0; row < num_rows(); ++row) {
            uint64_t& axes = rows_[(row + 1) * stride() - 1];
            if (std::popcount(axes & lost) % 2 != 0) moved.push_back(row);
            axes = without_bit(axes, on_index.pivot);
        }
        remove_axis(removed);
        for (uint16_t& with : row_with_)
            if (std::ranges::find(moved, size_t{with}) != moved.end()) with = none;
        if (on_index.x != 0) {
            moved.push_back(num_rows());
            append(pauli, i_power + (outcome ? 2 : 0), 0);
        }
        std::vector<uint64_t> again(3 * size_t{num_words_});
        for (const size_t row : moved) {
            uint64_t* const words = rows_.data() + row * stride();
            uint64_t *const power = words + 2 * num_words_, *const axes = power + 1;
            std::copy_n(words, 2 * num_words_, again.data());
            auto turns = static_cast<uint32_t>(*power);
            const int32_t lowest_bit = reduce(again.data(), turns, *axes, products);
            if (lowest_bit < 0) throw std::logic_error("A stabilizer depends on others.");
            std::copy_n(again.data(), 2 * num_words_, words);
            *power = turns % 4;
            row_with_[static_cast<size_t>(lowest_bit)] = static_cast<uint16_t>(row);
        }
    }

   private:
    static constexpr uint16_t none = UINT16_MAX, first_axis = none - max_axes;
    size_t stride() const { return 2 * size_t{num_words_} + 2; }
    const uint64_t* axis(size_t k) const { return axes_.data() + k * num_words_; }
    void append(const uint64_t* pauli, uint32_t i_power, uint64_t axes) {
        rows_.insert(rows_.end(), pauli, pauli + 2 * num_words_);
        rows_.push_back(i_power % 4);
        rows_.push_back(axes);
    }
    void add_to(uint64_t* to, const uint64_t* from) const {
        for (uint32_t w = 0; w < num_words_; ++w) to[w] ^= from[w];
    }
    uint32_t parity(const uint64_t* x, const uint64_t* z) const {
        uint64_t common = 0;
        for (uint32_t w = 0; w < num_words_; ++w) common ^= x[w] & z[w];
        return static_cast<uint32_t>(std::popcount(common)) % 2;
    }
    // The highest bit that the Pauli flips. If it flips none, that of the axis with the highest lowest bit: added to others, it leaves theirs.
    int32_t pivot_of(const Operation& on_index) const {
        if (on_index.x != 0) return 63 - std::countl_zero(on_index.x);
        int32_t pivot = -1;
        for (uint32_t k = 0; k < num_axes(); ++k)
            if ((on_index.z >> k & 1) != 0 && (pivot < 0 || pivots_[k] > pivots_[static_cast<size_t>(pivot)])) pivot = static_cast<int32_t>(k);
        return pivot;
    }
    void remove_axis(size_t removed) {
        row_with_[pivots_[removed]] = none;
        const auto first = axes_.begin() + static_cast<ptrdiff_t>(removed * num_words_);
        axes_.erase(first, first + num_words_);
        pivots_.erase(pivots_.begin() + static_cast<ptrdiff_t>(removed));
        for (size_t k = removed; k < pivots_.size(); ++k) row_with_[pivots_[k]] = static_cast<uint16_t>(first_axis + k);
    }

    template <bool has_axes>
    int32_t reduce_with(uint64_t* pauli, uint32_t& i_power, uint64_t& axes, uint64_t& products) const {
        uint64_t* const z = pauli + num_words_;
        uint64_t* const left = has_axes ? z + num_words_ : z;
        if constexpr (has_axes) std::copy_n(z, num_words_, left);
        for (uint32_t w = 0; w < num_words_;) {
            if (left[w] == 0) {
                ++w;
                continue;
            }
            const uint32_t bit = 64 * w + static_cast<uint32_t>(std::countr_zero(left[w]));
            const uint16_t with = row_with_[bit];
            if (with == none) return static_cast<int32_t>(bit);
            if (has_axes && with >= first_axis) {
                add_to(left, axis(with - first_axis));
                axes ^= uint64_t{1} << (with - first_axis);
                continue;
            }
            const uint64_t* const row = rows_.data() + with * stride();
            i_power += static_cast<uint32_t>(row[2 * num_words_]) + 2 * parity(row, z);  // Zs move past Xs
            for (uint32_t k = 0; k < 2 * num_words_; ++k) pauli[k] ^= row[k];
            ++products;
            if constexpr (has_axes) {
                add_to(left, row + num_words_);
                w = 0;  // axes have brought lower bits back
            }
        }
        return -1;
    }

    uint32_t num_words_ = 0;
    std::vector<uint64_t> rows_;      // of Ns: [rows][words of x, words of z, power of i, axes that are part of z]
    std::vector<uint64_t> axes_;      // [axes][words]
    std::vector<uint64_t> offset_;    // [words], once there was an axis
    std::vector<uint16_t> pivots_;    // the lowest bits of the axes
    std::vector<uint16_t> row_with_;  // by bit: the N or the axis for whose string it is the lowest bit
};

}  // namespace snc
