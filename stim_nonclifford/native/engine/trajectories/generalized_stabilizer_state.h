// The state of a shot: a Clifford operation on a product of a vector and of |0>s. Included by trajectories_isa.cc, once per
// instruction set, inside its namespace.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "cpu/kernels.h"
#include "engine/trajectories/active_vector.h"
#include "engine/trajectories/pauli_row.h"
#include "engine/trajectories/trajectory_program.h"

namespace snc::SNC_ISA {

// The state is C (|v> |0...0>) with a Clifford operation C: a vector v of the active virtual qubits, and dormant ones in |0>. This is
// the generalized stabilizer formalism (T. J. Yoder, A generalization of the stabilizer formalism for simulating arbitrary quantum
// circuits, 2012). Of C, the inverse tableau is stored: for X and Z of each qubit the Pauli C^-1 X C of the virtual qubits.
template <size_t W>
class GeneralizedStabilizerState {
   public:
    using Row = PauliRow<W>;

    GeneralizedStabilizerState(uint32_t num_qubits, const CoefficientKernels& kernels) : rows_(2 * size_t{num_qubits}), vector_(kernels) {
        reset();
    }

    // All qubits are in |0>.
    void reset() {
        active_ = {};
        coordinates_.clear();
        vector_.clear();
        for (uint32_t k = 0; k < rows_.size(); ++k) {
            rows_[k] = {};
            flip_bit(k % 2 == 0 ? rows_[k].x : rows_[k].z, k / 2);
        }
    }
    void copy(const GeneralizedStabilizerState& from) {
        rows_ = from.rows_;
        active_ = from.active_;
        coordinates_ = from.coordinates_;
        vector_.copy(from.vector_);
    }
    uint32_t width() const { return vector_.width(); }

    // Whether another state differs in signs of rows alone. Then these are bits of `signs`.
    bool differs_in_signs(const GeneralizedStabilizerState& other, uint64_t* signs) const {
        if (active_ != other.active_ || coordinates_ != other.coordinates_ || !vector_.equals(other.vector_)) return false;
        for (size_t k = 0; k < rows_.size(); ++k) {
            const uint64_t turn = rows_[k].i_power ^ other.rows_[k].i_power;
            if (rows_[k].x != other.rows_[k].x || rows_[k].z != other.rows_[k].z || (turn & 1) != 0) return false;
            signs[k / 64] |= (turn >> 1) << (k % 64);
        }
        return true;
    }
    void flip_sign(uint32_t row) { rows_[row].i_power ^= 2; }

    // A gate on each group of targets, one after the other.
    void apply(const GateRows& gate, const uint32_t* targets, const uint32_t* end) {
        for (; targets != end; targets += gate.num_targets) {
            const auto row = [&](uint32_t generator) -> Row& { return rows_[2 * size_t{targets[generator / 2]} + generator % 2]; };
            if (gate.exchanges) {
                std::swap(row(gate.images[0].row), row(gate.images[1].row));
            } else if (!gate.factors.empty()) {
                for (const auto& [number, by, i_power] : gate.factors) {
                    Row& changed = row(number);
                    if (by != number) multiply(changed, row(by));
                    changed.i_power = (changed.i_power + i_power) & 3;
                }
            } else {
                apply_images(gate.images, row);
            }
        }
    }

    // A Pauli, by its code, is a change of signs.
    void apply_pauli(uint32_t qubit, uint64_t code) {
        rows_[2 * size_t{qubit}].i_power ^= (code & z_part) != 0 ? 2 : 0;
        rows_[2 * size_t{qubit} + 1].i_power ^= (code & x_part) != 0 ? 2 : 0;
    }

    Row pull_back(Factors factors) const {
        Row product{};
        for (const auto& [qubit, code] : factors) {
            if ((code & x_part) != 0) multiply(product, rows_[2 * size_t{qubit}]);
            if ((code & z_part) != 0) multiply(product, rows_[2 * size_t{qubit} + 1]);
            if (code == y_code) product.i_power = (product.i_power + 1) & 3;
        }
        return product;
    }

    // The probability of outcome 1 of a measurement of the Pauli with this pull-back; nothing if it is a coin of a dormant qubit.
    std::optional<double> probability_of_one(const Row& pauli) const {
        if (!is_zero(dormant_part(pauli))) return std::nullopt;
        const ActivePauli on_vector = active_part(pauli);
        if (on_vector.x == 0 && on_vector.z == 0) return pauli.i_power == 2 ? 1.0 : 0.0;
        const double probability = vector_.probability_of_one(on_vector), rounding = certain_at(vector_.width());
        return probability < rounding ? 0.0 : probability > 1 - rounding ? 1.0 : probability;
    }

    // Whether a qubit is in an eigenstate of a Pauli, so that no other one depends on what is measured of it. It may be in one when
    // this is false.
    bool is_product(uint32_t qubit) const {
        for (const uint32_t code : {x_part, z_part, y_code}) {
            const QubitPauli pauli{qubit, code};
            const Row row = pull_back({&pauli, 1});
            uint64_t any = 0;
            for (size_t w = 0; w < W; ++w) any |= row.x[w] | (row.z[w] & active_[w]);
            if (any == 0) return true;
        }
        return false;
    }

