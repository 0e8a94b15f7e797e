// The coefficients of the active coordinates of a shot. Included by trajectories_isa.cc, once per instruction set, inside its namespace.
#pragma once

#include <bit>
#include <cmath>
#include <complex>
#include <cstdint>
#include <utility>
#include <vector>

namespace snc::SNC_ISA {

// i^i_power X^x Z^z on the active coordinates: bit k of an index of the vector is coordinate k.
struct ActivePauli {
    uint64_t x, z;
    uint32_t i_power;
};

class ActiveVector {
   public:
    using Complex = std::complex<double>;

    ActiveVector() { clear(); }

    void clear() {
        width_ = 0;
        reserve(1);
        values_[0] = 1;
    }
    void copy(const ActiveVector& from) {
        width_ = from.width_;
        reserve(from.size());
        std::copy_n(from.values_.begin(), from.size(), values_.begin());
    }
    uint32_t width() const { return width_; }
    uint64_t size() const { return uint64_t{1} << width_; }

    double expectation(const ActivePauli& pauli) const {
        const auto [x, z, i_power] = pauli;
        double sum = 0;
        if (x == 0) {
            for (uint64_t k = 0; k < size(); ++k) sum += sign_of(k & z) * std::norm(values_[k]);
            return i_power == 2 ? -sum : sum;
        }
        const Complex phase = power_of_i(i_power);
        for_each_pair(x, [&](uint64_t a, uint64_t b) {
            const Complex term = times(std::conj(values_[b]), values_[a]);
            sum += 2 * sign_of(a & z) * (phase.real() * term.real() - phase.imag() * term.imag());
        });
        return sum;
    }

    // v <- (f + g P) v, which must keep the norm.
    void combine(const ActivePauli& pauli, Complex f, Complex g) {
        const auto [x, z, i_power] = pauli;
        const Complex c = times(g, power_of_i(i_power));
        if (x == 0) {
            const Complex even = f + c, odd = f - c;
            for (uint64_t k = 0; k < size(); ++k) values_[k] = times(is_odd(k & z) ? odd : even, values_[k]);
            return;
        }
        for_each_pair(x, [&](uint64_t a, uint64_t b) {
            const Complex first = values_[a], second = values_[b];
            values_[a] = times(f, first) + times(is_odd(b & z) ? -c : c, second);
            values_[b] = times(f, second) + times(is_odd(a & z) ? -c : c, first);
        });
    }

    // Adds a coordinate, the highest bit of an index: v <- [f v, g v].
    void add_coordinate(Complex f, Complex g) {
        const uint64_t before = size();
        reserve(2 * before);
        for (uint64_t k = 0; k < before; ++k) {
            values_[before + k] = times(g, values_[k]);
            values_[k] = times(f, values_[k]);
        }
        ++width_;
    }

    // Projects on the eigenspace of a Pauli with eigenvalue (-1)^outcome, of the given probability, and removes a coordinate: the
    // highest one with an X, or else with a Z. Returns it. Of a Pauli without X, the other coordinates stay as they are; with X, the
    // vector has the entries with 0 at this coordinate.
    uint32_t project(const ActivePauli& pauli, bool outcome, double probability) {
        const auto [x, z, i_power] = pauli;
        const uint32_t pivot = static_cast<uint32_t>(std::bit_width(x != 0 ? x : z)) - 1;
        const uint64_t below = (uint64_t{1} << pivot) - 1, half = size() / 2;
        other_.resize(std::max<size_t>(other_.size(), half));
        const auto with_zero_at_pivot = [&](uint64_t k) { return (k & ~below) << 1 | (k & below); };
        if (x != 0) {
            const double scale = 1 / std::sqrt(2 * probability);
            const Complex c = power_of_i(i_power + (outcome ? 2 : 0));
            for (uint64_t k = 0; k < half; ++k) {
                const uint64_t a = with_zero_at_pivot(k), b = a ^ x;
                other_[k] = scale * (values_[a] + times(is_odd(b & z) ? -c : c, values_[b]));
            }
        } else {
            const double scale = 1 / std::sqrt(probability);
            const uint64_t rest = z & ~(uint64_t{1} << pivot);
            const bool parity = outcome != (i_power == 2);
            for (uint64_t k = 0; k < half; ++k) {
                const uint64_t a = with_zero_at_pivot(k);
                other_[k] = scale * values_[a | uint64_t{parity != is_odd(a & rest)} << pivot];
            }
        }
        std::swap(values_, other_);
        --width_;
        return pivot;
    }

   private:
    static bool is_odd(uint64_t bits) { return (std::popcount(bits) & 1) != 0; }
    static double sign_of(uint64_t bits) { return is_odd(bits) ? -1 : 1; }
    static Complex power_of_i(uint32_t power) {
        constexpr Complex powers[] = {{1, 0}, {0, 1}, {-1, 0}, {0, -1}};
        return powers[power & 3];
    }
    // Without the checks for infinities of operator*.
    static Complex times(Complex a, Complex b) {
        return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
    }
    // Calls use(a, a ^ x) for each pair of indices, once.
    template <typename Use>
    void for_each_pair(uint64_t x, Use use) const {
        const uint64_t top = std::bit_floor(x);
        for (uint64_t high = 0; high < size(); high += 2 * top)
            for (uint64_t a = high; a < high + top; ++a) use(a, a ^ x);
    }
    void reserve(uint64_t count) {
        if (values_.size() < count) values_.resize(count);
    }

    uint32_t width_ = 0;
    std::vector<Complex> values_, other_;
};

}  // namespace snc::SNC_ISA
