// Outcome laws with amplitudes of 113 bits: another Vector on the way of kernels/shared/driver.h, which applies the operations of a plan
// one by one. Compiled by quad_vector.py.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <utility>
#include <vector>

#include "kernels/shared/driver.h"
#include "kernels/shared/rotation_term.h"
#include "plan/steps/operation.h"

namespace {

using snc::Operation;
using Quad = __float128;

struct Amplitude {
    Quad re, im;
};
using Amplitudes = std::vector<Amplitude>;

// The arrays of a plan; tables have a byte for each bit of the branch row.
struct Plan {
    const Operation* operations;
    const snc::RotationTerm* terms;
    const uint8_t *constant, *images, *effects, *checks;  // [bits]; of signature bits; of outcomes; final with outcomes
    uint32_t num_operations, num_bits;
};

// A vector, and its branch row. Vectors are not normalized.
class Path {
   public:
    explicit Path(const Plan& plan) : plan_(plan), vector_{{1, 0}}, row_(plan.constant, plan.constant + plan.num_bits) {}

    const uint8_t* row() const { return row_.data(); }
    Quad weight(bool outcome) const { return weights_[outcome] / (weights_[0] + weights_[1]); }

    uint32_t num_steps() const { return plan_.num_operations; }
    const Operation& step(uint32_t number) const { return plan_.operations[number]; }
    void begin(const Operation&) {}
    void apply(const Operation& operation) {
        if (operation.kind == snc::Kind::activate) {
            const Amplitudes old = vector_;
            vector_.resize(2 * old.size());
            if (operation.x == 0) std::copy(old.begin(), old.end(), vector_.begin() + static_cast<std::ptrdiff_t>(old.size()));
        }
        const auto [cosine, sine] = angle_of(operation);
        const Amplitudes turned = pauli(operation);
        for (size_t a = 0; a < vector_.size(); ++a) {
            const auto [re, im] = vector_[a];
            vector_[a] = {cosine * re + sine * turned[a].im, cosine * im - sine * turned[a].re};
        }
    }
    void weigh(const Operation& measurement) {
        const Amplitudes turned = pauli(measurement);
        for (const bool outcome : {false, true}) {
            branches_[outcome].assign(vector_.size() / 2, {0, 0});
            weights_[outcome] = 0;
            for (size_t a = 0; a < vector_.size(); ++a) {
                const Quad sign = outcome ? -1 : 1;
                const Amplitude sum{vector_[a].re + sign * turned[a].re, vector_[a].im + sign * turned[a].im};
                weights_[outcome] += sum.re * sum.re + sum.im * sum.im;
                // Without an X, one of the two values of the pivot's coordinate is left.
                if (measurement.x != 0 && (a >> measurement.pivot & 1) != 0) continue;
                Amplitude& entry = branches_[outcome][snc::without_bit(a, measurement.pivot)];
                entry = {entry.re + sum.re, entry.im + sum.im};
            }
        }
    }
    void project(const Operation&, bool outcome) { vector_ = std::move(branches_[outcome]); }

    void flip_image(uint32_t bit, bool) { flip(plan_.images, bit); }
    void flip_effect(uint32_t outcome, bool) { flip(plan_.effects, outcome); }
    bool passing(uint32_t outcome) const {
        const uint8_t* checks = plan_.checks + size_t{outcome} * plan_.num_bits;
        for (size_t bit = 0; bit < plan_.num_bits; ++bit)
            if ((checks[bit] & row_[bit]) != 0) return false;
        return true;
    }

   private:
    std::pair<Quad, Quad> angle_of(const Operation& operation) const {
        Quad cosine = 1, sine = 0;
        for (int32_t t = operation.first_term; t < operation.end_term; ++t) {
            const snc::RotationTerm& term = plan_.terms[t];
            const bool is_reversed = (term.sign >= 0 && row_[static_cast<size_t>(term.sign)] != 0) != (term.is_reversed != 0);
            const Quad c = term.cosine, s = is_reversed ? -term.sine : term.sine;
            std::tie(cosine, sine) = std::pair{cosine * c - sine * s, sine * c + cosine * s};
        }
        return {cosine, sine};
    }
    // i^i_power (-1)^|index & z| |index ^ x><index| of the vector.
    Amplitudes pauli(const Operation& operation) const {
        Amplitudes found(vector_.size());
        for (size_t a = 0; a < vector_.size(); ++a) {
            auto [re, im] = vector_[a];
            const int turns = (operation.i_power + (snc::is_odd(a & operation.z) ? 2 : 0)) % 4;
            for (int k = 0; k < turns; ++k) std::tie(re, im) = std::pair{-im, re};
            found[a ^ operation.x] = {re, im};
        }
        return found;
    }
    void flip(const uint8_t* table, size_t number) {
        for (size_t bit = 0; bit < plan_.num_bits; ++bit) row_[bit] ^= table[number * plan_.num_bits + bit];
    }

    Plan plan_;
    Amplitudes vector_, branches_[2];
    Quad weights_[2] = {1, 0};
    std::vector<uint8_t> row_;
};

// Follows all outcomes that are more probable than `negligible`. Calls found(probability, row), or of discards found(probability, null).
void follow(Path path, snc::PathProgress<bool> progress, Quad probability, double negligible, void (*found)(double, const uint8_t*)) {
    const int32_t outcome = snc::advance(path, progress);
    if (outcome < 0) return found(static_cast<double>(probability), outcome == snc::kept_leaf ? path.row() : nullptr);
    for (const bool one : {false, true}) {
        if (path.weight(one) < negligible) continue;
        Path branch = path;
        snc::PathProgress<bool> after = progress;
        snc::take(branch, branch.step(after.step), branch, after, one);
        follow(std::move(branch), after, probability * path.weight(one), negligible, found);
    }
}

}  // namespace

extern "C" void quad_law(const Plan* plan, const uint64_t* signature, uint32_t words, double negligible, void (*found)(double, const uint8_t*)) {
    Path path(*plan);
    snc::add_signature(path, signature, words, true);
    follow(std::move(path), {0, true}, 1, negligible, found);
}