    // Projects on an outcome, of which probability_of_one says how likely it is.
    void project(const Row& pauli, bool outcome, const std::optional<double>& probability_of_one) {
        if (!probability_of_one) {
            turn_to_z(pauli, lowest_bit(dormant_part(pauli)), outcome);
            return;
        }
        const ActivePauli on_vector = active_part(pauli);
        if (on_vector.x == 0 && on_vector.z == 0) return;
        const uint32_t pivot = vector_.project(on_vector, outcome, outcome ? *probability_of_one : 1 - *probability_of_one);
        const uint32_t qubit = coordinates_[pivot];
        coordinates_.erase(coordinates_.begin() + pivot);
        flip_bit(active_, qubit);
        if (on_vector.x != 0) {
            turn_to_z(pauli, qubit, outcome);
            return;
        }
        // The qubit has the parity of the others in the Pauli, which a CX from each of them takes away.
        Row control{}, target{};
        for (size_t w = 0; w < W; ++w) control.z[w] = pauli.z[w] & active_[w];
        flip_bit(target.x, qubit);
        if (!is_zero(control.z)) control_by(control, target);
        if (outcome != (on_vector.i_power == 2))
            for (Row& row : rows_)
                if (has_bit(row.z, qubit)) row.i_power ^= 2;
    }

    // state <- (cosine - i sine P) state for the Pauli with this pull-back. Returns whether it needs one more coordinate.
    bool rotate(const Row& pauli, double cosine, double sine) {
        return act(
            pauli, [&](const ActivePauli& on_vector) { vector_.rotate(on_vector, cosine, sine); },
            [&](bool is_y) { vector_.rotate_new(is_y, cosine, sine); });
    }
    // The same for state <- (f + g P) state, which must keep the norm.
    bool combine(const Row& pauli, double f, double g) {
        return act(
            pauli, [&](const ActivePauli& on_vector) { vector_.combine(on_vector, f, g); },
            [&](bool is_y) { vector_.combine_new(is_y, f, g); });
    }

   private:
    template <typename RowOf>
    void apply_images(const std::vector<RowImage>& gate, RowOf row) {
        constexpr size_t few = 4;
        std::array<Row, few> small;
        std::vector<Row> large;
        Row* images = small.data();
        if (gate.size() > few) {
            large.resize(gate.size());
            images = large.data();
        }
        for (size_t k = 0; k < gate.size(); ++k) {
            images[k] = row(gate[k].factors[0]);
            for (size_t f = 1; f < gate[k].factors.size(); ++f) multiply(images[k], row(gate[k].factors[f]));
            images[k].i_power = (images[k].i_power + gate[k].i_power) & 3;
        }
        for (size_t k = 0; k < gate.size(); ++k) row(gate[k].row) = images[k];
    }

    // Acts with a Pauli on the vector, or on a new coordinate of it.
    template <typename OnVector, typename OnNew>
    bool act(const Row& pauli, OnVector on_vector, OnNew on_new) {
        const std::array<uint64_t, W> dormant = dormant_part(pauli);
        if (is_zero(dormant)) {
            const ActivePauli part = active_part(pauli);
            if (part.x != 0 || part.z != 0) on_vector(part);
            return false;
        }
        const uint32_t qubit = lowest_bit(dormant);
        Row control{}, own{}, rest = pauli;
        flip_bit(control.z, qubit);
        flip_bit(own.x, qubit);
        const bool is_y = has_bit(pauli.z, qubit);
        if (is_y) {
            flip_bit(own.z, qubit);
            own.i_power = 1;
        }
        multiply(rest, own);
        control_by(control, rest);
        on_new(is_y);
        coordinates_.push_back(qubit);
        flip_bit(active_, qubit);
        return true;
    }

    std::array<uint64_t, W> dormant_part(const Row& pauli) const {
        std::array<uint64_t, W> dormant;
        for (size_t w = 0; w < W; ++w) dormant[w] = pauli.x[w] & ~active_[w];
        return dormant;
    }
    ActivePauli active_part(const Row& pauli) const {
        ActivePauli part{0, 0, static_cast<uint32_t>(pauli.i_power)};
        for (size_t k = 0; k < coordinates_.size(); ++k) {
            part.x |= uint64_t{has_bit(pauli.x, coordinates_[k])} << k;
            part.z |= uint64_t{has_bit(pauli.z, coordinates_[k])} << k;
        }
        return part;
    }

    // C <- C V with V = (1 + B)/2 + (1 - B)/2 A.
    void control_by(const Row& b, const Row& a) {
        for (Row& row : rows_) {
            const bool with_a = anticommute(row, a), with_b = anticommute(row, b);
            if (with_b) multiply(row, a);
            if (with_a) multiply(row, b);
            if (with_a && with_b) row.i_power ^= 2;
        }
    }
    // C <- C exp(pi/4 s Q Z_qubit) with s = (-1)^outcome: Q becomes s Z_qubit.
    void turn_to_z(const Row& q, uint32_t qubit, bool outcome) {
        Row product = q, z{};
        flip_bit(z.z, qubit);
        multiply(product, z);
        if (outcome) product.i_power ^= 2;
        for (Row& row : rows_)
            if (anticommute(row, product)) multiply(row, product);
    }

    std::vector<Row> rows_;               // of X and Z of each qubit
    std::array<uint64_t, W> active_{};    // virtual qubits
    std::vector<uint32_t> coordinates_;   // the virtual qubit of each bit of an index of the vector
    ActiveVector vector_;
};

}  // namespace snc::SNC_ISA
