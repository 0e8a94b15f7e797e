#include "algebra/pauli_columns.h"

#include <array>
#include <utility>

namespace snc {

namespace {

uint64_t word(const Bits& bits, size_t w) { return w < bits.size() ? bits[w] : 0; }

// What a gate does to words of rows: their X and Z parts on its coordinates, and their signs.
template <CoordinateGate kind>
void conjugate(uint64_t& x, uint64_t& z, uint64_t& x_target, uint64_t& z_target, uint64_t& negative) {
    if constexpr (kind == CoordinateGate::x) {
        negative ^= z;
    } else if constexpr (kind == CoordinateGate::h) {
        negative ^= x & z;
        std::swap(x, z);
    } else if constexpr (kind == CoordinateGate::s) {
        negative ^= x & z;
        z ^= x;
    } else if constexpr (kind == CoordinateGate::s_dag) {
        negative ^= x & ~z;
        z ^= x;
    } else if constexpr (kind == CoordinateGate::cx) {
        negative ^= x & z_target & ~(x_target ^ z);
        x_target ^= x;
        z ^= z_target;
    } else {
        negative ^= x & x_target & (z ^ z_target);
        z ^= x_target;
        z_target ^= x;
    }
}

template <CoordinateGate kind>
void conjugate_columns(Bits& x, Bits& z, Bits& x_target, Bits& z_target, Bits& negative) {
    const size_t size = std::max({x.size(), z.size(), x_target.size(), z_target.size()});
    for (Bits* bits : {&x, &z, &x_target, &z_target, &negative})
        if (bits->size() < size) bits->resize(size);
    for (size_t w = 0; w < size; ++w) conjugate<kind>(x[w], z[w], x_target[w], z_target[w], negative[w]);
}

template <typename Use>
void with_kind(CoordinateGate gate, Use&& use) {
    using enum CoordinateGate;
    switch (gate) {
        case x: return use.template operator()<x>();
        case h: return use.template operator()<h>();
        case s: return use.template operator()<s>();
        case s_dag: return use.template operator()<s_dag>();
        case cx: return use.template operator()<cx>();
        case cz: return use.template operator()<cz>();
    }
}

// Transposes 64 words of 64 bits.
void transpose(std::array<uint64_t, 64>& block) {
    uint64_t mask = 0x00000000FFFFFFFF;
    for (size_t j = 32; j != 0; j >>= 1, mask ^= mask << j) {
        for (size_t k = 0; k < 64; k = ((k | j) + 1) & ~j) {
            const uint64_t change = (block[k] >> j ^ block[k | j]) & mask;
            block[k] ^= change << j;
            block[k | j] ^= change;
        }
    }
}

// Bit c of from(r) becomes bit r of to(c), which is 0 before.
template <typename From, typename To>
void transpose(size_t num_from, size_t num_to, From&& from, To&& to) {
    std::array<uint64_t, 64> block;
    for (size_t r = 0; r < num_from; r += 64) {
        for (size_t c = 0; c < num_to; c += 64) {
            uint64_t any = 0;
            for (size_t k = 0; k < 64; ++k) any |= block[k] = r + k < num_from ? word(from(r + k), c / 64) : 0;
            if (any == 0) continue;
            transpose(block);
            for (size_t k = 0; k < std::min<size_t>(64, num_to - c); ++k) to(c + k)[r / 64] = block[k];
        }
    }
}

}  // namespace

void PauliProduct::multiply_by(const Pauli& right) {
    const size_t size = std::max({x_.size(), right.x.size(), right.z.size()});
    if (x_.size() < size) {
        x_.resize(size);
        z_.resize(size);
    }
    // The factors of i or -i of each coordinate, counted modulo 4.
    uint64_t low = 0, high = 0;
    uint32_t power = right.is_negative ? 2 : 0;
    for (size_t w = 0; w < size; ++w) {
        const uint64_t x = x_[w], z = z_[w], right_x = word(right.x, w), right_z = word(right.z, w);
        x_[w] = x ^ right_x;
        z_[w] = z ^ right_z;
        const uint64_t x_then_z = x & right_z, anticommuting = (z & right_x) ^ x_then_z;
        high ^= (low ^ x_[w] ^ z_[w] ^ x_then_z) & anticommuting;
        low ^= anticommuting;
    }
    power += static_cast<uint32_t>(std::popcount(low) + 2 * std::popcount(high));
    power_ += power;
}

bool CoordinateChange::is_negative_after(const Pauli& pauli) const {
    Bits x = pauli.x, z = pauli.z;
    const size_t size = std::max(x.size(), z.size());
    x.resize(size);
    z.resize(size);
    uint64_t negative = pauli.is_negative ? 1 : 0;
    const auto put = [](Bits& bits, size_t k, uint64_t bit) {
        if (((has_bit(bits, k) ? 1 : 0) ^ (bit & 1)) != 0) flip_bit(bits, k);
    };
    for (const auto& [kind, on, target] : gates_) {
        uint64_t on_x = has_bit(x, on), on_z = has_bit(z, on), target_x = has_bit(x, target), target_z = has_bit(z, target);
        with_kind(kind, [&]<CoordinateGate gate>() { conjugate<gate>(on_x, on_z, target_x, target_z, negative); });
        if (kind == CoordinateGate::cx || kind == CoordinateGate::cz) {
            put(x, target, target_x);
            put(z, target, target_z);
        }
        put(x, on, on_x);
        put(z, on, on_z);
    }
    return (negative & 1) != 0;
}

Pauli PauliColumns::row(size_t number) const {
    const size_t size = x_.size();
    Pauli pauli{Bits((size + 63) / 64), Bits((size + 63) / 64), has_bit(negative_, number)};
    for (size_t c = 0; c < size; ++c) {
        pauli.x[c / 64] |= uint64_t{has_bit(x_[c], number)} << (c % 64);
        pauli.z[c / 64] |= uint64_t{has_bit(z_[c], number)} << (c % 64);
    }
    return pauli;
}

void PauliColumns::replace_row(size_t number, const Pauli& before, const Pauli& after) {
    const auto take_over = [&](const Bits& from, const Bits& to, std::vector<Bits>& columns) {
        Bits difference = from;
        add_bits(difference, to);
        for_each_bit(difference, [&](size_t c) { flip_bit(columns[c], number); });
    };
    take_over(before.x, after.x, x_);
    take_over(before.z, after.z, z_);
    if (before.is_negative != after.is_negative) flip_sign(number);
}

Bits PauliColumns::anticommuting(const Pauli& pauli) const {
    Bits found;
    for_each_bit(pauli.x, [&](size_t c) { add_bits(found, z_[c]); });
    for_each_bit(pauli.z, [&](size_t c) { add_bits(found, x_[c]); });
    return found;
}

void PauliColumns::apply(const CoordinateChange& change) {
    Bits none_x, none_z;
    for (const auto& [kind, on, target] : change.gates()) {
        const bool has_target = kind == CoordinateGate::cx || kind == CoordinateGate::cz;
        Bits& x_target = has_target ? x_[target] : none_x;
        Bits& z_target = has_target ? z_[target] : none_z;
        with_kind(kind, [&]<CoordinateGate gate>() {
            conjugate_columns<gate>(x_[on], z_[on], x_target, z_target, negative_);
        });
    }
}

void PauliColumns::clear() {
    for (Bits& column : x_) column.clear();
    for (Bits& column : z_) column.clear();
    negative_.clear();
}

PauliColumns PauliColumns::of(const std::vector<Pauli>& rows, size_t num_coordinates) {
    PauliColumns columns(num_coordinates);
    const size_t size = (rows.size() + 63) / 64;
    for (size_t c = 0; c < num_coordinates; ++c) {
        columns.x_[c].resize(size);
        columns.z_[c].resize(size);
    }
    transpose(rows.size(), num_coordinates, [&](size_t r) -> const Bits& { return rows[r].x; },
              [&](size_t c) -> Bits& { return columns.x_[c]; });
    transpose(rows.size(), num_coordinates, [&](size_t r) -> const Bits& { return rows[r].z; },
              [&](size_t c) -> Bits& { return columns.z_[c]; });
    for (size_t r = 0; r < rows.size(); ++r)
        if (rows[r].is_negative) flip_bit(columns.negative_, r);
    return columns;
}

std::vector<Pauli> PauliColumns::rows(size_t num_rows) const {
    const size_t size = (x_.size() + 63) / 64;
    std::vector<Pauli> found(num_rows, Pauli{Bits(size), Bits(size), false});
    transpose(x_.size(), num_rows, [&](size_t c) -> const Bits& { return x_[c]; },
              [&](size_t r) -> Bits& { return found[r].x; });
    transpose(x_.size(), num_rows, [&](size_t c) -> const Bits& { return z_[c]; },
              [&](size_t r) -> Bits& { return found[r].z; });
    for (size_t r = 0; r < num_rows; ++r) found[r].is_negative = has_bit(negative_, r);
    return found;
}

}  // namespace snc
