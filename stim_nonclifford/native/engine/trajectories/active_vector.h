// The coefficients of the active coordinates of a shot.
#pragma once

#include <algorithm>
#include <bit>
#include <complex>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "base/memory.h"
#include "cpu/kernels.h"

namespace snc {

// i^i_power X^x Z^z on the active coordinates: bit k of an index of the vector is coordinate k.
struct ActivePauli {
    uint64_t x, z;
    uint32_t i_power;
};

// A vector in the form of the kernels (cpu/kernels.h), which grows and shrinks.
class ActiveVector {
   public:
    explicit ActiveVector(const CoefficientKernels& kernels) : kernels_(&kernels) { clear(); }

    void clear() {
        width_ = 0;
        reserve(0);
        std::fill_n(values_.begin(), vector_size(0), 0.0);
        values_[0] = 1;
    }
    void copy(const ActiveVector& from) {
        width_ = from.width_;
        reserve(width_);
        std::copy_n(from.values_.begin(), vector_size(width_), values_.begin());
    }
    uint32_t width() const { return static_cast<uint32_t>(width_); }
    bool equals(const ActiveVector& other) const {
        return width_ == other.width_ && std::equal(values_.begin(), values_.begin() + static_cast<int64_t>(vector_size(width_)), other.values_.begin());
    }

    // The probability of outcome 1 of a measurement of the Pauli.
    double probability_of_one(const ActivePauli& pauli) const {
        const OutcomeWeights weights = kernels_->outcome_weights(values_.data(), measurement(pauli));
        return weights.one / (weights.zero + weights.one);
    }

    // Projects on an outcome of that probability, and removes a coordinate: the highest one with an X, or else with a Z. Returns it. Of a
    // Pauli without X, the other coordinates stay as they are; with X, the vector has the entries with 0 at this coordinate.
    uint32_t project(const ActivePauli& pauli, bool outcome, double probability) {
        const Operation operation = measurement(pauli);
        kernels_->project(values_.data(), values_.data(), operation, outcome, probability);
        --width_;
        return static_cast<uint32_t>(operation.pivot);
    }

    // v <- (cosine - i sine P) v.
    void rotate(const ActivePauli& pauli, double cosine, double sine) {
        const VectorRotation rotation{pauli.x, pauli.z, cosine, sine, width_, static_cast<int32_t>(pauli.i_power)};
        kernels_->rotate(values_.data(), {&rotation, 1});
    }

    // The same about X or Y of a new coordinate in |0>, the highest bit of an index.
    void rotate_new(bool is_y, double cosine, double sine) {
        reserve(width_ + 1);
        kernels_->activate(values_.data(), {1, 0, cosine, sine, width_, 0});
        ++width_;
        if (is_y) multiply_upper_half({0, 1});
    }

    // v <- (f + g P) v, which must keep the norm, with real f and g; about X or Y of a new coordinate, too.
    void combine(const ActivePauli& pauli, double f, double g) {
        const uint64_t size = uint64_t{1} << width_;
        const std::complex<double> c = g * power_of_i(pauli.i_power);
        const auto turned = [&](std::complex<double> own, std::complex<double> other, uint64_t partner) {
            return f * own + (std::popcount(partner & pauli.z) % 2 != 0 ? -c : c) * other;
        };
        for (uint64_t a = 0; a < size; ++a) {
            const uint64_t b = a ^ pauli.x;
            if (b < a) continue;
            const std::complex<double> at_a = get(a), at_b = get(b);
            put(a, turned(at_a, at_b, b));
            if (b != a) put(b, turned(at_b, at_a, a));
        }
    }
    void combine_new(bool is_y, double f, double g) {
        rotate_new(false, f, g);
        multiply_upper_half(is_y ? std::complex<double>(-1, 0) : std::complex<double>(0, 1));
    }

   private:
    Operation measurement(const ActivePauli& pauli) const {
        Operation operation{};
        operation.x = pauli.x;
        operation.z = pauli.z;
        operation.kind = Kind::measure;
        operation.width = width_;
        operation.i_power = static_cast<int32_t>(pauli.i_power);
        operation.pivot = std::bit_width(pauli.x != 0 ? pauli.x : pauli.z) - 1;
        return operation;
    }
    static std::complex<double> power_of_i(uint32_t power) {
        constexpr std::complex<double> powers[] = {{1, 0}, {0, 1}, {-1, 0}, {0, -1}};
        return powers[power & 3];
    }
    // A block has the real parts of its coefficients, then their imaginary parts.
    static constexpr uint64_t block = uint64_t{1} << index_lane_bits;
    static size_t place(uint64_t index) { return (index & ~(block - 1)) + index; }
    std::complex<double> get(uint64_t index) const { return {values_[place(index)], values_[place(index) + block]}; }
    void put(uint64_t index, std::complex<double> value) {
        values_[place(index)] = value.real();
        values_[place(index) + block] = value.imag();
    }
    void multiply_upper_half(std::complex<double> factor) {
        for (uint64_t k = uint64_t{1} << (width_ - 1); k < uint64_t{1} << width_; ++k) put(k, factor * get(k));
    }
    void reserve(int32_t width) {
        if (values_.size() < vector_size(width)) values_.resize(vector_size(width));
    }

    const CoefficientKernels* kernels_;
    int32_t width_ = 0;
    std::vector<double, Aligned<double>> values_;
};

}  // namespace snc
